#!/usr/bin/env python3
"""Writes the recordings that the recipes of docs/use/recipes.md read: tests/data/recipes.

    gen_recipe_data.py                  ranks_64, from the formulas below
    gen_recipe_data.py --synth PROGRAM  also train and train_slower, by borescope-synth

`train` is a small training with stacks, shapes and memory; `train_slower` is the same with slower kernels.
`ranks_64` is a job of 64 ranks, in which the kernels of rank 41 take 1.3 times as long.
"""

import argparse
import gzip
import json
import random
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "tests" / "data" / "recipes"
RANKS, STEPS, SLOW_RANK = 64, 3, 41
GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
GEMM_US, REDUCE_US, WAIT_US, ELEMENTS = 900, 400, 60, 16777216
TRAIN = ["--steps", "2", "--layers", "2", "--seed", "3", "--with-stack", "--with-shapes",
         "--with-memory"]


def compute_us(rank: int, step: int) -> int:
    """How long each product of matrices takes; all three of a step the same."""
    noise = random.Random(rank * STEPS + step).uniform(-0.01, 0.01)
    return round(GEMM_US * (1.3 if rank == SLOW_RANK else 1) * (1 + noise))


def begins() -> list[int]:
    """When each step begins, and, last, the end: a step ends when its slowest rank is done."""
    moments = [0]
    for step in range(STEPS):
        slowest = max(compute_us(rank, step) for rank in range(RANKS))
        moments.append(moments[-1] + WAIT_US + 3 * slowest + REDUCE_US)
    return moments


def event(category: str, name: str, thread: int, begin: int, length: int, **args: object) -> dict:
    """A complete event."""
    process = 0 if category == "kernel" else 1000
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": begin,
            "dur": length, "args": args}


def launched(op: str, kernel: str, stream: int, launch: int, begin: int, length: int, number: int,
             **args: object) -> list[dict]:
    """An operator, its launch and its kernel."""
    return [event("cpu_op", op, 1, launch, 8, **args),
            event("cuda_runtime", "cudaLaunchKernel", 1, launch + 2, 4, correlation=number),
            event("kernel", kernel, stream, begin, length, device=0, stream=stream,
                  correlation=number, **args)]


def events_of(rank: int) -> list[dict]:
    """The events of one rank. Clocks of ranks differ, as those of hosts do."""
    moments = [moment + 1_000_000 + 137 * rank for moment in begins()]
    events = []
    for step, (begin, end) in enumerate(zip(moments, moments[1:])):
        events.append(event("user_annotation", f"ProfilerStep#{step}", 1, begin, end - begin))
        length, at = compute_us(rank, step), begin + WAIT_US
        for product in range(3):
            events += launched("aten::mm", GEMM, 7, begin + 5 + 10 * product, at, length,
                               4 * (step * 4 + product) + 1)
            at += length
        args = {"Collective name": "allreduce", "In msg nelems": ELEMENTS, "Out msg nelems": ELEMENTS,
                "Group size": RANKS, "dtype": "Float", "Process Group Name": "0", "Seq": step}
        events += launched("record_param_comms", REDUCE, 24, begin + 40, at, end - at,
                           4 * (step * 4 + 3) + 1, **args)
    return events


def text_of(rank: int) -> bytes:
    """The recording of one rank."""
    head = {"schemaVersion": 1,
            "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}],
            "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS},
            "baseTimeNanoseconds": 1759300074000000000, "traceEvents": events_of(rank)}
    return json.dumps(head, separators=(",", ":")).encode()


def write(path: Path, text: bytes) -> None:
    """Writes a file that is the same each time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text, 9, mtime=0))


def write_trainings(synth: str) -> None:
    """Writes the recordings that the synthesiser makes."""
    for name, more in (("train", []), ("train_slower", ["--straggler", "0"])):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([synth, "--out", folder, *TRAIN, *more], check=True, capture_output=True)
            write(OUT / name / "rank-0.json.gz", (Path(folder) / "rank-0.json").read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--synth", help="the program borescope-synth")
    synth = parser.parse_args().synth
    for rank in range(RANKS):
        write(OUT / "ranks_64" / f"rank-{rank:02}.json.gz", text_of(rank))
    if synth:
        write_trainings(synth)


if __name__ == "__main__":
    main()
