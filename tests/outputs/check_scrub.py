#!/usr/bin/env python3
"""Checks that a scrubbed recording keeps its analyses and none of its secrets.

    check_scrub.py --borescope BIN --synth BIN --data FOLDER [--seed N]

Canaries of all kinds are planted in every place of a recording in the forms of five profilers, of an
execution trace and of a memory timeline. None of them may be found in what is written, which is
inflated before it is searched, as UTF-8, UTF-16, base64 and percent-encoding. The analyses of the
original and of the scrubbed file must agree in every number. Then canaries go to random places.

Exit status: 0 kept, 1 a canary or a difference was found, 2 something failed.
"""

import argparse
import base64
import gzip
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

HERE = Path(__file__).resolve().parent
WRITE_DATABASES = HERE.parent / "formats" / "write_databases.py"
VERBS = ("kernels", "ops", "launches", "breakdown", "idle", "overlap", "queue", "stats", "gaps",
         "bandwidth", "annotations", "stacks", "steps", "counters", "memory", "critical-path",
         "variability", "summary", "prof", "top", "flame", "inductor", "roofline", "delays",
         "collectives", "graphs", "busy")

MARK = "canary"


class Canaries:
    """Secrets of all kinds, each with a number of its own."""

    # As they may stand in any text.
    FORMS = (
        "/home" "/canary{n}/run/train.py", "/Users" "/canary{n}/x.txt", "~canary{n}/notes/a.py",
        "/mnt" "/canary{n}/data", "/scratch/canary{n}/ckpt.pt", "C:\\Users\\canary{n}\\x",
        "\\\\canary{n}\\share\\x", "https://canary{n}.example.com/a?b=c", "tcp://canary{n}:29500",
        "s3://canary{n}/bucket", "canary{n}@login.example.com", "canary{n}@node17",
        "canary{n}.cluster.local", "gpu.canary{n}.example.org", "API_TOKEN=canary{n}",
        "password: canary{n}x", "HOSTNAME=canary{n}", "WANDB_KEY=canary{n}", "ghp_canary{n}0123456789ab",
        "hf_canary{n}0123456789abcd", "sk-canary{n}0123456789abcd", "Bearer canary{n}0123456789",
        "xoxb-canary{n}-0123456789ab", "secret=canary{n}", "file:///home/canary{n}/y",
        "db.canary{n}.corp.internal", "user.name+canary{n}@example.com", "AKIAcanary{n}012345678",
        "auth_token=canary{n}", "/var/lib/canary{n}/x.sock",
    )
    # Without a word that could be searched: whole.
    WHOLE = ("10.{a}.{b}.{c}", "fe80::{x}:{y}:12ff:fe34", "02:{p}:{q}:5e:10:ab",
             "GPU-{x}{y}-1a2b-3c4d-5e6f-{x}{y}{x}", "{x}{y}{x}{y}{x}{y}{x}{y}{x}{y}")

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.planted: list[str] = []

    def plain(self) -> str:
        """Any word, for places that go altogether."""
        self.planted.append(f"canary{len(self.planted):04d}z")
        return self.planted[-1]

    def form(self, i: int) -> str:
        """The i-th kind of secret, which is found wherever it stands."""
        kinds = len(self.FORMS) + len(self.WHOLE)
        i %= kinds
        if i < len(self.FORMS):
            number = f"{len(self.planted):04d}z"
            self.planted.append(MARK + number)
            return self.FORMS[i].format(n=number)
        pick = self.random
        text = self.WHOLE[i - len(self.FORMS)].format(
            a=pick.randint(100, 255), b=pick.randint(100, 255), c=pick.randint(100, 255),
            x=f"{pick.randint(0x1000, 0xFFFF):04x}", y=f"{pick.randint(0x1000, 0xFFFF):04x}",
            p=f"{pick.randint(16, 255):02x}", q=f"{pick.randint(16, 255):02x}")
        self.planted.append(text)
        return text

    def any(self) -> str:
        return self.form(self.random.randrange(len(self.FORMS) + len(self.WHOLE)))

    def text(self) -> str:
        """One of each kind, between words."""
        count = len(self.FORMS) + len(self.WHOLE)
        return "step " + " and ".join(self.form(i) for i in range(count)) + " end"


