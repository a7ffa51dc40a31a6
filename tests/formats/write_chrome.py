#!/usr/bin/env python3
"""Writes one planned run in the forms of Chrome JSON that other profilers than PyTorch's write.

    write_chrome.py [--seed N] [--steps N] FOLDER

FOLDER gets xla.json, xla_plain.json (no launches recorded), ascend.json, onnxruntime.json,
autograd.json (PyTorch to 1.7), onnxruntime_shuffled.json and autograd_shuffled.json (their events in
another order), autograd_host.json (since 1.8) and truth.json: for each file the
kernels by name [count, ns], the operators by name [calls, ns of device work], copies [count, ns] and
steps. The forms are those of docs/formats/chrome.md. Nothing of the product is used.
"""

import argparse
import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

KERNELS = {"dot": "sm90_xmma_gemm_bf16", "fusion": "loop_add_fusion", "reduce": "input_reduce_fusion"}


@dataclass
class Work:
    """Device work of one operator call. Times in ns."""
    op: str
    kernel: str
    launch: int
    begin: int
    dur: int
    stream: int
    correlation: int
    is_copy: bool = False


@dataclass
class Plan:
    steps: list[tuple[int, int]] = field(default_factory=list)  # begin, length
    ops: list[tuple[str, int, int, int]] = field(default_factory=list)  # name, begin, length, step
    work: list[Work] = field(default_factory=list)


def plan(seed: int, steps: int) -> Plan:
    rng = random.Random(seed)
    made = Plan()
    now, device, correlation = 1_000_000, 1_000_000, 0
    for step in range(steps):
        begin = now
        now += rng.randrange(500, 3000)
        for _ in range(rng.randrange(2, 6)):
            kind = rng.choice(list(KERNELS))
            op = f"{kind}.{rng.randrange(4)}"
            op_begin = now
            now += rng.randrange(300, 2000)
            for _ in range(rng.randrange(1, 3)):
                correlation += 1
                launch, now = now, now + rng.randrange(1000, 4000)
                device = max(device, now) + rng.randrange(0, 3000)
                dur = rng.randrange(1000, 90_000)
                is_copy = rng.random() < 0.2
                name = "MemcpyH2D" if is_copy else KERNELS[kind]
                made.work.append(Work(op, name, launch, device, dur, 13 + is_copy, correlation, is_copy))
                device += dur
            now += rng.randrange(300, 2000)
            made.ops.append((op, op_begin, now - op_begin, step))
        now += rng.randrange(500, 3000)
        made.steps.append((begin, now - begin))
        now += rng.randrange(0, 5000)
    return made


def us(ns: int) -> float:
    return ns / 1000


def sums(pairs) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, ns in pairs:
        found[name][0] += 1
        found[name][1] += ns
    return dict(found)


def truth(made: Plan, steps: int, with_launches: bool = True) -> dict:
    copies = [w for w in made.work if w.is_copy]
    by_op: dict[str, int] = defaultdict(int)
    for work in made.work:
        by_op[work.op] += work.dur
    return {"kernels": sums((w.kernel, w.dur) for w in made.work if not w.is_copy),
            "operators": dict(by_op),
            "copies": [len(copies), sum(w.dur for w in copies)],
            "steps": steps if with_launches else 0}


def meta(what: str, pid, name: str, tid=None) -> dict:
    event = {"ph": "M", "pid": pid, "name": what, "args": {"name": name}}
    return event if tid is None else {**event, "tid": tid}


