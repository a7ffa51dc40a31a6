#!/usr/bin/env python3
r"""Runs golden tests: files that hold the input, the command, and the exact output.

    run_golden.py [--borescope BIN] [--samples DIR] [--update] [FILE...]   (default: all)

Example (directives start in column one):

    # Overlapping kernels are not counted twice.
    trace rank0.json
    {"traceEvents":[...]}

    run borescope breakdown rank0.json -f csv | head -2
    rank,busy_ns
    0,15000

    ## A missing file is an error.
    run borescope breakdown absent.json
    stderr
    borescope: absent.json: no such file
    exit 2

Directives
    needs samples PATH [as NAME]  link PATH of the optional sample folder to NAME (default: its
                                  last part); the test is skipped where PATH does not exist
    label NAME                    one more ctest label; `threads`: also run under ThreadSanitizer
    file PATH [as NAME]           copy tests/data/PATH (a file or a folder) to NAME
    trace NAME                    write the block that follows to NAME
    run COMMAND                   run by `sh` with pipes and redirections; then the exact stdout
    stderr                        after a run: the exact stderr; without it, stderr must be empty
    exit N                        after a run: the exit status, of a pipe's last part; default 0
    ## TEXT                       a comment; before the first directive, one # will do

A block ends at the next directive; blank lines at its end do not belong to it. A line of content
that would be read otherwise (like a directive, or blank at the end of a block) is written with a
leading backslash, and the line `\no newline` marks output that does not end in a newline.
--update writes stdout, stderr and exit of every run anew and keeps all else.

Each test has a fresh folder as its working directory and HOME; that path is shown as $DIR.
PATH starts with the folder of BIN, so that tools built beside it are found; COLUMNS is 80.
Exit status: 0 passed, 1 a test failed, 2 a test is malformed, 77 all tests were skipped.
"""

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SKIPPED = 77  # ctest SKIP_RETURN_CODE
TIMEOUT_S = 120
DIRECTIVE = re.compile(
    r"(?P<word>needs|label|file|trace|run|exit|##) (?P<argument>\S.*)|(?P<alone>stderr|##)"
)
NO_NEWLINE = "\\no newline"
# What a test may see of the caller's environment, besides PATH.
KEPT_VARIABLES = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH")


class Malformed(Exception):
    """The test file itself is wrong."""


class Skip(Exception):
    """The test needs something that is not here."""


@dataclass
class Item:
    """A directive with the lines that follow it, as written in the file."""

    word: str
    argument: str
    body: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        head = [f"{self.word} {self.argument}".rstrip()] if self.word else []
        return head + self.body

    def content(self) -> str:
        """The block as it was before escaping."""
        lines = self.body[: len(self.body) - trailing_blanks(self.body)]
        end = "\n" if lines else ""
        if lines and lines[-1] == NO_NEWLINE:
            lines, end = lines[:-1], ""
        return "\n".join(line.removeprefix("\\") for line in lines) + end


@dataclass
class Outcome:
    stdout: str
    stderr: str
    status: int


def trailing_blanks(lines: list[str]) -> int:
    return next((i for i, line in enumerate(reversed(lines)) if line), len(lines))


def escape(text: str) -> list[str]:
    """The inverse of Item.content()."""
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    keep = len(lines) - trailing_blanks(lines)
    for i, line in enumerate(lines):
        if i >= keep or line.startswith("\\") or DIRECTIVE.fullmatch(line):
            lines[i] = "\\" + line
    return lines if text.endswith("\n") else [*lines, NO_NEWLINE]


def parse(text: str) -> list[Item]:
    """Splits a test file; the first item is the head comment and has no word."""
    items = [Item("", "")]
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        match = DIRECTIVE.fullmatch(line)
        in_block = items[-1].word in {"trace", "run", "stderr"}
        if match:
            items.append(Item(match["word"] or match["alone"], match["argument"] or ""))
        elif in_block or not line or (not items[-1].word and line.startswith("#")):
            items[-1].body.append(line)
        else:
            raise Malformed(f"line {number}: neither a directive nor in a block: {line}")
    return items


def inside(folder: Path, name: str) -> Path:
    """The path of a file of the test, whose parent folder is made."""
    path = folder / name
    if not path.resolve().is_relative_to(folder):
        raise Malformed(f"{name}: outside the folder of the test")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def sample_of(item: Item, samples: Path) -> Path:
    kind, _, path = item.argument.partition(" as ")[0].partition(" ")
    if kind != "samples" or not path:
        raise Malformed(f"needs {item.argument}: only `needs samples PATH` is known")
    return samples / path


