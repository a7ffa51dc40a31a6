#!/usr/bin/env python3
"""Ranges of XLA, the compiler of JAX, are its modules and operations, in recordings and in exports of Nsight Systems.

    check_xla.py --borescope BIN [--samples DIR]

Random programs with planted kernels are written in both forms: each kernel must have the operation, the scope and the
module that were around its call, and no other. What a real program of JAX recorded (DIR/data/h100/jax), written as a log
again, is compared with a slow search for the innermost range around each call.
"""

import argparse
import csv
import gzip
import io
import json
import random
import re
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "record"))
import write_seeds  # noqa: E402

ARGUMENTS = None
SEEDS = 12
TSL, USER = 16, 0  # numbers of domains


# ---- what a program did ------------------------------------------------------------------------------------------


@dataclass
class Range:
    begin: int
    text: str
    domain: int
    end: int = 0


@dataclass
class Call:
    begin: int
    end: int
    kernel: str
    begin_on_device: int
    end_on_device: int


@dataclass
class Thread:
    tid: int
    ranges: list = field(default_factory=list)  # in the order of their begins, properly nested
    calls: list = field(default_factory=list)


class Planter:
    """A random program; `truth` has for each kernel its module, scope and operation, None where there is none."""

    def __init__(self, seed):
        self.rng, self.now, self.kernels, self.truth = random.Random(seed), 1000, 0, {}
        self.threads = [self.thread(100 + i) for i in range(self.rng.randint(1, 3))]

    def tick(self):
        self.now += self.rng.randint(1, 50)
        return self.now

    def thread(self, tid):
        thread = Thread(tid)
        for _ in range(self.rng.randint(1, 6)):
            self.within(thread, self.rng.choice(["train", "", ""]), USER, lambda: self.module(thread))
            self.launch(thread, (None, None, None))
        return thread

    def within(self, thread, text, domain, action):
        """The action in a range; in none if it has no text."""
        if not text:
            return action()
        opened = Range(self.tick(), text, domain)
        thread.ranges.append(opened)
        action()
        opened.end = self.tick()
        return None

    def module(self, thread):
        if self.rng.random() < 0.2:  # the compiler's own work
            self.within(thread, "XlaPass:#name=gemm,module=jit_f,program_id=1#", TSL,
                        lambda: self.launch(thread, (None, None, None)))
            return
        name = self.rng.choice(["jit_step", "jit_step_1", "jit__normal", "jit_a,b"])
        prefix = self.rng.choice(["", "prefix=jit(f),"])
        program = self.rng.choice(["", ",program_id=12"])

        def body():
            for _ in range(self.rng.randint(0, 5)):
                self.operation(thread, name, 0)
                self.launch(thread, (name, None, None))
        self.within(thread, f"XlaModule:#{prefix}hlo_module={name}{program}#", TSL, body)

    def operation(self, thread, module, depth):
        name = self.rng.choice(["fusion", "fusion.1", "custom-call.8", "command_buffer", "copy.3"])
        scope = self.rng.choice(["", "jit(step)/dot_general", "jit(f)[a=1,b=2]/mul", "jit(step)/transpose(jvp())/ä"])
        unique = self.rng.choice(["", ",unique_hlo_op_id=8589934662"])

        def body():
            if depth < 2 and self.rng.random() < 0.3:
                self.operation(thread, module, depth + 1)
            self.launch(thread, (module, scope or None, name))
            if self.rng.random() < 0.2:
                self.within(thread, "nested by the program", USER, lambda: self.launch(thread, (module, scope or None, name)))
        self.within(thread, f"Thunk:#{f'name={scope},' if scope else ''}hlo_op={name}{unique}#", TSL, body)

    def launch(self, thread, around):
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            begin, end = self.tick(), self.tick()
            name = f"kernel_{self.kernels}"
            self.kernels += 1
            thread.calls.append(Call(begin, end, name, end + 5, end + 9))
            self.truth[name] = around


# ---- written as a log, and as an export of Nsight Systems --------------------------------------------------------


