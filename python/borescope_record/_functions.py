"""Calls of Python's functions: by sys.monitoring where it exists, else by PyEval_SetProfile.

Functions of the standard library and of this package are left out. A function that yields is recorded from each start
or resumption to the yield; one that raises ends where the exception left it: no frame stays open.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any, Callable

from . import _ranges
from ._library import library

OWN_FOLDER = os.path.dirname(os.path.abspath(__file__))
TOOLS = (4, 3)  # numbers that no other kind of tool claims
CALL, RETURN = 0, 3  # events of PyEval_SetProfile
PACKAGES = ("site-packages", "dist-packages")


class Codes:
    """The numbers of functions in the log, by code object: 0 for those that are not recorded."""

    def __init__(self) -> None:
        # Code objects compare by what they hold, slowly; they are kept so that no other gets their identity.
        self._known: dict[int, tuple[int, Any]] = {}
        self._library_folder = os.path.dirname(os.path.abspath(os.__file__)) + os.sep

    def number(self, code: Any) -> int:
        known = self._known.get(id(code))
        return known[0] if known is not None else self._learn(code)

    def _learn(self, code: Any) -> int:
        number = self._describe(code) if self._is_wanted(code.co_filename) else 0
        self._known[id(code)] = (number, code)
        return number

    def _is_wanted(self, file: str) -> bool:
        if file.startswith(("<frozen", OWN_FOLDER)):
            return False
        rest = file[len(self._library_folder):] if file.startswith(self._library_folder) else None
        return rest is None or rest.partition(os.sep)[0] in PACKAGES

    @staticmethod
    def _describe(code: Any) -> int:
        name = getattr(code, "co_qualname", code.co_name)
        return int(library.borescope_record_code(
            _ranges.encode(name), _ranges.encode(code.co_filename), code.co_firstlineno))


def _free_tool() -> int:
    for tool in TOOLS:
        if sys.monitoring.get_tool(tool) is None:  # type: ignore[attr-defined]
            return tool
    raise RuntimeError("other tools use the free numbers of sys.monitoring")


def _monitor(codes: Codes) -> int:
    """Python 3.12 and later. Returns the number under which Python knows us."""
    monitoring = sys.monitoring  # type: ignore[attr-defined]
    tool = _free_tool()
    monitoring.use_tool_id(tool, "borescope")
    call, leave = library.borescope_record_call, getattr(library, "borescope_record_return")
    number_of, disable = codes.number, monitoring.DISABLE

    def entered(code: Any, *_: Any) -> Any:
        number = number_of(code)
        return call(number) if number else disable

    def left(code: Any, *_: Any) -> Any:
        number = number_of(code)
        return leave(number) if number else disable

    # These two are not of a place in the code, and cannot be disabled there.
    def thrown(code: Any, *_: Any) -> None:
        entered(code)

    def unwound(code: Any, *_: Any) -> None:
        left(code)

    events = monitoring.events
    actions = {events.PY_START: entered, events.PY_RESUME: entered, events.PY_THROW: thrown,
               events.PY_RETURN: left, events.PY_YIELD: left, events.PY_UNWIND: unwound}
    mask = 0
    for event, action in actions.items():
        monitoring.register_callback(tool, event, action)
        mask |= event
    monitoring.set_events(tool, mask)
    return tool


def _check_frames() -> None:
    """Before Python 3.9 the library finds the code of a frame by its place in it."""
    import ctypes
    if hasattr(ctypes.pythonapi, "PyFrame_GetCode"):
        return
    frame = sys._getframe()
    fields = (ctypes.c_void_p * 5).from_address(id(frame))
    if fields[4] != id(frame.f_code):
        raise RuntimeError("frames of this Python are laid out in another way")


def _profiler() -> Callable[..., None]:
    """Before Python 3.12: a function of the library, as one of Python would fail where the program comes to its limit
    of recursion. Python calls what this returns only at the first event of a thread, which it hands to the library."""
    import ctypes
    library_folder = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
    _check_frames()
    if not library.borescope_record_python_begin(os.fsencode(library_folder), os.fsencode(OWN_FOLDER + os.sep)):
        raise RuntimeError("the functions of Python's C interface are not there")
    event_function = library.borescope_record_python_event
    address = ctypes.cast(event_function, ctypes.c_void_p)
    set_profile = ctypes.PYFUNCTYPE(None, ctypes.c_void_p, ctypes.py_object)(
        ("PyEval_SetProfile", ctypes.pythonapi))

    def profile(frame: Any, event: str, _: Any) -> None:
        set_profile(address, profile)
        if event == "call":
            event_function(None, frame, CALL, None)
        elif event == "return":
            event_function(None, frame, RETURN, None)

    return profile


class Tracing:
    """Records functions from now on until its end; what is open then in the thread that ends it, ends there."""

    def __init__(self) -> None:
        self._codes = Codes()
        self._tool: int | None = None
        self._around = _stack()
        if hasattr(sys, "monitoring"):
            self._tool = _monitor(self._codes)
            return
        profile = _profiler()
        threading.setprofile(profile)
        sys.setprofile(profile)

    def end(self) -> None:
        if self._tool is not None:
            sys.monitoring.set_events(self._tool, 0)  # type: ignore[attr-defined]
            sys.monitoring.free_tool_id(self._tool)  # type: ignore[attr-defined]
        else:
            sys.setprofile(None)
            threading.setprofile(None)
        for frame in _stack():
            if frame in self._around:
                break
            if self._tool is None:
                library.borescope_record_python_event(None, frame, RETURN, None)
                continue
            number = self._codes.number(frame.f_code)
            if number:
                getattr(library, "borescope_record_return")(number)
        self._around = []


def _stack() -> list[Any]:
    """The frames of this thread, innermost first."""
    found = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def begin() -> None:
    Tracing()
