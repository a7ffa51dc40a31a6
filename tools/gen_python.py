#!/usr/bin/env python3
"""Writes python/borescope/_verbs.py: a method for every verb, or checks that it is current.

Usage: tools/gen_python.py BORESCOPE [--check]

Keywords, their types and defaults, tables and columns are those of `borescope list --schema -f json`;
the examples are about tests/data, and run as doctests. --check (ctest `python_verbs`) writes nothing
and fails when the file is out of date.
"""

import json
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "python" / "borescope" / "_verbs.py"
DATA = "tests/data"
RUN = f"{DATA}/demo_run"
# What the example of a verb is asked about, where that is not RUN.
INPUTS = {
    "memory": f"{DATA}/small/memory.json",
    "counters": f"{DATA}/small/counters.json",
    "graphs": f"{DATA}/small/graphs.json",
    "inference": f"{DATA}/small/serving.json",
    "diff": f"{RUN}/rank-1.json.gz",
}
BASE = f"{RUN}/rank-0.json.gz"
WIDTH = 100

# The types of keywords by the types of parameters.
TYPES = {
    "flag": "bool",
    "count": "int | None",
    "number": "int | None",
    "time": "int | str | None",
    "times": "str | Sequence[int | str] | None",
    "share": "float | str | None",
    "folder": "str | os.PathLike[str] | None",
    "text": "str | None",
    "texts": "str | Sequence[str] | None",
    "ranges": "int | str | Iterable[int] | None",
}

HEAD = '''"""A method for every verb. Written by tools/gen_python.py from the program; change the text there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._keywords import verb
from ._types import FileValue

if TYPE_CHECKING:
    from ._answer import Answer
    from ._io import Given
    from ._run import Run

'''

CLASS = '''class Verbs:
    """The verbs of :class:`Run`."""

    def _verb(self, verb: str, given: Mapping[str, Any]) -> Answer:
        raise NotImplementedError

    def _pair(self, verb: str, base: Run | Given, given: Mapping[str, Any]) -> Answer:
        raise NotImplementedError
'''


def run(borescope, *arguments):
    done = subprocess.run([borescope, *map(str, arguments)], capture_output=True, text=True, check=False,
                          cwd=ROOT)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done.stdout


def schema(borescope):
    """The tables of `list --schema`, each a list of dicts."""
    tables = json.loads(run(borescope, "list", "--schema", "-f", "json"))["tables"]
    found = {}
    for table in tables:
        names = [column["name"] for column in table["columns"]]
        cells = zip(*(column["values"] for column in table["columns"]))
        found[table["name"]] = [dict(zip(names, row)) for row in cells]
    return found


def choices(row):
    return ", ".join(f'"{choice}"' for choice in row["choices"].split(","))


def type_of(row):
    if row["type"] == "choice":
        return f"Literal[{choices(row)}] | None"
    if row["type"] == "list":
        return "str | Sequence[str] | None"
    if row["type"] == "file":
        return "str | os.PathLike[str] | None" if row["group"] == "output" else "FileValue | None"
    return TYPES[row["type"]]


def default_of(row):
    if row["type"] == "flag":
        return "False"
    text = row["default"]
    if not text or row["type"] == "times":
        return "None"
    return text if text.isdigit() and row["type"] in ("count", "number") else f'"{text}"'


def kind_of(row):
    """The type of a parameter; of the two that name a moment a whole number is on the recording's
    clock, not a length."""
    return "moment" if row["name"] in ("begin", "end") else row["type"]


def keyword(row):
    kind = type_of(row)
    default = default_of(row)
    return f"{row['name']}: {kind.removesuffix(' | None') if default != 'None' else kind} = {default}"


def wrapped(text, indent, more=4):
    return textwrap.fill(text, WIDTH, initial_indent=" " * indent,
                         subsequent_indent=" " * (indent + more), break_long_words=False,
                         break_on_hyphens=False)


def in_python(doc, names):
    """The words of help with keywords in place of options."""
    for name in sorted(names, key=len, reverse=True):
        doc = doc.replace("--" + name.replace("_", "-"), f"``{name}``")
    doc = doc.replace("--captures", "``captures`` of ``borescope.open``")
    return doc.replace("\\", "\\\\")


def sentence(text):
    return text[0].upper() + text[1:] + ("" if text.endswith((".", ")")) else ".")


def argument_lines(parameters, names):
    for row in parameters:
        doc = in_python(row["doc"], names)
        if row["type"] == "list":
            doc += f": {row['choices'].replace(',', ', ')}"
        if row["type"] == "times" and row["default"]:
            doc += f" (default: {row['default']})"
        yield wrapped(f"{row['name']}: {doc}.", 12)


