#!/usr/bin/env python3
"""`check` gives of the parts that `map check` wrote what it gives of the recordings, byte for byte: for runs and
baselines, budgets, several ranks, windows of one process, and whatever divides them; and it refuses parts that
say nothing about a run.

    check_of_parts.py --borescope BIN --synth BIN --root SOURCES
"""

import argparse
import json
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUDGET = """schema = 1

[[budget]]
name = "longest step"
table = "steps"
column = "span_ns"
where = {step = ">=1"}
reduce = "max"
max = "10s"

[[budget]]
name = "exposed communication"
table = "breakdown"
column = "exposed_comm_ns"
over = "span_ns"
reduce = "sum"
max = "0.001%"

[[budget]]
name = "kernels of a step"
table = "kernels"
column = "count"
by = "step"
max = 100000

[[budget]]
name = "launches"
table = "launches"
column = "host_ns"
max = "1s"

[[budget]]
name = "no slower"
table = "steps"
column = "span_ns"
worse_than_baseline = {by = "3%"}

[quality]
max_unlinked_share = "50%"
fail_on = "error"
"""
STATEMENT = '[[budget]]\nname = "calls"\nsql = "select count(*) from launches"\nunit = "count"\nmax = 12\n'


class Case:
    """A folder with runs, and what the program does in it."""

    def __init__(self, borescope, folder):
        self.borescope, self.folder, self.problems = borescope, folder, []

    def run(self, *words):
        return subprocess.run([self.borescope, *words, "-q"], cwd=self.folder, capture_output=True, check=False)

    def answer(self, inputs, options):
        """Status, answer and reports of a check."""
        reports = ["j.xml", "s.json", "m.md", "saved.json"]
        for name in reports:
            (self.folder / name).unlink(missing_ok=True)
        done = self.run("check", *inputs, *options, "-f", "json", "--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md",
                        "--save-baseline", "saved.json")
        written = [(self.folder / name).read_bytes() if (self.folder / name).exists() else None for name in reports]
        return [done.returncode, done.stdout, done.stderr, *written]

    def map(self, what, runs, into, shards, options):
        shutil.rmtree(self.folder / into, ignore_errors=True)
        for shard in range(shards):
            division = ["--shard", f"{shard}/{shards}"] if shards > 1 else []
            done = self.run("map", "check", *runs, *division, "-o", f"{into}/", *options)
            if done.returncode != 0:
                self.problems.append(f"{what}: map ends with {done.returncode}: {done.stderr.decode()[:300]}")
        return [into]

    def compare(self, what, test, base, options, *, select=(), shards=1, status=None):
        """The check of recordings, and of parts on each side and on both."""
        budget = ["--budget", "budget.toml"] if "--budget" in options else []
        test_parts = self.map(what, test, "test_parts", shards, [*budget, *select])
        base_parts = self.map(what, base, "base_parts", shards, [*budget, *select]) if base else []
        baseline = ["--baseline"] if base else []
        expected = self.answer(test, [*options, *select, *baseline, *base])
        if status is not None and expected[0] != status:
            self.problems.append(f"{what}: the check of recordings ends with {expected[0]}: {expected[2].decode()[:300]}")
        sides = {"parts": (test_parts, base_parts), "parts of the test": (test_parts, base)}
        if base:
            sides["parts of the baseline"] = (test, base_parts)
        for which, (one, other) in sides.items():
            found = self.answer(one, [*options, *select, *baseline, *other])
            for name, a, b in zip(("status", "answer", "messages", "JUnit", "SARIF", "Markdown", "saved values"), expected, found):
                if a != b:
                    self.problems.append(f"{what}, {which}: the {name} differ: {str(a)[:400]} and {str(b)[:400]}")

    def refuses(self, what, words, *texts):
        done = self.run(*words)
        message = done.stderr.decode()
        if done.returncode != 2 or any(text not in message for text in texts):
            self.problems.append(f"{what}: status {done.returncode}: {message[:400]}")


def synth(program, folder, *options):
    subprocess.run([program, "--out", str(folder), *options], check=True, stdout=subprocess.DEVNULL)
    for truth in folder.glob("truth*.json"):
        truth.unlink()


