"""Runs the checks of checks/ on this machine and writes their report. See run.sh."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import report_text
from bench import Bench, Missing, Skip
from checks import attached, counts, ends, others, times
from checks.registry import CHECKS

MODULES = (counts, times, ends, attached, others)  # each registers its checks when it is imported
# By worth, so that a few minutes show most. What may run beside others stands together.
ORDER = (2, 3, 1, 9, 25, 7, 17, 14, 8, 4, 6, 11, 24, 19, 12, 20, 13, 23, 21, 18, 5, 10, 22, 16, 15)
BESIDE = 4  # checks that run at the same time, where their figures are no times
MOST_KEPT_BYTES = 12 << 20  # of recordings of checks that failed, before they are compressed


def ordered(checks):
    place = {number: at for at, number in enumerate(ORDER)}
    return sorted(checks, key=lambda check: (place.get(check.number, len(place)), check.number))


def batches(checks):
    """Lists of checks that run at the same time."""
    batch = []
    for check in checks:
        if batch and (check.is_alone or batch[-1].is_alone):
            yield batch
            batch = []
        batch.append(check)
    if batch:
        yield batch


def run_check(check, bench):
    """Its row of the report."""
    row = {"number": check.number, "title": check.title, "expected": check.expected}
    begin = time.monotonic()
    left = check.seconds if bench.until is None else bench.until - begin
    bench = bench.of_check(check.number)
    try:
        if left < check.seconds:
            raise Skip(f"no time left: it takes about {check.seconds:.0f} s, and {max(0, left):.0f} s are left")
        for need in check.needs:
            bench.require(need)
        figures, failures = check.run(bench)
        row |= {"status": "failed" if failures else "passed", "figures": figures, "failures": failures}
    except Skip as skip:
        row |= {"status": "skipped", "reason": str(skip)} | ({"figures": skip.figures} if skip.figures else {})
    except Missing as missing:
        row |= {"status": "failed", "failures": [str(missing)]}
    except subprocess.TimeoutExpired as late:
        row |= {"status": "failed", "failures": [f"not done within {late.timeout:.0f} s: {late.cmd}"]}
    except Exception as error:  # a report with one broken check is better than none
        row |= {"status": "failed", "failures": [f"{type(error).__name__}: {error}"],
                "traceback": traceback.format_exc()}
    if row["status"] == "failed":
        reason = bench.fails_plainly()
        if reason:
            row |= {"status": "skipped", "reason": reason}
        else:
            row["recordings"] = [folder.name for folder in bench.folders]
    return row | {"seconds": round(time.monotonic() - begin, 2)}


def run_all(checks, bench, report, write):
    """Checks in their order; the report is written after each, so that a machine which goes away leaves it."""
    beside = min(BESIDE, max(1, (os.cpu_count() or 1) // 2))
    for batch in batches(checks):
        with ThreadPoolExecutor(beside) as pool:
            for done in as_completed([pool.submit(run_check, check, bench) for check in batch]):
                row = done.result()
                report["checks"].append(row)
                why = row.get("reason") or "; ".join(row.get("failures", []))
                print(f"{row['number']:2} {row['status']:8} {row['title']}{': ' + why if why else ''}", flush=True)
                write()
    report["checks"].sort(key=lambda row: row["number"])


def keep_failed(report, work, path):
    """The recordings of checks that failed, as far as they are small: what only this machine could make."""
    names, left = [], MOST_KEPT_BYTES
    for row in report["checks"]:
        for name in row.get("recordings", []):
            size = sum(file.stat().st_size for file in (work / name).glob("*") if file.is_file())
            if 0 < size <= left:
                names.append(name)
                left -= size
    if not names:
        return
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.add(work / name, name)
    report["kept"] = {"file": path.name, "recordings": names}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", help="numbers of checks, by commas")
    parser.add_argument("--seconds", type=float, help="stop by then, with a report of what was done")
    parser.add_argument("--long", action="store_true", help="longer runs, with the same figures")
    parser.add_argument("--work", type=Path, help="keep recordings and programs in this folder; else they are deleted")
    options = parser.parse_args()
    begin = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.work is not None:
        options.work.mkdir(parents=True, exist_ok=True)
    work = options.work or Path(tempfile.mkdtemp(prefix="borescope-gpu-"))
    bench = Bench(options.build.resolve(), work.resolve(), options.long,
                  None if options.seconds is None else begin + options.seconds)
    wanted = {int(number) for number in options.only.split(",")} if options.only else None
    report = {"machine": bench.inventory(), "checks": []}

    def write():
        report["seconds"] = round(time.monotonic() - begin, 1)
        for name, text in (("report.json", json.dumps(report, indent=1) + "\n"), ("report.txt", report_text.write(report))):
            part = options.out / f"{name}.part"
            part.write_text(text, encoding="utf-8")
            part.rename(options.out / name)

    try:
        run_all(ordered(check for check in CHECKS if wanted is None or check.number in wanted), bench, report, write)
        keep_failed(report, work, options.out / "failed.tar.gz")
        write()
    finally:
        if options.work is None:
            shutil.rmtree(work, ignore_errors=True)
    print(report_text.summary(report))
    return 1 if any(row["status"] == "failed" for row in report["checks"]) else 0


if __name__ == "__main__":
    sys.exit(main())
