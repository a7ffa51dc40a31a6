"""Steps that PyTorch counts: those of an optimizer, for programs that do not say their steps themselves."""

from __future__ import annotations

import sys
from typing import Any, Callable

from . import _ranges
from ._library import library


def watch_optimizers(torch: Any, stepped: Callable[[], None]) -> None:
    """Has it called after each step of any optimizer, where this PyTorch can say so."""
    optimizer = sys.modules.get(torch.optim.Optimizer.__module__)
    register = getattr(optimizer, "register_optimizer_step_post_hook", None)
    if register is not None:
        register(lambda *arguments: stepped())


class _Counter:
    """Step n begins when n steps of an optimizer are over."""

    def __init__(self) -> None:
        self._count = 0
        self._is_left = False

    def stepped(self) -> None:
        if not self._is_left:
            self._count += 1
            library.borescope_record_note_step(self._count)

    def leave_to_program(self) -> None:
        self._is_left = True


def begin() -> None:
    counter = _Counter()
    library.borescope_record_note_step(0)
    watch_optimizers(sys.modules["torch"], counter.stepped)
    _ranges.after_step.append(counter.leave_to_program)
