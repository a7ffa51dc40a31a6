"""What goes wrong in recording is nothing that the program should notice. BORESCOPE_RECORD_DEBUG=1 shows it."""

from __future__ import annotations

import os
import sys
from typing import Any, Callable


def note() -> None:
    """Called where an exception is caught that is then forgotten."""
    if os.environ.get("BORESCOPE_RECORD_DEBUG"):
        import traceback
        print("borescope: recording goes on without this:", file=sys.stderr)
        traceback.print_exc()


def run(action: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the action; None where it raises."""
    try:
        return action(*arguments)
    except Exception:
        note()
        return None
