"""Arguments of runs that the engine would not take, or would take for something else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import usage

SqlValue = None | bool | int | float | str

_MOST_THREADS = 1024  # as of the command line


def check_threads(threads: Any) -> None:
    """How many threads work."""
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or not 0 <= threads <= _MOST_THREADS:
        raise usage(f"`threads` takes a whole number up to {_MOST_THREADS}, 0 for one a processor, "
                    f"not {threads!r:.80}", parameter="threads")


def check_text(text: str, what: str, parameter: str | None = None) -> None:
    """That a text can be written: Python's may hold halves of characters."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise usage(f"{what} has half of a character (a surrogate without its pair) at {error.start}",
                        parameter=parameter) from None


def check_options(threads: Any, progress: Any, on_diagnostic: Any) -> None:
    """The options of ``borescope.open``."""
    check_threads(threads)
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
    check_text(text, "the statement")
    if isinstance(params, (str, bytes)) or not isinstance(params, Iterable):
        raise usage("`params` takes a sequence of values, or values by name", parameter="params")
    for name in params if isinstance(params, Mapping) else ():
        if not isinstance(name, str):
            raise usage(f"`params` takes values by name, which is a text, not {type(name).__name__}",
                        parameter="params")
        check_text(name, "a name in `params`", "params")
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
    if isinstance(value, str):
        check_text(value, "a value of `params`", "params")
        return value
    if value is None or isinstance(value, float):
        return value
    if hasattr(value, "__index__"):
        value = value.__index__()
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise usage("whole numbers of SQL have 64 bits", remedy="give a larger one as a float",
                        parameter="params")
        return value
    raise usage(f"SQL takes numbers, texts and None, not {type(value).__name__}", parameter="params")
