#!/usr/bin/env python3
"""Runs every command that the help and the documents show.

    check_examples.py --borescope BIN --synth BIN --docs ROOT

Commands are taken from the "Example:" of each verb's --help, and from README.md and the pages of docs/:
lines of code and code in the text that begin with `borescope`. Words that stand for a file, as RUN
or trace.json.gz, become files made for it: a synthetic run of two ranks, one with captures of its graphs,
an execution trace beside its device trace, a log, a generated kernel, a report of counters with its trace,
dumps and snapshots of dead jobs. Optional parts, in [brackets], are left out. Each command must end with
exit status 0 and say nothing of a usage error. What README shows of a summary is what it says. A verb that
the text names without operands gets a run, or its --help where it needs more.

Exit status: 0 all run, 1 some do not.
"""

import argparse
import json
import os
import pickle
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

TIMEOUT_S = 60
ENDS_WITHIN_S = 5
INTERRUPTED = 130
WIDTH = 80
FEWEST = 60  # commands; fewer mean that they are no longer found

# Words of the documents and what is there instead of them. Names of files that exist in the folder
# of the test stand for themselves.
STAND_INS = {
    "RUN": "run", "INPUT": "run", "IN": "trace.json.gz", "OUT": "out.json", "BASE": "before",
    "TEST": "after", "REPORT": "all", "STATEMENT": "SELECT 1 AS one", "VERB": "breakdown",
    "K.py": "k.py", "TRACE": "kineto.json.gz", "TRACE.json": "kineto.json.gz", "ET.json": "et.json",
    "LINKED": "linked.json", "LINKED.json": "linked.json", "LOG": "sim.log", "N": "2",
    "MHZ": "1000", "PART": "part", "PART…": "part", "…": "1 AS one",
}
# What some verbs mean by those words.
OWN_STAND_INS = {
    "link": {"ET": "et.json"},
    "chakra convert": {"IN": "linked.json", "OUT": "out.et", "ET": "et.json"},
    "chakra": {"ET": "rank.0.et"},
    "counters": {"RUN": "counters.json", "trace.json.gz": "counters.json", "train.bsr": "counters.json"},
    "graphs": {"RUN": "graphs.json", "trace.json.gz": "graphs.json"},
    "inference": {"RUN": "serving.json", "trace.json.gz": "serving.json"},
    "postmortem": {"RUN": "dumps", "FOLDER": "dumps"},
}
# With `--counters FILE`: the report is of another run of the program of this trace.
TRACED = {"RUN": "gemm.json", "trace.json": "gemm.json", "train.bsr": "gemm.json"}

