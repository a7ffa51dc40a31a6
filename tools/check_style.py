#!/usr/bin/env python3
"""Checks every file of the repository for what no reviewer should have to look for.

    check_style.py           size, tabs, trailing blanks, last newline, machine paths, tables that inputs slow,
                             types of one name in two headers
    check_style.py --format  clang-format 19 over all C++ files (exit 77 if it is not installed)
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPPED = 77  # ctest SKIP_RETURN_CODE
MAX_BYTES = 500 * 1024
# Recorded bytes: kept as they are, but neither large nor tied to a machine.
RECORDED = ("tests/golden/", "tests/data/", "fuzz/corpus/")
# Where somebody's checkout or home lies: such a path works nowhere else.
MACHINE_PATH = re.compile(rb"(?<![\w.$}/-])/(?:home|root|work|Users|mnt)/[\w.-]+")

# Tables whose hashes anyone can compute: an input could fill one slot of them.
PLAIN_TABLE = re.compile(rb"\bstd::(?:unordered_\w+|hash)\b|# *include <unordered_")
# Questions to the file system whose answer is "nothing is there" where the system refuses to tell (a disk that
# fails, no memory), or that end the program then.
DEAF_QUESTION = re.compile(rb"\b(?:fs|std::filesystem)::(?:exists|is_\w+|equivalent|file_size|status|symlink_status|"
                           rb"(?:recursive_)?directory_iterator)\b(?! *[&>])|\baccess\([^;]*\bF_OK\b")
# Where the error of such a question is looked at.
HEARING = {
    "src/borescope/base/io/",
    "src/borescope/cli/options/values.cc",  # TypeOfPath, for the command line, which has public headers alone
    "src/borescope/cli/launch/understand_launch.cc",  # an error there
    "src/borescope/recorder/run_folder.cc",  # what cannot be looked at counts as something
    "src/borescope/cli/commands/partial_commands.cc",  # the size of what was just written, for a hint
}
# Types of a namespace, not within another type.
TYPE = re.compile(r"^(?:struct|class|enum class) (\w+)(?: final)?(?: : [^{;]*)? \{", re.MULTILINE)
KEYED_TABLES = "src/borescope/base/hash/hash_tables.h"


def repository_files() -> list[Path]:
    """Tracked and new files; without git (a source archive), all files but build folders."""
    try:
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
        files = {ROOT / name for name in listed.decode().split("\0") if name}
    except (OSError, subprocess.CalledProcessError):
        folders = [p for p in ROOT.iterdir() if p.name not in {".git", "build"}]
        files = {p for top in folders for p in [top, *top.rglob("*")]}
    return sorted(p for p in files if p.is_file() and not p.is_symlink())


def line_of(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


def check(name: str, data: bytes) -> list[str]:
    """The findings in one file; name is relative to the repository root."""
    findings = []
    if len(data) > MAX_BYTES:
        findings.append(f"{name}: {len(data)} bytes, more than {MAX_BYTES}")
    if b"\0" in data[:8192]:
        return findings  # not text
    for match in MACHINE_PATH.finditer(data):
        findings.append(f"{name}:{line_of(data, match.start())}: path {match[0].decode()}")
    if name.startswith(RECORDED):
        return findings
    if name.startswith("src/borescope/") and name.endswith((".h", ".cc")) and name != KEYED_TABLES:
        findings += [f"{name}:{line_of(data, match.start())}: {match[0].decode()}: inputs can make it "
                     "slow; take HashMap or HashSet (base/hash/hash_tables.h)"
                     for match in PLAIN_TABLE.finditer(data)]
    if name.startswith("src/borescope/") and not name.endswith("_test.cc") and not name.startswith(tuple(HEARING)):
        findings += [f"{name}:{line_of(data, match.start())}: {match[0].decode()}: takes a refusal of the system "
                     "for nothing; take KindOf, SizeOfFile, NamesIn (base/io/paths.h)"
                     for match in DEAF_QUESTION.finditer(data)]
    for pattern, what in ((rb"\t", "tab"), (rb"[ \r]+$", "trailing blank")):
        match = re.search(pattern, data, re.MULTILINE)
        if match:
            findings.append(f"{name}:{line_of(data, match.start())}: {what}")
    if data and (not data.endswith(b"\n") or data.endswith(b"\n\n")):
        findings.append(f"{name}: must end in exactly one newline")
    return findings


def check_type_names() -> list[str]:
    """Types of one name in two headers of the library: no header sees both, and the linker takes one."""
    first: dict[str, str] = {}
    findings = []
    for path in sorted((ROOT / "src/borescope").glob("**/*.h")):
        text = path.read_text()
        namespace = re.search(r"^namespace ([\w:]+) \{", text, re.MULTILINE)
        for match in TYPE.finditer(text):
            name = f"{namespace[1] if namespace else ''}::{match[1]}"
            here = f"{path.relative_to(ROOT)}:{line_of(text.encode(), len(text[:match.start()].encode()))}"
            if name in first:
                findings.append(f"{here}: {match[1]} is a type in {first[name]}, too; give one another name")
            first.setdefault(name, here)
    return findings


def check_all() -> int:
    files = repository_files()
    findings = check_type_names()
    for path in files:
        findings += check(path.relative_to(ROOT).as_posix(), path.read_bytes())
    print("\n".join([*findings, f"{len(files)} files, {len(findings)} findings"]))
    return 1 if findings else 0


def check_format() -> int:
    tool = shutil.which("clang-format-19")
    if tool is None:
        print("skipped: clang-format-19 is not installed (scripts/setup --dev)")
        return SKIPPED
    files = [str(p) for p in repository_files() if p.suffix in {".h", ".cc"}]
    if not files:
        return 0
    return subprocess.run([tool, "--dry-run", "-Werror", *files], check=False).returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the form of the repository's files.")
    parser.add_argument("--format", action="store_true", help="run clang-format instead")
    return check_format() if parser.parse_args().format else check_all()


if __name__ == "__main__":
    sys.exit(main())
