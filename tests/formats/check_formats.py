#!/usr/bin/env python3
"""Checks that one recording gives the same tables whichever profiler's form it has.

    check_formats.py --borescope BIN --synth BIN [OPTION of borescope-synth...]

borescope-synth writes a trace, write_databases.py turns it into the forms of five profilers, and
every form must answer the verbs below like the Kineto trace: row by row, exactly. Left out are only
texts that a form writes in words of its own, such as "CopyHostToDevice" for a copy.

Exit status: 0 equal, 1 a table differs, 2 something failed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What a form says in words of its own, beside the columns of VERBS: nvprof has numbers for API calls.
# A memset is a kernel of the runtime in rocpd, and has no size in .rpd.
@dataclass(frozen=True)
class Database:
    file: str
    with_memsets: bool = True
    left_out: tuple[str, ...] = ()


DATABASES = (
    Database("nsys.sqlite"),
    Database("nvprof.nvvp", left_out=("api",)),
    Database("trace.rpd", with_memsets=False),
    Database("rocpd.db", with_memsets=False),
)

# Per verb: the tables to compare, and the columns that hold a profiler's own words.
VERBS = {
    "breakdown": {"breakdown": ()},
    "kernels": {"kernels": (), "kernel_classes": ()},
    "idle": {"idle": ()},
    "overlap": {"overlap": ()},
    "queue": {"queue": ()},
    "launches": {"launches": ("kernel",), "launch_summary": ("kernel",)},  # copies are there, too
    "bandwidth": {"bandwidth": ()},
}


def ask(borescope: str, verb: str, trace: Path) -> dict[str, dict]:
    """The tables of the answer, by name."""
    done = subprocess.run([borescope, verb, trace, "-f", "json"], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{trace.name}: {verb}: {done.stderr.strip()}")
    return {table["name"]: table for table in json.loads(done.stdout)["tables"]}


def rows(table: dict, left_out: tuple[str, ...]) -> list[tuple]:
    columns = [column for column in table["columns"] if column["name"] not in left_out]
    return sorted(zip(*(column["values"] for column in columns)), key=repr)


def differences(expected: dict, found: dict, left_out: tuple[str, ...]) -> list[str]:
    names = [column["name"] for column in expected["columns"]]
    if names != [column["name"] for column in found["columns"]]:
        return ["other columns"]
    one, other = rows(expected, left_out), rows(found, left_out)
    lines = [f"Kineto {row}" for row in one if row not in other]
    return lines + [f"here   {row}" for row in other if row not in one] or (
        [] if one == other else ["another number of equal rows"])


def compare(borescope: str, folder: Path, database: Database) -> tuple[int, int]:
    """Numbers of tables that differ, and of rows compared."""
    bad = compared = 0
    for verb, tables in VERBS.items():
        expected = ask(borescope, verb, folder / "kineto.json")
        found = ask(borescope, verb, folder / database.file)
        for table, own_words in tables.items():
            left_out = own_words + database.left_out
            lines = differences(expected[table], found[table], left_out)
            compared += len(rows(expected[table], left_out))
            if lines:
                bad += 1
                print(f"{database.file}: {verb}: {table}: {len(lines)} rows differ")
                print("\n".join(f"  {line}" for line in lines[:6]))
    return bad, compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--synth", required=True)
    options, synth_options = parser.parse_known_args()
    bad = compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([options.synth, "--ranks", "1", "--out", folder / "run", *synth_options],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for forms, more in (("all", []), ("without-memsets", ["--without-memsets"])):
            subprocess.run([sys.executable, HERE / "write_databases.py", *more,
                            folder / "run" / "rank-0.json", folder / forms], check=True)
        for database in DATABASES:
            forms = folder / ("all" if database.with_memsets else "without-memsets")
            differing, rows_compared = compare(options.borescope, forms, database)
            bad += differing
            compared += rows_compared
    print(f"{len(DATABASES)} databases, {compared} rows compared, {bad} tables differ")
    return 1 if bad or compared == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
