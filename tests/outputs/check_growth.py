#!/usr/bin/env python3
"""Checks that no shape of input makes a verb slow: four times as much takes at most six times as much work.

    check_growth.py --borescope BIN [--each] [CASE...]
    check_growth.py self-test

Files of the cases in growth/cases.py are made with n and 4n parts, and many commands run on both. Work is processor
time and what is written. Time varies: a command that seems too slow is repeated, the times that speak for it count,
and what takes less than a moment is not judged; n is so large that what grows with its square is seen. Verbs share a
command, as loading would be most of the time else; those of a command that fails, or that is refused as one of them
has no answer, run by themselves. --each runs all by themselves.

The self-test judges a program whose work grows with the square, one that writes with the square, one that does
neither, and a command that is wrong. Exit status: 0 all is well, 1 something is not.
"""

import argparse
import concurrent.futures
import os
import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from growth.cases import Case, all_cases
from growth.counting import Work, work_of

MOST = 6
TRIES = 3
# Less is not worth a judgement.
LEAST_S = 0.06
LEAST_BYTES = 100_000


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
    small = work_of(command(count))
    judged = Judged(name, small, work_of(command(4 * count)))
    for _ in range(TRIES - 1):
        if judged.fault() is None:
            break
        judged = Judged(name, judged.small, judged.large.least(work_of(command(4 * count))))
        if judged.fault() is not None:
            judged = Judged(name, work_of(command(count)).most(judged.small), judged.large)
    return judged


class Growth:
    """The commands on the files of one case."""

    def __init__(self, borescope: str, case: Case, folder: Path):
        self.borescope, self.case, self.folder = borescope, case, folder
        self.places = {}
        for size in (case.count, 4 * case.count):
            (folder / str(size)).mkdir()
            self.places[size] = case.make(folder / str(size), size)

    def faults_of(self, words: str) -> list[str]:
        def command(size: int) -> str:
            name = re.sub(r"\W+", "-", words)
            places = {**self.places[size], "out": self.folder / f"{size}.out.{name}"}
            return f"{self.borescope} {words.format(**places)} -q{self.threads(words)}"

        verbs, _, rest = words.partition(" ")
        judged = judge(command, self.case.count, words)
        fault = judged.fault()
        if fault is None and not judged.small.refused:
            return []
        if "," in verbs:
            found = [each for verb in verbs.split(",") for each in self.faults_of(f"{verb} {rest}")]
            return found or ([] if fault is None else [fault])
        return [] if fault is None else [fault]

    @staticmethod
    def threads(words: str) -> str:
        return "" if words.startswith("chakra") else " --threads 1"


def commands_of(case: Case, each: bool) -> list[str]:
    commands = []
    for command in case.commands:
        verbs, _, rest = command.partition(" ")
        commands += [f"{verb} {rest}" for verb in verbs.split(",")] if each else [command]
    return commands


def check(borescope: str, names: list[str], each: bool) -> int:
    cases = all_cases(borescope)
    faults = commands = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name in names or cases:
            with tempfile.TemporaryDirectory() as folder:
                growth = Growth(borescope, cases[name], Path(folder))
                found = [pool.submit(growth.faults_of, words) for words in commands_of(cases[name], each)]
                commands += len(found)
                for fault in (fault for one in found for fault in one.result()):
                    print(f"{name}: {fault}", flush=True)
                    faults += 1
    print(f"{len(names or cases)} cases, {commands} commands, {faults} faults")
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

        if (judge(command, 2500, name).fault() is not None) != is_slow:
            faults.append(f"{name}: judged wrong")
    try:
        work_of("printf 'no such verb\\nTry: borescope --help\\n' >&2")
        faults.append("a wrong command counts as answered")
    except RuntimeError:
        pass
    print("\n".join([*faults, f"{len(PLANTED) + 1} programs, {len(faults)} faults"]))
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", type=Path)
    parser.add_argument("--each", action="store_true", help="every verb by itself")
    parser.add_argument("cases", nargs="*", help="self-test, or names of cases (default: all)")
    arguments = parser.parse_args()
    if arguments.cases == ["self-test"]:
        return self_test()
    if arguments.borescope is None:
        parser.error("--borescope is missing")
    unknown = set(arguments.cases) - set(all_cases(""))
    if unknown:
        parser.error(f"no such case: {', '.join(unknown)}")
    return check(str(arguments.borescope), arguments.cases, arguments.each)


if __name__ == "__main__":
    sys.exit(main())
