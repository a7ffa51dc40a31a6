"""Runs of small programs as PyTorch's profiler records them, for check_gate.py: a host that launches ahead, devices
that do the work of each stream in order, and collectives that end together in all ranks.

A program says what a step does; a change says what became slower. What follows for the step is worked out moment by
moment, so that no test has to say how long a step is.
"""

import copy
import dataclasses
import json
import random

STEPS = 7
BEFORE = 2  # steps that ran before the recording began: their work may still run


@dataclasses.dataclass
class Program:
    """Times are in us. Each kernel is launched by a call of its own, or all of a step by one graph."""
    name: str
    kernels: list  # (name, device time)
    host: float  # of a step, beside its calls
    call: float = 5.0
    graph: bool = False
    collective: float = 0.0  # device time of one after the others, on a stream of its own
    is_hidden: bool = False  # the next step does not wait for it
    waits: bool = False  # the host waits for the device at the end of each step
    ranks: int = 1


PROGRAMS = [
    Program("host-bound", [("ampere_sgemm_128x64_nn", 120.0), ("vectorized_elementwise_kernel", 60.0)], 900.0),
    Program("device-bound", [("ampere_sgemm_128x64_nn", 700.0), ("vectorized_elementwise_kernel", 500.0)], 300.0),
    Program("graph", [(f"triton_{i}", 40.0) for i in range(20)], 150.0, graph=True),
    Program("waits", [("ampere_sgemm_128x64_nn", 400.0), ("vectorized_elementwise_kernel", 200.0)], 350.0, waits=True),
    Program("ranks", [("ampere_sgemm_128x64_nn", 500.0), ("vectorized_elementwise_kernel", 200.0)], 300.0,
            collective=300.0, ranks=3),
    Program("hidden collective", [("ampere_sgemm_128x64_nn", 900.0), ("vectorized_elementwise_kernel", 300.0)], 300.0,
            collective=250.0, is_hidden=True, ranks=2)]


@dataclasses.dataclass
class Change:
    name: str
    host: float = 1.0
    device: float = 1.0
    collective: float = 1.0
    share_of_steps: float = 1.0  # that are as slow as that; others are as before
    rank: int = -1  # the only one that is slower
    split: int = 1  # each kernel becomes so many that take as long together


UNCHANGED = Change("unchanged")


class Random:
    """Times of a run, which has a level of its own; 0: the times as they are."""
    def __init__(self, seed, noise=0.01):
        self.random, self.noise = random.Random(seed), noise
        self.level = self.random.gauss(1, noise)

    def __call__(self, us):
        return us * max(0.5, self.random.gauss(self.level, self.noise))


def run_of(program, change, seed, noise=0.01):
    """The ranks, when they have run."""
    draws = [Random(f"{seed}/{rank}", noise) for rank in range(program.ranks)]
    chooser = random.Random(f"steps of {seed}")
    slow = set(chooser.sample(range(1, STEPS), round(change.share_of_steps * (STEPS - 1))))
    slow = set(range(-BEFORE, STEPS)) if change.share_of_steps == 1 else slow
    ranks = [Rank(program, draws[rank]) for rank in range(program.ranks)]
    for step in range(-BEFORE, STEPS):
        for number, rank in enumerate(ranks):
            is_slow = step in slow and change.rank in (-1, number)
            rank.run_step(step, change if is_slow else UNCHANGED, change.split)
        if program.collective:
            entered = max(rank.ready for rank in ranks)
            for number, rank in enumerate(ranks):
                factor = change.collective if step in slow and change.rank in (-1, number) else 1
                rank.add_collective(entered, program.collective * factor)
        for rank in ranks:
            rank.completions.append(max(rank.host, *rank.free.values()))
    return ranks


def step_of(program, change, seed):
    """The mean length of a step without noise: of the slowest rank, from completion to completion, the first left
    out."""
    completions = [rank.completions for rank in run_of(program, change, seed, noise=0)]
    return max((each[-1] - each[BEFORE]) / (STEPS - 1) for each in completions)


