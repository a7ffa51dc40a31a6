"""Ranges `module:<qualified name>` around the forward of every module of PyTorch.

Names are those of named_modules(), asked once for each module that is called from outside of all others; they are
kept by weak references, so that no model stays alive for its names.
"""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from typing import Any, Callable

from . import _quiet, _ranges


before_outermost: list[Callable[[], None]] = []  # called before a module that no other module calls


class Names:
    """Texts by module. Modules compare by what they hold, so they are known by their identity."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, bytes, int]] = {}  # the last is how many modules the naming root has

    def find(self, module: Any) -> bytes | None:
        entry = self._known.get(id(module))
        return entry[1] if entry is not None and entry[0]() is module else None

    def learn(self, root: Any) -> bytes:
        """Names all below a module that is called from outside; of two roots that hold a module the larger names it."""
        named = list(root.named_modules())
        for name, module in named:
            if self.find(module) is None or self._known[id(module)][2] < len(named):
                self._add(module, name or type(module).__name__, len(named))
        return self._known[id(root)][1]

    def _add(self, module: Any, name: str, size: int) -> None:
        key = id(module)
        reference = weakref.ref(module, lambda _: self._known.pop(key, None))
        self._known[key] = (reference, _ranges.encode("module:" + name), size)


class Hooks:
    """Pushes before forward and pops after it, per thread. What an exception left open is popped with what is around
    it, so ranges nest whatever happens."""

    def __init__(self) -> None:
        self._names = Names()
        self._thread = threading.local()

    def _open(self) -> Any:
        try:
            return self._thread.open
        except AttributeError:
            self._thread.open = []
            return self._thread.open

    def before(self, module: Any, inputs: Any) -> None:
        if is_compiling():
            return
        try:
            opened = self._open()
            if not opened:
                for action in before_outermost:
                    action()
            text = self._names.find(module) or self._names.learn(module)
            opened.append(id(module))
            _ranges.push(text)
        except Exception:
            _quiet.note()

    def after(self, module: Any, inputs: Any, output: Any) -> None:
        if is_compiling():
            return
        try:
            opened, key = self._open(), id(module)
            if key in opened:
                is_found = False
                while not is_found:
                    is_found = opened.pop() == key
                    _ranges.pop()
        except Exception:
            _quiet.note()


def _find_is_compiling() -> Any:
    torch = sys.modules.get("torch")
    found = getattr(getattr(torch, "compiler", None), "is_compiling", None)
    return found if found is not None else lambda: False


# torch.compile reads it as true, and leaves out all that depends on the opposite.
is_compiling = _find_is_compiling()


def register(hooks: Any) -> list[Any]:
    """Has PyTorch call `before` and `after` around the forward of all modules. What it returns ends that."""
    module = sys.modules["torch"].nn.modules.module

    # Functions rather than methods: torch.compile follows these in all its versions.
    def before(this: Any, inputs: Any) -> None:
        hooks.before(this, inputs)

    def after(this: Any, inputs: Any, output: Any) -> None:
        hooks.after(this, inputs, output)

    first = module.register_module_forward_pre_hook(before)
    try:
        return [first, module.register_module_forward_hook(after, always_call=True)]
    except TypeError:  # before PyTorch 2.0: what a raise leaves open is closed with what is around it
        return [first, module.register_module_forward_hook(after)]


def begin() -> None:
    # PyTorch warns of hooks that the program has not set.
    warnings.filterwarnings("ignore", message="Using `torch.compile.module.` when there are global hooks")
    register(Hooks())
