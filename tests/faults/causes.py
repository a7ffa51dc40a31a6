#!/usr/bin/env python3
"""Reads, opens and closes that fail: what is said names the cause, and nothing is left out of an answer.

inject.py accepts any message. Here each call of one kind fails in turn (fault_shim.cc) under commands that once
took a failure for something else: for a file of another format, for one that changed, or for nothing at all.

  causes.py --borescope PATH --shim PATH [--only TEXT]
"""

import argparse
import dataclasses
import errno
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 20
MOST = 120  # calls of one kind that are tried
PART = "parts/00000-of-00001.part"
OF_SQLITE = "disk I/O error"  # in its own words


@dataclasses.dataclass(frozen=True)
class Case:
    words: str
    call: str
    error: int
    made: str = ""  # the file that it writes, which is the answer
    lasts: bool = False  # all calls from the first on fail
    is_said: bool = False  # one of these failures at least costs the answer


CASES = [
    Case("info trace.rpd", "read", errno.EIO),
    Case("info log", "read", errno.EIO),
    Case("convert job --scrub -o out.json", "read", errno.EIO, "out.json"),
    Case("check run.json --baseline saved", "open", errno.EACCES),
    Case("inductor inductor.json --inductor-cache cache -f csv", "open", errno.EACCES),
    Case("map kernels run.json -o parts/ --force -q", "time", errno.EPERM, PART),
    Case("map kernels written_meanwhile.json -o parts/ --force -q", "time", errno.EPERM, PART, lasts=True),
    Case("kernels run.json -f csv", "close", errno.EIO, is_said=True),
    Case("kernels run.json -o out.txt", "close", errno.EIO, "out.txt", is_said=True),
    Case("open --report job --no-browser --port 0 --timeout 1", "list", errno.EIO, lasts=True),
]
CODE = """'''
Source Nodes: [add], Original ATen: [aten.add]
'''
async_compile.triton('triton_poi_fused_add_0', inductor_meta={'kernel_num_gb': 0.001})
"""


def make_inputs(folder, borescope):
    corpus = ROOT / "fuzz/corpus"
    for place in ("job", "saved", "log", "cache/ab"):
        (folder / place).mkdir(parents=True)
    shutil.copyfile(corpus / "database/trace.rpd", folder / "trace.rpd")
    shutil.copyfile(corpus / "recording/host.bsl", folder / "log/host.bsl")
    for rank in range(2):
        shutil.copyfile(corpus / "kineto/collectives.json", folder / f"job/rank-{rank}.json")
    shutil.copyfile(ROOT / "tests/data/small/serving.json", folder / "run.json")
    shutil.copyfile(folder / "run.json", folder / "written_meanwhile.json")
    in_an_hour = time.time() + 3600
    os.utime(folder / "written_meanwhile.json", (in_an_hour, in_an_hour))
    (folder / "cache/ab/cab.py").write_text(CODE)
    (folder / "inductor.json").write_text(
        '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "triton_poi_fused_add_0", "pid": 1, "tid": 1, "ts": 0,'
        ' "dur": 9, "args": {"kernel_backend": "triton", "kernel_file": "/tmp/x/ab/cab.py"}},'
        '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 1,'
        ' "args": {"correlation": 1}}, {"ph": "X", "cat": "kernel", "name": "triton_poi_fused_add_0", "pid": 0,'
        ' "tid": 7, "ts": 5, "dur": 3, "args": {"device": 0, "stream": 7, "correlation": 1}}]}')
    subprocess.run([borescope, "check", "run.json", "--save-baseline", "saved/1.json", "-q"], cwd=folder,
                   stdout=subprocess.DEVNULL, check=False)
    # Of another length, so that nobody opens it to look whether it is the same.
    (folder / "saved/2.json").write_bytes((folder / "saved/1.json").read_bytes() + b"\n")


def ran(case, folder, borescope, variables):
    """Exit status, answer (None where the file was not made), and what is said."""
    environment = {**os.environ, "BORESCOPE_CACHE": "off", **variables}
    done = subprocess.run([borescope, *shlex.split(case.words)], cwd=folder, env=environment, capture_output=True,
                          timeout=TIMEOUT_S, check=False)
    made = folder / case.made
    answer = done.stdout
    if case.made:
        answer = made.read_bytes() if made.exists() else None
        made.unlink(missing_ok=True)
    return done.returncode, answer, done.stderr.decode(errors="replace")


def counted(case, folder, borescope, shim):
    """How many calls of the kind there are."""
    counts = folder / "counts"
    ran(case, folder, borescope, {"LD_PRELOAD": shim, "FAULT_COUNTS": str(counts)})
    return int(dict(line.split() for line in counts.read_text().splitlines()).get(case.call, 0))


def fault_of(case, sound, end):
    """What is wrong with how the command ended, if anything is."""
    status, answer, said = end
    if status == 0 and not case.lasts:
        return "" if answer == sound[1] else "another answer"
    if status != 2:
        return f"exit status {status}"
    if case.lasts and case.made and answer is not None:
        return f"{case.made} is there"
    return "" if os.strerror(case.error) in said or OF_SQLITE in said else "another cause"


def faults_of(case, folder, borescope, shim):
    sound = ran(case, folder, borescope, {})
    if sound[0] != 0 and not case.lasts:
        return [f"{case.words}: exit status {sound[0]}: {sound[2]}"]
    calls = 1 if case.lasts else min(counted(case, folder, borescope, shim), MOST)
    faults = [] if calls else [f"{case.words}: no call of {case.call}"]
    statuses = set()
    for at in range(1, calls + 1):
        variables = {"LD_PRELOAD": shim, "FAULT_CALL": case.call, "FAULT_AT": str(at),
                     "FAULT_ERROR": str(case.error)} | ({"FAULT_LASTS": "1"} if case.lasts else {})
        end = ran(case, folder, borescope, variables)
        statuses.add(end[0])
        if why := fault_of(case, sound, end):
            faults.append(f"{case.words}: {case.call} {at} fails: {why}: {end[2].strip()}")
    if case.is_said and 2 not in statuses:
        faults.append(f"{case.words}: no failure of {case.call} is said")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True, type=os.path.abspath)
    parser.add_argument("--shim", required=True, type=os.path.abspath)
    parser.add_argument("--only", default="", help="commands with this text")
    options = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        make_inputs(pathlib.Path(folder), options.borescope)
        for case in CASES:
            if options.only in case.words:
                faults += faults_of(case, pathlib.Path(folder), options.borescope, options.shim)
    print("\n".join(faults) or "each failure was named")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
