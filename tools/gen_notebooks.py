#!/usr/bin/env python3
"""Writes the notebooks of docs/use/recipes.md into examples/notebooks, without outputs.

    gen_notebooks.py          writes them
    gen_notebooks.py --check  exit status 1 if they are not what the page says
"""

import argparse
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "use" / "recipes.md"
OUT = ROOT / "examples" / "notebooks"
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
SECTION = re.compile(r"^## \d+ (?P<title>[^\n]+)\n<!-- notebook: (?P<name>\w+)[^\n]*-->\n", re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)")


def cell(kind: str, number: int, text: str) -> dict[str, object]:
    """A cell without outputs."""
    source = text.strip("\n").splitlines(keepends=True)
    base: dict[str, object] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source}
    return {**base, "execution_count": None, "outputs": []} if kind == "code" else base


def notebook(title: str, first_code: str, section: str) -> str:
    """The notebook of a section of the page: its prose and its code in order."""
    texts = [("markdown", f"# {title}"), ("code", first_code)]
    for number, part in enumerate(BLOCK.split(section)):
        if part.strip():
            is_code = number % 2 == 1
            texts.append(("code", part) if is_code else ("markdown", LINK.sub("](../../docs/use/", part)))
    content = {
        "cells": [cell(kind, number, text) for number, (kind, text) in enumerate(texts)],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                     "language_info": {"name": "python"}},
        "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def notebooks() -> dict[str, str]:
    """The text of each notebook by the name of its file."""
    page = PAGE.read_text()
    heads = list(SECTION.finditer(page))
    first_code = BLOCK.search(page[:heads[0].start()])
    ends = [head.start() for head in heads[1:]] + [len(page)]
    return {f"{head['name']}.ipynb": notebook(head["title"], first_code[1], page[head.end():end])
            for head, end in zip(heads, ends)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    is_check = parser.parse_args().check
    wanted = notebooks()
    present = {path.name: path.read_text() for path in OUT.glob("*.ipynb")}
    if is_check:
        stale = sorted(name for name in {*wanted, *present} if wanted.get(name) != present.get(name))
        for name in stale:
            print(f"{name} is not what docs/use/recipes.md says; run tools/gen_notebooks.py", file=sys.stderr)
        return 1 if stale else 0
    OUT.mkdir(parents=True, exist_ok=True)
    for name in set(present) - set(wanted):
        (OUT / name).unlink()
    for name, text in wanted.items():
        (OUT / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
