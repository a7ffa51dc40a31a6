#!/usr/bin/env python3
"""What recording costs a Python program, in one run, so that differences hold on a busy machine.

    bench/record_python.py BUILD [PYTHON]    PYTHON: the one to measure; with PyTorch, operators are measured, too

Ways are tried in turns, many times, and the quickest of each counts.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
WAYS = {"not recorded": None, "recorded": [], "paused": ["--paused"], "--ops": ["--ops"],
        "--ops --shapes": ["--ops", "--shapes"], "--ops=profile": ["--ops=profile"],
        "--python": ["--python"]}
TORCH_WAYS = ("not recorded", "recorded", "--ops", "--ops --shapes", "--ops=profile")

# ---- in the measured program ----

def quickest(statement, variables, number, rounds=9):
    import timeit
    return min(timeit.repeat(statement, globals=variables, number=number, repeat=rounds)) / number


def host_costs():
    """Nanoseconds of each; a loop around nothing is taken off."""
    import borescope_record as record

    def nothing():
        pass

    empty = quickest("pass", {}, 200_000)
    statements = {"with range": "with record.range('a range'): pass", "mark": "record.mark('a moment')",
                  "step": "record.step(7)", "call": "nothing()"}
    return {name: (quickest(text, {"record": record, "nothing": nothing}, 20_000) - empty) * 1e9
            for name, text in statements.items()}


def training_step(torch):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(*[layer for _ in range(4)
                                  for layer in (torch.nn.Linear(16, 16), torch.nn.ReLU())])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)
    batch = torch.randn(4, 16)

    def step():
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def torch_costs():
    """Microseconds of a step; nothing without PyTorch, or where it is not asked for."""
    try:
        if "torch" not in sys.argv:
            return {}
        import torch
    except ImportError:
        return {}
    step = training_step(torch)
    for _ in range(20):
        step()
    return {"step": quickest(step, {}, 20, 40) * 1e6}


def operators_of_a_step():
    import torch
    step = training_step(torch)
    step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        step()
    return {"operators": sum(1 for event in profile.events() if not event.is_user_annotation)}


# ---- in the program that measures ----

def run(command, package):
    more = {"PYTHONPATH": str(package)}
    done = subprocess.run(command, env=os.environ | more, stdout=subprocess.PIPE, text=True, check=True,
                          stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def measure(build, python, folder):
    package = Path(__file__).resolve().parent.parent / "python"
    program = [python, str(Path(__file__).resolve())]
    least = {}
    for _ in range(ROUNDS):
        for way, options in WAYS.items():
            launcher = [] if options is None else [
                str(build / "bin/borescope"), "record", "-q", "--replace", "-o", str(folder / "run"),
                *options, "--"]
            with_torch = ["torch"] if way in TORCH_WAYS else []
            for name, value in run([*launcher, *program, "measured", *with_torch], package).items():
                key = (way, name)
                least[key] = min(value, least.get(key, value))
    if ("not recorded", "step us") in least:
        least |= {("", name): value for name, value in run([*program, "operators"], package).items()}
    return least


def report(least):
    for way in WAYS:
        for name in ("with range", "mark", "step", "call"):
            if name in ("with range", "mark") and way in ("not recorded", "recorded", "paused"):
                print(f"{name + ', ' + way:32} {least[way, name]:9.0f} ns" +
                      ("  (goal 60)" if way == "not recorded" else ""))
    print(f"{'an empty function':32} {least['not recorded', 'call']:9.0f} ns")
    call = least["--python", "call"] - least["not recorded", "call"]
    print(f"{'--python, more a call':32} {call:9.0f} ns")
    count = least.get(("", "operators"))
    if count is None:
        print("no PyTorch: operators are not measured")
        return 0
    base = least["not recorded", "step us"]
    print(f"{'a step of PyTorch':32} {base:9.1f} us, {count} operators, {base / count:.2f} us each")
    for way in TORCH_WAYS[1:]:
        more = (least[way, "step us"] - base) / count
        print(f"{way + ', more an operator':32} {more:9.2f} us" + ("  (goal 3.5)" if way == "--ops" else ""))
    return 0 if (least["--ops", "step us"] - base) / count <= 3.5 else 3


def main():
    if sys.argv[1] == "measured":
        torch = {name + " us": value for name, value in torch_costs().items()}
        print(json.dumps(torch | host_costs()))
        return 0
    if sys.argv[1] == "operators":
        print(json.dumps(operators_of_a_step()))
        return 0
    python = sys.argv[2] if len(sys.argv) > 2 else sys.executable
    with tempfile.TemporaryDirectory() as folder:
        return report(measure(Path(sys.argv[1]).resolve(), python, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
