#!/usr/bin/env python3
"""Recomputes every table of a truth.json from the trace files beside it and compares.

    check_truth.py DIR                         check an existing run
    check_truth.py --synth PROGRAM OPTION...   make a run with these options, check it, remove it

The second half of a double bookkeeping: written apart from the generator, in another language,
from the text of the files. Simple rather than fast; meant for runs of a few MB.
"""

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

import waits_of_trace as waits

HOST = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}
DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}
RENAMING_FAULTS = ("bad-utf8", "control-char", "unescaped-quote")
LAUNCH = re.compile(r"LaunchKernel|LaunchCooperative|GraphLaunch|Memcpy|Memset|hipExtLaunch")


# Reading, with the repairs that make damaged text JSON again.


def repair(text: str) -> str:
    text = re.sub(r"(:\s?)-?(?:nan|inf)\b", r"\1NaN", text)

    def escape(match: re.Match) -> str:
        return match[1] + re.sub(r'(?<!\\)"', r"\"", match[2]) + match[3]

    # In events of the kinds that can be damaged, "pid" follows the name, whatever stands in it.
    text = re.sub(r'("name":\s?")((?:(?!"name":|"ph":).)*?)(",\s*"pid")', escape, text,
                  flags=re.DOTALL)
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError:
        # Cut off: close behind the last event that is complete.
        ends = [match.start() + 1 for match in re.finditer(r"\},\s*\{", text)]
        text = text[: ends[-1]] + ("]" if text.lstrip().startswith("[") else "]}")
    return text


def read_trace(path: Path) -> tuple[dict, list[dict]]:
    """Top-level members and events."""
    raw = path.read_bytes()
    if raw.startswith(b"\x1f\x8b"):
        raw = gzip.decompress(raw)
    text = raw.decode("utf-8", "replace")
    try:
        document = json.loads(text, parse_float=Decimal)
    except json.JSONDecodeError:
        document = json.loads(repair(text), parse_float=Decimal, strict=False)
    if isinstance(document, list):
        return {}, document
    return document, document["traceEvents"]


def nanoseconds(value: int | Decimal) -> int:
    result = Decimal(value) * 1000
    assert result == int(result), value
    return int(result)


class Event:
    """One complete event with its times in nanoseconds; a negative duration counts as zero."""

    def __init__(self, order: int, raw: dict) -> None:
        self.order = order
        self.name = raw["name"]
        self.category = raw.get("cat", "")
        self.args = raw.get("args") or {}
        self.row = (str(raw["pid"]), str(raw["tid"]))
        self.begin = nanoseconds(raw["ts"])
        self.duration = max(0, nanoseconds(raw["dur"]))
        self.end = self.begin + self.duration
        # Of ops:
        self.parent: Event | None = None
        self.self_device = 0
        self.total_device = 0

    def correlation(self) -> int:
        return int(self.args["correlation"])


# Sets of time.


