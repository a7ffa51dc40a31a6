#!/usr/bin/env python3
"""Dumps of a large job of which one host stopped, as PyTorch's own pickler writes them; and whether `borescope
postmortem` names that rank, in how much time and memory.

    many_ranks.py FOLDER [--ranks 4096] [--entries 2000]     writes the dumps
    many_ranks.py --check BORESCOPE [--ranks 64] [--entries 200] [--seconds S] [--megabytes M]
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BASE_NS = 1_790_000_000_000_000_000
COLUMNS = 8  # ranks of one tensor parallel group
LAYERS = 24


class Pickler:
    """Protocol 2 with a memo of texts and of what is named twice, and nothing else."""

    def __init__(self, memo=None):
        self.out = []
        self.memo = dict(memo or {})

    def value(self, value, key=None):
        out = self.out
        if key is not None and key in self.memo:
            self.get(self.memo[key])
        elif isinstance(value, str):
            if value in self.memo:
                self.get(self.memo[value])
            else:
                data = value.encode()
                out.append(b"X" + struct.pack("<I", len(data)) + data)
                self.put(value)
        elif value is None:
            out.append(b"N")
        elif isinstance(value, bool):
            out.append(b"\x88" if value else b"\x89")
        elif isinstance(value, int):
            if 0 <= value < 256:
                out.append(b"K" + bytes([value]))
            elif 0 <= value < 65536:
                out.append(b"M" + struct.pack("<H", value))
            elif -2**31 <= value < 2**31:
                out.append(b"J" + struct.pack("<i", value))
            else:
                out.append(b"\x8a\x08" + struct.pack("<q", value))
        elif isinstance(value, tuple):
            for item in value:
                self.value(item)
            out.append(b"\x86")
        elif isinstance(value, list):
            out.append(b"](")
            for item in value:
                self.value(item, item.get("key") if isinstance(item, dict) else None)
            out.append(b"e")
        else:
            self.open_dict()
            for name, item in value.items():
                if name != "key":
                    self.value(name)
                    self.value(item, "stack" + str(item[0]["key"]) if name == "frames" else None)
            out.append(b"u")
            if value.get("key") is not None:
                self.put(value["key"])

    def open_dict(self):
        self.out.append(b"}(")

    def put(self, key):
        number = self.memo[key] = len(self.memo)
        self.out.append(b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number))

    def get(self, number):
        self.out.append(b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number))

    def bytes(self):
        return b"".join(self.out)


def stacks():
    """A stack for each line of the program that communicates, innermost first."""
    below = [(f"/usr/lib/python3.11/site-packages/torch/nn/modules/module{i % 3}.py", "_call_impl", 1500 + i)
             for i in range(18)]
    made = []
    for line in range(12):
        frames = [("/usr/lib/python3.11/site-packages/torch/distributed/c10d.py", "collective", 70 + line),
                  ("/app/train.py", f"step_{line}", 10 + line)] + below + [("/app/main.py", "main", 5)]
        made.append([{"key": f"{file}:{number}:{name}", "name": name, "filename": file, "line": number}
                     for file, name, number in frames])
    return made


STACKS = stacks()


def program(half):
    """One step of a rank: (group, name, collective, p2p, sizes, line), which all ranks run."""
    ops = []
    for layer in range(LAYERS):
        ops.append(("tensor", "_all_gather_base", 4096, 4096 * COLUMNS, layer % 4))
        ops.append(("tensor", "_reduce_scatter_base", 4096 * COLUMNS, 4096, 4 + layer % 4))
    ops.append(("pipe", f"send {half}->{1 - half}", 64, 64, 8))
    ops.append(("pipe", f"recv {half}<-{1 - half}", 64, 64, 8))
    ops.append(("pipe", "coalesced", 0, 0, 8))
    ops.append(("data", "_reduce_scatter_base", 1 << 20, 1 << 12, 9))
    ops.append(("world", "all_reduce", 1, 1, 10))
    return ops


def entries(half, role, count):
    """The ring of a rank. The last step began everywhere; `role` says where the rank waits in it."""
    step = program(half)
    middle = next(i for i, op in enumerate(step) if i >= len(step) // 2 and op[1] == "_all_gather_base")
    pipe = next(i for i, op in enumerate(step) if op[0] == "pipe")
    data = next(i for i, op in enumerate(step) if op[0] == "data")
    # (issued, completed) of the last step.
    issued, done = {"stopped": (middle, middle), "beside": (middle + 4, middle), "partner": (pipe + 3, pipe),
                    "other": (len(step), data)}[role]
    steps = count // len(step) + 2
    made = []
    numbers = {}
    launches = {}
    ended = {}
    record = 0
    for number in range(steps):
        last = number == steps - 1
        for place, (group, name, ins, outs, line) in enumerate(step[:issued] if last else step):
            is_p2p = group == "pipe"
            if is_p2p:
                launches[group] = launches.get(group, 0) + (1 if name.startswith("send") else 0)
            else:
                numbers[group] = numbers.get(group, 0) + 1
            is_done = not last or place < done
            single = is_p2p and name != "coalesced"
            if is_done:
                ended[group] = launches[group] if is_p2p else numbers[group]
            created = BASE_NS + record * 1_000_000
            made.append({
                "record_id": record, "pg_id": ("world", "tensor", "data", "pipe").index(group),
                "process_group": group, "collective_seq_id": numbers.get(group, 0),
                "p2p_seq_id": launches.get(group, 0), "op_id": record, "profiling_name": f"nccl:{name}",
                "time_created_ns": created, "duration_ms": None,
                "input_sizes": [[ins]] if ins else [], "input_dtypes": ["BFloat16"] if ins else [],
                "output_sizes": [[outs]] if outs else [], "output_dtypes": ["BFloat16"] if outs else [],
                "state": "completed" if is_done and not single else "scheduled",
                "time_discovered_started_ns": None,
                "time_discovered_completed_ns": created + 500_000 if is_done and not single else None,
                "retired": is_done and not single, "timeout_ms": 600_000, "is_p2p": is_p2p,
                "thread_id": "140000000000000", "thread_name": "pt_main", "frames": STACKS[line]})
            record += 1
    status = {group: (numbers.get(group, launches.get(group, -1)), ended.get(group, -1))
              for group in ("world", "tensor", "data", "pipe")}
    return made[-count:], status


def header(ranks, rank, status):
    column, row = rank % COLUMNS, rank // COLUMNS
    half = ranks // 2
    pair = sorted((rank, (rank + half) % ranks))
    groups = {"world": ("0", "default_pg", range(ranks)),
              "tensor": (f"{10_000 + row}", "TENSOR_MODEL_PARALLEL_GROUP", range(row * COLUMNS, (row + 1) * COLUMNS)),
              "data": (f"{100_000 + column}", "DATA_PARALLEL_GROUP", range(column, ranks, COLUMNS)),
              "pipe": (f"{200_000 + pair[0]}", "PIPELINE_MODEL_PARALLEL_GROUP", pair)}
    pickler = Pickler()
    pickler.out.append(b"\x80\x02")
    pickler.open_dict()
    pickler.value("version")
    pickler.value("2.10")
    pickler.value("pg_config")
    pickler.open_dict()
    for name, description, members in groups.values():
        pickler.value(f"{name}")
        pickler.value({"name": f"{name}", "desc": description, "ranks": str(list(members))})
    pickler.out.append(b"u")
    pickler.value("pg_status")
    pickler.open_dict()
    for number, group in enumerate(groups):
        enqueued, completed = status[group]
        pickler.value(str(number))
        pickler.value({"last_enqueued_collective": enqueued, "last_started_collective": -1,
                       "last_completed_collective": completed})
    pickler.out.append(b"u")
    pickler.value("entries")
    return pickler, groups


def body(pickler, groups, ring):
    """The entries, with the groups by their numbers in the memo: one text for all ranks of a role."""
    pickler.out.append(b"](")
    for entry in ring:
        pickler.open_dict()
        for key, value in entry.items():
            pickler.value(key)
            pickler.value(groups[value][:2] if key == "process_group" else value)
        pickler.out.append(b"u")
    pickler.out.append(b"eu.")


def write(folder, ranks, count):
    """Writes the dumps; the rank that stopped."""
    folder.mkdir(parents=True, exist_ok=True)
    stopped = ranks // 2 - COLUMNS + 3
    row = stopped // COLUMNS
    bodies = {}
    for rank in range(ranks):
        half = 0 if rank < ranks // 2 else 1
        role = "stopped" if rank == stopped else "beside" if rank // COLUMNS == row else \
            "partner" if (rank + ranks // 2) % ranks // COLUMNS == row else "other"
        if (half, role) not in bodies:
            ring, status = entries(half, role, count)
            pickler, groups = header(ranks, rank, status)
            pickler.out = []
            body(pickler, groups, ring)
            bodies[half, role] = (pickler.bytes(), status)
        data, status = bodies[half, role]
        pickler, _ = header(ranks, rank, status)
        path = folder / f"trace_{rank}"
        path.write_bytes(pickler.bytes() + data)
        written = BASE_NS + 10**12
        os.utime(path, ns=(written, written))
    return stopped


def check(args):
    with tempfile.TemporaryDirectory(prefix="postmortem-") as folder:
        stopped = write(Path(folder), args.ranks, args.entries)
        began = time.monotonic()
        done = subprocess.Popen([args.check, "postmortem", folder, "-f", "json", "-q"], stdout=subprocess.PIPE)
        answer = json.loads(done.stdout.read())
        _, status, usage = os.wait4(done.pid, 0)
        took = time.monotonic() - began
    megabytes = usage.ru_maxrss / 1024
    tables = {table["name"]: {column["name"]: column["values"] for column in table["columns"]}
              for table in answer["tables"]}
    culprits = tables["hang_culprits"]
    print(f"{args.ranks} ranks: {took:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} s of processors, {megabytes:.0f} MB")
    named = list(zip(culprits["rank"], culprits["kind"], culprits["certainty"]))
    good = status == 0 and named == [(stopped, "never-issued", "certain")]
    if not good:
        print("expected", stopped, "found", named[:10])
    if args.seconds and took > args.seconds or args.megabytes and megabytes > args.megabytes:
        print("more than allowed")
        good = False
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--check")
    parser.add_argument("--ranks", type=int, default=4096)
    parser.add_argument("--entries", type=int, default=2000)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--megabytes", type=float)
    args = parser.parse_args()
    if args.check:
        return check(args)
    write(args.folder, args.ranks, args.entries)
    return 0


if __name__ == "__main__":
    sys.exit(main())
