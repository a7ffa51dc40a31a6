"""How far a load is, shown where somebody looks."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a question is with loading.

    Attributes:
        done_bytes: bytes that were read, of all files, as stored.
        total_bytes: how many there are; 0 when that is not known.
        done_files: files that are done.
        total_files: how many there are.
    """

    done_bytes: int
    total_bytes: int
    done_files: int
    total_files: int


# What `progress=` takes: None decides by whether somebody looks.
ProgressOption = bool | Callable[[Progress], None] | None
Native = Callable[[int, int, int, int], None]

# A bar for less would only flicker.
_BEGINS_AFTER_S = 0.5


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    instance = shell.get_ipython() if shell is not None else None
    return instance is not None and hasattr(instance, "kernel")


def _somebody_looks() -> bool:
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


class _Bar:
    """A bar of tqdm, once the work has taken half a second."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Any = None

    def __call__(self, done: int, total: int, done_files: int, total_files: int) -> None:
        if self._bar is None:
            is_loading = total_files > 0 and not (total and done >= total)
            if time.monotonic() - self._begin < _BEGINS_AFTER_S or not is_loading:
                return
            self._bar = self._open(total)
        if self._bar is not None:
            if total_files > 1:
                self._bar.set_postfix_str(f"{done_files}/{total_files} files", refresh=False)
            self._bar.update(done - self._bar.n)

    @staticmethod
    def _open(total: int) -> Any:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
        return tqdm(total=total or None, unit="B", unit_scale=True, desc="borescope", leave=False)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def reporting(option: ProgressOption) -> Iterator[Native | None]:
    """What the engine calls while it loads; ``None`` where nobody is to be shown anything."""
    if option is None:
        option = _somebody_looks()
    if option is False:
        yield None
    elif option is True:
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        callback = option
        yield lambda *numbers: callback(Progress(*numbers))
