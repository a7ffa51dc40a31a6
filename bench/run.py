#!/usr/bin/env python3
"""Measures loading (file to finished trace with all indexes) as ratios inside one run.

Usage: bench/run.py [--mb 1000] [--rounds 5] [--build build/bench] [--trace FILE.json]
                    [--limits DIR] [--work DIR] [--skip-python] [--real-time]

Every round runs all programs one after another, so that a ratio inside a round holds on a machine that
is busy with other things; CPU time is user + system of the whole process. Answers are checked first:
a program that does not see every event is not timed. Without --trace a trace is written by
borescope-synth. With --limits, the folder of the limit programs (lim_wide.cpp), these are built and
measured too. --real-time runs the programs before all others of the machine, so that walls hold as
well; it needs the right to (chrt). Exit status 3 when a goal is missed, 1 when something fails.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOAL_MISSED = 3
# Whole commands on two threads, and what they may cost beside `info`, which only loads.
VERBS = {"summary": 1.08, "critical-path": 1.4, "report": 1.25}


def answer_of(output):
    """The last line as JSON; nothing where it is none."""
    lines = output.strip().splitlines()
    try:
        return json.loads(lines[-1].removeprefix("@@")) if lines else {}
    except json.JSONDecodeError:
        return {}


def run_once(command):
    """Runs a program; returns what it answered and what it cost."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"bench: {' '.join(command)} failed with status {status}")
    return {
        "answer": answer_of(output),
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": time.monotonic() - begin,
        "rss": usage.ru_maxrss * 1024,
    }


def synthesize(work, synth, megabytes):
    trace = work / f"synth-{megabytes}MB.json"
    if not trace.exists():
        folder = work / "synth"
        subprocess.run(
            [synth, "--out", folder, "--ranks", "1", "--size", f"{megabytes}MB", "--seed", "1",
             "--with-stack", "--with-shapes"],
            check=True, stdout=subprocess.DEVNULL)
        shutil.move(next(folder.glob("rank-0*.json")), trace)
    return trace


def compress(trace):
    packed = trace.with_suffix(".json.gz")
    if not packed.exists():
        unfinished = packed.with_suffix(".unfinished")
        with open(trace, "rb") as source, gzip.open(unfinished, "wb", 6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        unfinished.replace(packed)
    return packed


def build_limit(limits, work):
    program = work / "lim_wide"
    subprocess.run(
        ["g++", "-O3", "-march=native", "-std=c++17", limits / "lim_wide.cpp", "-o", program,
         "-lsimdjson", "-lpthread"],
        check=True)
    return program


def median(rounds, name, key):
    return statistics.median(r[name][key] for r in rounds)


def ratio(rounds, name, reference, key="cpu"):
    values = [r[name][key] / r[reference][key] for r in rounds]
    return statistics.median(values), min(values), max(values)


class Report:
    """Prints one line a goal and remembers whether all were met."""

    def __init__(self):
        self.missed = False

    def goal(self, what, value, limit, note=""):
        met = value <= limit
        self.missed = self.missed or not met
        print(f"  {what:<58} {value:8.2f}   goal <= {limit:<5} {'met' if met else 'MISSED'} {note}")

    @staticmethod
    def fact(what, value, note=""):
        print(f"  {what:<58} {value:8.2f}   {note}")


def print_report(rounds, text_bytes, commands):
    gigabytes = text_bytes / 1e9
    report = Report()
    report.goal("CPU seconds per GB of text, one thread",
                median(rounds, "load", "cpu") / gigabytes, 1.6)
    report.goal("wall, two threads / CPU, one thread",
                statistics.median(r["load-2"]["wall"] / r["load"]["cpu"] for r in rounds), 0.53)
    report.goal(".json.gz / .json, CPU, one thread", ratio(rounds, "load-gz", "load")[0], 1.2)
    report.goal("peak memory / inflated size", median(rounds, "load", "rss") / text_bytes, 0.35)
    report.goal("peak memory / inflated size, .gz, two threads",
                median(rounds, "load-gz-2", "rss") / text_bytes, 0.35)
    for name, limit in VERBS.items():
        report.goal(f"{name} / info, CPU", ratio(rounds, name, "info")[0], limit)
    for name, limit in (("lim_wide", 0.65), ("simdjson-loop", None), ("python", None)):
        if name not in commands:
            continue
        mid, low, high = ratio(rounds, "load", name)
        spread = f"[{low:.2f}..{high:.2f}]"
        if limit:
            report.goal(f"CPU / {name}", mid, limit, spread)
        else:
            report.fact(f"CPU / {name}", mid, spread)
    return report


def commands_of(args, trace):
    packed = compress(trace)
    load = str(args.build / "bin" / "borescope-load-bench")
    borescope = str(args.build / "bin" / "borescope")
    commands = {
        "load": [load, str(trace), "1"],
        "load-2": [load, str(trace), "2"],
        "load-gz": [load, str(packed), "1"],
        "load-gz-2": [load, str(packed), "2"],
        "simdjson-loop": [str(args.build / "bin" / "borescope-simdjson-loop"), str(trace)],
    }
    for verb in ("info", *VERBS):
        output = args.work / f"{verb}.{'html' if verb == 'report' else 'csv'}"
        commands[verb] = [borescope, verb, str(trace), "-q", "--threads", "2", "-o", str(output)]
    if args.limits:
        commands["lim_wide"] = [str(build_limit(args.limits, args.work)), str(trace)]
    if not args.skip_python:
        commands["python"] = [
            sys.executable, "-c",
            "import json,sys; d = json.load(open(sys.argv[1]));"
            "print(json.dumps({'events': len(d['traceEvents'])}))", str(trace)]
    return commands


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--trace", type=Path)
    parser.add_argument("--limits", type=Path)
    parser.add_argument("--work", type=Path, default=Path("/tmp/borescope-bench"))
    parser.add_argument("--skip-python", action="store_true")
    parser.add_argument("--real-time", action="store_true")
    args = parser.parse_args()

    args.work.mkdir(parents=True, exist_ok=True)
    trace = args.trace or synthesize(args.work, args.build / "bin" / "borescope-synth", args.mb)
    commands = commands_of(args, trace)
    if args.real_time:
        commands = {name: ["chrt", "-f", "10", *command] for name, command in commands.items()}
    warm = {name: run_once(command) for name, command in commands.items()}
    counts = {name: result["answer"]["events"] for name, result in warm.items()
              if name != "info" and name not in VERBS}
    if len(set(counts.values())) != 1:
        sys.exit(f"bench: the programs disagree about the number of events: {counts}")
    fixed = {"python": warm.pop("python")} if "python" in warm else {}  # slow: one run is enough
    rounds = [{**{name: run_once(commands[name]) for name in warm}, **fixed}
              for _ in range(args.rounds)]

    text_bytes = trace.stat().st_size
    print(f"{trace.name}: {text_bytes / 1e6:.0f} MB, {counts['load']:,} events, "
          f"{args.rounds} rounds, load average {os.getloadavg()[0]:.1f}")
    for name in commands:
        print(f"  {name:<16} cpu {median(rounds, name, 'cpu'):7.2f} s   "
              f"wall {median(rounds, name, 'wall'):7.2f} s   "
              f"peak {median(rounds, name, 'rss') / 1e6:8.0f} MB")
    report = print_report(rounds, text_bytes, commands)
    sys.exit(GOAL_MISSED if report.missed else 0)


if __name__ == "__main__":
    main()
