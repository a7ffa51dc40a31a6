"""Compares borescope.hta with HTA itself, method by method, frame by frame, on the same traces.

Usage: PYTHON compare_live.py [--list] TRACE...

A TRACE is a file, a folder with a file for each rank, or the raw file of a memory timeline. PYTHON has both HolisticTraceAnalysis 0.6
(`pip install traceinsight`) and borescope. Frames must be equal to the last bit: columns, their
order, types, index, values. What may differ is documented in docs/use/compat-hta.md and
left out of the questions, or named by a difference.

Exit status: 0 equal, or HTA is not installed, which is said; 1 something differs; 2 usage.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import sys
import traceback
import warnings
from typing import Any

from questions import QUESTIONS, comparable, differences

def quiet() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    import plotly.graph_objects

    plotly.graph_objects.Figure.show = lambda *args, **options: None


def _answer(analysis: Any, question: Any) -> tuple[Any, str]:
    try:
        return question(analysis), ""
    except Exception as error:  # noqa: BLE001  whatever HTA stops with is compared
        text = traceback.format_exc() if os.environ.get("COMPARE_TRACEBACKS") else ""
        return None, f"{type(error).__name__}: {str(error)[:150]}{text}"


def compare(path: str) -> tuple[int, list[str], list[str]]:
    """How many answers are equal, what differs, and what HTA stopped at."""
    import hta.trace_analysis as reference

    import borescope.hta.trace_analysis as mirrored

    if path.endswith(".raw.gz"):
        found = differences(*(importlib.import_module(f"{package}.memory_analysis").MemoryAnalysis(path)
                              ._process_raw_events() for package in ("hta", "borescope.hta")), "memory")
        return 1 - len(found), found, []
    given = {"trace_dir": path} if os.path.isdir(path) else {"trace_files": [path]}
    theirs, ours = reference.TraceAnalysis(**given), mirrored.TraceAnalysis(**given)
    equal, differing, stops = 0, [], []
    for name, question in QUESTIONS.items():
        expected, stopped = _answer(theirs, question)
        got, failed = _answer(ours, question)
        if stopped:
            stops.append(f"{name}: HTA: {stopped} / here: {failed or 'an answer'}")
            continue
        found = [failed] if failed else differences(comparable(expected), comparable(got))
        differing += [f"{name}{each if each.startswith('[') else ': ' + each}" for each in found]
        equal += not found
    return equal, differing, stops


def main() -> int:
    paths = [each for each in sys.argv[1:] if not each.startswith("-")]
    if not paths:
        print(__doc__)
        return 2
    if importlib.util.find_spec("hta") is None:
        print("skipped: HolisticTraceAnalysis is not installed (pip install traceinsight)")
        return 0
    quiet()
    status = 0
    for path in paths:
        equal, differing, stops = compare(path)
        print(f"{path}: {equal} equal, {len(differing)} differ, HTA stops at {len(stops)}")
        for each in differing + (stops if "--list" in sys.argv else []):
            print(f"  {each}")
        status |= bool(differing)
    return status


if __name__ == "__main__":
    sys.exit(main())
