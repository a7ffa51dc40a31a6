"""A slow, independent reader of recorded logs, for the tests of the library that writes them.

It knows the format from docs and from log_format.h only, and raises LogError where a log breaks a
promise. Prints what is in a log when it is run: logs.py FILE...
"""

import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

STRING, ANCHOR, PROCESS, THREAD = 1, 2, 3, 4
PUSH, POP, MARK, RANGE_START, RANGE_END, NAME = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15
CALL, CALL_DETAIL, KERNEL, COPY, SET, SYNC, MEMORY, GRAPH_RUN = 0x20, 0x21, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35
EXTERNAL, OVERHEAD, DEVICE, DROPPED, COUNTERS = 0x36, 0x37, 0x38, 0x39, 0x3A
PYTHON_CALL, PYTHON_RETURN, PYTHON_CODE, OPERATOR = 0x40, 0x41, 0x42, 0x50
SAMPLE, STATE, END = 0x60, 0x70, 0x7F
# Words of numbers before the text; records that have none hold exactly so many.
BODY = {STRING: 0, PROCESS: 0, ANCHOR: 4, THREAD: 2, PUSH: 1, POP: 1, MARK: 1, RANGE_START: 2,
        RANGE_END: 2, NAME: 2, CALL: 5, CALL_DETAIL: 4, DROPPED: 3, PYTHON_CALL: 1, PYTHON_RETURN: 1,
        PYTHON_CODE: 1, OPERATOR: 5, SAMPLE: 2, STATE: 1, END: 2, KERNEL: 11, COPY: 8, SET: 8, SYNC: 4,
        MEMORY: 6, GRAPH_RUN: 4, EXTERNAL: 2, OVERHEAD: 3, DEVICE: 1, COUNTERS: 4}
WITH_TEXT = {STRING, PROCESS, THREAD, PUSH, MARK, RANGE_START, NAME, PYTHON_CODE, OPERATOR, STATE,
             DEVICE}


class LogError(Exception):
    """The log is not what the format says."""


@dataclass
class Record:
    type: int
    a: int
    tid: int  # of the chunk
    body: tuple
    text: str = ""
    is_cut: bool = False
    category: int = 0
    color: int = 0
    registered: int = 0
    payload_kind: int = 0
    payload: int = 0


@dataclass
class Log:
    path: Path
    pid: int = 0
    flags: int = 0
    rank: int = -1
    image: int = 0
    records: list = field(default_factory=list)
    chunks: int = 0

    def of(self, *types):
        return [record for record in self.records if record.type in types]

    def strings(self):
        return {record.a: record.text for record in self.of(STRING)}

    def text(self, record):
        """The text of a push, mark or start, registered or not."""
        return self.strings()[record.registered] if record.registered else record.text

    def states(self):
        """Without those of a slow disk, which a busy machine may have any time."""
        return [record.a for record in self.of(STATE) if record.a != 8]


def parse_record(head, words, tid):
    kind, flags = head & 0xFF, head >> 24 & 0xFF
    record = Record(kind, head >> 32, tid, (), is_cut=bool(flags & 16))
    if kind not in BODY:
        raise LogError(f"unknown type {kind:#x}")
    count = BODY[kind]
    # What a ring has overwritten is numbers, not a text.
    count = 3 if (kind, record.a) == (STATE, 7) else count
    # Pairs of a metric and its value follow, as many as the head says.
    count = 4 + 2 * (words[3] >> 32) if kind == COUNTERS else count
    record.body = words[:count]
    rest = words[count:]
    if flags & 8:
        first, second, payload = rest[:3]
        third = second >> 32
        record.category, record.color = first & 0xFFFFFFFF, first >> 32
        record.registered, record.payload_kind, record.payload = second & 0xFFFFFFFF, third, payload
        rest = rest[3:]
    if kind in WITH_TEXT:
        data = struct.pack(f"<{len(rest)}Q", *rest)
        padding = flags & 7
        if padding and data[len(data) - padding:].strip(b"\0"):
            raise LogError("padding is not zero")
        record.text = data[:len(data) - padding].decode("utf-8", "replace")
    elif rest:
        raise LogError(f"type {kind:#x}: {len(rest)} words too many")
    return record


def parse_chunk(data, tid, records):
    at = 64
    while at + 8 <= len(data):
        (head,) = struct.unpack_from("<Q", data, at)
        if head == 0:
            return
        count = head >> 8 & 0xFFFF
        if count == 0 or at + count * 8 > len(data):
            raise LogError(f"a record of {count} words at {at} of a chunk of {len(data)}")
        words = struct.unpack_from(f"<{count - 1}Q", data, at + 8)
        records.append(parse_record(head, words, tid))
        at += count * 8


def parse(path):
    """The log at a path. A file cut at any byte gives what is before, without an error."""
    data = Path(path).read_bytes()
    log = Log(Path(path))
    if len(data) < 128 or data[:8] == bytes(8):
        return log
    if data[:8] != b"BSRLOG1\n":
        raise LogError("no magic")
    version, header_bytes, log.pid = struct.unpack_from("<III", data, 8)
    if version != 1:
        raise LogError(f"version {version}")
    log.flags, log.rank = struct.unpack_from("<Ii", data, 84)
    log.image, alignment = struct.unpack_from("<II", data, 100)
    at, chunks = header_bytes, []
    while at + 64 <= len(data):
        magic, size, _, kind, tid, _, _, _, _, released = struct.unpack_from("<IIQIIQQQQQ", data, at)
        if magic not in (0x48435342, 0x52435342):
            at += alignment
            continue
        if magic == 0x48435342:  # else it is being used again
            records = []
            parse_chunk(data[at:at + size], tid, records)
            chunks.append((kind, released, records))
        at += (size + alignment - 1) // alignment * alignment
    add_chunks(log, chunks)
    return log


def add_chunks(log, chunks):
    """All records, but for those that a ring was about to overwrite."""
    notes = [record.body[0] for kind, _, records in chunks if kind == 3 for record in records
             if (record.type, record.a) == (STATE, 7)]
    for kind, released, records in chunks:
        if kind == 3 or not notes or not 0 < released <= max(notes):
            log.records += records
            log.chunks += 1


def parse_folder(folder):
    return [parse(path) for path in sorted(Path(folder).glob("*.bsl"))]


def finished(log):
    """Ranges that were pushed and popped, in order of ending, as (tid, text). Raises where they do
    not nest or times go back within a thread."""
    stacks, done, last = {}, [], {}
    for record in log.of(PUSH, POP):
        if record.body[0] < last.get(record.tid, 0):
            raise LogError("time goes back within a thread")
        last[record.tid] = record.body[0]
        stack = stacks.setdefault((record.tid, record.a), [])
        if record.type == PUSH:
            stack.append(log.text(record) if record.registered else record.text)
        elif not stack:
            raise LogError("a pop without its push")
        else:
            done.append((record.tid, stack.pop()))
    return done


if __name__ == "__main__":
    for name in sys.argv[1:]:
        parsed = parse(name)
        print(parsed.path, "pid", parsed.pid, "chunks", parsed.chunks)
        for entry in parsed.records:
            print(f"  {entry.type:#04x} [{entry.a}] {entry.body} {entry.text!r}")