EXECUTION_TRACE = {
    "schema": "1.1.1-chakra.0.0.4", "pid": 1,
    "nodes": [
        {"id": 1, "name": "[pytorch|profiler|execution_trace|process]", "ctrl_deps": 1,
         "attrs": []},
        {"id": 2, "name": "[pytorch|profiler|execution_trace|thread]", "ctrl_deps": 1,
         "attrs": []},
        {"id": 4, "name": "aten::mul", "ctrl_deps": 2,
         "attrs": [{"name": "rf_id", "type": "uint64", "value": 2}]},
    ],
}
DEVICE_TRACE = {
    "distributedInfo": {"rank": 0},
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1, "ts": 100, "dur": 20,
         "args": {"External id": 7, "Record function id": 2}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
         "ts": 105, "dur": 5, "args": {"correlation": 9, "External id": 7}},
        {"ph": "X", "cat": "kernel", "name": "mul_kernel", "pid": 0, "tid": 7, "ts": 115, "dur": 40,
         "args": {"correlation": 9, "External id": 7, "stream": 7, "device": 0}},
    ],
}
# Of a kernel that the report of counters has.
GEMM_TRACE = {
    "distributedInfo": {"rank": 0},
    "traceEvents": [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 50,
         "args": {"External id": 1, "Input Dims": [[64, 32], [32, 16]],
                  "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 20,
         "dur": 5, "args": {"correlation": 1, "External id": 1}},
        {"ph": "X", "cat": "kernel", "name": "gemm(float const*, float const*, float*)", "pid": 0,
         "tid": 7, "ts": 30, "dur": 2,
         "args": {"correlation": 1, "External id": 1, "stream": 7, "device": 0, "grid": [2, 3, 1],
                  "block": [128, 1, 1]}},
    ],
}
LINE = [{"filename": "/app/train.py", "name": "main", "line": 30}]
# One block of 16 MiB, and a request of as much that the device refused.
MEMORY_SNAPSHOT = {
    "segments": [{"device": 0, "address": 1 << 30, "total_size": 16 << 20, "allocated_size": 16 << 20,
                  "stream": 0, "segment_type": "large",
                  "blocks": [{"address": 1 << 30, "size": 16 << 20, "requested_size": 16 << 20,
                              "state": "active_allocated", "frames": LINE}]}],
    "device_traces": [[
        {"action": "segment_alloc", "addr": 1 << 30, "size": 16 << 20, "stream": 0, "time_us": 1},
        {"action": "alloc", "addr": 1 << 30, "size": 16 << 20, "stream": 0, "time_us": 2,
         "frames": LINE},
        {"action": "oom", "device_free": 1 << 20, "size": 16 << 20, "stream": 0, "time_us": 3,
         "frames": LINE},
    ]],
    "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1,
                           "garbage_collection_threshold": 0.0, "expandable_segments": False},
}
SIMULATOR_LOG = """\
[info] issue,sys->id=0, tick=1000, node->id=1, node->name=COMP_NODE
[info] callback,sys->id=0, tick=4000, node->id=1, node->name=COMP_NODE
"""
# What every run keeps.
BUDGET = """\
[[budget]]
name = "step time"
table = "steps"
column = "span_ns"
max = "10s"
"""
# A generated kernel, and what it needs of torch.
TORCH = """\
class cuda:
    @staticmethod
    def is_available():
        return True
"""
GENERATED_KERNEL = """\
import torch

CODE = '''
@triton.jit
def triton_poi_fused_mul_0(in_ptr0, xnumel):
    pass
'''

if __name__ == "__main__":
    print("0.123ms    0.456GB    3707.32GB/s")
"""


