#!/usr/bin/env python3
"""Writes docs/verbs.md, the list of all verbs, and docs/use/verbs/VERB.md for every verb that answers with tables,
or checks that they are current.

Usage: tools/gen_docs.py BORESCOPE [--check]

The text of --help and the documentation of every column come from the program itself, so the pages
cannot drift from it; the tables must be those of `list --schema`. --check (ctest `docs`) writes nothing and fails when
a page is out of date.
"""

import functools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
RUN = DATA / "demo_run"
DOCS = ROOT / "docs"
# Verbs that answer with a file, or from no recording of a run, with the page that explains each ("": --help alone).
NO_TABLES = {
    "report": "use/report.md", "check": "use/check.md", "open": "use/open.md", "convert": "use/convert.md",
    "link": "use/chakra.md#link", "chakra": "use/chakra.md", "query": "use/sql.md", "map": "use/partials.md",
    "reduce": "use/partials.md", "launch": "use/scale.md", "record": "use/record.md",
    "bench-kernel": "how-it-works/definitions.md#bench-kernel", "list": "", "completion": "use/packages.md",
}
# Verbs of which no input has all tables: they are as the program describes them.
FROM_SCHEMA = {"postmortem": "use/postmortem.md"}
# The list of verbs: each is in one section.
SECTIONS = {
    "To begin with": "summary info doctor report open",
    "Where the time goes": "breakdown busy steps inference timeline critical-path whatif variance diff",
    "Why a device waits": "idle gaps launches delays queue",
    "Kernels, operators and code": "kernels top ops roofline prof inductor bench-kernel graphs variability sequences "
                                   "annotations stacks flame",
    "Several ranks": "collectives overlap stragglers waits",
    "A job that hung or died": "postmortem",
    "Memory, copies and counters": "memory bandwidth counters",
    "Raw data and other tools": "events query stats convert link chakra",
    "Builds and many machines": "check map reduce launch",
    "To record a program": "record",
    "About the program": "list completion",
}
# How an answer comes about, where that has a page of its own; else it is a section of definitions.md.
METHODS = {
    "summary": "verdict.md", "whatif": "whatif.md", "critical-path": "critical-path.md", "roofline": "roofline.md",
    "variance": "variance.md", "timeline": "timeline.md", "inference": "inference.md",
}
# What a verb is asked about, where that is not RUN.
INPUTS = {
    "doctor": [DATA / "inherited.json"],
    "memory": [DATA / "small" / "memory.json"],
    "counters": [DATA / "small" / "counters.json"],
    "graphs": [DATA / "small" / "graphs.json"],
    "inference": [DATA / "small" / "serving.json"],
    "stats": ["all", RUN],
    "variance": [RUN, "--all-steps"],
    "diff": [RUN, RUN, "--base-step", "1", "--test-step", "2"],
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


def listed(borescope):
    """What `list` lists: [(kind, name, summary)]."""
    table = json.loads(run(borescope, "list", "-f", "json"))["tables"][0]
    columns = {c["name"]: c["values"] for c in table["columns"]}
    return list(zip(columns["kind"], columns["name"], columns["summary"]))


def verbs(borescope):
    return [(name, summary) for kind, name, summary in listed(borescope)
            if kind == "verb" and name not in NO_TABLES]


@functools.cache
def defined():
    """Verbs with a section of definitions.md."""
    page = (DOCS / "how-it-works" / "definitions.md").read_text()
    return set(re.findall(r"^## (\S+)$", page, re.MULTILINE))


def explained_in(verb):
    """A link to the page about a verb, from docs/verbs.md."""
    page, title = NO_TABLES.get(verb), "page"
    if verb in FROM_SCHEMA:
        page, title = FROM_SCHEMA[verb], "how"
    elif verb in METHODS:
        page, title = f"how-it-works/{METHODS[verb]}", "how"
    elif page is None and verb in defined():
        page, title = f"how-it-works/definitions.md#{verb}", "definition"
    return f"[{title}]({page})" if page else ""


def verb_row(borescope, verb, summary):
    name = f"`{verb}`" if verb in NO_TABLES else f"[`{verb}`](use/verbs/{verb}.md)"
    example = re.search(r"^Example: (.*)$", run(borescope, verb, "--help"), re.MULTILINE)
    cell = f"`{example[1]}`" if example else ""
    return f"| {name} | {summary} | {cell} | {explained_in(verb)} |".replace("|  |", "| |")


def list_of_verbs(borescope):
    """docs/verbs.md: all verbs by subject, then formats."""
    rows = listed(borescope)
    summaries = {name: summary for kind, name, summary in rows if kind == "verb"}
    in_sections = [verb for names in SECTIONS.values() for verb in names.split()]
    if sorted(in_sections) != sorted(summaries):
        odd = sorted(set(in_sections) ^ set(summaries)) or "one twice"
        sys.exit(f"SECTIONS of tools/gen_docs.py has other verbs than `borescope list`: {odd}")
    parts = ["# Verbs\n", "A question to Borescope is a *verb* and its inputs: `borescope VERB RUN`. This page lists all "
             "verbs by subject. The name of a verb leads to its options, tables and columns, the last column to the page "
             "that explains it. `borescope VERB --help` says the same in a terminal.\n",
             "`RUN` is a file, a glob, `-` for standard input, or a folder with one recording per rank. Options that "
             "most verbs share: `--rank`, `--step`, `--gpu`, `--stream`, `--annotation`, `--begin` and `--end` select, "
             "`--by` groups, `--sort` and `--top` order and limit what is shown, `-f csv` and `-f json` are for "
             "programs. Several verbs share one load: `borescope idle,overlap,queue RUN`.\n"]
    for heading, names in SECTIONS.items():
        lines = [f"## {heading}", "", "| verb | answers | example | more |", "| --- | --- | --- | --- |"]
        lines += [verb_row(borescope, verb, summaries[verb]) for verb in names.split()]
        parts.append("\n".join(lines) + "\n")
    for kind, heading in (("format", "Inputs"), ("writer", "Outputs of `-f`"), ("target", "Targets of `convert`")):
        lines = [f"## {heading}", "", "| name | what it is |", "| --- | --- |"]
        lines += [f"| `{name}` | {summary} |" for each, name, summary in rows if each == kind]
        parts.append("\n".join(lines) + "\n")
    parts.append("Written by `tools/gen_docs.py` from the program; change the text there.\n")
    return "\n".join(parts)


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
    """Every table with the options that show it; those that options do not change only once. Tables of which the
    example has no rows are last."""
    seen = set()
    names = set()
    for options in variants(verb, help_text):
        document = json.loads(run(borescope, verb, *options, "-f", "json", *INPUTS.get(verb, [RUN])))
        for table in document["tables"]:
            names.add(table["name"])
            text = table_text(table, [])
            if text not in seen:
                seen.add(text)
                yield table_text(table, options)
    yield from tables_of_schema(borescope, verb, but=names)


@functools.cache
def schema_table(borescope, name):
    """The columns of a table of `list --schema`."""
    listed = json.loads(run(borescope, "list", "--schema", "-f", "json"))["tables"]
    table = next(t for t in listed if t["name"] == name)
    return {c["name"]: c["values"] for c in table["columns"]}


def tables_of_schema(borescope, verb, but=()):
    """The texts of all tables that the program says a verb may have, but for those of these names."""
    listed = schema_table(borescope, "tables")
    columns = schema_table(borescope, "columns")
    rows = list(zip(*(columns[c] for c in ("verb", "table", "name", "type", "unit", "doc"))))
    for of, name, title in zip(listed["verb"], listed["name"], listed["title"]):
        if of == verb and name not in but:
            yield table_text({"name": name, "title": title, "columns": [
                {"name": column, "type": kind, "unit": unit, "doc": doc}
                for of, table, column, kind, unit, doc in rows if (of, table) == (verb, name)]}, [])


def described(borescope):
    """What `list --schema` says of the tables: {(verb, table): [(column, type, unit)]}."""
    columns = schema_table(borescope, "columns")
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
        # Columns of measured amounts are there if counters of another run were given.
        if verb in ("roofline", "prof"):
            expected = [column for column in expected if column in columns]
        # Columns that are named by what was recorded come last.
        if columns[:len(expected)] != expected or (verb != "counters" and len(columns) != len(expected)):
            sys.exit(f"list --schema describes table {table['name']} of {verb} otherwise than the "
                     "answer has it: src/borescope/engine/answer_shape.cc")


def page(borescope, verb, summary):
    help_text = run(borescope, verb, "--help-all").rstrip()
    parts = [f"# {verb}: {summary}\n", "```text\n" + help_text + "\n```\n"]
    parts += tables_of_schema(borescope, verb) if verb in FROM_SCHEMA else tables(borescope, verb, help_text)
    parts.append("Written by `tools/gen_docs.py` from the program; change the text there.\n")
    return "\n".join(parts)


def main():
    borescope, check = sys.argv[1], "--check" in sys.argv
    texts = {DOCS / "verbs.md": list_of_verbs(borescope)}
    schema = described(borescope)
    for verb, summary in verbs(borescope):
        if verb not in FROM_SCHEMA:
            check_described(borescope, verb, schema)
        texts[DOCS / "use" / "verbs" / f"{verb}.md"] = page(borescope, verb, summary)
    stale = []
    for path, text in texts.items():
        if check and (not path.exists() or path.read_text() != text):
            stale.append(path.name)
        elif not check:
            path.write_text(text)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run tools/gen_docs.py BORESCOPE")


if __name__ == "__main__":
    main()
