#!/usr/bin/env python3
"""Whether long logs are read in time and memory that the number of their lines alone decides.

    check_long_logs.py BORESCOPE [--megabytes N] [--seconds S] [--memory M]

Every line of each log looks like something that a post-mortem takes, and is not, or belongs to one stack without an end.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

TRACE = "Traceback (most recent call last):\n"
LOGS = {
    "killed in every line": ("", lambda i: f"2026-11-01 10:00:00 worker {i} Killed something else, {i * 7} of them\n"),
    "all words in every line": ("", lambda i: f"{i} Killed NCCL WARN SXid (PCI segfault at CANCELLED AT OOMKilled (exitcode: RUNNING AT \n"),
    "an endless traceback": (TRACE, lambda i: f'  File "/app/train.py", line {i}, in main_function\n    step(batch)  # of it\n'),
    "tracebacks of many ranks": ("", lambda i: f'[rank{i % 5000}]: {TRACE}[rank{i % 5000}]:   File "/app/train.py", line {i}, in main\n'),
    "an endless stack of py-spy": ('Process 7: python t.py\nThread 7 (idle): "MainThread"\n', lambda i: f"    step (train.py:{i})\n"),
    "one line of progress": ("", lambda i: f"\r {i}/9999999 [00:00<1:02:33, 2.1it/s]"),
    "exceptions without work": ("", lambda i: f'{TRACE}  File "/app/train.py", line {i}, in main\nValueError: bad {i}\n'),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("borescope")
    parser.add_argument("--megabytes", type=int, default=48)
    parser.add_argument("--seconds", type=float, default=4, help="of a processor, for each log")
    parser.add_argument("--memory", type=int, default=100, help="MB")
    args = parser.parse_args()
    failed = False
    for name, (head, line) in LOGS.items():
        with tempfile.TemporaryDirectory(prefix="postmortem-long-") as folder:
            path = Path(folder) / "job.log"
            with path.open("w") as out:
                out.write(head)
                lines = [line(i) for i in range(20_000)]
                text = "".join(lines)
                for _ in range(args.megabytes * 1_000_000 // len(text) + 1):
                    out.write(text)
            size = path.stat().st_size
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(["/usr/bin/env", "bash", "-c", 'ulimit -v $1; shift; exec "$@"', "-", str((args.memory + 1000) * 1000), args.borescope, "postmortem", folder, "-q", "--threads", "1", "-f", "json"], capture_output=True, check=False)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            is_right = done.returncode == 0 and seconds <= args.seconds and after.ru_maxrss <= args.memory * 1000
            failed = failed or not is_right
            print(f"{'ok   ' if is_right else 'wrong'} {name}: {size / 1e6:.0f} MB in {seconds:.2f} s ({size / 1e6 / seconds:.0f} MB/s), at most {after.ru_maxrss / 1000:.0f} MB of memory so far, status {done.returncode}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
