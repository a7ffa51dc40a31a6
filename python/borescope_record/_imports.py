"""Calls a function once a module has been imported for the first time, and never raises for it."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any, Callable

from . import _quiet


class _Loader:
    """The module's own loader, and what comes after it."""

    def __init__(self, loader: Any, action: Callable[[], None]) -> None:
        self._loader, self._action = loader, action

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        # What looks at the module later finds its real loader.
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        _quiet.run(self._action)


class _Finder:
    """The first finder, until the module has been found."""

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name, self._action = name, action

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec: Any = importlib.util.find_spec(name)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._action)
        elif spec is None:
            sys.meta_path.insert(0, self)  # it may be installed later
        return spec


def after(name: str, action: Callable[[], None]) -> None:
    if name in sys.modules:
        _quiet.run(action)
    else:
        sys.meta_path.insert(0, _Finder(name, action))
