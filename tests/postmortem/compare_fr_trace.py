#!/usr/bin/env python3
"""Our verdicts beside those of PyTorch's own analyser (torch.distributed.flight_recorder.fr_trace, which is pure Python:
the folder `torch/distributed/flight_recorder` of any wheel and the package `tabulate` are enough). For hand runs.

    compare_fr_trace.py BORESCOPE --torch FOLDER [--cases FOLDER] [--seeds N] [--first SEED]

FOLDER is what PYTHONPATH needs for `import torch.distributed.flight_recorder`. `--cases` holds folders of dumps. Prints
rows of Markdown for these, and counts for synthetic jobs whose fault is known.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import check_faults
import faults

RANKS = re.compile(r"missing ranks: \{([0-9, ]*)\}")


def torch_says(torch, folder, prefix):
    """(the ranks of its first message, all ranks it names, how it ended)."""
    done = subprocess.run([sys.executable, "-m", "torch.distributed.flight_recorder.fr_trace", "-p", prefix, str(folder),
                           "-o", os.devnull], env=dict(os.environ, PYTHONPATH=str(torch)), capture_output=True, text=True,
                          check=False)
    named = []
    for line in (done.stdout + done.stderr).splitlines():
        if found := RANKS.search(line):
            named.append({int(rank) for rank in found[1].split(",")})
        elif "Culprit rank" in line:
            named.append({int(rank) for rank in re.findall(r"Culprit rank (\d+)", line)})
    error = (done.stderr.strip().splitlines() or [""])[-1] if done.returncode != 0 else ""
    return (named[0] if named else set()), set().union(*named), error


def ours(borescope, folder):
    culprits = check_faults.rows(check_faults.ask(borescope, folder), "hang_culprits")
    return [row for row in culprits if row["primary"]], culprits


def words(ranks):
    return ", ".join(str(rank) for rank in sorted(ranks)) or "nobody"


def compare_cases(args):
    print("| folder | Borescope | PyTorch, first message | all it names |\n| --- | --- | --- | --- |")
    for folder in sorted(path for path in args.cases.iterdir() if path.is_dir()):
        prefix = re.sub(r"[0-9]+(\.json)?$", "", sorted(folder.iterdir())[0].name)
        first, union, error = torch_says(args.torch, folder, prefix)
        primary, _ = ours(args.borescope, folder)
        kinds = ", ".join(sorted({row["kind"] for row in primary}))
        theirs = f"ends with {error.split(':')[0]}" if error else words(first)
        print(f"| {folder.name} | {words({row['rank'] for row in primary})}: {kinds} | {theirs} "
              f"| {'' if error else words(union)} |")


def compare_jobs(args):
    counts = Counter()
    for seed in range(args.first, args.first + args.seeds):
        job = faults.make(seed)
        if job is None:
            continue
        _, ranks, can_tell = job.truth()
        with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
            job.write(folder, {"json": False, "gzip": False, "missing": False})
            first, union, error = torch_says(args.torch, Path(folder), "trace_")
            primary, culprits = ours(args.borescope, folder)
        verdict = check_faults.judge(job, culprits)
        own = {row["rank"] for row in primary}
        counts["jobs"] += 1
        counts["decidable"] += can_tell
        counts["ours right"] += verdict not in ("wrong", "wrong and certain")
        counts["ours wrong and certain"] += verdict == "wrong and certain"
        counts["theirs ends with an error"] += bool(error)
        if can_tell:
            counts["decidable: ours exact"] += own == ranks
            counts["decidable: theirs, first message exact"] += first == ranks
            counts["decidable: theirs, all named exact"] += union == ranks
            counts["decidable: theirs, truth among those named"] += ranks <= union
            counts["decidable: ranks at fault"] += len(ranks)
            counts["decidable: ranks named by theirs"] += len(union)
            counts["decidable: ranks named by ours"] += len(own)
        if args.verbose:
            print(seed, job.fault, "truth", words(ranks), "ours", words(own), "theirs", words(first), "/", words(union), error)
    for name, count in counts.items():
        print(f"{name}: {count}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("borescope")
    parser.add_argument("--torch", type=Path, required=True)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--seeds", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.cases:
        compare_cases(args)
    if args.seeds:
        compare_jobs(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
