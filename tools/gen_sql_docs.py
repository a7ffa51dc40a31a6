#!/usr/bin/env python3
"""Writes the tables of docs/use/sql.md from `borescope query --schema`, or checks that they are current.

Usage: tools/gen_sql_docs.py BORESCOPE [--check]

What stands between the two marks of the page is the program's own words; the rest is written by hand.
Every example of the page (a line that begins with "borescope query") is run, too, over the demo run.
--check (ctest `docs_sql`) writes nothing and fails when the page is out of date.
"""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "use" / "sql.md"
RUN = ROOT / "tests" / "data" / "demo_run"
BEGIN = "<!-- begin: written by tools/gen_sql_docs.py -->\n"
END = "<!-- end -->\n"


def run(borescope, arguments):
    done = subprocess.run([borescope, *arguments], capture_output=True, text=True, check=False,
                          env={**os.environ, "COLUMNS": "100"})
    if done.returncode != 0:
        sys.exit(f"{shlex.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def rows(table):
    return list(zip(*(column["values"] for column in table["columns"])))


def cell(text):
    return text.replace("|", "\\|")


def columns_text(columns):
    lines = ["| column | type | meaning |", "| --- | --- | --- |"]
    lines += [f"| `{name}` | {kind} | {cell(doc)} |" for name, kind, doc in columns]
    return lines


def schema_text(borescope):
    tables, columns, functions = map(rows, json.loads(run(borescope, ["query", "--schema", "-f", "json"]))["tables"])
    lines = ["## Functions", "", "| function | meaning |", "| --- | --- |"]
    lines += [f"| `{name}` | {cell(doc)} |" for name, doc in functions]
    lines += ["", "## Tables", ""]
    for name, kind, doc in tables:
        own = [row[1:] for row in columns if row[0] == name]
        lines += [f"### `{name}`" + (" (view)" if kind == "view" else ""), "", doc, ""]
        if kind == "view":
            lines += [", ".join(f"`{column}`" for column, _, _ in own)]
        else:
            lines += columns_text(own)
        lines.append("")
    return "\n".join(lines)


def examples(page):
    joined = page.replace("\\\n", " ")
    return [shlex.split(line)[1:] for line in joined.splitlines()
            if line.startswith("    borescope query ")]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    borescope, check = sys.argv[1], sys.argv[2:] == ["--check"]
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    current = before + BEGIN + "\n" + schema_text(borescope) + END + after
    for words in examples(page):
        run(borescope, [str(RUN) if word == "RUN" else word for word in words])
    if not check:
        PAGE.write_text(current, encoding="utf-8")
    elif current != page:
        sys.exit("docs/use/sql.md is out of date; run tools/gen_sql_docs.py BORESCOPE")


if __name__ == "__main__":
    main()
