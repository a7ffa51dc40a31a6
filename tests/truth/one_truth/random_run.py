"""Small runs of anything: work without length, work that overlaps, launches and operators that are missing.

What borescope-synth plans is how programs behave; here nothing is planned, so that every combination comes up.
"""

import json
import random

KERNELS = ("ampere_sgemm_128x64_nn", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(Args<4096ul>)",
           "void at::native::vectorized_elementwise_kernel<4, add>(int)", "triton_poi_fused_add_0",
           "CopyDeviceToDevice.kd", "flash_fwd_kernel", "unheard_of")
COPIES = ("Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)",
          "Memcpy DtoD (Device -> Device)")
OPS = ("aten::mm", "aten::add", "aten::linear", "c10d::allreduce_", "MyOp")
ANNOTATIONS = ("forward", "enumerate(DataLoader)#x.__next__", "nn.Module: Linear_0")
LAUNCHES = {"kernel": "cudaLaunchKernel", "gpu_memcpy": "cudaMemcpyAsync", "gpu_memset": "cudaMemsetAsync"}
END = 2000  # all times lie between 0 and this, in microseconds, so that many are equal


def write(folder, seed):
    """A run of one to three ranks in the folder; each holds what the verbs need at least."""
    dice = random.Random(seed)
    folder.mkdir()
    ranks = dice.randint(1, 3)
    for rank in range(ranks):
        document = {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": ranks},
                    "traceEvents": events(dice, rank)}
        (folder / f"rank-{rank}.json").write_text(json.dumps(document))
    return folder


def events(dice, rank):
    found = [complete("Iteration", "Trace", 0, END, "Spans", "PyTorch Profiler", {}),
             complete("all", "user_annotation", 0, END, 100, 1, {}),
             complete("aten::mm", "cpu_op", 10, 100, 100, 1, {}),
             complete("cudaLaunchKernel", "cuda_runtime", 12, 5, 100, 1, {"correlation": 9999}),
             complete("first", "kernel", 20, 10, rank, 7, {"device": rank, "stream": 7, "correlation": 9999})]
    for thread in range(1, dice.randint(2, 3)):
        nest(dice, found, thread, 200, END, 4)
    found += steps(dice)
    streams = [(rank if dice.random() < 0.7 else rank + 1, stream) for stream in dice.sample(range(7, 30), 3)]
    for correlation in range(1, dice.randint(2, 40)):
        launch(dice, found, correlation, *dice.choice(streams))
    dice.shuffle(found)
    return found


def complete(name, category, begin, duration, pid, tid, arguments):
    return {"ph": "X", "name": name, "cat": category, "ts": begin, "dur": duration, "pid": pid, "tid": tid,
            "args": arguments}


def nest(dice, found, thread, begin, end, depth):
    """Operators and annotations side by side and inside each other; one in ten outlives what it starts in."""
    at = begin
    while depth and at < end and dice.random() < 0.8:
        start = dice.randint(at, end)
        stop = dice.randint(start, end) + (dice.randint(0, 50) if dice.random() < 0.1 else 0)
        kind = dice.choice(("cpu_op", "cpu_op", "cpu_op", "user_annotation", "python_function"))
        name = dice.choice(OPS if kind == "cpu_op" else ANNOTATIONS)
        arguments = {"External id": dice.randint(1, 30)} if kind == "cpu_op" else {}
        found.append(complete(name, kind, start, stop - start, 100, thread, arguments))
        nest(dice, found, thread, start, min(stop, end), depth - 1)
        at = stop


def steps(dice):
    found, at = [], dice.randint(0, 300)
    for number in range(dice.randint(0, 3)):
        length = dice.randint(1, 600)
        found.append(complete(f"ProfilerStep#{number}", "user_annotation", at, length, 100, 1, {}))
        at += length + dice.choice((0, dice.randint(0, 100)))
    return found


def launch(dice, found, correlation, gpu, stream):
    """A call and its work; either may be missing, and the work may begin before the call."""
    called = dice.randint(0, END - 100)
    category = dice.choice(("kernel", "kernel", "kernel", "gpu_memcpy", "gpu_memset"))
    if dice.random() < 0.85:
        found.append(complete(LAUNCHES[category], "cuda_runtime", called, dice.randint(0, 20), 100,
                              dice.randint(1, 2), {"correlation": correlation}))
    for _ in range(dice.choice((0, 1, 1, 1, 1, 2))):
        begin = min(END - 60, called + dice.randint(-10, 200))
        duration = dice.choice((0, 0, dice.randint(0, 10), dice.randint(0, 60)))
        found.append(complete(*work(dice, category), max(0, begin), duration, gpu, stream,
                              arguments_of(dice, category, correlation, gpu, stream)))


def work(dice, category):
    names = {"kernel": KERNELS, "gpu_memcpy": COPIES, "gpu_memset": ("Memset (Device)",)}
    return dice.choice(names[category]), category


def arguments_of(dice, category, correlation, gpu, stream):
    arguments = {"device": gpu, "stream": stream, "correlation": correlation}
    if dice.random() < 0.3:
        arguments["External id"] = dice.randint(1, 30)
    if category != "kernel" and dice.random() < 0.8:
        arguments["bytes"] = dice.randint(0, 10000)
    elif dice.random() < 0.2:
        arguments["graph node id"] = dice.randint(1, 3)
    return arguments
