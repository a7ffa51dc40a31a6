"""Answers and tables as people see them: text in a terminal, HTML in a notebook.

The HTML has no script and no style sheet, and asks for nothing from a network, so that it looks the
same in trusted and untrusted notebooks, in VS Code, in marimo and on pages that show notebooks.
"""

from __future__ import annotations

import datetime
import html
import itertools
import math
import re
import shutil
import sys
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import Error

if TYPE_CHECKING:
    from ._answer import Answer
    from ._table import Table

_ROWS = 20
_TEXT_WIDTH = 100
# A cell of a notebook should not weigh more: a larger picture is left out, and said to be.
_LARGEST_PICTURE = 256 * 1024
# It would hold for the whole notebook; colours are attributes as well.
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
# Names of kernels are long: what is not may keep its line.
_SHORT = 32
# What a text table says of rows that it leaves out, in words of the command line.
_CLI_HINT = re.compile(r"; --top N or -f csv for more\)$", re.MULTILINE)
# The units of a column and the factor to the next larger one.
_SCALES = {
    "ns": (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)),
    "us": (("us", 1), ("ms", 1e3), ("s", 1e6)),
    "bytes": (("B", 1), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)),
    "flops": (("FLOP", 1), ("MFLOP", 1e6), ("GFLOP", 1e9), ("TFLOP", 1e12)),
}
# Units that are written as a sign.
_SIGNS = {"ratio": "x"}


def text_of(native: _native.Answer) -> str:
    """The answer as the command line prints it, as wide as the terminal."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    width = shutil.get_terminal_size((_TEXT_WIDTH, 24)).columns if is_terminal else _TEXT_WIDTH
    text = native.render("text", width, False, False).decode().rstrip("\n")
    return _CLI_HINT.sub(")", text)


def picture_of(native: _native.Answer) -> str:
    """The charts as SVG; a sentence where they are too large, nothing where there are none."""
    try:
        picture = native.render("svg", 80, False, False).decode()
    except Error:
        return ""
    if len(picture) > _LARGEST_PICTURE:
        return f"<p>The chart is left out: it takes {len(picture) // 1024:,} KiB. " \
               "<code>to_svg()</code> has it.</p>"
    return _STYLE.sub("", picture[picture.index("<svg"):])


def _number(value: float) -> str:
    return f"{value:,.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def _scaled(value: float, unit: str) -> str:
    if unit == "share":
        return f"{100 * value:.1f} %"
    if unit == "percent":
        return f"{value:.1f} %"
    name, factor = _SCALES[unit][0]
    for name, factor in _SCALES[unit]:
        if abs(value) < factor * 1000:
            break
    return f"{value:,} {name}" if factor == 1 and isinstance(value, int) else f"{_number(value / factor)} {name}"


def shown(value: Any, unit: str | None) -> str:
    """A cell for people: scaled, with its unit."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if unit in _SCALES or unit in ("share", "percent"):
        return _scaled(value, unit)
    if unit == "count" and math.isfinite(value) and value == int(value):
        value = int(value)
    if unit == "unix":
        return _date_of(value)
    number = f"{value:,}" if isinstance(value, int) else _number(value)
    return f"{number} {_SIGNS.get(unit, unit)}" if unit not in (None, "count") else number


