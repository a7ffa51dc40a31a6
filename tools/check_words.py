#!/usr/bin/env python3
"""Checks prose for words and phrases that only this project used, where standard ones exist.

Prose is Markdown, except code, headings and generated pages, and the comments of C++ sources, except
what they quote. Texts of C++ in several literals have one blank at each joint, and no word alone
on a line between two others, which hides a text from a search. docs/use/glossary.md lists the words to use instead. Markdown has none of these
phrases. The comments of some folders still do: ALLOWED has the number of findings of each, and only goes
down. The check fails where there are more, and where there are fewer until the number is lowered.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "record", "tests", "fuzz", "bench", "examples")
# Findings in comments by top-level folder. Lower a number when there are fewer; never raise one.
ALLOWED: dict[str, int] = {"src": 0}
# Pages that the program writes, and recorded bytes.
SKIPPED = ("docs/verbs.md", "docs/use/verbs/", "tests/golden/", "tests/data/", "fuzz/corpus/")

# Phrase (a blank matches any white space), and what to write instead.
PHRASES = (
    (r"told", "reported, said, or (told apart) distinguished"),
    (r"tells", "says, reports, or (tells apart) distinguishes"),
    (r"tell(?:ing)? (?:of|\w+ apart|\w+ \w+ apart|apart)", "report, or distinguish"),
    (r"(?:say|says|said) of", "say about, or report for"),
    (r"ask(?:s|ed)? of", "ask, or request from"),
    (r"(?:is|are) of no rank", "is not tied to a rank"),
    (r"stands?(?! out\b)(?!-)", "is, are, or (stands for) represents"),
    (r"stood", "was, were"),
    (r"in front of", "before"),
    (r"behind (?:it|them) (?:is|are|comes?|follows?)", "after"),
    (r"behind (?:the|its|their|an?|every|each) (?:end|last|first|next|events?|name|list|point|ending"
     r"|comma|colon|brace|bracket|quote|text|bytes?|number|header|row|value|key|mark|separator)", "after"),
    (r"the like", "similar, or such as"),
    (r"what bec(?:ame|omes) of", "what happened to, or the result of"),
    (r"the lacks?|lacks (?:are|of|in)", "missing data"),
    (r"(?<!both.)moments", "timestamps, or times"),
    (r"go(?:es)? by", "is determined by, is sorted by, or uses"),
    (r"as \w+ has it", "as in, or according to"),
    (r"(?:the|all|two|these|those|several|such|its|their|which) works", "device work, work items"),
    (r"one (?:voice|house)|pairs? of hands", "no metaphor: say what happens"),
    (r"who misses", "if ... is missing"),
    (r"mend(?:s|ed|ing)?", "fix"),
    (r"lest", "so that ... not"),
    (r"anew", "again"),
    (r"in silence|without a word", "silently"),
    (r"sees? to it", "ensures"),
    (r"as ever", "as before, unchanged"),
)
PATTERNS = [(re.compile(rf"\b(?:{phrase})\b".replace(" ", r"\s+"), re.IGNORECASE), phrase, advice)
            for phrase, advice in PHRASES]

# Parts of Markdown that are no prose. Blocks first: they may hold everything else.
NOT_PROSE = re.compile(
    r"<!-- begin:.*?<!-- end -->"  # written by a tool
    r"|^(`{3,})[^\n]*\n.*?^\1"
    r"|(?:(?<=\n\n)|\A)(?: {4}[^\n]*\n)+(?:\n+(?: {4}[^\n]*\n)+)*"  # indented code
    r"|^#+ [^\n]*"
    r"|`[^`]*`|\]\([^)\s]*\)", re.DOTALL | re.MULTILINE)
# Comments, and the literals whose text is not one. Raw strings first: they may hold quotes.
COMMENT = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|(//[^\n]*|/\*.*?\*/)', re.DOTALL)
QUOTED = re.compile(r'"[^"\n]*"|`[^`\n]*`')
MARKERS = re.compile(r"^/+<?|^/\*+|\*+/$|^[ ]*\*(?=[ \n])", re.MULTILINE)


def blank(text: str) -> str:
    """Blanks in place of the text, line ends kept."""
    return re.sub(r"[^\n]", " ", text)


def markdown_prose(text: str) -> str:
    """The prose of a page, at its places."""
    return NOT_PROSE.sub(lambda match: blank(match[0]), text)


def comment_prose(code: str) -> str:
    """The comments of a source, at their places, without what they quote."""
    pieces, end = [], 0
    for match in COMMENT.finditer(code):
        if match[2]:
            inner = MARKERS.sub(lambda mark: blank(mark[0]), match[2])
            inner = QUOTED.sub(lambda quoted: "x" * len(quoted[0]), inner)
            pieces += [blank(code[end:match.start()]), inner]
            end = match.end()
    return "".join([*pieces, blank(code[end:])])


def check(name: str, prose: str) -> list[str]:
    """The findings in one file."""
    findings = []
    for pattern, _, advice in PATTERNS:
        for match in pattern.finditer(prose):
            line = prose.count("\n", 0, match.start()) + 1
            found = " ".join(match[0].split())
            findings.append((line, f"{name}:{line}: '{found}': write {advice}"))
    return [text for _, text in sorted(findings)]


# A literal, or what may hold quotes and is none.
LITERAL = re.compile(
    r'R"(\w*)\(.*?\)\1"|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
LONGEST_LINE = 100


def joined_literals(code: str) -> list[list[re.Match[str]]]:
    """The literals between which there is nothing but white space, which are one text."""
    runs: list[list[re.Match[str]]] = []
    for match in LITERAL.finditer(code):
        if match[2] is None:
            continue
        if runs and not code[runs[-1][-1].end():match.start()].strip():
            runs[-1].append(match)
        else:
            runs.append([match])
    return [run for run in runs if len(run) > 1]


def check_literals(name: str, code: str) -> list[str]:
    """Joints of literals without a blank or with two, and words alone on a line that had room."""
    findings = []
    for run in joined_literals(code):
        for i, (piece, following) in enumerate(zip(run, run[1:])):
            first, second = piece[2], following[2]
            line = code.count("\n", 0, piece.start()) + 1
            is_prose = " " in first.strip() and " " in second.strip()
            if is_prose and re.search(r"(?<!\\)[a-z,;.]$", first) and re.match(r"[A-Za-z]", second):
                findings.append(f"{name}:{line}: no blank between '{first[-20:]}' and '{second[:20]}'")
            if is_prose and first.endswith(" ") and second.startswith(" "):
                findings.append(f"{name}:{line}: two blanks between '{first[-20:]}' and '{second[:20]}'")
            end = code.find("\n", piece.end())
            width = end - code.rfind("\n", 0, piece.start()) - 1
            is_alone = i > 0 and re.fullmatch(r"\S+ ", first) and end < following.start()
            if is_alone and width + len(second.split(" ")[0]) < LONGEST_LINE:
                findings.append(f"{name}:{line}: '{first}' alone on a line: join it with the next")
    return findings


def repository_files() -> list[str]:
    """Tracked and new files; without git (a source archive), all files but build folders."""
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        names = {name for name in listed.decode().split("\0") if name}
    except (OSError, subprocess.CalledProcessError):
        tops = [p for p in ROOT.iterdir() if p.name not in {".git", "build"}]
        names = {p.relative_to(ROOT).as_posix() for top in tops for p in [top, *top.rglob("*")]}
    return sorted(n for n in names if (ROOT / n).is_file() and not n.startswith(SKIPPED))


def check_sources(names: list[str]) -> list[str]:
    """Findings in comments, of the folders that have another number of them than ALLOWED says."""
    findings = []
    for folder in FOLDERS:
        found = []
        for name in names:
            if name.startswith(folder + "/") and name.endswith((".h", ".cc", ".cpp")):
                found += check(name, comment_prose((ROOT / name).read_text(encoding="utf-8")))
        allowed = ALLOWED.get(folder, 0)
        if len(found) > allowed:
            findings += [*found, f"{folder}/: {len(found)} findings, more than the {allowed} allowed"]
        elif len(found) < allowed:
            findings.append(f"tools/check_words.py:1: {folder} has {len(found)} findings: "
                            f"lower the number in ALLOWED from {allowed} to {len(found)}")
    return findings


def main() -> int:
    names = repository_files()
    findings = []
    for name in names:
        if name.endswith(".md"):
            findings += check(name, markdown_prose((ROOT / name).read_text(encoding="utf-8")))
        elif name.startswith("src/") and name.endswith((".h", ".cc")) and "_test" not in name:
            findings += check_literals(name, (ROOT / name).read_text(encoding="utf-8"))
    findings += check_sources(names)
    print("\n".join([*findings, f"{len(names)} files, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
