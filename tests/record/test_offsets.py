"""Compiles our declarations of vendors' libraries against their headers, where somebody has them.

Each variable lists sets of folders, folders separated by colons and sets by semicolons:
BORESCOPE_CUPTI_INCLUDES (of CUPTI), BORESCOPE_ROCTRACER_INCLUDES (the folder that holds roctracer/
and hip/, and that of roctracer itself), BORESCOPE_ROCPROFILER_INCLUDES (the folder that holds
rocprofiler-sdk/ and hip/).
"""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = {"BORESCOPE_CUPTI_INCLUDES": "cupti_offsets.cc", "BORESCOPE_ROCTRACER_INCLUDES": "roctracer_offsets.cc",
           "BORESCOPE_ROCPROFILER_INCLUDES": "rocprofiler_offsets.cc"}


def compiles(source, folders):
    includes = [part for folder in folders.split(":") for part in ("-isystem", folder)]
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-Wno-invalid-offsetof", "-fsyntax-only", *includes,
               f"-I{ROOT / 'record/src'}", f"-I{ROOT / 'src'}", str(ROOT / "tests/record" / source)]
    return subprocess.run(command, check=False).returncode == 0


def main():
    compiled = []
    for variable, source in SOURCES.items():
        sets = [s for s in os.environ.get(variable, "").split(";") if s]
        if not sets:
            print(f"skipped: {variable} names no headers")
        compiled += [compiles(source, folders) for folders in sets]
    if not compiled:
        return 77
    return 0 if all(compiled) else 1


if __name__ == "__main__":
    sys.exit(main())
