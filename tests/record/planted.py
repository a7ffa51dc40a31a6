"""A run folder whose contents are planned: planted.py FOLDER writes it, `plant` returns the truth, too.

Two processes of one job without ranks. The first has threads with steps, operators, launches of
kernels, copies and sets, ranges of two domains, marks and a range across threads. The second was
killed: a range is open, and its last record has no head.
"""

import random
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

from write_seeds import chunk, log, record

PUSH, POP, MARK, START, END = 0x10, 0x11, 0x12, 0x13, 0x14
CALL, KERNEL, COPY, SET, OPERATOR, STRING, THREAD, DOMAIN = 0x20, 0x30, 0x31, 0x32, 0x50, 0x01, 0x04, 0x15
RUNTIME = 1 << 32
LAUNCH, MEMCPY, MEMSET = 211, 41, 51  # CUPTI's numbers of cudaLaunchKernel, cudaMemcpyAsync, cudaMemsetAsync
KERNELS = {"_Z4gemmPfS_": "gemm(float*, float*)", "_Z7softmaxPf": "softmax(float*)", "triton_add": "triton_add"}
OPERATORS = ("aten::mm", "aten::softmax", "aten::add")
DOMAIN_ID = 16
STEPS, THREADS = 4, 3


@dataclass
class Truth:
    """Numbers of what is in the folder; times in ns."""

    kernels: dict = field(default_factory=dict)  # by name: count, time
    copies: dict = field(default_factory=dict)  # by direction: count, bytes
    ranges: dict = field(default_factory=dict)  # by name: count, time
    operators: dict = field(default_factory=dict)
    calls: dict = field(default_factory=dict)
    open_ranges: int = 0


def add(table, name, amount):
    count, total = table.get(name, (0, 0))
    table[name] = (count + 1, total + amount)


class Process:
    """Collects the records of a process, of each thread in its own chunk."""

    def __init__(self, pid, truth, dice):
        self.pid, self.truth, self.dice = pid, truth, dice
        self.chunks, self.correlation, self.free_at = [], 0, 0
        self.activity, self.threads = [], {}
        self.names = {name: number for number, name in enumerate((*KERNELS, *OPERATORS), 1)}

    def thread(self, tid):
        return self.threads.setdefault(tid, [record(THREAD, tid, (0x7F00 + tid, tid), f"worker {tid}")])

    def span(self, tid, begin, end, text, domain=0):
        """A range; records go in the order of time, so what is inside comes between the two."""
        name = f"tools:{text}" if domain else text
        add(self.truth.ranges, name, end - begin)
        return record(PUSH, domain, (begin,), text), record(POP, domain, (end,))

    def work(self, tid, now, kind):
        """A call and what it has the device do; returns when the call ends."""
        self.correlation += 1
        end = now + self.dice.randrange(3000, 6000)
        number, name = {"kernel": (LAUNCH, "cudaLaunchKernel"), "copy": (MEMCPY, "cudaMemcpyAsync"),
                        "set": (MEMSET, "cudaMemsetAsync")}[kind]
        self.thread(tid).append(record(CALL, self.correlation, (now, end, number | RUNTIME, 0, tid)))
        add(self.truth.calls, name, end - now)
        begin = max(self.free_at, end + self.dice.randrange(1000, 3000))
        self.free_at = begin + self.dice.randrange(2000, 90_000)
        getattr(self, kind)(begin, self.free_at)
        return end

    def kernel(self, begin, end):
        mangled = self.dice.choice(list(KERNELS))
        body = struct.pack("<QQ16IQ", begin, end, 0, 1, 7, self.names[mangled], 8, 4, 1, 256, 1, 1, 32, 0,
                           1024, 0, 0, 0, 0)
        self.activity.append(record(KERNEL, self.correlation, struct.unpack("<11Q", body)))
        add(self.truth.kernels, KERNELS[mangled], end - begin)

    def copy(self, begin, end):
        kind, source, target, name = self.dice.choice(((1, 1, 3, "HtoD"), (2, 3, 1, "DtoH"), (8, 3, 3, "DtoD")))
        size = self.dice.randrange(1, 1 << 22)
        body = struct.pack("<QQQ8IQ", begin, end, size, 0, 1, 7, 0, kind, source, target, 0, 0)
        self.activity.append(record(COPY, self.correlation, struct.unpack("<8Q", body)))
        add(self.truth.copies, name, size)

    def set(self, begin, end):
        size = self.dice.randrange(1, 1 << 20)
        body = struct.pack("<QQQ8IQ", begin, end, size, 0, 1, 7, 0, 0, 0, 3, 0, 0)
        self.activity.append(record(SET, self.correlation, struct.unpack("<8Q", body)))
        add(self.truth.copies, "set", size)

    def operator(self, tid, now):
        """With one to three works inside; returns when it ends."""
        name = self.dice.choice(OPERATORS)
        inside = now + 500
        for _ in range(self.dice.randrange(1, 4)):
            inside = self.work(tid, inside + 200, self.dice.choice(("kernel", "kernel", "kernel", "copy", "set")))
        end = inside + 500
        inputs = '{"Input Dims":[[8,16],[16,4]],"Input type":["float","float"]}'
        body = (now, end, self.correlation, 0, self.correlation)
        self.thread(tid).append(record(OPERATOR, self.names[name], body, inputs))
        add(self.truth.operators, name, end - now)
        return end

    def step(self, tid, now, number):
        """A range of a step, with operators and a range of another domain in it."""
        records = self.thread(tid)
        place = len(records)
        inside = now + 1000
        for _ in range(self.dice.randrange(3, 7)):
            inside = self.operator(tid, inside + 700)
        push, pop = self.span(tid, inside + 100, inside + 400, f"part {number % 2}", DOMAIN_ID)
        records += [push, pop]
        end = inside + 1000
        push, pop = self.span(tid, now, end, f"ProfilerStep#{number}")
        records.insert(place, push)
        records.append(pop)
        return end

    def bytes(self, more=()):
        strings = [record(STRING, number, text=name) for name, number in self.names.items()]
        strings.append(record(DOMAIN, 1, (DOMAIN_ID, 0), "tools"))
        strings.append(record(0x38, 1, (0,), '{"name":"planted GPU","multiprocessors":132}'))
        chunks = [chunk(0, 3, self.pid, 1000, strings)]
        for tid, records in self.threads.items():
            chunks.append(chunk(len(chunks), 1, tid, 2000, records))
        chunks.append(chunk(len(chunks), 2, self.pid, 2000, self.activity))
        return log([*chunks, *more], pid=self.pid, rank=-1, world=0)


