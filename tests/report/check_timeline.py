"""Reads the timeline back from pages: what is decoded are the tables of `borescope timeline`.

Usage: check_timeline.py BORESCOPE SOURCE_FOLDER
"""

import base64
import html.parser
import json
import pathlib
import subprocess
import sys
import tempfile
import zlib

BORESCOPE = sys.argv[1]
DEMO = pathlib.Path(sys.argv[2]) / "tests/data/demo_run"
LONGEST = 10_000  # characters of a name or of details
HOSTILE = ["</script><script>alert(1)</script>", "<!--<script>", "@@borescope-tables@@", '"quoted" \\ back',
           "line\u2028end", "\u202egnol\u202c", "x" * 5000, "é" * 300, ""]


def run(*words):
    done = subprocess.run([BORESCOPE, *map(str, words)], capture_output=True, check=False)
    assert done.returncode == 0, (words, done.stderr.decode())
    return done.stdout


class Scripts(html.parser.HTMLParser):
    """The scripts of a page, as a browser would find them."""

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.texts = {}
        self.count = 0
        self._open = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "script":
            self.count += 1
            self._open = dict(attrs).get("id", "")
            self.texts[self._open] = ""

    def handle_endtag(self, tag):
        self._open = None if tag == "script" else self._open

    def handle_data(self, data):
        if self._open is not None:
            self.texts[self._open] += data


def page_of(folder, *words):
    path = folder / "page.html"
    run("report", *words, "-o", path)
    return path.read_text(encoding="utf-8")


def document_of(page):
    return json.loads(Scripts(page).texts["borescope-timeline"])


def bytes_of(chunk):
    """The columns, whichever form is shorter."""
    assert ("packed" in chunk) != ("data" in chunk)
    if "data" in chunk:
        return base64.b64decode(chunk["data"], validate=True)
    packed = base64.b64decode(chunk["packed"], validate=True)
    data = zlib.decompress(packed, wbits=-15)
    assert len(packed) < len(data)
    return data


def numbers(data):
    """All numbers of a chunk: 7 bits a byte, the lowest first."""
    value = shift = 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value = shift = 0
    assert shift == 0, "a number without an end"


def signed(number):
    return number >> 1 ^ -(number & 1)


def running(differences):
    sums, total = [], 0
    for difference in differences:
        total += difference
        sums.append(total)
    return sums


class Columns:
    def __init__(self, chunk):
        self.numbers = list(numbers(bytes_of(chunk)))
        self.rows = chunk["boxes"]
        self.at = 0

    def take(self, count=None):
        count = self.rows if count is None else count
        column = self.numbers[self.at:self.at + count]
        assert len(column) == count, "too few numbers"
        self.at += count
        return column

    def end(self):
        assert self.at == len(self.numbers), "numbers are left"


def decode_boxes(document, chunk):
    columns = Columns(chunk)
    names, tones, exact = document["names"], document["tones"], chunk["level"] == 0
    begins, durations, depths = running(columns.take()), columns.take(), columns.take()
    name, tone = [names[i] for i in columns.take()], [tones[i] for i in columns.take()]
    count, busy = [1] * columns.rows, durations
    detail = track = launch = [None] * columns.rows
    if exact:
        detail = [names[i - 1] if i else None for i in columns.take()]
        track = [i - 1 if i else None for i in columns.take()]
        steps = iter(columns.take(sum(i is not None for i in track)))
        launch = [None if t is None else begin - signed(next(steps)) for t, begin in zip(track, begins)]
    else:
        count = columns.take()
        busy = [duration - idle for duration, idle in zip(durations, columns.take())]
    columns.end()
    return list(zip(begins, durations, depths, name, tone, count, busy, detail, track, launch))


def decode_points(chunk):
    columns = Columns(chunk)
    begins = running(columns.take())
    values = [running(map(signed, columns.take())) for _ in range(3)]
    columns.end()
    return list(zip(begins, *values))


def tables_of(*words):
    tables = {}
    for table in json.loads(run("timeline", *words, "-f", "json"))["tables"]:
        names = [column["name"] for column in table["columns"]]
        rows = zip(*(column["values"] for column in table["columns"]))
        tables[table["name"]] = [dict(zip(names, row)) for row in rows]
    return tables


def by_chunk(rows, first_track):
    chunks = {}
    for row in rows:
        chunks.setdefault((first_track[row["rank"]] + row["track"], row["level"]), []).append(row)
    return chunks


def first_tracks(tracks):
    """By rank the number of its first track in the page, which may have a row of waiting after those of the verb."""
    first = {}
    for number, track in enumerate(tracks):
        first.setdefault(track["rank"], number)
    return first


def moved(document, tables):
    """By rank how much later the page has it than the verb: on the clock that collectives agree on."""
    by = {}
    whole = [level for level in document["levels"] if level["level"] > 0]
    for level, row in zip(whole, (row for row in tables["levels"] if row["level"] > 0)):
        assert by.setdefault(row["rank"], level["begin_ns"] - row["begin_offset_ns"]) == level["begin_ns"] - row["begin_offset_ns"]
        assert level["end_ns"] - row["end_offset_ns"] == by[row["rank"]]
    return by


def is_text(found, wanted):
    """Whether a text of a page stands for this one."""
    if wanted is None or found is None:
        return found is wanted
    plain = wanted.isprintable() and wanted.isascii()
    return len(found) <= LONGEST and (not plain or len(wanted) > LONGEST or found == wanted)


