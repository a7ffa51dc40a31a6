"""Steps that PyTorch counts, for programs that do not say their steps themselves: those of its profiler, else those of
an optimizer."""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from . import _quiet, _ranges
from ._library import library


def watch_optimizers(torch: Any, stepped: Callable[[], None]) -> None:
    """Has it called after each step of any optimizer, where this PyTorch can say so."""
    optimizer = sys.modules.get(torch.optim.Optimizer.__module__)
    register = getattr(optimizer, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(lambda *arguments: stepped())


def _watch_profiler(torch: Any, stepped: Callable[[int], None]) -> None:
    original = torch.profiler.profile.step

    @functools.wraps(original)
    def step(profiler: Any, *arguments: Any, **named: Any) -> Any:
        result = original(profiler, *arguments, **named)
        _quiet.run(lambda: stepped(profiler.step_num))
        return result

    torch.profiler.profile.step = step


class _Counter:
    """Step n begins when n steps of an optimizer are over, unless somebody counts who knows better."""

    def __init__(self) -> None:
        self._count = 0
        self._is_optimizers = self._is_profilers = True

    def optimizer_stepped(self) -> None:
        if self._is_optimizers:
            self._count += 1
            library.borescope_record_note_step(self._count)

    def profiler_stepped(self, number: int) -> None:
        self._is_optimizers = False
        if self._is_profilers:
            library.borescope_record_note_step(number)

    def leave_to_program(self) -> None:
        self._is_optimizers = self._is_profilers = False


def begin() -> None:
    torch, counter = sys.modules["torch"], _Counter()
    if not _ranges.has_steps():
        library.borescope_record_note_step(0)
    watch_optimizers(torch, counter.optimizer_stepped)
    _quiet.run(_watch_profiler, torch, counter.profiler_stepped)
    _ranges.after_step.append(counter.leave_to_program)
    if _ranges.has_steps():
        counter.leave_to_program()