def union(intervals: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[list[int]] = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return [(begin, end) for begin, end in merged]


def measure(intervals: list[tuple[int, int]]) -> int:
    return sum(end - begin for begin, end in union(intervals))


def clipped(intervals: list[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    cut = [(max(b, begin), min(e, end)) for b, e in intervals]
    return [(b, e) for b, e in cut if e > b]


class Rank:
    """One file and the tables computed from it; `hits` are the truth's, of all ranks."""

    def __init__(self, path: Path, hits: list[dict]) -> None:
        self.file = path.name
        self.number = int(re.match(r"rank-(\d+)", path.name)[1])
        self.top, self.raw = read_trace(path)
        # Without begin or duration a complete event says nothing.
        self.kept = [e for e in self.raw if e["ph"] != "X" or ("ts" in e and "dur" in e)]
        complete = [e for e in self.kept if e["ph"] == "X"]
        self.events = [Event(order, raw) for order, raw in enumerate(complete)]
        # What a damaged name was meant to be: the tables tell of the undamaged events.
        meant = {id(self.raw[hit["ordinal"]]): hit["name"] for hit in hits
                 if hit["rank"] == self.number and hit["fault"] in RENAMING_FAULTS}
        for event, raw in zip(self.events, complete, strict=True):
            event.name = meant.get(id(raw), event.name)
        self.ops = [e for e in self.events if e.category == "cpu_op"]
        self.calls = [e for e in self.events if e.category in CALLS]
        self.device = [e for e in self.events if e.category in DEVICE]
        self.gpu = int(self.device[0].row[0]) if self.device else 0
        self.calls_by_correlation = defaultdict(list)
        for call in self.calls:
            self.calls_by_correlation[call.correlation()].append(call)
        self.op_of_call = self.nest()
        self.attribute()

    def nest(self) -> dict[int, Event]:
        """Sets the parents of ops; returns the innermost op of each call, by the call's order."""
        rows = defaultdict(list)
        for event in self.ops + self.calls:
            rows[event.row].append(event)
        op_of_call = {}
        for events in rows.values():
            events.sort(key=lambda e: (e.begin, -e.duration, e.category != "cpu_op", e.order))
            stack: list[Event] = []
            for event in events:
                while stack and stack[-1].end < event.end:
                    stack.pop()
                if event.category == "cpu_op":
                    event.parent = stack[-1] if stack else None
                    stack.append(event)
                elif stack:
                    op_of_call[event.order] = stack[-1]
        return op_of_call

    def attribute(self) -> None:
        """Adds device time to the op that launched the work, and to all ops around it."""
        for event in self.device:
            calls = self.calls_by_correlation[event.correlation()]
            op = self.op_of_call.get(calls[0].order) if calls else None
            if op is None:
                continue
            op.self_device += event.duration
            while op is not None:
                op.total_device += event.duration
                op = op.parent

    def intervals(self, wanted: str) -> list[tuple[int, int]]:
        def kind(event: Event) -> str:
            if event.category != "kernel" or event.name.startswith("__amd_rocclr_"):
                return "copy"
            return "comm" if event.name.startswith("nccl") else "compute"

        return [(e.begin, e.end) for e in self.device if kind(e) in wanted.split()]

    # One method a table; each yields rows in the order of the table's columns.

    def event_counts(self):
        counts = Counter((e["ph"], e.get("cat", "")) for e in self.kept)
        totals = Counter()
        for event in self.events:
            totals["X", event.category] += event.duration
        for key, count in counts.items():
            yield (self.number, *key, count, totals[key])

    def breakdown(self):
        events = [e for e in self.events if e.category != "Trace"]
        span = max(e.end for e in events) - min(e.begin for e in events)
        compute = measure(self.intervals("compute"))
        computing = measure(self.intervals("compute comm"))
        busy = measure(self.intervals("compute comm copy"))
        yield (self.number, self.gpu, span, busy, compute, computing - compute, busy - computing,
               span - busy)

    def kernels(self):
        durations = defaultdict(list)
        for event in self.device:
            if event.category == "kernel":
                durations[event.name].append(event.duration)
        for name, values in durations.items():
            yield (self.number, name, len(values), sum(values), min(values), max(values))

    def copies(self):
        groups = defaultdict(list)
        for event in self.device:
            if event.category != "kernel":
                groups[event.name].append(event)
        for name, events in groups.items():
            size = sum(int(e.args["bytes"]) for e in events)
            yield (self.number, name, len(events), sum(e.duration for e in events), size)

    def ops_table(self):
        inside = Counter()
        for op in self.ops:
            if op.parent is not None:
                inside[op.parent.order] += op.duration
        sums = defaultdict(lambda: [0, 0, 0, 0, 0])
        for op in self.ops:
            row = sums[op.name]
            row[0] += 1
            row[1] += op.duration - inside[op.order]
            row[3] += op.self_device
            above = op.parent
            while above is not None and above.name != op.name:
                above = above.parent
            if above is None:
                row[2] += op.duration
                row[4] += op.total_device
        for name, row in sums.items():
            yield (self.number, name, *row)

    def steps(self):
        work = self.intervals("compute comm copy")
        for event in self.events:
            if event.category != "user_annotation" or not event.name.startswith("ProfilerStep#"):
                continue
            busy = measure(clipped(work, event.begin, event.end))
            step = int(event.name.split("#")[1])
            yield (self.number, self.gpu, step, event.begin, event.duration, busy,
                   event.duration - busy)

    def links(self):
        launched = [e for e in self.device if self.calls_by_correlation[e.correlation()]]
        in_op = [e for e in launched
                 if self.calls_by_correlation[e.correlation()][0].order in self.op_of_call]
        launches = [e for e in self.calls if LAUNCH.search(e.name)]
        worked = {e.correlation() for e in self.device}
        lonely = [e for e in launches if e.correlation() not in worked]
        yield (self.number, len(self.device), len(launched), len(in_op), len(launches), len(lonely))

    def ranks(self):
        world = self.top.get("distributedInfo", {}).get("world_size", 1) if self.top else None
        host = sum(1 for e in self.events if e.category in HOST)
        streams = len({e.row for e in self.device})
        yield (self.number, world, self.file, len(self.kept), host, len(self.device), streams)

    def fwdbwd(self):
        ends = {ph: {e["id"] for e in self.kept if e["ph"] == ph and e.get("cat") == "fwdbwd"}
                for ph in "sf"}
        yield (self.number, len(ends["s"] & ends["f"]))


METHODS = {"event_counts": Rank.event_counts, "breakdown": Rank.breakdown, "kernels": Rank.kernels,
           "copies": Rank.copies, "ops": Rank.ops_table, "steps": Rank.steps, "links": Rank.links,
           "ranks": Rank.ranks, "fwdbwd": Rank.fwdbwd, "idle": waits.idle,
           "overlap": lambda rank: waits.overlap(rank, measure), "queue": waits.queue,
           "bandwidth": waits.bandwidth, "launches": waits.launches, "annotations": waits.annotations,
           "collectives": waits.collectives}
# Tables of all ranks together.
RUN_METHODS = {"delays": waits.delays, "stragglers": waits.stragglers}


def compare_tables(truth: dict, ranks: list[Rank]) -> list[str]:
    findings = []
    for name in sorted(METHODS.keys() | RUN_METHODS.keys() | truth["tables"].keys()):
        if name == "critical_path":
            continue  # see check_paths
        columns = dict(truth["tables"][name]["columns"])
        columns.pop("class", None)  # a judgement, not a number in the file
        expected = Counter(zip(*columns.values(), strict=True))
        if name in RUN_METHODS:
            found = Counter(RUN_METHODS[name](ranks))
        else:
            found = Counter(row for rank in ranks for row in METHODS[name](rank))
        findings += [f"{name}: only in truth: {row}" for row in (expected - found).elements()]
        findings += [f"{name}: only in files: {row}" for row in (found - expected).elements()]
    return findings


# Whether the faults are where the truth says.


def is_visible(fault: str, raw: dict, rank: Rank) -> bool:
    """Whether the event that was hit shows the fault. What breaks the text, is_text_broken sees."""
    if fault == "missing-field":
        return "ts" not in raw or "dur" not in raw
    if fault == "null-args":
        return raw["args"] is None
    if fault == "string-numbers":
        return isinstance(raw["pid"], str)
    if fault == "big-integer":
        return raw["args"]["Comms Id"] >= 2**64
    if fault == "negative-duration":
        return raw["dur"] < 0
    if fault == "impossible-duration":
        return raw["dur"] >= 10**13
    if fault in ("nan-value", "bad-utf8", "control-char", "unescaped-quote", "duplicate-key",
                 "clock-jump", "truncated"):
        return True
    correlation = raw["args"]["correlation"]
    calls = rank.calls_by_correlation[correlation]
    if fault == "missing-launch":
        return not calls
    if fault == "orphan-launch":
        return all(e.correlation() != correlation for e in rank.device)
    if fault == "duplicate-correlation":
        return len(calls) > 1
    begin = nanoseconds(raw["ts"])
    if fault == "kernel-before-launch":
        return begin < calls[0].begin
    assert fault == "stream-overlap", fault
    others = [e for e in rank.device if e.row == (str(raw["pid"]), str(raw["tid"]))]
    return any(e.begin < begin < e.end for e in others)


def is_text_broken(fault: str, raw: bytes) -> bool:
    if fault == "bad-utf8":
        return b"\xff" in raw
    if fault == "duplicate-key":
        return len(re.findall(rb'"correlation":\s?0\b', raw)) > 0
    try:
        json.loads(raw.decode("utf-8", "replace"),
                   parse_constant=lambda text: json.loads("not a number: " + text))
    except json.JSONDecodeError:
        return True
    return False


def compare_faults(truth: dict, ranks: list[Rank], folder: Path) -> list[str]:
    findings = []
    hits = truth["fault_hits"]
    counted = Counter(hit["fault"] for hit in hits)
    for fault, count in truth["faults"].items():
        if count == 0:
            findings.append(f"faults: {fault}: nothing was planted")
        if counted[fault] != count:
            findings.append(f"faults: {fault}: {count} counted, {counted[fault]} listed")
    for hit in hits:
        rank = next(r for r in ranks if r.number == hit["rank"])
        if hit["fault"] == "truncated":
            if hit["ordinal"] != len(rank.raw):
                findings.append(f"faults: not behind the last whole event: {hit}")
            continue
        raw = rank.raw[hit["ordinal"]]
        is_renamed = hit["fault"] in RENAMING_FAULTS
        if raw["cat"] != hit["category"] or (raw["name"] != hit["name"]) != is_renamed:
            findings.append(f"faults: another event is there: {hit}")
        elif not is_visible(hit["fault"], raw, rank):
            findings.append(f"faults: not visible: {hit}")
    broken = {"nan-value", "bad-utf8", "control-char", "unescaped-quote", "truncated",
              "duplicate-key"}
    for fault, number in {(hit["fault"], hit["rank"]) for hit in hits}:
        rank = next(r for r in ranks if r.number == number)
        raw = (folder / rank.file).read_bytes()
        if fault in broken and not raw.startswith(b"\x1f") and not is_text_broken(fault, raw):
            findings.append(f"faults: the text of rank {number} is not broken by {fault}")
    return findings


def check(folder: Path) -> int:
    truth = json.loads((folder / "truth.json").read_text())
    ranks = [Rank(path, truth["fault_hits"]) for path in folder.glob("rank-*")]
    ranks.sort(key=lambda rank: rank.number)
    findings = [] if len(ranks) == truth["ranks"] else [f"{len(ranks)} files"]
    findings += compare_tables(truth, ranks)
    findings += compare_faults(truth, ranks, folder)
    findings += check_collectives(ranks)
    findings += check_paths(truth, ranks)
    print("\n".join(findings[:40]))
    rows = sum(len(next(iter(t["columns"].values()))) for t in truth["tables"].values())
    print(f"{len(ranks)} files, {rows} rows, {len(findings)} differences")
    return 1 if findings else 0


PATH_CATEGORIES = {"gpu_compute": "kernel", "gpu_communication": "kernel",
                   "gpu_memory_copy": "gpu_memcpy", "data_load": "user_annotation"}


def check_paths(truth: dict, ranks: list[Rank]) -> list[str]:
    """Planted paths fill their steps without a gap, and their pieces are events of the files."""
    columns = truth["tables"]["critical_path"]["columns"]
    pieces = list(zip(*columns.values(), strict=True))
    if bool(pieces) != truth["config"]["known_path"]:
        return ["critical_path: not where it is asked for"]
    findings = []
    for rank in ranks:
        steps = [e for e in rank.events
                 if e.category == "user_annotation" and e.name.startswith("ProfilerStep#")]
        for step in steps if pieces else []:
            findings += check_path(rank, step, [p[2:] for p in pieces if p[:2] == (
                rank.number, int(step.name.split("#")[1]))])
    return findings


def check_path(rank: Rank, step: Event, pieces: list[tuple]) -> list[str]:
    now = step.begin
    findings = []
    spans = {(e.category, e.begin, e.end) for e in rank.events}
    launched = {(rank.calls_by_correlation[e.correlation()][0].begin, e.begin) for e in rank.device}
    for bound_by, begin, duration in pieces:
        end = begin + duration
        is_there = begin == now and duration > 0
        if bound_by in PATH_CATEGORIES:
            is_there &= (PATH_CATEGORIES[bound_by], begin, end) in spans
        elif bound_by == "launch":
            is_there &= (begin, end) in launched
        if not is_there:
            findings.append(f"critical_path: {step.name}: {bound_by} at {begin}")
        now = end
    return findings if now == step.end else [*findings, f"critical_path: {step.name} ends at {now}"]


def check_collectives(ranks: list[Rank]) -> list[str]:
    """The n-th collective ends on all ranks at once; each end is exact to the written unit."""
    ends = []
    for rank in ranks:
        kernels = [e for e in rank.device if e.name.startswith("nccl")]
        ends.append([e.end for e in sorted(kernels, key=lambda e: e.begin)])
    findings = []
    for index, together in enumerate(zip(*ends, strict=True)):
        if max(together) - min(together) > 1000:
            findings.append(f"collective {index} ends at {together}")
    return findings


def main() -> int:
    if len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        return check(Path(sys.argv[1]))
    if len(sys.argv) < 3 or sys.argv[1] != "--synth":
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[2], "--out", folder, *sys.argv[3:]], check=True)
        return check(Path(folder))


if __name__ == "__main__":
    sys.exit(main())
