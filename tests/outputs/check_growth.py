#!/usr/bin/env python3
"""Checks that no shape of input makes a verb slow: four times as much takes at most six times as much work.

    check_growth.py --borescope BIN [--each] [SHAPE...]
    check_growth.py self-test

Recordings of the shapes in growth/shapes.py are made with n and 4n events, and many commands run on both. Work is
processor time and what is written. Time varies: a command that seems too slow is repeated, the times that speak for it
count, and what takes less than a moment is not judged. n is so large that what grows with its square is seen. Verbs share a command, as loading would be most of the time else;
those of a command that fails run by themselves, which names the one. --each runs all by themselves.

The self-test judges a program whose work grows with the square, one that writes with the square, and one that does
neither. Exit status: 0 all is well, 1 something is not.
"""

import argparse
import concurrent.futures
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from growth.counting import Work, work_of
from growth.shapes import SHAPES

EVENTS = 2500
# Of each shape the number of events where it is not EVENTS: what few events make is cheap.
MORE = {"ordinary": 4000, "long_names": 20000, "brackets": 20000, "names_of_one_hash": 5000,
        "ids_of_one_slot": 4000}
MOST = 6
TRIES = 3
# Less is not worth a judgement.
LEAST_S = 0.06
LEAST_BYTES = 100_000

# Verbs by what they share: those of a line run in one command. What cannot be answered of a recording is an error of
# the whole command, so that such verbs run alone.
TOGETHER = ("info,doctor,summary,breakdown,busy,idle,gaps,overlap,top,kernels,ops,stacks,flame,steps,launches,delays",
            "queue,bandwidth,sequences,annotations,critical-path,prof")
ALONE = ("roofline", "variability", "graphs", "memory", "inductor", "collectives", "stats all")
WRITERS = ("report {run} -o {out}.html", "convert {run} {out}.pftrace", "convert {run} {out}.rpd",
           "convert --scrub=names {run} {out}.json", "critical-path {run}",
           "queue {run} --overlay {out}.json", "prof {run} --compat pyprof -f csv",
           "critical-path {run} --compat hta -f csv", "ops {run} --compat key_averages -f csv",
           "query 'select name, count(*) from events group by 1' {run} -f csv")


@dataclass(frozen=True)
class Judged:
    command: str
    small: Work
    large: Work

    def fault(self) -> str | None:
        """What grows faster than it may."""
        for what, least, small, large in (
                ("seconds", LEAST_S, self.small.seconds, self.large.seconds),
                ("bytes", LEAST_BYTES, self.small.written, self.large.written)):
            if large > MOST * max(small, least):
                return f"{self.command}: {what} {small:g} -> {large:g}"
        return None


def judge(command: Callable[[int], str], count: int, name: str) -> Judged:
    """Of the commands for n and 4n. Only who seems too slow is measured again."""
    judged = Judged(name, work_of(command(count)), work_of(command(4 * count)))
    for _ in range(TRIES - 1):
        if judged.fault() is None:
            break
        judged = Judged(name, judged.small, judged.large.least(work_of(command(4 * count))))
        if judged.fault() is not None:
            judged = Judged(name, work_of(command(count)).most(judged.small), judged.large)
    return judged


class Growth:
    """The commands on the recordings of one folder."""

    def __init__(self, borescope: str, folder: Path):
        self.borescope, self.folder = borescope, folder

    def make(self, shape: str) -> int:
        count = MORE.get(shape, EVENTS)
        for size in (count, 4 * count):
            events = list(SHAPES[shape](size))
            text = json.dumps({"schemaVersion": 1, "traceEvents": events,
                               "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}]})
            (self.folder / f"{shape}.{size}.json").write_text(text)
        return count

    def remove(self, shape: str) -> None:
        for path in self.folder.glob(f"{shape}.*"):
            path.unlink()

    def faults_of(self, shape: str, count: int, words: str) -> list[str]:
        def command(size: int) -> str:
            name = re.sub(r"\W+", "-", words)
            places = {"run": self.folder / f"{shape}.{size}.json",
                      "out": self.folder / f"{shape}.{size}.out.{name}"}
            return f"{self.borescope} {words.format(**places)} -q --threads 1"

        fault = judge(command, count, words).fault()
        if fault is None:
            return []
        verbs = words.split()[0].split(",")
        if len(verbs) > 1:
            found = [each for verb in verbs
                     for each in self.faults_of(shape, count, f"{verb} {{run}} -f csv")]
            return found or [f"{shape}: {fault}"]
        return [f"{shape}: {fault}"]


def commands(each: bool) -> list[str]:
    verbs = [verb for line in TOGETHER for verb in line.split(",")] if each else list(TOGETHER)
    return [f"{verb} {{run}} -f csv" for verb in (*verbs, *ALONE)] + list(WRITERS)


def check(borescope: str, shapes: list[str], each: bool) -> int:
    faults = 0
    with (tempfile.TemporaryDirectory() as name,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        growth = Growth(borescope, Path(name))
        for shape in shapes:
            count = growth.make(shape)
            found = [pool.submit(growth.faults_of, shape, count, words) for words in commands(each)]
            for fault in (fault for one in found for fault in one.result()):
                print(fault, flush=True)
                faults += 1
            growth.remove(shape)
    print(f"{len(shapes)} shapes, {len(commands(each))} commands each, {faults} faults")
    return 1 if faults else 0


PLANTED = {
    "linear": ("sum(range(1000 * n))", False),
    "square": ("sum(range(n * n))", True),
    "square in output": ("print('x' * (n * n))", True),
}


def self_test() -> int:
    faults = []
    for name, (program, is_slow) in PLANTED.items():
        def command(n: int, program: str = program) -> str:
            return f'{sys.executable} -c "n = {n}; {program}"'

        if (judge(command, EVENTS, name).fault() is not None) != is_slow:
            faults.append(f"{name}: judged wrong")
    print("\n".join([*faults, f"{len(PLANTED)} programs, {len(faults)} faults"]))
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", type=Path)
    parser.add_argument("--each", action="store_true", help="every verb by itself")
    parser.add_argument("shapes", nargs="*", help="self-test, or names of shapes (default: all)")
    arguments = parser.parse_args()
    if arguments.shapes == ["self-test"]:
        return self_test()
    unknown = set(arguments.shapes) - set(SHAPES)
    if unknown or arguments.borescope is None:
        parser.error(f"no such shape: {', '.join(unknown)}" if unknown else "--borescope is missing")
    return check(str(arguments.borescope), arguments.shapes or list(SHAPES), arguments.each)


if __name__ == "__main__":
    sys.exit(main())
