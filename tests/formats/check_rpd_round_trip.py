#!/usr/bin/env python3
"""Checks that a trace converted to .rpd answers like the trace itself.

    check_rpd_round_trip.py --borescope BIN [--captures FOLDER] TRACE... [--hostile]

Every trace is converted, and the operators and tables of both must be equal, value by value, but for
what the format has no place for, which docs/use/convert.md names: LOST. --hostile adds a trace whose names
look like what PyTorch writes after the names of operators.

Exit status: 0 equal, 1 a table differs, 2 something failed.
"""

import argparse
import contextlib
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

OPERATORS = ("SELECT name, ts_ns, dur_ns, pid, tid, sequence, forward_thread, input_dims, "
             "NULLIF(record_function_id, 0) AS call FROM ops ORDER BY ts_ns, dur_ns DESC, name, id")
EVENTS = ("SELECT kind, name, ts_ns, dur_ns, pid, tid FROM host_events "
          "ORDER BY ts_ns, dur_ns DESC, name, id")
NUMBERS = (
    "SELECT ts_ns, dur_ns, sequence, forward_thread, input_dims FROM ops ORDER BY ts_ns, dur_ns DESC, id",
    "SELECT kind, ts_ns, dur_ns FROM host_events ORDER BY ts_ns, dur_ns DESC, id",
)
QUESTIONS = (
    ["query", OPERATORS], ["query", EVENTS], ["ops"], ["ops", "--by", "shape"], ["ops", "--by", "phase"], ["prof"],
    ["sequences"], ["launches"], ["delays"], ["steps"], ["flame"], ["stacks"], ["kernels"],
)
# Costs need the types and values of arguments, beside shapes. Dimensions belong to calls that launch.
# The rank of a trace is not stored.
LOST = {
    "ops": {"flops"},
    "prof": {"bytes", "flops", "intensity", "params", "status"},
}
FOR_ALL = {"rank"}
KNOWN_OR_NOT = {("prof", "grid"), ("prof", "block")}

# What the tools of the format read as an operator with details.
FORM = re.compile(r".*?(, seq = [0-9]+)?, op_id = [0-9]+(, sizes = \[.*\], input_op_ids = \[.*\])?", re.DOTALL)
KEYS = (", seq = ", ", op_id = ", ", sizes = ", ", input_op_ids = ")

HOSTILE_NAMES = (
    "step, seq = 7", "x, op_id = 3", "x, sizes = [[1]]", "x, input_op_ids = []", "aten::mm, seq = 12, op_id = 34, "
    "sizes = [[2, 3], []], input_op_ids = [(30,0)]", ", seq = 1", ", seq = ", "aten::add", "seq = 7", "x,seq = 7", "",
    "UserMarker", "OpTable::writeRows", "rpdflush", "cpu_op", "cpu_op, fwd_thread = 1", "hipLaunchKernel", "\u00e9, seq = 9",
)


def hostile(path: Path) -> None:
    """Each name as an operator without and with details, as an annotation and as a Python function."""
    events = []
    inputs = {"Input Dims": [[2, 3], []], "Input type": ["float", "Scalar"]}
    for name in HOSTILE_NAMES:
        for category, args in (
                ("cpu_op", {}), ("cpu_op", {"External id": 1}),
                ("cpu_op", {"External id": 2, "Sequence number": 40, "Fwd thread id": 1, **inputs}),
                ("user_annotation", {}), ("python_function", {"Python id": 1})):
            events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1,
                           "ts": 10 * len(events), "dur": 5, "args": args})
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")


