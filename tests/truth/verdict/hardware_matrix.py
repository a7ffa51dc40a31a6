#!/usr/bin/env python3
"""What the verdict says of recordings of a GPU, beside what was measured without a profiler: a table of docs/how-it-works/verdict.md.

    hardware_matrix.py BORESCOPE --samples DIR --page docs/how-it-works/verdict.md [--update]

Fails if the page has another table, if a first finding is not the planted cause, or if a share is more than five points
off; --update writes the page. Without the samples there is nothing to compare, and the exit status is 77.
"""

import argparse
import csv
import io
import json
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

MOST_OFF = 0.05
BEGIN = "<!-- computed by hardware_matrix.py -->\n"
END = "<!-- end -->\n"
IDLE = "idle"

Tables = dict[str, list[dict[str, str]]]


def tables_of(borescope: str, *question: str) -> Tables:
    text = subprocess.run(
        [borescope, *question, "-f", "csv", "-q"], capture_output=True, text=True, check=True
    ).stdout
    tables: Tables = {}
    for block in ("\n" + text).split("\n# ")[1:]:
        name, _, rows = block.partition("\n")
        tables[name] = list(csv.DictReader(io.StringIO(rows.strip() + "\n")))
    return tables


class Case:
    """A recording, and the steps of its program without a profiler, in ms."""

    def __init__(self, borescope: str, folder: Path, name: str, planted: dict) -> None:
        self.file = str(folder / f"{name}.pt.trace.json.gz")
        self.borescope = borescope
        self.plain = planted[name]
        self.page = tables_of(borescope, "summary", self.file)
        self.first = self.page["verdict"][0]
        self.steps = int(self.page["overview"][0]["steps"])

    def plain_ms(self) -> float:
        return (self.plain["plain_ms"] + self.plain["plain_ms_again"]) / 2

    def true_time(self) -> dict[str, str]:
        return tables_of(self.borescope, "whatif", self.file)["true_time"][0]

    def measured_idle(self) -> float:
        """What is not busy time of the device in a plain step."""
        given = f"{round(self.plain_ms() * 1e6)}ns"
        row = tables_of(self.borescope, "steps", self.file, "--plain-step", given)["true_time"][0]
        return float(row["idle_estimate"])

    def told_idle(self) -> float:
        row = self.true_time()
        return float(row["idle_estimate"] or row["idle_share"])

    def told(self) -> float:
        return float(self.first["value"])


def removed(before: Case, after: Case) -> float:
    return 1 - after.plain_ms() / before.plain_ms()


# Name, what is planted, the first finding, the share that is reported (of what was found, or all idle time) and how
# that was measured.
Measure = Callable[[dict[str, Case]], float]
ROWS: list[tuple[str, str, str, str, str, Measure]] = []


def row(name: str, planted: str, finding: str, told: str, words: str) -> Callable[[Measure], Measure]:
    def add(measure: Measure) -> Measure:
        ROWS.append((name, planted, finding, told, words, measure))
        return measure

    return add


def idle_row(name: str, planted: str, finding: str) -> None:
    row(name, planted, finding, IDLE, "idle time of a plain step")(lambda cases: cases[name].measured_idle())


def pair_row(name: str, planted: str, finding: str, without: str) -> None:
    words = f"1 - plain step of `{without}` / of this"
    row(name, planted, finding, "value", words)(lambda cases: removed(cases[name], cases[without]))


FP32 = "Products of matrices run without tensor cores"
BUSY = "The device idles while the host is busy"
BOUND = "Launch-bound: short kernels, slow launches"
MEMORY = "Memory is allocated and freed in the steps"

