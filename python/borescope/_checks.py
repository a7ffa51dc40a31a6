"""Arguments of runs that the engine would not take, or would take for something else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._errors import usage

SqlValue = None | bool | int | float | str


def check_options(threads: Any, progress: Any, on_diagnostic: Any) -> None:
    """The options of ``borescope.open``."""
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or threads < 0:
        raise usage(f"`threads` takes a whole number, 0 for one a processor, not {threads!r:.80}",
                    parameter="threads")
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise usage(f"`progress` takes True, False, None or a function, not {progress!r:.80}",
                    parameter="progress")
    if on_diagnostic not in ("ignore", "warn", "raise"):
        raise usage(f"`on_diagnostic` takes \"ignore\", \"warn\" or \"raise\", not {on_diagnostic!r:.80}",
                    parameter="on_diagnostic")


def check_sql(text: Any, params: Any, time_limit: Any, rows: Any) -> None:
    """The arguments of ``Run.sql``."""
    if not isinstance(text, str):
        raise usage(f"SQL is a text, not {type(text).__name__}")
    if isinstance(params, (str, bytes)) or not isinstance(params, Iterable):
        raise usage("`params` takes a sequence of values, or values by name", parameter="params")
    if time_limit is not None and not time_limit > 0:
        raise usage(f"`time_limit` takes seconds above 0, not {time_limit!r}", parameter="time_limit")
    if rows is not None and (not hasattr(rows, "__index__") or rows < 0):
        raise usage(f"`rows` takes how many rows are kept, not {rows!r:.80}", parameter="rows")


def names_of(verbs: tuple[Any, ...]) -> list[str]:
    """The names of verbs, which may be written as methods are."""
    for verb in verbs:
        if not isinstance(verb, str):
            raise usage(f"a verb is a text, not {type(verb).__name__}",
                        remedy='several are given one by one: run.ask("kernels", "idle")')
    return [verb.replace("_", "-") for verb in verbs]


def sql_value(value: Any) -> SqlValue:
    """A value for a parameter of a statement."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, (float, str)):
        return value
    if hasattr(value, "__index__"):
        value = value.__index__()
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise usage("whole numbers of SQL have 64 bits", remedy="give a larger one as a float",
                        parameter="params")
        return value
    raise usage(f"SQL takes numbers, texts and None, not {type(value).__name__}", parameter="params")