def xla(made: Plan, with_launches: bool) -> dict:
    events = [meta("process_name", 1, "/device:GPU:0"), meta("thread_name", 1, "Stream #13(Compute)", 13),
              meta("thread_name", 1, "Stream #14(MemcpyH2D)", 14), meta("thread_name", 1, "XLA Ops", 77),
              meta("process_name", 701, "/host:CPU"), meta("thread_name", 701, "python3", 5)]
    host = {"ph": "X", "pid": 701, "tid": 5}
    for number, (begin, dur) in enumerate(made.steps if with_launches else []):
        events.append({**host, "ts": us(begin), "dur": us(dur), "name": "train",
                       "args": {"step_num": str(number)}})
        events.append({**host, "ts": us(begin + 1), "dur": us(dur - 2), "name": "$train.py:3 step"})
    for op, begin, dur, step in made.ops if with_launches else []:
        if step % 2:  # as newer versions record the host's side of operations
            events.append({**host, "ts": us(begin), "dur": us(dur), "name": op})
    for work in made.work:
        if with_launches:
            events.append({**host, "ts": us(work.launch), "dur": 0.5, "name": "cuLaunchKernel",
                           "args": {"correlation_id": str(work.correlation), "device_id": "0"}})
        args = {"hlo_module": "jit_step", "hlo_op": work.op, "correlation_id": str(work.correlation)}
        if work.is_copy:
            args["memcpy_details"] = "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"
        else:
            args["kernel_details"] = ("regs:32 static_shared:0 dynamic_shared:1024 grid:132,1,1 "
                                      "block:256,1,1 occ_pct:100")
        events.append({"ph": "X", "pid": 1, "tid": work.stream, "ts": us(work.begin),
                       "dur": us(work.dur), "name": work.kernel, "args": args})
        events.append({"ph": "X", "pid": 1, "tid": 77, "ts": us(work.begin), "dur": us(work.dur),
                       "name": work.op, "args": {"hlo_op": work.op}})
    return {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True},
            "traceEvents": [*events, {}]}


def ascend(made: Plan) -> list[dict]:
    program, cann, npu, groups, overlap = 4000, 4_096_224, 4_096_416, 4_096_480, 4_096_736
    base = 1_700_000_000_000_000  # us

    def ts(ns: int) -> str:
        return f"{base + ns // 1000}.{ns % 1000:03}"

    events = []
    host = {"ph": "X", "pid": program, "tid": program, "cat": "cpu_op"}
    for number, (begin, dur) in enumerate(made.steps):
        events.append({**host, "name": f"ProfilerStep#{number}", "ts": ts(begin), "dur": us(dur),
                       "args": {"Sequence number": -1, "Fwd thread id": 0}})
    works = iter(made.work)
    work = next(works, None)
    for op, begin, dur, _ in made.ops:
        events.append({**host, "name": op, "ts": ts(begin), "dur": us(dur),
                       "args": {"Sequence number": 3, "Fwd thread id": 0, "Input Dims": "64,32;\r\n",
                                "Input type": "float;\r\nScalar"}})
        while work is not None and work.launch < begin + dur:
            arrow = {"cat": "async_npu", "name": "torch_to_npu", "bp": "e", "id": base * 1000 + work.begin}
            events.append({**arrow, "ph": "f", "pid": npu, "tid": work.stream, "ts": ts(work.begin)})
            events.append({**arrow, "ph": "s", "pid": program, "tid": program, "ts": ts(begin)})
            events.append({"ph": "X", "pid": cann, "tid": 4001, "name": "AscendCL@aclnnDo", "ts": ts(work.launch),
                           "dur": 0.5, "args": {"connection_id": work.correlation}})
            task = "SDMA_SQE" if work.is_copy else "AI_CORE"
            events.append({"ph": "X", "pid": npu, "tid": work.stream, "ts": ts(work.begin), "dur": us(work.dur),
                           "name": "MEMCPY_ASYNC" if work.is_copy else work.kernel,
                           "args": {"Task Type": task, "connection_id": work.correlation}})
            events.append({"ph": "X", "pid": npu, "tid": 99, "ts": ts(work.begin), "dur": us(work.dur),
                           "name": "Notify Wait", "args": {"Task Type": "Notify Wait"}})
            events.append({"ph": "X", "pid": overlap, "tid": 0, "ts": ts(work.begin), "dur": us(work.dur),
                           "name": "Computing"})
            work = next(works, None)
    end = max(w.begin + w.dur for w in made.work)
    events.append({"ph": "X", "pid": groups, "tid": 0, "ts": ts(end), "dur": 7.125,
                   "name": "hcom_allReduce__586_0_1", "args": {"data_type": "FP32", "count": 4096}})
    events.append({"ph": "X", "pid": groups, "tid": 1, "ts": ts(end), "dur": 7.0, "name": "Memcpy"})
    events.append({"ph": "C", "pid": 4_096_544, "tid": 0, "ts": ts(0), "name": "AI Core Freq",
                   "args": {"MHz": 1800}})
    names = ((program, "Python"), (cann, "CANN"), (npu, "Ascend Hardware"), (groups, "HCCL"),
             (overlap, "Overlap Analysis"), (4_096_544, "AI Core Freq"))
    events += [meta("process_name", pid, name) for pid, name in names]
    events += [meta("thread_name", npu, "Stream 13", 13), meta("thread_name", groups, "Group 0 Communication", 0),
               meta("thread_name", groups, "Plane 0", 1)]
    return events


