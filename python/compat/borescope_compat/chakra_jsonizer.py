"""chakra_jsonizer: the records of an .et file as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from borescope_compat._engine import borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("chakra_jsonizer", "Writes the records of an .et file as JSON.")
    parser.add_argument("--input_filename", required=True, help=".et file to read")
    parser.add_argument("--output_filename", required=True, help="JSON file to write")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    return borescope("chakra", "dump", options.input_filename, "--compat", "chakra",
                     "-o", options.output_filename)


if __name__ == "__main__":
    sys.exit(main())
