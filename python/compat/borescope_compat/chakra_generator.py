"""chakra_generator: small .et files to try a simulator with, in the current folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from borescope_compat._engine import borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("chakra_generator", "Writes small .et files into the current folder.")
    parser.add_argument("--num_npus", type=int, default=64, help="number of NPUs")
    parser.add_argument("--default_runtime", type=int, default=5, help="duration of computation")
    parser.add_argument("--default_tensor_size", type=int, default=1024, help="bytes of a tensor")
    parser.add_argument("--default_comm_size", type=int, default=65536, help="bytes of communication")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    return borescope("chakra", "generate", ".", "--num-npus", options.num_npus,
                     "--default-runtime", options.default_runtime,
                     "--default-tensor-size", options.default_tensor_size,
                     "--default-comm-size", options.default_comm_size)


if __name__ == "__main__":
    sys.exit(main())