class Folder:
    """The files that commands name."""

    def __init__(self, borescope: str, synth: str, root: Path, path: Path) -> None:
        self.path = path
        self.environment = dict(os.environ, COLUMNS="80", HOME=str(path), PYTHONPATH=str(path))
        folder = str(Path(borescope).resolve().parent)
        self.environment["PATH"] = folder + os.pathsep + self.environment["PATH"]
        for run, ranks in (("run", 2), ("before", 1), ("after", 1)):
            subprocess.run([synth, "--ranks", str(ranks), "--steps", "6", "--seed", "1", "--gzip",
                            "--with-shapes", "--with-stack", "--with-memory", "--out",
                            str(path / run)], check=True, capture_output=True)
            (path / run / "truth.json").unlink()
        subprocess.run([synth, "--captures", "none", "--seed", "1", "--out", str(path / "served")],
                       check=True, capture_output=True)
        (path / "my_run").symlink_to("run")
        # Runs of their own: a recording given twice is refused.
        for number in (1, 2, 3):
            subprocess.run([synth, "--steps", "6", "--seed", str(number), "--gzip", "--with-shapes", "--out",
                            str(path / f"run{number}")], check=True, capture_output=True)
            (path / f"run{number}" / "truth.json").unlink()
            (path / f"main{number}").symlink_to(f"run{number}")
        (path / "store").mkdir()
        (path / "budget.toml").write_text(BUDGET)
        for name in ("train.bsr", "stall.bsr", "stall"):
            (path / name).symlink_to("run")
        for small in sorted((root / "tests" / "data" / "small").iterdir()):
            (path / small.name).write_bytes(small.read_bytes())
        for name in ("trace.json.gz", "trace.json", "t.json", "rank-0.json.gz", "net.sqlite",
                     "net.sql"):
            (path / name).symlink_to("before/rank-0.json.gz")
        (path / "et.json").write_text(json.dumps(EXECUTION_TRACE))
        (path / "kineto.json.gz").write_text(json.dumps(DEVICE_TRACE))
        (path / "sim.log").write_text(SIMULATOR_LOG)
        (path / "torch.py").write_text(TORCH)
        (path / "k.py").write_text(GENERATED_KERNEL)
        (path / "gemm.json").write_text(json.dumps(GEMM_TRACE))
        for name in ("counters.ncu-rep", "train.ncu-rep"):
            report = root / "tests" / "data" / "counters" / "one_process.ncu-rep"
            (path / name).write_bytes(report.read_bytes())
        self.make_dead_job(root)
        self.expect("borescope link --host et.json --device kineto.json.gz -o linked.json")
        self.expect("borescope map breakdown run -o part")
        self.expect("borescope chakra convert linked.json rank.0.et")
        self.expect("mkdir parts && borescope map kernels run -q -o parts/all.part")

    def make_dead_job(self, root: Path) -> None:
        """Dumps of a hang, and snapshots of memory."""
        made = self.path / "made"
        made.mkdir()
        subprocess.run([sys.executable, root / "tests" / "data" / "postmortem" / "make_dumps.py"],
                       cwd=made, check=True, capture_output=True)
        (made / "job").rename(self.path / "dumps")
        snapshot = pickle.dumps(MEMORY_SNAPSHOT)
        (self.path / "snapshot.pickle").write_bytes(snapshot)
        (self.path / "job").mkdir()
        (self.path / "job" / "snapshot_rank0.pickle").write_bytes(snapshot)

    def run(self, command: str) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.path, text=True,
                              errors="replace", env=self.environment, capture_output=True,
                              timeout=TIMEOUT_S, check=False)

    def expect(self, command: str) -> None:
        done = self.run(command)
        if done.returncode != 0:
            raise SystemExit(f"{command}: exit status {done.returncode}: {done.stderr}")

    def serve(self, command: str) -> tuple[int, str]:
        """`open` ends well once its page was fetched, by us instead of a browser, or goes on until it is
        interrupted, if its page asks for more."""
        options = f"--no-browser --port 0 --timeout {TIMEOUT_S}"
        with subprocess.Popen(["bash", "-c", f"exec {command} {options}"], cwd=self.path,
                              env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            line = process.stdout.readline().strip()
            said = ""
            port = None
            while line and port is None:
                said += process.stderr.readline()
                port = re.search(r"127\.0\.0\.1:(\d+) HOST", said)
            if port:
                path = re.sub(r".*127\.0\.0\.1:\d+", "", line)
                address = f"http://127.0.0.1:{port[1]}{path}"
                urllib.request.urlopen(address, timeout=TIMEOUT_S).read()
            try:
                said += process.communicate(timeout=ENDS_WITHIN_S)[1]
                return process.returncode, said
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            said += process.communicate(timeout=TIMEOUT_S)[1]
            return 0 if process.returncode == INTERRUPTED else process.returncode, said


# ---- Finding commands ----


def help_examples(folder: Folder, faults: list[str]) -> list[tuple[str, str]]:
    """Of every verb: there must be one. Help fits any terminal."""
    found = []
    listed = json.loads(folder.run("borescope list -f json").stdout)["tables"][0]
    columns = {column["name"]: column["values"] for column in listed["columns"]}
    for kind, verb in zip(columns["kind"], columns["name"]):
        if kind != "verb":
            continue
        text = folder.run(f"borescope {verb} --help").stdout
        example = re.search(r"^Example: (.*)$", text, re.MULTILINE)
        faults += [f"{verb} --help: wider than {WIDTH}: {line}" for line in text.splitlines()
                   if len(line) > WIDTH]
        found.append((f"{verb} --help", example[1] if example else ""))
    return found


def code_lines(text: str) -> list[str]:
    """Commands on lines of their own, joined where they go on behind a backslash."""
    commands = []
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        command = re.match(r"(?:    |\$ |)(borescope (?!.*: ).*)", line)
        if command:
            commands.append(re.sub(r"\s{2,}#.*", "", command[1]))
    return commands


def spans(text: str) -> list[str]:
    """Code in the text. What stands behind a "·" is told in part: `launches RUN` · `delays`."""
    commands = []
    for line in text.splitlines():
        for first, more in re.findall(r"`(borescope [^`]*)`((?: · `[^`]*`)*)", line):
            commands.append(first)
            for other in re.findall(r"`([^`]*)`", more):
                is_option = other.startswith("-")
                commands.append(f"{first} {other}" if is_option else f"borescope {other}")
    return commands


# Verbs that the Python package adds, and the one that runs other programs; tests of their own run
# them (python/tests, tests/record/test_launcher.py).
TESTED_ELSEWHERE = re.compile(r"borescope (mcp|evidence|record)\b")


def shown_commands(root: Path) -> list[tuple[str, str]]:
    found = []
    for path in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if path.parent.name == "verbs":  # what --help says
            continue
        text = path.read_text(encoding="utf-8")
        found += [(str(path.relative_to(root)), command) for command in code_lines(text) + spans(text)
                  if not TESTED_ELSEWHERE.match(command)]
    return found


# ---- Running them ----


def names_something(folder: Folder, names: dict[str, str], word: str) -> bool:
    """Whether the word is a file, a task or a statement, not an option or its value."""
    return word in names or word[0] in "\"'" or (folder.path / word).exists()


def prepared(folder: Folder, command: str) -> str:
    """The command with files that exist."""
    command = re.sub(r"\[[^\]\"]*\]", "", command).replace("...", "")
    words = re.findall(r'"[^"]*"|\'[^\']*\'|\S+', command)
    names = dict(STAND_INS)
    for verb, own in OWN_STAND_INS.items():
        if " ".join(words[1:]).startswith(verb):
            names.update(own)
            break
    if "--counters" in words:
        names.update(TRACED)
    quoted = []
    for word in words:
        stand_in = names.get(word)
        quoted.append(word.replace("…", names["…"]) if word[0] in "\"'" else
                      shlex.quote(stand_in) if stand_in else word)
    # A verb, or a verb and its options, stands for itself in a text.
    is_bare = not any(names_something(folder, names, word) for word in words[2:])
    if words[1] == "open":
        quoted += ["run"] if is_bare else []
    elif words[1:] in (["chakra"], ["chakra", "TASK"]):
        quoted[2:] = ["--help"]
    elif is_bare and words[1] in ("link", "convert", "query", "diff", "stats", "launch"):
        quoted.append("--help")
    elif is_bare and words[1] not in ("list", "completion", "chakra") and "--schema" not in words:
        quoted.append(names.get("RUN"))
    return " ".join(quoted)


def verdict(folder: Folder, shown: str) -> str:
    """What is wrong with the command; empty if nothing is."""
    command = prepared(folder, shown)
    if command.startswith("borescope open "):
        status, said = folder.serve(command)
    else:
        done = folder.run(command)
        status, said = done.returncode, done.stderr
    if status != 0 or "Try: borescope" in said:
        return f"`{shown}`, run as `{command}`: exit status {status}: {said.strip()}"
    return ""


def stale_excerpts(folder: Folder, root: Path) -> list[str]:
    """What README shows of the summary of the run that comes with the sources; "…" leaves out."""
    shown = re.search(r"```console\n\$ borescope summary my_run/[^\n]*\n(.*?)```",
                      (root / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    said = folder.run(f"borescope summary {shlex.quote(str(root / 'tests/data/demo_run'))}").stdout
    pieces = shown[1].split("…\n") if shown else [""]
    return [f"README.md: the summary does not say:\n{piece}" for piece in pieces
            if piece.strip("\n") not in said or len(pieces) < 2]


def check(borescope: str, synth: str, root: Path) -> list[str]:
    faults = []
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(borescope, synth, root, Path(path))
        commands = dict.fromkeys(help_examples(folder, faults) + shown_commands(root))
        for place, command in commands:
            if TESTED_ELSEWHERE.match(command):
                continue
            fault = verdict(folder, command) if command else "has no example"
            if fault:
                faults.append(f"{place}: {fault}")
        faults += stale_excerpts(folder, root)
    if len(commands) < FEWEST:
        faults.append(f"only {len(commands)} commands found")
    print(f"{len(commands)} commands")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--docs", required=True, type=Path)
    arguments = parser.parse_args()
    faults = check(arguments.borescope, arguments.synth, arguments.docs)
    print("\n".join([*faults, f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
