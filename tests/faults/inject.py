#!/usr/bin/env python3
"""Makes single calls of the system fail under the program (fault_shim.cc) and looks at what it says.

Whatever fails, a command gives the bytes that it gives otherwise, or it ends with exit status 2, a
message on stderr, and outputs that are absent, as they were before, or whole. Anything else (a signal,
another status, other bytes, a hang) is a failure of the program, printed with the line that repeats it.

  inject.py --borescope PATH --shim PATH [--runs N] [--turn K] [--only TEXT] [--kind KIND] [--all]

N runs are drawn over all commands, kinds of call and places; the turn decides which, so that turn after
turn tries other places: a number, or "commits", the number of commits so far. --all tries every place.
"""

import argparse
import concurrent.futures
import dataclasses
import errno
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

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
}
TIMEOUT_S = 20
# Libraries that do not survive a failure of what they call, or draw other letters where a font cannot be
# read; SECURITY.md says so. A failure that begins in one of them is counted apart.
NOT_OURS = ("libre2", "librsvg", "libfontconfig", "libfreetype", "libpango", "libglib", "libgobject", "libcairo",
            "libharfbuzz", "libgdk_pixbuf")
# And where those that draw pictures in pixels loop for ever.
LOOPS = {("breakdown {in}/kineto.json -f png -o {out}/breakdown.png", kind) for kind in ("memory", "thread")}


@dataclasses.dataclass(frozen=True)
class Command:
    words: str  # {in} is the folder of inputs, {out} a fresh one for outputs, in which it runs

    def argv(self, borescope, inputs):
        return [borescope, *(word.replace("{in}", str(inputs)).replace("{out}", ".")
                             for word in shlex.split(self.words))]


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
    "list",
    "help summary",
)]


def make_inputs(folder):
    corpus = ROOT / "fuzz/corpus"
    for source, name in {
        "kineto/launch_and_kernel.json.gz": "small.json.gz",
        "kineto/launch_and_kernel.json.zst": "small.json.zst",
        "kineto/collectives.json": "kineto.json",
        "kineto/memory.json": "memory.json",
        "database/nsys.sqlite": "nsys.sqlite",
        "database/nvprof.nvvp": "nvprof.nvvp",
        "database/trace.rpd": "trace.rpd",
        "database/rocpd.db": "rocpd.db",
        "recording/host.bsl": "host.bsl",
        "recording/device.bsl": "device.bsl",
        "et/all_types.et": "all_types.et",
        "et/linked.json": "linked.json",
    }.items():
        shutil.copyfile(corpus / source, folder / name)
    (folder / "run").mkdir()
    for rank in range(2):
        shutil.copyfile(corpus / "kineto/collectives.json", folder / f"run/rank-{rank}.json")


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


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*")) if path.is_file()}


class Harness:
    def __init__(self, borescope, shim, work):
        self.borescope, self.shim, self.work = os.path.abspath(borescope), os.path.abspath(shim), work
        self.inputs = work / "in"
        self.inputs.mkdir()
        make_inputs(self.inputs)

    def out(self, place):
        return self.work / f"out-{place:06d}"  # of one length, as tables are as wide as paths

    def environment(self, more):
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        # Threads take their calls in any order; one thread takes the N-th call always in one place.
        return kept | {"LD_PRELOAD": self.shim, "HOME": str(self.work), "TMPDIR": str(self.work)} | more

    def run(self, command, variables, out):
        out.mkdir()
        process = subprocess.Popen(command.argv(self.borescope, self.inputs), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(variables), cwd=out, start_new_session=True)
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT_S)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
            status = "hang"
        outcome = Outcome(status, stdout, stderr, content(out))
        shutil.rmtree(out)
        return outcome

    def counted(self, command, place):
        """The outcome without a fault, and the calls of each kind that it takes."""
        counts = self.work / f"counts-{place}"
        outcome = self.run(command, {"FAULT_COUNTS": str(counts)}, self.out(place))
        lines = counts.read_text().splitlines() if counts.exists() else []
        return outcome, {kind: int(count) for kind, count in map(str.split, lines)}

    def fault(self, fault, place):
        return self.run(fault.command, fault.variables(), self.out(place))

    def is_ours(self, fault, place):
        """Whether the failing call came from none of the libraries that do not survive it."""
        outcome = self.run(fault.command, fault.variables() | {"FAULT_TRACE": "1"}, self.out(place))
        frames = outcome.stderr.decode(errors="replace")
        return not any(library in frames for library in NOT_OURS)


