"""pyprof.parse: the kernels of a database with the markers around them, a dict of Python a line."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from borescope_compat._engine import borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("parse.py", "Writes the kernels of an nvprof or Nsight Systems database, a dict a line.")
    parser.add_argument("file", metavar="DB", help="database to read")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser()
    options = parser.parse_args(given(arguments))
    if not Path(options.file).is_file():
        parser.error(f"No such file '{options.file}'.")
    # By way of a file: how many kernels there are comes before the first of them.
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder, "net.txt")
        status = borescope("prof", options.file, "--compat", "pyprof", "--parse", "-o", records)
        if status != 0:
            return status
        with records.open("rb") as lines:
            count = sum(1 for _ in lines)
        print(f"Found {count} kernels. " + ("Getting info for each kernel." if count else "Exiting."),
              file=sys.stderr)
        with records.open("rb") as lines:
            shutil.copyfileobj(lines, sys.stdout.buffer)
            sys.stdout.buffer.flush()
    return 0


def run() -> int:
    """main(), but a reader that has seen enough is no error."""
    try:
        return main()
    except BrokenPipeError:
        sys.stderr.close()  # or Python would report that it cannot flush standard output
        return 0


if __name__ == "__main__":
    sys.exit(run())
