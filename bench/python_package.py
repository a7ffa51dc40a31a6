#!/usr/bin/env python3
"""What the Python package costs beside the command: python_package.py COMMAND TRACE [--rounds N]

COMMAND is the program `borescope` of the same build, TRACE a recording of about a gigabyte. Runs in the
Python whose package is measured, which needs pyarrow and pandas. Prints medians.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys

IMPORT = """
import sys, time
begin = time.perf_counter()
import borescope
print(1e3 * (time.perf_counter() - begin))
"""
BREAKDOWN = """
import json, os, pandas, resource, sys, time
before = resource.getrusage(resource.RUSAGE_SELF)
import borescope
cpu = time.process_time(); begin = time.perf_counter()
answer = borescope.open(sys.argv[1], keep="never").breakdown()
wall = time.perf_counter() - begin; cpu = time.process_time() - cpu
after = resource.getrusage(resource.RUSAGE_SELF)
begin = time.perf_counter()
answer.to_pandas()
print(json.dumps({"wall_s": wall, "cpu_s": cpu, "rss_mb": (after.ru_maxrss - before.ru_maxrss) / 1024,
                  "to_pandas_ms": 1e3 * (time.perf_counter() - begin)}))
"""
ARROW = """
import borescope, json, pyarrow, resource, time
run = borescope.open(%r)
table = run.sql("with recursive t(n) as (select 1 union all select n + 1 from t where n < 10000000) "
                "select n, n * 2 as m from t", rows=10_000_000)
pyarrow.table(run.sql("select 1 as n"))  # what pyarrow imports at its first table
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
begin = time.perf_counter()
arrow = pyarrow.table(table)
ms = 1e3 * (time.perf_counter() - begin)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"rows": arrow.num_rows, "ms": ms, "rss_mb": (after - before) / 1024}))
"""
INTERRUPT = """
import borescope, os, signal, sys, threading, time
run = borescope.open(sys.argv[1])
sent = []
def interrupt():
    time.sleep(0.3)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    run.breakdown()
except KeyboardInterrupt:
    print(1e3 * (time.monotonic() - sent[0]))
"""


def python(code: str, *words: str) -> str:
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return done.stdout


def command(program: str, trace: str) -> dict[str, float]:
    """Wall, CPU and memory of the command, by the system's account."""
    code = ("import json, resource, subprocess, sys, time; begin = time.perf_counter();"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
            "wall = time.perf_counter() - begin; used = resource.getrusage(resource.RUSAGE_CHILDREN);"
            "print(json.dumps({'wall_s': wall, 'cpu_s': used.ru_utime + used.ru_stime,"
            "'rss_mb': used.ru_maxrss / 1024}))")
    return json.loads(python(code, program, "breakdown", trace, "-f", "json", "-q"))


def medians(rows: list[dict[str, float]]) -> dict[str, float]:
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command")
    parser.add_argument("trace")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    imports = [float(python(IMPORT)) for _ in range(given.rounds)]
    print(f"import borescope: {statistics.median(imports):.1f} ms")
    pairs = [(command(given.command, given.trace), json.loads(python(BREAKDOWN, given.trace)))
             for _ in range(given.rounds)]
    theirs, ours = medians([a for a, _ in pairs]), medians([b for _, b in pairs])
    for key, unit in (("wall_s", "s"), ("cpu_s", "s"), ("rss_mb", "MB")):
        print(f"breakdown, {key}: command {theirs[key]:.3f} {unit}, Python {ours[key]:.3f} {unit}, "
              f"ratio {ours[key] / theirs[key]:.3f}")
    print(f"to_pandas: {ours['to_pandas_ms']:.1f} ms")
    arrow = json.loads(python(ARROW % given.trace))
    print(f"{arrow['rows']:,} rows to Arrow: {arrow['ms']:.2f} ms, {arrow['rss_mb']:.1f} MB")
    stops = [float(text) for text in (python(INTERRUPT, given.trace) for _ in range(given.rounds)) if text]
    print(f"Ctrl-C to KeyboardInterrupt: worst of {len(stops)}: {max(stops):.0f} ms" if stops else
          "Ctrl-C: the question was over before it")


if __name__ == "__main__":
    main()
