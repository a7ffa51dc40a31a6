"""What the launcher asked for, put into effect at the start of the interpreter.

BORESCOPE_RECORD_PYTHON holds it: "ops=nvtx", "ops=profile", "shapes", "steps=N", "functions=calls", "count-steps", separated
by semicolons. What is unknown is ignored: the launcher may be newer.
"""

from __future__ import annotations

import os
from typing import Callable

from . import _quiet
from ._library import library
from ._ranges import write_mark

VARIABLE = "BORESCOPE_RECORD_PYTHON"


def options() -> dict[str, str]:
    found = {}
    for word in os.environ.get(VARIABLE, "").split(";"):
        name, _, value = word.partition("=")
        if name:
            found[name] = value
    return found


def _begin_or_say(what: str, action: Callable[[], None]) -> None:
    """What cannot be recorded is said in the log, not to the program."""
    try:
        action()
    except Exception as error:
        _quiet.note()
        write_mark(f"borescope: {what} are not recorded: {error}")


def _ops(wanted: dict[str, str]) -> None:
    from . import _imports
    way = wanted.get("ops")
    if way not in ("nvtx", "profile"):
        return

    def torch_is_here() -> None:
        from . import _modules, _operators, _windows
        if way == "nvtx":
            _begin_or_say("operators", lambda: _operators.begin("shapes" in wanted))
        else:
            _begin_or_say("operators", lambda: _windows.begin(wanted.get("steps", "")))
        _begin_or_say("modules", _modules.begin)

    _imports.after("torch", torch_is_here)
    _steps_of_jax()


def _steps_of_jax() -> None:
    def jax_is_here() -> None:
        from . import _jax
        _begin_or_say("steps of JAX", _jax.begin)

    from . import _imports
    _imports.after("jax", jax_is_here)


def _count_steps(wanted: dict[str, str]) -> None:
    """For --start=step:N and --stop=step:N."""
    if "count-steps" not in wanted:
        return

    def torch_is_here() -> None:
        from . import _steps
        _begin_or_say("steps of optimizers", _steps.begin)

    from . import _imports
    _imports.after("torch", torch_is_here)
    if "ops" not in wanted:
        _steps_of_jax()


def begin() -> None:
    """Called once, at the start. Does nothing in a process that is not recorded."""
    if library is None:
        return
    wanted = options()
    _quiet.run(_ops, wanted)
    _quiet.run(_count_steps, wanted)
    if wanted.get("functions") == "calls":
        from . import _functions
        _begin_or_say("functions of Python", _functions.begin)
