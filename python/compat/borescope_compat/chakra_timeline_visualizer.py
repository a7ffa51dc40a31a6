"""chakra_timeline_visualizer: the log of a simulator as a Chrome trace."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from borescope_compat._engine import borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("chakra_timeline_visualizer", "Converts the log of a simulator to a Chrome trace.")
    parser.add_argument("--input_filename", required=True, help="log to read")
    parser.add_argument("--output_filename", required=True, help="trace to write")
    parser.add_argument("--num_npus", type=int, required=True, help="number of NPUs")
    parser.add_argument("--npu_frequency", type=int, required=True, help="frequency of an NPU in MHz")
    parser.add_argument("--log_filename", default="debug.log", help="accepted; there is no log")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    return borescope("chakra", "timeline", options.input_filename, "--compat", "chakra",
                     "--num-npus", options.num_npus, "--npu-frequency", options.npu_frequency,
                     "-o", options.output_filename)


if __name__ == "__main__":
    sys.exit(main())
