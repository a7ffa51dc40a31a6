#!/usr/bin/env python3
"""Under --memory-limit, columns that do not fit lie in files, and no answer changes.

    check_spill.py --borescope BIN --synth BIN [--size 64MB] [--limit 48MiB] [--only VERB]

Every analysis is asked twice about one recording whose columns need more than the limit: without it, and with it in
a folder on a disk. Status, output and notes must be the same, byte for byte, unless the program says that memory does
not suffice, which some few may. While they run, the memory that the process has for itself (VmData, as bounded by
RLIMIT_DATA, and RssAnon of Linux) must stay below what it had at its start plus the limit and a sixteenth, and nothing
may be left in the folder. A folder without room is named in the error.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MIB = 1 << 20
LOOKS_S = 0.001
# They compare two runs, or need what the recording does not have: asked as they are, they say so in both cases.
MAY_BE_REFUSED = {"events", "timeline", "stacks", "flame", "whatif", "variance"}
MUST_ANSWER = ("summary", "breakdown", "kernels", "ops", "critical-path")


def memory_of(pid: int) -> dict[str, int]:
    """VmData and RssAnon in bytes; empty once the process has ended."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return {}
    return {name: int(kilobytes) * 1024 for name, kilobytes in re.findall(r"(VmData|RssAnon):\s+(\d+) kB", text)}


def files_of(pid: int, folder: Path) -> int:
    """How many files without a name the process has open in `folder`."""
    count = 0
    try:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            count += os.readlink(link).startswith(str(folder))
    except OSError:  # it has ended, or closed one
        pass
    return count


class Run:
    """A finished process: its status, what it wrote, the most memory it had for itself (bytes), and files of columns."""

    def __init__(self, words: list[str], folder: Path):
        self.most = {"VmData": 0, "RssAnon": 0}
        self.files = 0
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(words, stdout=out, stderr=errors, env={**os.environ, "TMPDIR": str(folder)})
            while process.poll() is None:
                for name, size in memory_of(process.pid).items():
                    self.most[name] = max(self.most[name], size)
                self.files = max(self.files, files_of(process.pid, folder))
                time.sleep(LOOKS_S)
            out.seek(0)
            errors.seek(0)
            self.output, self.errors = out.read(), errors.read().decode()
        self.status = process.returncode


def size_of(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(MiB|MB)", text).groups()
    return int(number) * (MIB if unit == "MiB" else 1_000_000)


def memory_at_start(borescope: str) -> dict[str, int]:
    """Of a process that waits for its input."""
    with subprocess.Popen([borescope, "info", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:
        time.sleep(0.5)
        start = memory_of(process.pid)
        process.stdin.close()
    return start


def analyses(borescope: str) -> list[str]:
    listed = subprocess.run([borescope, "list", "-f", "csv"], check=True, capture_output=True, text=True).stdout
    rows = [line.split(",") for line in listed.splitlines()]
    return [row[1] for row in rows if row[0] == "verb"]


def faults_of(verb: str, arguments: argparse.Namespace, trace: Path, folder: Path, start: dict[str, int]) -> list[str]:
    words = [arguments.borescope, verb, str(trace), "-q", "-f", "csv", "--threads", "2"]
    words += ["--step", "3"] if verb == "critical-path" else []
    plain = Run(words, folder)
    limited = Run([*words, "--memory-limit", arguments.limit], folder)
    faults = []
    if limited.status == 2 and "--memory-limit" in limited.errors and plain.status == 0:
        print(f"{verb}: refused: {limited.errors.strip()}")
        faults += [f"{verb}: refused"] if verb not in MAY_BE_REFUSED else []
    elif (limited.status, limited.output, limited.errors) != (plain.status, plain.output, plain.errors):
        faults.append(f"{verb}: another answer: {limited.errors}")
    for name, most in limited.most.items():
        room = start[name] + size_of(arguments.limit) * 17 // 16 + MIB
        faults += [f"{verb}: {name} {most / MIB:.1f} MiB, allowed {room / MIB:.1f}"] if most > room else []
    faults += [f"{verb}: no columns in files"] if verb in MUST_ANSWER and limited.files == 0 else []
    faults += [f"{verb}: left {left}" for left in folder.iterdir()]
    print(f"{verb}: status {limited.status}, VmData {limited.most['VmData'] / MIB:.1f} MiB of "
          f"{plain.most['VmData'] / MIB:.1f}, RssAnon {limited.most['RssAnon'] / MIB:.1f} MiB of "
          f"{plain.most['RssAnon'] / MIB:.1f}, {limited.files} files", flush=True)
    return faults


def faults_without_room(arguments: argparse.Namespace, trace: Path) -> list[str]:
    """In a folder that is no disk the limit is kept as well, by a refusal."""
    words = [arguments.borescope, "summary", str(trace), "-q", "-f", "csv", "--memory-limit", "8MiB"]
    refused = Run(words, Path("/dev/shm"))
    is_named = refused.status == 2 and "--memory-limit" in refused.errors
    return [] if is_named else [f"without a disk: {refused.status} {refused.errors}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--size", default="64MB")
    parser.add_argument("--limit", default="48MiB")
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    faults = []
    # Where the sources are built: a temporary folder may be memory.
    with tempfile.TemporaryDirectory(dir=Path(arguments.borescope).resolve().parent) as name:
        made, folder = Path(name) / "made", Path(name) / "spill"
        folder.mkdir()
        subprocess.run([arguments.synth, "--out", str(made), "--size", arguments.size, "--with-shapes"], check=True,
                       capture_output=True)
        trace = made / "rank-0.json"
        start = memory_at_start(arguments.borescope)
        verbs = [verb for verb in analyses(arguments.borescope) if not arguments.only or verb in arguments.only]
        missing = [] if arguments.only else [verb for verb in MUST_ANSWER if verb not in verbs]
        faults += [f"{verb}: no such verb" for verb in missing]
        for verb in verbs:
            faults += faults_of(verb, arguments, trace, folder, start)
        faults += faults_without_room(arguments, trace)
    print("\n".join(faults) or "every answer was the same, within the limit")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
