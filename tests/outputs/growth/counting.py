"""The work that a command does: processor time, as few machines let programs count instructions, and what it writes."""

import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

LONGEST_S = 60  # of processor time


@dataclass(frozen=True)
class Work:
    seconds: float  # of processors, without those of the system
    written: int    # bytes

    def least(self, other: "Work") -> "Work":
        return replace(self, seconds=min(self.seconds, other.seconds))

    def most(self, other: "Work") -> "Work":
        return replace(self, seconds=max(self.seconds, other.seconds))


def work_of(command: str) -> Work:
    """Of one run. Where it may not answer, which is its right, its work counts all the same."""
    words = ["sh", "-c", f"ulimit -t {LONGEST_S}; exec {command}"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 2):
            errors.seek(0)
            said = errors.read(300).decode(errors="replace")
            raise RuntimeError(f"{command}: status {child.returncode}: {said}")
        written = out.seek(0, os.SEEK_END)
    return Work(usage.ru_utime, written + size_of_files(command))


def size_of_files(command: str) -> int:
    """Of those that the command wrote, which are removed."""
    paths = [Path(word) for word in shlex.split(command) if ".out." in word]
    size = sum(path.stat().st_size for path in paths if path.exists())
    for path in paths:
        path.unlink(missing_ok=True)
    return size
