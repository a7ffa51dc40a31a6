#!/usr/bin/env python3
"""Prices beside measurements: what `whatif` and `summary --price` say of programs on a real device, and what the same
programs take that were changed so.

Usage: check_prices.py BORESCOPE SAMPLES PAGE     (exit status 77, "skipped", without the samples)

Computes the tables of PAGE (docs/how-it-works/whatif.md) anew from SAMPLES/h100/planted and fails where the page says anything else,
where a prediction is further from the measurements than MOST and no reason is given, or where a reason is given for one
that is not. BORESCOPE_UPDATE=1 in the environment records the tables in the page.
"""

import json
import os
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BEGIN = "<!-- computed by check_prices.py -->\n"
END = "<!-- end of what is computed -->\n"
MOST = 0.12  # of the measurement, or of the nearer one of two

# Recording, recording of the changed program, what is changed, its options (None: kernels of each class take the time
# that they take in the other), and why the prediction is wrong where it is.
PAIRS = (
    ("loader", "loader_then", "data loaded by other processes", ["--no-data-wait"], ""),
    ("loader_then", "clean", "no loading at all", ["--no-data-wait"],
     "steps of 33 to 69 ms were recorded where 24 to 30 are usual: the host was busy with something else"),
    ("small", "small_then", "the step as a CUDA graph", ["--graph", "ProfilerStep"], ""),
    ("pageable", "clean", "no copy from pageable memory", ["--remove", "copy"],
     "the host copies such memory itself, at a pace that differs from step to step: 41 ms a step are estimated "
     "without the profiler, where 29 to 32 were measured"),
    ("allocator", "clean", "no `empty_cache()`", ["--remove", "host:cudaFree", "--remove", "host:cudaMalloc"], ""),
    ("big_allocator", "big", "no `empty_cache()`", ["--remove", "host:cudaFree", "--remove", "host:cudaMalloc"], ""),
    ("fp32", "clean", "bfloat16 by autocast", None,
     "autocast converts weights: launches and host time that a program without it has not; the host decides then"),
    ("clean", "fp32", "fp32 without tensor cores", None, ""),
    ("big_fp32", "big", "bfloat16, twice the batch", None, ""),
    ("fp32", "big_fp32", "twice the batch", None, ""),
    ("big_fp32", "fp32", "half of the batch", None, ""),
    ("clean", "big", "four times the batch", None, ""),
    ("big", "clean", "a quarter of the batch", None, ""),
    ("batch1", "clean", "64 times as many tokens", None, ""),
    ("clean", "batch1", "a 64th of the tokens", None, ""),
)

# Prices of `summary --price`: recording, recording of the changed program, words of the change.
PRICES = (
    ("loader", "loader_then", "data loaded in the background"),
    ("small", "small_then", "a step launched as graphs"),
    ("small", "small_then", "launch calls in half their time"),
    ("pageable", "clean", "no time in copies"),
    ("allocator", "clean", "no time in calls that allocate or free memory"),
    ("big_allocator", "big", "no time in calls that allocate or free memory"),
)

# Bounds of `summary --price`: recording, words of the change, what was changed, and the milliseconds that a step of the
# changed program took without a profiler, measured with the recordings; it was not recorded itself.
BOUNDS = (("fp32", "products on tensor cores", "TF32 allowed", 40.5),)


class Recordings:
    def __init__(self, borescope, folder):
        self.borescope = borescope
        self.folder = folder
        self.truth = json.loads((folder / "planted.json").read_text())["cases"]
        self.known = {}

    def ask(self, verb, name, *options):
        """{table: rows} of a verb; rows are dictionaries. Each question is asked once."""
        key = (verb, name, options)
        if key not in self.known:
            output = subprocess.run([self.borescope, verb, self.folder / f"{name}.pt.trace.json.gz", *options, "-f", "json"],
                                    capture_output=True, text=True, check=False)
            if output.returncode != 0:
                sys.exit(f"{verb} {name} {' '.join(options)}: {output.stderr}")
            self.known[key] = {
                table["name"]: [dict(zip((c["name"] for c in table["columns"]), row))
                                for row in zip(*(c["values"] for c in table["columns"]))]
                for table in json.loads(output.stdout)["tables"]}
        return self.known[key]

    def plain_ms(self, name):
        """A step without a profiler, before the recording and after it, the smaller first."""
        return sorted((self.truth[name]["plain_ms"], self.truth[name]["plain_ms_again"]))

    def steps(self, name):
        return [row for row in self.ask("steps", name)["steps"] if row["step"] is not None]

    def recorded_ms(self, name):
        """The step in the middle: single ones are longer as the host does something else."""
        return statistics.median(row["length_ns"] for row in self.steps(name)) / 1e6

    def class_times(self, name):
        """Of the kernels that the recorded steps launched; all recordings have five."""
        steps = ",".join(str(row["step"]) for row in self.steps(name))
        return {row["class"]: row["total_ns"] for row in self.ask("kernels", name, "--step", steps)["kernel_classes"]}

    def factors(self, before, after):
        was, is_now = self.class_times(before), self.class_times(after)
        return [word for name in was if name in is_now
                for word in ("--scale", f"class:{name}={is_now[name] / was[name]:.6f}")]

    def predict(self, before, after, options):
        """The answer about all changes together, as recorded and without the profiler."""
        options = self.factors(before, after) if options is None else options
        return [self.ask("whatif", before, *options, *more)["whatif"][-1] for more in ([], ["--without-recording"])]


