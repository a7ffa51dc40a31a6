#!/usr/bin/env python3
"""Reads, opens and closes that fail: what is said names the cause, and nothing is left out of an answer.

inject.py accepts any message. Here each call of one kind fails in turn (fault_shim.cc) under commands that once
took a failure for something else: for a file of another format, for one that changed, or for nothing at all. A
database is asked about while a program writes it, after one was killed, and with rows in a log beside it.

  causes.py --borescope PATH --shim PATH [--only TEXT]
"""

import argparse
import dataclasses
import errno
import os
import pathlib
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TIMEOUT_S = 20
MOST = 120  # calls of one kind that are tried
PART = "parts/00000-of-00001.part"
WRITTEN = "another program is writing it"
OF_SQLITE = ("disk I/O error", "unable to open database file", "database is locked",
             "attempt to write a readonly database")  # in its own words


@dataclasses.dataclass(frozen=True)
class Case:
    words: str
    call: str
    error: int
    made: str = ""  # the file that it writes, which is the answer
    lasts: bool = False  # all calls from the first on fail
    passes: bool = False  # the failure changes nothing
    refused: str = ""  # why, also without a failure
    path: str = ""  # only what asks for a path that ends so fails
    is_said: bool = False  # one of these failures at least costs the answer


CASES = [
    Case("info trace.rpd", "read", errno.EIO),
    Case("info log", "read", errno.EIO),
    Case("info run.json --memory-limit 1G", "open", errno.EACCES),
    Case("convert job --scrub -o out.json", "read", errno.EIO, "out.json"),
    Case("check run.json --baseline saved", "open", errno.EACCES),
    Case("inductor inductor.json --inductor-cache cache -f csv", "open", errno.EACCES),
    Case("map kernels run.json -o parts/ --force -q", "time", errno.EPERM, PART),
    Case("map kernels written_meanwhile.json -o parts/ --force -q", "time", errno.EPERM, PART, lasts=True),
    Case("map check job copies -o checked.part", "stat", errno.EIO, "checked.part", refused="are one recording"),
    Case("kernels run.json -f csv", "close", errno.EIO, is_said=True),
    Case("kernels run.json -o out.txt", "close", errno.EIO, "out.txt", is_said=True),
    Case("open --report job --no-browser --port 0 --timeout 1", "list", errno.EIO, lasts=True),
    Case("kernels killed.rpd", "stat", errno.EIO),
    Case("kernels killed.rpd", "read", errno.EIO),
    Case("kernels killed.rpd", "open", errno.EMFILE),
    Case("kernels killed.rpd", "access", errno.EIO),
    Case("kernels killed.rpd", "lock", errno.ENOLCK),
    Case("kernels written.rpd", "lock", errno.ENOLCK, refused=WRITTEN),
    Case("kernels written.rpd", "lock", errno.ENOLCK, lasts=True),
    Case("kernels written.rpd", "open", errno.EMFILE, refused=WRITTEN),
    Case("kernels trace.rpd", "lock", errno.ENOSYS, lasts=True, passes=True),
    Case("kernels run.json --scrub", "lock", errno.ENOLCK, lasts=True),
    Case("kernels run.json --scrub", "lock", errno.EOPNOTSUPP, lasts=True, passes=True),
]
# With a cache, while rows are added to the log.
LOGGED = [
    Case("kernels logged.rpd --cache cache", "stat", errno.EIO),
    Case("kernels logged.rpd --cache cache", "open", errno.EIO),
    Case("kernels logged.rpd --cache cache", "stat", errno.EIO, lasts=True, path="-wal"),
    Case("kernels logged.rpd --cache cache", "access", errno.EIO, lasts=True, path="-wal"),
]
CODE = """'''
Source Nodes: [add], Original ATen: [aten.add]
'''
async_compile.triton('triton_poi_fused_add_0', inductor_meta={'kernel_num_gb': 0.001})
"""


def add_kernels(database, count):
    """Copies of an operation of the corpus."""
    columns = ", ".join(row[1] for row in database.execute("PRAGMA table_info(rocpd_op)") if row[1] != "id")
    database.execute(f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) INSERT INTO "
                     f"rocpd_op ({columns}) SELECT {columns} FROM n, (SELECT * FROM rocpd_op ORDER BY id LIMIT 1)")


def writer_of(path, *pragmas):
    shutil.copyfile(ROOT / "fuzz/corpus/database/trace.rpd", path)
    database = sqlite3.connect(path, isolation_level=None)
    for pragma in ("cache_size=10", *pragmas):
        database.execute(f"PRAGMA {pragma}").fetchall()
    return database


