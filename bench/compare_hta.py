#!/usr/bin/env python3
"""Runs Borescope and HolisticTraceAnalysis (HTA) on the same traces and compares cost and numbers.

Usage: PYTHON bench/compare_hta.py --borescope BIN [--operator TEXT] [--tolerance X] [--list N]
                                   [--rounds N] TRACE...
       PYTHON bench/compare_hta.py --borescope BIN --diff BASE TEST [--step N]

PYTHON is one with HTA installed, e.g. of a virtual environment:

    python3 -m venv hta && hta/bin/pip install traceinsight      # HTA 0.6; needs pandas
    hta/bin/python bench/compare_hta.py --borescope build/bench/bin/borescope trace.json.gz run/

A TRACE is a file or a folder of files, one per rank. For each, HTA answers the questions of ANALYSES
below in a process of its own, and Borescope the same with --compat hta in one process, each loading
the trace once; then both write the trace with counters of queue length added. Cost is CPU time (user
and system, children included) and peak memory (of the largest process), best of --rounds.

Every row of every table is compared by its keys; a number differs when it is further from HTA's than
--tolerance, as part of the value (default 1e-6). Where HTA's number depends on how an unstable sort
orders equal times (queue lengths, rates of copies) the bound is UNSTABLE. A question that HTA stops at
is named and not compared. --list limits the differences printed for one table.

Exit status: 0 equal, or HTA is not installed, which is said; 1 numbers differ; 2 usage.
"""

import argparse
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VERBS = ["breakdown", "overlap", "kernels", "idle", "launches", "delays", "queue", "bandwidth",
         "annotations", "stragglers"]

# Statistics over points whose order HTA leaves to an unstable sort: as part of the value.
UNSTABLE = 0.02

STATS = ["count", "mean", "std", "min", "p25", "p50", "p75", "max"]
PANDAS_STATS = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]


# ---------------------------------------------------------------- HTA, in a process of its own


def quiet_hta():
    """HTA talks on standard output and opens figures."""
    import logging
    import warnings

    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    import plotly.graph_objects

    plotly.graph_objects.Figure.show = lambda *args, **options: None


def open_run(path):
    from hta.trace_analysis import TraceAnalysis

    if os.path.isdir(path):
        return TraceAnalysis(trace_dir=path)
    return TraceAnalysis(trace_files=[path])


