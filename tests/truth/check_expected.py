#!/usr/bin/env python3
"""Compares what borescope prints for the sample traces with the exact numbers recorded for them.

Usage: check_expected.py BORESCOPE SAMPLES     (exit status 77, "skipped", without the samples)

SAMPLES/expected/kineto.jsonl holds one JSON object a trace: counts and sums of durations by phase and
category, busy time by device, span, kernels. Everything a verb exposes is compared.
"""

import json
import subprocess
import sys
from pathlib import Path


def tables(borescope, verb, trace):
    output = subprocess.run([borescope, *verb, "-f", "json", trace], capture_output=True, text=True,
                            check=False)
    if output.returncode != 0:
        return {}
    document = json.loads(output.stdout)
    return {table["name"]: {c["name"]: c["values"] for c in table["columns"]}
            for table in document["tables"]}


def measure(borescope, trace):
    """The fields of an expected row, from borescope's tables."""
    info = tables(borescope, ["info"], trace)
    counts = info["event_counts"]
    rows = list(zip(counts["phase"], counts["category"], counts["count"], counts["total_ns"]))
    breakdown = tables(borescope, ["breakdown"], trace).get("breakdown", {"gpu": [], "busy_ns": []})
    kernels = tables(borescope, ["kernels"], trace).get("kernels", {"name": [], "count": [], "total_ns": []})
    return {
        "events": sum(counts["count"]),
        "bytes_unpacked": info["traces"]["text_bytes"][0],
        "counts_ph_cat": {f"{ph}:{cat}": n for ph, cat, n, _ in rows},
        "sum_dur_ns_by_cat": {cat: ns for ph, cat, _, ns in rows if ph == "X"},
        "x_span_ns_excluding_Trace": info["traces"]["span_ns"][0],
        "gpu_events": info["traces"]["device_events"][0],
        "gpu_streams": info["traces"]["streams"][0],
        "gpu_busy_union_ns_by_device": {
            str(gpu): ns for gpu, ns in zip(breakdown["gpu"], breakdown["busy_ns"]) if gpu is not None},
        "distinct_kernel_names": len(kernels["name"]),
        "top5_kernels_name_count_ns": sorted(
            zip(kernels["name"], kernels["count"], kernels["total_ns"]), key=lambda k: -k[2])[:5],
    }


def agree(field, expected, found):
    if field == "top5_kernels_name_count_ns":  # names with equal time may stand in any order
        return [k[2] for k in expected] == [k[2] for k in found]
    if field == "gpu_streams" and expected == 0:  # not counted where there is no device work
        return True
    return expected == found


def main():
    borescope, samples = sys.argv[1], Path(sys.argv[2])
    expected_file = samples / "expected" / "kineto.jsonl"
    if not expected_file.exists():
        print(f"skipped: the sample traces are not in {samples}")
        sys.exit(77)
    problems, compared = [], 0
    for line in expected_file.read_text().splitlines():
        expected = json.loads(line)
        trace = samples / "data" / expected["file"]
        if not trace.exists():
            continue
        found = measure(borescope, trace)
        compared += 1
        problems += [f"{expected['file']}: {field}: expected {expected[field]}, found {value}"
                     for field, value in found.items()
                     if field in expected and not agree(field, expected[field], value)]
    print("\n".join(problems) or f"{compared} traces agree")
    sys.exit(1 if problems or compared == 0 else 0)


if __name__ == "__main__":
    main()
