#!/usr/bin/env python3
"""What borescope writes into a .et and reads out of it, against a reader, a writer and a feeder of
their own (et_wire.py).

    check_et.py BORESCOPE [SAMPLES]

A .et and its dump hold the same: made again from the dump, the file is the same to the byte. The
order in which `chakra check --order` starts nodes is that of the reference's feeder. Both for random
files, for all that `chakra generate` and `chakra convert` write, and for the reference's own files
where SAMPLES has them.
"""

import csv
import gzip
import io
import json
import lzma
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import et_wire

RANDOM_FILES = 60
INTEGERS = {"int32": (-2**31, 2**31 - 1), "int64": (-2**63, 2**63 - 1), "uint32": (0, 2**32 - 1),
            "uint64": (0, 2**64 - 1), "sint32": (-2**31, 2**31 - 1), "sint64": (-2**63, 2**63 - 1),
            "fixed32": (0, 2**32 - 1), "fixed64": (0, 2**64 - 1),
            "sfixed32": (-2**31, 2**31 - 1), "sfixed64": (-2**63, 2**63 - 1)}
WORKLOAD = """HYBRID_DATA_MODEL
3
a -1 100 ALLREDUCE 1024 110 ALLTOALL 2048 120 ALLREDUCE 4096 10
b -1 200 ALLGATHER 1025 210 ALLREDUCE 2049 220 REDUCESCATTER 4097 11
c -1 300 NONE 0 310 ALLREDUCE 2050 320 NONE 0 12
"""


