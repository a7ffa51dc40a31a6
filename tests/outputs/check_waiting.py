#!/usr/bin/env python3
"""Who waits for an input that says nothing can leave at once.

Usage: check_waiting.py BORESCOPE

Every verb that reads files is given a FIFO that nobody writes to, one whose writer writes nothing, and standard
input that is such a pipe; where it may be read, /proc/kmsg, too. It waits, as a program at the other end may
begin at any time. SIGINT and SIGTERM end it within a second, by that signal, and nothing is left behind.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM)
MOST_SECONDS = 1
# Words behind the program; {input}, {good} (a recording that is there) and {folder}.
COMMANDS = (
    "info {input}",
    "summary {input}",
    "summary {good} {input}",
    "kernels,ops {input} -f csv -o {folder}/out.csv",
    "report {input} -o {folder}/out.html",
    "diff {good} {input}",
    "convert {input} -o {folder}/out.json",
    "query 'SELECT 1' {input}",
    "check {input} --baseline {good}",
    "map summary {input} -o {folder}/out.part",
    "reduce {input}",
    "chakra dump {input}",
    "link {input} {good} -o {folder}/out.json",
    "doctor {input}",
    "critical-path --load {input}",
    "kernels {good} --device-spec {input}",
)
TRACE = """{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 5,
"args": {"device": 0, "stream": 7, "correlation": 1}}]}"""


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def is_waiting(process, seconds=60):
    """Whether it sleeps, three times in a row, before it has ended."""
    times = 0
    end = time.monotonic() + seconds
    while times < 3 and process.poll() is None and time.monotonic() < end:
        times = times + 1 if state_of(process.pid) in "SD" else 0
        time.sleep(0.02)
    return process.poll() is None


def check(words, number, folder, stdin):
    """Faults, and whether the command waited at all: some refuse what is no file."""
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    process = subprocess.Popen(words, env=environment, cwd=folder, stdin=stdin, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE)
    if not is_waiting(process):
        message = process.communicate(timeout=60)[1].decode()
        fault = [] if process.returncode == 2 and message else [f"exit status {process.returncode}: {message}"]
        return fault, False
    begin = time.monotonic()
    process.send_signal(number)
    try:
        process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return ["did not end within a minute"], True
    seconds = time.monotonic() - begin
    faults = [f"ended after {seconds:.1f} s"] if seconds > MOST_SECONDS else []
    faults += [f"exit status {process.returncode}"] if process.returncode != -number else []
    left = [path.name for place in ("out", "tmp") for path in (folder / place).iterdir()]
    return faults + ([f"left behind: {left}"] if left else []), True


def inputs_in(folder):
    """Name, path, and what keeps it open."""
    silent = folder / "silent.json"
    os.mkfifo(folder / "nobody.json")
    os.mkfifo(silent)
    # For reading, too, so that opening it does not wait for a reader.
    yield "a FIFO without a writer", str(folder / "nobody.json"), None
    yield "a FIFO whose writer is silent", str(silent), os.open(silent, os.O_RDWR)
    yield "standard input that is silent", "-", os.open(silent, os.O_RDWR)
    if os.access("/proc/kmsg", os.R_OK):
        yield "/proc/kmsg", "/proc/kmsg", None


def main():
    program = str(Path(sys.argv[1]).resolve())
    faults, waited, refused = [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for place in ("out", "tmp"):
            (folder / place).mkdir()
        good = folder / "good.json"
        good.write_text(TRACE)
        for what, path, held in inputs_in(folder):
            for turn, command in enumerate(COMMANDS):
                words = [word.format(input=path, good=good, folder=folder / "out") for word in shlex.split(command)]
                number = SIGNALS[turn % len(SIGNALS)]
                problems, has_waited = check([program, *words], number, folder,
                                             held if path == "-" else subprocess.DEVNULL)
                waited, refused = waited + has_waited, refused + (not has_waited)
                faults += [f"{what}, {command}, {number.name}: {problem}" for problem in problems]
    if waited < len(COMMANDS):
        faults.append(f"only {waited} commands waited")
    print("\n".join(faults) or f"{waited} commands waited and ended at once, {refused} refused the input")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