def spellings(word: str):
    """The ways a text may be written in a file, in lower case."""
    yield word.lower().encode()
    yield word.lower().encode("utf-16-le")
    yield urllib.parse.quote(word.lower(), safe="").encode()
    yield json.dumps(word.lower())[1:-1].encode()


def leaks(path: Path, canaries: Canaries) -> list[str]:
    raw = path.read_bytes()
    if raw.startswith(b"\x1f\x8b"):
        raw = gzip.decompress(raw)
    lower = raw.lower()
    found = [word for word in canaries.planted if any(form in lower for form in spellings(word))]
    # All canaries with a mark have it in common, so base64 needs three forms only.
    for shift in range(3):
        middle = base64.b64encode(b"\0" * shift + MARK.encode())[(4 if shift else 0):8]
        if middle in raw:
            found.append(f"base64 {middle!r}")
    return found


class Checker:
    def __init__(self, borescope: str):
        self.borescope = borescope
        self.failures: list[str] = []

    def run(self, *words, check=True) -> subprocess.CompletedProcess:
        done = subprocess.run([self.borescope, *map(str, words)], capture_output=True, text=True,
                              check=False)
        if check and done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
        return done

    def tables(self, verb: str, path: Path) -> list | int:
        """All numbers of the answer, as rows without their order; the exit status where it fails."""
        done = self.run(verb, path, "-f", "json", "-q", check=False)
        if done.returncode != 0:
            return done.returncode
        tables = []
        for table in json.loads(done.stdout)["tables"]:
            columns = [[None if isinstance(value, str) else value for value in column["values"]]
                       for column in table["columns"]]
            tables.append(sorted(map(repr, zip(*columns))) if columns else [])
        return tables

    def same_analyses(self, original: Path, scrubbed: Path, left_out=()) -> None:
        answered = 0
        for verb in VERBS:
            if verb in left_out:
                continue
            before, after = self.tables(verb, original), self.tables(verb, scrubbed)
            answered += isinstance(before, list)
            if before != after:
                self.failures.append(f"{scrubbed.name}: {verb} differs from that of {original.name}")
        if answered < 5:
            self.failures.append(f"{original.name}: only {answered} verbs answer")

    def clean(self, path: Path, canaries: Canaries, words: list) -> None:
        found = leaks(path, canaries)
        if found:
            self.failures.append(f"{' '.join(map(str, words))}: {path.name} holds {found[:5]}")

    def scrub(self, source: Path, target: Path, canaries: Canaries, *options) -> None:
        words = ["convert", *options, source, "-o", target, "-q"]
        self.run(*words)
        self.clean(target, canaries, words)

    def must_leak(self, path: Path, canaries: Canaries) -> None:
        """A search that finds nothing in the original proves nothing."""
        if len(leaks(path, canaries)) < len(set(canaries.planted)):
            missing = set(canaries.planted) - set(leaks(path, canaries))
            self.failures.append(f"{path.name}: not planted: {sorted(missing)[:5]}")


