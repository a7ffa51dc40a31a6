#!/usr/bin/env python3
"""Checks that a lack of memory or threads does no harm.

    check_memory.py --borescope BIN --data tests/data

Every kind of command runs under limits of its address space, from too little to start up to
plenty. Each time it either answers as it does without a limit, byte for byte, or ends with status 2
and one line on standard error that says so, and writes nothing. Threads take address space for
their stacks, so that small limits also refuse threads: the answer then comes from fewer.

Exit status: 0 all is well, 1 something is not.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MIB = 1 << 20
LIMITS_MIB = (14, 18, 20, 22, 24, 24.25, 25, 26, 26.5, 27, 28, 29, 29.4, 30, 31.5, 32, 33, 33.9, 35,
              40, 50, 75, 150, 1000)
# Words with the place of the run and of what is written.
COMMANDS = (
    "summary {run} -f json", "critical-path {run} -f csv", "roofline {run} -f csv",
    "flame {run} --folded", "kernels,ops,idle {run} --by step -f csv", "stats all {run} -f csv",
    "query 'select name, count(*) from device_events group by 1 order by 1' {run} -f csv",
    "report {run} -o {out}.html", "convert {run} {out}.pftrace", "convert {run} {out}.rpd",
    "convert {run} {out}.json.gz", "queue {rank} --overlay {out}.json",
    "critical-path {rank} --save {out}.graph", "breakdown {run} -f svg -o {out}.svg",
)


def run(command: str, limit: float | None) -> subprocess.CompletedProcess:
    def lower() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.run(["sh", "-c", f"exec {command}"], capture_output=True, check=False,
                          preexec_fn=lower)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def says_only_what_lacks(done: subprocess.CompletedProcess) -> bool:
    said = done.stderr.decode()
    return (done.returncode == 2 and done.stdout == b"" and said.startswith("borescope: ")
            and "out of memory" in said and said.count("\n") == 1)


def clear(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def limits_to_start(borescope: str) -> list[float]:
    """Those under which the loader, and libraries before the program's first line, have enough."""
    return [limit for limit in LIMITS_MIB
            if run(f"{borescope} --version", limit * MIB).returncode == 0]


def faults_of(command: str, limits: list[float], folder: Path) -> tuple[list[str], int]:
    """What is wrong, and how many limits the command lived with."""
    clear(folder)
    plenty = run(command, None)
    wanted = (plenty.stdout, written(folder))
    faults = [] if plenty.returncode == 0 else [f"{command}: {plenty.stderr.decode()}"]
    lived = 0
    for limit in limits:
        clear(folder)
        done = run(command, limit * MIB)
        if done.returncode == 0:
            lived += 1
            if (done.stdout, written(folder)) != wanted:
                faults.append(f"{limit} MiB: {command}: another answer")
        elif not says_only_what_lacks(done):
            faults.append(f"{limit} MiB: {command}: {done.returncode}: "
                          f"{done.stderr.decode()[:200]}")
        elif written(folder):
            faults.append(f"{limit} MiB: {command}: leaves {list(written(folder))}")
    return faults, lived


def narrow_faults(borescope: str, rank: Path) -> list[str]:
    """Limits 16 KiB apart around what the program needs to begin, then 1 MiB apart: an answer, or an error with
    exit status 2 and a text. The loader, which comes first, has status 127 and a text of its own."""
    step = 16 / 1024
    commands = [f"{borescope} --version", f"{borescope} list", f"{borescope} info {rank}"]
    enough = next(limit for limit in range(1, 1000) if run(commands[0], limit * MIB).returncode == 0)
    # From where the loader says something: the kernel ends what it cannot load at all.
    begin = enough
    while run(commands[0], (begin - 1) * MIB).returncode in (2, 127):
        begin -= 1
    narrow = [enough - 1 + step * i for i in range(int(2 / step))]
    faults, tally = [], {0: 0, 2: 0, 127: 0}
    for command in commands:
        wanted = run(command, None).stdout
        for limit in [*narrow, *range(begin, enough + 40)]:
            done = run(command, limit * MIB)
            is_sound = done.stdout == wanted if done.returncode == 0 else bool(done.stderr.strip())
            if done.returncode not in tally or not is_sound:
                faults.append(f"{limit} MiB: {command}: {done.returncode}: {done.stderr.decode()[:200]}")
            else:
                tally[done.returncode] += 1
    if not all(tally.values()):
        faults.append(f"the limits test nothing: {tally}")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        places = {"run": arguments.data / "demo_run", "out": folder / "out",
                  "rank": arguments.data / "demo_run" / "rank-0.json.gz"}
        faults += narrow_faults(arguments.borescope, places["rank"])
        limits = limits_to_start(arguments.borescope)
        for command in COMMANDS:
            found, lived = faults_of(f"{arguments.borescope} {command.format(**places)} -q", limits,
                                     folder)
            faults += found
            if not 0 < lived < len(limits):
                faults.append(f"{command}: lived with {lived} of {len(limits)} limits: "
                              "the limits test nothing")
    print("\n".join([*faults, f"{len(COMMANDS)} commands, {len(limits)} limits each, "
                     f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
