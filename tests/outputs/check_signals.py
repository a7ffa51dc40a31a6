#!/usr/bin/env python3
"""A signal in the middle of writing leaves nothing behind.

Usage: check_signals.py BORESCOPE SYNTH

Every verb that writes files is started on a recording of a few megabytes and receives SIGINT, SIGTERM, SIGHUP,
SIGQUIT or SIGXCPU after delays that cover the whole run. Afterwards the folder holds what it held before, or the
complete output; TMPDIR is empty; and the process ended by the signal, or as usual if it was faster.
bench-kernel, whose program starts one more, receives each of the signals while both run: neither is left.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU)
DELAYS = 8  # of each command, from 0 to somewhat more than a whole run
OUTPUT = "out"
# name: words behind the program; {trace} and {folder}
COMMANDS = {
    "convert": ("convert", "{trace}", "{folder}/out.json.gz"),
    "convert rpd": ("convert", "{trace}", "{folder}/out.rpd"),
    "query": ("query", "SELECT * FROM ops", "{trace}", "-o", "{folder}/out.csv"),
    "overlay": ("critical-path", "{trace}", "--overlay", "{folder}/out.json", "-o", "/dev/null"),
    "save": ("critical-path", "{trace}", "--save", "{folder}/out.graph", "-o", "/dev/null"),
    "report": ("report", "{trace}", "-o", "{folder}/out.html"),
    "map": ("map", "critical-path", "{trace}", "-o", "{folder}/out.part"),
    "database": ("convert", "{database}", "{folder}/out.json"),
}


class Case:
    def __init__(self, program, words, folder, temporary):
        self.words = [program, *words, "-q"]
        self.folder = folder
        self.environment = {**os.environ, "TMPDIR": str(temporary)}
        self.temporary = temporary

    def start(self):
        # A core of SIGQUIT would be written beside the output.
        return subprocess.Popen(self.words, env=self.environment, cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, start_new_session=True,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))

    def whole_run(self):
        begin = time.monotonic()
        process = self.start()
        _, errors = process.communicate(timeout=120)
        if process.returncode != 0:
            sys.exit(f"{self.words}: exit status {process.returncode}: {errors.decode()}")
        files = {path.name: path.stat().st_size for path in self.folder.iterdir()}
        self.clear()
        return time.monotonic() - begin, files

    def clear(self):
        for path in self.folder.iterdir():
            path.unlink()

    def problems_after(self, number, delay, complete):
        process = self.start()
        time.sleep(delay)
        process.send_signal(number)
        process.communicate(timeout=120)
        left = {path.name: path.stat().st_size for path in self.folder.iterdir()}
        self.clear()
        problems = []
        if process.returncode not in (0, -number):
            problems.append(f"exit status {process.returncode}")
        if left not in ({}, complete):
            problems.append(f"left behind: {left}")
        if process.returncode == 0 and left != complete:
            problems.append(f"exit status 0, but there is {left}")
        folders = [path.name for path in self.temporary.iterdir()]
        for name in folders:
            shutil.rmtree(self.temporary / name)
        problems += [f"left in TMPDIR: {folders}"] if folders else []
        return process.returncode != 0, problems


def check(name, case):
    seconds, complete = case.whole_run()
    cut = 0
    faults = []
    for i in range(DELAYS):
        delay = 1.1 * seconds * i / (DELAYS - 1)
        number = SIGNALS[i % len(SIGNALS)]
        was_cut, problems = case.problems_after(number, delay, complete)
        cut += was_cut
        faults += [f"{name}, {number.name} after {1000 * delay:.0f} ms: {problem}" for problem in problems]
    if cut == 0:
        faults.append(f"{name}: no signal came in time, nothing was tested")
    return cut, faults


def with_journal(database):
    """A database that the reader copies first: its journal could be hot."""
    Path(f"{database}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))
    return database


def write_kernel(path, pids):
    """A benchmark that starts a process, writes both numbers, and never ends by itself, with a stand-in of torch."""
    (path.parent / "torch.py").write_text("class cuda:\n    is_available = staticmethod(lambda: True)\n")
    path.write_text(f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open({str(pids) + ".draft"!r}, "w") as file:
    file.write(f"{{os.getpid()}} {{child.pid}}")
os.rename({str(pids) + ".draft"!r}, {str(pids)!r})
time.sleep(600)
""")


def runs(pid):
    """Not when it ended and only its parent did not ask how: the state follows the name in parentheses."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def check_group(program, number, root):
    """The faults of bench-kernel that receives a signal while its program runs."""
    kernel, pids = root / "data" / "kernel.py", root / "data" / "pids"
    pids.unlink(missing_ok=True)
    write_kernel(kernel, pids)
    words = ("bench-kernel", str(kernel), "--python", sys.executable)
    case = Case(program, words, root / "out", root / "tmp")
    case.environment["PYTHONPATH"] = str(kernel.parent)
    process = case.start()
    if not wait_for(pids.exists):
        process.kill()
        return [f"bench-kernel: {process.communicate()[1].decode()}"]
    process.send_signal(number)
    process.wait(timeout=120)  # not until its streams close: what is left holds them
    children = [int(word) for word in pids.read_text().split()]
    problems = [] if process.returncode == -number else [f"exit status {process.returncode}"]
    if not wait_for(lambda: not any(runs(pid) for pid in children), 10):
        problems.append("its program or what that started still runs")
    for pid in children:
        if runs(pid):
            os.kill(pid, signal.SIGKILL)
    process.stderr.close()
    left = [path.name for folder in ("out", "tmp") for path in (root / folder).iterdir()]
    problems += [f"left behind: {left}"] if left else []
    return [f"bench-kernel, {number.name}: {problem}" for problem in problems]


def main():
    program, synth = (str(Path(word).resolve()) for word in sys.argv[1:3])
    faults = []
    cut = 0
    with tempfile.TemporaryDirectory() as root:
        root = Path(root)
        for name in ("data", "out", "tmp"):
            (root / name).mkdir()
        made = subprocess.run([synth, "--out", str(root / "data"), "--steps", "40", "--layers", "24"],
                              capture_output=True, text=True)
        if made.returncode != 0:
            sys.exit(made.stderr)
        trace = next(path for path in (root / "data").iterdir() if ".json" in path.name and "truth" not in path.name)
        database = root / "data" / "trace.rpd"
        subprocess.run([program, "convert", str(trace), str(database), "-q"], check=True)
        with_journal(database)
        for name, words in COMMANDS.items():
            places = {"trace": trace, "folder": root / "out", "database": database}
            words = [word.format(**places) for word in words]
            number, problems = check(name, Case(program, words, root / "out", root / "tmp"))
            cut += number
            faults += problems
        for number in SIGNALS:
            faults += check_group(program, number, root)
    print("\n".join(faults) or
          f"{len(COMMANDS)} commands, {cut} of {DELAYS * len(COMMANDS)} ended by a signal; "
          f"bench-kernel: {len(SIGNALS)} signals")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
