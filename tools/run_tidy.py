#!/usr/bin/env python3
"""Runs clang-tidy over the product code, several files at once, and skips what it has seen clean.

usage: run_tidy.py BUILD_FOLDER [--jobs N] [--all] [--within SECONDS]

A file was seen clean when nothing that decides the findings differs from an earlier clean run: its
text and that of every header of ours it includes, .clang-tidy, the compile command, the versions of
clang-tidy and of the system's packages. The names of such runs lie, as empty files, in
$XDG_CACHE_HOME/borescope/tidy (else ~/.cache); --all ignores them. Files that the newest commits
changed come first, newest first, then the others from another place after each commit, so that runs
that may only take so long see what changed, and all else in turns; how many files it did not reach
is said. Exits with 1 on findings, else with 77 where it did not reach all that changed.
"""

import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

CLANG_TIDY = "clang-tidy-19"
SKIPPED = 77  # exit status: no findings, but not all that changed was looked at
NEWEST_COMMITS = 40
FILES_A_TURN = 97  # by which the place moves where a turn begins with each commit
INCLUDE = re.compile(rb'^#include "(borescope/[^"]+)"', re.MULTILINE)


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "borescope" / "tidy"


@functools.cache
def text_and_includes(path):
    text = path.read_bytes()
    return text, sorted(set(INCLUDE.findall(text)))


def closure(path, root):
    """The file and every header of ours that it reaches, sorted."""
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in seen or not current.exists():
            continue
        seen.add(current)
        waiting += [root / folder / name.decode() for name in text_and_includes(current)[1]
                    for folder in ("src", "include")]
    return sorted(seen)


@functools.cache
def environment(root):
    """What findings depend on besides the sources."""
    packages = pathlib.Path("/var/lib/dpkg/status")
    version = subprocess.run([CLANG_TIDY, "--version"], capture_output=True, check=True).stdout
    parts = [version, (root / ".clang-tidy").read_bytes(), pathlib.Path(__file__).read_bytes()]
    if packages.exists():
        versions = re.findall(rb"^(?:Package|Version): .*$", packages.read_bytes(), re.MULTILINE)
        parts.append(b"\n".join(versions))
    return hashlib.sha256(b"\0".join(parts)).digest()


def key_of(entry, root):
    digest = hashlib.sha256(environment(root))
    digest.update(entry["command"].replace(str(root), "").encode())
    for path in closure(pathlib.Path(entry["file"]), root):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + text_and_includes(path)[0])
    return digest.hexdigest()


def tidy(entry, folder):
    """The findings' text; empty when the file is clean."""
    done = subprocess.run([CLANG_TIDY, "-quiet", "-p", str(folder), entry["file"]],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def remember(key):
    cache_folder().mkdir(parents=True, exist_ok=True)
    (cache_folder() / key).touch()


def in_turns(entries, root):
    """Those of the newest commits by commit, then the others from another place after each commit;
    and how many the first are."""
    def git(*arguments):
        return subprocess.run(["git", "-C", str(root), *arguments],
                              capture_output=True, text=True).stdout
    names = git("log", f"--max-count={NEWEST_COMMITS}", "--format=", "--name-only").split("\n")
    ranks = {}
    for name in names:
        ranks.setdefault(str(root / name), len(ranks))
    changed = sorted((e for e in entries if e["file"] in ranks), key=lambda e: ranks[e["file"]])
    others = [e for e in entries if e["file"] not in ranks]
    turn = int(git("rev-list", "--count", "HEAD").strip() or 0) * FILES_A_TURN
    start = turn % len(others) if others else 0
    return changed + others[start:] + others[:start], len(changed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--all", action="store_true", help="also what was seen clean before")
    parser.add_argument("--within", type=float, default=float("inf"), metavar="SECONDS",
                        help="begin no further file after so many seconds")
    arguments = parser.parse_args()

    root = pathlib.Path(__file__).resolve().parent.parent
    commands = json.loads((arguments.build / "compile_commands.json").read_text())
    entries = [e for e in commands if e["file"].startswith(f"{root}/src/borescope/")]
    keys = {e["file"]: key_of(e, root) for e in entries}
    waiting, changed = in_turns([e for e in entries if arguments.all or
                                 not (cache_folder() / keys[e["file"]]).exists()], root)
    end = time.monotonic() + arguments.within

    def tidy_in_time(entry):
        return tidy(entry, arguments.build) if time.monotonic() < end else None

    failures = unreached = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for entry, findings in zip(waiting, pool.map(tidy_in_time, waiting)):
            if findings is None:
                unreached += 1
            elif findings:
                failures += 1
                print(findings, end="")
            else:
                remember(keys[entry["file"]])
    print(f"clang-tidy: {len(entries)} files, {len(entries) - len(waiting)} seen clean before, "
          f"{changed} changed lately, {unreached} left for other turns, {failures} with findings")
    return 1 if failures or not entries else SKIPPED if unreached > len(waiting) - changed else 0


if __name__ == "__main__":
    sys.exit(main())
