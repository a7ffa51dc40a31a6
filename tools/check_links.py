#!/usr/bin/env python3
"""Checks the links between the pages of the documentation: the file that one names exists, and so does the
heading or the anchor after its `#`, by the rules with which GitHub makes anchors of headings.

Links to other sites are not looked at. `check_links.py FILE...` checks these pages alone.
"""

import functools
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Code, in which brackets make no link.
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1|(?:(?<=\n\n)|\A)(?: {4}[^\n]*\n)+(?:\n+(?: {4}[^\n]*\n)+)*|`[^`\n]*`",
                  re.DOTALL | re.MULTILINE)
BLOCKS = re.compile(r"^(`{3,})[^\n]*\n.*?^\1", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6} +(.*?) *#* *$", re.MULTILINE)
NAMED = re.compile(r"<a\s+(?:id|name)=\"([^\"]+)\"")
ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z+.-]*:|//")


def blank(text: str) -> str:
    """Blanks in place of the text, line ends kept."""
    return re.sub(r"[^\n]", " ", text)


def anchor_of(heading: str) -> str:
    """What GitHub makes of the text of a heading."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[`*]", "", text)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors_in(text: str) -> set[str]:
    """The anchors of a page. Equal headings are counted."""
    text = BLOCKS.sub(lambda match: blank(match[0]), text)
    found: set[str] = set(NAMED.findall(text))
    counts: dict[str, int] = {}
    for heading in HEADING.findall(text):
        anchor = anchor_of(heading)
        count = counts.get(anchor, 0)
        counts[anchor] = count + 1
        found.add(anchor if count == 0 else f"{anchor}-{count}")
    return found


@functools.lru_cache(maxsize=None)
def anchors_of(page: Path) -> frozenset[str]:
    return frozenset(anchors_in(page.read_text(encoding="utf-8")))


def fault_of(target: str, page: Path) -> str:
    """What is wrong with a link of the page; empty: nothing."""
    if ELSEWHERE.match(target):
        return ""
    path, _, anchor = target.partition("#")
    file = (page.parent / urllib.parse.unquote(path)).resolve() if path else page
    if not file.exists():
        return f"{target}: there is no such file"
    if anchor and file.suffix == ".md" and urllib.parse.unquote(anchor) not in anchors_of(file):
        return f"{target}: no heading of that page has this anchor"
    return ""


def faults_in(page: Path) -> list[str]:
    text = page.read_text(encoding="utf-8")
    prose = CODE.sub(lambda match: blank(match[0]), text)
    faults = []
    for link in LINK.finditer(prose):
        if fault := fault_of(link[1] or link[2], page):
            line = prose.count("\n", 0, link.start()) + 1
            faults.append(f"{page.relative_to(ROOT) if page.is_relative_to(ROOT) else page}:{line}: {fault}")
    return faults


def self_test() -> None:
    """The rules of anchors, before anything is judged by them."""
    assert anchor_of("Steps and --step-rule") == "steps-and---step-rule"
    assert anchor_of("What `map` costs: a *table*") == "what-map-costs-a-table"
    assert anchors_in("# A b\n\n## A b\n\n```\n# no\n```\n<a id=\"x\"></a>\n") == {"a-b", "a-b-1", "x"}


def pages() -> list[Path]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z", "--", "*.md"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("skipped: no git work tree, which says what the pages are")
        sys.exit(77)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def main() -> int:
    self_test()
    named = [Path(name).resolve() for name in sys.argv[1:]]
    faults = [fault for page in named or pages() for fault in faults_in(page)]
    print("\n".join(faults) or "every link leads somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