def log_of(threads):
    record, chunks = write_seeds.record, []
    strings = [record(0x15, 1, (TSL, 0), "TSL")]
    activity, numbers = [], {}
    for thread in threads:
        events = [(call.begin, 1, call) for call in thread.calls]
        opened = []
        for each in thread.ranges:
            while opened and opened[-1].end <= each.begin:
                events.append((opened[-1].end, 0, opened.pop()))
            events.append((each.begin, 2, each))
            opened.append(each)
        events += [(each.end, 0, each) for each in reversed(opened)]
        records = []
        for at, kind, event in sorted(events, key=lambda event: event[:2]):
            if kind == 0:
                records.append(record(0x11, event.domain, (at,)))
            elif kind == 2:
                records.append(record(0x10, event.domain, (at,), event.text))
            else:
                number = len(activity) + 1
                name = numbers.setdefault(event.kernel, len(numbers) + 1)
                activity.append(record(0x30, number, struct.unpack("<11Q", struct.pack(
                    "<QQ16IQ", event.begin_on_device, event.end_on_device, 0, 1, 7, name, 1, 1, 1, 32, 1, 1, 16, 0, 0, 0, 0, 0,
                    0))))
                records.append(record(0x20, number, (event.begin, event.end, 307 | 2 << 32, 0, thread.tid)))
        # Small chunks: a record has at most 2^16 words, and a chunk what a writer gives it.
        for first in range(0, len(records), 2000):
            chunks.append((1, thread.tid, records[first:first + 2000]))
    strings += [record(0x01, number, text=name) for name, number in numbers.items()]
    for first in range(0, len(strings), 2000):
        chunks.append((3, 100, strings[first:first + 2000]))
    for first in range(0, len(activity), 2000):
        chunks.append((2, 100, activity[first:first + 2000]))
    return write_seeds.log([write_seeds.chunk(number, kind, tid, 1000, records)
                            for number, (kind, tid, records) in enumerate(chunks)])


def export_of(threads, path):
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, correlationId INT, nameId INT);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, streamId INT, correlationId INT,"
        "globalPid INT, demangledName INT, shortName INT);"
        "CREATE TABLE NVTX_EVENTS(start INT, end INT, eventType INT, text TEXT, globalTid INT, textId INT, domainId INT);"
        "INSERT INTO StringIds VALUES(1, 'cuLaunchKernel');")
    process, number = 100 << 24, 1
    # The name of the domain comes last, and is looked for all the same.
    for thread in threads:
        tid = process | thread.tid
        for each in thread.ranges:
            database.execute("INSERT INTO NVTX_EVENTS VALUES(?,?,59,?,?,NULL,?)",
                             (each.begin, each.end, each.text, tid, each.domain))
        for call in thread.calls:
            number += 1
            database.execute("INSERT INTO StringIds VALUES(?,?)", (number, call.kernel))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,?,?,1)", (call.begin, call.end, tid, number))
            database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,0,7,?,?,?,?)",
                             (call.begin_on_device, call.end_on_device, number, process, number, number))
    database.execute("INSERT INTO NVTX_EVENTS VALUES(0,NULL,75,'TSL',?,NULL,?)", (process, TSL))
    database.commit()
    database.close()


# ---- read back ---------------------------------------------------------------------------------------------------


def query(statement, path):
    result = subprocess.run([ARGUMENTS.borescope, "query", "-q", statement, path, "-f", "csv"], capture_output=True, text=True,
                            check=False, timeout=120)
    if result.returncode != 0:
        raise AssertionError(result.stderr)
    lines = [line for line in result.stdout.splitlines(keepends=True) if not line.startswith("#")]
    return list(csv.DictReader(io.StringIO("".join(lines))))


def around_of_kernels(path):
    """By kernel: the operation that `query` says, and the names of annotations around its call, the outermost first, with
    their kinds."""
    host = {row["id"]: row for row in query("SELECT id, name, kind, parent_id FROM host_events", path)}
    found = defaultdict(list)
    for row in query("SELECT name, op_id, launch_id FROM kernels ORDER BY ts_ns", path):
        chain, at = [], host[row["launch_id"]]["parent_id"]
        while at:
            chain.insert(0, (host[at]["kind"], host[at]["name"]))
            at = host[at]["parent_id"]
        found[row["name"]].append((host[row["op_id"]]["name"] if row["op_id"] else None, chain))
    return found


