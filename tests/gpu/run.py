"""Runs the checks of checks/ on this machine and writes one report, report.json. See run.sh."""

import argparse
import json
import subprocess
import sys
import time
import traceback
from pathlib import Path

from bench import Bench, Skip
from checks import attached, counts, ends, others, times
from checks.registry import CHECKS

MODULES = (counts, times, ends, attached, others)  # each registers its checks when it is imported


def run_check(check, bench):
    """Its row of the report."""
    row = {"number": check.number, "title": check.title, "expected": check.expected}
    begin = time.monotonic()
    try:
        for need in check.needs:
            bench.require(need)
        figures, failures = check.run(bench)
        row |= {"status": "failed" if failures else "passed", "figures": figures, "failures": failures}
    except Skip as reason:
        row |= {"status": "skipped", "reason": str(reason)}
    except subprocess.TimeoutExpired as late:
        row |= {"status": "failed", "failures": [f"not done within {late.timeout:.0f} s: {late.cmd}"]}
    except Exception as error:  # a report with one broken check is better than none
        row |= {"status": "failed", "failures": [f"{type(error).__name__}: {error}"],
                "traceback": traceback.format_exc()}
    return row | {"seconds": round(time.monotonic() - begin, 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", help="numbers of checks, by commas")
    parser.add_argument("--quick", action="store_true", help="shorter runs, with the same figures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    bench = Bench(options.build.resolve(), options.out.resolve(), options.quick)
    wanted = {int(number) for number in options.only.split(",")} if options.only else None
    report = {"machine": bench.inventory(), "checks": []}
    for check in sorted(CHECKS, key=lambda each: each.number):
        if wanted is not None and check.number not in wanted:
            continue
        row = run_check(check, bench)
        report["checks"].append(row)
        why = row.get("reason") or "; ".join(row.get("failures", []))
        print(f"{row['number']:2} {row['status']:8} {row['title']}{': ' + why if why else ''}", flush=True)
        # After each: a machine that goes away leaves what was done.
        part = options.out / "report.json.part"
        part.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        part.rename(options.out / "report.json")
    return 1 if any(row["status"] == "failed" for row in report["checks"]) else 0


if __name__ == "__main__":
    sys.exit(main())
