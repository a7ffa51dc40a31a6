"""What a gate must not let pass: programs of every kind (programs.py), in which host, device, communication, one rank or
half of the steps take twice as long, three runs a side and one, and real recordings with other times.

    check_gate.py --borescope FILE [--samples FOLDER] [--seeds N]

Of each change it is known how much longer a step takes, and how much more time devices take whether the step shows it
or not. By what can be told from three runs the check fails, where nothing got slower it does not, and what has changed
is named. What one run a side cannot tell is said to be untested.
"""

import argparse
import dataclasses
import gzip
import itertools
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from programs import PROGRAMS, UNCHANGED, Change, Program, replayed, step_of, write_run

KINDS = [
    UNCHANGED,
    Change("host", host=2),
    Change("device", device=2),
    Change("half of the steps", host=2, device=2, collective=2, share_of_steps=0.5),
    Change("a third of the steps", host=2.5, device=2.5, collective=2.5, share_of_steps=0.34),
    Change("one rank", host=2, device=2, rank=0),
    Change("communication", collective=2),
    Change("more kernels", split=4)]
FAILS = "broken"
SURE, NOTHING, SURE_OF_ONE = 0.06, 0.005, 0.6
SCALED = ("clean", "small_then", "fp32")  # the host, graphs and the device limit these


def is_of(program: Program, change: Change) -> bool:
    return (change.rank < 0 or program.ranks > 1) and (change.collective == 1 or change.host > 1 or
                                                       program.collective > 0) and not (change.split > 1 and program.graph)


@dataclasses.dataclass
class Truth:
    """What a change does to a program, without noise, as a part of its step."""
    step: float  # how much longer it takes
    beside: float  # how much more time devices take, whether the step shows it or not

    @staticmethod
    def of(program: Program, change: Change, seed: str) -> "Truth":
        before = step_of(program, UNCHANGED, seed)
        device = sum(dur for _, dur in program.kernels) * (change.device - 1)
        more = device + program.collective * (change.collective - 1)
        is_all = change.share_of_steps == 1 and change.rank < 0
        return Truth(step_of(program, change, seed) / before - 1, more / before if is_all else 0)


class Gate:
    def __init__(self, borescope, folder):
        self.borescope, self.folder = borescope, folder

    def check(self, test, base, *words):
        done = subprocess.run([self.borescope, "check", *map(str, test), "--baseline", *map(str, base), "-f", "json", "-q",
                               *words], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            return {"result": f"exit {done.returncode}", "why": done.stderr.strip(), "gate": []}
        tables = {each["name"]: each for each in json.loads(done.stdout)["tables"]}
        result = {column["name"]: column["values"][0] for column in tables["check"]["columns"]}
        gate = {column["name"]: column["values"] for column in tables["gate"]["columns"]}
        rows = [dict(zip(gate, cells)) for cells in zip(*gate.values())]
        return {**result, "gate": rows, "status": done.returncode}


def fail(failures, what, answer, why):
    steps = [row for row in answer["gate"] if row["metric"] in ("step", "host", "device", "calls")]
    failures.append(f"{what}: {why}: {answer['result']}: {answer['why']}\n" + "\n".join(
        "    " + " ".join(str(row[name]) for name in ("metric", "name", "base_ns", "test_ns", "change", "p", "verdict",
                                                      "by")) for row in steps))


def check_kind(gate, program, change, seed, failures):
    where = gate.folder / f"{program.name}-{change.name}-{seed}".replace(" ", "-")
    base, test = [], []
    for i in range(3):
        base.append(where / f"base{i}")
        write_run(base[-1], program, UNCHANGED, f"{seed}/base{i}")
        test.append(where / f"test{i}")
        write_run(test[-1], program, change, f"{seed}/test{i}")
    truth = Truth.of(program, change, f"{seed}/test0")
    what = f"{program.name}, {change.name}, seed {seed} (step {truth.step:+.1%}, devices {truth.beside:+.1%})"
    answer = gate.check(test, base)
    if change is UNCHANGED:
        return 1 if answer["result"] == FAILS else 0
    if max(truth.step, truth.beside) > SURE and answer["result"] != FAILS:
        fail(failures, what, answer, "it passes")
    if max(abs(truth.step), truth.beside) < NOTHING and answer["result"] == FAILS:
        fail(failures, what, answer, "a false alarm")
    if change.split > 1 and answer["result"] != FAILS and "calls kernels" not in answer["why"]:
        fail(failures, what, answer, "more kernels are not named")
    if answer.get("tested") is not True:
        fail(failures, what, answer, "not tested")
    # One run a side: a change beyond any noise seen is reported; a smaller one is not called "kept".
    answer = gate.check(test[:1], base[:1])
    if change.share_of_steps == 1 and max(truth.step, truth.beside) > SURE_OF_ONE and answer["result"] != FAILS:
        fail(failures, what + ", 1 v 1", answer, "it passes")
    if answer["result"] == "kept":
        fail(failures, what + ", 1 v 1", answer, "kept, though nobody can tell")
    if answer["result"] != FAILS and not (answer["tested"] is False and "nothing was tested" in answer["why"]):
        fail(failures, what + ", 1 v 1", answer, "that nothing was tested is not said")
    return 0


def check_scaled(gate, samples, name, failures):
    with gzip.open(samples / "data" / "h100" / "planted" / f"{name}.pt.trace.json.gz") as file:
        trace = json.load(file)

    hours = itertools.count()

    def write(kind, host, device, number):
        path = gate.folder / f"{name}-{kind}{number}.json"
        again = replayed(trace, host, device, f"{kind}{number}")
        # Other starts of the program, hours apart: recordings of one time are windows of one.
        again["baseTimeNanoseconds"] = again.get("baseTimeNanoseconds", 0) + 3600 * 10**9 * next(hours)
        path.write_text(json.dumps(again))
        return path

    base = [write("base", 1, 1, i) for i in range(3)]
    for kind, host, device in (("same", 1, 1), ("host", 2, 1), ("device", 1, 2)):
        answer = gate.check([write(kind, host, device, i) for i in range(3)], base)
        result = "kept" if kind == "same" else FAILS
        if (answer["result"] == FAILS) != (result == FAILS) or answer["result"].startswith("exit"):
            fail(failures, f"{name}, {kind}", answer, f"not {result}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--samples", type=Path)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    failures = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        gate = Gate(given.borescope, Path(folder))
        cases = [(program, change, seed) for program in PROGRAMS for change in KINDS for seed in range(given.seeds)
                 if is_of(program, change)]
        alarms = list(pool.map(lambda case: check_kind(gate, *case, failures), cases))
        scaled = [name for name in SCALED if given.samples and
                  (given.samples / "data" / "h100" / "planted" / f"{name}.pt.trace.json.gz").exists()]
        list(pool.map(lambda name: check_scaled(gate, given.samples, name, failures), scaled))
    unchanged = sum(case[1] is UNCHANGED for case in cases)
    if sum(alarms) > 1 + unchanged // 5:
        failures.append(f"{sum(alarms)} of {unchanged} unchanged programs are called slower")
    for each in failures:
        print(each)
    print(f"{len(cases)} kinds of change, {sum(alarms)} of {unchanged} unchanged programs called slower, "
          f"{len(scaled)} recordings replayed, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