def off(predicted, measured):
    """How far from the nearest of the measurements, as a share of it."""
    nearest = min(max(predicted, measured[0]), measured[-1])
    return predicted / nearest - 1


def row_of(cells):
    return "| " + " | ".join(cells) + " |\n"


def ms(value):
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def span(values):
    low, high = ms(values[0]), ms(values[-1])
    return low if low == high else f"{low} to {high}"


def percent(share):
    return f"{100 * share:+.0f} %"


def pairs_table(recordings, faults):
    text = row_of(["program", "change", "step recorded", "predicted", "changed program recorded", "off",
                   "step without profiler", "predicted", "changed program", "off"])
    text += row_of(["---", "---"] + ["--:"] * 8)
    reasons = []
    for before, after, what, options, why in PAIRS:
        recorded, plain = recordings.predict(before, after, options)
        measured = [recordings.recorded_ms(after)]
        truth = recordings.plain_ms(after)
        errors = [off(recorded["new_ns"] / 1e6, measured), off(plain["new_ns"] / 1e6, truth)]
        is_wrong = abs(errors[1]) > MOST
        if is_wrong != bool(why):
            faults.append(f"{before} to {after}: {percent(errors[1])}, and {'no' if is_wrong else 'a'} reason is given")
        if why:
            reasons.append(f"{len(reasons) + 1}. {what[0].upper() + what[1:]}: {why}.\n")
        text += row_of([f"`{before}` → `{after}`", what + (f" ({len(reasons)})" if why else ""), ms(recorded["step_ns"] / 1e6),
                        ms(recorded["new_ns"] / 1e6), ms(measured[0]), percent(errors[0]),
                        span(recordings.plain_ms(before)), ms(plain["new_ns"] / 1e6), span(truth), percent(errors[1])])
    return text + "\nWhy those are wrong that are:\n\n" + "".join(reasons)


def prices_table(recordings):
    text = row_of(["program", "price in `summary --price`", "saves", "saved, recorded", "saved, without profiler"])
    text += row_of(["---", "---"] + ["--:"] * 3)
    for before, after, words in PRICES:
        found = [row for row in recordings.ask("summary", before, "--price")["prices"] if row["change"] == words]
        was, is_now = recordings.recorded_ms(before), recordings.recorded_ms(after)
        plain = [statistics.mean(recordings.plain_ms(name)) for name in (before, after)]
        text += row_of([f"`{before}`", words, f"{100 * found[0]['saved_share']:.0f} %", f"{100 * (1 - is_now / was):.0f} %",
                        f"{100 * (1 - plain[1] / plain[0]):.0f} %"])
    return text


def bounds_table(recordings, faults):
    text = row_of(["program", "bound in `summary --price`", "step", "between", "change", "measured"])
    text += row_of(["---", "---", "--:", "--:", "---", "--:"])
    for name, words, what, measured in BOUNDS:
        row = next(row for row in recordings.ask("summary", name, "--price")["prices"] if row["change"] == words)
        low, high = row["low_ns"] / 1e6, row["high_ns"] / 1e6
        if row["new_ns"] is not None or not low <= measured <= high:
            faults.append(f"{name}: {measured} ms are not between {low} and {high}, or a single value is told")
        text += row_of([f"`{name}`", words, ms(row["step_ns"] / 1e6), f"{ms(low)} to {ms(high)}", what, ms(measured)])
    return text


def main():
    borescope, samples, page = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    folder = samples / "data" / "h100" / "planted"
    if not (folder / "planted.json").exists():
        print(f"{folder} is not there")
        return 77
    recordings = Recordings(borescope, folder)
    with ThreadPoolExecutor(4) as pool:  # the answers are then known
        list(pool.map(recordings.steps, sorted({name for pair in PAIRS for name in pair[:2]})))
        list(pool.map(lambda pair: recordings.predict(pair[0], pair[1], pair[3]), PAIRS))
    faults = []
    computed = pairs_table(recordings, faults) + "\n" + prices_table(recordings) + "\n" + bounds_table(recordings, faults)
    text = page.read_text()
    begin = text.index(BEGIN) + len(BEGIN)
    end = text.index(END, begin)
    if os.environ.get("BORESCOPE_UPDATE"):
        page.write_text(text[:begin] + "\n" + computed + "\n" + text[end:])
    elif text[begin:end] != "\n" + computed + "\n":
        faults.append(f"{page} says otherwise; read what changed, BORESCOPE_UPDATE=1 in the environment records it:\n{computed}")
    print("\n".join(faults) or f"{len(PAIRS)} pairs and {len(PRICES)} prices, {len(BOUNDS)} bounds as in {page.name}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
