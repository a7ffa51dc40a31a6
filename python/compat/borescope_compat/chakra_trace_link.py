"""chakra_trace_link: an execution trace of PyTorch with what its device trace knows."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from borescope_compat._engine import borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("chakra_trace_link", "Links a PyTorch execution trace with its Kineto trace.")
    parser.add_argument("--rank", type=int, required=True, help="rank of the traces")
    parser.add_argument("--chakra-host-trace", required=True, help="execution trace (JSON) to read")
    parser.add_argument("--chakra-device-trace", required=True, help="Kineto trace to read")
    parser.add_argument("--output-file", required=True, help="linked trace to write")
    parser.add_argument("--log-level", default="INFO", help="accepted; there is no log")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    # The reference takes any rank: it names the trace, and is in no output.
    return borescope("link", "--compat", "chakra", "--host", options.chakra_host_trace,
                     "--device", options.chakra_device_trace, "-o", options.output_file)


if __name__ == "__main__":
    sys.exit(main())
