"""Operators of PyTorch by its profiler, of the processor alone so that CUPTI stays ours: with types, strides and values.

The profiler keeps what it sees in memory. So it runs in windows of some steps; at the end of each what it saw goes
into the log. A step is what record.step() says, else a step of an optimizer; without either the whole program is one
window. A crash loses the window that is open, and no other.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
import threading
import time
from typing import Any

from . import _operators, _quiet, _ranges, _steps
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
        _quiet.run(self.turn_on)

    def disable(self) -> bool:
        """Ends the window. Whether there was one."""
        if self._process != os.getpid():
            return False
        with self._lock:
            if self._process == 0:
                return False
            self._process = 0
            result = _quiet.run(self._disable)
        if result is not None:
            _quiet.run(write, result)
        return True

    def step(self) -> None:
        self._seen += 1
        if self._seen >= self._steps and self.disable():
            self._seen = 0
            self.enable()


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
        library.borescope_record_profile(os.fsencode(path), ahead)
    finally:
        os.unlink(path)


def begin(steps: str) -> None:
    torch = sys.modules["torch"]
    window = Window(torch, max(1, int(steps or DEFAULT_STEPS)))

    def own_step() -> None:
        window.has_own_steps = True
        window.step()

    def optimizer_stepped() -> None:
        if not window.has_own_steps:
            window.step()

    window.turn_on()
    _operators.let_others_profile(torch, window)
    _steps.watch_optimizers(torch, optimizer_stepped)
    _ranges.after_step.append(own_step)
    atexit.register(window.disable)
