"""Runs at the start of every Python program under `borescope record --ops`, `--python` or `--rpd-compat`.

Its folder is the first of PYTHONPATH, so it hides the sitecustomize of the system or user, which it runs, too. What
is ours never fails the program; what is theirs fails as it would without us. Very old Pythons run this file, too, and
the package no more than this file is for them.
"""

import os
import sys


def _folder():
    # type: () -> str
    return __file__.rpartition("/")[0]


def _load_package():
    # type: () -> None
    """The package beside this folder, whatever is installed: it belongs to the library in this process."""
    import importlib.util
    package = _folder().rpartition("/")[0]
    spec = importlib.util.spec_from_file_location(
        "borescope_record", package + "/__init__.py", submodule_search_locations=[package])
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["borescope_record"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["borescope_record"]
        raise


def _begin():
    # type: () -> None
    try:
        _load_package()
        from borescope_record import _startup
        _startup.begin()
    except Exception as error:
        _say(error)
        if os.environ.get("BORESCOPE_RECORD_DEBUG"):
            raise


def _say(error):
    # type: (Exception) -> None
    """In the log, by the library alone. Of Pythons that are too old nothing was to be recorded."""
    if sys.version_info < (3, 9):
        return
    try:
        import ctypes
        mark = ctypes.CDLL(None).borescope_record_mark
        mark.restype, mark.argtypes = None, [ctypes.c_char_p]
        text = "borescope: nothing of Python is recorded: %s: %s" % (type(error).__name__, error)
        mark(text.encode("utf-8", "replace"))
    except Exception:
        return  # a process that is not recorded


def _run_hidden():
    # type: () -> None
    """The sitecustomize that would have run: the next one on the path, under its own name."""
    own = _folder()
    path = [entry for entry in sys.path if entry.rstrip("/") != own]
    if sys.version_info < (3, 5):
        import imp
        try:
            found = imp.find_module("sitecustomize", path)
        except ImportError:
            return
        imp.load_module("sitecustomize", *found)
        return
    import importlib.machinery
    import importlib.util
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_begin()
_run_hidden()
