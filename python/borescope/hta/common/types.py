"""Kinds of devices and copies, and HTA's patterns of names and categories."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


class DeviceType(Enum):
    """On which side rows were recorded."""

    UNKNOWN = 0
    CPU = 1
    GPU = 2
    ALL = 3


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    """On which side the rows of one thread or stream were recorded."""
    if "stream" not in df.columns:
        return DeviceType.UNKNOWN
    has_line = {"pid", "tid"} <= set(df.columns)
    if (df["stream"] > 0).all() or (has_line and ((df["pid"] == 0).all() or (df["tid"] == 0).all())):
        return DeviceType.GPU
    return DeviceType.CPU if (df["stream"] == -1).all() else DeviceType.UNKNOWN


class MemcpyType(Enum):
    """Kinds of copies."""

    DTOD = 0
    DTOH = 1
    HTOD = 2
    UNKNOWN = 3


MEMCPY_TYPE_TO_STR: dict[MemcpyType, str] = {
    MemcpyType.DTOD: "memcpy_dtod", MemcpyType.DTOH: "memcpy_dtoh", MemcpyType.HTOD: "memcpy_htod",
    MemcpyType.UNKNOWN: "memcpy_type_unknown"}


@dataclass
class GroupingPattern:
    """A regular expression for the beginning of names, or of all other names."""

    pattern: re.Pattern[str]
    inverse_match: bool = False
    group_name: str = ""

    def match(self, name: str) -> bool:
        """Whether a name is meant."""
        return (self.pattern.match(name) is not None) != self.inverse_match

    def __hash__(self) -> int:
        return hash((self.pattern.pattern, self.pattern.flags, self.inverse_match))


def to_grouping_pattern(pattern: str | list[str] | re.Pattern[str] | GroupingPattern,
                        group_name: str | None = None,
                        inverse_match: bool | None = None) -> GroupingPattern:
    """A pattern of a regular expression, or of several of which one must match."""
    if isinstance(pattern, GroupingPattern):
        return pattern
    if isinstance(pattern, list):
        pattern = "|".join(f"({each})" for each in pattern)
    if isinstance(pattern, str):
        pattern = re.compile(pattern)
    if not isinstance(pattern, re.Pattern):
        raise ValueError(f"Unsupported pattern type: {type(pattern)}")
    return GroupingPattern(pattern, bool(inverse_match), group_name or "")
