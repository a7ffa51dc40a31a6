"""The dicts of PyProf's parse stage as a database of nvprof, which Borescope reads.

A kernel becomes a launch, and its markers become ranges around it; whatever the second stage computes follows from
these. Each line is a literal: it is read, and never evaluated.
"""

from __future__ import annotations

import ast
import sqlite3
import struct
from collections.abc import Iterable, Iterator
from typing import Any

PROCESS = 1
THREAD_BITS = 32
SCHEMA = """
CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(_id_ INTEGER PRIMARY KEY, flags INT, timestamp INT, id INT, objectKind INT,
    objectId BLOB, name INT, domain INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(_id_ INTEGER PRIMARY KEY, cbid INT, start INT, end INT, processId INT,
    threadId INT, correlationId INT, returnValue INT);
CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(_id_ INTEGER PRIMARY KEY, start INT, end INT, deviceId INT,
    streamId INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, correlationId INT, name INT);
"""
LAUNCH = 211  # the number of cudaLaunchKernel
START, END = 2, 4  # flags of markers
OF_THREAD = 2


class BadRecord(ValueError):
    """A line that is no record of a kernel."""


def read_records(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, 1):
        try:
            record = ast.literal_eval(line)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise BadRecord(f"line {number}: not a literal of Python ({error})") from error
        if not isinstance(record, dict) or "kLongName" not in record or "kDuration" not in record:
            raise BadRecord(f"line {number}: not a record of PyProf's parse stage")
        yield record


def ranges_of(record: dict[str, Any]) -> list[str]:
    """The texts of the ranges around the launch, outermost first."""
    texts = [f"layer:{name}" for name in record.get("layer", [])]
    if record.get("trace"):
        texts.append(repr({"traceMarker": list(record["trace"])}))
    for key in ("reprMarkers", "marker", "seqMarker"):
        texts += record.get(key, [])
    if not record.get("marker") and not record.get("seqMarker"):
        texts += record.get("op", [])[:1]
    return texts


class Database:
    """Writes one record after the other, later ones at later times."""

    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(path)
        self.connection.executescript(SCHEMA)
        self.texts: dict[str, int] = {}
        self.now = 1
        self.markers = 0
        self.kernels = 0

    def close(self) -> None:
        self.connection.commit()
        self.connection.close()

    def text(self, value: str) -> int:
        if value not in self.texts:
            self.texts[value] = len(self.texts) + 1
            self.insert("StringTable", self.texts[value], value)
        return self.texts[value]

    def insert(self, table: str, *values: object) -> None:
        marks = ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", values)

    def add(self, record: dict[str, Any]) -> None:
        thread = record.get("tid") or 0
        if not 0 <= thread < 1 << THREAD_BITS:
            raise BadRecord(f"thread {thread} is not a number of {THREAD_BITS} bits")
        ranges = ranges_of(record)
        launch = self.now + len(ranges) + 1
        for depth, text in enumerate(ranges):
            self.add_range(text, self.now + depth, launch + 3 + len(ranges) - depth, thread)
        self.add_kernel(record, launch, thread)
        self.now = launch + 5 + len(ranges)

    def add_range(self, text: str, begin: int, end: int, thread: int) -> None:
        self.markers += 1
        owner = struct.pack("<iq", PROCESS, thread)
        for flag, moment, name in ((START, begin, self.text(text)), (END, end, 0)):
            self.insert("CUPTI_ACTIVITY_KIND_MARKER", None, flag, moment, self.markers, OF_THREAD, owner, name, 0)

    def add_kernel(self, record: dict[str, Any], launch: int, thread: int) -> None:
        self.kernels += 1
        signed = struct.unpack("<i", struct.pack("<I", thread))[0]
        self.insert("CUPTI_ACTIVITY_KIND_RUNTIME", None, LAUNCH, launch, launch + 2, PROCESS, signed, self.kernels, 0)
        sizes = [*(record.get("grid") or (None,) * 3), *(record.get("block") or (None,) * 3)]
        self.insert("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL", None, launch + 3, launch + 3 + record["kDuration"],
                    record.get("device", 0), record.get("stream", 0), *sizes, self.kernels,
                    self.text(record["kLongName"]))


def write_database(lines: Iterable[str], path: str) -> None:
    database = Database(path)
    try:
        for record in read_records(lines):
            database.add(record)
    finally:
        database.close()
