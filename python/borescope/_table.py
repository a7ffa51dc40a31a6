"""Tables: the one result type."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

from . import _native
from ._native import Column as Column

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars

# More rows than any table has.
ALL = 1 << 62


class Table:
    """A table of an answer. Immutable; safe to read from any thread.

    Cells are in base units: whole nanoseconds, bytes, shares from 0 to 1. ``print(table)`` shows
    it as text with units, a notebook as HTML with the verb's chart.

    Anything that reads Arrow reads a table without a copy of its numbers:
    ``pyarrow.table(t)``, ``polars.DataFrame(t)``, ``duckdb.sql("FROM t")``.
    """

    __slots__ = ("_answer", "_engine", "_columns")
    _answer: _native.Answer
    _engine: _native.Table
    _columns: dict[str, Column]
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, answer: _native.Answer, native: _native.Table) -> None:
        put = object.__setattr__
        put(self, "_answer", answer)
        put(self, "_engine", native)
        put(self, "_columns", {column.name: column for column in native.columns})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("tables are immutable")

    @property
    def name(self) -> str:
        """The name in the answer: ``"kernels"``."""
        return self._engine.name

    @property
    def title(self) -> str:
        """What the table shows, in one line."""
        return self._engine.title

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self._engine.num_rows

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._columns)

    @property
    def schema(self) -> dict[str, Column]:
        """The columns by name, each with its type, unit, role and doc."""
        return dict(self._columns)

    @property
    def nbytes(self) -> int:
        """About how many bytes the cells take."""
        size = {"int": 8, "float": 8, "string": 4, "bool": 1}
        return sum(size[column.type] * self.num_rows for column in self._columns.values())

    def __len__(self) -> int:
        return self.num_rows

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_dicts())

    @overload
    def __getitem__(self, key: str) -> Column: ...
    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> Table: ...
    def __getitem__(self, key: str | int | slice) -> Column | dict[str, Any] | Table:
        """A column by name, a row by number, or a table of the rows of a slice."""
        if isinstance(key, str):
            return self._column(key)
        if isinstance(key, slice):
            rows = range(self.num_rows)[key]
            return self._rows(rows.start, len(rows)) if rows.step == 1 else self._picked(rows)
        if not hasattr(key, "__index__"):
            raise TypeError("a table takes the name of a column, the number of a row or a slice, not "
                            f"{type(key).__name__}")
        key = key.__index__()
        row = key + self.num_rows if key < 0 else key
        if not 0 <= row < self.num_rows:
            raise IndexError(f"row {key} of {self.num_rows}")
        return self._rows(row, 1).to_dicts()[0]

    def _column(self, name: str) -> Column:
        if name not in self._columns:
            near = _native.nearest(name, self.columns)
            remedy = f"did you mean {near!r}?" if near else f"there are {', '.join(self.columns)}"
            raise KeyError(f"table {self.name!r} has no column {name!r}; {remedy}")
        return self._columns[name]

    def _ipython_key_completions_(self) -> list[str]:
        return self.columns

    def _picked(self, rows: range) -> Table:
        """A table of rows that do not follow each other."""
        answer = json.loads(self._answer.only(self.name, 0, ALL).render("json", 80, False, False))
        for column in answer["tables"][0]["columns"]:
            column["values"] = [column["values"][row] for row in rows]
        return _unpickled(json.dumps(answer).encode())

    def _rows(self, begin: int, count: int) -> Table:
        only = self._answer.only(self.name, begin, count)
        return Table(only, only.tables[0])

    def head(self, n: int = 10) -> Table:
        """The first ``n`` rows."""
        return self._rows(0, max(0, n))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return self._engine.equals(other._engine)

    # --- Arrow and its consumers

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table by the Arrow PyCapsule protocol: numbers are not copied, texts are
        dictionaries. A requested schema is a wish that is not followed."""
        return self._engine.arrow_stream()

    def __arrow_c_schema__(self) -> object:
        """The types of the columns by the Arrow PyCapsule protocol."""
        return self._engine.arrow_schema()

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``; numbers are not copied. Needs pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``; numbers are not copied, texts are ``Categorical``. Needs polars."""
        import polars

        return polars.DataFrame(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None,
                  name: str | None = None) -> duckdb.DuckDBPyRelation:
        """A relation of DuckDB, in its default connection unless another is given; with ``name`` it
        is also a view of that name there. Needs duckdb and pyarrow."""
        import duckdb

        relation = (connection or duckdb).from_arrow(self.to_arrow())
        if name is not None:
            relation.create_view(name, replace=True)
        return relation

    def to_pandas(self, types: Literal["numpy", "arrow"] = "numpy") -> pandas.DataFrame:
        """A ``pandas.DataFrame``. Needs pandas, and for ``types="arrow"`` pyarrow.

        With ``"numpy"`` whole numbers are ``int64`` (``Int64`` where some are missing), shares and
        rates ``float64``, texts pandas' default type for them. With ``"arrow"`` all columns have
        Arrow types.
        """
        import pandas

        frame: pandas.DataFrame
        if types == "arrow":
            frame = self.to_arrow().to_pandas(types_mapper=pandas.ArrowDtype)
            return frame
        from ._frames import series_of

        frame = pandas.DataFrame({name: series_of(column) for name, column in self._columns.items()})
        return frame

    # --- plain Python and files

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dict a row; missing cells are ``None``."""
        names = self.columns
        cells = [column.to_list() for column in self._columns.values()]
        return [dict(zip(names, row)) for row in zip(*cells)]

    def to_csv(self, path: str | os.PathLike[str] | None = None, *, safe: bool = False) -> str | None:
        """The table as CSV with raw numbers: as a text, or written to ``path``, where the file
        appears complete or not at all. ``safe`` guards cells that a spreadsheet would take for
        formulas."""
        only = self._answer.only(self.name, 0, ALL)
        if path is None:
            text = only.render("csv", 80, False, safe).decode()
            return text.partition("\n")[2] if text.startswith("# ") else text
        only.write("csv", os.fsencode(path), safe)
        return None

    def to_parquet(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the table as Parquet: zstd, whole numbers as differences, texts as dictionaries.
        ``options`` are those of ``pyarrow.parquet.write_table`` and come before these. The file
        appears complete or not at all. Needs pyarrow."""
        from ._parquet import write_parquet

        write_parquet(self, path, options)

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self._answer.only(self.name, 0, ALL).render("json", 80, False, False),)

    # --- display

    def __repr__(self) -> str:
        columns = f"{len(self._columns)} column{'' if len(self._columns) == 1 else 's'}"
        rows = f"{self.num_rows:,} row{'' if self.num_rows == 1 else 's'}"
        return f"<Table {self.name!r}: {rows} x {columns}>"

    def __str__(self) -> str:
        from ._display import text_of

        return text_of(self._answer.only(self.name, 0, ALL))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from ._display import bundle_of_table

        return bundle_of_table(self)

    def _mime_(self) -> tuple[str, str]:
        return "text/html", self._repr_mimebundle_()["text/html"]


def _unpickled(json: bytes) -> Table:
    answer = _native.Answer.parse_json(json)
    return Table(answer, answer.tables[0])
