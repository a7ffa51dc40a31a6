#!/usr/bin/env python3
"""A gate that noise cannot fool: instructions and peak memory of twelve commands, against committed figures.

    bench/instructions.py [--build build/bench]                     compares
    bench/instructions.py --update "why"  [COMMAND...]              writes the figures, of these or all commands

The figures are in bench/instructions.json, each with the date and the reason of its last change. One that is more
than 3 % above its figure fails (1); one that is as much below is reported, so that the figure can follow. Counts
are comparable only with the same compiler and libraries: elsewhere nothing is compared (77).
"""

import argparse
import datetime
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from counted import Valgrind, environment, missing_tools

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "bench" / "instructions.json"
SLACK = 0.03
# Sizes in MB. Memory is looked at on five times as much, where columns and not buffers are what it holds.
SYNTHETIC = {
    "training": (8, ["--with-shapes", "--with-stack", "--with-memory", "--seed", "1"]),
    "graphs": (2, ["--cuda-graph", "--seed", "2"]),
    "ranks": (4, ["--ranks", "4", "--seed", "3"]),
}
MEMORY_FACTOR = 5
COMMANDS = {
    "info": ["info", "training/rank-0.json"],
    "info of .gz": ["info", "training.json.gz"],
    "summary": ["summary", "training/rank-0.json"],
    "summary of four ranks": ["summary", "ranks"],
    "summary of graphs": ["summary", "graphs/rank-0.json"],
    "breakdown": ["breakdown", "training/rank-0.json"],
    "kernels": ["kernels", "training/rank-0.json"],
    "ops": ["ops", "training/rank-0.json"],
    "critical-path": ["critical-path", "training/rank-0.json"],
    "whatif": ["whatif", "training/rank-0.json"],
    "report": ["report", "training/rank-0.json"],
    "convert to .rpd": ["convert", "training/rank-0.json"],
}
OUTPUTS = {"report": "page.html", "convert to .rpd": "out.rpd"}


def write_inputs(synth, folder, factor):
    for name, (size, words) in SYNTHETIC.items():
        subprocess.run([synth, *words, "--size", f"{size * factor}MB", "--out", folder / name], check=True, capture_output=True)
        (folder / name / "truth.json").unlink()
    text = (folder / "training" / "rank-0.json").read_bytes()
    packed = subprocess.run(["gzip", "-6", "-n", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout
    (folder / "training.json.gz").write_bytes(packed)


def measure_each(count, folder, names):
    """What `count` makes of the words of each command."""
    measured = {}
    for name in names:
        verb, source = COMMANDS[name]
        output = folder / OUTPUTS.get(name, "out.txt")
        output.unlink(missing_ok=True)
        measured[name] = count([verb, folder / source, "--threads", "1", "-q", "-o", output])
    return measured


def measure(build, names):
    valgrind = Valgrind(build / "bin" / "borescope")
    columns = {}
    for kind, count, factor in (("instructions", valgrind.instructions, 1), ("peak_memory", valgrind.peak_memory, MEMORY_FACTOR)):
        with tempfile.TemporaryDirectory() as folder:
            write_inputs(build / "bin" / "borescope-synth", Path(folder), factor)
            columns[kind] = measure_each(count, Path(folder), names)
    return {name: {kind: column[name] for kind, column in columns.items()} for name in names}


def compare(figures, measured):
    """Prints a line for each command; returns those that cost too much."""
    worse = []
    for name, now in measured.items():
        figure = figures.get(name)
        if figure is None:
            print(f"{name}: no figure; bench/instructions.py --update \"why\" {name!r}")
            worse.append(name)
            continue
        changes = {kind: now[kind] / figure[kind] - 1 for kind in ("instructions", "peak_memory")}
        verdict = "ok"
        if any(now[kind] > figure[kind] * (1 + SLACK) for kind in changes):
            verdict = "TOO MUCH"
            worse.append(name)
        elif min(changes.values()) < -SLACK:
            verdict = "less: update the figure"
        print(f"{name:<22} {now['instructions']:>13,} instructions {changes['instructions']:+7.2%}   "
              f"peak memory {now['peak_memory']:>11,} {changes['peak_memory']:+7.2%}   {verdict}")
    return worse


def update(document, measured, here, reason):
    document["environment"] = here
    for name, now in measured.items():
        document["figures"][name] = {**now, "date": datetime.date.today().isoformat(), "reason": reason}
    document["figures"] = {name: document["figures"][name] for name in COMMANDS if name in document["figures"]}
    FIGURES.write_text(json.dumps(document, indent=1) + "\n")


def not_comparable(document, here):
    """What differs from where the figures were made."""
    there = document["environment"]
    return [f"{name} is {here.get(name)}, the figures are of {there.get(name)}"
            for name in sorted(set(here) | set(there)) if here.get(name) != there.get(name)]


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--update", metavar="WHY")
    parser.add_argument("commands", nargs="*", metavar="COMMAND")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.commands if name not in COMMANDS]
    if unknown:
        parser.error(f"no command {unknown[0]!r}; there are {', '.join(COMMANDS)}")
    if missing_tools():
        skip(f"{', '.join(missing_tools())} is not installed (scripts/setup --dev)")
    if not (arguments.build / "bin" / "borescope").exists():
        parser.error(f"no program in {arguments.build}; cmake --preset bench && cmake --build --preset bench")
    document = json.loads(FIGURES.read_text()) if FIGURES.exists() else {"environment": {}, "figures": {}}
    here = environment(arguments.build)
    differences = not_comparable(document, here)
    if differences and arguments.update is None:
        skip("; ".join(differences))
    if differences and arguments.commands:
        parser.error(f"all figures have to be of one environment: {differences[0]}")
    measured = measure(arguments.build, arguments.commands or list(COMMANDS))
    worse = compare(document["figures"], measured)
    if arguments.update is not None:
        update(document, measured, here, arguments.update)
    elif worse:
        print(f"more than {SLACK:.0%} above the figures: {', '.join(worse)}. If the cost buys something, say what: "
              "bench/instructions.py --update \"why\" COMMAND...")
        sys.exit(1)


if __name__ == "__main__":
    main()