def make_runs(arguments, folder):
    """Runs of several ranks; single recordings; and windows of one process."""
    write_run = runpy.run_path(str(arguments.root / "tests/data/check/make_runs.py"))["write_run"]
    for i in range(3):
        synth(arguments.synth, folder / f"base{i}", "--ranks", "3", "--steps", "4", "--seed", "7", "--layers", "1",
              "--with-shapes", "--base-time", "before")
        synth(arguments.synth, folder / f"test{i}", "--ranks", "3", "--steps", "4", "--seed", "7", "--layers", "1",
              "--with-shapes", "--base-time", "before", "--straggler", str(i))
        write_run(folder / f"old{i}.json", 1 + 0.002 * i)
        write_run(folder / f"new{i}.json", 1.1 + 0.002 * i)
    vary(folder)


def vary(folder):
    """No two recordings are copies: each has an end of its own."""
    for number, path in enumerate(sorted([*folder.glob("base*/*.json"), *folder.glob("test*/*.json")])):
        with path.open("a") as file:
            file.write("\n" * (number + 1))


def windows(folder):
    """The recordings of one process, one after the other, cut out of one."""
    trace = json.loads((folder / "old0.json").read_text())
    steps = sorted((e for e in trace["traceEvents"] if str(e.get("name", "")).startswith("ProfilerStep#")), key=lambda e: e["ts"])
    middle = steps[len(steps) // 2]["ts"]
    names = []
    for number, keeps in enumerate((lambda ts: ts < middle, lambda ts: ts >= middle)):
        part = dict(trace, traceEvents=[e for e in trace["traceEvents"] if "ts" not in e or keeps(e["ts"])])
        names.append(f"window{number}.json")
        (folder / names[-1]).write_text(json.dumps(part))
    return names


def check_equal(case):
    folder = case.folder
    (folder / "budget.toml").write_text(BUDGET)
    budget = ["--budget", "budget.toml"]
    bases, tests = [f"base{i}" for i in range(3)], [f"test{i}" for i in range(3)]
    old, new = [f"old{i}.json" for i in range(3)], [f"new{i}.json" for i in range(3)]
    for shards in (1, 2, 5):
        case.compare(f"ranks in {shards} parts", tests, bases, [], shards=shards)
        case.compare(f"single recordings in {shards} parts", new, old, [], shards=shards, status=1)
    case.compare("budgets", tests, bases, budget, shards=2)
    case.compare("a budget of one run", tests[:1], [], budget)
    case.compare("all metrics decide", new, old, ["--all"])
    case.compare("chosen steps", tests, bases, [], select=["--step", "1..2"], shards=2)
    case.compare("chosen ranks", tests, bases, [], select=["--rank", "0"], shards=2)
    case.compare("windows of one process", windows(folder), old[1:], [])
    case.compare("windows and budgets", windows(folder), old[1:], budget, shards=2)
    case.compare("runs in another order", new[::-1], old, [])
    case.compare("history", new[:1], old[:1], ["--history", "old1.json", "old2.json"])
    broken = (folder / "test0" / "rank-1.json")
    whole = broken.read_bytes()
    broken.write_bytes(b"no trace")
    case.compare("a rank that cannot be read", tests, bases, [], shards=2, status=2)
    broken.write_bytes(whole[:len(whole) // 2])
    case.compare("a rank that is cut", tests, bases, ["--force"], shards=2)
    broken.write_bytes(whole)


def check_shell_words(case):
    """Parts that a shell has made several words of, and parts of one run in a file each."""
    case.map("words", ["test0"], "words", 3, [])
    names = [f"words/{i:05}-of-00003.part" for i in range(3)]
    expected = case.answer(["test0"], ["--baseline", "base0"])
    if case.answer(names, ["--baseline", "base0"]) != expected:
        case.problems.append("parts that are named one by one differ from their run")
    case.refuses("a missing part", ["check", *names[:2], "--baseline", "base0"], "2 of 3 parts", "map the missing shards")
    for i in range(3):
        done = case.run("map", "check", f"new{i}.json", "-o", f"new{i}.part")
        case.problems += [] if done.returncode == 0 else [f"map: {done.stderr.decode()}"]
    expected = case.answer([f"new{i}.json" for i in range(3)], ["--baseline", "old0.json", "old1.json", "old2.json"])
    found = case.answer([f"new{i}.part" for i in range(3)], ["--baseline", "old0.json", "old1.json", "old2.json"])
    if expected != found:
        case.problems.append("runs in a part each differ from their recordings")


def check_kept(case):
    """A part that is there is kept, unless the runs, or their names, or the budgets are others."""
    def mapped(*words):
        done = subprocess.run([case.borescope, "map", "check", *words], cwd=case.folder, capture_output=True, check=True)
        return done.stderr.decode().split()[1]
    shutil.rmtree(case.folder / "kept", ignore_errors=True)
    found = [mapped("test0", "-o", "kept/"), mapped("test0", "-o", "kept/"), mapped("test0/", "-o", "kept/"),
             mapped("test0/", "--budget", "budget.toml", "-o", "kept/"), mapped("test0/", "--budget", "budget.toml", "-o", "kept/"),
             mapped("test0/", "--budget", "budget.toml", "-o", "kept/", "--force")]
    if found != ["wrote", "kept", "wrote", "wrote", "kept", "wrote"]:
        case.problems.append(f"parts are kept wrongly: {found}")


def check_refused(case):
    folder = case.folder
    case.map("refused", ["test0"], "parts", 1, [])
    part = "parts/00000-of-00001.part"
    case.refuses("a selection of its own", ["check", part, "--baseline", "base0", "--step", "1"], "another selection", "--step")
    case.refuses("a budget that was not mapped", ["check", part, "--budget", "budget.toml", "--baseline", "base0"], "budget.toml:",
                 "hold no answer", "map them with this --budget")
    case.refuses("reduce", ["reduce", part], "parts of a check", "borescope check")
    case.refuses("report", ["report", part, "-o", "r.html"], "not those of a report")
    case.refuses("a part as a recording", ["map", "check", part, "-o", "again.part"], "it is a part already")
    case.run("map", "steps", "test0", "-o", "steps.part")
    case.refuses("parts of another verb", ["check", "steps.part", "--baseline", "base0"], "borescope map check")
    case.refuses("the same recordings twice", ["check", part, "test0", "--baseline", "base0"], "are one recording")
    case.refuses("the same recordings in two parts", ["check", "base0", "--baseline", part, "test0"], "--baseline:", "are one recording")
    (folder / "sql.toml").write_text(STATEMENT)
    case.refuses("a statement", ["map", "check", "test0", "--budget", "sql.toml", "-o", "s.part"], "sql.toml:1", "a statement")
    case.refuses("a budget without a check", ["map", "steps", "test0", "--budget", "budget.toml", "-o", "s.part"], "map check")
    case.refuses("launch", ["launch", "slurm", "check", "test0", "-o", "x"], "borescope map check")
    whole = (folder / part).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 40)):
        (folder / part).write_bytes(whole[:place])
        done = case.run("check", part, "--baseline", "base0")
        if done.returncode != 2 or not done.stderr:
            case.problems.append(f"a part cut at {place} ends with {done.returncode}: {done.stderr.decode()[:300]}")
        (folder / part).write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:])
        done = case.run("check", part, "--baseline", "base0")
        if done.returncode not in (0, 1, 2):
            case.problems.append(f"a part damaged at {place} ends with {done.returncode}: {done.stderr.decode()[:300]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True, type=Path)
    parser.add_argument("--synth", required=True, type=Path)
    parser.add_argument("--root", required=True, type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        case = Case(arguments.borescope, Path(name))
        make_runs(arguments, case.folder)
        check_equal(case)
        check_shell_words(case)
        check_kept(case)
        check_refused(case)
    print("\n".join(case.problems) or "parts of a check and its recordings say the same")
    return 1 if case.problems else 0


if __name__ == "__main__":
    sys.exit(main())
