"""Text of a recording as data: printable, and not longer than a name needs."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

LETTERS = 200
# Columns of the program's own sentences, which are longer.
_SENTENCES = {"help": 600, "evidence": 600, "where": 600}
# Control characters, invisible format characters (which can reorder a line), halves of pairs,
# private ones, and separators of lines.
_ESCAPED = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def escaped(text: str) -> str:
    """The text with what does not print as \\xNN, \\uNNNN or \\UNNNNNNNN."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(each) if unicodedata.category(each) in _ESCAPED else each for each in text)


def _escape(letter: str) -> str:
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def plain(text: str, letters: int = LETTERS) -> str:
    """The text escaped, and with its middle cut out where it is longer."""
    whole = escaped(text[:8 * letters] + text[-4 * letters:] if len(text) > 12 * letters else text)
    if len(whole) <= letters:
        return whole
    head = letters * 2 // 3
    return f"{whole[:head]}…{whole[head + 1 - letters:]}"


def cell(value: Any, column: str = "") -> Any:
    """A cell as JSON has it: None stays null, and what no JSON number can be becomes a text."""
    if isinstance(value, str):
        return plain(value, _SENTENCES.get(column, LETTERS))
    if isinstance(value, float):
        return round_trip(value)
    return value


def round_trip(value: float) -> float | int | str:
    """A number that reads as the same number; whole ones without a fraction."""
    if not math.isfinite(value):
        return repr(value)
    return int(value) if value == int(value) and abs(value) < 1 << 53 else value


def column_name(name: str, unit: str | None) -> str:
    """The name with its unit, where it does not end in it."""
    if unit is None or unit in ("row", "count") or _has_unit(name.lower(), unit.lower()):
        return plain(name)
    return f"{plain(name)}[{unit}]"


def _has_unit(name: str, unit: str) -> bool:
    if unit == "gb/s":
        return name.endswith("gbps")
    return unit in name.split("_") or f"({unit})" in name