def plant_kineto(document: dict, canaries: Canaries, with_words: bool) -> dict:
    """Canaries in the head, in keys and in every kind of text; `with_words` in names, too."""
    word = canaries.plain if with_words else canaries.any
    head = {"hostname": canaries.plain(), canaries.plain(): {"a": [canaries.plain()]},
            "environment": {"USER": canaries.plain(), canaries.plain(): 1},
            "cmdline": ["python", canaries.plain()],
            "user_metadata": json.dumps({"x": canaries.plain()})}
    document = {**head, **document, "trailer": canaries.plain()}
    document["traceName"] = canaries.form(0)
    document["distributedInfo"] = {"rank": 0, "world_size": 1, "master": canaries.plain(),
                                   "pg_config": [{"pg_desc": canaries.plain()}]}
    for device in document.get("deviceProperties", []):
        device["uuid"] = canaries.plain()
        device["pciBusId"] = canaries.plain()
    for number, event in enumerate(document["traceEvents"]):
        args = event.setdefault("args", {})
        if number % 7 == 0:
            args[canaries.plain()] = canaries.plain()
            args[canaries.plain()] = {"deep": [canaries.plain()]}
            event[canaries.plain()] = canaries.plain()
        if event.get("cat") == "cpu_op" and number % 5 == 0:
            args["Concrete Inputs"] = ["", "1e-05", canaries.plain(), "[1, 2]"]
            args["kernel_file"] = canaries.form(0)
            args["Process Group Description"] = word()
        if event.get("cat") in ("user_annotation", "kernel", "python_function"):
            if number % 4 == 0 and not event["name"].startswith("ProfilerStep"):
                event["name"] += " " + word()
    some = {"pid": 1, "tid": 1, "ts": document["traceEvents"][0].get("ts", 0)}
    document["traceEvents"] += [
        {"ph": "M", "name": "process_name", **some, "args": {"name": canaries.plain()}},
        {"ph": "M", "name": "process_labels", **some, "args": {"labels": canaries.plain()}},
        {"ph": "M", "name": "thread_name", **some, "args": {"name": f"thread 1 ({canaries.plain()})"}},
        {"ph": "M", "name": "thread_name", **some, "tid": 2, "args": {"name": canaries.plain()}},
        {"ph": "M", "name": canaries.any(), **some, "args": {"x": canaries.plain()}},
        {"ph": "i", "s": canaries.plain(), "name": canaries.any(), **some},
        {"ph": "X", "cat": "user_annotation", "name": canaries.text(), **some, "dur": 1},
        {"ph": "X", "cat": "python_function", "name": f"{canaries.form(0)}(12): f", **some, "dur": 1},
        {"ph": "C", "name": "c", **some, "args": {canaries.plain(): canaries.plain()}},
    ]
    return document


def execute(path: Path, *statements) -> None:
    with sqlite3.connect(path) as database:
        for statement, values in statements:
            database.execute(statement, values)
    database.close()


def fill_free_pages(path: Path, canaries: Canaries) -> None:
    """Rows that were deleted stay in the pages of the file."""
    rows = [(canaries.plain() * 20,) for _ in range(30)]
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA secure_delete=OFF")
        database.execute("CREATE TABLE gone(text TEXT)")
        database.executemany("INSERT INTO gone VALUES(?)", rows)
        database.commit()
        database.execute("DELETE FROM gone")
    database.close()


def plant_everywhere(path: Path, canaries: Canaries) -> None:
    """What any database may hold beside the recording: tables, columns, views, free pages."""
    with sqlite3.connect(path) as database:
        tables = [row[0] for row in database.execute(
            "SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'sqlite_%'")]
        for table in tables:
            name = canaries.plain()
            database.execute(f'ALTER TABLE "{table}" ADD COLUMN "{name}" TEXT')
            database.execute(f'UPDATE "{table}" SET "{name}" = ?', (canaries.plain(),))
        word = canaries.plain()
        database.execute(f'CREATE TABLE "{word}"(start INT, x TEXT DEFAULT \'{canaries.plain()}\')')
        database.execute(f'INSERT INTO "{word}" VALUES(1, ?)', (canaries.plain(),))
        database.execute(f"CREATE VIEW v AS SELECT '{canaries.plain()}' AS x")
        first = tables[0].replace('"', "")
        database.execute(f'CREATE INDEX "{canaries.plain()}" ON "{first}"(1)')
        # Text where numbers belong.
        for table in tables:
            columns = [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]
            if "unread" in columns:
                database.execute(f'UPDATE "{table}" SET unread = ?', (canaries.plain(),))
    database.close()
    fill_free_pages(path, canaries)


