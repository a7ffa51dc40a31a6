"""A run of many ranks with planted times, for tests of what is done with many files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STEPS = 3
STEP_US = 1000
SLOW_RANK = 17
Events = list[dict[str, Any]]


def event(category: str, name: str, ts: float, dur: float, thread: int, **args: Any) -> dict[str, Any]:
    on_device = category in ("kernel", "gpu_memcpy")
    return {"ph": "X", "cat": category, "name": name, "pid": 0 if on_device else 100, "tid": thread,
            "ts": ts, "dur": dur, "args": args}


def launched(category: str, kernel: str, op: str, ts: float, dur: float, number: int, stream: int,
             **args: Any) -> Events:
    """An operator, the call in it, and what that started 10 us later."""
    call = "cudaLaunchKernel" if category == "kernel" else "cudaMemcpyAsync"
    return [event("cpu_op", op, ts, 8, 1, **{"Input Dims": [[64, 64]], "External id": number}),
            event("cuda_runtime", call, ts + 1, 5, 1, correlation=number),
            event(category, kernel, ts + 10, dur, stream, device=0, stream=stream, correlation=number,
                  **args)]


def allocation(ts: float, size: int, total: int) -> dict[str, Any]:
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 100, "tid": 1, "ts": ts,
            "args": {"Total Reserved": 1 << 20, "Total Allocated": total, "Bytes": size, "Addr": 4096,
                     "Device Id": 0, "Device Type": 1}}


def step_events(rank: int, step: int) -> Events:
    """A product, a collective and a copy. The slow rank's product takes 100 us more, and its collective
    begins as much later; that of the others waits."""
    begin = STEP_US * step
    late = 100 if rank == SLOW_RANK else 0
    number = 10 * step
    events = [event("user_annotation", f"ProfilerStep#{step}", begin, STEP_US, 1)]
    events += launched("kernel", "ampere_sgemm_64x64_nn", "aten::mm", begin + 10, 200 + late, number + 1, 7)
    events += launched("kernel", "ncclDevKernel_AllReduce_Sum_f32", "c10d::allreduce_", begin + 250 + late,
                       150 - late, number + 2, 9,
                       **{"Collective name": "allreduce", "In msg nelems": 4096, "Out msg nelems": 4096,
                          "Group size": 64, "dtype": "Float", "Process Group Name": "0"})
    events += launched("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", "aten::copy_", begin + 500, 20,
                       number + 3, 7, **{"bytes": 1 << 20, "memory bandwidth (GB/s)": 52.4})
    return [*events, allocation(begin + 5, 512, 512 * (step + 1))]


def rank_text(rank: int, ranks: int) -> bytes:
    events = [each for step in range(STEPS) for each in step_events(rank, step)]
    return json.dumps({"distributedInfo": {"rank": rank, "world_size": ranks, "backend": "nccl"},
                       "traceEvents": events}).encode()


def write_run(folder: Path, ranks: int) -> Path:
    """A file a rank, ``rank-0.json`` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    for rank in range(ranks):
        (folder / f"rank-{rank}.json").write_bytes(rank_text(rank, ranks))
    return folder
