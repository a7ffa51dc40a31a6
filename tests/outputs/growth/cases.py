"""What is measured: files of one shape with n and 4n of its parts, and the commands that read them."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from growth.pairs import PAIRS, write_pair
from growth.shapes import SHAPES

WRITE_DATABASES = Path(__file__).resolve().parents[2] / "formats" / "write_databases.py"

# What other profilers record of every call and kernel.
OF_DATABASES = {"grid": [1, 1, 1], "block": [32, 1, 1], "registers per thread": 32, "shared memory": 0, "cbid": 211}

EVENTS = 2500
# Of each shape the number of parts where it is not EVENTS: what few parts make is cheap, and some are
# promised for a number.
COUNTS = {"ordinary": 4000, "long_names": 1500, "brackets": 6000, "names_of_one_hash": 5000,
          "ids_of_one_slot": 4000, "ids_of_one_bucket": 5000,
          "kernel_files": 5000, "tracks": 25_000, "one_long_name": 15_000_000,
          "many_devices": 1000}

# Verbs by what they share: those of a line run in one command. What one of them cannot answer of a
# recording is an error of the whole command; then all run by themselves.
TOGETHER = ("info,doctor,breakdown,busy,idle,gaps,overlap,top,kernels,ops,stacks,flame,steps,launches,delays",
            "summary", "queue,bandwidth,annotations,critical-path,prof,roofline,variability,inductor")
ALONE = ("sequences", "graphs", "memory", "collectives", "stats all")
WRITERS = ("report {run} -o {out}.html", "convert {run} {out}.pftrace", "convert {run} {out}.rpd",
           "convert --scrub=names {run} {out}.json", "critical-path {run}", "queue {run} --overlay {out}.json",
           "prof {run} --compat pyprof -f csv", "critical-path {run} --compat hta -f csv",
           "ops {run} --compat key_averages -f csv", "diff {run} {run} -f csv",
           "query 'select name, count(*) from events group by 1' {run} -f csv")
ALL = tuple(f"{verb} {{run}} -f csv" for verb in (*TOGETHER, *ALONE)) + WRITERS
# Of files that take long to read: what looks at each part.
FEW = ("info,breakdown,idle,annotations {run} -f csv",)


@dataclass(frozen=True)
class Case:
    count: int
    make: Callable[[Path, int], dict[str, Path]]  # the files by the names that commands have for them
    commands: tuple[str, ...]


def write_trace(shape: str, path: Path, n: int, **more: object) -> Path:
    """`more` are arguments that all events get."""
    events = list(SHAPES[shape](n))
    if more:
        for event in events:
            event["args"] = {**event.get("args", {}), **more}
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events,
                                "deviceProperties": [{"id": 0, "name": "NVIDIA H100"}]}))
    return path


def of_shape(shape: str, commands: tuple[str, ...] = ALL, count: int | None = None) -> Case:
    def make(folder: Path, n: int) -> dict[str, Path]:
        return {"run": write_trace(shape, folder / "run.json", n)}

    return Case(count or COUNTS.get(shape, EVENTS), make, commands)


def of_million() -> Case:
    """Ranges of one thread that never end. Written as text: objects for each would take longer than the test."""
    def make(folder: Path, n: int) -> dict[str, Path]:
        path = folder / "run.json"
        with path.open("w") as file:
            file.write('{"traceEvents":[')
            for i in range(n):
                file.write(f'{{"ph":"B","cat":"user_annotation","name":"r{i % 99}","pid":1,"tid":1,"ts":{i}}},')
            file.write('{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,'
                       '"args":{"device":0,"stream":7}}]}')
        return {"run": path}

    return Case(250_000, make, ("info,annotations {run} -f csv",))


def of_pair(shape: str, borescope: str) -> Case:
    def make(folder: Path, n: int) -> dict[str, Path]:
        places = {name: folder / name for name in ("host.json", "device.json", "linked.json", "linked.et")}
        write_pair(shape, n, places["host.json"], places["device.json"])
        pair = ["--host", places["host.json"], "--device", places["device.json"]]
        for words in (["link", *pair, "-o", places["linked.json"]],
                      ["chakra", "convert", places["linked.json"], places["linked.et"]]):
            subprocess.run([borescope, *words, "-q"], check=True, stdout=subprocess.DEVNULL)
        return {name.replace(".", "_"): path for name, path in places.items()}

    commands = tuple(f"{command}{compat}" for compat in ("", " --compat chakra") for command in (
        "link --host {host_json} --device {device_json} -o {out}.json",
        "chakra convert --host {host_json} --device {device_json} {out}.et",
        "chakra convert {linked_json} {out}.et"))
    more = ("chakra check {linked_et}", "chakra dump {linked_et} {out}.json", "chakra draw {linked_et} {out}.dot",
            "info {host_json}", "convert --scrub=names {host_json} {out}.json")
    return Case(1500, make, commands + more)


def of_databases(shape: str) -> Case:
    """The forms of four other profilers."""
    names = ("nsys.sqlite", "nvprof.nvvp", "trace.rpd", "rocpd.db")

    def make(folder: Path, n: int) -> dict[str, Path]:
        trace = write_trace(shape, folder / "run.json", n, **OF_DATABASES)
        subprocess.run([sys.executable, WRITE_DATABASES, trace, folder], check=True)
        return {name.split(".")[0]: folder / name for name in names}

    verbs = "info,breakdown,idle,kernels,launches,queue,annotations,stacks"
    return Case(EVENTS, make, tuple(f"{verbs} {{{name.split('.')[0]}}} -f csv" for name in names)
                + ("convert --scrub=names {nsys} {out}.sqlite", "convert {rocpd} {out}.json"))


def of_statements() -> Case:
    """Long SQL over a small recording."""
    def make(folder: Path, n: int) -> dict[str, Path]:
        texts = {"list": "SELECT count(*) FROM kernels WHERE dur_ns IN (" + ",".join(map(str, range(n))) + ")",
                 "text": f"SELECT count(*) FROM kernels WHERE name = '{'x' * 9 * n}'",
                 "like": f"SELECT count(*) FROM kernels WHERE name LIKE '{'%x' * min(n // 20, 5000)}'",
                 "many": "SELECT 1;" * (n // 20), "columns": "SELECT " + ",".join("7" * (n // 40)),
                 "deep": "SELECT " + "(" * n + "1" + ")" * n}
        places = {"run": write_trace("ordinary", folder / "run.json", 100)}
        for name, text in texts.items():
            places[name] = folder / f"{name}.sql"
            places[name].write_text(text)
        return places

    return Case(25_000, make, tuple(f"query {{run}} -f csv < {{{name}}}"
                                    for name in ("list", "text", "like", "many", "columns", "deep")))


def all_cases(borescope: str) -> dict[str, Case]:
    cases = {shape: of_shape(shape) for shape in SHAPES}
    for shape in ("tracks", "one_long_name"):
        cases[shape] = of_shape(shape, FEW)
    cases["million_open_ranges"] = of_million()
    cases |= {f"pair_{shape}": of_pair(shape, borescope) for shape in PAIRS}
    cases |= {f"databases_{shape}": of_databases(shape) for shape in ("ordinary", "equal_times", "many_names",
                                                                     "many_devices")}
    return cases | {"statements": of_statements()}
