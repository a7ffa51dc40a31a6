#!/usr/bin/env python3
"""Writes the manual pages: borescope(1), and borescope-VERB(1) for every verb.

Usage: tools/gen_man.py BORESCOPE FOLDER [--date YYYY-MM-DD]

All text comes from the program itself, from `borescope VERB --help` and `borescope list --schema`. The build
runs this and installs the pages; they are not committed.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

EXIT_STATUS = [("0", "Done."), ("1", "A check failed: `check`, `chakra check`."),
               ("2", "An error in the usage, the input or the output, also of one input of several."),
               ("3", "With `check --strict`: nobody can tell whether the run is slower. Of `record` the exit "
                     "status is that of the program.")]
ENVIRONMENT = [("BORESCOPE_CACHE", "A folder in which indexed traces are kept, as by --cache; off, or without the "
                                   "variable, none is kept."),
               ("BORESCOPE_CUPTI", "The CUPTI library that `record` uses, where it is not found by itself."),
               ("BORESCOPE_ROCTRACER", "The roctracer library that `record` uses, where it is not found by itself."),
               ("COLUMNS", "The width of text. By default it is that of the terminal, or 80."),
               ("NO_COLOR", "Where it is set and not empty, text has no colours."),
               ("TMPDIR", "Where temporary files go. By default it is /tmp, and /var/tmp for large ones.")]


@dataclass
class Help:
    """What `borescope VERB --help` says, in parts."""
    usage: list[str] = field(default_factory=list)
    example: str = ""
    details: list[list[str]] = field(default_factory=list)  # paragraphs of lines
    groups: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)


def run(borescope: Path, *arguments: str) -> str:
    environment = {**os.environ, "COLUMNS": "80"}
    done = subprocess.run([borescope, *arguments], capture_output=True, text=True, check=False,
                          env=environment)
    if done.returncode != 0:
        sys.exit(f"{borescope.name} {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def rows(tables: list[dict], name: str) -> list[dict[str, str]]:
    """The rows of a table in our JSON."""
    columns = next(t for t in tables if t["name"] == name)["columns"]
    names = [column["name"] for column in columns]
    return [dict(zip(names, row)) for row in zip(*(column["values"] for column in columns))]


# --- the text of --help

def read_options(block: list[str]) -> list[tuple[str, str]]:
    """[(syntax, explanation)] of a group; a line that begins further right goes on with the one above."""
    options: list[tuple[str, str]] = []
    for line in block:
        found = re.match(r" {2,6}(-\S.*?)(?: {2,}(.*))?$", line)
        if found and len(line) - len(line.lstrip()) <= 6:
            options.append((found[1], found[2] or ""))
        else:
            syntax, text = options[-1]
            options[-1] = syntax, f"{text} {line.strip()}".strip()
    return options


def read_help(text: str) -> Help:
    """The parts are separated by empty lines; a group of options has its title as its first line."""
    page = Help()
    for block in (part.splitlines() for part in text.rstrip().split("\n\n")[1:]):
        if block[0].startswith("Usage: "):
            usage = [line for line in block if not line.startswith("Example: ")]
            page.usage = [re.sub(r"^(Usage: | +)", "", line) for line in usage]
            page.example = next((line[9:] for line in block if line.startswith("Example: ")), "")
        elif len(block) > 1 and re.match(r" {2,6}-", block[1]):
            page.groups.append((block[0], read_options(block[1:])))
        else:
            page.details.append(block)
    return page


# --- roff

def escaped(text: str) -> str:
    """Text that roff prints as it is. What is typed keeps its ASCII minus."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![\w-])--?\w[\w-]*", lambda word: word[0].replace("-", "\\-"), text)
    return "".join(c if ord(c) < 128 else f"\\[u{ord(c):04X}]" for c in text)


def bold(text: str) -> str:
    """What is typed, with the minus that can be copied."""
    typed = re.sub(r"(?<!\\)-", r"\\-", escaped(text))
    return f"\\fB{typed}\\fR"


def guarded(line: str) -> str:
    """A dot or a quote at the begin of a line would be a request."""
    return f"\\&{line}" if line.startswith((".", "'")) else line


def wrapped(text: str) -> str:
    lines = textwrap.wrap(text, 78, break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(guarded, lines))


def prose(text: str) -> str:
    """A paragraph in short lines, each sentence on its own; `commands` in bold."""
    sentences = re.split(r"(?<=[a-z)`][.?!]) (?=[A-Z`])", text)
    return "\n".join(wrapped("".join(bold(part[1:-1]) if part.startswith("`") else escaped(part)
                                     for part in re.split(r"(`[^`]+`)", sentence)))
                     for sentence in sentences)


def literal(lines: list[str]) -> str:
    """Lines that stay as they are."""
    return "\n".join([".EX", *(guarded(escaped(line)) for line in lines), ".EE"])


def items(entries: list[tuple[str, str]]) -> str:
    return "\n".join(f".TP\n{term}\n{prose(text)}" for term, text in entries)


def option_term(syntax: str) -> str:
    """-f, --format FORMAT, with what is typed in bold and what is replaced in italics."""
    words = []
    for word in re.findall(r"-[\w-]+|[A-Za-z]+|[^\w-]+", syntax):
        words.append(bold(word) if word.startswith("-") else
                     f"\\fI{word}\\fR" if word[0].isalpha() else escaped(word))
    return "".join(words)