def may_lack_files(command):
    """Where one rank of several cannot be read, the answer is about the others, and says so."""
    return "{in}/run" in command.words


def failure_of(fault, sound, outcome):
    """What is wrong with an outcome, or an empty text."""
    if outcome.status == "hang":
        return f"still runs after {TIMEOUT_S} s"
    if outcome.status < 0:
        return f"ended by {signal.Signals(-outcome.status).name}"
    says_why = outcome.stderr.strip() != sound.stderr.strip() or (
        fault.kind == "write" and fault.lasts)  # then a message cannot be written either
    if outcome.status == sound.status:
        if may_lack_files(fault.command) and says_why:
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
    if not says_why:
        return "exit status 2 without a message"
    if may_lack_files(fault.command):
        return ""
    part = [name for name, bytes_ in outcome.files.items()
            if name in sound.files and bytes_ != sound.files[name] and not name.startswith("cache/")]
    return f"a part of {', '.join(part)} is left" if part else ""


def turn_of(text):
    """Of one commit always the same, so that a test that failed fails again."""
    if text != "commits":
        return int(text)
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    return int(counted.stdout) if counted.returncode == 0 else 0


def drawn(counted, runs, turn):
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
    return sorted(faults, key=lambda fault: (COMMANDS.index(fault.command), fault.kind, fault.at, fault.lasts,
                                             str(fault.reason)))


def all_of(counted):
    return [Fault(command, kind, at, lasts, reason) for command, (_, counts) in counted.items()
            for kind, count in counts.items() if (command.words, kind) not in LOOPS for reason in REASONS[kind]
            for lasts in (False, True) for at in range(1, count + 1)]


def repeat(fault, harness):
    variables = " ".join(f"{name}={value}" for name, value in sorted(fault.variables().items()))
    return f"{variables} LD_PRELOAD={harness.shim} {harness.borescope} {fault.command.words}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--turn", default="0", help="a number, or commits")
    parser.add_argument("--only", default="", help="commands that contain this text")
    parser.add_argument("--kind", default="", help="this kind of call alone")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        harness = Harness(options.borescope, options.shim, pathlib.Path(name))
        commands = [command for command in COMMANDS if options.only in command.words]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            counted = dict(zip(commands, pool.map(harness.counted, commands, range(len(commands)))))
            unsound = [command.words for command, (outcome, _) in counted.items() if outcome.status != 0]
            for command in unsound:
                print(f"without a fault: {command}: {counted[Command(command)][0].stderr.decode()}")
            if options.kind:
                counted = {command: (sound, {options.kind: counts[options.kind]})
                           for command, (sound, counts) in counted.items()}
            faults = all_of(counted) if options.all else drawn(counted, options.runs, turn_of(options.turn))
            outcomes = pool.map(harness.fault, faults, range(len(faults)))
            tally = {"same": 0, "error": 0, "library": 0}
            failures = 0
            for fault, outcome in zip(faults, outcomes):
                sound = counted[fault.command][0]
                failure = failure_of(fault, sound, outcome)
                if failure and not harness.is_ours(fault, len(faults)):
                    tally["library"] += 1
                elif failure:
                    failures += 1
                    message = outcome.stderr.decode(errors="replace").strip().splitlines()
                    print(f"{failure}: {repeat(fault, harness)}\n    {message[-1] if message else ''}",
                          flush=True)
                else:
                    tally["same" if outcome.status == sound.status else "error"] += 1
        print(f"{len(faults)} faults under {len(commands)} commands: {tally['same']} with the same answer, "
              f"{tally['error']} errors with a message, {tally['library']} in libraries that do not survive it, "
              f"{failures} failures")
    return 1 if failures or unsound or not faults else 0


if __name__ == "__main__":
    sys.exit(main())
