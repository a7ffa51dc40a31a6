#!/usr/bin/env python3
"""Checks a simulated run: its truth.json against its files, and Borescope's answers against both.

    check_simulation.py DIR                                   check an existing run
    check_simulation.py --synth PROGRAM [--borescope PROGRAM] OPTION...
                                                              make a run with these options, check it

The second half of a double bookkeeping, like check_truth.py: written apart from the simulator, in
another language, from the text of the files. Every check is the simplest that can be thought of.
"""

import json
import math
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path

from check_truth import clipped, measure, nanoseconds, union

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
WAITS = {"cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize"}
Interval = tuple[int, int]


class Findings(list):
    def expect(self, what: str, found: object, expected: object) -> None:
        if found != expected:
            self.append(f"{what}: is {found}, expected {expected}")

    def same(self, what: str, found: list, expected: list) -> None:
        found_rows, expected_rows = Counter(found), Counter(expected)
        missing = list((expected_rows - found_rows).elements())
        surplus = list((found_rows - expected_rows).elements())
        self.extend(f"{what}: only in truth: {row}" for row in missing[:3])
        self.extend(f"{what}: only in files: {row}" for row in surplus[:3])


def table(truth: dict, name: str) -> list[dict]:
    columns = truth["tables"][name]["columns"]
    return [dict(zip(columns, row, strict=True)) for row in truth["tables"][name]["rows"]]


class Clock:
    """What the clocks of a rank show at a true time."""

    def __init__(self, row: dict, base: int, grain: int) -> None:
        self.row, self.base, self.grain = row, base, grain

    def written(self, interval: Interval) -> Interval:
        begin, end = (t - t % self.grain for t in interval)
        # A clock that was set back in between leaves no time.
        return begin, max(begin, end)

    def host(self, ns: int) -> int:
        drift = ns * self.row["drift_ppm"] * 1e-6
        drift = math.floor(abs(drift) + 0.5) * (1 if drift >= 0 else -1)
        jump = self.row["jump_ns"] if ns >= self.row["jump_at_ns"] else 0
        return self.base + ns + self.row["offset_ns"] + drift + jump

    def on_host(self, row: dict) -> Interval:
        return self.written((self.host(row["begin_ns"]), self.host(row["end_ns"])))

    def on_device(self, row: dict) -> Interval:
        ahead = self.row["device_ns"]
        return self.written((self.host(row["begin_ns"]) + ahead, self.host(row["end_ns"]) + ahead))


class Rank:
    """The events of a file, with their times as written."""

    def __init__(self, path: Path, number: int, clock: Clock) -> None:
        self.path, self.number, self.clock = path, number, clock
        document = json.loads(path.read_text(), parse_float=Decimal)
        self.info = document.get("distributedInfo", {})
        self.events = document["traceEvents"]
        complete = [e for e in self.events if e["ph"] == "X"]
        for event in complete:
            event["begin"] = nanoseconds(event["ts"])
            event["end"] = event["begin"] + nanoseconds(event["dur"])
        self.calls = [e for e in complete if e["cat"] == "cuda_runtime"]
        self.works = [e for e in complete if e["cat"] in DEVICE]
        self.syncs = [e for e in complete if e["cat"] == "cuda_sync"]
        self.frames = [e for e in complete if e["cat"] in ("cpu_op", "user_annotation")]
        self.complete = complete

    def intervals(self, keep) -> list[Interval]:
        return [(e["begin"], e["end"]) for e in self.works if keep(e)]


def is_comm(event: dict) -> bool:
    return event["name"].startswith("nccl")


# Truth against text.


def check_works(truth: dict, rank: Rank, findings: Findings) -> None:
    written = [(e["args"]["correlation"], e["tid"], e["name"], e["begin"], e["end"])
               for e in rank.works]
    clock = rank.clock
    known = [(r["correlation"], r["stream"], r["name"], *clock.on_device(r)) for r in table(truth, "works") if r["rank"] == rank.number]
    findings.same("works", written, known)