def plant_nsys(path: Path, canaries: Canaries, with_words: bool) -> None:
    word = canaries.plain if with_words else canaries.any
    execute(path,
            ("CREATE TABLE TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT)", ()),
            ("INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES('Hostname', ?)", (canaries.plain(),)),
            ("CREATE TABLE PROCESSES(name TEXT, pid INT)", ()),
            ("INSERT INTO PROCESSES VALUES(?, 1)", (canaries.plain(),)),
            ("CREATE TABLE IF NOT EXISTS ThreadNames(nameId INT, priority INT, globalTid INT)", ()),
            ("INSERT INTO StringIds VALUES(900001, ?)", (canaries.plain(),)),
            ("INSERT INTO ThreadNames SELECT 900001, 0, globalTid FROM NVTX_EVENTS LIMIT 1", ()),
            ("INSERT INTO StringIds VALUES(900002, ?)", ("stdout: " + canaries.plain(),)),
            ("CREATE TABLE META_DATA_EXPORT(name TEXT, value TEXT)", ()),
            ("INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PATH', ?)", (canaries.plain(),)),
            ("INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION', '2024.5.1')", ()),
            ("INSERT INTO META_DATA_EXPORT VALUES('EXPORT_SCHEMA_VERSION', ?)", (canaries.plain(),)),
            ("UPDATE NVTX_EVENTS SET text = coalesce(text, '') || ? WHERE rowid % 3 = 1",
             (" " + word(),)),
            ("INSERT INTO NVTX_EVENTS(start, end, eventType, text, globalTid) "
             "SELECT start, end, 59, ?, globalTid FROM NVTX_EVENTS LIMIT 1", (canaries.text(),)),
            ("INSERT INTO NVTX_EVENTS(start, eventType, text, globalTid) "
             "SELECT start, 39, ?, globalTid FROM NVTX_EVENTS LIMIT 1", (canaries.plain(),)),
            ("UPDATE StringIds SET value = value || ? WHERE id IN "
             "(SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL LIMIT 1)", (" " + word(),)))


def plant_nvprof(path: Path, canaries: Canaries, with_words: bool) -> None:
    word = canaries.plain if with_words else canaries.any
    execute(path,
            ("INSERT INTO StringTable VALUES(900001, ?)", (canaries.plain(),)),
            ("UPDATE StringTable SET value = value || ? WHERE _id_ IN "
             "(SELECT name FROM CUPTI_ACTIVITY_KIND_MARKER WHERE name != 0 LIMIT 2)", (" " + word(),)),
            ("UPDATE StringTable SET value = value || ? WHERE _id_ IN "
             "(SELECT name FROM CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL LIMIT 1)",
             (" " + canaries.form(3),)))


def plant_rpd(path: Path, canaries: Canaries, with_words: bool) -> None:
    word = canaries.plain if with_words else canaries.any
    execute(path,
            ("INSERT INTO rocpd_metadata(tag, value) VALUES('command', ?)", (canaries.plain(),)),
            ("INSERT INTO rocpd_metadata(tag, value) VALUES(?, 'x')", (canaries.plain(),)),
            ("INSERT INTO rocpd_string(string) VALUES(?)", (canaries.plain(),)),
            ("INSERT INTO rocpd_ustring(string) VALUES(?)", (canaries.plain(),)),
            ("UPDATE rocpd_ustring SET string = string || ? WHERE id IN "
             "(SELECT args_id FROM rocpd_api WHERE args_id > 1 LIMIT 3)", (" " + word(),)),
            ("UPDATE rocpd_string SET string = string || ? WHERE id IN "
             "(SELECT kernelName_id FROM rocpd_kernelapi LIMIT 1)", (" " + word(),)),
            ("UPDATE rocpd_kernelapi SET stream = ? WHERE rowid IN "
             "(SELECT rowid FROM rocpd_kernelapi LIMIT 1)", (canaries.plain(),)))


def plant_rocpd(path: Path, canaries: Canaries, with_words: bool) -> None:
    word = canaries.plain if with_words else canaries.any
    with sqlite3.connect(path) as database:
        (agents,) = database.execute(
            "SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_info_agent%'").fetchone()
    database.close()
    suffix = agents[len("rocpd_info_agent"):]

    def table(base: str) -> str:
        return f'"rocpd_{base}{suffix}"'
    execute(path,
            (f"UPDATE {table('info_node')} SET machine_id = ?", (canaries.plain(),)),
            (f"INSERT INTO {table('metadata')}(tag, value) VALUES('cmd', ?)", (canaries.plain(),)),
            (f"INSERT INTO {table('string')}(string) VALUES(?)", (canaries.plain(),)),
            (f"UPDATE {table('info_thread')} SET name = ?", (canaries.plain(),)),
            (f"UPDATE {table('info_kernel_symbol')} SET display_name = display_name || ? "
             "WHERE id IN (SELECT kernel_id FROM "
             f"{table('kernel_dispatch')} LIMIT 1)", (" " + word(),)),
            (f"UPDATE {table('event')} SET extdata = ? WHERE extdata LIKE '%message%'",
             (json.dumps({"message": "step " + word(), canaries.plain(): canaries.plain()}),)))


