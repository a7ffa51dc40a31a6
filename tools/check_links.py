#!/usr/bin/env python3
"""Checks the links between the pages of the documentation: the file that one names exists, and so does the
heading or the anchor after its `#`, by the rules with which GitHub makes anchors of headings.

Two more rules keep pages findable. A page that any file of the repository names by its path (docs/…, in a comment,
a message or a script) exists, and the index of each folder of docs/ links every page of it.

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
# The path of a page or a folder of ours from the root, as comments and messages name it.
MENTION = re.compile(r"(?<![\w./-])(?:\.\./)*docs/(?:[\w.-]+/)*(?:[\w-]+\.md\b)?")
# Recorded bytes, which name what they like.
RECORDED = ("tests/data/", "fuzz/corpus/")
# The pages of verbs, which a list of its own links.
INDEXES = {"docs/use/verbs": "docs/verbs.md"}


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


def unknown_mentions(name: str, text: str) -> list[str]:
    """Paths of pages in the text of a file that lead nowhere. Names in capitals stand for others."""
    return [f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match[0]}: there is no such page"
            for match in MENTION.finditer(text)
            if not (ROOT / match[0].replace("../", "")).exists()
            and not match[0].rpartition("/")[2].removesuffix(".md").isupper()]


def mention_faults(names: list[str]) -> list[str]:
    faults = []
    for name in names:
        path = ROOT / name
        if name.startswith(RECORDED) or path.is_symlink() or not path.is_file():
            continue
        data = path.read_bytes()
        if b"docs/" in data and b"\0" not in data[:8192]:
            faults += unknown_mentions(name, data.decode("utf-8", "replace"))
    return faults


def unlisted_pages(names: list[str]) -> list[str]:
    """Pages of docs/ that the index of their folder does not link."""
    faults = []
    for name in names:
        folder, _, page = name.rpartition("/")
        if not name.startswith("docs/") or page == "README.md" or not (ROOT / name).is_file():
            continue
        index = ROOT / INDEXES.get(folder, f"{folder}/README.md")
        text = index.read_text(encoding="utf-8") if index.is_file() else ""
        targets = {(index.parent / (link[1] or link[2]).partition("#")[0]).resolve() for link in LINK.finditer(text)}
        if (ROOT / name).resolve() not in targets:
            faults.append(f"{name}: {index.relative_to(ROOT)} has no link to it")
    return faults


def self_test() -> None:
    """The rules, before anything is judged by them."""
    assert anchor_of("Steps and --step-rule") == "steps-and---step-rule"
    assert anchor_of("What `map` costs: a *table*") == "what-map-costs-a-table"
    assert anchors_in("# A b\n\n## A b\n\n```\n# no\n```\n<a id=\"x\"></a>\n") == {"a-b", "a-b-1", "x"}
    lost = "docs/" + "lost.md"
    assert unknown_mentions("f", f"a\n// see {lost}.") == [f"f:2: {lost}: there is no such page"]
    assert not unknown_mentions("f", "https://a.example/docs/b.md docs/" "use/VERB.md")
    assert unlisted_pages(["docs/README.md"]) == []


def files() -> list[str]:
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("skipped: no git work tree, which says what the pages are")
        sys.exit(77)
    return [name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


def main() -> int:
    self_test()
    named = [Path(name).resolve() for name in sys.argv[1:]]
    names = [] if named else files()
    pages = named or [ROOT / name for name in names if name.endswith(".md")]
    faults = [fault for page in pages for fault in faults_in(page)]
    faults += mention_faults(names) + unlisted_pages([name for name in names if name.endswith(".md")])
    print("\n".join(faults) or "every link leads somewhere")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
