"""The library that records, where it is in this process: its functions by ctypes, without locks of Python's.

Nothing here is loaded in a program that is not recorded: reading one file of /proc decides.
"""

from __future__ import annotations

import os
from typing import Any

FILE_NAME = "libborescope_record.so"
RUN_VARIABLE = "BORESCOPE_RECORD"
LOADERS = ("BORESCOPE_RECORD_LIBRARY", "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH")


def _is_mapped() -> bool:
    try:
        with open("/proc/self/maps", "rb") as maps:
            return FILE_NAME.encode() in maps.read()
    except OSError:
        return False


def _path_of_variables() -> str | None:
    """For a program whose loader preloads nothing, such as one that a wrapper starts."""
    if not os.environ.get(RUN_VARIABLE):
        return None
    for variable in LOADERS:
        path = os.environ.get(variable, "")
        if os.path.basename(path) == FILE_NAME and os.path.isfile(path):
            return path
    return None


def _declare(library: Any, ctypes: Any) -> None:
    text, number, word = ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32
    signed = ctypes.c_int64
    operator = [text, number, number, signed, number, number, text]
    for name, result, arguments in (
            ("is_enabled", ctypes.c_int, []), ("is_recording", ctypes.c_int, []),
            ("start", None, []), ("stop", None, []), ("flush", None, []), ("push", None, [text]),
            ("pop", None, []), ("mark", None, [text]), ("range_start", number, [text]),
            ("range_end", None, [number]), ("step", None, [number]), ("step_end", None, []),
            ("keep_device", None, []), ("end_keeping_device", None, []), ("take_device_back", None, []),
            ("note_step", None, [number]),
            ("operator_of", None, [word, *operator]),
            ("range_of", None, [word, text, number, number]), ("profile", signed, [text, signed]),
            ("code", word, [text, text, word]),
            ("call", None, [word]), ("return", None, [word]),
            ("python_begin", ctypes.c_int, [text, text]),
            ("python_event", ctypes.c_int, [ctypes.c_void_p, ctypes.py_object, ctypes.c_int, ctypes.c_void_p])):
        function = getattr(library, f"borescope_record_{name}")
        function.restype, function.argtypes = result, arguments


def _open() -> Any:
    path = None if _is_mapped() else _path_of_variables()
    if path is None and not _is_mapped():
        return None
    import ctypes
    # Functions that neither wait nor call back: giving the interpreter's lock away costs more.
    library = ctypes.PyDLL(path or _mapped_path())
    _declare(library, ctypes)
    return library if library.borescope_record_is_enabled() else None


def _mapped_path() -> str:
    """The path of the copy that is mapped: opening it again gives the same one."""
    with open("/proc/self/maps", "rb") as maps:
        for line in maps:
            if FILE_NAME.encode() in line:
                return os.fsdecode(line[line.index(b"/"):].rstrip(b"\n"))
    raise OSError(f"{FILE_NAME}: is not mapped any more")


def load() -> Any:
    """The functions, or None where the process is not recorded. Never raises."""
    try:
        return _open()
    except Exception:
        return None


library = load()