def ask(borescope: str, question: list[str], path: Path, more: list[str]) -> dict:
    """Columns by table and name; the error of a verb that has nothing to say is an answer, too."""
    options = [] if question[0] == "query" else more
    done = subprocess.run([borescope, *question, str(path), *options, "-f", "json", "-q"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        why = done.stderr.removeprefix("borescope: ").removeprefix(f"{path}: ")
        if not why.startswith("no "):
            raise RuntimeError(f"{question} {path}: {done.stderr}")
        return {"nothing": why.split(";")[0].splitlines()[0]}
    return {table["name"]: {column["name"]: column["values"] for column in table["columns"]}
            for table in json.loads(done.stdout)["tables"]}


def is_like(found, expected, may_lack: bool) -> bool:
    return found == expected or may_lack and found is None


def differences(verb: str, expected: dict, found: dict) -> list[str]:
    if "nothing" in expected or "nothing" in found or expected.keys() != found.keys():
        return [] if expected == found else [f"{expected.keys()} {found.keys()}: {found.get('nothing')}"]
    lines = []
    for table, columns in expected.items():
        for name in columns.keys() - LOST.get(verb, set()) - FOR_ALL:
            one, other = columns[name], found[table].get(name, [])
            may_lack = (verb, name) in KNOWN_OR_NOT
            if len(one) != len(other):
                lines.append(f"{table}.{name}: {len(one)} rows, {len(other)} in the .rpd")
                continue
            lines += [f"{table}.{name}: row {row}: {a!r}, {b!r} in the .rpd"
                      for row, (a, b) in enumerate(zip(one, other)) if not is_like(b, a, may_lack)][:3]
    return lines


def texts_in_no_form(converted: Path) -> list[str]:
    with contextlib.closing(sqlite3.connect(converted)) as database:
        texts = [text for (text,) in database.execute("SELECT args FROM api WHERE apiName = 'UserMarker'")]
    return [text for text in texts if any(key in text for key in KEYS) and not FORM.fullmatch(text)]


def scrubbed(borescope: str, converted: Path, folder: Path) -> list[str]:
    """What a scrubbed copy of the .rpd lost besides names."""
    copy = folder / "scrubbed.rpd"
    subprocess.run([borescope, "convert", "-q", "--scrub", str(converted), "-o", str(copy)], check=True,
                   capture_output=True)
    lines = []
    for statement in NUMBERS:
        expected, found = (ask(borescope, ["query", statement], path, []) for path in (converted, copy))
        lines += differences("query", expected, found)
    with contextlib.closing(sqlite3.connect(copy)) as database:
        ends = database.execute("SELECT value FROM rocpd_metadata WHERE tag = 'copy_ends'").fetchall()
    return lines + ([] if ends == [("right",)] else [f"copy_ends: {ends}"])


def compare(borescope: str, trace: Path, folder: Path, more: list[str]) -> tuple[int, int]:
    """Questions with another answer, and values compared."""
    converted = folder / "converted.rpd"
    subprocess.run([borescope, "convert", "-q", str(trace), "-o", str(converted)], check=True)
    odd = texts_in_no_form(converted)
    print("".join(f"{trace}: the tools of the format do not read {text!r}\n" for text in odd[:3]), end="")
    lost = scrubbed(borescope, converted, folder)
    print("".join(f"{trace}: scrubbed: {line}\n" for line in lost[:8]), end="")
    bad, compared = bool(odd) + bool(lost), 0
    for question in QUESTIONS:
        expected = ask(borescope, question, trace, more)
        lines = differences(question[0], expected, ask(borescope, question, converted, more))
        compared += sum(len(values) for columns in expected.values() if isinstance(columns, dict)
                        for values in columns.values())
        if lines:
            bad += 1
            print(f"{trace}: {' '.join(question)}", *lines[:8], sep="\n  ")
    return bad, compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--captures", help="where the graphs that the traces launch were captured")
    parser.add_argument("--hostile", action="store_true")
    parser.add_argument("traces", nargs="*", type=Path)
    options = parser.parse_args()
    more = ["--captures", options.captures] if options.captures else []
    bad = compared = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        traces = list(options.traces)
        if options.hostile:
            traces.append(folder / "hostile.json")
            hostile(traces[-1])
        for trace in traces:
            differing, values = compare(options.borescope, trace, folder, more)
            bad += differing
            compared += values
    print(f"{len(traces)} traces, {compared} values compared, {bad} answers differ")
    return 1 if bad or compared == 0 else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
