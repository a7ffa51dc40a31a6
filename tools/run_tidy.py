#!/usr/bin/env python3
"""Runs clang-tidy over the product code, several files at once, and skips what it has seen clean.

usage: run_tidy.py BUILD_FOLDER [--jobs N] [--all] [--within SECONDS]

A file was seen clean when nothing that decides the findings differs from an earlier clean run: its
text and that of every header of ours it includes, .clang-tidy, the compile command, the versions of
clang-tidy and of the system's packages. The names of such runs lie, as empty files, in
$XDG_CACHE_HOME/borescope/tidy (else ~/.cache); --all ignores them. Files come in the order of their
newest commit, newest first, so that a run that may only take so long sees what changed; how many
files it did not reach is said. Exits with 1 on findings, else with 77 where it did not reach all.
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
SKIPPED = 77  # exit status: no findings, but not all was looked at
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


def newest_first(entries, root):
    """By the last commit that touched the file; in their order where there is no history."""
    log = subprocess.run(["git", "-C", str(root), "log", "--format=", "--name-only"],
                         capture_output=True, text=True)
    ranks = {}
    for name in log.stdout.split("\n"):
        ranks.setdefault(str(root / name), len(ranks))
    return sorted(entries, key=lambda entry: ranks.get(entry["file"], len(ranks)))


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
    waiting = newest_first([e for e in entries if arguments.all or
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
          f"{unreached} not reached in time, {failures} with findings")
    return 1 if failures or not entries else SKIPPED if unreached else 0


if __name__ == "__main__":
    sys.exit(main())
