"""What all commands share: the way to Borescope's command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

USAGE_ERROR = 2


def borescope(*words: object) -> int:
    """Runs Borescope's command line in this process, and returns its exit status."""
    # Not above: --help and wrong options need no engine.
    try:
        from borescope.cli import main
    except ImportError as error:
        print(f"borescope: {error}; this needs the package gpu-borescope (pip install . in a checkout), and not the "
              "borescope of the Python Package Index, which is another project's", file=sys.stderr)
        return USAGE_ERROR
    return main([str(word) for word in words])


def given(arguments: Sequence[str] | None) -> list[str]:
    """The words of the command line, unless a caller has others."""
    return list(sys.argv[1:] if arguments is None else arguments)


def parser_of(tool: str, what: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=tool, description=what)
