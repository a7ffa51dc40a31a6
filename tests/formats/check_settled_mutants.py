#!/usr/bin/env python3
"""Damages the log (-wal) or the journal beside a database, and compares what is read with what SQLite reads.

    check_settled_mutants.py --borescope BORESCOPE --seed TRACE.rpd [--cases N] [--turn N]

A program that was killed leaves rows in a log beside its database, or a journal of what has to be undone. Each case
damages one of the two: single bytes, whole frames, the fields of headers; where SQLite would notice by a checksum, half
of the cases set it right again, so that the damage lies below. Where SQLite makes a sound database of the files, the
answer has to be that about the file that SQLite makes; else it is any answer, or status 2 and an error. The program
never ends by a signal, leaves no temporary folder, and changes neither file. The same turn has the same cases.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

WAL_HEADER, FRAME_HEADER = 32, 24
ODD_NUMBERS = (0, 1, 2, 3, 7, 255, 512, 4096, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1)
ASKED = "SELECT name, ts_ns, dur_ns FROM kernels"


@dataclass
class State:
    """The files of a database as a killed program leaves them."""

    database: bytes
    beside: bytes
    ending: str  # -wal or -journal


def add_kernels(connection: sqlite3.Connection, begin: int, count: int) -> None:
    """Kernels of 1, 2, ... microseconds after all others, with launches that nobody recorded."""
    columns = [row[1] for row in connection.execute("PRAGMA table_info(rocpd_op)") if row[1] != "id"]
    like = connection.execute(
        f"SELECT {', '.join(columns)} FROM rocpd_op JOIN rocpd_string ON rocpd_string.id = opType_id "
        "WHERE string = 'KernelExecution' LIMIT 1").fetchone()
    row = dict(zip(columns, like, strict=True))
    for i in range(count):
        row["start"] = begin + 1_000_000 * i
        row["end"] = row["start"] + 1000 * (i + 1)
        connection.execute(f"INSERT INTO rocpd_op({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})",
                           [row[name] for name in columns])


def killed_while(mode: str, seed: Path, folder: Path) -> State:
    """What lies there after a program was killed: three transactions in a log, or one that is not committed."""
    path = folder / f"{mode}.rpd"
    shutil.copyfile(seed, path)
    connection = sqlite3.connect(path, isolation_level=None)
    begin = connection.execute("SELECT max(end) FROM rocpd_op").fetchone()[0] + 1_000_000
    if mode == "wal":
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        for transaction in range(3):
            connection.execute("BEGIN")
            add_kernels(connection, begin + transaction * 1_000_000_000, 40)
            connection.execute("COMMIT")
        ending = "-wal"
    else:
        connection.execute("PRAGMA cache_size = 1")  # so that pages of the transaction reach the file
        connection.execute("BEGIN")
        add_kernels(connection, begin, 200)
        ending = "-journal"
    state = State(path.read_bytes(), Path(f"{path}{ending}").read_bytes(), ending)
    connection.close()
    return state


def checksum(big: bool, data: bytes, start: tuple[int, int]) -> tuple[int, int]:
    """That of logs, https://www.sqlite.org/fileformat2.html#checksum_algorithm."""
    first, second = start
    words = struct.unpack(f"{'>' if big else '<'}{len(data) // 4}I", data)
    for i in range(0, len(words), 2):
        first = (first + words[i] + second) & 0xFFFFFFFF
        second = (second + words[i + 1] + first) & 0xFFFFFFFF
    return first, second


def with_checksums(log: bytes) -> bytes:
    """The log with right checksums in its header and all whole frames."""
    if len(log) < WAL_HEADER:
        return log
    out = bytearray(log)
    big = out[3] & 1 == 1
    sums = checksum(big, bytes(out[:24]), (0, 0))
    out[24:32] = struct.pack(">II", *sums)
    page = struct.unpack(">I", out[8:12])[0]
    if not 512 <= page <= 65536:
        return bytes(out)
    at = WAL_HEADER
    while at + FRAME_HEADER + page <= len(out):
        sums = checksum(big, bytes(out[at:at + 8]), sums)
        sums = checksum(big, bytes(out[at + FRAME_HEADER:at + FRAME_HEADER + page]), sums)
        out[at + 16:at + 24] = struct.pack(">II", *sums)
        at += FRAME_HEADER + page
    return bytes(out)


