"""chakra_converter: linked traces and workloads of ASTRA-sim 1.0 as Chakra's .et files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from borescope_compat._engine import USAGE_ERROR, borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("chakra_converter", "Converts execution traces to Chakra's .et files.")
    parser.add_argument("--log-filename", default="debug.log", help="accepted; there is no log")
    kinds = parser.add_subparsers(dest="kind", title="subcommands")
    pytorch = kinds.add_parser("PyTorch", help="a linked PyTorch trace",
                               description="Converts a linked PyTorch trace, or an execution trace alone.")
    pytorch.add_argument("--input", required=True, help="trace to read")
    pytorch.add_argument("--output", required=True, help=".et file to write")
    pytorch.add_argument("--simulate", action="store_true", help="not supported: an error that says so")
    text = kinds.add_parser("Text", help="a workload of ASTRA-sim 1.0",
                            description="Converts a workload of ASTRA-sim 1.0.")
    text.add_argument("--input", required=True, help="workload to read")
    text.add_argument("--output", required=True, help="prefix of the files to write: PREFIX.0.et and so on")
    text.add_argument("--num-npus", type=int, required=True, help="number of files")
    text.add_argument("--num-passes", type=int, required=True, help="number of iterations")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    parser = make_parser()
    options = parser.parse_args(given(arguments))
    if options.kind is None:
        parser.print_help()
        return 0  # as the tool does
    command = ["chakra", "convert", options.input, options.output, "--compat", "chakra"]
    if options.kind == "Text":
        return borescope(*command, "--num-npus", options.num_npus, "--num-passes", options.num_passes)
    if options.simulate:
        print("chakra_converter: --simulate is not supported; leave it out, the file is the same, and see "
              f"the order of its nodes with: borescope chakra check {options.output} --order",
              file=sys.stderr)
        return USAGE_ERROR
    return borescope(*command)


if __name__ == "__main__":
    sys.exit(main())
