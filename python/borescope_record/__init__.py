"""Ranges, steps and marks of a Python program in a recording of `borescope record`.

    import borescope_record as record

    with record.range("prefill"):        # also a decorator: @record.range("prefill")
        ...
    for number, batch in enumerate(batches):
        record.step(number)              # ends with the next step
        ...
    record.mark("cache is full")

    with record.recording():             # of a program recorded with --paused: from here to there
        ...

    with record.ops():                   # calls of PyTorch's functions with arguments and stacks
        ...

In a process that is not recorded nothing happens, and quickly. No function raises because of what it records. All are
thread-safe. Where and why recording was started: `borescope record --help`.
"""

from __future__ import annotations

from typing import Any

from . import _ranges
from ._library import library as _native

__all__ = ["flush", "is_recording", "mark", "ops", "range", "recording", "start", "step", "stop"]

if _native is None:
    _NOTHING = _ranges.NOTHING

    def range(text: Any) -> Any:
        """A range of the calling thread, as context manager or decorator."""
        return _NOTHING

    def recording() -> Any:
        """Records within it, whatever is outside; as context manager or decorator."""
        return _NOTHING

    def step(number: int) -> Any:
        """Begins the step of this number, which ends with the next one, or by `with step(n):` at its end."""
        return _NOTHING

    def ops() -> Any:
        """Records calls of PyTorch's functions within it, as PyProf did."""
        return _NOTHING

    def mark(text: Any) -> None:
        """A moment."""

    def start() -> None:
        """Starts recording in all processes of the run. Starts count."""

    def stop() -> None:
        """Ends what one start began."""

    def flush() -> None:
        """Has device work that has ended written to the log."""

    def is_recording() -> bool:
        """Whether what follows is recorded now."""
        return False
else:
    range = _ranges.Range
    recording = _ranges.record_within
    step = _ranges.begin_step
    mark = _ranges.write_mark
    start = _native.borescope_record_start
    stop = _native.borescope_record_stop
    flush = _native.borescope_record_flush

    def is_recording() -> bool:
        """Whether what follows is recorded now."""
        return bool(_native.borescope_record_is_recording())

    def ops() -> Any:
        """Records calls of PyTorch's functions within it, as PyProf did. Without PyTorch it does nothing."""
        try:
            from ._calls import Calls
            return Calls()
        except Exception:
            return _ranges.NOTHING