def check_calls(truth: dict, rank: Rank, findings: Findings) -> None:
    written = [(e["args"]["correlation"], e["name"], e["begin"], e["end"]) for e in rank.calls]
    clock = rank.clock
    known = [(r["correlation"], r["name"], *clock.on_host(r))
             for r in table(truth, "calls") if r["rank"] == rank.number]
    findings.same("calls", written, known)


def check_steps(truth: dict, rank: Rank, findings: Findings) -> None:
    written = [(int(e["name"].split("#")[1]), e["begin"], e["end"]) for e in rank.frames
               if e["name"].startswith("ProfilerStep#")]
    clock = rank.clock
    known = [(r["step"], *clock.on_host(r))
             for r in table(truth, "steps") if r["rank"] == rank.number]
    findings.same("steps", written, known)
    findings.expect("number of steps", len(written), truth["steps"])


def check_spans(truth: dict, findings: Findings) -> None:
    for row in table(truth, "spans"):
        times = [t for name in ("works", "calls", "steps") for r in table(truth, name)
                 if r["rank"] == row["rank"] for t in (r["begin_ns"], r["end_ns"])]
        findings.expect("span", (row["begin_ns"], row["end_ns"]), (min(times), max(times)))


def check_flows(truth: dict, rank: Rank, findings: Findings) -> None:
    starts = Counter(e["id"] for e in rank.events if e["ph"] == "s")
    ends = Counter(e["id"] for e in rank.events if e["ph"] == "f")
    if not starts:
        return
    findings.same("flows", list(ends.elements()), [e["args"]["correlation"] for e in rank.works])
    findings.expect("flows without work", set(ends) - set(starts), set())


# Laws of the machine, on true times.


def check_streams(truth: dict, number: int, findings: Findings) -> None:
    depth = truth["constants"]["queue_depth"]
    begun = {r["correlation"]: r for r in table(truth, "calls") if r["rank"] == number}
    streams = defaultdict(list)
    for row in table(truth, "works"):
        if row["rank"] == number:
            streams[row["stream"]].append(row)
    for works in streams.values():
        for before, after in zip(works, works[1:]):
            if after["begin_ns"] < before["end_ns"]:
                findings.append(f"works overlap on a stream: {before} {after}")
        firsts = [w for w in works if w["position"] == 0]
        for work in works:
            if work["begin_ns"] <= begun[work["correlation"]]["begin_ns"]:
                findings.append(f"work begins before its launch: {work}")
        for index, work in enumerate(firsts[depth:]):
            # The launch `depth` places before has started by the end of the call.
            if firsts[index]["begin_ns"] > begun[work["correlation"]]["end_ns"]:
                findings.append(f"more launches wait than may: {work}")


def check_waits(truth: dict, findings: Findings) -> None:
    for row in table(truth, "calls"):
        if row["awaited_ns"] >= 0 and not row["begin_ns"] < row["awaited_ns"] < row["end_ns"]:
            findings.append(f"a wait does not end after what it awaits: {row}")


def check_collectives(truth: dict, ranks: list[Rank], findings: Findings) -> None:
    """Matches collectives by what the files say of them, and divides their times again."""
    met = defaultdict(list)
    rooted = set()
    for rank in ranks:
        true_times = {(r["correlation"]): (r["begin_ns"], r["end_ns"])
                      for r in table(truth, "works")
                      if r["rank"] == rank.number and r["class"] == "collective"}
        for event in filter(is_comm, rank.works):
            args = event["args"]
            key = (args["Process Group Name"], args["Seq"])
            if args["Collective name"] == "broadcast":
                rooted.add(key)
            met[key].append((rank.number, *true_times[args["correlation"]]))
            findings.expect("group size", args["Group size"],
                            len(json.loads(args["Process Group Ranks"])))
    found = []
    for key, members in met.items():
        if key in rooted:
            continue
        last_in = max(begin for _, begin, _ in members)
        first_out = min(end for _, _, end in members)
        found += [(rank, begin, end, last_in - begin, first_out - last_in, end - first_out)
                  for rank, begin, end in members]
    names = ("rank", "begin_ns", "end_ns", "skew_ns", "common_ns", "tail_ns")
    findings.same("waits", found, [tuple(r[n] for n in names) for r in table(truth, "waits")])
    for row in found:
        findings.expect("parts of a collective", sum(row[3:]), row[2] - row[1])