def prepare(item: Item, folder: Path, samples: Path) -> None:
    """Carries out a directive that is not a run."""
    source, _, name = item.argument.partition(" as ")
    if item.word == "trace":
        inside(folder, item.argument).write_text(item.content(), encoding="utf-8")
    elif item.word == "file":
        origin, target = TESTS / "data" / source, inside(folder, name or Path(source).name)
        if not origin.exists():
            raise Malformed(f"file {source}: not in tests/data")
        (shutil.copytree if origin.is_dir() else shutil.copyfile)(origin, target)
    elif item.word == "needs":
        origin = sample_of(item, samples)
        inside(folder, name or origin.name).symlink_to(origin.resolve())
    elif item.word in {"stderr", "exit"}:
        raise Malformed(f"`{item.word}` must follow a `run`, stderr before exit")


def run(command: str, folder: Path, binary: Path) -> Outcome:
    env = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    env |= {"PATH": f"{binary.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
    env |= {"COLUMNS": "80", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )

    def decode(data: bytes) -> str:
        return data.decode("utf-8", "backslashreplace").replace(str(folder), "$DIR")

    return Outcome(decode(done.stdout), decode(done.stderr), done.returncode)


def expected(group: list[Item]) -> Outcome:
    """What a `run` and the `stderr` and `exit` behind it ask for."""
    blocks = {item.word: item for item in group}
    try:
        status = int(blocks["exit"].argument) if "exit" in blocks else 0
    except ValueError:
        raise Malformed(f"exit {blocks['exit'].argument}: not a number") from None
    stderr = blocks["stderr"].content() if "stderr" in blocks else ""
    return Outcome(blocks["run"].content(), stderr, status)


def recorded(group: list[Item], outcome: Outcome) -> list[Item]:
    """The same group, asking for this outcome."""
    items = [Item("run", group[0].argument, escape(outcome.stdout))]
    if outcome.stderr:
        items.append(Item("stderr", "", escape(outcome.stderr)))
    if outcome.status:
        items.append(Item("exit", str(outcome.status)))
    items[-1].body += [""] * trailing_blanks(group[-1].body)
    return items


def execute(items: list[Item], folder: Path, binary: Path, samples: Path) -> list[Item]:
    """Runs a test; returns its items, those of a run that came out otherwise replaced."""
    actual: list[Item] = []
    rest = list(items)
    while rest:
        group = [rest.pop(0)]
        if group[0].word != "run":
            prepare(group[0], folder, samples)
            actual += group
            continue
        for word in ("stderr", "exit"):
            if rest and rest[0].word == word:
                group.append(rest.pop(0))
        outcome = run(group[0].argument, folder, binary)
        actual += group if outcome == expected(group) else recorded(group, outcome)
    return actual


def text_of(items: list[Item]) -> str:
    lines = [line for item in items for line in item.lines()]
    return "\n".join(lines[: len(lines) - trailing_blanks(lines)]) + "\n"


def run_test(path: Path, binary: Path, samples: Path, update: bool) -> bool:
    """Runs one file; returns whether it passed or was recorded anew."""
    items = parse(path.read_text(encoding="utf-8"))
    if not any(item.word == "run" for item in items):
        raise Malformed("has no `run`")
    for item in items:
        if item.word == "needs" and not sample_of(item, samples).exists():
            raise Skip(f"{item.argument}: not found below {samples}")
    with tempfile.TemporaryDirectory(prefix="borescope-golden-") as folder:
        before = text_of(items)
        after = text_of(execute(items, Path(folder).resolve(), binary, samples))
    if before == after:
        return True
    if update:
        path.write_text(after, encoding="utf-8")
        print(f"{path}: recorded anew")
        return True
    names = (f"{path} (expected)", f"{path} (actual)")
    lines = (before.splitlines(), after.splitlines())
    print("\n".join(difflib.unified_diff(*lines, *names, lineterm="", n=8)))
    return False


def main() -> int:
    root = TESTS.parent
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--borescope", type=Path, default=root / "build/dev/bin/borescope")
    parser.add_argument("--samples", type=Path, default=root.parent / "shared")
    parser.add_argument("--update", action="store_true", help="re-record what differs")
    parser.add_argument("files", nargs="*", type=Path)
    args = parser.parse_args()
    if not args.borescope.exists():
        parser.error(f"{args.borescope} is not built")
    codes = []
    for path in args.files or sorted((TESTS / "golden").rglob("*.test")):
        try:
            passed = run_test(path, args.borescope.resolve(), args.samples, args.update)
            codes.append(0 if passed else 1)
        except Skip as reason:
            print(f"{path}: skipped: {reason}")
            codes.append(SKIPPED)
        except subprocess.TimeoutExpired as late:
            print(f"{path}: no answer in {TIMEOUT_S} s: {late.cmd[-1]}")
            codes.append(1)
        except Malformed as error:
            print(f"{path}: {error}")
            codes.append(2)
    done = [code for code in codes if code != SKIPPED]
    return max(done) if done else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
