"""Answers as compact JSON that keeps to a number of bytes: rows are left out, and counted."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

from .._table import Table
from ._text import cell, column_name, plain
from ._words import in_tools

DEFAULT_BYTES = 8_000
LEAST_BYTES = 2_000
MOST_BYTES = 1_000_000


def to_json(value: object) -> str:
    """Without blanks, and always UTF-8: names of files may hold other bytes. NaN cannot occur."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace").decode()


def size_of(value: object) -> int:
    """Bytes of the value in an answer."""
    return len(to_json(value).encode())


@dataclasses.dataclass
class Part:
    """A table of an answer: of its rows those that may be shown."""

    name: str
    title: str
    columns: list[str]
    total: int
    rows: list[list[Any]]
    ids: list[str] | None
    columns_left_out: int = 0

    def as_data(self, shown: int) -> dict[str, Any]:
        """The table with the first rows."""
        out: dict[str, Any] = {"table": self.name, "rows": self.total, "shown": shown}
        if self.columns_left_out:
            out["columns_left_out"] = self.columns_left_out
        out["data"] = {"title": self.title, "columns": self.columns, "rows": self.rows[:shown]}
        if self.ids is not None:
            out["evidence"] = self.ids[:shown]
        return out

    def narrow(self, limit: int) -> None:
        """Leaves out the last columns of a table of which no row would fit."""
        while len(self.columns) > 1 and size_of(self.columns) + self._widest() > limit:
            keep = max(1, len(self.columns) * 3 // 4)
            self.columns_left_out += len(self.columns) - keep
            self.columns = self.columns[:keep]
            self.rows = [row[:keep] for row in self.rows]

    def _widest(self) -> int:
        return max((size_of(row) for row in self.rows), default=0)

    def cost(self, row: int) -> int:
        """Bytes that a row adds."""
        return size_of(self.rows[row]) + 1 + (size_of(self.ids[row]) + 1 if self.ids else 0)


def part_of(table: Table, rows: Sequence[int], ids: list[str] | None) -> Part:
    """The rows of a table with these numbers."""
    columns = table.schema
    names = [column_name(name, column.unit) for name, column in columns.items()]
    cells = [[cell(in_tools(column[row]) if name == "help" and column[row] else column[row], name) for row in rows]
             for name, column in columns.items()]
    return Part(plain(table.name), plain(table.title), names, len(table),
                [list(row) for row in zip(*cells)], ids)


def fitted(head: dict[str, Any], parts: list[Part], limit: int) -> str:
    """The answer with as many tables, and then rows of the first ones, as fit."""
    for part in parts:
        part.narrow(limit // 2)
    kept = len(parts)
    while kept > 1 and size_of(_whole(head, parts, kept, [99] * kept, empty=True)) > limit:
        kept -= 1
    room = limit - size_of(_whole(head, parts, kept, [99] * kept, empty=True))
    shown = []
    for part in parts[:kept]:
        count = 0
        while count < len(part.rows) and part.cost(count) <= room:
            room -= part.cost(count)
            count += 1
        shown.append(count)
    return to_json(_whole(head, parts, kept, shown, empty=False))


def _whole(head: dict[str, Any], parts: list[Part], kept: int, shown: list[int], *,
           empty: bool) -> dict[str, Any]:
    tables = [part.as_data(count) for part, count in zip(parts[:kept], shown)]
    if empty:
        for table in tables:
            table["data"]["rows"] = []
            if "evidence" in table:
                table["evidence"] = []
    out = {**head, "tables": tables}
    if kept < len(parts):
        out["tables_left_out"] = [part.name for part in parts[kept:]]
    return out
