"""Answers: the tables of one question, and how far they can be trusted."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, overload

from . import _native
from ._diagnostics import Diagnostic, FileInfo, diagnostics_of
from ._errors import UsageError, usage
from ._table import Column, Table

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars

    from ._verbs import TableName


class Answer:
    """What a question gave: a sequence of tables, with diagnostics.

    ``answer["kernels"]`` and ``answer.kernels`` are the table of that name. An answer whose main
    table is clear (the only one, or the one that is called as the verb) acts as that table:
    ``run.kernels().to_pandas()``, ``run.kernels()["total_ns"]``, ``pandas.DataFrame(run.kernels())``.
    Numbers and slices, as iteration, are of the tables: ``answer[0]`` is the first one.
    """

    __slots__ = ("_engine", "_verb", "_tables", "_draw")
    _engine: _native.Answer
    _verb: str
    _tables: dict[str, Table]
    _draw: Callable[[str], _native.Answer] | None
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, native: _native.Answer, verb: str = "",
                 draw: Callable[[str], _native.Answer] | None = None) -> None:
        put = object.__setattr__
        put(self, "_engine", native)
        put(self, "_verb", verb)
        put(self, "_draw", draw)
        put(self, "_tables", {each.name: Table(native, each) for each in native.tables})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("answers are immutable")

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, in order."""
        return tuple(self._tables.values())

    @property
    def table(self) -> Table:
        """The main table: the only one, or the one that is called as the verb."""
        if len(self._tables) == 1:
            return next(iter(self._tables.values()))
        name = self._verb.replace("-", "_")
        if name in self._tables:
            return self._tables[name]
        names = ", ".join(self._tables) or "none"
        raise usage("this answer has no single main table", remedy=f"choose one of: {names}")

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was repaired, dropped or could not be linked in the recordings, each kind counted."""
        return diagnostics_of(self._engine.diagnostics)

    @property
    def files(self) -> tuple[FileInfo, ...]:
        """The input files, also those that could not be loaded; empty for an answer that was
        unpickled."""
        return tuple(FileInfo(**{**row, "path": os.fsdecode(row["path"])})
                     for row in self._engine.files)

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[Table]:
        # `pandas.DataFrame(answer)` asks neither for Arrow nor for a mapping: it lists what it is given, and would take
        # the tables for rows.
        if sys._getframe(1).f_globals.get("__name__") == "pandas.core.frame":
            return iter(self.table)  # type: ignore[arg-type]
        return iter(self._tables.values())

    def _columns(self) -> dict[str, Column]:
        """The columns of the main table; none where there is no such table."""
        try:
            return self.table.schema
        except UsageError:
            return {}

    def __contains__(self, name: object) -> bool:
        return name in self._tables or name in self._columns()

    @overload
    def __getitem__(self, key: TableName | int) -> Table: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Table, ...]: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    def __getitem__(self, key: str | int | slice) -> Any:
        """A table by name or number, or a column of the main table by name; of a slice a tuple of tables."""
        if isinstance(key, slice):
            return self.tables[key]
        if hasattr(key, "__index__"):
            number = key.__index__()
            if not -len(self) <= number < len(self):
                raise IndexError(f"table {number} of {len(self)}")
            return self.tables[number]
        if key in self._tables:
            return self._tables[key]
        columns = self._columns()
        if key in columns:
            return columns[key]
        near = _native.nearest(str(key), [*self._tables, *columns])
        remedy = f"did you mean {near!r}?" if near else f"it has {', '.join(self._tables)}"
        raise KeyError(f"the answer has no table {key!r}; {remedy}")

    def _ipython_key_completions_(self) -> list[str]:
        return [*self._tables, *self._columns()]

    if TYPE_CHECKING:
        # What an answer takes from its main table.
        columns: list[str]
        num_rows: int
        schema: dict[str, Column]
        head: Callable[..., Table]
        to_arrow: Callable[[], Any]
        to_csv: Callable[..., str | None]
        to_dicts: Callable[[], list[dict[str, Any]]]
        to_duckdb: Callable[..., duckdb.DuckDBPyRelation]
        to_pandas: Callable[..., pandas.DataFrame]
        to_parquet: Callable[..., None]
        to_polars: Callable[[], polars.DataFrame]

        def __getattr__(self, name: str) -> Table: ...
    else:

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if name in self._tables:
                return self._tables[name]
            if name in _OF_TABLE:
                return getattr(self.table, name)
            near = _native.nearest(name, [*self._tables, *_OF_TABLE])
            remedy = f"did you mean {near!r}?" if near else f"its tables are {', '.join(self._tables)}"
            raise AttributeError(f"the answer has no table {name!r}; {remedy}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tables, *_OF_TABLE]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Answer):
            return NotImplemented
        return self.tables == other.tables and self.diagnostics == other.diagnostics

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.table.__arrow_c_schema__()

    def to_json(self) -> bytes:
        """All tables and diagnostics as JSON: the bytes of ``borescope VERB -f json``."""
        return self._engine.render("json", 80, False, False)

    def to_svg(self) -> str:
        """The charts of the verb as one SVG picture. ``MissingData`` where nothing can be drawn."""
        native = self._engine if self._draw is None else self._draw("svg")
        return native.render("svg", 80, False, False).decode()

    def to_png(self) -> bytes:
        """The charts of the verb as a PNG picture. ``UsageError`` where this build has no librsvg."""
        native = self._engine if self._draw is None else self._draw("png")
        return native.render("png", 80, False, False)

    def to_html(self) -> str:
        """The charts and the first rows of every table as HTML without scripts, as in a notebook."""
        from ._display import html_of_answer

        return html_of_answer(self)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> list[str]:
        """Writes the answer to a file, in the format that the ending of its name says unless one is
        given (``"json"``, ``"csv"``, ``"text"``, ``"svg"``, ``"png"``). Of several tables as CSV
        each has a file of its own. Returns the names of the files."""
        target = os.fspath(path)
        kind = format or os.path.splitext(target)[1].lstrip(".") or "text"
        native = self._draw(kind) if self._draw is not None and kind in ("svg", "png") else self._engine
        written = native.write({"txt": "text"}.get(kind, kind), os.fsencode(target), False)
        return written or [target]

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.to_json(), self._verb)

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.name} ({table.num_rows:,} rows)" for table in self)
        return f"<Answer: {tables or 'no tables'}>"

    def __str__(self) -> str:
        from ._display import text_of

        return text_of(self._engine)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from ._display import bundle_of_answer

        return bundle_of_answer(self)

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self.to_html()


# What an answer takes from its main table.
_OF_TABLE = ("to_pandas", "to_polars", "to_arrow", "to_duckdb", "to_dicts", "to_csv", "to_parquet",
             "head", "columns", "num_rows", "schema")


def _unpickled(json: bytes, verb: str) -> Answer:
    return Answer(_native.Answer.parse_json(json), verb)
