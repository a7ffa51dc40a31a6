#!/usr/bin/env python3
"""write_seeds.py FOLDER: small logs of a recording by hand, the seeds of fuzz_recording."""

import struct
import sys
from pathlib import Path

PAGE = 4096


def record(kind, a, body=(), text="", flags=0):
    encoded = text.encode()
    padding = -len(encoded) % 8
    words = 1 + len(body) + (len(encoded) + padding) // 8
    head = kind | words << 8 | (flags | padding) << 24 | a << 32
    return struct.pack(f"<{1 + len(body)}Q", head, *body) + encoded + bytes(padding)


def chunk(number, kind, tid, first_ns, records, magic=0x48435342, generation=0, released_ns=0):
    """As small as it may be: at its real size most of a seed would be zeros."""
    body = b"".join(records) + bytes(8)
    header = struct.pack("<IIQIIQQQQQ", magic, 64 + len(body), number, kind, tid, first_ns,
                         generation, 0x7F00, 0, released_ns)
    return header + body


def log(chunks, pid=100, rank=3, world=8, flags=0):
    header = struct.pack("<8sIIIIQ16sQQQQIIiiiIII", b"BSRLOG1\n", 1, PAGE, pid, 1, 7, bytes(16), 42,
                         1000, 1_700_000_000_000_000_000, 1000, pid, flags, rank, rank, world, 0, PAGE, 0)
    text = header
    for one in chunks:
        text = text.ljust(-(-len(text) // PAGE) * PAGE, b"\0") + one
    return text


def host():
    return log([chunk(0, 1, 101, 2000, [
        record(0x01, 1, text="registered"),
        record(0x04, 101, (0x7F00, 101), "worker"),
        record(0x15, 1, (16, 0), "NCCL"),
        record(0x10, 0, (2000,), "step"),
        record(0x10, 16, (2010, 5, 1, 0), "", 8),
        record(0x11, 16, (2020,)),
        record(0x10, 0, (2100,), "aten::mm, seq = 7, op_id = 3, sizes = [[2, 3], [3, 4]]"),
        record(0x12, 0, (2150,), "mark"),
        record(0x11, 0, (2200,)),
        record(0x13, 0, (2300, 9), "request"),
        record(0x14, 0, (2400, 9)),
        record(0x42, 1, (1 | 12 << 32,), "function"),
        record(0x40, 1, (2500,)),
        record(0x41, 1, (2600,)),
        record(0x50, 1, (2700, 2800, 11, 0, 5), '{"Input Dims":[[2]],"Input type":["float"]}'),
        record(0x39, 2, (12, 0, 2500)),
        record(0x70, 6, (2900,), "another profiler"),
        record(0x11, 0, (3000,)),
        record(0x10, 0, (3100,), "killed"),
    ])])


def device():
    kernel = struct.unpack("<11Q", struct.pack("<QQ16IQ", 2500, 2900, 0, 1, 7, 1, 8, 1, 1, 256, 1, 1, 32,
                                               0, 1024, 0, 0, 0, 0))
    copy = struct.unpack("<8Q", struct.pack("<QQQ8IQ", 2950, 2990, 4096, 0, 1, 7, 0, 1, 2, 3, 0, 0))
    return log([chunk(0, 2, 100, 1000, [
        record(0x02, 0, (1000, 1_700_000_000_000_000_000, 1000, 20)),
        record(0x03, 0, text='{"argv":["program"],"env":{"RANK":"3"}}'),
        record(0x01, 1, text="_Z4gemmv"),
        record(0x38, 1, (0,), '{"name":"device"}'),
        record(0x20, 5, (2110, 2120, 211 | 1 << 32, 0, 101)),
        record(0x30, 5, kernel),
        record(0x31, 6, copy),
        record(0x32, 7, copy),
        record(0x33, 8, (3000, 3100, 1 | 7 << 32, 1)),
        record(0x34, 9, (3200, 0x1000, 512, 1, 0, 0)),
        record(0x35, 10, (3300, 3400, 0, 7 | 3 << 32)),
        record(0x36, 5, (1, 77)),
        record(0x37, 1, (3500, 3600, 0)),
        record(0x60, 1, (3700, 0x3FF0000000000000)),
        record(0x3A, 5, (2110, 2120, 0, 1 | 2 << 32, 1, 0x3FF0000000000000, 1, 0x7FF8000000000000)),
        record(0x3A, 6, (2110, 2120, 0, 1 | 9 << 32, 1)),
        record(0x7F, 1, (3800, 0)),
    ])])


def xla():
    """A module of JAX with its operations, one of which is open at the end, and texts that only look so."""
    return log([chunk(0, 1, 101, 2000, [
        record(0x15, 1, (16, 0), "TSL"),
        record(0x10, 16, (2000,), "XlaPass:#name=dce,module=jit_f,program_id=1#"),
        record(0x11, 16, (2010,)),
        record(0x10, 16, (2100,), "XlaModule:#prefix=jit(f),hlo_module=jit_f,program_id=1#"),
        record(0x10, 16, (2110,), "Thunk:#name=jit(f)[a=1,b=2]/dot,hlo_op=fusion.1,unique_hlo_op_id=9#"),
        record(0x20, 5, (2111, 2120, 211 | 1 << 32, 0, 101)),
        record(0x11, 16, (2130,)),
        record(0x10, 16, (2140,), "Thunk:#hlo_op=,name=#"),
        record(0x11, 16, (2150,)),
        record(0x12, 16, (2160,), "Thunk:#hlo_op=copy#"),
        record(0x13, 16, (2170, 9), "Thunk:#hlo_op=copy#"),
        record(0x10, 0, (2180,), "Thunk:#name=,hlo_op=copy,hlo_op=copy#"),
    ])])


def ring():
    """A flight recorder: one chunk is old, one is being used again, one was used three times."""
    return log([
        chunk(0, 3, 100, 1000, [record(0x70, 7, (5000, 1500, 7)), record(0x01, 1, text="kept")]),
        chunk(1, 1, 101, 4000, [record(0x12, 0, (4000,), "old")], released_ns=5000),
        chunk(2, 1, 101, 4500, [record(0x12, 0, (4500,), "reused")], magic=0x52435342),
        chunk(3, 1, 101, 6000, [record(0x11, 0, (6000,)), record(0x12, 0, (6100,), "new")], generation=3),
    ], flags=8)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    for name, content in (("host.bsl", host()), ("device.bsl", device()), ("ring.bsl", ring()), ("xla.bsl", xla())):
        (target / name).write_bytes(content)