def check_box(found, row, first_track, later):
    begin, duration, depth, name, tone, count, busy, detail, track, launch = found
    assert (begin - later, duration, depth) == (row["begin_offset_ns"], row["duration_ns"], row["depth"])
    assert (tone, count, busy) == (row["tone"], row["count"], row["busy_ns"])
    assert is_text(name, row["name"]) and is_text(detail, row["detail"]), (name, row["name"], detail, row["detail"])
    has_launch = row["launch_track"] is not None
    assert track == (first_track[row["rank"]] + row["launch_track"] if has_launch else None)
    assert launch == (row["launch_offset_ns"] + later if has_launch else None)


def check_document(document, tables):
    first_track = first_tracks(document["tracks"])
    boxes, points = by_chunk(tables["boxes"], first_track), by_chunk(tables["points"], first_track)
    later = moved(document, tables)
    waits = {number for number, track in enumerate(document["tracks"]) if track["kind"] == "wait"}
    chunks = [chunk for chunk in document["chunks"] if chunk["track"] not in waits]
    assert len(chunks) == len(boxes) + len(points)
    assert len(document["tracks"]) == len(tables["tracks"]) + len(waits)
    for chunk in chunks:
        key = (chunk["track"], chunk["level"])
        rank = document["tracks"][chunk["track"]]["rank"]
        if document["tracks"][chunk["track"]]["kind"] == "counter":
            wanted = [(row["begin_offset_ns"] + later[rank], *(round(row[value] * 1000) for value in ("low", "high", "last")))
                      for row in points[key]]
            assert decode_points(chunk) == wanted
            continue
        found = decode_boxes(document, chunk)
        assert len(found) == len(boxes[key])
        for box, row in zip(found, boxes[key]):
            check_box(box, row, first_track, later[rank])
    windows = [(row["rank"], 0, 0, row["begin_offset_ns"] + later[row["rank"]]) for row in tables["windows"]]
    levels = [(row["rank"], row["level"], row["grain_ns"], row["begin_offset_ns"] + later[row["rank"]])
              for row in tables["levels"] if row["level"] > 0]
    assert sorted((level["rank"], level["level"], level["grain_ns"], level["begin_ns"])
                  for level in document["levels"]) == sorted(windows + levels)


def check_sums(tables):
    """Every level that covers all has all events."""
    events = {(row["rank"], row["track"]): row["events"] for row in tables["tracks"] if row["kind"] != "counter"}
    sums = {}
    for box in tables["boxes"]:
        key = (box["rank"], box["track"], box["level"])
        sums[key] = sums.get(key, 0) + box["count"]
    for (rank, track, level), count in sums.items():
        assert level == 0 or count == events[rank, track], (rank, track, level)


def hostile_trace(folder):
    """Names that want to be more, at times of this century in nanoseconds: beyond 2^53."""
    events = []
    for i, name in enumerate(HOSTILE * 3):
        begin = 1_764_000_000_000_000 + i * 100
        events += [
            {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": name, "ts": f"{begin}.001", "dur": 50.125,
             "args": {"External id": i + 1, "Input Dims": [[name]], "Input type": [name]}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": begin + 5,
             "dur": 5, "args": {"correlation": i + 1}},
            {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin + 20, "dur": 60,
             "args": {"device": 0, "stream": 7, "correlation": i + 1, "grid": [1, 2, 3], "block": [4, 5, 6]}}]
    path = folder / "hostile.json"
    text = json.dumps({"schemaVersion": 1, "traceEvents": events})
    for event in events:
        text = text.replace(f'"ts": "{event["ts"]}"', f'"ts": {event["ts"]}')
    path.write_text(text, encoding="utf-8")
    return path


def check_demo(folder):
    document = document_of(page_of(folder, DEMO))
    tables = tables_of(DEMO)
    check_document(document, tables)
    check_sums(tables)
    assert {track["rank"] for track in document["tracks"]} == {0, 1}
    check_sums(tables_of(DEMO, "--detail", "full"))
    check_document(document_of(page_of(folder, DEMO, "--timeline", "full")), tables_of(DEMO, "--detail", "full"))
    assert document_of(page_of(folder, DEMO, "--timeline", "off")) is None


def check_small(folder):
    """What does not fit is cut, and what is left is right."""
    tables = tables_of(DEMO, "--size", 60_000)
    check_sums(tables)
    # A name counts at every level that shows it, and is in a page once.
    assert sum(level["bytes"] for level in tables["levels"]) <= 60_000 * 5 // 4


def check_parts(folder):
    direct = page_of(folder, DEMO)
    parts = []
    for rank in (0, 1):
        parts.append(folder / f"part{rank}")
        run("map", "report", DEMO / f"rank-{rank}.json.gz", "-o", parts[-1])
    joined = page_of(folder, *parts)
    assert Scripts(joined).texts["borescope-timeline"] == Scripts(direct).texts["borescope-timeline"]


def check_hostile(folder):
    path = hostile_trace(folder)
    page = page_of(folder, path)
    assert Scripts(page).count == Scripts(page_of(folder, DEMO)).count
    document, tables = document_of(page), tables_of(path)
    check_document(document, tables)
    assert int(document["begin_ns"]) == 1_764_000_000_000_000_001
    assert any(box["begin_offset_ns"] == 4999 for box in tables["boxes"])


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_demo, check_small, check_parts, check_hostile):
            check(folder)
            print(f"{check.__name__}: passed")


main()
