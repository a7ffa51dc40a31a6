"""rocmProfileData's rpdTracerControl, for scripts that import it: under `borescope record` it records there.

No file is made here: the launcher converts the recording (`-o trace.rpd`), after the program or at any time. So what
concerns the file is remembered and nothing else. Outside of a recording every method does nothing.
"""

from __future__ import annotations

import threading
from typing import Any

try:
    from borescope_record import _functions, _ranges
    from borescope_record import flush as _flush, start as _start, stop as _stop
    from borescope_record._library import library as _library
except Exception:  # a copy of this file alone
    _library = None

__all__ = ["rpdTracerControl"]


def _text(domain: str, name: str, arguments: str) -> str:
    return (f"{domain}: " if domain else "") + str(name) + (f"({arguments})" if arguments else "")


class rpdTracerControl:
    """One tracer for the process, however many objects there are. Starts count."""

    _filename = "trace.rpd"
    _functions: Any = None
    _lock = threading.Lock()

    @classmethod
    def setFilename(cls, name: str, append: bool = False) -> None:
        cls._filename = name

    @classmethod
    def skipCreate(cls) -> None:
        pass

    @classmethod
    def loadLibrary(cls) -> None:
        pass

    @classmethod
    def initializeFile(cls) -> None:
        pass

    def start(self) -> None:
        if _library is not None:
            _start()

    def stop(self) -> None:
        if _library is not None:
            _stop()

    def flush(self) -> None:
        if _library is not None:
            _flush()

    def __enter__(self) -> rpdTracerControl:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def rangePush(self, domain: str, apiName: str, args: str) -> None:
        if _library is not None:
            _library.borescope_record_push(_ranges.encode(_text(domain, apiName, args)))

    def rangePop(self) -> None:
        if _library is not None:
            _library.borescope_record_pop()

    def mark(self, domain: str, apiName: str, args: str) -> None:
        if _library is not None:
            _library.borescope_record_mark(_ranges.encode(_text(domain, apiName, args)))

    def setPythonTrace(self, doTrace: bool) -> None:
        """Functions of Python from the call on that turns it on."""
        if _library is None:
            return
        with rpdTracerControl._lock:
            if doTrace and rpdTracerControl._functions is None:
                rpdTracerControl._functions = _functions.Tracing()
            elif not doTrace and rpdTracerControl._functions is not None:
                rpdTracerControl._functions.end()
                rpdTracerControl._functions = None