def plain(value):
    """A cell as JSON: NaN is null, numbers of numpy are numbers."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if hasattr(value, "item"):
        return plain(value.item())
    return value


def rows_of(frame, columns):
    """Rows of a frame as lists, for columns given as {our name: its name}."""
    if frame is None or len(frame) == 0:
        return []
    picked = [frame[name].tolist() for name in columns.values()]
    return [[plain(cell) for cell in row] for row in zip(*picked)]


def table(frame, columns):
    return {"columns": list(columns), "rows": rows_of(frame, columns)}


def hta_breakdown(run, ranks):
    columns = {"rank": "rank", "idle_us": "idle_time(us)", "compute_us": "compute_time(us)",
               "non_compute_us": "non_compute_time(us)", "kernel_us": "kernel_time(us)",
               "idle_pctg": "idle_time_pctg", "compute_pctg": "compute_time_pctg",
               "non_compute_pctg": "non_compute_time_pctg"}
    return {"breakdown": table(run.get_temporal_breakdown(visualize=False), columns)}


def hta_overlap(run, ranks):
    names = ["rank", "comp_comm_overlap_pctg"]
    frame = run.get_comm_comp_overlap(visualize=False)
    return {"overlap": table(frame, dict(zip(names, names)))}


STATISTICS = {"sum_us": "sum (us)", "max_us": "max (us)", "min_us": "min (us)",
              "stddev_us": "stddev", "mean_us": "mean (us)"}


def hta_kernels(run, ranks):
    types, kernels = run.get_gpu_kernel_breakdown(visualize=False)
    return {
        "kernel_types": table(types, {"type": "kernel_type", "total_us": "sum",
                                      "percent": "percentage"}),
        "kernels": table(kernels, {"rank": "rank", "kernel_type": "kernel_type", "name": "name",
                                   **STATISTICS}),
    }


def hta_idle(run, ranks):
    frame, intervals = run.get_idle_time_breakdown(
        ranks=ranks, visualize=False, show_idle_interval_stats=True)
    keys = {"rank": "rank", "stream": "stream", "idle_category": "idle_category"}
    stats = {ours if ours == "count" else ours + "_us": theirs
             for ours, theirs in zip(STATS, PANDAS_STATS)}
    return {
        "idle": table(frame, {**keys, "idle_time_us": "idle_time",
                              "idle_time_ratio": "idle_time_ratio"}),
        "idle_intervals": table(intervals.reset_index(), {**keys, **stats}),
    }


def by_rank(frames, columns):
    """Rows of {rank: frame}, the rank in front."""
    rows = [[rank] + row for rank in sorted(frames) for row in rows_of(frames[rank], columns)]
    return {"columns": ["rank"] + list(columns), "rows": rows}


def hta_launches(run, ranks):
    columns = {"correlation": "correlation", "cpu_duration_us": "cpu_duration",
               "gpu_duration_us": "gpu_duration", "launch_delay_us": "launch_delay"}
    return {"launches": by_rank(
        run.get_cuda_kernel_launch_stats(ranks=ranks, visualize=False), columns)}


def hta_delays(run, ranks):
    columns = {"aten_op_name": "aten_op_name", "kernel_sequence": "kernel_sequence",
               "occurrence_count": "occurrence_count",
               "avg_aten_op_launch_delay_us": "avg_aten_op_launch_delay",
               "avg_runtime_delay_us": "avg_runtime_delay"}
    # One rank a call: HTA adds the rows of the ranks before to every rank but the first.
    frames = {rank: run.get_aten_op_kernels_and_delay(ranks=[rank])[rank] for rank in ranks}
    return {"delays": by_rank(frames, columns)}


def described(frame, head, keys, suffix):
    """A table of pandas' describe() below the column head `head`."""
    if frame is None or len(frame) == 0:
        return {"columns": keys + ["count"], "rows": []}
    flat = frame.reset_index()
    columns = {key: (key, "") for key in keys}
    for ours, theirs in zip(STATS, PANDAS_STATS):
        columns[ours if ours == "count" else ours + suffix] = (head, theirs)
    return table(flat, columns)


def hta_queue(run, ranks):
    frame = run.get_queue_length_summary(ranks=ranks)
    return {"queue": described(frame, "queue_length", ["rank", "stream"], "")}


def hta_bandwidth(run, ranks):
    frame = run.get_memory_bw_summary(ranks=ranks)
    return {"bandwidth": described(frame, "memory_bw_gbps", ["rank", "name"], "_gbps")}


def annotated(run, rank):
    """Device rows by annotation: [rank, annotation, rows, time]."""
    frame = run.get_gpu_kernels_with_user_annotations(rank)
    if frame is None:
        return []
    groups = frame.groupby("s_user_annotation").dur.agg(["count", "sum"]).reset_index()
    columns = {"annotation": "s_user_annotation", "kernels": "count", "dur_us": "sum"}
    return [[rank, row[0] or None, row[1], row[2]] for row in rows_of(groups, columns)]


def hta_annotations(run, ranks):
    rows = []
    for side in ["device", "host"]:
        frame = run.get_gpu_user_annotation_breakdown(
            use_gpu_annotation=side == "device", visualize=False)
        for row in rows_of(frame, {"rank": "rank", "name": "name", **STATISTICS}):
            rows.append([row[0], side] + row[1:])
    totals = [row for rank in ranks for row in annotated(run, rank)]
    return {
        "annotations": {"columns": ["rank", "side", "name"] + list(STATISTICS), "rows": rows},
        "annotation_kernels": {"columns": ["rank", "annotation", "kernels", "dur_us"],
                               "rows": totals},
    }


def hta_stragglers(run, ranks):
    rows = []
    for candidates in [1, 2]:
        if candidates <= len(ranks):
            found = run.get_potential_stragglers(num_candidates=candidates)
            rows.append([candidates, sorted(int(rank) for rank in found)])
    return {"stragglers": {"columns": ["num_candidates", "ranks"], "rows": rows}}


