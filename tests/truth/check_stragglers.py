#!/usr/bin/env python3
"""Plants a straggler and asks borescope for it.

Usage: check_stragglers.py BORESCOPE SYNTH [seed ...]

borescope-synth makes runs of four ranks in which the kernels of one are slow. That rank must come first,
with most of the score, which the clocks confirm. When the clocks of the ranks are moved against each
other, the answer must be the same but for what it says about clocks, and nearly the same when a recording is cut or says nothing about its
collectives.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = 4
LEAST_SCORE = 0.7
COLLECTIVE_ARGS = ("Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "Seq",
                   "Process Group Name", "Process Group Description", "Process Group Ranks")


def ask(borescope, folder):
    command = [borescope, "stragglers", folder, "-f", "csv", "-q"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {result.returncode}\n{result.stderr}")
    return result.stdout


def scores(answer):
    """[(rank, score)] as listed, worst first."""
    lines = answer.split("# late_collectives")[0].splitlines()[2:]
    return [(int(line.split(",")[0]), float(line.split(",")[1])) for line in lines]


CLOCK_COLUMNS = ("clock_wait_ns", "clocks", "evidence", "begin_skew_ns", "end_skew_ns",
                 "mean_begin_skew_ns", "max_begin_skew_ns", "mean_end_skew_ns", "max_end_skew_ns")


def tables(answer):
    """{name: rows}, each row a dictionary."""
    found = {}
    for text in ("\n" + answer).split("\n# ")[1:]:
        name, *lines = text.splitlines()
        found[name] = list(csv.DictReader(lines))
    return found


def without_clocks(answer):
    return {name: [{key: cell for key, cell in row.items() if key not in CLOCK_COLUMNS} for row in rows]
            for name, rows in tables(answer).items()}


def check_clocks(what, answer, expected):
    for row in tables(answer)["stragglers"]:
        if row["clocks"] not in ("", expected):
            sys.exit(f"{what}: clocks {row['clocks']}, not {expected}\n{answer}")


def rewritten(source, target, change):
    """A copy of the run in `source` with change(rank, events) -> events applied to every rank."""
    target.mkdir()
    for path in sorted(source.glob("rank-*.json")):
        trace = json.loads(path.read_text())
        rank = trace["distributedInfo"]["rank"]
        trace["traceEvents"] = change(rank, trace["traceEvents"])
        (target / path.name).write_text(json.dumps(trace))
    return target


def move_clocks(rank, events):
    for event in events:
        if "ts" in event:
            event["ts"] += (rank - 1) * 7777777
    return events


def forget_arguments(_, events):
    for event in events:
        for name in COLLECTIVE_ARGS:
            event.get("args", {}).pop(name, None)
    return events


def cut_late(ranks):
    """Recordings of two ranks end early, one a little later than the other."""
    def cut(rank, events):
        times = sorted(event["ts"] for event in events if "ts" in event and event.get("ph") == "X")
        end = times[int(len(times) * ranks.get(rank, 1)) - 1]
        return [event for event in events if event.get("ts", 0) <= end]
    return cut


def check(what, answer, straggler):
    first, score = scores(answer)[0]
    print(f"  {what}: rank {first}, score {score:.3f}")
    if first != straggler or score < LEAST_SCORE:
        sys.exit(f"{what}: expected rank {straggler} with most of the score\n{answer}")


def check_seed(borescope, synth, seed, folder):
    straggler = seed % RANKS
    cut = cut_late({(straggler + 1) % RANKS: 0.7, (straggler + 2) % RANKS: 0.85})
    run = folder / "run"
    era = "ns" if seed % 2 else "int-us"  # with sequence numbers, and without
    subprocess.run([synth, "--out", run, "--ranks", str(RANKS), "--steps", "5", "--seed", str(seed), "--era",
                    era, "--straggler", str(straggler)], check=True, capture_output=True)
    (run / "truth.json").unlink()
    print(f"seed {seed}")
    plain = ask(borescope, run)
    check("as planned", plain, straggler)
    moved = ask(borescope, rewritten(run, folder / "moved", move_clocks))
    check_clocks("as planned", plain, "agree")
    check_clocks("other clocks", moved, "apart")
    if without_clocks(moved) != without_clocks(plain):
        sys.exit(f"other clocks, other answer:\n{plain}\n{moved}")
    bare = rewritten(run, folder / "bare", forget_arguments)
    check("without arguments", ask(borescope, bare), straggler)
    check("cut", ask(borescope, rewritten(run, folder / "cut", cut)), straggler)
    check("cut, without arguments", ask(borescope, rewritten(bare, folder / "both", cut)), straggler)


def main():
    borescope, synth = sys.argv[1:3]
    for seed in map(int, sys.argv[3:] or ["1"]):
        with tempfile.TemporaryDirectory() as folder:
            check_seed(borescope, synth, seed, Path(folder))


if __name__ == "__main__":
    main()
