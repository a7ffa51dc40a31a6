"""Recordings whose one property grows with n: each function gives the events of a Kineto trace.

Real recordings have little of each; who wants a program to take long has much of one."""

import itertools
from collections.abc import Callable, Iterator

Event = dict
PRINTABLE = [c for c in range(0x30, 0x7F) if c != 0x5C]


def event(cat: str, name: str, ts: float, dur: float, tid: int = 1, pid: int = 1,
          **args: object) -> Event:
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}


def launch(number: int, ts: float, tid: int = 1, pid: int = 1) -> Event:
    return event("cuda_runtime", "cudaLaunchKernel", ts, 0.1, tid, pid, correlation=number)


def kernel(number: int, ts: float, dur: float = 1, stream: int = 7, name: str = "gemm",
           **args: object) -> Event:
    return event("kernel", name, ts, dur, stream, 0, correlation=number, device=0, stream=stream,
                 **args)


def work(number: int, ts: float, **args: object) -> Iterator[Event]:
    """An operator, its launch and its kernel."""
    yield event("cpu_op", "aten::mm", ts, 1, **{"External id": number, "Sequence number": number})
    yield launch(number, ts + 0.2)
    yield kernel(number, ts + 0.5, **args)


def ordinary(n: int) -> Iterator[Event]:
    """Nothing is odd: what all else is compared with."""
    for i in range(n):
        yield from work(i + 1, 2 * i)


def equal_times(n: int) -> Iterator[Event]:
    for i in range(n):
        yield event("cpu_op", "aten::mm", 5, 1, **{"Sequence number": i + 1})
        yield launch(i + 1, 5)
        yield kernel(i + 1, 7)


def deep_nesting(n: int) -> Iterator[Event]:
    kinds = ("cpu_op", "user_annotation", "python_function")
    for i in range(n):
        yield event(kinds[i % 3], f"f{i % 50}", i, 2 * n - 2 * i)
    for i in range(n // 4):
        yield launch(i + 1, n + i / n)
        yield kernel(i + 1, n + 1 + i)


def open_ranges(n: int) -> Iterator[Event]:
    for i in range(n):
        yield {"ph": "B", "cat": "user_annotation", "name": f"r{i}", "pid": 1, "tid": 1, "ts": i}
        yield launch(i + 1, i + 0.5)
        yield kernel(i + 1, i + 0.6)


def tracks(n: int) -> Iterator[Event]:
    """A thread for every operator, and one kernel."""
    yield from work(1, 0)
    for i in range(n):
        yield event("cpu_op", "aten::mm", i, 1, tid=i + 2)


def many_threads(n: int) -> Iterator[Event]:
    for i in range(n):
        yield event("cpu_op", "aten::mm", i, 1, tid=i + 1)
        yield launch(i + 1, i + 0.2, tid=i + 1)
        yield kernel(i + 1, i + 0.5)


def many_streams(n: int) -> Iterator[Event]:
    for i in range(n):
        yield from work(i + 1, i, stream=i + 1, dur=n)


def many_processes(n: int) -> Iterator[Event]:
    for i in range(n):
        yield event("user_annotation", "ProfilerStep#1", i, 1, pid=i + 1, tid=i + 1)
        yield launch(i + 1, i + 0.2, tid=i + 1, pid=i + 1)
        yield kernel(i + 1, i + 0.5)


def many_devices(n: int) -> Iterator[Event]:
    for i in range(n):
        yield launch(i + 1, i)
        yield {**kernel(i + 1, i + 0.5), "pid": i, "args": {"device": i, "stream": 7,
                                                           "correlation": i + 1}}


def many_steps(n: int) -> Iterator[Event]:
    for i in range(n):
        yield event("user_annotation", f"ProfilerStep#{i}", 2 * i, 2)
        yield from work(i + 1, 2 * i + 0.1)


def many_names(n: int) -> Iterator[Event]:
    for i in range(n):
        yield event("user_annotation", f"range{i:06}", 2 * i, 2)
        yield event("cpu_op", f"aten::op{i:06}", 2 * i, 1)
        yield launch(i + 1, 2 * i + 0.2)
        yield kernel(i + 1, 2 * i + 0.5, name=f"void kernel{i:06}<float>(int)")


def long_names(n: int) -> Iterator[Event]:
    long = "x" * (40 * n)
    for i in range(4):
        yield event("user_annotation", f"{long}{i}", 10 * i, 9)
        yield event("cpu_op", f"aten::{long}{i}", 10 * i, 8)
        yield event("python_function", f"{long}.py(1): f{i}", 10 * i, 7)
        yield launch(i + 1, 10 * i + 1)
        yield kernel(i + 1, 10 * i + 2, name=f"void {long}<int, {i}>(float)")


def one_long_name(n: int) -> Iterator[Event]:
    yield event("user_annotation", "x" * n, 0, 9)
    yield from work(1, 1)


def brackets(n: int) -> Iterator[Event]:
    for i, text in enumerate(("<" * n, "<>" * n, "(" * n, "a::" * n, "a<b(" * n, "{" * n, "0x" * n,
                              " seq = 1," * n, "[" * n, "{'mod':[" * n)):
        yield event("user_annotation", text, 10 * i, 9)
        yield event("cpu_op", text, 10 * i, 8, **{"Input Dims": text, "Concrete Inputs": [text]})
        yield launch(i + 1, 10 * i + 1)
        yield kernel(i + 1, 10 * i + 2, name=text)


def kernel_files(n: int) -> Iterator[Event]:
    for i in range(n):
        path = f"/tmp/torchinductor_a/{'x/../' * (i % 5)}{'./' * (i % 7)}{'/' * (i % 11)}ab/c{i}ab.py"
        yield event("cpu_op", "triton_poi_fused_add_0", 2 * i, 1, kernel_file=path,
                    kernel_hash=f"c{i}ab", kernel_backend="triton", stream=7)
        yield launch(i + 1, 2 * i + 0.2)
        yield kernel(i + 1, 2 * i + 0.5, name="triton_poi_fused_add_0")


def allocations(n: int) -> Iterator[Event]:
    yield from work(1, 0)
    for i in range(n):
        yield event("cpu_op", "aten::empty", 2 * i, 1)
        yield {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2 * i + 0.5,
               "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096 * i, "Bytes": 512,
                        "Total Allocated": 512 * i, "Total Reserved": 1024 * i}}


