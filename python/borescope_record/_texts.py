"""Calls of PyTorch's functions as PyProf writes them: dicts of Python, as text, which `borescope prof` reads.

Values of tensors are never read, as that would wait for the device: a tensor without dimensions is one with an empty
shape. What is too long for the log is cut where it is still a dict.
"""

from __future__ import annotations

import math
from typing import Any, Iterable, Iterator

MOST_BYTES = 4096  # of a text in the log
MOST_VALUES = 64  # of a list
MOST_TEXT = 200  # of a string
SCALARS = (int, float, bool, type(None), str)


def _scalar(value: Any) -> Any:
    if type(value) is float and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value[:MOST_TEXT] if type(value) is str else value


def _shaped(name: str, kind: str, value: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, "shape": tuple(int(size) for size in value.shape),
            "dtype": str(value.dtype).rpartition(".")[2]}


def _items(name: str, value: Any) -> Iterator[dict[str, Any]]:
    if not len(value) or type(value[0]) in SCALARS:
        kind = "list" if isinstance(value, list) else "tuple"
        kept = [_scalar(item) for item in value[:MOST_VALUES] if type(item) in SCALARS]
        yield {"name": name, "type": kind, "value": kept if kind == "list" else tuple(kept)}
        return
    for item in value:
        yield from describe(name, item)


def describe(name: str, value: Any) -> Iterator[dict[str, Any]]:
    """What an argument is; nothing of kinds that PyProf does not know."""
    import torch
    if isinstance(value, torch.Tensor):
        yield _shaped(name, "tensor", value)
    elif type(value) in SCALARS:
        yield {"name": name, "type": type(value).__name__, "value": _scalar(value)}
    elif type(value).__name__ == "ndarray" and hasattr(value, "dtype"):
        yield _shaped(name, "ndarray", value)
    elif isinstance(value, (list, tuple)):
        yield from _items(name, value)


def call_text(mod: str, op: str, positional: Iterable[Any], named: dict[str, Any]) -> bytes:
    args: list[dict[str, Any]] = []
    for value in positional:
        args.extend(describe("", value))
    for name, value in named.items():
        args.extend(describe(name, value))
    while True:
        text = repr({"mod": mod, "op": op, "args": args}).encode("utf-8", "replace")
        if len(text) <= MOST_BYTES or not args:
            return text
        del args[len(args) // 2:]


def trace_text(frames: list[str]) -> bytes:
    """The call stack, outermost first; of one that is too long the inner part."""
    while True:
        text = repr({"traceMarker": frames}).encode("utf-8", "replace")
        if len(text) <= MOST_BYTES or not frames:
            return text
        frames = frames[len(frames) // 4 + 1:]


def module_text(module: Any) -> bytes:
    text = repr({"mod": type(module).__name__, "strRepr": str(module.extra_repr())[:MOST_TEXT]})
    return text.encode("utf-8", "replace")