def _date_of(unix_ns: int) -> str:
    try:
        date = datetime.datetime.fromtimestamp(unix_ns // 10**9, datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):
        return f"{unix_ns:,}"
    return f"{date:%Y-%m-%d %H:%M:%S}.{unix_ns // 10**6 % 1000:03} UTC"


# Moments are on the clock of the recording; as scaled durations they would say nothing.
def _unit_of(column: _native.Column) -> str | None:
    if column.name.endswith("unix_ns"):
        return "unix"
    if column.unit == "ns" and (column.name.endswith("ts_ns") or column.name.endswith("begin_ns")):
        return None
    return column.unit


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


class _Scale:
    """The one unit in which all cells of a column are shown: its heading has it, as in a terminal."""

    def __init__(self, unit: str | None, largest: float) -> None:
        self.name, self.factor = _SIGNS.get(unit or "", unit or ""), 1.0
        self.decimals: int | None = None
        if unit in ("share", "percent"):
            self.name, self.factor, self.decimals = "%", 0.01 if unit == "share" else 1.0, 1
        elif unit == "count":
            self.name = ""
        elif unit in _SCALES:
            for self.name, self.factor in _SCALES[unit]:
                if largest < self.factor * 1000:
                    break

    def text(self, value: Any) -> str:
        """A cell without its unit."""
        if not _is_number(value):
            return shown(value, None)
        if self.factor == 1 and self.decimals is None and value == int(value) and (
                isinstance(value, int) or not self.name):
            return f"{int(value):,}"
        scaled = value / self.factor
        if self.decimals is not None:
            return f"{scaled:,.{self.decimals}f}"
        return f"{scaled:.3g}" if 0 < abs(scaled) < 0.001 else _number(scaled)


_SUFFIXES = ("_unix_ns", "_ns", "_us", "_gbps")
_SPREAD = ("mean_ns", "min_ns", "max_ns", "stddev_ns", "median_ns")


def _heading_of(column: _native.Column) -> str:
    """The name without its unit, which is below it."""
    name = column.name
    if column.unit is None and not name.endswith("unix_ns"):
        return name.replace("_", " ")
    suffix = next((each for each in _SUFFIXES if name.endswith(each) and name != each), "")
    return name[:len(name) - len(suffix)].replace("_", " ")


def _align_of(column: _native.Column) -> str:
    return "left" if column.type == "string" else "right"


def _cell(value: Any, text: str, align: str, indent: int) -> str:
    text = html.escape(text)
    raw = f' title="{html.escape(str(value))}"' if isinstance(value, (int, float)) else ""
    wraps = "min-width:20em;max-width:40em;overflow-wrap:anywhere" if len(text) > _SHORT \
        else "white-space:nowrap"
    padding = f";padding-left:{indent + 0.5}em" if indent else ""
    return f'<td{raw} style="text-align:{align};{wraps}{padding}">{text}</td>'


class _Cells:
    """The columns of a table as they are shown: those that only say how to show others are not."""

    def __init__(self, table: Table) -> None:
        columns = table.schema
        # Each row of a verdict has a unit of its own; a tree has the depth of each of its names.
        by_row = any(column.unit == "row" for column in columns.values())
        self._units = columns["unit"].to_list() if by_row and "unit" in columns else None
        self._depths = columns["depth"].to_list() if {"depth", "name"} <= set(columns) else None
        hidden = {"unit"} if self._units else {"depth"} if self._depths else set()
        self.columns = [column for name, column in columns.items() if name not in hidden]
        self._values = [column.to_list() for column in self.columns]
        self._scales = self._chosen_scales()

    def _chosen_scales(self) -> list[_Scale | None]:
        """The unit of each column by its largest number; none where every row has a unit of its own. Sums of time
        beside each other are parts of a whole, and a spread is read beside its mean: they share a unit, unless a
        thousandth of the largest would vanish."""
        own = [max((abs(each) for each in values if _is_number(each)), default=0) for values in self._values]
        largest = list(own)
        for is_sum, group in itertools.groupby(range(len(own)), lambda i: self._is_sum_of_time(i)):
            numbers = list(group)
            most = max(own[i] for i in numbers)
            for i in numbers:
                largest[i] = most if is_sum and (own[i] == 0 or own[i] * 1000 >= most) else own[i]
        names = [column.name for column in self.columns]
        middle = next((own[names.index(each)] for each in ("mean_ns", "median_ns") if each in names), None)
        scales: list[_Scale | None] = []
        for column, most in zip(self.columns, largest):
            unit = _unit_of(column)
            most = middle if middle is not None and column.name in _SPREAD else most
            scales.append(None if unit in ("row", "unix") else _Scale(unit, most))
        return scales

    def _is_sum_of_time(self, number: int) -> bool:
        return self.columns[number].unit == "ns" and self.columns[number].role == "sum"

    def heads(self) -> str:
        """The headings, each with the unit of its cells and, to point at, the name and what it means."""
        cells = []
        for column, scale in zip(self.columns, self._scales):
            unit = f"<br>{html.escape(scale.name)}" if scale is not None and scale.name else ""
            title = html.escape(f"{column.name}: {column.doc}")
            cells.append(f'<th title="{title}" scope="col" style="text-align:{_align_of(column)};white-space:nowrap">'
                         f"{html.escape(_heading_of(column))}{unit}</th>")
        return "".join(cells)

    def row(self, number: int) -> str:
        """A row of HTML."""
        cells = []
        for column, values, scale in zip(self.columns, self._values, self._scales):
            unit = _unit_of(column)
            if unit == "row":
                unit = self._units[number] if self._units else None
            depth = self._depths[number] if self._depths and column.name == "name" else 0
            text = shown(values[number], unit) if scale is None else scale.text(values[number])
            cells.append(_cell(values[number], text, _align_of(column), depth))
        return f"<tr>{''.join(cells)}</tr>"


def html_of_table(table: Table, rows: int = _ROWS) -> str:
    """The first rows as an HTML table, with how many more there are."""
    head = table.head(rows)
    cells = _Cells(head)
    body = "".join(map(cells.row, range(head.num_rows)))
    more = table.num_rows - head.num_rows
    after = f"<p>{more:,} more row{'' if more == 1 else 's'}</p>" if more else ""
    title = html.escape(table.title)
    return (f'<div style="overflow-x:auto"><table><caption style="text-align:left;white-space:nowrap">{title}</caption>'
            f"<thead><tr>{cells.heads()}</tr></thead><tbody>{body}</tbody></table></div>{after}")


def _quality_of(answer: Answer) -> str:
    rows = "".join(f"<li>{html.escape(str(each))}</li>" for each in answer.diagnostics)
    return f"<details><summary>How far this can be trusted</summary><ul>{rows}</ul></details>" \
        if rows else ""


def html_of_answer(answer: Answer) -> str:
    """The charts, then the first rows of every table, then what was irregular."""
    tables = "".join(html_of_table(table) for table in answer)
    return f"<div>{picture_of(answer._engine)}{tables}{_quality_of(answer)}</div>"


def bundle_of_answer(answer: Answer) -> dict[str, str]:
    """What Jupyter shows."""
    return {"text/plain": str(answer), "text/html": html_of_answer(answer)}


def bundle_of_table(table: Table) -> dict[str, str]:
    """What Jupyter shows."""
    from ._table import ALL

    picture = picture_of(table._answer.only(table.name, 0, ALL))
    return {"text/plain": str(table.head(_ROWS)),
            "text/html": f"<div>{picture}{html_of_table(table)}</div>"}