def first_process(truth, dice):
    process = Process(100, truth, dice)
    for worker in range(THREADS):
        tid, now = 100 + worker, 1_000_000 * (worker + 1)
        for number in range(STEPS) if worker == 0 else ():
            now = process.step(tid, now, number) + 5000
        for _ in range(5 * worker):
            now = process.operator(tid, now + 1000)
        process.thread(tid).append(record(MARK, 0, (now + 10,), f"mark {worker}"))
        add(truth.ranges, f"mark {worker}", 0)
    process.thread(101).append(record(START, 0, (50_000_000, 9), "across threads"))
    process.thread(102).append(record(END, 0, (50_300_000, 9)))
    add(truth.ranges, "across threads", 300_000)
    return process.bytes()


def second_process(truth, dice):
    process = Process(200, truth, dice)
    now = 60_000_000
    for number in range(50):
        push, pop = process.span(200, now, now + 900, f"request {number % 5}")
        process.thread(200).extend((push, pop))
        now += 1000
    for _ in range(10):
        now = process.work(200, now + 500, "kernel")
    # It ends with the last record of its process, which is the end of the last kernel.
    process.thread(200).append(record(PUSH, 0, (now + 100,), "killed inside"))
    add(truth.ranges, "killed inside", max(0, process.free_at - (now + 100)))
    truth.open_ranges += 1
    torn = bytearray(record(POP, 0, (now + 200,)))
    torn[:8] = bytes(8)  # the head comes last, and did not
    process.thread(200).append(bytes(torn))
    return process.bytes()


def plant(folder, seed=1):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    truth, dice = Truth(), random.Random(seed)
    (folder / "host.100.7.0.bsl").write_bytes(first_process(truth, dice))
    (folder / "host.200.7.0.bsl").write_bytes(second_process(truth, dice))
    return truth


if __name__ == "__main__":
    print(plant(sys.argv[1]))
