#!/usr/bin/env python3
"""Times the same questions to a recording without a cache, while one is filled, and answered from it.

    bench/cache.py TRACE [--build build/bench] [--rounds N]

Each round asks every way once, in turn, so that ratios hold on a busy machine. Shown are the least wall and
CPU times of whole processes; all answers must be equal.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VERBS = ["info", "breakdown", "kernels", "ops", "steps", "idle"]


def asked(command: list[str]) -> tuple[bytes, float, float]:
    """The answer, wall and CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    answer = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return answer, wall, cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("--build", default="build/bench")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    program = str(Path(arguments.build) / "bin" / "borescope")
    print(f"{'':12} {'loaded':>20} {'added':>20} {'from the cache':>20}   wall, CPU in s")
    for verb in VERBS:
        best: list[tuple[float, float]] = [(1e9, 1e9)] * 3
        for _ in range(arguments.rounds):
            with tempfile.TemporaryDirectory() as cache:
                command = [program, verb, arguments.trace, "-q", "-f", "json"]
                ways = [command, [*command, "--cache", cache], [*command, "--cache", cache]]
                results = [asked(way) for way in ways]
            if len({answer for answer, _, _ in results}) != 1:
                print(f"{verb}: answers differ", file=sys.stderr)
                return 1
            best = [(min(old[0], wall), min(old[1], cpu))
                    for old, (_, wall, cpu) in zip(best, results, strict=True)]
        print(f"{verb:12} " + " ".join(f"{wall:10.3f} {cpu:9.3f}" for wall, cpu in best))
    return 0


if __name__ == "__main__":
    sys.exit(main())
