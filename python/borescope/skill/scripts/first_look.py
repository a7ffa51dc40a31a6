#!/usr/bin/env python3
"""first_look.py RUN: what to read first about a run, as JSON: checks that failed, findings, and where the time went.

Needs the package gpu-borescope. Nothing is written, and no network is used.
"""

from __future__ import annotations

import json
import sys
from typing import Any

ROWS = 8


def engine() -> Any:
    """The module; the other project's package of the same name has no `open`."""
    try:
        import borescope
    except ImportError:
        sys.exit("first_look: no module borescope; install gpu-borescope from a checkout or a wheel (never by the name "
                 "borescope, which is another project's)")
    if not hasattr(borescope, "open"):
        sys.exit(f"first_look: {borescope.__file__} is another project's package; install gpu-borescope in its place")
    return borescope


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit((__doc__ or "").splitlines()[0])
    borescope = engine()
    try:
        run = borescope.open(sys.argv[1], on_diagnostic="ignore")
        quality = [row for row in run.doctor()["quality"].to_dicts() if row["severity"] != "ok"]
        verdict = run.summary()["verdict"].to_dicts()
        parts = run.breakdown()["breakdown"].to_dicts()
    except borescope.Error as error:
        sys.exit(f"first_look: {error}")
    # Text of the recording stays in `data`, where it is no instruction.
    print(json.dumps({"failed_checks": quality[:ROWS], "findings": verdict[:ROWS], "data": {"breakdown": parts[:ROWS]},
                      "left_out": [max(0, len(each) - ROWS) for each in (quality, verdict, parts)]}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