def table_lines(tables, columns):
    for table in tables:
        yield wrapped(f"{table['name']}: {sentence(table['title'])}", 12)
        for column in (each for each in columns if each["table"] == table["name"]):
            unit = f", {column['unit']}" if column["unit"] else ""
            doc = column["doc"].replace("\\", "\\\\")
            yield wrapped(f"{column['name']} ({column['type']}{unit}): {doc}", 16)


def example_lines(borescope, verb, method, word):
    """A question, and what its answer looks like, found out by asking the program."""
    source = INPUTS.get(verb, RUN)
    inputs = [BASE, source] if verb == "diff" else ["all", source] if word else [source]
    tables = json.loads(run(borescope, verb, "-f", "json", "-q", *inputs))["tables"]
    given = f'"{BASE}"' if verb == "diff" else '"all"' if word else ""
    shown = ", ".join(f"{table['name']} ({rows_of(table):,} rows)" for table in tables)
    yield f'            >>> run = borescope.open("{source}")'
    yield f"            >>> run.{method}({given})"
    yield f"            <Answer: {shown}>"


def rows_of(table):
    return len(table["columns"][0]["values"]) if table["columns"] else 0


def method_text(borescope, verb, parameters, tables, columns):
    name = verb["name"].replace("-", "_")
    word = next((row for row in parameters if row["name"] == verb["word"]), None)
    keywords = [row for row in parameters if row is not word]
    names = [row["name"] for row in parameters]
    first = []
    if verb["takes_two"] == "yes":
        first = ["base: Run | Given"]
    elif word is not None:
        first = [keyword(word)]
    signature = [f"        self, {first[0]}, *," if first else "        self, *,",
                 *(f"        {keyword(row)}," for row in keywords)]
    lines = ["", "    @verb", f"    def {name}(", *signature, "    ) -> Answer:",
             f'        """{sentence(verb["summary"])}', ""]
    lines.append("        Args:")
    if verb["takes_two"] == "yes":
        lines.append("            base: what this run is compared with: a run, or what ``borescope.open`` takes.")
    lines += argument_lines(parameters, names)
    lines += ["", "        Tables:", *table_lines(tables, columns), "", "        Example:",
              "            >>> import borescope", *example_lines(borescope, verb["name"], name, word),
              '        """']
    call = f'_pair("{verb["name"]}", base, ' if verb["takes_two"] == "yes" else f'_verb("{verb["name"]}", '
    given = ", ".join(f'"{each}": {each}' for each in names)
    lines += [f"        return self.{call}{{", wrapped(given, 12, 0), "        })"]
    return "\n".join(lines) + "\n"


def constants(by_verb, verbs, tables):
    """What the package needs to know of the verbs beside their methods."""
    names = ", ".join(f'"{name}"' for name in sorted({row["name"] for row in tables}))
    lines = ["# The tables of all verbs, for editors that complete them.", "TableName = Literal[", wrapped(names, 4, 0), "]",
             "# The type of each parameter, by verb.", "PARAMETERS: dict[str, dict[str, str]] = {"]
    for name, rows in by_verb.items():
        types = ", ".join(f'"{row["name"]}": "{kind_of(row)}"' for row in rows)
        lines += [f'    "{name}": {{', wrapped(types, 8, 0), "    },"]
    lines += ["}", "# The value of each parameter that has one where none is given.",
              "DEFAULTS: dict[str, str | int] = {"]
    defaults = {row["name"]: default_of(row) for rows in by_verb.values() for row in rows}
    lines += [f'    "{name}": {value},' for name, value in defaults.items() if value not in ("None", "False")]
    two = ", ".join(f'"{verb["name"]}"' for verb in verbs if verb["takes_two"] == "yes")
    words = ", ".join(f'"{verb["name"]}"' for verb in verbs if verb["word"])
    lines += ["}", "# Verbs about two runs, and verbs whose question begins with a word.",
              f"TAKES_TWO = frozenset({{{two}}})", f"WORDS = frozenset({{{words}}})", "", ""]
    return "\n".join(lines)


def generated(borescope):
    found = schema(borescope)
    verbs = [row for row in found["verbs"] if row["kind"] == "verb"]
    by_verb = {verb["name"]: [row for row in found["parameters"] if row["verb"] == verb["name"]]
               for verb in [*verbs, {"name": "report"}]}
    by_verb["report"] = [row for row in by_verb["report"] if row["name"] not in ("against", "card", "markdown")]
    text = HEAD + constants(by_verb, verbs, found["tables"]) + CLASS
    for verb in verbs:
        name = verb["name"]
        text += method_text(borescope, verb, by_verb[name],
                            [row for row in found["tables"] if row["verb"] == name],
                            [row for row in found["columns"] if row["verb"] == name])
    return text


def main():
    text = generated(sys.argv[1])
    if "--check" in sys.argv:
        if not TARGET.exists() or TARGET.read_text() != text:
            sys.exit(f"out of date: {TARGET.name}; run tools/gen_python.py BORESCOPE")
    else:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
