"""Operators of PyTorch by its NVTX observer: PyTorch writes a range for each, which the library records.

The observer belongs to a thread, and to the threads that run backward for it. So it is turned on in the thread that
imports torch and at the start of every other one. torch.profiler uses the same place in PyTorch: while the program
profiles, the observer is off, and a range says so.
"""

from __future__ import annotations

import atexit
import sys
import threading
from typing import Any, Callable

from . import _quiet, _ranges
from ._library import library

OFF_TEXT = b"borescope: no operators, the program profiles itself"


class Observer:
    """The observer of each thread."""

    def __init__(self, torch: Any, shapes: bool) -> None:
        self._config = _config(torch, shapes)
        self._is_on = threading.local()
        self._enable = torch._C._autograd._enable_profiler
        self._disable = torch._C._autograd._disable_profiler

    def turn_on(self) -> None:
        """Raises where this PyTorch has no NVTX, as builds for the processor alone."""
        if not getattr(self._is_on, "value", False):
            self._enable(self._config, set())
            self._is_on.value = True

    def enable(self) -> None:
        _quiet.run(self.turn_on)

    def disable(self) -> bool:
        """Whether it was on."""
        if not getattr(self._is_on, "value", False):
            return False
        self._is_on.value = False
        try:
            self._disable()
        except Exception:
            _quiet.note()
        return True


def find(torch: Any, name: str) -> Any:
    """What PyTorch's profiler is made of has moved between its versions."""
    for place in (getattr(torch._C, "_profiler", None), torch._C._autograd, torch.autograd):
        if hasattr(place, name):
            return getattr(place, name)
    raise AttributeError(f"this PyTorch has no {name}")


def _config(torch: Any, shapes: bool) -> Any:
    """PyTorch has added arguments over time; the last ones are optional to us."""
    config, state = find(torch, "ProfilerConfig"), find(torch, "ProfilerState").NVTX
    flags = [shapes, False, False, False, False]
    if hasattr(getattr(torch._C, "_profiler", None), "_ExperimentalConfig"):
        return config(state, *flags, torch._C._profiler._ExperimentalConfig())
    for count in (5, 4, 3, 2, 1):
        try:
            return config(state, *flags[:count])
        except TypeError:
            continue
    raise TypeError("no known ProfilerConfig")


class _DeviceIsKept:
    """Around the start of a profiler of the processor alone: PyTorch's takes CUPTI from us even then."""

    def __enter__(self) -> None:
        library.borescope_record_keep_device()

    def __exit__(self, *error: object) -> None:
        library.borescope_record_end_keeping_device()


DEVICE_IS_KEPT = _DeviceIsKept()


def _sees_device(arguments: tuple[Any, ...], named: dict[str, Any]) -> bool:
    """Of the arguments of what starts PyTorch's profiler: its configuration, and what it is to see. Where they are not
    as we know them, it may."""
    activities = arguments[1] if len(arguments) > 1 else named.get("activities")
    try:
        return activities is None or any(activity.name != "CPU" for activity in activities)
    except Exception:
        return True


class _Others:
    """The profilers of the program's own: while one is on, ours is left as it is in all other threads, since PyTorch
    would end theirs in place of ours where theirs covers all threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._count = 0
        self._thread = threading.local()

    def any(self) -> bool:
        return self._count > 0

    def enter(self, observer: Any) -> None:
        """Before the program turns its profiler on, in this thread. PyTorch does it in two calls."""
        if getattr(self._thread, "is_in", False):
            return
        self._thread.is_in = True
        self._thread.sees_device = False
        with self._lock:
            self._count += 1
        self._thread.was_on = observer.disable()
        if self._thread.was_on:
            _ranges.push(OFF_TEXT)

    def start(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Has PyTorch turn it on."""
        if _sees_device(arguments, named):
            self._thread.sees_device = True
            return function(*arguments, **named)
        with DEVICE_IS_KEPT:
            return function(*arguments, **named)

    def leave(self, observer: Any) -> None:
        if not getattr(self._thread, "is_in", False):
            return
        self._thread.is_in = False
        if self._thread.sees_device:
            library.borescope_record_take_device_back()
        with self._lock:
            self._count -= 1
        if self._thread.was_on:
            _ranges.pop()
            observer.enable()


def _in_every_thread(observer: Observer, others: _Others) -> None:
    bootstrap = getattr(threading.Thread, "_bootstrap_inner", None)
    if bootstrap is None:
        return

    def started(thread: Any) -> None:
        if not others.any():
            observer.enable()
        try:
            bootstrap(thread)
        finally:
            if not others.any():
                observer.disable()

    threading.Thread._bootstrap_inner = started  # type: ignore[attr-defined]


def let_others_profile(torch: Any, observer: Any) -> _Others:
    """Whatever turns PyTorch's profiler on and off finds it free, and leaves it to us afterwards."""
    others = _Others()
    places = [torch._C._autograd, torch.autograd, sys.modules.get("torch.autograd.profiler"),
              sys.modules.get("torch.autograd.profiler_legacy")]

    def entering(function: Any) -> Any:
        def enable(*arguments: Any, **named: Any) -> Any:
            others.enter(observer)
            return others.start(function, arguments, named)
        return enable

    def leaving(function: Any) -> Any:
        def disable(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            finally:
                others.leave(observer)
        return disable

    for name, wrap in (("_prepare_profiler", entering), ("_enable_profiler", entering),
                       ("_enable_profiler_legacy", entering), ("_disable_profiler", leaving),
                       ("_disable_profiler_legacy", leaving)):
        _replace(places, name, wrap)
    return others


def _replace(places: list[Any], name: str, wrap: Callable[[Any], Any]) -> None:
    function = getattr(places[0], name, None)
    if function is None:
        return
    replacement = wrap(function)
    for place in places:
        if getattr(place, name, None) is function:
            setattr(place, name, replacement)


def begin(shapes: bool) -> None:
    torch = sys.modules["torch"]
    observer = Observer(torch, shapes)
    observer.turn_on()
    others = let_others_profile(torch, observer)
    _in_every_thread(observer, others)
    atexit.register(observer.disable)