# Borescope's answers.


def ask(borescope: str, verb: str, path: Path, *options: str) -> dict[str, list[dict]]:
    done = subprocess.run([borescope, verb, str(path), *options, "-f", "json"], check=True,
                          capture_output=True)
    answer = {}
    for item in json.loads(done.stdout)["tables"]:
        columns = {c["name"]: c["values"] for c in item["columns"]}
        answer[item["name"]] = [dict(zip(columns, row, strict=True))
                                for row in zip(*columns.values(), strict=True)]
    return answer


def span_of(rank: Rank) -> int:
    return max(e["end"] for e in rank.complete) - min(e["begin"] for e in rank.complete)


def check_info(borescope: str, rank: Rank, findings: Findings) -> None:
    row = ask(borescope, "info", rank.path)["traces"][0]
    findings.expect("info: events", row["events"], len(rank.events))
    findings.expect("info: device events", row["device_events"], len(rank.works))
    findings.expect("info: span", row["span_ns"], span_of(rank))
    findings.expect("info: streams", row["streams"], len({e["tid"] for e in rank.works}))
    findings.expect("info: world size", row["world_size"], rank.info.get("world_size"))


def check_breakdown(borescope: str, rank: Rank, findings: Findings) -> None:
    row = ask(borescope, "breakdown", rank.path)["breakdown"][0]
    compute = measure(rank.intervals(lambda e: e["cat"] == "kernel" and not is_comm(e)))
    kernels = measure(rank.intervals(lambda e: e["cat"] == "kernel"))
    busy = measure(rank.intervals(lambda e: True))
    findings.expect("breakdown: span", row["span_ns"], span_of(rank))
    findings.expect("breakdown: compute", row["compute_ns"], compute)
    findings.expect("breakdown: exposed communication", row["exposed_comm_ns"], kernels - compute)
    findings.expect("breakdown: busy", row["busy_ns"], busy)


def check_kernels(borescope: str, truth: dict, rank: Rank, findings: Findings) -> None:
    """Classes and phases, as their names and places say."""
    known = Counter()
    for row in table(truth, "works"):
        if row["rank"] == rank.number and row["class"] != "copy":
            known[row["name"], row["class"], row["phase"]] += row["end_ns"] - row["begin_ns"]
    answer = ask(borescope, "kernels", rank.path, "--by", "phase")["kernels"]
    found = Counter()
    for row in answer:
        found[row["class"], row["phase"]] += row["total_ns"]
    expected = Counter()
    for (_, work_class, phase), total in known.items():
        expected[work_class, phase] += total
    clock = rank.clock
    if clock.row["drift_ppm"] == 0 and clock.row["jump_ns"] == 0 and clock.grain == 1:
        findings.expect("kernels by class and phase", found, expected)


def check_links(borescope: str, truth: dict, rank: Rank, findings: Findings) -> None:
    rows = ask(borescope, "launches", rank.path)["launches"]
    findings.expect("launches", len(rows), len(rank.works))


def check_path(borescope: str, truth: dict, rank: Rank, findings: Findings) -> None:
    answer = ask(borescope, "critical-path", rank.path)
    parts = {r["bound_by"]: r["total_ns"] for r in answer["critical_path_summary"]}
    skew = answer["clock_skew"][0]
    planted = -rank.clock.row["device_ns"]
    lowest, highest = skew["lowest_ns"], skew["highest_ns"]  # None: not limited
    if not (lowest is None or lowest <= planted) or not (highest is None or planted <= highest):
        findings.append(f"clock_skew: {planted} is not in {skew}")
    findings.expect("clock_skew: contradicting", skew["contradicting"], 0)
    findings.expect("sync_quality: backward", answer["sync_quality"][0]["backward"], 0)
    if rank.clock.row["device_ns"] == 0:
        findings.expect("critical path: sum", sum(parts.values()), span_of(rank))
    check_recorded_waits(answer, truth, rank, findings)
    check_bound(parts, truth, findings)


