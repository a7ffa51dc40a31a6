"""A plugin of pytest that puts borescope.hta in the place of hta.

Modules that are mirrored become those of borescope.hta. Of all others names can be imported, since
files of tests import at their top what only some of their tests need, but not used. The helpers of
HTA's tests (hta.utils.test_utils) are taken from HTA_DIR.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

_HELPERS = "hta.utils.test_utils"


class _Absent:
    """A name that borescope.hta does not have."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **given: Any) -> Any:
        raise ImportError(f"{self._name} is not mirrored")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{self._name}.{name}")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()


class _AbsentModule(ModuleType):
    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Absent(f"{self.__name__}.{name}")


class _Swap(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname == _HELPERS:
            file = os.path.join(os.environ["HTA_DIR"], "hta", "utils", "test_utils.py")
            return importlib.util.spec_from_file_location(fullname, file)
        if fullname == "hta" or fullname.startswith("hta."):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> ModuleType:
        try:
            mirrored = importlib.import_module(f"borescope.{spec.name}")
        except ImportError:
            return _AbsentModule(spec.name)
        module = _AbsentModule(spec.name)
        module.__dict__.update({name: value for name, value in vars(mirrored).items()
                                if not name.startswith("__")})
        return module

    def exec_module(self, module: ModuleType) -> None:
        pass


sys.meta_path.insert(0, _Swap())
