#!/usr/bin/env python3
"""Runs borescope on a synthetic run and compares every table with the truth beside it.

Usage: check_against_truth.py BORESCOPE SYNTH [synth options ...]

borescope-synth plans a job, knows its tables and writes the trace; borescope reads the text. Every number
both have must be equal, and neither side may have a row the other lacks. With planted faults, each fault
must be found by its diagnostic, as often as it was planted.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

# table of the truth: verb and options, key columns, columns that must be equal
TABLES = {
    "event_counts": (["info"], ["rank", "phase", "category"], ["count", "total_ns"]),
    "breakdown": (["breakdown"], ["rank", "gpu"],
                  ["span_ns", "busy_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns"]),
    "kernels": (["kernels", "--by", "rank"], ["rank", "name"],
                ["class", "count", "total_ns", "min_ns", "max_ns"]),
    "copies": (["kernels", "--by", "rank", "--all"], ["rank", "name"], ["count", "total_ns"]),
    "ops": (["ops", "--by", "rank"], ["rank", "name"],
            ["calls", "self_host_ns", "total_host_ns", "self_device_ns", "total_device_ns"]),
    "steps": (["steps", "--step-rule", "time"], ["rank", "gpu", "step"], ["begin_ns", "span_ns", "busy_ns", "idle_ns"]),
    "ranks": (["info"], ["rank"], ["events", "device_events", "streams"]),
    "idle": (["idle"], ["rank", "gpu", "stream"],
             ["host_wait_ns", "kernel_wait_ns", "other_ns", "unlinked_ns", "head_ns", "tail_ns"]),
    "overlap": (["overlap"], ["rank", "gpu"], ["comm_ns", "overlapped_ns"]),
    "queue": (["queue", "--queue-limit", "4"], ["rank", "gpu", "stream"],
              ["samples", "length_sum", "min", "max", "blocked_ns"]),
    "bandwidth": (["bandwidth"], ["rank", "kind"], ["count", "bytes", "total_ns", "unrated"]),
    "launches": (["launches"], ["rank"], ["rows", "host_ns", "device_ns", "delay_ns"]),
    "delays": (["delays"], ["op", "kernels"], ["count", "launch_delay_ns", "runtime_ns"]),
    "annotations": (["annotations"], ["rank", "side", "name"],
                    ["count", "total_ns", "min_ns", "max_ns"]),
    "collectives": (["collectives"], ["rank", "collective", "group", "group_size", "dtype"],
                    ["count", "bytes", "total_ns"]),
    "stragglers": (["stragglers"], ["rank"], ["caused_wait_ns", "waited_ns", "times_last"]),
}
TABLE_NAMES = {"copies": "kernels", "ranks": "traces"}

# fault: diagnostic that must count it, exactly as often as planted
FAULT_DIAGNOSTICS = {
    "missing-launch": "unlinked-device-event",
    "negative-duration": "negative-duration",
    "impossible-duration": "impossible-duration",
    "kernel-before-launch": "device-before-launch",
    "stream-overlap": "stream-overlap",
    "duplicate-correlation": "duplicate-correlation",
    "bad-utf8": "invalid-utf8",
    "control-char": "control-character",
    "unescaped-quote": "unescaped-quote",
    "duplicate-key": "duplicate-key",
    "truncated": "truncated-file",
}

# Faults that must not change any number: what they touch is not read, or means the same.
HARMLESS_FAULTS = {"nan-value", "big-integer", "duplicate-key", "string-numbers"}


def run(command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}")
    return result.stdout


def rows(columns, keys, values):
    """{key: {column: value}}; a key must be unique."""
    table = {}
    count = len(columns[keys[0]])
    for i in range(count):
        key = tuple(columns[k][i] for k in keys)
        assert key not in table, f"two rows for {key}"
        table[key] = {v: columns[v][i] for v in values if v in columns}
    return table


def measured(borescope, folder, verb, table_name):
    document = json.loads(run([borescope, *verb, "-f", "json", folder]))
    for table in document["tables"]:
        if table["name"] == table_name:
            return {c["name"]: c["values"] for c in table["columns"]}, document["diagnostics"]
    sys.exit(f"{verb}: no table {table_name}")


def sum_rows(columns):
    """The rows of `launches`, a row a rank."""
    sums = {}
    for i, rank in enumerate(columns["rank"]):
        row = sums.setdefault(rank, {"rows": 0, "host_ns": 0, "device_ns": 0, "delay_ns": 0})
        row["rows"] += 1
        for column in ("host_ns", "device_ns", "delay_ns"):
            row[column] += columns[column][i]
    return {"rank": list(sums), **{c: [row[c] for row in sums.values()]
                                   for c in ("rows", "host_ns", "device_ns", "delay_ns")}}


def in_terms_of_truth(name, columns):
    """Borescope's columns with what the truth has in other words."""
    if name == "launches":
        return sum_rows(columns)
    if name == "queue":
        lengths = [round(mean * samples) for mean, samples in zip(columns["mean"], columns["samples"])]
        return {**columns, "length_sum": lengths}
    return columns


