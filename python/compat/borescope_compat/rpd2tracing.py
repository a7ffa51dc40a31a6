"""rpd2tracing.py: a recording of rocmProfileData as a Chrome trace."""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from borescope_compat._engine import USAGE_ERROR, borescope, given, parser_of

NS_PER_US = 1000


def moment(text: str) -> str:
    if not re.fullmatch(r"\d+%?", text):
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole microseconds, or a percentage as 10%")
    return text


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("rpd2tracing.py", "Converts a recording of rocmProfileData to a Chrome trace.")
    parser.add_argument("input_rpd", help="recording to read")
    parser.add_argument("output_json", nargs="?", help="trace to write; by default input_rpd with .json")
    parser.add_argument("--start", type=moment, help="first start to keep: microseconds, or 10%%")
    parser.add_argument("--end", type=moment, help="last start to keep: microseconds, or 90%%")
    parser.add_argument("--format", choices=("array", "object"), default="object",
                        help="a list of events, or an object that holds it (default)")
    return parser


def window(options: argparse.Namespace) -> Iterator[str]:
    """Starts are compared in whole microseconds: the last one has a thousand nanoseconds."""
    if options.start is not None or options.end is not None:
        yield "--no-context"
    for name, text, last in (("--begin", options.start, 0), ("--end", options.end, NS_PER_US - 1)):
        if text is not None:
            yield name
            yield text if text.endswith("%") else str(int(text) * NS_PER_US + last)


def events_alone(source: Path, target: Path) -> None:
    """The list of events of a trace of ours, in which each event is a line of its own."""
    with source.open("rb") as lines, target.open("wb") as out:
        for line in lines:
            if line == b'"traceEvents":[\n':
                break
        out.write(b"[\n")
        for line in lines:
            if line.startswith(b"]"):
                break
            out.write(line)
        out.write(b"]\n")


def convert_to_array(source: str, output: Path, words: list[str]) -> int:
    """By way of files beside the output, which appears complete or not at all."""
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".rpd2tracing") as folder:
        whole, array = Path(folder, "object.json"), Path(folder, "array.json")
        status = borescope("convert", source, whole, "--to", "chrome", "-q", *words)
        if status == 0:
            events_alone(whole, array)
            os.replace(array, output)
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    output = Path(options.output_json or Path(options.input_rpd).with_suffix(".json"))
    words = list(window(options))
    if options.format == "array":
        try:
            return convert_to_array(options.input_rpd, output, words)
        except OSError as error:
            print(f"rpd2tracing.py: {output}: {error.strerror}; name another file", file=sys.stderr)
            return USAGE_ERROR
    return borescope("convert", options.input_rpd, output, "--to", "chrome", *words)


if __name__ == "__main__":
    sys.exit(main())