def hta_sequences(run, ranks, operator):
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for rank in ranks:
            frame = run.get_frequent_cuda_kernel_sequences(operator, folder, rank=rank)
            columns = {"pattern": "pattern", "count": "count",
                       "gpu_kernel_us": "GPU kernel duration (us)",
                       "cpu_op_us": "CPU op duration (us)"}
            rows += [[rank] + row for row in rows_of(frame, columns)]
    return {"sequences": {"columns": ["rank", "pattern", "count", "gpu_kernel_us", "cpu_op_us"],
                          "rows": rows}}


ANALYSES = {
    "breakdown": hta_breakdown, "overlap": hta_overlap, "kernels": hta_kernels, "idle": hta_idle,
    "launches": hta_launches, "delays": hta_delays, "queue": hta_queue,
    "bandwidth": hta_bandwidth, "annotations": hta_annotations, "stragglers": hta_stragglers,
}


def hta_answers(path, operator):
    """All tables, and what HTA stopped at, by verb."""
    quiet_hta()
    run = open_run(path)
    ranks = sorted(int(rank) for rank in run.t.get_all_traces())
    tables, failures = {}, {}
    questions = dict(ANALYSES)
    if operator:
        questions["sequences"] = lambda run, ranks: hta_sequences(run, ranks, operator)
    for verb, question in questions.items():
        try:
            tables.update(question(run, ranks))
        except Exception as error:  # whatever it is, it is HTA's answer
            failures[verb] = f"{type(error).__name__}: {error}"[:100]
    return {"tables": tables, "failures": failures}


def hta_diff(base, test, step):
    quiet_hta()
    from hta.common.trace import Trace
    from hta.trace_diff import DeviceType, LabeledTrace, TraceDiff

    def labelled(path, label):
        trace = Trace(trace_dir=path) if os.path.isdir(path) else Trace(trace_files=[path])
        return LabeledTrace(label=label, t=trace)

    runs = labelled(base, "Control"), labelled(test, "Test")
    columns = {"name": "name", "base_count": "Control_counts", "test_count": "Test_counts",
               "diff_count": "diff_counts", "base_us": "Control_total_duration",
               "test_us": "Test_total_duration", "diff_us": "diff_duration",
               "counts_change": "counts_change_categories"}
    rows, summary = [], []
    changes = ["added", "deleted", "increased", "decreased", "unchanged"]
    for side, kind in [("cpu", DeviceType.CPU), ("gpu", DeviceType.GPU), ("all", DeviceType.ALL)]:
        options = {"control_iteration": step, "test_iteration": step, "device_type": kind}
        frame = TraceDiff.compare_traces(*runs, **options).reset_index()
        if side != "all":
            rows += [[side] + row for row in rows_of(frame, columns)]
        names = TraceDiff.ops_diff(*runs, **options)
        summary.append([side, len(frame)] + [len(names[change]) for change in changes])
    return {"failures": {}, "tables": {
        "diff": {"columns": ["side"] + list(columns), "rows": rows},
        "diff_summary": {"columns": ["side", "names"] + changes, "rows": summary}}}


def hta_counter_file(path, folder):
    """HTA writes beside its input, so that the input is copied first."""
    quiet_hta()
    copy = Path(folder) / Path(path).name
    shutil.copytree(path, copy) if os.path.isdir(path) else shutil.copy(path, copy)
    run = open_run(str(copy))
    run.generate_trace_with_counters(ranks=sorted(int(rank) for rank in run.t.get_all_traces()))
    return {}


def child(arguments):
    """What the process of HTA does; the answer is the last line of standard output."""
    question, rest = arguments[0], arguments[1:]
    if question == "answers":
        answer = hta_answers(rest[0], rest[1])
    elif question == "diff":
        answer = hta_diff(rest[0], rest[1], int(rest[2]) if rest[2] else None)
    else:
        answer = hta_counter_file(rest[0], rest[1])
    print("\n" + json.dumps(answer))


# ---------------------------------------------------------------- both, measured


class Cost:
    def __init__(self, cpu, wall, peak):
        self.cpu, self.wall, self.peak = cpu, wall, peak


# A process inherits the peak memory of the one that starts it, so that a small one stands between.
STARTER = """
import os, sys
child = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(child, 0)
print(os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss,
      file=open(int(sys.argv[1]), "w"))
"""


