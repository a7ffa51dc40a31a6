#!/usr/bin/env python3
"""What parts of a run cost, and what a reduce of thousands of ranks takes.

    bench/fleet.py costs BORESCOPE TRACE [--rounds 3]
    bench/fleet.py simulate BORESCOPE SYNTH [--ranks 4096] [--megabytes 2] [--shards 64] [--compare]
                   [--max-seconds S] [--max-megabytes M]

`costs`: processor time, peak memory and bytes of the part that `map` makes of the trace, for verbs alone
and together.

`simulate`: a run of so many synthetic ranks, each of about so many megabytes, is mapped shard by shard and
reduced. Its files exist only while their shard is mapped, so that 8 GB of traces need 130 MB of disk. Prints
time, peak memory and bytes of the map and of the reduce. With --parts, parts stay in DIR, and those that are
there are not made again. --compare keeps all files and compares the answer with that of
one process, for small runs. Exit status 1 where the reduce takes more than --max-seconds or --max-megabytes,
or the answers differ.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

VERBS = ["summary", "breakdown", "kernels", "ops", "collectives", "stragglers", "idle", "launches",
         "memory", "critical-path", "events"]
# Two questions, as the summary has tables of the names of other verbs.
TOGETHER = ["summary", "breakdown,kernels,ops"]


@dataclass
class Cost:
    wall_s: float
    cpu_s: float
    peak_mb: float


def cost_of(words: list[str], folder: Path) -> Cost:
    """Of one program that must end well."""
    begin = time.monotonic()
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(words[:8])} ...: exit status {process.returncode}")
    return Cost(time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


# ---- costs ----


def show_costs(borescope: str, trace: Path, rounds: int) -> None:
    print(f"{trace.name}: {trace.stat().st_size / 1e6:.1f} MB\n")
    print(f"{'verbs':32} {'CPU s':>7} {'peak MB':>8} {'part kB':>9}")
    with tempfile.TemporaryDirectory() as name:
        part = Path(name) / "a.part"
        for verbs in [*VERBS, TOGETHER[-1]]:
            words = [borescope, "map", verbs, str(trace.resolve()), "-q", "--threads", "1", "-o",
                     str(part)]
            costs = [cost_of(words, Path(name)) for _ in range(rounds)]
            print(f"{verbs:32} {min(cost.cpu_s for cost in costs):7.2f} "
                  f"{max(cost.peak_mb for cost in costs):8.0f} {part.stat().st_size / 1e3:9.1f}")


# ---- simulate ----


def renumber(source: Path, old: int, target: Path, new: int) -> None:
    """Moves the trace. Piece by piece: the memory of this process is the least that is measured of others."""
    with source.open("rb") as text, target.open("wb") as out:
        head, changed = re.subn(rb'"rank": %d\b' % old, b'"rank": %d' % new, text.read(1 << 16), count=1)
        assert changed == 1, "borescope-synth writes the rank otherwise"
        out.write(head)
        shutil.copyfileobj(text, out)
    source.unlink()


class Ranks:
    """The traces of a run, written when they are needed: all with times of their own."""

    def __init__(self, synth: str, folder: Path, arguments: argparse.Namespace) -> None:
        self.synth, self.made, self.run = synth, folder / "made", folder / "run"
        self.count, self.bytes_each = arguments.ranks, int(arguments.megabytes * 1e6)
        self.run.mkdir(exist_ok=True)

    def write(self, ranks: range, seed: int) -> int:
        """The bytes of their files."""
        subprocess.run([self.synth, "--ranks", str(len(ranks)), "--world-size", str(self.count),
                        "--seed", str(seed), "--size", str(len(ranks) * self.bytes_each), "--out",
                        str(self.made)], check=True, capture_output=True)
        written = 0
        for made, rank in enumerate(ranks):
            target = self.run / f"rank-{rank}.json"
            renumber(self.made / f"rank-{made}.json", made, target, rank)
            written += target.stat().st_size
        return written

    def remove(self) -> None:
        for path in self.run.iterdir():
            path.unlink()


def map_all(borescope: str, folder: Path, ranks: Ranks, arguments: argparse.Namespace) -> None:
    """The parts of each question, in a folder of its name."""
    count, shards = arguments.ranks, arguments.shards
    costs: dict[str, list[Cost]] = {verbs: [] for verbs in TOGETHER}
    text_bytes = 0
    for shard in range(shards):
        if all((folder / verbs / f"{shard:05}.part").exists() for verbs in TOGETHER):
            continue
        mine = range(shard, count, shards)
        text_bytes += ranks.write(mine, seed=shard + 1)
        # What map --shard would find if all files were here.
        files = [f"run/rank-{rank}.json" for rank in mine]
        for verbs in TOGETHER:
            (folder / verbs).mkdir(exist_ok=True)
            words = [borescope, "map", verbs, "-q", "--threads", "1", "-o", f"{verbs}/{shard:05}.part"]
            costs[verbs].append(cost_of([*words, *files], folder))
        if not arguments.compare:
            ranks.remove()
    print(f"{count} ranks, {shards} shards; mapped now: {text_bytes / 1e9:.2f} GB of text")
    for verbs in TOGETHER:
        part_bytes = sum(path.stat().st_size for path in (folder / verbs).iterdir())
        print(f"map {verbs}: CPU {sum(cost.cpu_s for cost in costs[verbs]):.1f} s, peak "
              f"{max((cost.peak_mb for cost in costs[verbs]), default=0):.0f} MB; parts {part_bytes / 1e6:.2f} MB, "
              f"{part_bytes / count / 1e3:.2f} kB a rank")


def reduce_all(borescope: str, folder: Path, verbs: str) -> Cost:
    answer = folder / f"{verbs}.json"
    cost = cost_of([borescope, "reduce", verbs, "-o", answer.name], folder)
    print(f"reduce {verbs}: wall {cost.wall_s:.2f} s, CPU {cost.cpu_s:.2f} s, peak {cost.peak_mb:.0f} MB; "
          f"answer {answer.stat().st_size / 1e6:.2f} MB")
    return cost


def equals_one_process(borescope: str, folder: Path, verbs: str) -> bool:
    cost = cost_of([borescope, verbs, "run", "-o", "whole.json"], folder)
    print(f"one process, {verbs}: wall {cost.wall_s:.2f} s, CPU {cost.cpu_s:.2f} s, peak "
          f"{cost.peak_mb:.0f} MB")
    return (folder / "whole.json").read_bytes() == (folder / f"{verbs}.json").read_bytes()


def simulate(arguments: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(dir=arguments.work) as name:
        folder = (arguments.parts or Path(name)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        borescope = str(arguments.borescope.resolve())
        ranks = Ranks(str(arguments.synth.resolve()), folder, arguments)
        map_all(borescope, folder, ranks, arguments)
        costs = [reduce_all(borescope, folder, verbs) for verbs in TOGETHER]
        faults = []
        if arguments.compare:
            faults += [f"{verbs}: the answer differs from that of one process" for verbs in TOGETHER
                       if not equals_one_process(borescope, folder, verbs)]
        if sum(cost.wall_s for cost in costs) > arguments.max_seconds:
            faults.append(f"reducing takes more than {arguments.max_seconds} s")
        if max(cost.peak_mb for cost in costs) > arguments.max_megabytes:
            faults.append(f"reducing takes more than {arguments.max_megabytes} MB")
    print("\n".join(faults) or "as it should be")
    return 1 if faults else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = parser.add_subparsers(dest="task", required=True)
    costs = tasks.add_parser("costs")
    costs.add_argument("borescope", type=Path)
    costs.add_argument("trace", type=Path)
    costs.add_argument("--rounds", type=int, default=3)
    run = tasks.add_parser("simulate")
    run.add_argument("borescope", type=Path)
    run.add_argument("synth", type=Path)
    run.add_argument("--ranks", type=int, default=4096)
    run.add_argument("--megabytes", type=float, default=2)
    run.add_argument("--shards", type=int, default=64)
    run.add_argument("--parts", type=Path)
    run.add_argument("--work", type=Path, help="where files lie meanwhile")
    run.add_argument("--compare", action="store_true")
    run.add_argument("--max-seconds", type=float, default=15)
    run.add_argument("--max-megabytes", type=float, default=200)
    arguments = parser.parse_args()
    if arguments.task == "simulate":
        return simulate(arguments)
    show_costs(str(arguments.borescope.resolve()), arguments.trace, arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