class Xla(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def test_planted_kernels_have_their_operation_scope_and_module(self):
        for seed in range(SEEDS):
            plan = Planter(seed)
            if not any("Thunk" in each.text for thread in plan.threads for each in thread.ranges):
                continue  # without an operation, ranges take the place of operators
            log, export = self.folder / f"{seed}.bsl", self.folder / f"{seed}.sqlite"
            log.write_bytes(log_of(plan.threads))
            export_of(plan.threads, export)
            for path in (log, export):
                with self.subTest(seed=seed, form=path.suffix):
                    self.compare(plan, around_of_kernels(path))

    def compare(self, plan, found):
        self.assertEqual(set(found), set(plan.truth))
        for kernel, (module, scope, operation) in plan.truth.items():
            (said, chain), = found[kernel]
            self.assertEqual(said, operation, kernel)
            names = [name for kind, name in chain]
            if operation is not None:  # the innermost operation, its scope directly around it, its module further out
                at = max(i for i, (kind, _) in enumerate(chain) if kind == "op")
                self.assertEqual(names[at], operation)
                if scope is not None:
                    self.assertEqual(chain[at - 1], ("annotation", scope), kernel)
                else:
                    self.assertNotIn(chain[at - 1][1], ("jit(step)/dot_general", "jit(f)[a=1,b=2]/mul"))
            if module is not None:
                self.assertIn(("annotation", module), chain)
            self.assertFalse([name for name in names if "#" in name])

    def test_what_jax_recorded(self):
        path = Path(ARGUMENTS.samples, "data/h100/jax/recorded.json.gz")
        if not path.exists():
            self.skipTest("no recording of JAX under --samples")
        with gzip.open(path, "rt", encoding="utf-8") as file:
            events = [each for each in json.load(file)["traceEvents"] if each.get("ph") == "X"]
        threads = threads_of(events)
        log = self.folder / "jax.bsl"
        log.write_bytes(log_of(threads))
        expected = Counter()
        for thread in threads:
            for call, text in innermost(thread):
                operation = re.search(r"hlo_op=([^,#]*)", text) if text.startswith("Thunk:") else None
                expected[call.kernel, operation[1] if operation else None] += 1
        found = Counter()
        for kernel, rows in around_of_kernels(log).items():
            for operation, chain in rows:
                found[kernel, operation] += 1
                if operation is not None:
                    self.assertTrue([name for kind, name in chain if kind == "annotation"], chain)
        self.assertEqual(found, expected)
        self.assertEqual(found["CUDA graph 48", "command_buffer_1"], 13)
        self.assertEqual(sum(count for (_, operation), count in found.items() if operation), 180)


def threads_of(events):
    """The threads of a converted recording, with ranges that nest."""
    threads, work = {}, defaultdict(list)
    for each in events:
        if each["cat"] == "kernel":
            work[each["args"]["correlation"]].append(each)
    def ns(microseconds):
        return round(1000 * microseconds)
    for each in sorted(events, key=lambda event: (event["ts"], -event["dur"])):
        thread = threads.setdefault(each["tid"], Thread(each["tid"])) if each["cat"] in (
            "user_annotation", "cuda_driver", "cuda_runtime") else None
        if each["cat"] == "user_annotation":
            thread.ranges.append(Range(ns(each["ts"]), each["name"].removeprefix("TSL:"), TSL, ns(each["ts"]) + ns(each["dur"])))
        elif thread is not None:
            for kernel in work.get(each["args"]["correlation"], []):
                thread.calls.append(Call(ns(each["ts"]), ns(each["ts"]) + ns(each["dur"]), kernel["name"], ns(kernel["ts"]),
                                         ns(kernel["ts"]) + ns(kernel["dur"])))
    return list(threads.values())


def innermost(thread):
    """Of each call the text of the shortest range that is around it; empty if there is none. Slow, and obvious."""
    for call in thread.calls:
        around = [each for each in thread.ranges if each.begin <= call.begin and call.end <= each.end]
        around = [each for each in around if each.text.startswith(("Thunk:", "XlaModule:"))]
        yield call, min(around, key=lambda each: each.end - each.begin).text if around else ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--samples", default="no-such-folder")
    ARGUMENTS, others = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *others])