def measure(command):
    """Standard output of a program, its cost, and what it complained about."""
    program = shutil.which(str(command[0])) or str(command[0])
    begin = time.monotonic()
    with tempfile.TemporaryFile() as report, tempfile.TemporaryFile() as complaints:
        number = report.fileno()
        process = subprocess.run(
            [sys.executable, "-I", "-S", "-c", STARTER, str(number), program,
             *map(str, command[1:])],
            stdout=subprocess.PIPE, stderr=complaints, pass_fds=[number], check=True)
        report.seek(0)
        complaints.seek(0)
        status, cpu, peak = report.read().split()
        complaint = complaints.read().decode(errors="replace").strip()
    cost = Cost(float(cpu), time.monotonic() - begin, int(peak) * 1024)
    return int(status), process.stdout.decode(), cost, complaint


def best(command, rounds):
    """The output of a program that has to succeed, and its cheapest cost."""
    costs = []
    for _ in range(rounds):
        status, output, cost, complaint = measure(command)
        if status != 0:
            return None, cost, complaint.splitlines()[-1] if complaint else f"status {status}"
        costs.append(cost)
    return output, min(costs, key=lambda cost: cost.cpu), ""


def hta_command(*arguments):
    return [sys.executable, __file__, "--child", *arguments]


def print_costs(title, ours, theirs):
    print(f"  {title:<18} {'Borescope':>12} {'HTA':>12} {'ratio':>9}")
    for what, unit, pick in [("CPU time", "s", lambda cost: cost.cpu),
                             ("wall time", "s", lambda cost: cost.wall),
                             ("peak memory", "MiB", lambda cost: cost.peak / 2**20)]:
        mine, other = pick(ours), pick(theirs)
        ratio = other / mine if mine else float("inf")
        print(f"    {what + ', ' + unit:<16} {mine:>12.3f} {other:>12.3f} {ratio:>8.1f}x")


# ---------------------------------------------------------------- comparison


def our_tables(output):
    """{table: [row as {column: value}]} of a JSON document."""
    tables = {}
    for one in json.loads(output)["tables"]:
        columns = {column["name"]: column["values"] for column in one["columns"]}
        names = list(columns)
        tables[one["name"]] = [dict(zip(names, row)) for row in zip(*columns.values())]
    return tables


def candidates_of(rows):
    """HTA names ranks; we list all of them in order."""
    named = {}
    for row in rows:
        if row["position"] <= row["num_candidates"]:
            named.setdefault(row["num_candidates"], []).append(row["rank"])
    return [{"num_candidates": count, "ranks": sorted(ranks)} for count, ranks in named.items()]


def is_key(name):
    return name in ("rank", "stream", "idle_category", "correlation", "aten_op_name", "type",
                    "kernel_sequence", "name", "kernel_type", "side", "annotation", "pattern",
                    "num_candidates")


def same(mine, other, bound):
    if mine is None or other is None or isinstance(other, (str, list)):
        return mine == other
    return abs(mine - other) <= bound * max(1.0, abs(other))


def says_something(row, keys):
    """Ranks without device events: HTA lists them with NaN, we say that there are none. Types of
    kernels without any time: whether HTA has them depends on how its sort orders equal times."""
    if "type" in keys and not row["total_us"]:
        return False
    return any(cell is not None for name, cell in row.items() if name not in keys)


def by_key(rows, keys):
    """Rows by key; rows of one key in an order of their own."""
    grouped = {}
    for row in rows:
        if says_something(row, keys):
            grouped.setdefault(tuple(row[key] for key in keys), []).append(row)
    for group in grouped.values():
        group.sort(key=lambda row: [str(cell) for cell in row.values()])
    return grouped


def differences(name, mine, theirs, tolerance):
    """Lines about everything that is not the same."""
    if name == "stragglers":
        mine = candidates_of(mine)
    columns = theirs["columns"]
    keys = [column for column in columns if is_key(column)]
    bound = UNSTABLE if name in ("queue", "bandwidth") else tolerance
    ours = by_key([{column: row.get(column) for column in columns} for row in mine], keys)
    other = by_key([dict(zip(columns, row)) for row in theirs["rows"]], keys)
    found = []
    for key in sorted(set(ours) | set(other), key=str):
        left, right = ours.get(key, []), other.get(key, [])
        if len(left) != len(right):
            found.append(f"{key}: {len(left)} rows, HTA has {len(right)}")
            continue
        for a, b in zip(left, right):
            wrong = [f"{column} {a[column]}, HTA {b[column]}" for column in columns
                     if column not in keys and not same(a[column], b[column], bound)]
            if wrong:
                found.append(f"{key}: " + "; ".join(wrong))
    return found


