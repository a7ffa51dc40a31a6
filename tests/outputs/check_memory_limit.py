#!/usr/bin/env python3
"""--memory-limit is kept, or the program says that it cannot be.

    check_memory_limit.py --borescope BIN --synth BIN --root CHECKOUT [--size 32MB] [--only NAME]

One recording in the forms of all profilers, as text, compressed and as databases, is loaded under limits around
what it needs, where no disk has room for columns (check_spill.py has the others). The process has no more address
space than the limit, what it needs to start, and what threads reserve without using it. Each time it answers as
without a limit, or ends with status 2 and a line that names the limit; its memory stays below; and what is enough is
enough.

A recording of 2 GB: --size 2GB --only trace.json (and trace.json.gz).

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import gzip
import hashlib
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MIB = 1 << 20
THREADS = 2
# Of what is needed. With the first it cannot load; the last, and what threads have of their own and
# hardly use (stacks of 8 MiB, heaps), is enough.
SHARES = (0.2, 0.5, 0.8, 1.0, 1.3)
# Below, what this program itself had before it started the other hides the difference.
SMALLEST_BYTES = 4 * MIB
OF_THREADS_BYTES = (THREADS + 1) * 16 * MIB
# Of what is needed, what is reserved besides and not touched: the parser of JSON takes five times the text.
UNTOUCHED = 5
# What counts as address space but is not memory: heaps of threads, reserved 64 MiB at a time, and
# files of libraries that are mapped later.
RESERVED_BYTES = (THREADS + 1) * 128 * MIB


# No disk: columns that are too many for the limit have no place. (Elsewhere than on Linux it does not exist.)
os.environ["TMPDIR"] = "/dev/shm"


class Run:
    """A finished process: its status, what it wrote, and the most memory it had (bytes)."""

    def __init__(self, words: list[str], address_space: int | None = None):
        def lower() -> None:
            if address_space is not None:
                resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        begin = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(words, stdout=out, stderr=errors, preexec_fn=lower)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            errors.seek(0)
            self.output, self.errors = out.read(), errors.read().decode()
        self.status = process.returncode
        self.seconds = time.monotonic() - begin
        self.peak = usage.ru_maxrss * 1024


def address_space_to_start(borescope: str) -> int:
    """The least under which the program itself runs."""
    low, high = 1 * MIB, 1024 * MIB
    while high - low > MIB:
        middle = (low + high) // 2
        if Run([borescope, "--version"], middle).status == 0:
            high = middle
        else:
            low = middle
    return high


def faults_of(borescope: str, path: Path, base: "Run", start: int) -> list[str]:
    words = [borescope, "info", str(path), "-q", "-f", "csv", "--threads", str(THREADS)]
    plenty = Run(words)
    if plenty.status != 0:
        return [f"{path.name}: {plenty.errors}"]
    need = max(plenty.peak - base.peak, SMALLEST_BYTES)
    faults = []
    lines = []
    for share in SHARES:
        is_enough = share == SHARES[-1]
        limit = int(need * share) + (OF_THREADS_BYTES if is_enough else 0)
        done = Run([*words, "--memory-limit", str(limit)], start + limit + limit // 16 + RESERVED_BYTES)
        name = f"{path.name}, {limit / MIB:.1f} MiB of {need / MIB:.1f}"
        lines.append(f"  {limit / MIB:9.1f} MiB: status {done.status}, peak {done.peak / MIB:.1f} MiB, "
                     f"{done.seconds:.2f} s  {done.errors.partition(chr(10))[0].replace(str(path), path.name)}")
        if done.status == 0:
            faults += [f"{name}: another answer"] if done.output != plenty.output else []
        elif done.status != 2 or done.output != b"" or not re.search("more than --memory-limit", done.errors):
            faults.append(f"{name}: status {done.status}: {done.errors[:300]}")
        elif is_enough:
            faults.append(f"{name}: refused: {done.errors[:300]}")
        if done.peak > base.peak + limit + limit // 16 + MIB:
            faults.append(f"{name}: took {done.peak / MIB:.1f} MiB")
    is_large = need > SMALLEST_BYTES
    if is_large and Run([*words, "--memory-limit", str(int(need * SHARES[0]))]).status == 0:
        faults.append(f"{path.name}: loads with a fifth of what it needs: the limit tests nothing")
    print(f"{path.name}: {path.stat().st_size / MIB:.1f} MiB, needs {need / MIB:.1f} MiB, {plenty.seconds:.2f} s")
    print("\n".join(lines), flush=True)
    return faults


def digest(path: Path) -> str:
    """Read in pieces, so that this program stays small."""
    made = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(MIB):
            made.update(piece)
    return made.hexdigest()


def faults_of_writer(borescope: str, words: list[str], output: Path, base: "Run") -> list[str]:
    """Of a verb that writes a file: under a limit it writes the same, or nothing and says why."""
    words = [borescope, *words, "-o", str(output), "-q"]
    words += [] if words[1] == "chakra" else ["--threads", str(THREADS)]
    plenty = Run(words)
    if plenty.status != 0:
        return [f"{' '.join(words)}: {plenty.errors}"]
    expected = digest(output)
    need = max(plenty.peak - base.peak, SMALLEST_BYTES)
    faults = []
    refused = 0
    for share in SHARES:
        output.unlink(missing_ok=True)
        is_enough = share == SHARES[-1]
        limit = int(need * share) + (OF_THREADS_BYTES + UNTOUCHED * need if is_enough else 0)
        done = Run([*words, "--memory-limit", str(limit)])
        name = f"{words[1]}, {limit / MIB:.1f} MiB of {need / MIB:.1f}"
        refused += done.status != 0
        if done.status == 0:
            faults += [f"{name}: another file"] if digest(output) != expected else []
        elif done.status != 2 or not re.search("out of memory|the system refuses", done.errors) or output.exists():
            faults.append(f"{name}: status {done.status}: {done.errors[:300]}")
        elif is_enough:
            faults.append(f"{name}: refused: {done.errors[:300]}")
        if done.peak > base.peak + limit + limit // 16 + MIB:
            faults.append(f"{name}: took {done.peak / MIB:.1f} MiB")
    if refused == 0 and need > SMALLEST_BYTES:
        faults.append(f"{words[1]}: writes with a fifth of what it needs: the limit tests nothing")
    print(f"{words[1]}: needs {need / MIB:.1f} MiB, refused {refused} of {len(SHARES)}", flush=True)
    return faults


def writers(folder: Path) -> list[tuple[list[str], Path]]:
    """Their words and what they write; the last reads what the one before wrote."""
    host, device, linked = folder / "host.json", folder / "device.json", folder / "linked.json"
    # In another process: what this one has at most counts for all that it starts.
    program = "import sys; from growth.pairs import write_pair; write_pair('flat', 5000, *sys.argv[1:])"
    subprocess.run([sys.executable, "-c", program, host, device], check=True, cwd=Path(__file__).resolve().parent)
    pair = ["--host", str(host), "--device", str(device)]
    return [(["convert", str(folder / "trace.json")], folder / "out.pftrace"),
            (["link", *pair], linked),
            (["chakra", "convert", str(linked)], folder / "linked.et")]


def write_dense(path: Path) -> None:
    """Events that compress to a hundredth: by its size the file seems small."""
    event = ('{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,'
             '"args":{"device":0,"stream":7,"correlation":1}}')
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write('{"traceEvents":[')
        for _ in range(300):
            file.write((event + ",") * 1000)
        file.write(event + "]}")


def write_long_head(path: Path) -> None:
    """A member of the head that takes most of the memory: its rank is 7, and never another one."""
    with path.open("w") as file:
        file.write('{"distributedInfo":{"rank":7,"world_size":8,"pad":"')
        for _ in range(3000):
            file.write("x" * 1000)
        file.write('"},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,'
                   '"args":{"device":0,"stream":7,"correlation":1}}]}')


def write_forms(arguments: argparse.Namespace, folder: Path) -> None:
    """The recording as text, and what other profilers would have written of it."""
    def synth(*more: str) -> None:
        subprocess.run([arguments.synth, "--out", str(folder), "--size", arguments.size, *more], check=True,
                       capture_output=True)
        made = next(path for path in folder.iterdir() if path.name.startswith("rank-0"))
        made.rename(folder / made.name.replace("rank-0", "trace"))

    def script(*words: str) -> None:
        subprocess.run([sys.executable, *words], check=True, capture_output=True)

    wanted = set(arguments.only)
    for name, options in (("trace.json.gz", ("--gzip",)), ("trace.json.zst", ("--zstd",)), ("trace.json", ())):
        if not wanted or name in wanted:
            synth(*options)
    if not wanted or "dense.json.gz" in wanted:
        write_dense(folder / "dense.json.gz")
    if not wanted or "long_head.json" in wanted:
        write_long_head(folder / "long_head.json")
    bench = arguments.root / "bench"
    if not wanted or "large.sqlite" in wanted:
        script(str(bench / "make_nsys.py"), "--kernels", "60000", str(folder / "large.sqlite"))
    if not wanted or "large.rpd" in wanted:
        script(str(bench / "make_rpd.py"), "--ops", "60000", "--calls", "120000", str(folder / "large.rpd"))
    if not wanted:  # small ones of the other profilers, too
        forms = arguments.root / "tests" / "formats"
        script(str(forms / "write_databases.py"), str(forms / "seed.json"), str(folder))
    (folder / "truth.json").unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--size", default="32MB")
    parser.add_argument("--only", action="append", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_forms(arguments, folder)
        base = Run([arguments.borescope, "--version"])
        start = address_space_to_start(arguments.borescope)
        faults = []
        for path in sorted(folder.iterdir()):
            if not arguments.only or path.name in arguments.only:
                faults += faults_of(arguments.borescope, path, base, start)
        if not arguments.only:
            for words, output in writers(folder):
                faults += faults_of_writer(arguments.borescope, words, output, base)
    print("\n".join(faults) or "every limit was kept or refused")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