def collectives(n: int) -> Iterator[Event]:
    for i in range(n):
        yield launch(i + 1, 2 * i)
        yield kernel(i + 1, 2 * i + 0.5, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL",
                     **{"Collective name": "allreduce", "In msg nelems": i, "Out msg nelems": i,
                        "Group size": 8, "dtype": "Float", "Process Group Name": str(i),
                        "Process Group Ranks": "[0, 1, 2, 3]"})


def ids_of_one_slot(n: int) -> Iterator[Event]:
    """Numbers that fall into one slot of tables whose hash of a number is the number, or a product
    with a known one."""
    for i in range(n):
        yield from work((i + 1) << 40, 2 * i)


def ids_of_one_bucket(n: int) -> Iterator[Event]:
    """Multiples of the sizes that tables of the standard library have, whose hash of a number is the
    number."""
    for i in range(n):
        yield from work((i + 1) * 10273 * 20753 * 42043, 2 * i)


def names_of_one_hash(n: int) -> Iterator[Event]:
    yield from work(1, 0)
    for i, name in enumerate(colliding_names(n)):
        yield event("cpu_op", name, 2 * i, 1)


def synchronised(n: int) -> Iterator[Event]:
    """Every call waits for the device, on which every stream waits for another."""
    for i in range(n):
        yield from work(3 * i + 1, 4 * i, stream=7 + i % 8)
        yield event("cuda_runtime", "cudaStreamWaitEvent", 4 * i + 1.2, 0.2, correlation=3 * i + 2)
        yield event("cuda_runtime", "cudaDeviceSynchronize", 4 * i + 2, 1, correlation=3 * i + 3)


def flows(n: int) -> Iterator[Event]:
    for i in range(n):
        yield event("cpu_op", "aten::mm", i, 0.5, **{"Fwd thread id": 0, "Sequence number": 7})
        yield event("cpu_op", "autograd::engine::evaluate_function: MmBackward0", n + i, 0.5, tid=2,
                    **{"Fwd thread id": 1, "Sequence number": 7})
        for phase, ts, tid in (("s", i, 1), ("f", n + i, 2)):
            yield {"ph": phase, "bp": "e", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1,
                   "tid": tid, "ts": ts}
        yield launch(i + 1, n + i + 0.1, tid=2)
        yield kernel(i + 1, n + i + 0.3)


MASK = (1 << 64) - 1
FACTOR = 0xFF51AFD7ED558CCD
START = 0x9E3779B97F4A7C15 ^ 16


def colliding_names(n: int) -> Iterator[str]:
    """Names of sixteen characters, all with one hash by the function that once numbered names: for
    their halves a and b, fold((START ^ a) * FACTOR) ^ b, where fold(x) is x ^ x >> 32. This is 0
    for them. Byte k of a product depends on the bytes up to k alone, so they are found by byte."""
    made = 0
    for low in itertools.product(PRINTABLE, repeat=4):
        for a in with_high_bytes(int.from_bytes(bytes(low), "little"), 4):
            product = (START ^ a) * FACTOR & MASK
            yield (a.to_bytes(8, "little") + (product ^ product >> 32).to_bytes(8, "little")).decode()
            made += 1
            if made == n:
                return


def with_high_bytes(a: int, k: int) -> Iterator[int]:
    if k == 8:
        yield a
        return
    for c in PRINTABLE:
        longer = a | c << 8 * k
        product = (START ^ longer) * FACTOR & MASK
        here, below = product >> 8 * k & 255, product >> 8 * (k - 4) & 255
        if here in PRINTABLE and here ^ below in PRINTABLE:
            yield from with_high_bytes(longer, k + 1)


SHAPES: dict[str, Callable[[int], Iterator[Event]]] = {
    shape.__name__: shape
    for shape in (ordinary, equal_times, deep_nesting, open_ranges, many_threads, many_streams,
                  many_processes, many_devices, many_steps, many_names, long_names, one_long_name, brackets,
                  kernel_files, allocations, collectives, ids_of_one_slot, ids_of_one_bucket,
                  names_of_one_hash,
                  synchronised, flows, tracks)
}
