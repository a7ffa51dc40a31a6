"""chakra_visualizer: the dependencies of an .et file as a graph."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from borescope_compat._engine import USAGE_ERROR, borescope, given, parser_of


def make_parser() -> argparse.ArgumentParser:
    parser = parser_of("chakra_visualizer", "Draws the dependencies of an .et file.")
    parser.add_argument("--input_filename", required=True, help=".et file to read")
    parser.add_argument("--output_filename", required=True,
                        help="graph to write: .dot, .graphml, or .pdf, which needs graphviz")
    return parser


def draw(source: str, target: str) -> int:
    return borescope("chakra", "draw", source, "--compat", "chakra", "-o", target)


def draw_pdf(source: str, target: str) -> int:
    """Graphviz lays the graph out; the file appears complete or not at all."""
    layout = shutil.which("dot")
    if layout is None:
        print("chakra_visualizer: a .pdf needs the program dot of graphviz; install it, or name a .dot or "
              ".graphml", file=sys.stderr)
        return USAGE_ERROR
    with tempfile.TemporaryDirectory() as folder:
        graph, pdf = Path(folder, "graph.dot"), Path(folder, "graph.pdf")
        status = draw(source, str(graph))
        if status == 0:
            status = subprocess.run([layout, "-Tpdf", graph, "-o", pdf], check=False).returncode
        if status == 0:
            shutil.copyfile(pdf, target)
    return status


def main(arguments: Sequence[str] | None = None) -> int:
    options = make_parser().parse_args(given(arguments))
    ending = Path(options.output_filename).suffix
    if ending not in (".pdf", ".dot", ".graphml"):
        print("Unknown output file extension. Must be one of pdf, dot, graphml.")
        return 0  # as the tool does
    if ending == ".pdf":
        return draw_pdf(options.input_filename, options.output_filename)
    return draw(options.input_filename, options.output_filename)


if __name__ == "__main__":
    sys.exit(main())
