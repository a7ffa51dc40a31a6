#!/usr/bin/env python3
"""Compares the longest gaps of `borescope idle`, and the places of the verdict, with what was planted.

    check_longest_gaps.py BORESCOPE SYNTH

Each run has one cause of lost time planted in it. The gaps are found again, slowly, in the text of the
trace; the longest must have the planted cause and name what the host was made to do, and the verdict must
lead to one of the moments at which the time was lost.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SEEDS = range(1, 13)
# A host that is late, or that works after it waited, records one of these or nothing of what it does.
HOST_FRAMES = ("train.py(41): tokenize", "train.py(58): augment")
# plant: the cause that idle gives its longest gap, and what the host did then (a part of its name); "": any;
# None: nothing of it was recorded
PLANTED = {
    "host-pause": ("host", "<built-in method collect of module gc>"),
    "late-host": ("host", HOST_FRAMES),
    "long-wait": ("sync", HOST_FRAMES),
    "data-loading": ("data", ""),
    "code-loading": ("launch_call", "cudaLaunchKernel"),
    "unlinked": ("unknown", None),
}
# A finding about lost time has its value in one of these, and its place in a gap of that cause.
WITH_PLACE = ("host-pause", "late-host", "long-wait", "data-loading", "code-loading")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def rows_of(borescope: str, table: str, *question: str) -> list[dict]:
    for found in json.loads(run(borescope, *question, "-f", "json", "-q"))["tables"]:
        if found["name"] == table:
            columns = {column["name"]: column["values"] for column in found["columns"]}
            return [dict(zip(columns, row)) for row in zip(*columns.values())]
    sys.exit(f"{' '.join(question)}: no table {table}")


def nanoseconds(event: dict) -> tuple[int, int]:
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


def gaps_in(path: Path) -> list[tuple[int, int, str, str]]:
    """Begin, length, and the names before and after of all gaps of the one device, the longest first."""
    events = json.loads(path.read_text())["traceEvents"]
    work = sorted((*nanoseconds(event), event["name"]) for event in events
                  if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
    gaps, last, before = [], work[0][1], work[0][2]
    for begin, end, name in work[1:]:
        if begin > last:
            gaps.append((last, begin - last, before, name))
        if end > last:
            last, before = end, name
    return sorted(gaps, key=lambda gap: (-gap[1], gap[0]))


def planted_host(path: Path, plant: str) -> str | None:
    """What the host is recorded to have done in the longest gap."""
    host = PLANTED[plant][1]
    if host is not HOST_FRAMES:
        return host
    names = {event.get("name") for event in json.loads(path.read_text())["traceEvents"]}
    return next((frame for frame in HOST_FRAMES if frame in names), None)


def check_gaps(borescope: str, folder: Path, plant: str) -> list[dict]:
    path = folder / "rank-0.json"
    rows = rows_of(borescope, "longest_gaps", "idle", str(path), "--longest", "1000000")
    found = [(row["begin_ns"], row["duration_ns"], row["before"], row["after"]) for row in rows]
    if found != gaps_in(path):
        sys.exit(f"{folder.name}: the gaps are {found[:3]}..., not {gaps_in(path)[:3]}...")
    if [row["place"] for row in rows] != list(range(1, len(rows) + 1)):
        sys.exit(f"{folder.name}: places are not in order")
    cause, host = PLANTED[plant][0], planted_host(path, plant)
    longest = rows[0]
    if longest["cause"] != cause:
        sys.exit(f"{folder.name}: the longest gap has cause {longest['cause']}, not {cause}")
    if (longest["host"] is None) != (host is None) or (host and host not in longest["host"]):
        sys.exit(f"{folder.name}: the host did {longest['host']}, not {host}")
    return rows


def check_steps(borescope: str, folder: Path, rows: list[dict]) -> None:
    """With one gap asked for, each step still has its longest, and a step alone has the same."""
    few = rows_of(borescope, "longest_gaps", "idle", str(folder), "--longest", "1")
    for step in {row["step"] for row in rows} - {None}:
        own = next(row for row in rows if row["step"] == step)
        if own not in few:
            sys.exit(f"{folder.name}: step {step} has no longest gap")
        alone = rows_of(borescope, "longest_gaps", "idle", str(folder), "--step", str(step), "--longest", "1")
        if [(row["begin_ns"], row["duration_ns"], row["host"]) for row in alone] != [
                (own["begin_ns"], own["duration_ns"], own["host"])]:
            sys.exit(f"{folder.name}: step {step} alone has another gap: {alone}")


def check_place(borescope: str, folder: Path, plant: str, rows: list[dict]) -> None:
    first = rows_of(borescope, "verdict", "summary", str(folder))[0]
    cause = PLANTED[plant][0]
    gaps = [row for row in rows if row["cause"] == cause or (cause == "sync" and row["cause"] == "host")]
    begin, end = first["begin_ns"], first["end_ns"]
    if begin is None or not any(gap["begin_ns"] <= begin < end <= gap["begin_ns"] + gap["duration_ns"] for gap in gaps):
        sys.exit(f"{folder.name}: '{first['finding']}' leads to {begin} to {end}, where nothing was lost")
    if (first["rank"], first["gpu"]) != (0, 0) or not first["where"].startswith("rank 0, GPU 0, +"):
        sys.exit(f"{folder.name}: '{first['finding']}' leads to {first['where']}")


def main() -> None:
    borescope, synth = sys.argv[1:]
    gaps = 0
    with tempfile.TemporaryDirectory() as temp:
        for plant in PLANTED:
            for seed in SEEDS:
                folder = Path(temp) / f"{plant}-{seed}"
                run(synth, "--plant", f"{plant}:15", "--seed", str(seed), "--out", str(folder))
                rows = check_gaps(borescope, folder, plant)
                gaps += len(rows)
                check_steps(borescope, folder, rows)
                if plant in WITH_PLACE:
                    check_place(borescope, folder, plant, rows)
    print(f"{len(PLANTED) * len(SEEDS)} runs, {gaps} gaps")


main()
