#!/usr/bin/env python3
"""Checks what is read from Chrome JSON of other profilers than PyTorch's against planned runs.

    check_chrome.py --borescope BIN [--seeds N]

For each seed write_chrome.py plans a run and writes it in every form; kernels, operators with their
device work, copies and steps must come back exactly, and device work that no operator has must not be.

Exit status: 0 equal, 1 something differs, 2 something failed.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PRODUCERS = {"xla": "xla-json", "xla_plain": "xla-json", "ascend": "ascend-json",
             "onnxruntime": "onnxruntime-json",
             "onnxruntime_shuffled": "onnxruntime-json", "autograd": "autograd-json",
             "autograd_shuffled": "autograd-json",
             "autograd_host": "autograd-json"}


def tables(borescope: str, words: list[str]) -> dict[str, list[dict]]:
    done = subprocess.run([borescope, *words, "-f", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        if "no device events" in done.stderr or "no memcpys" in done.stderr:
            return {}
        print(f"{' '.join(words)}: {done.stderr.strip()}")
        raise SystemExit(2)
    found = {}
    for table in json.loads(done.stdout)["tables"]:
        columns = {column["name"]: column["values"] for column in table["columns"]}
        found[table["name"]] = [dict(zip(columns, row)) for row in zip(*columns.values())]
    return found


def answer(borescope: str, trace: Path) -> dict:
    info = tables(borescope, ["info", str(trace)])
    row = next(iter(info.values()))[0]
    kernels = tables(borescope, ["kernels", str(trace)]).get("kernels", [])
    copies = tables(borescope, ["bandwidth", str(trace)]).get("bandwidth", [])
    ops = tables(borescope, ["ops", str(trace)]).get("ops", [])
    doctor = next(iter(tables(borescope, ["doctor", str(trace)]).values()))
    return {"format": row["format"], "steps": row["steps"],
            "kernels": {k["name"]: [k["count"], k["total_ns"]] for k in kernels},
            "copies": [sum(c["count"] for c in copies), sum(c["total_ns"] for c in copies)],
            "operators": {o["name"]: o["self_device_ns"] for o in ops},
            "unlinked": sum(c["count"] or 0 for c in doctor if c["check"] == "unlinked-device-event")}


def differences(name: str, found: dict, expected: dict) -> list[str]:
    # Of the collectives of Ascend the calls are not recorded, of all other work the operator is known.
    wanted = {**expected, "format": PRODUCERS[name.removesuffix(".json")], "unlinked": int(name == "ascend.json")}
    # The collectives of a group are no operator's here.
    operators = {op: ns for op, ns in found["operators"].items()
                 if not (op == "(no operator)" and name == "ascend.json" and ns == 7125)}
    found = {**found, "operators": operators}
    return [f"{name}: {what}: {found[what]}, not {value}" for what, value in wanted.items()
            if found[what] != value]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--borescope", required=True)
    parser.add_argument("--seeds", type=int, default=50)
    options = parser.parse_args()
    bad: list[str] = []
    for seed in range(options.seeds):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, HERE / "write_chrome.py", "--seed", str(seed), "--steps",
                            str(1 + seed % 4), folder], check=True)
            truth = json.loads((Path(folder) / "truth.json").read_text())
            # Every form of one seed in five, one form of the others: they have the plan in common.
            names = list(truth) if seed % 5 == 0 else [list(truth)[seed % len(truth)]]
            for name in names:
                bad += [f"seed {seed}: {line}" for line in
                        differences(name, answer(options.borescope, Path(folder) / name), truth[name])]
    print("\n".join(bad[:20]))
    print(f"{options.seeds} seeds, {len(bad)} differences")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