idle_row("clean", "nothing, bound by the host", BUSY)
row("fp32", "products in fp32, TF32 off", FP32, "value", "such products / all kernels of a plain step")(
    lambda cases: products_of(cases["fp32"])
)
pair_row("loader", "a slow loader in the process", "The device waits for data", "loader_then")
idle_row("loader_then", "the same with a fast loader", BUSY)
idle_row("small", "small kernels", BOUND)
row("small_then", "the same as a graph", "The device idles between work already launched", "value", "idle time of a plain step")(
    lambda cases: cases["small_then"].measured_idle()
)
idle_row(
    "unfused_optimizer",
    "an optimizer that launches for each parameter",
    "The optimizer launches for each parameter by itself",
)
pair_row("allocator", "memory allocated and freed in the steps", MEMORY, "clean")
row("gc", "garbage collection in each step", "The host does something that was not recorded", "value", "pauses / plain steps")(
    lambda cases: pauses_of(cases["gc"])
)
idle_row("batch1", "batches of one", BOUND)
row("pageable", "copies from pageable memory", "Copies are not hidden behind compute", "value", "median copy / plain step")(
    lambda cases: copies_of(cases["pageable"])
)
row("big", "nothing, bound by the device", "The device is well used", "value", "busy time of a plain step")(
    lambda cases: 1 - cases["big"].measured_idle()
)
row("big_fp32", "products in fp32, TF32 off", FP32, "value", "such products / all kernels of a plain step")(
    lambda cases: products_of(cases["big_fp32"])
)
pair_row("big_allocator", "memory allocated and freed in the steps", MEMORY, "big")


def kernels_of(case: Case) -> list[dict[str, str]]:
    return tables_of(case.borescope, "kernels", case.file, "--all")["kernels"]


def products_of(case: Case) -> float:
    """A recording that begins in the middle has kernels of more steps: their part, of the device time of a step."""
    rows = kernels_of(case)
    is_product = re.compile("f32f32_f32f32|sgemm").search
    ns = sum(int(one["total_ns"]) for one in rows if is_product(one["name"]))
    busy = 1 - case.measured_idle()
    return busy * ns / sum(int(one["total_ns"]) for one in rows)


def copies_of(case: Case) -> float:
    copies = tables_of(case.borescope, "events", case.file, "--sort", "dur_ns")["events"]
    times = [int(one["dur_ns"]) for one in copies if "Pageable -> Device" in one["name"] and int(one["dur_ns"]) > 1e6]
    return statistics.median(times) / 1e6 / case.plain_ms()


def pauses_of(case: Case) -> float:
    ns = float(case.first["value"]) * int(case.page["overview"][0]["span_ns"])
    return ns / 1e6 / case.steps / case.plain_ms()


def table(cases: dict[str, Case], faults: list[str]) -> str:
    text = "| recording | planted | first finding | share reported | measured | what was measured |\n"
    text += "| --- | --- | --- | --: | --: | --- |\n"
    for name, planted, finding, told, words, measure in ROWS:
        case = cases[name]
        share = case.told_idle() if told == IDLE else case.told()
        truth = measure(cases)
        if case.first["finding"] != finding:
            faults.append(f"{name}: the first finding is {case.first['finding']!r}, not {finding!r}")
        if abs(share - truth) > MOST_OFF:
            faults.append(f"{name}: reported {share:.3f}, measured {truth:.3f}")
        what = f"{100 * share:.1f} %" + (" idle" if told == IDLE else "")
        text += f"| `{name}` | {planted} | {case.first['finding']} | {what} | {100 * truth:.1f} % | {words} |\n"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("borescope")
    parser.add_argument("--samples", required=True)
    parser.add_argument("--page", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    folder = Path(options.samples) / "data/h100/planted"
    if not folder.is_dir():
        print(f"no {folder}")
        return 77
    planted = json.loads((folder / "planted.json").read_text())["cases"]
    cases = {name: Case(options.borescope, folder, name, planted) for name, *_ in ROWS}
    faults: list[str] = []
    computed = table(cases, faults)
    page = Path(options.page).read_text()
    before, found, rest = page.partition(BEGIN)
    old, has_end, after = rest.partition(END)
    if not found or not has_end:
        sys.exit(f"{options.page}: no place for the table")
    if options.update:
        Path(options.page).write_text(before + BEGIN + "\n" + computed + "\n" + END + after)
    elif old != "\n" + computed + "\n":
        faults.append(f"{options.page} has another table; --update writes this one:\n{computed}")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