def damage(state: State, choose: random.Random) -> tuple[str, bytes]:
    """One damage, with its name."""
    out = bytearray(state.beside)
    page = struct.unpack(">I", out[8:12] if state.ending == "-wal" else out[24:28])[0]
    piece = page + (FRAME_HEADER if state.ending == "-wal" else 8)
    head = WAL_HEADER if state.ending == "-wal" else struct.unpack(">I", out[20:24])[0]
    pieces = max(1, (len(out) - head) // piece)
    kind = choose.choice(["bytes", "page", "piece header", "header", "cut", "order", "repeat", "tail"])
    if kind == "bytes":
        for _ in range(choose.randint(1, 4)):
            out[choose.randrange(len(out))] = choose.randrange(256)
    elif kind == "page":
        at = head + piece * choose.randrange(pieces) + piece - page
        for _ in range(choose.randint(1, 8)):
            out[min(len(out) - 1, at + choose.randrange(page))] = choose.choice([0, 1, 13, 127, 128, 255])
    elif kind == "piece header":
        at = head + piece * choose.randrange(pieces) + choose.choice([0, 4, 8, 12] if head == WAL_HEADER else [0])
        out[at:at + 4] = struct.pack(">I", choose.choice(ODD_NUMBERS))
    elif kind == "header":
        at = choose.choice([0, 4, 8, 12, 16, 20])
        out[at:at + 4] = struct.pack(">I", choose.choice(ODD_NUMBERS))
    elif kind == "cut":
        del out[choose.randrange(len(out)):]
    elif kind == "order":
        a, b = (head + piece * choose.randrange(pieces) for _ in range(2))
        first, second = bytes(out[a:a + piece]), bytes(out[b:b + piece])
        if len(first) == len(second):
            out[a:a + piece], out[b:b + piece] = second, first
    elif kind == "repeat":
        at = head + piece * choose.randrange(pieces)
        out[at:at] = out[at:at + piece]
    else:
        out += choose.randbytes(choose.randrange(1, 2 * piece))
    if state.ending == "-wal" and choose.random() < 0.5:
        return kind + " below the checksums", with_checksums(bytes(out))
    return kind, bytes(out)


def settled_by_sqlite(path: Path) -> bool:
    """Lets SQLite put the files together. False where it finds no sound database."""
    try:
        connection = sqlite3.connect(path, timeout=1)
        try:
            is_sound = connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            connection.execute("PRAGMA journal_mode = DELETE")
            return is_sound
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeDecodeError):
        return False


def write(folder: Path, state: State, beside: bytes) -> Path:
    path = folder / "t.rpd"
    path.write_bytes(state.database)
    Path(f"{path}{state.ending}").write_bytes(beside)
    return path


def ask(borescope: str, path: Path, temporary: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([borescope, "query", ASKED, "t.rpd", "-f", "csv", "-q"], capture_output=True, text=True,
                          errors="replace", timeout=60, check=False, cwd=path.parent,
                          env={**os.environ, "TMPDIR": str(temporary)})


def fault_of(borescope: str, folder: Path, state: State, beside: bytes) -> tuple[str, str]:
    """What is wrong with the answer about the files (nothing: ""), and how the case ended."""
    for name in ("settled", "ours", "tmp"):
        (folder / name).mkdir()
    settled = write(folder / "settled", state, beside)
    is_sound = settled_by_sqlite(settled)
    path = write(folder / "ours", state, beside)
    run = ask(borescope, path, folder / "tmp")
    if path.read_bytes() != state.database or Path(f"{path}{state.ending}").read_bytes() != beside:
        return "it changed its input", ""
    if any((folder / "tmp").iterdir()):
        return "it left a temporary folder", ""
    if run.returncode not in (0, 2) or (run.returncode == 2) != bool(run.stderr.strip() and not run.stdout):
        return f"status {run.returncode}: {run.stderr}", ""
    if not is_sound:
        return "", "a damaged database, an error" if run.returncode else "a damaged database, an answer"
    right = ask(borescope, settled, folder / "tmp")
    if (run.returncode, run.stdout) != (right.returncode, right.stdout):
        return f"{run.stdout}{run.stderr}, and of the file as SQLite settles it {right.stdout}{right.stderr}", ""
    return "", "a sound database, the same answer"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--seed", required=True, type=Path)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--turn", type=int, default=0)
    arguments = parser.parse_args()
    endings: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        states = [killed_while(mode, arguments.seed, root) for mode in ("wal", "journal")]
        for case in range(arguments.cases):
            choose = random.Random(arguments.turn * 1_000_003 + case)
            state = states[case % 2]
            kind, beside = ("nothing", state.beside) if case < 2 else damage(state, choose)
            folder = root / str(case)
            folder.mkdir()
            fault, ending = fault_of(arguments.borescope, folder, state, beside)
            shutil.rmtree(folder)
            if not fault and case < 2 and "sound" not in ending:
                fault = f"undamaged files end in {ending}"
            if fault:
                print(f"turn {arguments.turn}, case {case}, {kind} in {state.ending}: {fault}", file=sys.stderr)
                return 1
            endings[ending] = endings.get(ending, 0) + 1
    print(f"{arguments.cases} cases:", ", ".join(f"{count} {what}" for what, count in sorted(endings.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
