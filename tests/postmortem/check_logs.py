#!/usr/bin/env python3
"""Whether `borescope postmortem` names what ended a job first, from logs whose truth is known.

    check_logs.py BORESCOPE [--first SEED] [--seeds N] [--verbose]

Prints how often a kind of end was taken for which: rows are the truth.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import job_logs
import log_forms
import log_programs
from check_faults import rows

KINDS = {
    "Ranks ended with an exception": "exception",
    "Out of memory on the device": "out of memory",
    "Out of memory: the process's own limit": "out of memory",
    "Ranks were killed for lack of host memory": "host memory",
    "Processes were killed for lack of host memory": "host memory",
    "Ranks were ended by a signal": "signal",
    "Ranks ended with an exit code": "exit code",
    "Slurm cancelled the job at its time limit": "time limit",
    "Grid Engine ended the job at its time limit": "time limit",
    "Grid Engine ended the job at one of its limits": "limits",
    "The program did not start": "no start",
    "Slurm took the nodes for another job": "preemption",
    "A node of the job failed": "node failure",
    "The job was cancelled": "cancelled",
    "Slurm reports failed tasks": "tasks",
    "Kubernetes evicted a pod of the job": "evicted",
    "The kernel reports errors of a GPU": "GPU",
    "The kernel reports that a GPU was reset": "GPU reset",
    "The kernel reports errors of an NVSwitch": "NVSwitch",
    "The machine itself failed": "machine",
    "Ranks called different operations": "operations",
    "Ranks called with different sizes or types": "sizes",
    "Devices stopped inside a collective": "device",
    "Ranks stopped issuing work": "never issued",
    "Ranks did not come to a barrier": "barrier",
    "A watchdog gave up, and the logs do not say who was missing": "timeout",
}


def findings(borescope, files):
    with tempfile.TemporaryDirectory(prefix="postmortem-logs-") as name:
        for path, text in files.items():
            at = Path(name) / path
            at.parent.mkdir(parents=True, exist_ok=True)
            at.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run([borescope, "postmortem", name, "-f", "json", "-q", "--threads", "1"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"status {done.returncode}: {done.stderr}")
    return rows({table["name"]: table for table in json.loads(done.stdout)["tables"]}, "postmortem")


def judge(found, kind, rank, text, is_ordered):
    """The kind that was found, and whether all is right."""
    errors = [row for row in found if row["severity"] == "error"]
    if not errors:
        return "none", kind == "none"
    first = errors[0]
    got = KINDS.get(first["finding"], first["finding"])
    is_right = got == kind and (rank is None or (first["ranks"] or "") == str(rank)) and text in first["evidence"]
    if not is_ordered:
        # Nothing says who was first: that has to be said, and the truth to be among these.
        said = "Nothing shows whether" in first["evidence"]
        among = any(KINDS.get(row["finding"]) == kind and row["ranks"] == str(rank) for row in errors)
        return (kind if said and among else got), said and among
    return got, is_right


def judge_form(found, kind, ranks, text, advice):
    """As judge, with a part of the help; a log that does not say who was at fault must not say more."""
    got, is_right = judge(found, kind, ranks, text, True)
    if kind == "none" or not is_right:
        return got, is_right
    first = next(row for row in found if row["severity"] == "error")
    return got, advice in first["help"] and (kind == "timeout") == (first["certainty"] == "cannot tell")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("borescope")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    matrix = Counter()
    right = Counter()
    wrong = []
    for name, files, kind, rank in job_logs.CASES:
        found = findings(args.borescope, files)
        got, is_right = judge(found, kind, rank, "", True)
        matrix[kind, got] += 1
        right["cases"] += is_right
        if not is_right:
            wrong.append((name, kind, rank, found))
    for of, cases in (("forms", log_forms.CASES), ("programs", log_programs.CASES)):
        for name, files, kind, ranks, text, advice in cases:
            found = findings(args.borescope, files)
            got, is_right = judge_form(found, kind, ranks, text, advice)
            matrix[kind, got] += 1
            right[of] += is_right
            if not is_right:
                wrong.append((name, kind, ranks, found))
    for seed in range(args.first, args.first + args.seeds):
        job = job_logs.Job(seed)
        kind, rank = job.truth()
        text = {"exception": "bad batch", "out of memory": "requested", "signal": ""}[kind]
        found = findings(args.borescope, job.files())
        got, is_right = judge(found, kind, rank, text, job.is_ordered)
        matrix[kind, got] += 1
        right["seeds"] += is_right
        if not is_right:
            wrong.append((f"seed {seed}: {job.launcher}, {job.clock}, later {job.later}, caught {job.caught}", kind, rank, found))
    for name, kind, rank, found in wrong:
        print(f"wrong: {name}: {kind} of rank {rank}")
        for row in found if args.verbose else found[:1]:
            print("   ", row["severity"], row["finding"], row["ranks"], row["evidence"])
    kinds = sorted({kind for pair in matrix for kind in pair})
    width = max(map(len, kinds)) + 2
    print("truth \\ answer".ljust(width) + "".join(kind[:10].rjust(12) for kind in kinds))
    for kind in kinds:
        print(kind.ljust(width) + "".join((str(matrix[kind, other]) if matrix[kind, other] else ".").rjust(12) for other in kinds))
    print(f"{right['cases']} of {len(job_logs.CASES)} cases, {right['forms']} of {len(log_forms.CASES)} forms, {right['programs']} of {len(log_programs.CASES)} programs and {right['seeds']} of {args.seeds} jobs are right")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
