"""Compiles cupti_offsets.cc against the headers of CUPTI, where somebody has them.

BORESCOPE_CUPTI_INCLUDES lists sets of folders, folders separated by colons and sets by semicolons.
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def main():
    sets = [s for s in os.environ.get("BORESCOPE_CUPTI_INCLUDES", "").split(";") if s]
    if not sets:
        print("skipped: BORESCOPE_CUPTI_INCLUDES names no headers of CUPTI")
        return 77
    status = 0
    for folders in sets:
        includes = [part for folder in folders.split(":") for part in ("-isystem", folder)]
        command = [os.environ.get("CXX", "c++"), "-std=c++20", "-Wno-invalid-offsetof", "-fsyntax-only",
                   *includes, f"-I{ROOT / 'record/src'}", str(ROOT / "tests/record/cupti_offsets.cc")]
        status |= subprocess.run(command, check=False).returncode
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main())
