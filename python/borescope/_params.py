"""Keyword arguments as the parameters of a question, which are texts."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from ._errors import usage
from ._verbs import DEFAULTS

Pairs = list[tuple[str, str]]


def _text(value: Any) -> str:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, str):
        return value
    raise TypeError("a text")


def _whole(value: Any) -> str:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError("a whole number")
    return str(value.__index__())


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    return _whole(value)


def _time(value: Any) -> str:
    """Whole numbers are nanoseconds; texts have a unit."""
    if isinstance(value, str):
        if value.strip().lstrip("+-").replace(".", "", 1).isdigit():
            raise TypeError('a whole number of nanoseconds, or a text with a unit such as "30us"')
        return value
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError('a whole number of nanoseconds, or a text with a unit such as "30us"')
    return f"{value.__index__()}ns"


def _moment(value: Any) -> str:
    """Whole numbers are on the clock of the recording."""
    return value if isinstance(value, str) else _whole(value)


def _share(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise TypeError('a number from 0 to 1, or a text such as "1%"')
    return format(float(value), ".17g")


def _flag(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    raise TypeError("True or False")


def _items(value: Any, item: Callable[[Any], str]) -> str:
    if isinstance(value, (str, os.PathLike)):
        return _text(value)
    if isinstance(value, range):
        value = list(value)
    if not isinstance(value, (Sequence, Iterable)):
        return item(value)
    texts = [item(each) for each in value]
    for text in texts:
        if "," in text:
            raise TypeError("a sequence of texts without commas")
    return ",".join(texts)


def _texts(value: Any) -> str:
    if isinstance(value, (str, os.PathLike)):
        return _text(value)
    if not isinstance(value, Iterable):
        raise TypeError("a text, or a sequence of texts")
    return "\n".join(_text(each) for each in value)


def _ranges(value: Any) -> str:
    """Numbers. Of an empty choice nothing is left, while an empty text would select everything."""
    text = _items(value, lambda item: item if isinstance(item, str) else _whole(item))
    if not text:
        raise TypeError("at least one number; leave it out to select all")
    return text


_TEXT_OF: dict[str, Callable[[Any], str]] = {
    "flag": _flag,
    "count": _number,
    "number": _number,
    "time": _time,
    "moment": _moment,
    "times": lambda value: _items(value, _time),
    "share": _share,
    "choice": _text,
    "folder": _text,
    "text": _text,
    "texts": _texts,
    "ranges": _ranges,
    "list": lambda value: _items(value, _text),
}


def _file(name: str, value: Any, stack: ExitStack) -> str:
    """A path; contents are written into a file for as long as the question is asked."""
    if isinstance(value, Mapping):
        value = json.dumps(value).encode()
    if not isinstance(value, (bytes, bytearray, memoryview)):
        return _text(value)
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="borescope-"))
    path = os.path.join(folder, f"{name}.json")
    with open(path, "wb") as file:
        file.write(value)
    return path


def _is_default(name: str, value: Any) -> bool:
    return name in DEFAULTS and type(value) is type(DEFAULTS[name]) and value == DEFAULTS[name]


def pairs_of(given: Mapping[str, Any], types: Mapping[str, str], stack: ExitStack) -> Pairs:
    """The keywords that were given as names and texts. ``None``, ``False`` for a flag, and the value
    that holds anyway say that one was not given. Files that are made for the question live as long
    as ``stack``."""
    pairs: Pairs = []
    for name, value in given.items():
        if value is None or value is False or _is_default(name, value):
            continue
        try:
            kind = types[name]
            text = _file(name, value, stack) if kind == "file" else _TEXT_OF[kind](value)
        except TypeError as error:
            raise usage(f"`{name}` takes {error}, not {value!r:.80}", parameter=name) from None
        pairs.append((name, text))
    return pairs


# As --memory-limit: K, M, G and T are powers of 1000, Ki, Mi, ... of 1024.
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([KMGT])(i?))?B?")


def size_of(value: int | str | None, name: str) -> int:
    """Bytes of a size: a whole number, or a text such as ``"8G"`` or ``"512MiB"``; 0 for ``None``."""
    if value is None:
        return 0
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    size = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if size is not None:
        base = 1024 if size[3] else 1000
        return int(float(size[1]) * base ** (" KMGT".index(size[2] or " ")))
    raise usage(f"`{name}` takes a number of bytes, or a text such as \"8G\", not {value!r:.80}",
                parameter=name)


def ranges_of(value: int | str | Iterable[int], name: str) -> str:
    """Numbers as a parameter has them: ``3``, ``"0..7"``, ``[0, 2]``."""
    try:
        return _ranges(value)
    except TypeError as error:
        raise usage(f"`{name}` takes {error}, not {value!r:.80}", parameter=name) from None


def shard_of(value: tuple[int, int] | str | None) -> tuple[int, int] | None:
    """Part I of N, from 0, as ``(I, N)`` or ``"I/N"``."""
    if value is None:
        return None
    numbers = value.split("/") if isinstance(value, str) else value
    texts = [str(number) for number in numbers] if isinstance(numbers, (list, tuple)) else []
    if len(texts) == 2 and all(text.isdecimal() and len(text) < 8 for text in texts):
        index, count = map(int, texts)
        if index < count:
            return index, count
    raise usage(f"`shard` takes (I, N) or \"I/N\" with I from 0 to N - 1, not {value!r:.80}",
                parameter="shard")
