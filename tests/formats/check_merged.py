#!/usr/bin/env python3
"""Checks that a file with several ranks answers as the files of these ranks do.

    check_merged.py --borescope BIN --synth BIN [--seeds N]

borescope-synth writes the ranks of a run. For Kineto their events are merged into one list, in a
random order of pieces: with a label before the number of each process, or as TraceLens's TraceFuse
does, with the rank among the arguments and multiples of it added to processes, calls and flows; for Nsight Systems
write_databases.py turns each into a database, whose rows become those of one. Every verb below must
answer row by row as it does of the separate files. From a stream such a file of Kineto is refused; so is one
without any label, in which ranks differ in the numbers of their processes, from a stream or not.

Exit status: 0 equal, 1 a table differs, 2 something failed.
"""

import argparse
import json
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
VERBS = ("breakdown", "kernels", "ops", "overlap", "stragglers", "waits", "steps")
# Columns of texts in exports of Nsight Systems, which are numbers of StringIds.
TEXTS = {"nameId", "textId", "demangledName", "shortName", "mangledName"}
TEXTS_OF_RANK = 1_000_000
LABEL = "[TP{0:02}-DP00-PP00-EP{0:02}] "


def answer(borescope: str, verb: str, files: list[Path]) -> list[tuple]:
    done = subprocess.run([borescope, verb, *files, "-f", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [("error", done.returncode)]
    found = []
    for table in json.loads(done.stdout)["tables"]:
        columns = [column["values"] for column in table["columns"]]
        found += [(table["name"], *row) for row in zip(*columns)]
    return sorted(found, key=repr)


def label(event: dict, rank: int) -> None:
    if "pid" in event:
        event["pid"] = LABEL.format(rank) + str(event["pid"])


def fuse(event: dict, rank: int) -> None:
    args = event.setdefault("args", {})
    args["rank"] = rank
    for where, name, multiple in ((event, "id", 10**7), (event, "pid", 10**6), (args, "correlation", 10**8)):
        if name in where:
            args[f"{name}_raw"] = where[name]
            where[name] += rank * multiple if isinstance(where[name], int) else ""


def number_from_1(ranks: list[Path]):
    """No label; the calls of every rank, whose processes have other numbers, are counted from 1 on."""
    def correlations(path: Path) -> list[int]:
        return [event["args"]["correlation"] for event in json.loads(path.read_text())["traceEvents"]
                if event.get("args", {}).get("correlation", 0) > 0]

    first = [min(correlations(path)) for path in ranks]

    def number(event: dict, rank: int) -> None:
        args = event.get("args", {})
        if args.get("correlation", 0) > 0:
            args["correlation"] -= first[rank] - 1
    return number


def is_refused(borescope: str, merged: Path, by_stream: bool) -> bool:
    with merged.open() as text:
        done = subprocess.run([borescope, "kernels", "-" if by_stream else merged], stdin=text,
                              capture_output=True, text=True, check=False)
    return done.returncode == 2 and "several ranks were merged into this trace" in done.stderr


def merge_kineto(ranks: list[Path], merged: Path, rng: random.Random, mark) -> None:
    document, pieces = {}, []
    for rank, path in enumerate(ranks):
        document = json.loads(path.read_text())
        events = document.pop("traceEvents")
        for event in events:
            mark(event, rank)
        cuts = sorted(rng.sample(range(len(events)), rng.randrange(0, 4)))
        pieces.append([events[a:b] for a, b in zip([0, *cuts], [*cuts, len(events)])])
    document.pop("distributedInfo", None)
    merged_events = []
    while any(pieces):  # the events of a rank keep their order
        merged_events += rng.choice([own for own in pieces if own]).pop(0)
    merged.write_text(json.dumps({**document, "traceEvents": merged_events}))


def merge_nsys(ranks: list[Path], merged: Path, names_contexts: bool) -> None:
    whole = sqlite3.connect(merged)
    for rank, path in enumerate(ranks):
        own = sqlite3.connect(path)
        for name, sql in own.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
            if rank == 0:
                whole.execute(sql)
            columns = [row[1] for row in own.execute(f"PRAGMA table_info({name})")]
            for row in own.execute(f"SELECT * FROM {name}").fetchall():
                values = dict(zip(columns, row))
                for column, value in values.items():
                    if value is None:
                        continue
                    if column in TEXTS or (name == "StringIds" and column == "id"):
                        values[column] = value + rank * TEXTS_OF_RANK
                whole.execute(f"INSERT INTO {name} VALUES ({','.join('?' * len(columns))})",
                              list(values.values()))
    if names_contexts:  # the export may lack the table: then the processes of the kernels decide
        processes = whole.execute(
            "SELECT DISTINCT (globalPid >> 24) & 16777215 FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY 1").fetchall()
        whole.execute("CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(processId INT, deviceId INT, contextId INT)")
        whole.executemany("INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES (?, 0, 1)", processes)
    whole.commit()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--synth", required=True)
    parser.add_argument("--seeds", type=int, default=8)
    options = parser.parse_args()
    bad = compared = 0
    for seed in range(options.seeds):
        rng = random.Random(seed)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ranks = 2 + seed % 3
            subprocess.run([options.synth, "--ranks", str(ranks), "--steps", "2", "--layers", "1", "--seed",
                            str(seed), "--straggler", str(seed % ranks), "--out", folder / "run"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            apart = [folder / "run" / f"rank-{rank}.json" for rank in range(ranks)]
            merged = folder / "merged.json"
            if seed % 4 == 3:
                for rank, path in enumerate(apart):
                    subprocess.run([sys.executable, HERE / "write_databases.py", path, folder / str(rank)],
                                   check=True)
                    (folder / str(rank) / "nsys.sqlite").rename(folder / f"rank-{rank}.sqlite")
                apart = [folder / f"rank-{rank}.sqlite" for rank in range(ranks)]
                merged = folder / "merged.sqlite"
                merge_nsys(apart, merged, names_contexts=seed % 8 == 3)
            else:
                merge_kineto(apart, merged, rng, fuse if seed % 4 == 1 else label)
                unlabelled = folder / "unlabelled.json"
                merge_kineto(apart, unlabelled, rng, number_from_1(apart))
                for file, by_stream in ((merged, True), (unlabelled, True), (unlabelled, False)):
                    if not is_refused(options.borescope, file, by_stream):
                        bad += 1
                        print(f"seed {seed}: {file.name} is not refused{' from a stream' if by_stream else ''}")
            for verb in VERBS:
                one = answer(options.borescope, verb, apart)
                other = answer(options.borescope, verb, [merged])
                compared += len(one)
                if one != other or one[0][0] == "error":
                    bad += 1
                    print(f"seed {seed}: {merged.name}: {verb}: {len(one)} and {len(other)} rows")
                    print("\n".join(f"  apart  {row}" for row in one if row not in other)[:600])
                    print("\n".join(f"  merged {row}" for row in other if row not in one)[:600])
    print(f"{options.seeds} runs, {compared} rows compared, {bad} answers differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
