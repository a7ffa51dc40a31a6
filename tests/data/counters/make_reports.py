#!/usr/bin/env python3
"""Writes reports of Nsight Compute by hand: what golden tests and the fuzzer read.

    make_reports.py FOLDER

The format is in docs/formats/counters.md; nothing here is NVIDIA's.
"""

import struct
import sys
from pathlib import Path


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def double(field, value):
    return varint(field << 3 | 1) + struct.pack("<d", value)


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def sized(entry):
    return struct.pack("<I", len(entry)) + entry


def process(pid):
    return text(6, number(1, pid) + text(2, "host.example") + text(3, "/opt/app/train"))


def block(pid, header=b"", sources=(), results=()):
    payload = b"".join(sized(entry) for entry in (*sources, *results))
    counts = number(1, len(sources)) + number(2, len(results))
    return sized(counts + header + number(5, len(payload)) + process(pid)) + payload


def report(*blocks):
    return b"NVR\0" + sized(number(1, 7)) + b"".join(blocks)


def session(*fields):
    return text(3, b"".join(fields))


def size(x, y=1, z=1):
    return number(1, x) + number(2, y) + number(3, z)


METRICS = [
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "launch__registers_per_thread",
    "launch__shared_mem_per_block_static",
    "device__attribute_device_index",
    "device__attribute_display_name",
    "device__attribute_multiprocessor_count",
    "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
]


def kernel(pid, call, mangled, function, ranges, values):
    """`ranges`: (text, number of its instance), outermost first. A value of None is missing."""
    message = number(1, pid) + number(2, call) + text(5, mangled) + text(6, function)
    message += text(10, size(2, 3)) + text(11, size(128))
    for metric, value in enumerate(values):
        if value is not None:
            stored = text(1, value) if isinstance(value, str) else double(3, value)
            message += text(13, number(1, metric) + text(2, stored))
    opened = b"".join(text(3, text(1, name) + number(3, at)) for name, at in ranges)
    thread = number(1, pid) + text(2, number(1, 0) + opened)
    message += text(21, text(1, number(1, 0) + text(2, "<default domain>")) + text(2, thread))
    return message + number(22, 1) + number(23, 7) + text(25, number(1, 0) + number(2, 0))


GEMM = ("_Z4gemmPKfS0_Pf", "gemm")
FILL = ("_Z4fillPff", "fill")


def kernels(pid):
    mm = "aten::mm, seq = 5, op_id = 9, sizes = [[64, 32], [32, 16]]"
    device = [32, 4096, pid, "Example GPU", 132]
    fill = [500, 0, 4096, 16, 0, 0, *device[3:]]
    gemm = [2000, 8192, 4096, 128, 1024, 0, *device[3:]]
    return [
        kernel(pid, 1, *FILL, [("step", 1), ("aten::fill_, seq = 4, op_id = 8", 2)], [*fill, 0]),
        kernel(pid, 2, *GEMM, [("step", 1), (mm, 3)], [*gemm, 65536]),
        kernel(pid, 3, *FILL, [("step", 4)], [*fill, None]),
    ]


def two_processes():
    line = "ncu --cache-control none --clock-control none --nvtx -o out /opt/app/train --token=secret"
    names = text(4, b"".join(text(1, name) for name in METRICS))
    return report(
        block(11, session(number(2, 1790000000), text(4, "192.0.2.2")), sources=[b"\xff" * 64]),
        block(11, names, results=kernels(11)),
        block(12, results=kernels(12)),
        block(11, session(text(8, text(1, "Nsight Compute Target") + text(2, "2025.3.1.0 (build 1)")))),
        block(11, session(text(9, "/opt/app/train TOKEN=secret"))),
        block(11, session(text(11, line))),
    )


def one_process():
    names = text(4, b"".join(text(1, name) for name in METRICS))
    return report(block(11, names, results=kernels(11)))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    (folder / "two_processes.ncu-rep").write_bytes(two_processes())
    (folder / "one_process.ncu-rep").write_bytes(one_process())
