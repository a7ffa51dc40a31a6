#!/usr/bin/env python3
"""Hides launches of real recordings, and compares what borescope makes of their work with the truth.

Usage: check_hidden_launches.py BORESCOPE SAMPLES [--all] [RECORDING ...]

A recording is begun anew at a later step: of the host what begins then or later, of the device what was
launched then or later and some works from before that, as many as a device is behind. What `kernels` infers of
these is compared with what it says of the same works where the whole host is recorded: kernel, operator and phase
(and step), by device time. Exits with 1 where less than 99.9 % of what is inferred is right, or less than 98 % of
the hidden work of programs with steps is inferred. --all: every step, and one step alone after it.
"""

import bisect
import collections
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

DEVICE = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}
LINKS = {"ac2g", "gpu_user_annotation"}
RECORDINGS = ["h100/planted/gc.pt.trace.json.gz", "h100/planted/small_then.pt.trace.json.gz",
              "h100/planted/big_fp32.pt.trace.json.gz", "h100/compiled/compiled.pt.trace.json.gz",
              "kineto/mi300_resnet_checkpoint.json.gz"]
LEAST_PRECISION = 0.999
LEAST_RECALL = 0.98


def correlation(event):
    return (event.get("args") or {}).get("correlation")


class Recording:
    """The events of a file, and its works with a recorded launch in the order of these."""

    def __init__(self, path):
        opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
        with opened as file:
            self.document = json.load(file)
        self.events = self.document["traceEvents"]
        self.launch_ts = {correlation(e): e["ts"] for e in self.events if e.get("cat") in CALLS}
        works = [e for e in self.events
                 if e.get("ph") == "X" and e.get("cat") in DEVICE and correlation(e) in self.launch_ts]
        self.works = sorted(works, key=lambda e: (self.launch_ts[correlation(e)], e["ts"]))
        self.steps = sorted(e["ts"] for e in self.events if str(e.get("name", "")).startswith("ProfilerStep#")
                            and e.get("cat") == "user_annotation")

    def write(self, path, works, begin, end):
        """Of the host what begins from `begin` to `end`."""
        kept = {id(work) for work in works}
        events = []
        for event in self.events:
            if event.get("cat") in DEVICE:
                is_kept = id(event) in kept
            elif event.get("ph") == "M":
                is_kept = True
            else:
                is_kept = event.get("cat") not in LINKS and begin <= event.get("ts", 0) <= end
            if is_kept:
                events.append(event)
        Path(path).write_text(json.dumps({**self.document, "traceEvents": events}))


def sums(borescope, path, column):
    """Device time by kernel, operator, phase and step."""
    done = subprocess.run([borescope, "kernels", path, "--all", "--by", "op,phase,step", "-f", "json"],
                          capture_output=True, text=True, check=True)
    table = next(t for t in json.loads(done.stdout)["tables"] if t["name"] == "kernels")
    columns = {c["name"]: c["values"] for c in table["columns"]}
    found = collections.Counter()
    for *key, ns in zip(columns["name"], columns["op"], columns["phase"], columns["step"], columns[column]):
        found[tuple(key)] += ns
    return found


def without_steps(found):
    folded = collections.Counter()
    for key, ns in found.items():
        folded[key[:3]] += ns
    return folded


def in_both(said, truth):
    return sum(min(truth[key], ns) for key, ns in said.items())


class Score:
    def __init__(self):
        self.hidden = self.said = self.right = self.with_step = self.right_step = 0

    def add(self, said, truth):
        self.hidden += sum(truth.values())
        self.said += sum(said.values())
        self.right += in_both(without_steps(said), without_steps(truth))
        with_step = collections.Counter({key: ns for key, ns in said.items() if key[3] is not None})
        self.with_step += sum(with_step.values())
        self.right_step += in_both(with_step, truth)

    def text(self):
        steps = f", steps {100 * self.right_step / self.with_step:.3f} %" if self.with_step else ""
        precision = 100 * self.right / self.said if self.said else 100
        return f"precision {precision:.4f} %, recall {100 * self.right / max(self.hidden, 1):.3f} %{steps}"


def cases(recording, every):
    """Where to begin anew, how many works to hide before that, and how many to keep after it; 0: all."""
    launches = [recording.launch_ts[correlation(work)] for work in recording.works]
    steps = recording.steps
    length = (len(launches) - bisect.bisect_left(launches, steps[0])) // len(steps)
    places = range(1, len(steps)) if every else sorted({1, len(steps) // 2})
    for place in places:
        first = bisect.bisect_left(launches, steps[place])
        for hidden in [30, length // 3, length, 2 * length] if every else [length // 3, 3 * length // 2]:
            for after in [0, length] if every else [0]:
                yield steps[place], first, min(hidden, first), after


def check(borescope, path, every, folder, total):
    recording = Recording(path)
    score = Score()
    for begin, first, hidden, after in cases(recording, every):
        later = recording.works[first:first + after] if after else recording.works[first:]
        launched = {correlation(work) for work in later}
        earlier = [w for w in recording.works[first - hidden:first] if correlation(w) not in launched]
        if not earlier or not later:
            continue
        end = max(recording.launch_ts[correlation(work)] for work in later) if after else float("inf")
        recording.write(folder / "truth.json", earlier, 0, float("inf"))
        recording.write(folder / "cut.json", earlier + later, begin, end)
        truth = sums(borescope, folder / "truth.json", "total_ns")
        said = sums(borescope, folder / "cut.json", "aligned_ns")
        score.add(said, truth)
        total.add(said, truth)
    print(f"{path.name}: {score.text()}", flush=True)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--all"]
    borescope, samples, *paths = arguments
    recordings = [Path(path) for path in paths] or [Path(samples) / "data" / path for path in RECORDINGS]
    recordings = [path for path in recordings if path.exists()]
    if not recordings:
        sys.exit(77)
    total = Score()
    with tempfile.TemporaryDirectory() as folder:
        for path in recordings:
            check(borescope, path, "--all" in sys.argv, Path(folder), total)
    print(f"all: {total.text()}")
    is_right = total.right >= LEAST_PRECISION * total.said and total.right_step >= LEAST_PRECISION * total.with_step
    sys.exit(0 if is_right and total.right >= LEAST_RECALL * total.hidden else 1)


if __name__ == "__main__":
    main()
