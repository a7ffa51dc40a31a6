"""Steps that a program of JAX says to its profiler: jax.profiler.StepTraceAnnotation."""

from __future__ import annotations

import functools
import numbers
import sys
from typing import Any

from . import _quiet, _ranges
from ._library import library

_NUMBER = "_borescope_step"


def _note(annotation: Any, number: Any) -> None:
    """Only a number of the host: asking an array of a device for its value would wait for the device."""
    if isinstance(number, numbers.Integral):
        setattr(annotation, _NUMBER, int(number))


def _watch(annotations: Any) -> None:
    begin, enter, leave = annotations.__init__, annotations.__enter__, annotations.__exit__

    @functools.wraps(begin)
    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        begin(self, *arguments, **named)
        _quiet.run(_note, self, named.get("step_num"))

    @functools.wraps(enter)
    def __enter__(self: Any) -> Any:
        if hasattr(self, _NUMBER):
            _ranges.begin_step(getattr(self, _NUMBER))
        return enter(self)

    @functools.wraps(leave)
    def __exit__(self: Any, *error: Any) -> Any:
        result = leave(self, *error)
        if hasattr(self, _NUMBER):
            library.borescope_record_step_end()
        return result

    annotations.__init__, annotations.__enter__, annotations.__exit__ = __init__, __enter__, __exit__


def begin() -> None:
    """Once jax has been imported."""
    _watch(sys.modules["jax"].profiler.StepTraceAnnotation)
