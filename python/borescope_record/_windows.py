"""Operators of PyTorch by its profiler, of the processor alone so that CUPTI stays ours: with types, strides and values.

The profiler keeps what it sees in memory. So it runs in windows of some steps; at the end of each what it saw goes
into the log. A step is what record.step() says, else a step of an optimizer; without either the whole program is one
window. A crash loses the window that is open, and no other.

No range of PyTorch may end in another window than it began in: its end would be written into memory that PyTorch has
freed. Hooks of optimizers run within such a range, so that the window ends at the next call of a module; and ranges of
the program's own that are open there are never ended.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import sys
import tempfile
import threading
import time
import types
from typing import Any

from . import _modules, _operators, _quiet, _ranges, _steps
from ._library import library

DEFAULT_STEPS = 20


class Window:
    """The profiler of this process, which sees all its threads, and which any of them can end."""

    def __init__(self, torch: Any, steps: int) -> None:
        self._config, self._activities = _configuration(torch)
        self._prepare = torch._C._autograd._prepare_profiler
        self._enable = torch._C._autograd._enable_profiler
        self._disable = torch._C._autograd._disable_profiler
        self._steps, self._seen = steps, 0
        self._process = 0  # in which it is open; a child made by fork leaves its parent's alone
        self.number = 0  # how many have ended
        self._lock = threading.Lock()
        self.has_own_steps = False

    def turn_on(self) -> None:
        with self._lock:
            if self._process == 0:
                with _operators.DEVICE_IS_KEPT:
                    self._prepare(self._config, self._activities)
                    self._enable(self._config, self._activities)
                self._process = os.getpid()

    def enable(self) -> None:
        try:
            self.turn_on()
        except Exception as error:
            say_lost("from here on", error)

    def disable(self) -> bool:
        """Ends the window. Whether there was one."""
        if self._process != os.getpid():
            return False
        try:
            with self._lock:
                if self._process == 0:
                    return False
                self._process = 0
                self.number += 1
                result = self._disable()
            write(result)
        except Exception as error:
            say_lost(f"of window {self.number}, which ends here,", error)
        return True

    def count(self) -> None:
        self._seen += 1

    def end_if_full(self) -> None:
        if self._seen >= self._steps and self.disable():
            self._seen = 0
            self.enable()


def say_lost(which: str, error: Exception) -> None:
    """In the log: the program is not to notice."""
    _quiet.note()
    _quiet.run(_ranges.write_mark, f"borescope: operators {which} are not recorded: {error}")


def _as(original: Any, function: Any) -> Any:
    """The function in place of another, also for TorchScript, which reads the text of the original and its globals."""
    made = types.FunctionType(function.__code__, original.__globals__, original.__name__, function.__defaults__,
                              function.__closure__)
    return functools.update_wrapper(made, original)


def guard_ranges(torch: Any, window: Window) -> None:
    """Has ranges of torch.profiler.record_function that are open where a window ends stay open: what PyTorch has for
    them is kept until the program ends, since it ends them when they are deleted, too."""
    kind = torch.autograd.profiler.record_function
    enter, leave, kept = kind.__enter__, kind.__exit__, []

    def entered(self: Any) -> Any:
        self.borescope_window = window.number
        return enter(self)

    def left(self: Any, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        record = getattr(self, "record", None)
        if record is None or getattr(self, "borescope_window", window.number) == window.number:
            return leave(self, exc_type, exc_value, traceback)
        kept.append(record)
        self.record = None
        return None

    kind.__enter__, kind.__exit__ = _as(enter, entered), _as(leave, left)


def _configuration(torch: Any) -> tuple[Any, Any]:
    find = _operators.find
    try:
        # A window that one thread alone could end would be in the way of a program that profiles itself in another.
        more = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    except TypeError:
        raise RuntimeError("--ops=profile needs a PyTorch that profiles all threads (2.6)") from None
    state = find(torch, "ProfilerState").KINETO
    return (find(torch, "ProfilerConfig")(state, True, False, False, False, False, more),
            {find(torch, "ProfilerActivity").CPU})


def write(result: Any) -> None:
    """What was profiled, as PyTorch writes it into a file, which the library reads: that takes a twentieth of the time
    that Python takes."""
    handle, path = tempfile.mkstemp(prefix="borescope-", suffix=".json")
    os.close(handle)
    try:
        result.save(path)
        # PyTorch's times are of the wall clock, the log's of the monotonic one.
        ahead = min((time.monotonic_ns() - time.time_ns() for _ in range(16)), key=abs)
        if library.borescope_record_profile(os.fsencode(path), ahead) < 0:
            raise RuntimeError(f"what PyTorch wrote is not whole; is there space in {os.path.dirname(path)}?")
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def begin(steps: str) -> None:
    torch = sys.modules["torch"]
    window = Window(torch, max(1, int(steps or DEFAULT_STEPS)))

    def own_step() -> None:
        window.has_own_steps = True
        window.count()
        window.end_if_full()

    def optimizer_stepped() -> None:
        if not window.has_own_steps:
            window.count()

    def before_module() -> None:
        if not window.has_own_steps:
            window.end_if_full()

    window.turn_on()
    _quiet.run(guard_ranges, torch, window)
    _operators.let_others_profile(torch, window)
    _steps.watch_optimizers(torch, optimizer_stepped)
    _modules.before_outermost.append(before_module)
    _ranges.after_step.append(own_step)
    atexit.register(window.disable)
