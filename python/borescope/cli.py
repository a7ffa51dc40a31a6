"""The command `borescope`, in this process."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from ._install import complaint, is_replaced


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line, without the name of the program; returns its exit status.

    Ctrl-C ends the process as it ends a program that is not Python: nothing is left half written.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if is_replaced():
        sys.stderr.write(f"borescope: {complaint()}\n")
        return 2
    # The verbs that are not the engine's.
    if words and words[0] in ("mcp", "evidence"):
        from ._agents._commands import command

        return command(words)
    from . import _native

    if arguments is None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.stdout is not None:
        sys.stdout.flush()
    return _native.command_line([os.fsencode(word) for word in words])


def run() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    run()
