#!/usr/bin/env python3
"""Manual pages are complete, and those who read them have nothing to say against them.

    check_man.py BORESCOPE GENERATOR

Every verb and the program have a page with every option of the help and every column of the schema. man(1) formats
each without a warning, and mandoc's lint finds nothing. Without man or mandoc that part is skipped.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
DATE = "2026-01-02"


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def columns(tables: list[dict], name: str) -> dict[str, list[str]]:
    table = next(t for t in tables if t["name"] == name)
    return {column["name"]: column["values"] for column in table["columns"]}


def formatted(page: Path) -> tuple[str, str]:
    """What man shows of a page, without bold and lines broken, and what it warns of."""
    environment = {**os.environ, "MANWIDTH": "400", "LC_ALL": "C.UTF-8", "MAN_KEEP_FORMATTING": ""}
    done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", page], capture_output=True, text=True,
                          check=True, env=environment)
    plain = re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout).replace("\u2010", "-").replace("\u2212", "-")
    return " ".join(plain.split()), done.stderr


def expected_texts(borescope: str, verb: str, schema: list[dict]) -> list[str]:
    """Options as the help has them, and columns as the schema."""
    help_text = output(borescope, verb, "--help")
    texts = re.findall(r"(?m)^ {2,6}((?:-\w, )?--[\w-]+(?: [A-Z]+)?)", help_text)
    described = columns(schema, "columns")
    texts += [name for owner, name in zip(described["verb"], described["name"]) if owner == verb]
    usage = re.search(r"Usage: (.*)", help_text)
    return [*texts, usage[1].strip()]


def check_with_man(borescope: str, pages: list[Path], schema: list[dict]) -> list[str]:
    problems = []
    for page in pages:
        text, warnings = formatted(page)
        if warnings:
            problems.append(f"{page.name}: man warns: {warnings}")
        verb = page.stem.partition("-")[2]
        if verb:
            problems += [f"{page.name}: lacks {expected!r}" for expected in expected_texts(borescope, verb, schema)
                         if expected not in text]
    return problems


def check_with_mandoc(pages: list[Path]) -> list[str]:
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "style", *pages], capture_output=True, text=True,
                          check=False)
    # References to pages that are not installed.
    lines = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
    return lines[:20]


def check_main_page(page: Path) -> list[str]:
    """What holds for every verb: variables of the environment that are ours, and every exit status."""
    text = page.read_text()
    expected = [rf"\fB{name}\fR" for name in ("BORESCOPE_CACHE", "COLUMNS", "NO_COLOR", "TMPDIR", *"0123")]
    return [f"{page.name}: lacks {each}" for each in expected if each not in text]


def check_files(verbs: list[str], folder: Path) -> list[str]:
    expected = sorted(["borescope.1", *(f"borescope-{verb}.1" for verb in verbs)])
    found = sorted(page.name for page in folder.iterdir())
    return [] if found == expected else [f"expected the pages {expected}, found {found}"]


def main() -> int:
    borescope, generator = sys.argv[1:3]
    missing = [tool for tool in ("man", "mandoc") if shutil.which(tool) is None]
    schema = json.loads(output(borescope, "list", "--schema", "-f", "json"))["tables"]
    listed = columns(json.loads(output(borescope, "list", "-f", "json"))["tables"], "list")
    verbs = [name for kind, name in zip(listed["kind"], listed["name"]) if kind == "verb"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output(sys.executable, generator, borescope, folder, "--date", DATE)
        problems = check_files(verbs, folder)
        pages = sorted(folder.iterdir())
        problems += check_main_page(folder / "borescope.1")
        problems += check_with_man(borescope, pages, schema) if "man" not in missing else []
        problems += check_with_mandoc(pages) if "mandoc" not in missing else []
    for problem in problems:
        print(problem)
    if not problems and missing:
        print(f"skipped: {' and '.join(missing)} is not installed")
        return SKIPPED
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
