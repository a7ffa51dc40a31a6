"""pyprof.prof: the table of kernels with their operators, FLOPs and bytes."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from borescope_compat._engine import borescope, given, parser_of
from borescope_compat.pyprof._records import BadRecord, write_database

COLUMNS = ("idx", "seq", "altseq", "tid", "layer", "trace", "dir", "sub", "mod", "op", "kernel", "params", "sil", "tc",
           "device", "stream", "grid", "block", "flops", "bytes")
DEFAULT = "idx,dir,sub,mod,op,kernel,params,sil"
FAILURE = 1  # the status of the tool for a file it cannot read


def columns(text: str) -> str:
    unknown = [name for name in text.split(",") if name not in COLUMNS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no column {unknown[0]!r}; there are {', '.join(COLUMNS)}")
    return text


def width(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of letters")
    return int(text)


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("prof.py", "Shows the kernels of what parse.py wrote, or of any recording.")
    parser.add_argument("file", nargs="?", help="output of parse.py, or a recording; standard input by default")
    parser.add_argument("-c", metavar="COLUMNS", dest="columns", type=columns, default=DEFAULT,
                        help=f"columns, with commas between them ({DEFAULT}): {', '.join(COLUMNS)}")
    style = parser.add_mutually_exclusive_group()
    style.add_argument("--csv", action="store_true", help="every value in quotes, with commas between them")
    style.add_argument("-w", metavar="N", dest="width", type=width, help="columns of fixed width, N in all")
    return parser


def is_records(path: Path) -> bool:
    """Whether a file begins like one of parse.py: a dict, in one line, with keys of PyProf."""
    with path.open("rb") as file:
        return file.readline().startswith(b"{'kShortName'")


def table(source: Path, options: argparse.Namespace, *more: str) -> int:
    words: list[object] = ["prof", source, "--compat", "pyprof", "-c", options.columns, *more]
    words += ["--csv"] if options.csv else ["-w", options.width] if options.width else []
    return borescope(*words)


def table_of_records(source: Path, folder: str, options: argparse.Namespace) -> int:
    database = Path(folder, "net.sql")
    try:
        with source.open(encoding="utf-8", errors="replace") as lines:
            write_database(lines, str(database))
    except BadRecord as error:
        print(f"prof.py: {options.file or 'standard input'}: {error}; write it again with parse.py", file=sys.stderr)
        return FAILURE
    return table(database, options, "-q")  # what is odd in the database was reported by parse


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(options.file or Path(folder, "input"))
        if options.file is None:
            with source.open("wb") as copy:
                shutil.copyfileobj(sys.stdin.buffer, copy)
        try:
            is_of_parse = is_records(source)
        except OSError:
            print(f"Error opening file {options.file}. Exiting.", file=sys.stderr)
            return FAILURE
        return table_of_records(source, folder, options) if is_of_parse else table(source, options)


if __name__ == "__main__":
    sys.exit(main())
