"""Two files of one run: an execution trace of PyTorch, and the Kineto trace to link it with."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from growth.shapes import event, kernel, launch

ROOT = 2  # the thread, in the process 1


@dataclass(frozen=True)
class Operator:
    ts: float
    dur: float
    parent: int = ROOT
    tid: int = 1


def flat(n: int) -> Iterator[Operator]:
    for i in range(n):
        yield Operator(2 * i, 1)


def at_one_instant(n: int) -> Iterator[Operator]:
    for _ in range(n):
        yield Operator(5, 1)


def nested(n: int) -> Iterator[Operator]:
    for i in range(n):
        yield Operator(i, 2 * n - 2 * i, ROOT + i)


PAIRS: dict[str, Callable[[int], Iterator[Operator]]] = {
    shape.__name__: shape for shape in (flat, at_one_instant, nested)}


def node(number: int, name: str, parent: int, rf_id: int) -> dict:
    return {"id": number, "name": name, "ctrl_deps": parent,
            "inputs": {"values": [], "shapes": [], "types": []},
            "outputs": {"values": [], "shapes": [], "types": []},
            "attrs": [{"name": "rf_id", "type": "uint64", "value": rf_id},
                      {"name": "fw_parent", "type": "uint64", "value": 0},
                      {"name": "seq_id", "type": "int64", "value": -1},
                      {"name": "scope", "type": "uint64", "value": 0},
                      {"name": "tid", "type": "uint64", "value": 1},
                      {"name": "fw_tid", "type": "uint64", "value": 0},
                      {"name": "op_schema", "type": "string", "value": ""}]}


def write_pair(shape: str, n: int, host: str | Path, device: str | Path) -> None:
    """Every operator launches a kernel, and each hundredth waits for the device after it."""
    nodes = [node(1, "[pytorch|profiler|execution_trace|process]", 1, 0),
             node(ROOT, "[pytorch|profiler|execution_trace|thread]", 1, 0)]
    events = []
    for i, op in enumerate(PAIRS[shape](n)):
        nodes.append(node(ROOT + 1 + i, "aten::mm", op.parent, i + 1))
        events.append(event("cpu_op", "aten::mm", op.ts, op.dur, op.tid,
                            **{"External id": i + 1, "Record function id": i + 1}))
        events.append(launch(3 * i + 1, op.ts + 0.1, op.tid))
        events.append(kernel(3 * i + 1, op.ts + 0.5, 0.3, **{"External id": i + 1}))
        if i % 100 == 99:
            events.append(event("cuda_runtime", "cudaDeviceSynchronize", op.ts + 0.3, 0.5, op.tid,
                                correlation=3 * i + 2))
    Path(host).write_text(json.dumps({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "time": "", "start_ts": 0,
                                "nodes": nodes}))
    Path(device).write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
