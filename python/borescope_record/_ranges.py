"""Ranges, steps and marks. In a process that is not recorded all of them are one object that does nothing."""

from __future__ import annotations

import atexit
import functools
import inspect
from typing import Any, Callable

from . import _quiet
from ._library import library


class _Nothing:
    """A range that is not recorded, as context manager and as decorator."""

    __slots__ = ()
    # Functions of the interpreter that take these arguments, change nothing and return what is false: they cost half
    # of what ones written in Python do.
    __enter__ = [].clear
    __exit__ = type.__prepare__

    def __call__(self, function: Any) -> Any:
        return function


NOTHING = _Nothing()


def encode(text: Any) -> bytes:
    """The text for the library; what is no text is written as Python writes it."""
    try:
        return (text if type(text) is str else str(text)).encode("utf-8", "replace").replace(b"\0", b" ")
    except Exception:
        return b"?"


class Range:
    """A range of the calling thread, for `with` and for functions."""

    __slots__ = ("_text",)

    def __init__(self, text: Any) -> None:
        self._text = encode(text)

    def __enter__(self) -> Range:
        push(self._text)
        return self

    def __exit__(self, *error: object) -> None:
        pop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that is a range in each of its calls; also of coroutines, from call to end."""
        if inspect.iscoroutinefunction(function):
            return _around_coroutine(self._text, function)
        return _around(self._text, function)


def _around(text: bytes, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def recorded(*arguments: Any, **named: Any) -> Any:
        push(text)
        try:
            return function(*arguments, **named)
        finally:
            pop()

    return recorded


def _around_coroutine(text: bytes, function: Callable[..., Any]) -> Callable[..., Any]:
    """Coroutines of one thread overlap, so their ranges do not nest: they are beside the thread."""

    @functools.wraps(function)
    async def recorded(*arguments: Any, **named: Any) -> Any:
        number = library.borescope_record_range_start(text)
        try:
            return await function(*arguments, **named)
        finally:
            library.borescope_record_range_end(number)

    return recorded


class _Step:
    """A step that has begun; leaving it ends it."""

    __slots__ = ()

    def __enter__(self) -> _Step:
        return self

    def __exit__(self, *error: object) -> None:
        library.borescope_record_step_end()


class _Recording:
    """Recording goes on within it."""

    __slots__ = ()

    def __enter__(self) -> _Recording:
        library.borescope_record_start()
        return self

    def __exit__(self, *error: object) -> None:
        library.borescope_record_stop()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        return recorded


_ends_steps = False
after_step: list[Callable[[], None]] = []  # called when a step begins: profiler windows
push: Any = None
pop: Any = None
if library is not None:
    push, pop = library.borescope_record_push, library.borescope_record_pop
    _STEP, _RECORDING = _Step(), _Recording()


def begin_step(number: int) -> Any:
    """Begins a step; the one before ends, and the last one when the program does."""
    global _ends_steps
    try:
        if not _ends_steps:
            _ends_steps = True
            atexit.register(library.borescope_record_step_end)
        for action in after_step:
            action()
        library.borescope_record_step(int(number) & (2**64 - 1))
    except Exception:
        _quiet.note()
    return _STEP


def has_steps() -> bool:
    """Whether the program has said one by now."""
    return _ends_steps


def record_within() -> Any:
    return _RECORDING


def write_mark(text: Any) -> None:
    library.borescope_record_mark(encode(text))
