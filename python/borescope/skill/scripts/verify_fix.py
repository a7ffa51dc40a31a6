#!/usr/bin/env python3
"""verify_fix.py --before RUN... --after RUN... [--budget FILE]: whether a change made the program faster or slower.

Each RUN is one execution of the program: a file, or the folder of its ranks. Exit status: 0 not slower, 1 slower or a
budget broken, 2 an error, 3 nobody can tell. Needs the package gpu-borescope.
"""

from __future__ import annotations

import argparse
import json
import sys

from first_look import engine

STATUS = {"kept": 0, "broken": 1, "void": 2, "cannot tell": 3}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", nargs="+", required=True, metavar="RUN")
    parser.add_argument("--after", nargs="+", required=True, metavar="RUN")
    parser.add_argument("--budget", metavar="FILE")
    given = parser.parse_args()
    borescope = engine()
    try:
        result = borescope.check(given.after, baseline=given.before, budget=given.budget, progress=False)
    except borescope.Error as error:
        print(f"verify_fix: {error}", file=sys.stderr)
        return 2
    gate = result.answer["gate"].to_dicts() if "gate" in [table.name for table in result.answer] else []
    print(json.dumps({"status": result.status, "why": result.why, "gate": gate[:20]}, indent=1))
    return STATUS.get(result.status, 2)


if __name__ == "__main__":
    sys.exit(main())