PLANTERS = {"nsys.sqlite": plant_nsys, "nvprof.nvvp": plant_nvprof, "trace.rpd": plant_rpd,
            "rocpd.db": plant_rocpd}


def check_kineto(check: Checker, folder: Path, source: dict, seed: int) -> None:
    for mode, with_words in (("secrets", False), ("names", True)):
        canaries = Canaries(seed)
        document = plant_kineto(json.loads(json.dumps(source)), canaries, with_words)
        original = folder / f"planted-{mode}.json"
        original.write_text(json.dumps(document, indent=1, ensure_ascii=False))
        check.must_leak_json(original, canaries)
        scrub = f"--scrub={mode}"
        for target in ("clean.json", "clean.json.gz", "clean.rpd", "clean.pftrace", "clean.csv"):
            check.scrub(original, folder / f"{mode}-{target}", canaries, scrub)
        check.same_analyses(original, folder / f"{mode}-clean.json.gz")
        page = folder / f"{mode}.html"
        check.run("report", scrub, original, "-o", page, "-q")
        check.clean(page, canaries, ["report", scrub])
        overlay = folder / f"{mode}-overlay.json.gz"
        check.run("queue", scrub, original, "--overlay", overlay, "-f", "csv", "-q")
        check.clean(overlay, canaries, ["queue --overlay", scrub])
        rows = folder / f"{mode}-rows.csv"
        for table in ("events", "ranks", "tracks", "strings", "devices", "collectives"):
            check.run("query", scrub, f"SELECT * FROM {table}", original, "-o", rows, "-q")
            check.clean(rows, canaries, ["query", scrub, table])
    names = folder / "names.map"
    check.run("convert", "--scrub=names", "--scrub-map", names, original, "-o",
              folder / "mapped.json", "-q")
    if MARK not in names.read_text():
        check.failures.append("--scrub-map: does not say what new names stand for")


def check_databases(check: Checker, folder: Path, trace: Path, seed: int) -> None:
    forms = folder / "forms"
    subprocess.run([sys.executable, WRITE_DATABASES, trace, forms], check=True)
    for name, plant in PLANTERS.items():
        for mode, with_words in (("secrets", False), ("names", True)):
            canaries = Canaries(seed + 1)
            original = folder / f"{mode}-{name}"
            original.write_bytes((forms / name).read_bytes())
            plant(original, canaries, with_words)
            plant_everywhere(original, canaries)
            ending = ".rpd" if name.endswith(".rpd") else ".sqlite"
            clean = folder / f"{mode}-clean-{name}{ending}"
            check.scrub(original, clean, canaries, f"--scrub={mode}")
            check.same_analyses(original, clean)
            for other in (".json", ".csv"):
                check.scrub(original, clean.with_suffix(other), canaries, f"--scrub={mode}")
            packed = folder / f"{mode}-{name}.gz"
            packed.write_bytes(gzip.compress(original.read_bytes()))
            check.scrub(packed, folder / f"{mode}-{name}-unpacked{'.sqlite'}", canaries,
                        f"--scrub={mode}")
            with sqlite3.connect(clean) as database:
                if database.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    check.failures.append(f"{clean.name}: not sound")
            database.close()


