#!/usr/bin/env python3
"""Writes docs/analyses/VERB.md for every verb that answers with tables, or checks that they are current.

Usage: tools/gen_docs.py BORESCOPE [--check]

The text of --help and the documentation of every column come from the program itself, so the pages
cannot drift from it; the tables must be those of `list --schema`. --check (ctest `docs`) writes nothing and fails when a page is out of date.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
RUN = DATA / "demo_run"
# Verbs that answer with a file, or from no recording of a run.
NO_TABLES = {"report", "check", "open", "convert", "link", "chakra", "query", "bench-kernel", "list", "map",
             "reduce", "launch", "record", "completion"}
# What a verb is asked about, where that is not RUN.
INPUTS = {
    "doctor": [DATA / "inherited.json"],
    "memory": [DATA / "small" / "memory.json"],
    "counters": [DATA / "small" / "counters.json"],
    "graphs": [DATA / "small" / "graphs.json"],
    "inference": [DATA / "small" / "serving.json"],
    "stats": ["all", RUN],
    "variance": [RUN, "--all-steps"],
    "diff": [RUN / "rank-0.json.gz", RUN / "rank-1.json.gz"],
}
# More tables of a verb, by the options that show them.
VARIANTS = {
    "stacks": [["--folded"]],
    "flame": [["--folded"]],
    "queue": [["--series"]],
    "bandwidth": [["--series"]],
    "variance": [["--series"]],
    "critical-path": [["--compat", "hta", "--graph"]],
    "collectives": [["--by", "size"]],
}


def run(borescope, *arguments):
    environment = {**os.environ, "COLUMNS": "100"}
    done = subprocess.run([borescope, *map(str, arguments)], capture_output=True, text=True,
                          check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def verbs(borescope):
    table = json.loads(run(borescope, "list", "-f", "json"))["tables"][0]
    columns = {c["name"]: c["values"] for c in table["columns"]}
    found = zip(columns["kind"], columns["name"], columns["summary"])
    return [(name, summary) for kind, name, summary in found
            if kind == "verb" and name not in NO_TABLES]


def table_text(table, options):
    heading = f"## `{table['name']}`" + (f" with `{' '.join(options)}`" if options else "")
    lines = [heading, "", table["title"].split(" (first ")[0] + ".", "", "| column | type | unit | meaning |",
             "| --- | --- | --- | --- |"]
    for column in table["columns"]:
        meaning = column["doc"].replace("|", "\\|")
        lines.append(f"| `{column['name']}` | {column['type']} | {column['unit'] or ''} | {meaning} |")
    return "\n".join(lines) + "\n"


def variants(verb, help_text):
    tools = re.search(r"rounding of this tool: ((?:\w+, )*\w+)", " ".join(help_text.split()))
    compat = [["--compat", tool] for tool in tools.group(1).split(", ")] if tools else []
    return [[], *VARIANTS.get(verb, []), *compat]


def tables(borescope, verb, help_text):
    """Every table with the options that show it; those that options do not change only once."""
    seen = set()
    for options in variants(verb, help_text):
        document = json.loads(run(borescope, verb, *options, "-f", "json", *INPUTS.get(verb, [RUN])))
        for table in document["tables"]:
            text = table_text(table, [])
            if text not in seen:
                seen.add(text)
                yield table_text(table, options)


def described(borescope):
    """What `list --schema` says of the tables: {(verb, table): [(column, type, unit)]}."""
    listed = json.loads(run(borescope, "list", "--schema", "-f", "json"))["tables"]
    table = next(t for t in listed if t["name"] == "columns")
    columns = {c["name"]: c["values"] for c in table["columns"]}
    found = {}
    for row in zip(*(columns[c] for c in ("verb", "table", "name", "type", "unit"))):
        found.setdefault(row[:2], []).append(row[2:])
    return found


def check_described(borescope, verb, schema):
    """Ends with an error where an answer has other tables or columns than its description."""
    document = json.loads(run(borescope, verb, "-f", "json", *INPUTS.get(verb, [RUN])))
    for table in document["tables"]:
        columns = [(c["name"], c["type"], c["unit"] or "") for c in table["columns"]]
        expected = schema.get((verb, table["name"]), [None])
        # Columns that are named by what was recorded come last.
        if columns[:len(expected)] != expected or (verb != "counters" and len(columns) != len(expected)):
            sys.exit(f"list --schema describes table {table['name']} of {verb} otherwise than the "
                     "answer has it: src/borescope/engine/specimen.cc")


def page(borescope, verb, summary):
    help_text = run(borescope, verb, "--help").rstrip()
    parts = [f"# {verb}: {summary}\n", "```text\n" + help_text + "\n```\n"]
    parts += tables(borescope, verb, help_text)
    parts.append("Written by `tools/gen_docs.py` from the program; change the text there.\n")
    return "\n".join(parts)


def main():
    borescope, check = sys.argv[1], "--check" in sys.argv
    folder = ROOT / "docs" / "analyses"
    folder.mkdir(parents=True, exist_ok=True)
    stale = []
    schema = described(borescope)
    for verb, summary in verbs(borescope):
        check_described(borescope, verb, schema)
        text = page(borescope, verb, summary)
        path = folder / f"{verb}.md"
        if check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        elif not check:
            path.write_text(text)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run tools/gen_docs.py BORESCOPE")


if __name__ == "__main__":
    main()