def make_databases(folder):
    """killed.rpd with the journal of a program that was killed; logged.rpd with rows in a log, and more.wal, which is
    that log some rows later; and written.rpd, whose writer is returned: it writes as long as it lives."""
    (folder / "writing").mkdir()
    killed = writer_of(folder / "writing/killed.rpd")
    killed.execute("BEGIN")
    add_kernels(killed, 20000)
    logged = writer_of(folder / "writing/logged.rpd", "journal_mode=WAL", "wal_autocheckpoint=0")
    add_kernels(logged, 1)
    for name in ("killed.rpd", "killed.rpd-journal", "logged.rpd", "logged.rpd-wal"):
        shutil.copyfile(folder / "writing" / name, folder / name)
    add_kernels(logged, 2)
    shutil.copyfile(folder / "writing/logged.rpd-wal", folder / "more.wal")
    written = writer_of(folder / "written.rpd", "journal_mode=MEMORY")
    written.execute("BEGIN EXCLUSIVE")
    add_kernels(written, 20000)
    return written


def make_inputs(folder, borescope):
    corpus = ROOT / "fuzz/corpus"
    for place in ("job", "copies", "saved", "log", "cache/ab"):
        (folder / place).mkdir(parents=True)
    shutil.copyfile(corpus / "database/trace.rpd", folder / "trace.rpd")
    shutil.copyfile(corpus / "recording/host.bsl", folder / "log/host.bsl")
    for rank in range(2):
        shutil.copyfile(corpus / "kineto/collectives.json", folder / f"job/rank-{rank}.json")
    shutil.copyfile(folder / "job/rank-0.json", folder / "copies/rank-0.json")
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
    """How many calls of the kind are tried."""
    if case.lasts:
        return 1
    counts = folder / "counts"
    ran(case, folder, borescope, {"LD_PRELOAD": shim, "FAULT_COUNTS": str(counts)})
    return min(int(dict(line.split() for line in counts.read_text().splitlines()).get(case.call, 0)), MOST)


def fault_of(case, sound, end):
    """What is wrong with how the command ended, if anything is."""
    status, answer, said = end
    if case.passes or (status == 0 and not case.lasts):
        return "" if (status, answer) == sound[:2] else "another answer"
    if status != 2:
        return f"exit status {status}"
    if case.lasts and case.made and answer is not None:
        return f"{case.made} is there"
    causes = (os.strerror(case.error), *OF_SQLITE, *([case.refused] if case.refused else []))
    return "" if any(cause in said for cause in causes) else "another cause"


def failing(case, shim, at):
    """The variables with which a call fails."""
    return {"LD_PRELOAD": shim, "FAULT_CALL": case.call, "FAULT_AT": str(at),
            "FAULT_ERROR": str(case.error), **({"FAULT_LASTS": "1"} if case.lasts else {}),
            **({"FAULT_PATH": case.path} if case.path else {})}


def faults_of(case, folder, borescope, shim):
    sound = ran(case, folder, borescope, {})
    if (sound[0] != 2 or case.refused not in sound[2]) if case.refused else (sound[0] != 0 and not case.lasts):
        return [f"{case.words}: exit status {sound[0]}: {sound[2]}"]
    calls = counted(case, folder, borescope, shim)
    faults = [] if calls else [f"{case.words}: no call of {case.call}"]
    statuses = set()
    for at in range(1, calls + 1):
        end = ran(case, folder, borescope, failing(case, shim, at))
        statuses.add(end[0])
        if why := fault_of(case, sound, end):
            faults.append(f"{case.words}: {case.call} {at} fails: {why}: {end[2].strip()}")
    if case.is_said and 2 not in statuses:
        faults.append(f"{case.words}: no failure of {case.call} is said")
    return faults


def rows_left_out(case, folder, borescope, shim):
    """A failure, after which rows are added to the log: what is in the cache then is not the answer."""
    log = folder / "logged.rpd-wal"
    before, after = log.read_bytes(), (folder / "more.wal").read_bytes()

    def answer(rows, variables):
        log.write_bytes(rows)
        return ran(case, folder, borescope, variables)[:2]

    calls = counted(case, folder, borescope, shim)
    sound = [answer(before, {}), answer(after, {})]
    faults = [] if sound[0] != sound[1] else [f"{case.words}: the log has no more rows"]
    for at in range(1, calls + 1):
        shutil.rmtree(folder / "cache", ignore_errors=True)
        answer(before, failing(case, shim, at))
        for variables in (failing(case, shim, at), {}):
            end = answer(after, variables)
            if end[0] == 0 and end != sound[1]:
                faults.append(f"{case.words}: {case.call} {at} fails: rows of the log are left out")
    log.write_bytes(before)
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
        writer = make_databases(pathlib.Path(folder))
        for case in CASES + LOGGED:
            if options.only in case.words:
                ask = rows_left_out if case in LOGGED else faults_of
                faults += ask(case, pathlib.Path(folder), options.borescope, options.shim)
        writer.close()
    print("\n".join(faults) or "each failure was named")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