def paragraph(lines: list[str]) -> str:
    """Prose is filled; what is aligned with blanks is not."""
    is_aligned = any(re.search(r"^ |\S {2,}\S", line) for line in lines)
    return ".PP\n" + (literal(lines) if is_aligned else prose(" ".join(lines)))


def header(title: str, version: str, date: str) -> str:
    return (f'.\\" Written by tools/gen_man.py from the program; change the text there.\n'
            f'.TH {title.upper()} 1 "{date}" "borescope {version}" "Borescope"')


def named(name: str, summary: str) -> str:
    dashed = name.replace("-", "\\-")
    return ".SH NAME\n" + wrapped(f"{dashed} \\- {escaped(summary)}")


def see_also(names: list[str]) -> str:
    listed = [".BR \\%" + name.replace("-", "\\-") + " (1)" for name in names]
    return ".SH SEE ALSO\n" + " ,\n".join(listed)


def synopsis(lines: list[str]) -> str:
    """What follows the name of the program differs from page to page; the name is in bold."""
    shown = []
    for line in lines:
        words = re.sub(r" {2,}.*", "", line)
        program, _, rest = words.partition(" ")
        shown.append(f"{bold(program)} {escaped(rest)}".rstrip())
    return ".SH SYNOPSIS\n" + "\n.br\n".join(shown)


# --- pages

class Manual:
    """The pages of one program."""

    def __init__(self, borescope: Path, date: str) -> None:
        self.borescope, self.date = borescope, date
        self.version = run(borescope, "--version").split()[-1]
        tables = json.loads(run(borescope, "list", "--schema", "-f", "json"))["tables"]
        self.tables, self.columns = rows(tables, "tables"), rows(tables, "columns")
        self.listed = rows(json.loads(run(borescope, "list", "-f", "json"))["tables"], "list")
        self.verbs = [row for row in self.listed if row["kind"] == "verb"]

    def pages(self) -> dict[str, str]:
        pages = {"borescope": self.main_page()}
        for verb in self.verbs:
            pages[f"borescope-{verb['name']}"] = self.verb_page(verb["name"], verb["summary"])
        return pages

    def main_page(self) -> str:
        page = read_help(run(self.borescope, "--help"))
        head, *notes = page.details
        parts = [header("borescope", self.version, self.date),
                 named("borescope", "finds out where the time of a GPU program goes"),
                 synopsis(page.usage), ".SH DESCRIPTION", paragraph(head).removeprefix(".PP\n"),
                 ".PP\n" + prose("Several verbs at once, separated by commas, read the input once. Every verb "
                                 "has a page of its own, borescope-VERB(1), and `borescope VERB --help`."),
                 ".SH VERBS", items([(bold(v["name"]), v["summary"]) for v in self.verbs])]
        for kind, title in (("format", "INPUT FORMATS"), ("writer", "OUTPUT FORMATS"),
                            ("target", "TARGETS OF CONVERT")):
            entries = [(bold(r["name"]), r["summary"]) for r in self.listed if r["kind"] == kind]
            parts += [f".SH {title}", items(entries)] if entries else []
        parts += self.closing([f"borescope-{v['name']}" for v in self.verbs])
        return "\n".join(parts) + "\n"

    def closing(self, others: list[str]) -> list[str]:
        return [".SH ENVIRONMENT", items([(bold(n), t) for n, t in ENVIRONMENT]),
                ".SH EXIT STATUS", items([(bold(n), t) for n, t in EXIT_STATUS]), see_also(others)]

    def verb_page(self, name: str, summary: str) -> str:
        page = read_help(run(self.borescope, name, "--help-all"))
        parts = [header(f"borescope-{name}", self.version, self.date),
                 named(f"borescope-{name}", summary), synopsis(page.usage)]
        if page.details:
            parts += [".SH DESCRIPTION", *map(paragraph, page.details)]
            parts[-len(page.details)] = parts[-len(page.details)].removeprefix(".PP\n")
        parts.append(".SH OPTIONS")
        for title, options in page.groups:
            parts += [f".SS {title}", items([(option_term(s), t) for s, t in options])]
        parts += self.described_tables(name)
        if page.example:
            parts += [".SH EXAMPLES", literal([page.example])]
        return "\n".join(parts + self.closing(["borescope"])) + "\n"

    def described_tables(self, verb: str) -> list[str]:
        parts = [".SH TABLES"] if any(t["verb"] == verb for t in self.tables) else []
        for table in (t for t in self.tables if t["verb"] == verb):
            columns = [c for c in self.columns if (c["verb"], c["table"]) == (verb, table["name"])]
            parts += [f".SS {escaped(table['name'])}", prose(f"{table['title']}."),
                      items([(self.column_term(c), c["doc"] or "-") for c in columns])]
        return parts

    @staticmethod
    def column_term(column: dict[str, str]) -> str:
        kind = ", ".join(filter(None, (column["type"], column["unit"])))
        return f"{bold(column['name'])} ({escaped(kind)})"


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the manual pages of a program.")
    parser.add_argument("borescope", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--date", default="", help="date in the footer of the pages")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for old in given.folder.glob("borescope*.1"):
        old.unlink()
    for name, text in Manual(given.borescope.resolve(), given.date).pages().items():
        (given.folder / f"{name}.1").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
