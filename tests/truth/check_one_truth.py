#!/usr/bin/env python3
"""The same quantity is the same number wherever Borescope says it.

Usage: check_one_truth.py samples BORESCOPE SAMPLES          (exit status 77, "skipped", without them)
       check_one_truth.py synth BORESCOPE SYNTH [options]    a run of borescope-synth
       check_one_truth.py random BORESCOPE FIRST COUNT       small runs of anything, by seed
       check_one_truth.py self-test BORESCOPE SYNTH          whether this check notices changed numbers

Every verb, the reports of `stats`, the groupings of `--by`, SQL and the page of `report` are asked about one
run. What they say of a quantity is collected by place, and all places must say the same: integers exactly,
quotients to 1e-9. Compared are
  one_truth/device_time.py  span, busy, idle, communication and copy time, exposed or not, of devices and
                            streams; gaps and the time at both ends
  one_truth/work.py         pieces and time of device work: whole, by rank, device, stream, class and name,
                            and what rows of groupings add up to
  one_truth/operators.py    work by operator, work without launch or operator (doctor, diagnostics, ops,
                            launches, queue), calls, FLOPs, what has a model
  one_truth/recording.py    events from file to table, annotations, calls, steps, collectives, critical path,
                            memory
  one_truth/replays.py      steps that whatif starts from and those of variance and SQL; the prices of the
                            summary and the scenarios of whatif
  one_truth/checked.py      what check compares, and the medians over steps of other verbs
  one_truth/shares.py       shares: the part they say, and together 1
  one_truth/same_tables.py  the tables of the summary and of the page against those of the verbs
  one_truth/ranks.py        several ranks against their files one by one
  one_truth/ways.py         1 thread and 4; a verb alone and with others; --step, --rank and their groupings
docs/how-it-works/definitions.md says which numbers mean the same.
"""

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from one_truth import answers as asking
from one_truth import (checked, device_time, operators, random_run, ranks, recording, replays, same_tables, self_test,
                       shares, ways, work)
from one_truth.claims import Claims

MODULES = (device_time, work, operators, recording, replays, checked, shares, same_tables)
SHOWN = 40  # problems of one run
SKIPPED = 77
# Sample folders and what of them is a trace of devices; directories are runs of several ranks.
SAMPLE_TRACES = ("kineto/**/*.json*", "nsys/*", "rpd/*", "chakra/*/kineto.json.gz", "execution_trace/*kineto*",
                 "memory/*")
SAMPLE_RUNS = ("kineto/two_ranks", "kineto/dlrm8")
# Small runs in which the generator's peculiarities occur together, for what takes many calls.
RICH = ("--ranks", "2", "--steps", "1", "--layers", "2", "--seed", "51", "--with-shapes", "--with-stack",
        "--with-memory", "--era", "int-us", "--faults", "missing-launch:3")


def claims_about(answers):
    """The functions that compare what can be compared of this run."""
    return [claim for module in MODULES + ((ranks,) if answers.ranks_alone else ()) for claim in module.CLAIMS]


def compared(answers, comparisons):
    claims = Claims()
    for claim in comparisons:
        try:
            claim(answers, claims.say)
        except (asking.Inconsistent, LookupError) as fault:  # a row that nothing else knows
            claims.faults.append(f"{claim.__name__}: {fault!r}")
    return claims


def files_of(path):
    return sorted(path.iterdir()) if path.is_dir() else [path]


def answers_about(program, path, is_generated=True):
    answers = asking.ask(program, [path])
    answers.is_generated = is_generated
    files = files_of(path)
    if len(files) > 1:
        answers.ranks_alone = [asking.ask(program, [file], ("verbs",)) for file in files]
    return answers


def check(program, path, thorough=False, is_generated=True):
    """The problems of one run, each with its place."""
    answers = answers_about(program, path, is_generated)
    claims = compared(answers, claims_about(answers))
    found = claims.problems() + ways.threads(program, [path])
    if thorough:
        found += ways.alone(program, [path], answers)
        found += ways.steps(program, [path], answers) + ways.one_rank(program, [path], answers)
    print(f"{path.name}: {len(claims.said)} quantities, {len(found)} problems")
    return [f"{path}: {problem}" for problem in found[:SHOWN]]


def synthesize(synth, folder, options):
    asking.output_of(synth, ["--out", folder, *options])
    (folder / "truth.json").unlink()
    return folder


def samples(program, folder):
    data = Path(folder) / "data"
    if not data.is_dir():
        print(f"skipped: the sample traces are not in {folder}")
        sys.exit(SKIPPED)
    runs = [data / name for name in SAMPLE_RUNS]
    traces = sorted({path for pattern in SAMPLE_TRACES for path in data.glob(pattern)})
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda path: check(program, path, is_generated=False), runs + traces)
        return [problem for result in results for problem in result]


def synth(program, generator, *options):
    with tempfile.TemporaryDirectory() as folder:
        return check(program, synthesize(generator, Path(folder) / "run", options), thorough=True)


def random_runs(program, first, count):
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        runs = [random_run.write(Path(folder) / f"seed-{int(first) + i}", int(first) + i)
                for i in range(int(count))]
        results = pool.map(lambda run: check(program, run, thorough=True), runs)
        return [problem for result in results for problem in result]


def test_self(program, generator):
    with tempfile.TemporaryDirectory() as folder:
        run = synthesize(generator, Path(folder) / "run", RICH)
        answers = answers_about(program, run)
        claims = claims_about(answers)
        unnoticed = self_test.unnoticed(answers, claims,
                                        lambda changed, claim: compared(changed, [claim]).problems())
        unnoticed += ways.unnoticed(program, [run], answers)
        return (compared(answers, claims).problems() +
                [f"changed, and not noticed: {name}" for name in unnoticed])


MODES = {"samples": samples, "synth": synth, "random": random_runs, "self-test": test_self}


def main():
    mode, *arguments = sys.argv[1:]
    problems = MODES[mode](*arguments)
    print("\n".join(problems) or "one truth")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
