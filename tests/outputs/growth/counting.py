"""The work that a command does: processor time, as few machines let programs count instructions, and what it writes."""

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

LONGEST_S = 60  # of processor time


@dataclass(frozen=True)
class Work:
    seconds: float  # of processors, without those of the system
    written: int    # bytes
    refused: bool = False

    def least(self, other: "Work") -> "Work":
        return replace(self, seconds=min(self.seconds, other.seconds))

    def most(self, other: "Work") -> "Work":
        return replace(self, seconds=max(self.seconds, other.seconds))


def work_of(command: str) -> Work:
    """Of one run. It may refuse to answer, which takes work, too; but not because the command is wrong."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(["sh", "-c", f"ulimit -t {LONGEST_S}; exec {command}"],
                                 stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
        # A statement may be refused, for its length say; other wrong words are a fault of the test.
        is_wrong = "\nTry: borescope" in said and not said.startswith("borescope: query: ")
        if child.returncode not in (0, 2) or is_wrong:
            raise RuntimeError(f"{command}: status {child.returncode}: {said[:300]}")
        written = out.seek(0, os.SEEK_END)
    return Work(usage.ru_utime, written + size_of_files(command), child.returncode == 2)


def size_of_files(command: str) -> int:
    """Of those that the command wrote, which are removed."""
    paths = [Path(word) for word in re.findall(r"\S+\.out\.\S+", command)]
    size = sum(path.stat().st_size for path in paths if path.exists())
    for path in paths:
        path.unlink(missing_ok=True)
    return size