def comparable(name, truth):
    """The truth in the terms of borescope's tables."""
    if name == "event_counts":  # an event without a category has none, not an empty one
        return {tuple(part or None if i == 2 else part for i, part in enumerate(key)): row
                for key, row in truth.items()}
    if name == "kernels":  # the generator tells losses apart, borescope does not
        return {key: {c: v for c, v in row.items() if (c, v) != ("class", "loss")}
                for key, row in truth.items()}
    if name == "collectives":  # borescope writes PyTorch's names in full
        return {(key[0], key[1].replace("allreduce", "all_reduce"), *key[2:]): row
                for key, row in truth.items()}
    if name == "delays":  # without an operator there is no delay from it
        return {key: {c: None if (c, key[0]) == ("launch_delay_ns", "(no operator)") else v
                      for c, v in row.items()} for key, row in truth.items()}
    return truth


def keep(name, found):
    """Leaves out the rows that only one side can have."""
    if name == "ops":
        return {k: v for k, v in found.items() if k[1] != "(no operator)"}
    if name == "steps":
        return {k: v for k, v in found.items() if k[2] is not None}
    if name == "copies":
        return {k: v for k, v in found.items() if k[1].startswith(("Mem", "Copy", "Fill"))}
    return found


def compare(name, truth, found):
    problems = []
    for key in sorted(set(truth) | set(found), key=str):
        if key not in found:
            problems.append(f"{name}: {key} is in the truth only: {truth[key]}")
        elif key not in truth:
            problems.append(f"{name}: {key} is in borescope only: {found[key]}")
        else:
            problems += [f"{name}: {key}: {column} is {found[key].get(column)}, truth {value}"
                         for column, value in truth[key].items() if found[key].get(column) != value]
    return problems


def unexpected(diagnostics, config):
    """What a clean run must not be told. Ranks of which no file was written must be missed."""
    missing = max(config["ranks"], config["world_size"]) - config["ranks"]
    counts = {d["code"]: d["count"] for d in diagnostics if d["severity"] != "info"}
    if not config["bare_list"]:
        missed = counts.pop("missing-ranks", 0)
        if missed != missing:
            return [f"{missing} ranks are not written, {missed} are missed"]
    return [f"a clean run has a finding: {code}" for code in counts]


def check_faults(borescope, folder, faults):
    _, diagnostics = measured(borescope, folder, ["info"], "traces")
    counts = {}
    for row in diagnostics:
        # What misses its launch and comes before all recorded ones seems to have been launched before.
        code = "unlinked-device-event" if row["code"] == "inherited-work" else row["code"]
        counts[code] = counts.get(code, 0) + row["count"]
    return [f"fault {fault}: planted {planted}, {FAULT_DIAGNOSTICS[fault]} counts "
            f"{counts.get(FAULT_DIAGNOSTICS[fault], 0)}"
            for fault, planted in faults.items()
            if fault in FAULT_DIAGNOSTICS and counts.get(FAULT_DIAGNOSTICS[fault], 0) != planted]


def check_straggler(borescope, folder, straggler):
    """The rank that was made slow stands first, alone."""
    found, _ = measured(borescope, folder, ["stragglers"], "stragglers")
    if found["rank"][0] == straggler and found["score"][0] > 2 / len(found["rank"]):
        return []
    return [f"stragglers: planted {straggler}, found {found['rank']} with {found['score']}"]


def path_of(borescope, folder, step):
    """{rank: [(bound_by, begin_ns, duration_ns)]}, pieces spent on the same joined."""
    found, _ = measured(borescope, folder, ["critical-path", "--step", str(step)], "critical_path")
    paths = {}
    for rank, bound_by, begin, duration in zip(found["rank"], found["bound_by"], found["begin_ns"],
                                               found["duration_ns"]):
        path = paths.setdefault(rank, [])
        if path and path[-1][0] == bound_by and duration > 0:
            path[-1] = (bound_by, path[-1][1], path[-1][2] + duration)
        elif duration > 0:
            path.append((bound_by, begin, duration))
    return paths


def check_paths(borescope, folder, columns):
    """The planted path of every step, piece by piece."""
    planted = {}
    for rank, step, *piece in zip(*(columns[c] for c in ("rank", "step", "bound_by", "begin_ns",
                                                         "duration_ns"))):
        planted.setdefault(step, {}).setdefault(rank, []).append(tuple(piece))
    problems = []
    for step, paths in planted.items():
        found = path_of(borescope, folder, step)
        problems += [f"critical-path: step {step}, rank {rank}: planted {path}, found {found.get(rank)}"
                     for rank, path in paths.items() if found.get(rank) != path]
    return problems


def main():
    borescope, synth, *options = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "run"
        run([synth, "--out", folder, *options])
        truth_file = folder / "truth.json"
        truth = json.loads(truth_file.read_text())
        truth_file.unlink()
        faults = truth["faults"]
        if faults:
            problems += check_faults(borescope, folder, faults)
        straggler = truth["config"]["straggler"]
        if straggler >= 0:
            problems += check_straggler(borescope, folder, straggler)
        problems += check_paths(borescope, folder, truth["tables"]["critical_path"]["columns"])
        if set(faults) <= HARMLESS_FAULTS:
            for table, (verb, keys, columns) in TABLES.items():
                if len(truth["tables"][table]["columns"][keys[0]]) == 0:
                    continue
                found, diagnostics = measured(borescope, folder, verb, TABLE_NAMES.get(table, table))
                expected = comparable(
                    table, rows(truth["tables"][table]["columns"], keys, columns))
                found = in_terms_of_truth(table, found)
                problems += compare(table, expected, keep(table, rows(found, keys, columns)))
                problems += unexpected(diagnostics, truth["config"]) if not faults else []
    print("\n".join(problems[:40]) or f"equal: {' '.join(options)}")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