def check_recorded_waits(answer: dict, truth: dict, rank: Rank, findings: Findings) -> None:
    if not rank.syncs:
        return
    # No profiler records that copies wait.
    known = {c["args"]["correlation"] for c in rank.calls}
    copies = sum(r["awaited_ns"] >= 0 and "Memcpy" in r["name"] for r in table(truth, "calls")
                 if r["rank"] == rank.number and r["correlation"] in known)
    findings.expect("inferred waits", answer["sync_quality"][0]["inferred"], copies)
    if copies == 0:
        findings.expect("inferred time", answer["sync_quality"][0]["path_inferred_ns"], 0)
    # A call that had to wait is explained from the end of what it awaited to its own.
    waited = [r["end_ns"] - r["awaited_ns"] for r in table(truth, "calls")
              if r["rank"] == rank.number and r["name"] in WAITS and r["awaited_ns"] >= 0]
    found = [r["weight_ns"] for r in answer["sync_edges"]
             if r["to_name"] in WAITS and r["weight_ns"] > 0]
    if (rank.clock.row["device_ns"] == 0 and rank.clock.grain == 1
            and len({e["tid"] for e in rank.works}) == 1):
        findings.same("weights of waits", found, waited)


def check_bound(parts: dict[str, int], truth: dict, findings: Findings) -> None:
    """What these programs are named for is what most of their time goes to."""
    device = sum(parts[p] for p in ("gpu_compute", "gpu_communication", "gpu_memory_copy",
                                    "launch", "kernel_kernel_delay"))
    total = sum(parts.values())
    share = {"host-bound": parts["cpu"], "device-bound": device,
             "data-bound": parts["data_load"] + parts["wait"], "ddp": device}
    if truth["program"] in share and not has_plants(truth):
        if 2 * share[truth["program"]] < total:
            findings.append(f"critical path: {truth['program']} has {parts}")


def has_plants(truth: dict) -> bool:
    return bool(truth["tables"]["planted"]["rows"])


def check(folder: Path, borescope: str | None) -> int:
    truth = json.loads((folder / "truth.json").read_text())
    grain = 1000 if truth["whole_us"] else 1
    clocks = {r["rank"]: Clock(r, truth["base_ns"], grain) for r in table(truth, "clocks")}
    ranks = [Rank(folder / f"rank-{number}.json", number, clocks[number])
             for number in range(truth["ranks"])]
    findings = Findings()
    for rank in ranks:
        for one in (check_works, check_calls, check_steps, check_flows):
            one(truth, rank, findings)
        check_streams(truth, rank.number, findings)
    check_spans(truth, findings)
    check_waits(truth, findings)
    check_collectives(truth, ranks, findings)
    if borescope:
        for rank in ranks:
            check_info(borescope, rank, findings)
            check_breakdown(borescope, rank, findings)
            check_kernels(borescope, truth, rank, findings)
            check_links(borescope, truth, rank, findings)
            check_path(borescope, truth, rank, findings)
    for finding in findings[:20]:
        print(finding)
    works = sum(len(rank.works) for rank in ranks)
    print(f"{len(ranks)} ranks, {works} works, {len(findings)} findings")
    return 1 if findings or works == 0 else 0


def main() -> int:
    arguments = sys.argv[1:]
    borescope = None
    if len(arguments) == 1 and not arguments[0].startswith("-"):
        return check(Path(arguments[0]), None)
    if len(arguments) < 2 or arguments[0] != "--synth":
        print(__doc__, file=sys.stderr)
        return 2
    synth, arguments = arguments[1], arguments[2:]
    if arguments[:1] == ["--borescope"]:
        borescope, arguments = arguments[1], arguments[2:]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([synth, "--simulate", "--out", folder, *arguments], check=True)
        return check(Path(folder), borescope)


if __name__ == "__main__":
    sys.exit(main())
