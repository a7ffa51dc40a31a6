#!/usr/bin/env python3
"""Makes single calls of the system fail under the program (fault_shim.cc) and looks at what it says.

Whatever fails, a command gives the bytes that it gives otherwise, or it ends with exit status 2, a
message on stderr, and outputs that are absent, as they were before, or whole. Of several files it may leave out
one, where it says why: in the words of the system, or as a file that could not be read. Anything else (a signal,
another status, other bytes, a hang) is a failure of the program, printed with the line that repeats it.
`open` is asked by a client, which gets all of the file or knows that it has not. A program under `record` runs
as it would without: it makes all its ranges, and its exit status is that of the command. Calls fail in the
launcher or in the program. In Python an error is an exception; a server for agents answers on.

  inject.py --borescope PATH --shim PATH [--programs DIR --library FILE] [--python EXECUTABLE] [--runs N]
            [--turn K] [--only TEXT] [--kind KIND] [--all] [--plain | --twins]

--programs are those of tests/record, --library is libborescope_record.so; an interpreter with the package
runs what Python and agents do. Without these such commands are left out.

N runs are drawn over all commands, kinds of call and places; the turn decides which, so that turn after
turn tries other places: a number, or "commits", the number of commits so far. --all tries every place.

Commands that only read, compute and write are loaded once: the shim forks a process for each fault where main()
begins (FAULT_SERVER). --plain starts every process anew; --twins does both, and fails where a fault ends otherwise.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import errno
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHORT = "short"  # not an error, less than was asked for
# What each kind of call fails with: its worst usual reasons.
REASONS = {
    "memory": [errno.ENOMEM],
    "read": [errno.EIO, SHORT],
    "write": [errno.ENOSPC, errno.EIO, SHORT],
    "open": [errno.EMFILE, errno.EACCES, errno.EIO],
    "map": [errno.ENOMEM],
    "rename": [errno.EIO, errno.EACCES],
    "sync": [errno.EIO],
    "truncate": [errno.ENOSPC],
    "stat": [errno.EIO, errno.ENOMEM],
    "close": [errno.EIO],
    "folder": [errno.ENOSPC],
    "remove": [errno.EIO],
    "seek": [errno.EIO],
    "random": [errno.ENOSYS],
    "lock": [errno.ENOLCK],
    "thread": [errno.EAGAIN],
    "list": [errno.EIO],
    "time": [errno.EPERM],
    "access": [errno.EIO],
}
TIMEOUT_S = 20
SETTLED_S = 2.1  # a file that was changed a shorter time ago is not cached, which takes other calls
# Libraries that do not survive a failure of what they call, or draw other letters where a font cannot be
# read; SECURITY.md says so. A failure that begins in one of them is counted apart.
NOT_OURS = ("libre2", "librsvg", "libfontconfig", "libfreetype", "libpango", "libglib", "libgobject", "libcairo",
            "libharfbuzz", "libgdk_pixbuf")
# What others say when they end the process for want of memory: Rust below the package mcp, and nanobind.
LAST_WORDS = (b"RUST_BACKTRACE", b"Critical nanobind error: nanobind: malloc() failed")
# And where those that draw pictures in pixels loop for ever.
LOOPS = {("breakdown {in}/kineto.json -f png -o {out}/breakdown.png", kind) for kind in ("memory", "thread")}


@dataclasses.dataclass(frozen=True)
class Command:
    words: str  # {in} is the folder of inputs, {out} a fresh one for outputs, in which it runs

    placed = ""  # a folder of {in} that lies in {out} before it starts
    is_forked = True  # one process is loaded for many faults

    def argv(self, harness, _faults):
        return [harness.borescope, *(word.replace("{in}", str(harness.inputs)).replace("{out}", ".")
                                     for word in shlex.split(self.words))]

    def environment(self, harness, faults):
        return {"LD_PRELOAD": harness.shim} | faults

    def can_run(self, _harness):
        return True

    def talk(self, process):
        """What it says on stdout and stderr."""
        return process.communicate(timeout=TIMEOUT_S)

    def failure_of(self, fault, sound, outcome):
        return failure_of(fault, sound, outcome)

    def is_ours(self, frames):
        return not any(library in frames for library in NOT_OURS)


class Again(Command):
    """A command that finds what it kept the last time."""

    placed = "cache"


class Served(Command):
    """`open`, and a client that fetches what it offers."""

    is_forked = False

    def talk(self, process):
        address = process.stdout.readline().decode()
        port, said = b"", []
        while address and not port:
            said.append(process.stderr.readline())
            if not said[-1]:
                break
            port = said[-1].partition(b"127.0.0.1:")[2].partition(b" ")[0] if b"ssh -L" in said[-1] else b""
        path = address.rpartition(":9001")[2].strip()
        content = self.fetched(int(port), path) if port.isdigit() else b""
        rest, stderr = process.communicate(timeout=TIMEOUT_S)
        return b"served: " + content + rest, b"".join(said) + stderr

    @staticmethod
    def fetched(port, path):
        """Nothing of an answer that is shorter than its head says: a browser drops it."""
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_S)
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.read() if answer.status == 200 else b""
        except (OSError, http.client.HTTPException):
            return b""

    def failure_of(self, fault, sound, outcome):
        if outcome.status == 2 and outcome.stderr.strip():
            return ""
        if outcome.status == 0 and outcome.stdout == b"served: ":
            return "exit status 0, and nobody got the trace"
        return failure_of(fault, sound, outcome)


@dataclasses.dataclass(frozen=True)
class Recorded(Command):
    """A program under `record`. Whatever fails, it makes its ranges, and its status is that of the command;
    or it was not started, and a message says why."""

    in_program: bool = False
    is_forked = False
    RANGES = 200

    def argv(self, harness, faults):
        program = [str(harness.programs / "ranges"), *shlex.split(self.words), str(self.RANGES), "counted"]
        if self.in_program:
            # From when on the program says: what it needs itself is there.
            variables = {"LD_PRELOAD": harness.shim, "FAULT_ARMED": "later"} | faults
            set_variables = [f"{name}={value}" for name, value in variables.items()]
            program = ["/usr/bin/env", *set_variables, *program]
        return [harness.borescope, "record", "-o", "x", "--", *program]

    def environment(self, harness, faults):
        own = {"BORESCOPE_RECORD_LIBRARY": str(harness.library)}
        return own if self.in_program else own | {"LD_PRELOAD": harness.shim} | faults

    def can_run(self, harness):
        return bool(harness.programs and harness.library)

    def failure_of(self, fault, sound, outcome):
        if outcome.status == "hang":
            return f"still runs after {TIMEOUT_S} s"
        counted = outcome.files.get("counted", b"")
        if not counted and not self.in_program:
            is_said = outcome.status == 2 and outcome.stderr.strip() or fault.kind == "write" and fault.lasts
            return "" if is_said else f"the program was not started, status {outcome.status}"
        if counted != sound.files["counted"]:
            return f"the program made {int.from_bytes(counted[:8], sys.byteorder)} ranges of {self.RANGES}"
        return "" if outcome.status == sound.status else f"status {outcome.status} in place of {sound.status}"


@dataclasses.dataclass(frozen=True)
class Script(Command):
    """Python: words are a name, `script` is what it runs once calls are counted, after `before`."""

    before: str = ""
    script: str = ""
    said: str = ""  # to standard input
    is_forked = False

    def argv(self, harness, _faults):
        arm = "import ctypes; ctypes.CDLL(None).fault_arm()"
        text = "\n".join(["import sys", self.before, arm, self.script])
        return [harness.python, "-c", text.replace("{in}", str(harness.inputs))]

    def environment(self, harness, faults):
        return {"LD_PRELOAD": harness.shim, "FAULT_ARMED": "later"} | faults

    def can_run(self, harness):
        return bool(harness.python)

    def talk(self, process):
        """The input ends once every message with an id is answered: a server answers nothing more after that."""
        if not self.said:
            return process.communicate(None, timeout=TIMEOUT_S)
        lines, stderr = [], []
        awaited = self.said.count('"id"')

        def hear():
            while len(lines) < awaited and (line := process.stdout.readline()):
                lines.append(line)

        hearing = threading.Thread(target=hear, daemon=True)
        noting = threading.Thread(target=lambda: stderr.append(process.stderr.read()), daemon=True)
        hearing.start()
        noting.start()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(self.said.encode())
            process.stdin.flush()
        hearing.join(TIMEOUT_S)
        if hearing.is_alive():
            raise subprocess.TimeoutExpired(process.args, TIMEOUT_S)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        rest = process.stdout.read()
        process.wait(TIMEOUT_S)
        noting.join(TIMEOUT_S)
        return b"".join(lines) + rest, b"".join(stderr)

    def failure_of(self, fault, sound, outcome):
        if outcome.status == "hang":
            return f"still runs after {TIMEOUT_S} s"
        if outcome.status < 0:
            return f"ended by {signal.Signals(-outcome.status).name}"
        if outcome.status != 0:
            is_said = outcome.stderr.strip() or fault.kind == "write" and fault.lasts
            return "" if is_said else f"exit status {outcome.status} without a message"
        if self.said:  # answers may be errors, and come in the order in which they are ready
            known = set(sound.stdout.splitlines())
            wrong = [line for line in outcome.stdout.splitlines()
                     if line not in known and b'"isError":true' not in line and b'"error"' not in line]
            return f"another answer: {wrong[0][:200]}" if wrong else ""
        if may_lack_files(self) and outcome.stderr.strip() != sound.stderr.strip():
            return ""
        return "" if outcome.stdout == sound.stdout else "other bytes on stdout"

    def is_ours(self, frames):
        # The interpreter has its own ways to end where it cannot go on.
        return "borescope" in frames and super().is_ours(frames)


# Small inputs of every format, every way out, every kind of work.
COMMANDS = [Command(words) for words in (
    "info {in}/small.json.gz",
    "info {in}/small.json.zst -f json",
    "summary {in}/small.json.gz",
    "summary --price {in}/kineto.json",
    "kernels,ops,breakdown,steps {in}/run -f json",
    "summary {in}/run --threads 2",
    "critical-path {in}/kineto.json -f csv",
    "whatif {in}/run -f csv",
    "waits,stragglers,collectives {in}/run -f csv",
    "roofline {in}/kineto.json -f csv",
    "variance,queue,idle,gaps,overlap {in}/kineto.json -f csv",
    "memory {in}/memory.json -f csv",
    "doctor {in}/nsys.sqlite",
    "summary {in}/nsys.sqlite",
    "kernels {in}/nvprof.nvvp -f csv",
    "kernels {in}/trace.rpd -f csv",
    "kernels {in}/rocpd.db -f csv",
    "info {in}/host.bsl",
    "summary {in}/device.bsl -f json",
    "stacks,flame {in}/kineto.json -f json",
    "timeline {in}/kineto.json -f json",
    "diff {in}/small.json.gz {in}/kineto.json -f csv",
    "report {in}/run -o {out}/page.html",
    "report {in}/run --markdown {out}/page.md --card {out}/card.svg",
    "kernels {in}/kineto.json -f csv -o {out}/kernels.csv",
    "breakdown {in}/kineto.json -f svg -o {out}/breakdown.svg",
    "breakdown {in}/kineto.json -f png -o {out}/breakdown.png",
    "convert {in}/kineto.json -o {out}/a.json.gz",
    "convert {in}/kineto.json -o {out}/a.pftrace",
    "convert {in}/kineto.json -o {out}/a.rpd",
    "convert {in}/kineto.json -o {out}/a.json --scrub",
    "query 'SELECT name, count(*) FROM device_events GROUP BY name' {in}/run",
    "check {in}/kineto.json --save-baseline {out}/baseline.json",
    "map summary {in}/run -o {out}/part.bsp",
    "kernels {in}/kineto.json --cache {out}/cache -f csv",
    "chakra dump {in}/all_types.et",
    "chakra convert {in}/linked.json -o {out}/x.et",
    "postmortem {in}/job -f json",
    "info {in}/job",
    "doctor {in}/job -f csv",
    "memory {in}/job/snapshot_rank0.pickle -f csv",
    "query 'SELECT * FROM postmortem_files; SELECT count(*) FROM kernels' {in}/job",
    "query 'SELECT file, line, text FROM log_findings' {in}/job",
    "counters {in}/counter_collection.csv -f csv",
    "counters {in}/counter_collection.csv {in}/second_pass.csv -f csv",
    "summary {in}/mixed -f csv",
    "info {in}/mixed",
    "map check {in}/run -o {out}/part.bsp",
    "query 'SELECT file, line, text FROM log_findings' {in}/mixed_job",
    "info {in}/one_process.ncu-rep -f json",
    "reduce {in}/part.bsp -f csv",
    "convert {in}/kineto.json -o {out}/a.csv",
    "chakra check {in}/all_types.et",
    "list",
    "help summary",
    "launch slurm summary {in}/run -o parts --shards 2",
    "launch k8s summary /data/run -o /data/parts --shards 2 --image i --volume c:/data",
)]
COMMANDS += [Again("ops {in}/kineto.json --cache {out}/cache -f csv")]
COMMANDS += [Served(words) for words in (
    "open {in}/kineto.json --port 0 --no-browser --timeout 5",
    "open {in}/small.json.gz --as json --port 0 --no-browser --timeout 5",
    "open {in}/trace.rpd --port 0 --no-browser --timeout 5",
)]
COMMANDS += [Recorded(words, in_program) for words in ("exit 1", "exec 1", "fork 1")
             for in_program in (False, True)]
_SAID = [
    {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                 "clientInfo": {"name": "test", "version": "1"}}},
    {"method": "notifications/initialized"},
    *({"id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
      for number, (name, arguments) in enumerate((
          ("open_run", {"path": "run"}), ("ask", {"path": "run", "verb": "summary"}),
          ("ask", {"path": "kineto.json", "verb": "kernels"}),
          ("sql", {"path": "run", "statement": "SELECT count(*) FROM ops"})), 1)),
]
COMMANDS += [
    Script("python: import", script="import borescope; print(borescope.__version__)"),
    Script("python: read", before="import borescope",
           script="run = borescope.open('{in}/run')\nprint(run.summary(), run.kernels(), run.ops())"),
    Script("python: formats", before="import borescope",
           script="for path in ('small.json.gz', 'nsys.sqlite', 'trace.rpd', 'host.bsl'):\n"
                  "    run = borescope.open('{in}/' + path)\n    print(run.info(), run.doctor())"),
    Script("agents", before="from borescope.cli import run\nimport borescope._agents._server",
           script="sys.argv = ['borescope', 'mcp', '--root', '{in}']\nsys.exit(run())",
           said="".join(json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in _SAID)),
]


# What once gave a wrong answer with exit status 0: tried at every place, in every run of drawn faults.
MENDED = {
    ("info {in}/small.json.zst -f json", "stat", errno.EIO),
    ("info {in}/job", "open", errno.EIO),
    ("memory {in}/job/snapshot_rank0.pickle -f csv", "open", errno.EIO),
    ("postmortem {in}/job -f json", "open", errno.EIO),
    ("query 'SELECT file, line, text FROM log_findings' {in}/job", "stat", errno.EIO),
    ("info {in}/one_process.ncu-rep -f json", "read", errno.EIO),
    ("summary {in}/mixed -f csv", "read", errno.EIO),
    ("summary {in}/mixed -f csv", "open", errno.EMFILE),
    ("counters {in}/counter_collection.csv {in}/second_pass.csv -f csv", "read", errno.EIO),
    ("counters {in}/counter_collection.csv {in}/second_pass.csv -f csv", "stat", errno.EIO),
    ("map check {in}/run -o {out}/part.bsp", "open", errno.EIO),
    ("map check {in}/run -o {out}/part.bsp", "read", errno.EIO),
    ("query 'SELECT file, line, text FROM log_findings' {in}/mixed_job", "open", errno.EMFILE),
    ("query 'SELECT file, line, text FROM log_findings' {in}/mixed_job", "read", errno.EIO),
}


def make_inputs(folder):
    corpus = ROOT / "fuzz/corpus"
    for place in ("job", "mixed", "mixed_job", "run"):
        (folder / place).mkdir()
    for source, name in {
        "kineto/launch_and_kernel.json.gz": "small.json.gz",
        "kineto/launch_and_kernel.json.zst": "small.json.zst",
        "kineto/memory.json": "memory.json",
        "database/nsys.sqlite": "nsys.sqlite",
        "database/nvprof.nvvp": "nvprof.nvvp",
        "database/trace.rpd": "trace.rpd",
        "database/rocpd.db": "rocpd.db",
        "recording/host.bsl": "host.bsl",
        "recording/device.bsl": "device.bsl",
        "et/all_types.et": "all_types.et",
        "et/linked.json": "linked.json",
        "counters/one_process.ncu-rep": "one_process.ncu-rep",
        "kineto/collectives.json": "job/rank-0.json",
        "pickle/dump_4.pickle": "job/nccl_trace_rank_0",
        "pickle/dump_2.pickle": "job/nccl_trace_rank_1",
        "snapshot/whole.pickle": "job/snapshot_rank0.pickle",
        "job_logs/job_launcher.log": "job/launcher.log",
    }.items():
        shutil.copyfile(corpus / source, folder / name)
    for source, copies in {
        "kineto/collectives.json": ("kineto.json", "run/rank-0.json", "run/rank-1.json", "mixed/rank-0.json",
                                    "mixed_job/rank-0.json"),
        "counters/counter_collection.csv": ("counter_collection.csv", "second_pass.csv", "mixed/counters.csv"),
        "pickle/dump_4.pickle": ("mixed_job/nccl_trace_rank_0",),
        "job_logs/job_launcher.log": ("mixed_job/launcher.log",),
    }.items():
        for copy in copies:
            shutil.copyfile(corpus / source, folder / copy)


@dataclasses.dataclass(frozen=True)
class Fault:
    command: Command
    kind: str
    at: int
    lasts: bool
    reason: object

    def variables(self):
        variables = {"FAULT_CALL": self.kind, "FAULT_AT": str(self.at), "FAULT_ERROR": str(self.reason)}
        return variables | ({"FAULT_LASTS": "1"} if self.lasts else {})


@dataclasses.dataclass
class Outcome:
    status: object  # an exit status, or "hang"
    stdout: bytes
    stderr: bytes
    files: dict


@dataclasses.dataclass
class End:
    how: str  # same, error, library, failure
    outcome: Outcome
    failure: str = ""


def content(folder, before=""):
    """Every file below a folder, by the path from there."""
    files = {}
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            if entry.is_dir(follow_symlinks=False):
                files |= content(entry.path, f"{before}{entry.name}/")
            elif entry.is_file():
                files[before + entry.name] = pathlib.Path(entry.path).read_bytes()
    return files


def clear(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)


def in_memory():
    """Files for what a process says."""
    return [os.memfd_create(name) for name in ("stdout", "stderr")]


def contents(said):
    return [os.pread(file, os.fstat(file).st_size, 0) for file in said]


class Loaded:
    """A command that is loaded and linked, and forked for each fault where main() begins: many times as many a
    second as processes that are started. What it says is in files in memory. For one thread."""

    def __init__(self, harness, command, out):
        self.command, self.out = command, out
        self.said = in_memory()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        variables = {"FAULT_SERVER": str(theirs.fileno()), "LD_BIND_NOW": "1"}  # links all before the fork
        self.process = subprocess.Popen(command.argv(harness, variables), stdin=subprocess.DEVNULL,
                                        stdout=self.said[0], stderr=self.said[1], cwd=out, pass_fds=[theirs.fileno()],
                                        env=harness.environment(command.environment(harness, variables)))
        theirs.close()

    def run(self, variables):
        for file in self.said:
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
        self.socket.settimeout(None)
        self.socket.send(b"".join(f"{name}={value}\0".encode() for name, value in variables.items()))
        child = self.number()
        self.socket.settimeout(TIMEOUT_S)
        try:
            status = os.waitstatus_to_exitcode(self.number())
        except TimeoutError:
            os.killpg(child, signal.SIGKILL)
            self.socket.settimeout(None)
            self.number()
            status = "hang"
        stdout, stderr = contents(self.said)
        outcome = Outcome(status, stdout, stderr, content(self.out))
        clear(self.out)
        return outcome

    def number(self):
        packet = self.socket.recv(4)
        if len(packet) != 4:
            raise RuntimeError(f"the shim does not serve: {self.command.words}")
        return int.from_bytes(packet, sys.byteorder, signed=True)

    def close(self):
        self.socket.close()
        self.process.wait()
        for file in self.said:
            os.close(file)


class Harness:
    def __init__(self, options, work):
        self.borescope, self.shim, self.work = os.path.abspath(options.borescope), os.path.abspath(options.shim), work
        self.programs = options.programs and pathlib.Path(options.programs).resolve()
        self.library = options.library and pathlib.Path(options.library).resolve()
        self.python = options.python and os.path.abspath(options.python)
        self.inputs = work / "in"
        self.inputs.mkdir()
        make_inputs(self.inputs)

    def make_own_inputs(self, commands):
        """What the program itself makes, for commands that read it; all inputs have settled then."""
        if any("{in}/part.bsp" in command.words for command in commands):
            subprocess.run([self.borescope, "map", "kernels", "run", "-q", "-o", "part.bsp"], cwd=self.inputs,
                           check=True)
        time.sleep(SETTLED_S)
        if any(command.placed == "cache" for command in commands):
            subprocess.run([self.borescope, "info", "kineto.json", "-q", "--cache", "cache"], cwd=self.inputs,
                           stdout=subprocess.DEVNULL, check=True)

    def out(self, place):
        return self.work / f"out-{place:06d}"  # of one length, as tables are as wide as paths

    def environment(self, more):
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        return kept | {"HOME": str(self.work), "TMPDIR": str(self.work)} | more

    @contextlib.contextmanager
    def runner(self, command, place, is_plain):
        """A function from variables to an outcome, for one thread."""
        out = self.out(place)
        out.mkdir(exist_ok=True)

        def placed(variables):
            if command.placed:
                shutil.copytree(self.inputs / command.placed, out / command.placed)
            return run(variables)

        if not command.is_forked or is_plain:
            def run(variables):
                return self.started(command, variables, out)
            yield placed
            return
        with contextlib.closing(Loaded(self, command, out)) as loaded:
            run = loaded.run
            yield placed

    def started(self, command, variables, out):
        # Files in memory, as of forked processes: standard output that is a file takes other calls than a pipe.
        said = in_memory() if command.is_forked else [subprocess.PIPE] * 2
        process = subprocess.Popen(command.argv(self, variables),
                                   stdin=subprocess.PIPE if getattr(command, "said", "") else subprocess.DEVNULL,
                                   stdout=said[0], stderr=said[1], cwd=out, start_new_session=True,
                                   env=self.environment(command.environment(self, variables)))
        try:
            stdout, stderr = command.talk(process)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            status = "hang"
        if command.is_forked:
            stdout, stderr = contents(said)
            for file in said:
                os.close(file)
        outcome = Outcome(status, stdout, stderr, content(out))
        clear(out)
        return outcome

    def counted(self, command, place, is_plain=False):
        """The outcome without a fault, and the calls of each kind that it takes."""
        counts = self.work / f"counts-{place}"
        with self.runner(command, place, is_plain) as run:
            outcome = run({"FAULT_COUNTS": str(counts)})
        lines = counts.read_text().splitlines() if counts.exists() else []
        return outcome, {kind: int(count) for kind, count in map(str.split, lines)}

    def ends(self, faults, sound, place, is_plain=False):
        """How each of these faults of one command ends."""
        with self.runner(faults[0].command, place, is_plain) as run:
            return [self.end(fault, sound, run) for fault in faults]

    def end(self, fault, sound, run):
        outcome = run(fault.variables())
        failure = fault.command.failure_of(fault, sound, outcome)
        if not failure:
            return End("same" if outcome.status == sound.status else "error", outcome)
        # Whether the failing call came from one of the libraries that do not survive it.
        if is_theirs(fault, outcome) or not fault.command.is_ours(
                run(fault.variables() | {"FAULT_TRACE": "1"}).stderr.decode(errors="replace")):
            return End("library", outcome)
        return End("failure", outcome, failure)


def may_lack_files(command):
    """Where one file of several cannot be read, the answer is about the others, and says so."""
    words = command.words + getattr(command, "script", "")
    return re.search(r"\{in\}/(run|job|mixed|mixed_job|second_pass\.csv)($|[ '])", words) is not None


def names_what_is_left_out(fault, sound, outcome):
    """Whether it says, in the answer or beside it, what the system said or that a file could not be read."""
    if fault.kind == "write" and fault.lasts:
        return True  # then a message cannot be written either
    said, before = (end.stdout + end.stderr for end in (outcome, sound))
    of_system = [os.strerror(fault.reason).encode()] if fault.reason != SHORT else []
    return any(said.count(words) > before.count(words) for words in (b"unreadable-", b"not-searched", *of_system))


def failure_of(fault, sound, outcome):
    """What is wrong with an outcome, or an empty text."""
    if outcome.status == "hang":
        return f"still runs after {TIMEOUT_S} s"
    if outcome.status < 0:
        return f"ended by {signal.Signals(-outcome.status).name}"
    if outcome.status == sound.status:
        if may_lack_files(fault.command) and names_what_is_left_out(fault, sound, outcome):
            return ""
        if outcome.stdout != sound.stdout:
            return "other bytes on stdout"
        changed = [name for name in sound.files if outcome.files.get(name) != sound.files[name]]
        # A cache may be left out; what it answers may not.
        changed = [name for name in changed if not name.startswith("cache/")]
        # Where a font cannot be read, a picture in pixels has the letters of another.
        changed = [name for name in changed if not (name.endswith(".png") and
                                                    outcome.files.get(name, b"").startswith(b"\x89PNG"))]
        return f"other bytes in {', '.join(changed)}" if changed else ""
    if outcome.status != 2:
        return f"exit status {outcome.status}"
    if outcome.stderr.strip() == sound.stderr.strip() and not names_what_is_left_out(fault, sound, outcome):
        return "exit status 2 without a message"
    if may_lack_files(fault.command):
        return ""
    part = [name for name, bytes_ in outcome.files.items()
            if name in sound.files and bytes_ != sound.files[name] and not name.startswith("cache/")]
    return f"a part of {', '.join(part)} is left" if part else ""


def is_theirs(fault, outcome):
    """Whether a library that does not survive failures ended the process: it says so, or the stack at the end does."""
    if any(words in outcome.stderr for words in LAST_WORDS):
        return True
    has_ended = outcome.status != "hang" and outcome.status < 0
    stack = outcome.stderr.decode(errors="replace")
    return has_ended and "[0x" in stack and not fault.command.is_ours(stack)


def turn_of(text):
    """Of one commit always the same, so that a test that failed fails again."""
    if text != "commits":
        return int(text)
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    return int(counted.stdout) if counted.returncode == 0 else 0


def drawn(counted, runs, turn, mended):
    """Faults over all commands and kinds: each pair gets its share, its places are drawn."""
    pairs = [(command, kind, count) for command, (_, counts) in counted.items()
             for kind, count in counts.items() if count > 0 and (command.words, kind) not in LOOPS]
    if not pairs:
        return []
    dice = random.Random(turn)
    # Half of the runs by the number of calls, half by pairs, so that kinds with few calls are tried too.
    weights = [0.5 * count / sum(pair[2] for pair in pairs) + 0.5 / len(pairs) for *_, count in pairs]
    faults = set()
    for _ in range(runs):
        command, kind, count = dice.choices(pairs, weights)[0]
        faults.add(Fault(command, kind, dice.randint(1, count), dice.random() < 0.3,
                         dice.choice(REASONS[kind])))
    faults |= {Fault(command, kind, at, False, reason) for command, kind, count in pairs for reason in REASONS[kind]
               if (command.words, kind, reason) in mended for at in range(1, count + 1)}
    return sorted(faults, key=lambda fault: (COMMANDS.index(fault.command), fault.kind, fault.at, fault.lasts,
                                             str(fault.reason)))


def all_of(counted):
    return [Fault(command, kind, at, lasts, reason) for command, (_, counts) in counted.items()
            for kind, count in counts.items() if (command.words, kind) not in LOOPS for reason in REASONS[kind]
            for lasts in (False, True) for at in range(1, count + 1)]


def comparable(outcome):
    """Without what differs from run to run: contents of a cache, numbers of processes, addresses in a stack, and the
    process and time that GLib writes into messages of its libraries."""
    files = {re.sub(r"\.\d+-\d+$", "", name): bytes_ for name, bytes_ in outcome.files.items()
             if not name.startswith("cache/")}
    stderr = re.sub(rb"[0-9a-f]{32}", b"HASH", outcome.stderr)
    stderr = re.sub(rb"\(process:\d+\): (\S+ \*\*): [\d:.]+:", rb"\1:", stderr)
    has_stack = outcome.status != "hang" and outcome.status < 0
    return outcome.status, outcome.stdout, b"" if has_stack else stderr, files


def differing(harness, counted, faults):
    """Runs faults in forked and in started processes, and returns how many end otherwise. With threads a fault may
    end in several ways, so that each is tried some times."""
    wrong = 0
    for place, (command, (sound, counts)) in enumerate(counted.items()):
        twin, twin_counts = harness.counted(command, place, True)
        # Tables of keys that are random take a little more memory now and then.
        off = [kind for kind, count in counts.items()
               if abs(count - twin_counts[kind]) > (0.02 * count if kind == "memory" else 0)]
        if comparable(twin) != comparable(sound) or off:
            wrong += 1
            print(f"without a fault: {command.words}: other answers, or counts of {', '.join(off)}")
    for batch in batches_of(faults):
        with harness.runner(batch[0].command, 0, False) as forked, \
                harness.runner(batch[0].command, 0, True) as started:
            for fault in batch:
                seen = [], []
                for _ in range(10):
                    for outcomes, run in zip(seen, (forked, started)):
                        outcomes.append(comparable(run(fault.variables())))
                    if any(outcome in seen[1] for outcome in seen[0]):
                        break
                else:
                    wrong += 1
                    print(f"{repeat(fault, harness)}:\n    forked: {seen[0][0]}\n    started: {seen[1][0]}")
    return wrong


def repeat(fault, harness):
    variables = " ".join(f"{name}={value}" for name, value in sorted(fault.variables().items()))
    where = " in the program" if getattr(fault.command, "in_program", False) else ""
    return (f"{variables} LD_PRELOAD={harness.shim} {harness.borescope} {fault.command.words} "
            f"({type(fault.command).__name__.lower()}{where})")


def batches_of(faults, most=200):
    """Faults of one command each, in the order they come: what one process is loaded for."""
    batches = []
    for _, group in itertools.groupby(faults, lambda fault: fault.command):
        of_command = list(group)
        batches += [of_command[begin:begin + most] for begin in range(0, len(of_command), most)]
    return batches


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--programs", help="the folder of tests/record's programs")
    parser.add_argument("--library", help="libborescope_record.so")
    parser.add_argument("--python", help="an interpreter that has the package")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--turn", default="0", help="a number, or commits")
    parser.add_argument("--only", default="", help="commands that contain this text")
    parser.add_argument("--kind", default="", help="this kind of call alone")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--twins", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    # In memory where there is room for it: what a disk does is not asked here.
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="faults-", dir=shm) as name, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        harness = Harness(options, pathlib.Path(name))
        commands = [command for command in COMMANDS if options.only in command.words and command.can_run(harness)
                    and (command.is_forked or not options.twins)]
        harness.make_own_inputs(commands)
        counted = dict(zip(commands, pool.map(harness.counted, commands, range(len(commands)))))
        unsound = [command for command, (outcome, _) in counted.items()
                   if outcome.status != 0 and not isinstance(command, Recorded)]
        for command in unsound:
            print(f"without a fault: {command.words}: {counted[command][0].stderr.decode()}")
        if options.kind:
            counted = {command: (sound, {options.kind: counts.get(options.kind, 0)})
                       for command, (sound, counts) in counted.items()}
        faults = all_of(counted) if options.all else drawn(
            counted, options.runs, turn_of(options.turn), set() if options.twins else MENDED)
        if options.twins:
            wrong = differing(harness, counted, faults)
            print(f"{len(faults)} faults in forked and in started processes: {wrong} end otherwise")
            return 1 if wrong or unsound or not faults else 0
        batches = batches_of(faults)
        tallies = collections.defaultdict(collections.Counter)
        for batch, ends in zip(batches, pool.map(
                lambda batch, place: harness.ends(batch, counted[batch[0].command][0], place, options.plain),
                batches, range(len(batches)))):
            for fault, end in zip(batch, ends):
                tallies[fault.kind][end.how] += 1
                if end.failure:
                    message = end.outcome.stderr.decode(errors="replace").strip().splitlines()
                    print(f"{end.failure}: {repeat(fault, harness)}\n    {message[-1] if message else ''}", flush=True)
        tally = sum(tallies.values(), collections.Counter())
        if options.all or len(faults) >= 10000:
            for kind, of_kind in sorted(tallies.items()):
                print(kind, *(f"{how} {of_kind[how]}" for how in ("same", "error", "library", "failure")))
        print(f"{len(faults)} faults under {len(commands)} commands: {tally['same']} with the same answer, "
              f"{tally['error']} errors with a message, {tally['library']} in libraries that do not survive it, "
              f"{tally['failure']} failures")
    return 1 if tally["failure"] or unsound or not faults else 0


if __name__ == "__main__":
    sys.exit(main())
