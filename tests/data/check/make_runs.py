"""Writes small traces of PyTorch's profiler for tests of `borescope check`, one run a file.

    make_runs.py NAME [LEVEL] [key=value...]

Every step has a matrix product of 400 us and an addition of 300 us, LEVEL times as long, one launch
each, and 40 us between them. Step n is 0.5 % x (n mod 3) longer. Keys: steps, first (the number of the
first step), pid, gemm (a factor of the product alone), device, world, unlinked (kernels without their
launch), before (kernels that were launched before the recording), shapes (1: an operator with shapes around each launch of a product).
"""

import json
import sys
from pathlib import Path

KERNELS = {"ampere_sgemm_128x64_nn": 400, "vectorized_elementwise_kernel": 300}


def launch(ts, pid, correlation):
    return {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": pid, "tid": 1, "ts": ts, "dur": 5,
            "args": {"correlation": correlation}}


def kernel(name, ts, dur, correlation):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": dur,
            "args": {"device": 0, "stream": 7, "correlation": correlation}}


def write_run(path, level=1.0, steps=6, first=0, pid=100, gemm=1.0, device="NVIDIA A100", world=1, unlinked=0,
              before=0, shapes=0):
    events = [kernel("ampere_sgemm_128x64_nn", 1000 - 400 * before + 400 * i, 400, 1 + i) for i in range(before)]
    ts = 1000.0
    is_first = True  # what has no launch before it was launched before the recording
    for step in range(first, first + steps):
        begin = ts
        for name, dur in KERNELS.items():
            dur = round(dur * level * (1 + 0.005 * (step % 3)) * (gemm if "gemm" in name else 1), 3)
            correlation = 1000 + len(events)
            loses_launch = unlinked > 0 and not is_first
            unlinked -= 1 if loses_launch else 0
            is_first = False
            if not loses_launch:
                events.append(launch(ts, pid, correlation))
                if shapes and "gemm" in name:
                    events.append({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": pid, "tid": 1, "ts": ts - 1,
                                   "dur": 8, "args": {"External id": correlation, "Input Dims": [[64, 32], [32, 16]],
                                                      "Input type": ["float", "float"]}})
            events.append(kernel(name, round(ts + 6, 3), dur, correlation))
            ts = round(ts + dur + 20, 3)
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": pid, "tid": 1,
                       "ts": begin, "dur": round(ts - begin - 1, 3)})
    Path(path).write_text(json.dumps({
        "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": device}],
        "distributedInfo": {"rank": 0, "world_size": world}, "traceEvents": events}))


def main():
    name, *rest = sys.argv[1:]
    level = float(rest.pop(0)) if rest and "=" not in rest[0] else 1.0
    given = dict(word.split("=", 1) for word in rest)
    kinds = {"gemm": float, "device": str}
    write_run(name, level, **{key: kinds.get(key, int)(value) for key, value in given.items()})


if __name__ == "__main__":
    main()
