#!/usr/bin/env python3
"""What `waits` costs by ranks and collectives, beside reading.

Usage: bench/waits.py BORESCOPE [RANKS:COLLECTIVES ...]     (default: 8:20000 64:5000 512:2000)

Ranks do nothing but launch collectives of one group, on clocks that are apart and drift, with one rank late now and
then. The time of `map` is divided by its ranks; `reduce` reads all parts and gives the answer.
"""

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KERNEL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)"
PERIOD_US = 500


def write_rank(path, rank, ranks, collectives):
    own, common = random.Random(rank), random.Random(-1)
    offset, drift = own.uniform(-5e4, 5e4), own.uniform(-30e-6, 30e-6)
    events = []
    for i in range(collectives):
        late = common.randrange(ranks) if common.random() < 0.1 else None
        all_in = i * PERIOD_US + 60 + (100 if late is not None else 0)
        enter = all_in if rank == late else i * PERIOD_US + own.uniform(20, 60)
        leave = all_in + 40 + common.choice((0, 20, 80)) + own.uniform(0, 2)

        def at(us):
            return round(us * (1 + drift) + offset, 3)
        args = {"stream": 20, "correlation": i + 1, "Collective name": "allreduce", "In msg nelems": 1000, "Seq": i,
                "Out msg nelems": 1000, "Group size": ranks, "dtype": "Float", "Process Group Name": "0"}
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                       "ts": at(enter - 8), "dur": 4, "args": {"correlation": i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": KERNEL, "pid": 0, "tid": 20, "ts": at(enter),
                       "dur": round(at(leave) - at(enter), 3), "args": args})
    path.write_text(json.dumps({"distributedInfo": {"rank": rank, "world_size": ranks}, "traceEvents": events}),
                    encoding="utf-8")


def timed(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - start, cpu


def measure(borescope, ranks, collectives):
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder, "run")
        run.mkdir()
        for rank in range(ranks):
            write_rank(run / f"rank-{rank}.json", rank, ranks, collectives)
        part = Path(folder, "all.part")
        _, map_cpu = timed([borescope, "map", "waits", str(run), "-o", str(part), "-q"])
        wall, cpu = timed([borescope, "reduce", str(part), "-q", "-f", "json"])
        print(f"{ranks} ranks x {collectives}: map {1000 * map_cpu / ranks:.0f} ms CPU a rank, "
              f"part {part.stat().st_size / 1e6:.1f} MB; reduce {wall:.2f} s, CPU {cpu:.2f} s", flush=True)


def main():
    borescope, *sizes = sys.argv[1:] or sys.exit(__doc__)
    for size in sizes or ["8:20000", "64:5000", "512:2000"]:
        ranks, collectives = map(int, size.split(":"))
        measure(borescope, ranks, collectives)


if __name__ == "__main__":
    main()