def onnxruntime(made: Plan) -> list[dict]:
    """Times are whole microseconds: the plan's are cut, ends included."""
    session = {"cat": "Session", "pid": 9, "tid": 9, "ph": "X", "args": {}}
    events = [{**session, "dur": 7, "ts": 1, "name": "model_loading_uri"},
              {**session, "dur": 9, "ts": 10, "name": "session_initialization"}]
    for begin, dur in made.steps:
        events.append({**session, "ts": begin // 1000, "dur": dur // 1000 + 1, "name": "model_run"})
    works = iter(made.work)
    work = next(works, None)
    for op, begin, dur, _ in made.ops:
        events.append({"cat": "Node", "pid": 9, "tid": 9, "ph": "X", "ts": begin // 1000, "dur": dur // 1000,
                       "name": f"{op}_kernel_time",
                       "args": {"op_name": "MatMul", "provider": "CUDAExecutionProvider",
                                "input_type_shape": [{"float": [64, 256]}]}})
        while work is not None and work.launch < begin + dur:
            events.append({"cat": "Kernel", "pid": -1, "tid": -1, "ph": "X", "ts": work.begin // 1000,
                           "dur": work.dur // 1000, "name": work.kernel,
                           "args": {"stream": str(work.stream), "grid_x": "64", "block_x": "256",
                                    "op_name": "MatMul", "parent_name": op}})
            work = next(works, None)
    return events


def in_microseconds(made: Plan) -> Plan:
    work = [Work(w.op, w.kernel, w.launch, w.begin, w.dur // 1000 * 1000, w.stream, w.correlation, w.is_copy)
            for w in made.work]
    return Plan(made.steps, made.ops, work)


def autograd(made: Plan, with_devices: bool) -> list[dict]:
    events = []
    works = iter(made.work)
    work = next(works, None)
    number = 0
    for op, begin, dur, _ in made.ops:
        host = {"name": op, "pid": "CPU functions", "tid": 1, "ts": us(begin), "args": {}}
        events.append({**host, "ph": "X", "dur": us(dur)})
        while work is not None and work.launch < begin + dur:
            arrow = {"cat": "cpu_to_cuda", "id": number, "args": {}}
            events.append({**host, **arrow, "ph": "s"})
            device = {"name": work.kernel, "pid": "CUDA functions", "tid": 0, "ts": us(work.begin), "args": {}}
            if with_devices:
                events.append({**device, **arrow, "ph": "f"})
                events.append({**device, "ph": "X", "dur": us(work.dur)})
            number += 1
            work = next(works, None)
    return events


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    made = plan(options.seed, options.steps)
    whole = in_microseconds(made)
    npu = truth(made, options.steps)
    npu["kernels"]["hcom_allReduce__586_0_1"] = [1, 7125]
    shuffled = onnxruntime(made)
    random.Random(options.seed).shuffle(shuffled)
    shuffled_autograd = autograd(made, True)
    random.Random(options.seed).shuffle(shuffled_autograd)
    host = {"kernels": {}, "operators": {op: 0 for op, *_ in made.ops}, "copies": [0, 0], "steps": 0}
    forms = {
        "xla.json": (xla(made, True), truth(made, options.steps)),
        "xla_plain.json": (xla(made, False), truth(made, 0)),
        "ascend.json": (ascend(made), npu),
        "onnxruntime.json": (onnxruntime(made), truth(whole, options.steps)),
        "onnxruntime_shuffled.json": (shuffled, truth(whole, options.steps)),
        "autograd.json": (autograd(made, True), truth(made, 0)),
        "autograd_shuffled.json": (shuffled_autograd, truth(made, 0)),
        "autograd_host.json": (autograd(made, False), host),
    }
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, (document, _) in forms.items():
        (options.folder / name).write_text(json.dumps(document))
    truths = {name: expected for name, (_, expected) in forms.items()}
    (options.folder / "truth.json").write_text(json.dumps(truths, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
