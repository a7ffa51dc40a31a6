"""The events that the number of a row comes from, and when they were.

Events are named only where a search finds as many as the row counts, and as much time: what cannot
be proven is left out, with the reason.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from .._run import Run
from ._ids import Question

# How many events are named of many.
FIRST = 5
_TIMES = ("annotation", "instance", "begin", "end", "step", "base_step", "test_step")


@dataclasses.dataclass(frozen=True)
class Window:
    """A stretch of time on the clock of one recording."""

    rank: int
    begin_ns: int
    end_ns: int


@dataclasses.dataclass(frozen=True)
class Found:
    """Where a row comes from: its windows, what they are of, and its events if they were found."""

    windows: tuple[Window, ...] = ()
    of: str = ""
    count: int | None = None
    first: tuple[dict[str, Any], ...] = ()
    sql: str = ""
    why_not: str = ""


@dataclasses.dataclass(frozen=True)
class _Recipe:
    """Which events the rows of a table count: a relation of SQL, its columns by those of the row,
    and the columns with their number and their time."""

    relation: str
    keys: Mapping[str, str]
    count: str
    total: str = ""
    condition: str = ""


_KERNELS = _Recipe("kernels", {"name": "name", "class": "class"}, "count", "total_ns")
_COPIES = _Recipe("copies", {"name": "name"}, "count", "total_ns")
# By table; the second is tried where the first does not fit.
_RECIPES: dict[str, tuple[_Recipe, ...]] = {
    "kernels": (_KERNELS, _COPIES),
    "copies": (_COPIES,),
    "kernel_classes": (_Recipe("kernels", {"class": "class"}, "count", "total_ns"),),
    "top": (_Recipe("device_events", {"name": "name", "kind": "kind"}, "count", "total_ns",
                    "is_work = 1"),),
    "ops": (_Recipe("ops", {"name": "name"}, "calls"),),
    "annotations": (_Recipe("annotations", {"side": "side", "name": "name"}, "count", "total_ns"),),
    "launch_summary": (_Recipe("device_events", {"kernel": "name"}, "count", "device_ns",
                               "is_work = 1 AND launch_id IS NOT NULL"),),
    "cuda_gpu_kern_sum": (_Recipe("kernels", {"Name": "name"}, "Instances"),),
}
# Columns that mean the same in rows, options and relations.
_COMMON = ("rank", "gpu", "stream", "step")


def find(run: Run, question: Question, table: str, row: Mapping[str, Any]) -> Found:
    """Where the row comes from, as far as that is known."""
    recorded = _recorded(run)
    own = _own_window(row, recorded)
    if own is not None:
        return Found((own,), "the row")
    recipes = _RECIPES.get(table, ())
    why_not = f"the rows of {table} are not counts of events"
    for recipe in recipes:
        found = _by_recipe(run, question, recipe, row)
        if found.count is not None:
            return found
        why_not = found.why_not
    return _whole(question, row, recorded, why_not)


def _rows(run: Run, sql: str, params: Sequence[Any] = ()) -> list[dict[str, Any]]:
    return run.sql(sql, params).to_dicts()


def _recorded(run: Run) -> dict[int, Window]:
    rows = _rows(run, "SELECT rank, min(ts_ns) AS a, max(end_ns) AS b FROM events GROUP BY rank")
    return {row["rank"]: Window(row["rank"], row["a"], row["b"]) for row in rows
            if row["a"] is not None}


def _own_window(row: Mapping[str, Any], recorded: Mapping[int, Window]) -> Window | None:
    """The window that the row itself has: its begin on the clock of the file, and its length."""
    whole = recorded.get(row.get("rank", -1))
    begin = next((row[name] for name in ("begin_ns", "ts_ns") if row.get(name) is not None), None)
    if whole is None or not isinstance(begin, int):
        return None
    length = next((row[name] for name in ("dur_ns", "duration_ns", "span_ns")
                   if isinstance(row.get(name), int)), 0)
    if not whole.begin_ns <= begin <= begin + length <= whole.end_ns:
        return None
    return Window(whole.rank, begin, begin + length)


def _whole(question: Question, row: Mapping[str, Any], recorded: Mapping[int, Window],
           why_not: str) -> Found:
    chosen = [name for name, _ in question.options if name in _TIMES]
    if chosen:
        return Found(why_not=f"{why_not}; the time is that of the option {', '.join(chosen)}")
    rank = row.get("rank")
    windows = [each for each in recorded.values() if rank in (None, each.rank)]
    return Found(tuple(windows), "the whole recording", why_not=why_not)


def _by_recipe(run: Run, question: Question, recipe: _Recipe, row: Mapping[str, Any]) -> Found:
    where, values, unknown = _conditions(question, recipe, row)
    if unknown:
        return Found(why_not=f"no search for what {unknown} chooses")
    text = f"FROM {recipe.relation} WHERE {' AND '.join(where)}"
    by_rank = _rows(run, "SELECT rank, count(*) AS n, sum(dur_ns) AS total, min(ts_ns) AS a, "
                         f"max(end_ns) AS b {text} GROUP BY rank", values)
    count, total = (sum(each[name] for each in by_rank) for name in ("n", "total"))
    if count != row.get(recipe.count) or (recipe.total and total != row.get(recipe.total)):
        return Found(why_not=f"a search finds {count} events, not those that the row counts")
    windows = tuple(Window(each["rank"], each["a"], each["b"]) for each in by_rank)
    side = "'host'" if recipe.relation == "ops" else \
        "side" if recipe.relation == "annotations" else "'device'"
    select = f"SELECT rank, {side} AS side, id, ts_ns, dur_ns {text} ORDER BY rank, ts_ns, id"
    first = tuple(_rows(run, f"{select} LIMIT {FIRST}", values))
    return Found(windows, "its events", count, first, _inlined(select, values))


def _conditions(question: Question, recipe: _Recipe, row: Mapping[str, Any]) -> tuple[
        list[str], list[Any], str]:
    where = [recipe.condition] if recipe.condition else []
    values: list[Any] = []
    names = {**recipe.keys, **{name: name for name in _COMMON if name in row}}
    for column, name in names.items():
        if column not in row:
            continue
        if row[column] is None:
            where.append(f"{name} IS NULL")
        else:
            where.append(f"{name} = ?")
            values.append(row[column])
    for name, text in question.options:
        if name in _COMMON:
            where.append(f"({_within(name, text, values)})")
        elif name not in ("by", "all", "compat", "report", "patterns"):
            return where, values, f"the option {name}"
    return where or ["1"], values, ""


def _within(name: str, ranges: str, values: list[Any]) -> str:
    """The condition of a list such as 0,3,8..11."""
    parts = []
    for each in ranges.split(","):
        low, _, high = each.partition("..")
        values += [int(low), int(high or low)]
        parts.append(f"{name} BETWEEN ? AND ?")
    return " OR ".join(parts)


def _inlined(text: str, values: Sequence[Any]) -> str:
    """The statement with its values in place."""
    pieces = text.split("?")
    literals = ["'" + each.replace("'", "''") + "'" if isinstance(each, str) else str(each)
                for each in values]
    return "".join(piece + literal for piece, literal in zip(pieces, [*literals, ""]))
