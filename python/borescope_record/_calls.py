"""record.ops(): the functions of PyTorch that a program calls, with arguments and call stack, as PyProf recorded them.

Torch's function mode sees each call of torch, torch.Tensor and torch.nn.functional from Python, without their calls
of each other; recurrent modules are seen by hooks. Both are off in what torch.compile compiles.
"""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch.overrides import TorchFunctionMode, resolve_name

from . import _modules, _quiet, _ranges, _texts

# Neither work of the device nor of interest, as PyProf has it.
SKIPPED = frozenset("""
size tolist dim is_storage item data_ptr numel is_tensor is_complex is_floating_point is_grad_enabled is_available
is_initialized requires_grad_ has_torch_function storage_offset stride element_size get_device is_contiguous
register_hook backward retain_grad __hash__ __repr__ __str__ __format__ __len__ __iter__ __bool__ __reduce__
__reduce_ex__ __setstate__ __deepcopy__ __dir__ __array__ __class__ __contains__ __index__ set_grad_enabled
""".split())
RECURRENT = (torch.nn.RNNBase, torch.nn.RNNCellBase)
SKIPPED_FRAMES = ("/borescope_record/", "/torch/overrides.py")


class Functions:
    """Module and name of each function, as PyProf has them; None for those that are not recorded."""

    def __init__(self) -> None:
        self._known: dict[Any, tuple[str, str] | None] = {}

    def find(self, function: Any) -> tuple[str, str] | None:
        try:
            return self._known[function]
        except KeyError:
            self._known[function] = found = self._name(function)
            return found

    @staticmethod
    def _name(function: Any) -> tuple[str, str] | None:
        full = resolve_name(function)
        if full is None:
            full = f"{getattr(function, '__module__', '')}.{getattr(function, '__name__', '')}"
        module, _, name = full.rpartition(".")
        is_property = name in ("__get__", "__set__", "__delete__")
        is_hidden = len(name) > 1 and name[0] == "_" and name[1] != "_"
        if is_property or is_hidden or not name or name in SKIPPED:
            return None
        return ("Tensor" if module == "torch.Tensor" else module or "torch"), name


def frames() -> list[str]:
    """"file:line" of the program's calls, outermost first."""
    found: list[str] = []
    frame: Any = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not any(part in file for part in SKIPPED_FRAMES):
            found.append(f"{file}:{frame.f_lineno}")
        frame = frame.f_back
    found.reverse()
    return found


def _push_call(mod: str, op: str, positional: Any, named: Any, module: Any = None) -> int:
    """How many ranges are to be popped afterwards."""
    texts = [_texts.trace_text(frames())]
    if module is not None:
        texts.append(_texts.module_text(module))
    texts.append(_texts.call_text(mod, op, positional, named))
    for text in texts:
        _ranges.push(text)
    return len(texts)


def _pop_all(count: int) -> None:
    for _ in range(count):
        _ranges.pop()


class _Mode(TorchFunctionMode):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self._functions = Functions()

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if _modules.is_compiling():
            return function(*args, **kwargs)
        count = self._begin(function, args, kwargs)
        try:
            return function(*args, **kwargs)
        finally:
            _pop_all(count)

    def _begin(self, function: Any, args: Any, kwargs: Any) -> int:
        try:
            names = self._functions.find(function)
            return 0 if names is None else _push_call(*names, args, kwargs)
        except Exception:
            _quiet.note()
            return 0


class _Recurrent:
    """The forward of recurrent modules, whose functions say little."""

    def __init__(self) -> None:
        self._open: list[tuple[int, int]] = []

    def before(self, module: Any, inputs: Any) -> None:
        if isinstance(module, RECURRENT) and not _modules.is_compiling():
            try:
                count = _push_call(type(module).__name__, "forward", (module, *inputs), {}, module)
                self._open.append((id(module), count))
            except Exception:
                _quiet.note()

    def after(self, module: Any, inputs: Any, output: Any) -> None:
        if not _modules.is_compiling() and any(key == id(module) for key, _ in self._open):
            key = 0
            while key != id(module):
                key, count = self._open.pop()
                _pop_all(count)


class Calls:
    """While it is open, calls of the thread that opened it are recorded."""

    def __init__(self) -> None:
        self._mode: Any = None
        self._hooks: list[Any] = []

    def __enter__(self) -> Calls:
        try:
            self._mode = _Mode()
            self._mode.__enter__()
            self._hooks = _modules.register(_Recurrent())
        except Exception:
            _quiet.note()
        return self

    def __exit__(self, *error: Any) -> None:
        for hook in self._hooks:
            _quiet.run(hook.remove)
        if self._mode is not None:
            _quiet.run(self._mode.__exit__, None, None, None)
