#!/usr/bin/env python3
"""Runs the commands that findings of the verdict name as their evidence, each on a run with that finding.

    check_commands.py BORESCOPE SYNTH

Every finding about lost time names one, which must answer with rows on the run that has the finding.
"""

import csv
import io
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

CAUSES = (
    "late-host host-pause sync long-wait data-loading code-loading launch-bound graph-gaps held-back setup teardown"
    " unlinked before-recording allocation silent-host optimizer copies communication memory-bound fp32-products"
    " straggler"
).split()
# The others are there for findings that the causes alone do not give.
PLANTS = [f"{cause}:15" for cause in CAUSES] + ["late-host:4,sync:4,data-loading:4", "launch-bound:35", "straggler:30"]
COMMAND = re.compile(r"`borescope ([^`]+)`")


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def verdict_of(borescope: str, folder: str) -> list[dict]:
    tables = json.loads(run(borescope, "summary", folder, "-f", "json", "-q"))["tables"]
    columns = {column["name"]: column["values"] for column in tables[0]["columns"]}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def rows_of(text: str) -> int:
    """How many rows its tables have: a title, the names of the columns, then a line each."""
    rows = 0
    for block in text.split("\n\n"):
        lines = [line for line in csv.reader(io.StringIO(block)) if line]
        rows += max(0, len(lines) - 2)
    return rows


def main() -> None:
    borescope, synth = sys.argv[1:]
    seen: dict[str, set[str]] = {}
    with tempfile.TemporaryDirectory() as temp:
        for plant in PLANTS:
            folder = str(Path(temp) / plant.replace(":", "-"))
            run(synth, "--plant", plant, "--seed", "4", "--out", folder)
            for finding in verdict_of(borescope, folder):
                commands = COMMAND.findall(finding["help"])
                if not commands:
                    sys.exit(f"{plant}: '{finding['finding']}' names no command: {finding['help']}")
                for command in commands:
                    if command in seen.setdefault(finding["finding"], set()):
                        continue
                    seen[finding["finding"]].add(command)
                    text = run(borescope, *shlex.split(command), folder, "-f", "csv", "-q")
                    if rows_of(text) == 0:
                        sys.exit(f"{plant}: `borescope {command}` has no rows for '{finding['finding']}'")
    for finding, commands in sorted(seen.items()):
        print(f"{finding}: {', '.join(sorted(commands))}")
    print(f"{len(seen)} findings, {sum(map(len, seen.values()))} commands")
    if len(seen) < 20:
        sys.exit("fewer findings than planted causes give")


if __name__ == "__main__":
    main()