def run(borescope, *arguments, may_fail=False):
    done = subprocess.run([borescope, "chakra", *map(str, arguments)], capture_output=True,
                          check=False)
    if done.returncode not in ((0, 1) if may_fail else (0,)):
        sys.exit(f"chakra {arguments[0]} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def tables(output):
    """The tables of -f csv by name, each a list of rows."""
    parts = {}
    for line in output.splitlines():
        if line.startswith("# "):
            rows = parts.setdefault(line[2:], [])
        else:
            rows.append(line)
    return {name: list(csv.DictReader(io.StringIO("\n".join(rows)))) for name, rows in parts.items()}


# ---- Random files ----

def random_value(rng, kind):
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        return rng.choice((low, high, 0, 1, rng.randint(low, high)))
    if kind == "double":
        return rng.choice((0.0, -1.5, 1e300, 5e-324, rng.random()))
    if kind == "float":
        return rng.choice((0.0, -1.5, 2.0**100, 0.25))
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "bytes":
        return et_wire.base64.b64encode(rng.randbytes(rng.randint(0, 5))).decode()
    return rng.choice(("", "x", "it's \"so\"\\ \n\t\x01 é 漢 😀"))


def random_attr(rng, name):
    kind = rng.choice(et_wire.KINDS)
    attr = {"name": name}
    if rng.random() < 0.2:
        attr["doc_string"] = "why"
    if rng.random() < 0.5:
        attr[f"{kind}_val"] = random_value(rng, kind)
    else:
        attr[f"{kind}_list"] = [random_value(rng, kind) for _ in range(rng.randint(0, 3))]
    return attr


def random_node(rng, number, ids):
    """It may name nodes that come later, that are not there, itself, and some of them twice."""
    count = rng.choice((0, 0, 1, 1, 2, 3))
    # Mostly smaller numbers, so that not all ends in circles.
    smaller = [i for i in ids if i < number] or [number + 1]
    names = [rng.choice(smaller if rng.random() < 0.95 else [*ids, 10**6]) for _ in range(count)]
    if rng.random() < 0.95:
        names = list(dict.fromkeys(names))
    node = {"id": number, "name": random_value(rng, "string"), "type": rng.choice(et_wire.NODE_TYPES)}
    if rng.random() < 0.3:
        node["ctrl_deps"] = [rng.choice(ids)]
    if names:
        node["data_deps"] = names
    if rng.random() < 0.5:
        node["start_time_micros"] = rng.randint(1, 2**64 - 1)
        node["duration_micros"] = rng.randint(1, 2**40)
    if rng.random() < 0.3:
        node["inputs"] = {key: random_value(rng, "string") for key in ("values", "shapes", "types")}
    node["attr"] = [random_attr(rng, f"a{i}") for i in range(rng.randint(0, 4))]
    return node


def random_et(rng):
    ids = rng.sample(range(100), rng.randint(0, 25))
    metadata = {"version": rng.choice(("", "1.0.0")), "attr": [random_attr(rng, "m")]}
    return et_wire.write_et({"metadata": metadata, "nodes": [random_node(rng, i, ids) for i in ids]})


def random_files(folder):
    rng = random.Random(7)
    for i in range(RANDOM_FILES):
        (folder / f"random{i}.et").write_bytes(random_et(rng))


# ---- Checks ----

def check_dump(borescope, path, data):
    dump = run(borescope, "dump", path)
    if et_wire.write_et(json.loads(dump)) != data:
        sys.exit(f"{path}: made again from its dump, it is another file")


def check_orders(borescope, files):
    """The order of all files, and what the checks say of nodes that never start."""
    answer = tables(run(borescope, "check", *files, "--order", "-f", "csv", may_fail=True))
    stuck_files = 0
    for path, data in files.items():
        nodes = list(et_wire.read_nodes(data))
        expected = et_wire.issue_order(nodes)
        found = [int(row["id"]) for row in answer["order"] if row["file"] == str(path)]
        if found != expected:
            sys.exit(f"{path}: the feeder starts {expected[:20]}…, check --order says {found[:20]}…")
        stuck = sum(int(row["count"]) for row in answer["checks"]
                    if row["file"] == str(path) and row["check"] == "all-issued")
        if stuck != len(nodes) - len(expected):
            sys.exit(f"{path}: {len(nodes) - len(expected)} nodes never start, check counts {stuck}")
        stuck_files += stuck != 0
    return stuck_files


def unpacked(path):
    data = path.read_bytes()
    opener = {".gz": gzip.decompress, ".xz": lzma.decompress}.get(path.suffix)
    return opener(data) if opener else data


def sample_files(samples, folder):
    """The reference's own .et, and what borescope makes of the same captures."""
    for path in sorted((samples / "data" / "chakra").glob("**/*.et*")):
        name = path.name.removesuffix(path.suffix) if path.suffix in (".gz", ".xz") else path.name
        (folder / f"{path.parent.name}.{name}").write_bytes(unpacked(path))


def convert_samples(borescope, samples, folder):
    chakra = samples / "data" / "chakra"
    for host in sorted(chakra.glob("*/et.json.gz")):
        device = host.parent / "kineto.json.gz"
        if not device.exists():
            device = samples / "data" / "kineto" / "nccl_two_gpu.json.gz"
        run(borescope, "convert", "--host", host, "--device", device,
            folder / f"{host.parent.name}.own.et", "-q")


def main():
    borescope = sys.argv[1]
    samples = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        random_files(folder)
        run(borescope, "generate", folder, "--num-npus", 2)
        (folder / "workload.txt").write_text(WORKLOAD)
        run(borescope, "convert", folder / "workload.txt", folder / "workload", "--num-npus", 2,
            "--num-passes", 3, "-q")
        if samples is not None and (samples / "data" / "chakra").exists():
            sample_files(samples, folder)
            convert_samples(borescope, samples, folder)
        files = {path: path.read_bytes() for path in sorted(folder.glob("*.et"))}
        for path, data in files.items():
            check_dump(borescope, path, data)
        stuck_files = check_orders(borescope, files)
        if not 0 < stuck_files < RANDOM_FILES:
            sys.exit(f"{stuck_files} random files with nodes that never start: no test of both cases")
        print(f"{len(files)} files agree, {stuck_files} of them with nodes that never start")


if __name__ == "__main__":
    main()
