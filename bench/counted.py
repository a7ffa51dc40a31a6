"""What a command costs where no clock and no other program has a say: instructions and memory, by valgrind.

Both are counted on one thread. A count of instructions moves by about 0.2 % from run to run, since hash tables
are keyed by random numbers of each process, the peak of memory by less.
"""

import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path


# A heap for each thread would be room that nobody uses.
ONE_HEAP = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}


class Valgrind:
    """Runs one program under valgrind. Without its debug information, which valgrind would read each time."""

    def __init__(self, program):
        self._folder = tempfile.TemporaryDirectory()
        self._program = Path(self._folder.name) / "borescope"
        subprocess.run(["strip", "-o", self._program, program], check=True)
        self.fixed = self.instructions(["--version"])
        self._fixed_pages = self._peak_pages(["--version"])

    def _run(self, tool, words, statuses=(0,)):
        out = Path(self._folder.name) / "out"
        done = subprocess.run(["valgrind", f"--tool={tool[0]}", f"--{tool[0]}-out-file={out}", *tool[1:], self._program, *words],
                              capture_output=True, text=True, check=False, env={**os.environ, **ONE_HEAP})
        if done.returncode not in statuses:
            raise RuntimeError(f"{' '.join(map(str, words))}: exit status {done.returncode}: {done.stderr[-600:]}")
        return done.stderr, out.read_text()

    def instructions(self, words, statuses=(0,)):
        """Of the whole process."""
        talk, _ = self._run(["cachegrind", "--cache-sim=no"], words, statuses)
        return int(re.search(r"I +refs: +([\d,]+)", talk)[1].replace(",", ""))

    def peak_memory(self, words):
        """The most that was mapped at any moment, heap and large columns alike, beyond the program itself."""
        return self._peak_pages(words) - self._fixed_pages

    def _peak_pages(self, words):
        _, text = self._run(["massif", "--pages-as-heap=yes", "--peak-inaccuracy=0.0"], words)
        return max(int(size) for size in re.findall(r"mem_heap_B=(\d+)", text))


def missing_tools():
    return [name for name in ("valgrind", "strip") if shutil.which(name) is None]


def _version(words, pattern):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(pattern, done.stdout)
    return found[1] if found else "unknown"


def environment(build):
    """What else decides the counts: compiler, libraries, and the instructions that valgrind offers to programs."""
    compiler = re.search(r"CMAKE_CXX_COMPILER:\w+=(.*)", (build / "CMakeCache.txt").read_text())[1]
    libraries = {name: _version(["dpkg-query", "--show", "--showformat=${Version}", name], r"(.+)")
                 for name in ("libsimdjson-dev", "libfmt-dev", "libisal-dev", "libsqlite3-dev", "libc6")}
    flags = re.search(r"flags\s*:(.*)", Path("/proc/cpuinfo").read_text())
    return {
        "compiler": _version([compiler, "--version"], r"\S+ (.+)"),  # without its own name: c++ and g++ are one
        "valgrind": _version(["valgrind", "--version"], r"(.+)"),
        "processor": f"{platform.machine()}{' avx2' if flags and 'avx2' in flags[1].split() else ''}",
        **libraries,
    }