def check_others(check: Checker, folder: Path, seed: int) -> None:
    """An execution trace, a memory timeline, text that is cut, text that is no JSON."""
    canaries = Canaries(seed + 2)
    nodes = {"schema": "1.0.1", "pid": 1, "time": canaries.plain(), canaries.plain(): 1, "nodes": [
        {"name": "aten::mm", "id": 2, "parent": 1, canaries.plain(): canaries.plain(),
         "inputs": [1, canaries.plain(), "cuda:0", [7, 8, 0, 4, 4, "cuda:0"]],
         "input_shapes": [[], []], "input_types": ["Int", canaries.form(1)], "outputs": [],
         "kernel_file": canaries.form(0),
         "attrs": [{"name": "cmd", "type": "string", "value": canaries.any(),
                    canaries.plain(): canaries.plain()}]}]}
    trace = folder / "et.json"
    trace.write_text(json.dumps(nodes))
    check.scrub(trace, folder / "et-clean.json", canaries, "--scrub")
    if "aten::mm" not in (folder / "et-clean.json").read_text():
        check.failures.append("et-clean.json: the operators are gone")
    timeline = folder / "timeline.json"
    timeline.write_text(f'[[1, 2, 1024, 3], ["{canaries.plain()}", 2, 1024, 3]]')
    check.scrub(timeline, folder / "timeline-clean.json", canaries, "--scrub")
    cut = folder / "cut.json"
    cut.write_text('{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, '
                   f'"ts": 1, "dur": 2}}, {{"ph": "X", "name": "{canaries.plain()}')
    check.scrub(cut, folder / "cut-clean.json", canaries, "--scrub")
    json.loads((folder / "cut-clean.json").read_text())
    for text in ('{"traceEvents": [{"a": ]}', "plain " + canaries.plain(), '{"other": 1}'):
        cut.write_text(text)
        done = check.run("convert", "--scrub", cut, "-o", folder / "no.json", check=False)
        if done.returncode == 0 or (folder / "no.json").exists():
            check.failures.append(f"{text}: is no recording, but was scrubbed")


def check_random(check: Checker, folder: Path, source: dict, seed: int, rounds: int) -> None:
    """Canaries in random places of random events, between random characters."""
    pick = random.Random(seed)
    text = json.dumps(source)
    for number in range(rounds):
        canaries = Canaries(seed + 100 + number)
        document = json.loads(text)
        for event in pick.sample(document["traceEvents"], 40):
            before, after = pick.choice(" \t,;('\"[="), pick.choice(" \t,;)'\"]")
            secret = before + canaries.any() + after
            place = pick.choice(("name", "args", "key", "nested", "cat", "id"))
            if place == "name" and event["ph"] == "X":
                middle = pick.randrange(len(event["name"]) + 1)
                event["name"] = event["name"][:middle] + " " + secret + event["name"][middle:]
            elif place == "key":
                event.setdefault("args", {})[secret] = pick.choice((1, "x", None, [secret]))
            elif place == "nested":
                event.setdefault("args", {})["Input Dims"] = [[1, [secret, {"a": secret}]], 2]
            elif place == "cat":
                event["x" + secret] = secret
            elif place == "id" and event["ph"] in "sf":
                event["id"] = secret
            else:
                event.setdefault("args", {})[pick.choice(
                    ("grid", "stream", "correlation", "Input type", "dtype", "bytes", "Seq",
                     "Collective name", "Process Group Ranks", "kernel_backend"))] = secret
        original = folder / "random.json"
        original.write_text(json.dumps(document, ensure_ascii=pick.random() < 0.5))
        check.scrub(original, folder / "random-clean.json", canaries,
                    pick.choice(("--scrub", "--scrub=names")))


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    options = parser.parse_args()
    check = Checker(options.borescope)
    check.must_leak_json = check.must_leak
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([options.synth, "--ranks", "1", "--steps", "2", "--layers", "1",
                        "--with-stack", "--with-shapes", "--with-memory", "--out", folder / "s"],
                       check=True, capture_output=True)
        trace = next((folder / "s").glob("*.json*"))
        raw = trace.read_bytes()
        source = json.loads(gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw)
        plain = folder / "plain.json"
        plain.write_text(json.dumps(source))
        check_kineto(check, folder, source, options.seed)
        check_databases(check, folder, plain, options.seed)
        check_others(check, folder, options.seed)
        check_random(check, folder, source, options.seed, options.rounds)
    for failure in check.failures[:40]:
        print(failure)
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
