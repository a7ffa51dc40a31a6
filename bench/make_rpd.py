#!/usr/bin/env python3
"""Writes a large .rpd database of schema 3, the same bytes for the same seed: what the reader of
rocmProfileData files is measured on.

    bench/make_rpd.py [--ops 1000000] [--calls 2000000] [--seed 1] OUT.rpd
"""

import argparse
import random
import sqlite3

SCHEMA = """
CREATE TABLE rocpd_metadata (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, tag varchar(4096) NOT NULL,
  value varchar(4096) NOT NULL);
CREATE TABLE rocpd_string (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_ustring (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, string varchar(4096) NOT NULL);
CREATE TABLE rocpd_api (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, pid integer NOT NULL,
  tid integer NOT NULL, start integer NOT NULL, end integer NOT NULL, apiName_id bigint NOT NULL,
  category_id bigint NOT NULL, domain_id bigint NOT NULL, args_id bigint NOT NULL);
CREATE TABLE rocpd_op (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, gpuId integer NOT NULL,
  queueId integer NOT NULL, sequenceId integer NOT NULL, start integer NOT NULL, end integer NOT NULL,
  description_id bigint NOT NULL, opType_id bigint NOT NULL);
CREATE TABLE rocpd_api_ops (id integer NOT NULL PRIMARY KEY AUTOINCREMENT, api_id bigint NOT NULL,
  op_id bigint NOT NULL);
CREATE TABLE rocpd_kernelapi (api_ptr_id bigint NOT NULL PRIMARY KEY, stream varchar(18) NOT NULL,
  gridX integer NOT NULL, gridY integer NOT NULL, gridZ integer NOT NULL, workgroupX integer NOT NULL,
  workgroupY integer NOT NULL, workgroupZ integer NOT NULL, groupSegmentSize integer NOT NULL,
  privateSegmentSize integer NOT NULL, kernelName_id bigint NOT NULL);
INSERT INTO rocpd_metadata(tag, value) VALUES ('schema_version', '3'), ('session_count', '1');
"""

FIRST_KERNEL = 10  # string ids of kernel names start here
KERNELS = 300


def write_texts(db):
    fixed = ["", "hipLaunchKernel", "hipMalloc", "hip", "KernelExecution"]
    rows = [(i + 1, text) for i, text in enumerate(fixed)]
    rows += [(FIRST_KERNEL + i, f"void at::native::kernel_{i}<float, {i}>(float*, int)")
             for i in range(KERNELS)]
    db.executemany("INSERT INTO rocpd_string VALUES (?, ?)", rows)
    db.execute("INSERT INTO rocpd_ustring VALUES (1, '')")


def write_calls(db, rng, calls, ops):
    """Every second call launches, until all work is launched; a tenth of the others has arguments."""
    launches = []
    api, texts = [], []
    start = 3_489_389_197_956_317
    for call in range(1, calls + 1):
        is_launch = call % 2 == 1 and len(launches) < ops
        start += rng.randrange(500, 4000)
        arguments = 1
        if is_launch:
            launches.append((call, start))
        elif call % 20 == 0:
            arguments = len(texts) + 2
            texts.append((arguments, f"ptr=0x{0x7f0000000000 + 4096 * call:x} | size=0x{call:x}"))
        api.append((call, 4321, 4321 + call % 4, start, start + rng.randrange(300, 3000),
                    2 if is_launch else 3, 4, 4, arguments))
    db.executemany("INSERT INTO rocpd_ustring VALUES (?, ?)", texts)
    db.executemany("INSERT INTO rocpd_api VALUES (?,?,?,?,?,?,?,?,?)", api)
    return launches


def write_ops(db, rng, launches):
    op, links, kernels = [], [], []
    free = 0
    for number, (call, start) in enumerate(launches, 1):
        name = FIRST_KERNEL + rng.randrange(KERNELS)
        begin = max(free, start + 5000)
        free = begin + rng.randrange(800, 6000)
        op.append((number, number % 8 // 4, number % 4, 0, begin, free, name, 5))
        links.append((number, call, number))
        kernels.append((call, "0x0", rng.randrange(1, 4096), 1, 1, 256, 1, 1, 0, 0, name))
    db.executemany("INSERT INTO rocpd_op VALUES (?,?,?,?,?,?,?,?)", op)
    db.executemany("INSERT INTO rocpd_api_ops VALUES (?,?,?)", links)
    db.executemany("INSERT INTO rocpd_kernelapi VALUES (?,?,?,?,?,?,?,?,?,?,?)", kernels)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=1_000_000)
    parser.add_argument("--calls", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("out")
    args = parser.parse_args()
    rng = random.Random(args.seed)
    db = sqlite3.connect(args.out)
    db.executescript("PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF;" + SCHEMA)
    write_texts(db)
    write_ops(db, rng, write_calls(db, rng, args.calls, args.ops))
    db.commit()
    db.close()


if __name__ == "__main__":
    main()