def compare(ours, answer, tolerance, most):
    """Prints what differs; the number of differences."""
    for verb, failure in sorted(answer["failures"].items()):
        print(f"  {verb}: not compared, HTA stops: {failure}")
    total = 0
    for name, theirs in answer["tables"].items():
        found = differences(name, ours.get(name, []), theirs, tolerance)
        total += len(found)
        verdict = "equal" if not found else f"{len(found)} differ"
        print(f"  {name}: {len(theirs['rows'])} rows, {verdict}")
        for line in found[:most]:
            print(f"    {line[:300]}")
    return total


def compare_run(path, options):
    print(path)
    verbs = VERBS + (["sequences"] if options.operator else [])
    command = [options.borescope, ",".join(verbs), "--compat", "hta", "-f", "json", "-q", path]
    if options.operator:
        command += ["--operator", options.operator]
    output, ours, complaint = best(command, options.rounds)
    answer, theirs, hta_complaint = best(
        hta_command("answers", path, options.operator or ""), options.rounds)
    if output is None or answer is None:
        print(f"  not compared: {'Borescope' if output is None else 'HTA'} stops: "
              f"{(complaint or hta_complaint)[:200]}")
        return 1
    found = compare(our_tables(output), json.loads(answer.strip().splitlines()[-1]),
                    options.tolerance, options.list)
    print_costs("all questions", ours, theirs)
    compare_counter_files(path, options)
    return found


def compare_counter_files(path, options):
    """Only the cost: the two files draw their counters in different ways."""
    with tempfile.TemporaryDirectory() as folder:
        target = folder if os.path.isdir(path) else str(Path(folder) / "counters.json.gz")
        output, ours, complaint = best(
            [options.borescope, "queue", path, "--overlay", target, "-q", "-f", "json"],
            options.rounds)
    with tempfile.TemporaryDirectory() as folder:
        answer, theirs, hta_complaint = best(hta_command("counters", path, folder), 1)
    if output is None or answer is None:
        print(f"  counter file: {(complaint or hta_complaint)[:200]}")
        return
    print_costs("counter file", ours, theirs)


def compare_diff(options):
    base, test = options.diff
    print(f"{base} and {test}")
    command = [options.borescope, "diff", base, test, "--compat", "hta", "-f", "json", "-q"]
    if options.step is not None:
        command += ["--step", options.step]
    output, ours, complaint = best(command, options.rounds)
    step = "" if options.step is None else options.step
    answer, theirs, hta_complaint = best(hta_command("diff", base, test, step), options.rounds)
    if output is None or answer is None:
        print(f"  not compared: {(complaint or hta_complaint)[:200]}")
        return 1
    found = compare(our_tables(output), json.loads(answer.strip().splitlines()[-1]),
                    options.tolerance, options.list)
    print_costs("diff", ours, theirs)
    return found


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True, help="the program")
    parser.add_argument("--operator", help="also compare sequences under this operator")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--list", type=int, default=10, help="differences printed per table")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--diff", nargs=2, metavar=("BASE", "TEST"))
    parser.add_argument("--step", help="of --diff; default: the first one")
    parser.add_argument("traces", nargs="*", metavar="TRACE")
    options = parser.parse_args(arguments)
    # HTA looks for relative names in a folder of its own.
    options.traces = [os.path.abspath(path) for path in options.traces]
    options.diff = options.diff and [os.path.abspath(path) for path in options.diff]
    if not options.traces and not options.diff:
        parser.error("give traces, or --diff BASE TEST")
    return options


def main():
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2:])
        return 0
    options = parse(sys.argv[1:])
    if importlib.util.find_spec("hta") is None:
        print("HolisticTraceAnalysis is not installed for this Python; nothing compared. "
              "pip install traceinsight")
        return 0
    found = compare_diff(options) if options.diff else 0
    for path in options.traces:
        found += compare_run(path, options)
    print(f"{found} differences (a run that was not compared is one)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