class Rank:
    def __init__(self, program, draw):
        self.program, self.draw = program, draw
        self.host = 1000.0
        self.free = {7: 0.0, 20: 0.0}  # when a stream has done what it has
        self.number = 1000
        self.events = []
        self.completions = []
        self.begin = None  # of the recording
        self.ready = 0.0
        self.call = None  # of the collective

    def add(self, category, name, tid, ts, dur, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 100 if tid < 5 else 0, "tid": tid,
                            "ts": round(ts, 3), "dur": round(dur, 3), "args": args})

    def launch(self, name="cudaLaunchKernel"):
        self.number += 1
        dur = self.draw(self.program.call)
        self.add("cuda_runtime", name, 1, self.host, dur, correlation=self.number)
        self.host += dur
        return self.number, self.host

    def work(self, stream, name, launched, dur, number):
        begin = max(self.free[stream], launched + 4)
        self.free[stream] = begin + dur
        self.add("kernel", name, stream, begin, dur, device=0, stream=stream, correlation=number)

    def run_step(self, step, change, split):
        program = self.program
        if step == 0:
            self.begin = self.host
        first = self.host
        self.host += self.draw(program.host * change.host) / 2
        call = self.launch("cudaGraphLaunch") if program.graph else None
        for name, dur in program.kernels:
            for _ in range(split):
                number, launched = call or self.launch()
                self.work(7, name, launched, self.draw(dur * change.device / split), number)
        if program.collective:
            self.call = self.launch()
            self.ready = max(self.free[7], self.free[20], self.call[1] + 4)
        self.host += self.draw(program.host * change.host) / 2
        if program.waits:
            self.number += 1
            end = max(self.host + 5, self.free[7] + 5)
            self.add("cuda_runtime", "cudaDeviceSynchronize", 1, self.host, end - self.host, correlation=self.number)
            self.host = end
        # A queue of two steps: the host waits for the device in a call, as it does for a free place.
        behind = self.free[7] - self.host
        most = 2 * sum(dur for _, dur in program.kernels) * change.device
        if behind > most:
            self.host += behind - most
        self.add("user_annotation", f"ProfilerStep#{step + BEFORE}", 1, first, self.host - first - 1)
        self.host += 1

    def add_collective(self, entered, dur):
        number, _ = self.call
        end = entered + self.draw(dur)
        begin = self.ready
        self.add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, begin, end - begin, device=0, stream=20,
                 correlation=number)
        self.free[20] = end
        if not self.program.is_hidden:
            self.free[7] = max(self.free[7], end)

    def recorded(self):
        """What a recording that begins with step 0 has: work that still ran then, without its launch."""
        kept = []
        for event in self.events:
            is_device = event["cat"] == "kernel"
            if event["ts"] >= self.begin - 0.001 or (is_device and event["ts"] + event["dur"] > self.begin):
                kept.append(event)
        return kept


def write_run(folder, program, change, seed):
    """A folder of the files of all ranks."""
    folder.mkdir(parents=True)
    for number, rank in enumerate(run_of(program, change, seed)):
        (folder / f"rank{number}.json").write_text(json.dumps({
            "schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100"}],
            "distributedInfo": {"rank": number, "world_size": program.ranks},
            "traceEvents": rank.recorded()}))


# --- recordings of others, replayed with other times


def replayed(trace, host, device, seed):
    """The recording again: what threads do takes `host` times as long, what streams do `device` times, and work begins
    when it did after its launch, or when its stream is free. Waits of the host are not worked out again."""
    draw = Random(seed)
    trace = copy.deepcopy(trace)
    events = [each for each in trace["traceEvents"] if each.get("ph") == "X"]
    calls = {each["args"]["correlation"]: each for each in events
             if each.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in each.get("args", {})}
    works = [each for each in events if each.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    start = min(each["ts"] for each in events)
    lags = {id(each): each["ts"] - calls[each["args"]["correlation"]]["ts"] for each in works
            if each["args"].get("correlation") in calls}
    pace = host * draw.level
    for each in events:
        if each.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            each["ts"] = start + (each["ts"] - start) * pace
            each["dur"] *= pace
    free = {}
    for each in sorted(works, key=lambda one: one["ts"]):
        stream = each["args"]["stream"]
        call = calls.get(each["args"].get("correlation"))
        earliest = each["ts"] if call is None else call["ts"] + min(lags[id(each)], 20)
        each["ts"] = max(earliest, free.get(stream, start))
        each["dur"] = each["dur"] * device * draw.random.gauss(1, 0.002)
        free[stream] = each["ts"] + each["dur"]
    trace["traceEvents"] = [each for each in trace["traceEvents"] if each.get("cat") != "gpu_user_annotation"]
    return trace
