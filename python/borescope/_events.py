"""What was recorded as Parquet, a folder a rank. Needs pyarrow; imported late."""

from __future__ import annotations

import functools
import os
import re
import tempfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from . import _native
from ._errors import FormatError, InputError, usage
from ._parquet import options_for
from ._stores import Folder, is_url

if TYPE_CHECKING:
    from ._answer import Answer
    from ._run import Run

# Tables of SQL by the names of their files.
TABLES = {"events": "events", "kernels": "kernels", "operators": "ops", "copies": "copies",
          "collectives": "collectives", "memory": "memory_events", "steps": "steps"}
# Rows of a batch, which is a row group: about 20 MB of events in memory.
ROWS = 1 << 17
# The name of a run is part of a path that readers take apart.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_TYPES = {"INTEGER": pyarrow.int64(), "REAL": pyarrow.float64(),
          "TEXT": pyarrow.dictionary(pyarrow.int32(), pyarrow.string())}

# The condition of a statement, and the values in it.
Where = tuple[str, list[int]]


def export(run: Run, folder: str | os.PathLike[str], name: str | None,
           tables: Iterable[str] | None) -> list[str]:
    """See `borescope.events_to_parquet`."""
    chosen = _chosen(tables)
    if not run.files:
        return []
    name = _name_of(run) if name is None else _checked_name(name)
    target = Folder(folder, run._arguments["storage_options"])
    with tempfile.TemporaryDirectory(prefix=".borescope-", dir=target.drafts()) as drafts:
        ranks = _write_drafts(run, drafts, chosen)
        return [target.put(os.path.join(drafts, draft, f"{table}.parquet"),
                           f"run={name}/rank={rank}/{table}.parquet")
                for rank, draft in sorted(ranks.items()) for table in chosen]


def _chosen(tables: Iterable[str] | None) -> list[str]:
    chosen = list(TABLES) if tables is None else [tables] if isinstance(tables, str) else list(tables)
    for table in chosen:
        if table not in TABLES:
            raise usage(f"there is no table {table!r:.80} to export",
                        remedy=f"choose among {', '.join(TABLES)}", parameter="tables")
    return chosen


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise usage(f"`name` takes letters, digits, '_', '.' and '-', not {name!r:.80}",
                    remedy="it becomes the name of a folder", parameter="name")
    return name


def _name_of(run: Run) -> str:
    """The folder that all files are in, where they are files that have not been copied from elsewhere.
    Names of files are not used: PyTorch's have the host's name."""
    copies = run._inputs.folder_of_copies
    folders = {os.path.dirname(file if is_url(file) else os.path.abspath(file)) for file in run.files
               if is_url(file) or os.path.lexists(file)}
    folders = {each for each in folders if copies is None or not each.startswith(copies)}
    name = os.path.basename(folders.pop()) if len(folders) == 1 else ""
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".-")
    return name or "run"


def _write_drafts(run: Run, drafts: str, tables: list[str]) -> dict[int, str]:
    """Writes the tables of each file into a folder of its own; returns these by rank. Which rank a file
    is shows when all are loaded: a part of each is kept for that."""
    from . import reduce

    asked = run._arguments["ranks"]
    wanted = None if asked is None else _ranks_of(run.info())
    parts, folders = [], {}
    for number, file in enumerate(run.files):
        one = _one_of(run, number)
        parts.append(one.map("info", **({} if asked is None else {"rank": asked})))
        if (wanted is None or file in wanted) and _loads(one):
            folders[file] = str(number)
            os.mkdir(os.path.join(drafts, str(number)))
            counts = _counts(one)
            for table in tables:
                path = os.path.join(drafts, str(number), f"{table}.parquet")
                _write(one, table, path, is_small=counts[TABLES[table]] <= ROWS)
    ranks = _ranks_of(run._checked(reduce(parts)))
    return {ranks[file]: folder for file, folder in folders.items() if file in ranks}


def _ranks_of(answer: Answer) -> dict[str, int]:
    """The ranks that an answer of `info` is about, by their files."""
    ranks = set(answer["traces"]["rank"].to_list())
    return {info.path: info.rank for info in answer.files if not info.error and info.rank in ranks}


def _one_of(run: Run, number: int) -> Run:
    if run._inputs.can_repeat:
        return run._only([number], "always", ranks=None, progress=False, on_diagnostic="ignore")
    if len(run.files) > 1:
        raise usage("of several objects that cannot seek, none can be read alone",
                    remedy="give their bytes, or files")
    return run


def _loads(one: Run) -> bool:
    """Whether it is a recording; what is wrong with it is reported with the run."""
    try:
        one.info()
    except (FormatError, InputError):
        return False
    return True


def _counts(one: Run) -> dict[str, int]:
    """The rows of every table."""
    counts = ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in TABLES.values())
    return one.sql(f"SELECT {counts}")[0]


def _write(one: Run, name: str, path: str, *, is_small: bool) -> None:
    """One table of the one rank of `one`, sorted by time. A small one is a single batch."""
    schema = _schema_of(name)
    key = "ts_ns" if "ts_ns" in schema.names else "id"
    order = [(each, "ascending") for each in dict.fromkeys((key, "id"))]
    with pyarrow.parquet.ParquetWriter(path, schema, store_schema=False, **options_for(schema),
                                       sorting_columns=_sorting(schema, key)) as writer:
        everything: Where = ("", [])
        pages = _pages(one, TABLES[name], everything, [key, "id"])
        for where, values in [everything] if is_small else pages:
            columns = ", ".join(f'"{each}"' for each in schema.names)
            rows = one.sql(f"SELECT {columns} FROM {TABLES[name]}{where}", values, rows=1 << 40)
            writer.write_table(_typed(rows.to_arrow(), schema).sort_by(order))


def _sorting(schema: Any, key: str) -> Any:
    return pyarrow.parquet.SortingColumn.from_ordering(schema, [(key, "ascending")], "at_start")


@functools.cache
def _schema_of(name: str) -> Any:
    """The columns as SQL has them, whatever this rank holds, so that the files of all ranks agree."""
    columns = next(t for t in _native.query_schema().tables if t.name == "columns").columns
    table, column, kind = (each.to_list() for each in columns[:3])
    types = {c: _TYPES[k] for t, c, k in zip(table, column, kind) if t == TABLES[name]}
    for redundant in ("rank", "end_ns") if "dur_ns" in types else ("rank",):
        types.pop(redundant, None)
    return pyarrow.schema(list(types.items()))


def _typed(rows: Any, schema: Any) -> Any:
    """A result with the types of the schema: where no cell has a value, SQL gave the column any."""
    columns = [pyarrow.nulls(len(rows), field.type) if column.null_count == len(rows)
               else column.cast(field.type) for field, column in zip(schema, rows.columns)]
    return pyarrow.table(columns, schema=schema)


def _pages(one: Run, table: str, within: Where, keys: list[str]) -> Iterator[Where]:
    """Conditions that cut the rows into batches of about `ROWS`, in the order of the first key. Where
    more rows than that have one value of it, the next key cuts them."""
    values, has_nulls = _sorted(one, f"SELECT {keys[0]} FROM {table}{within[0]}", within[1])
    if has_nulls:
        yield from _pages(one, table, _and(within, f"{keys[0]} IS NULL"), keys[1:])
    for low, high in _windows(values):
        where = _and(within, f"{keys[0]} >= ?", low)
        if low == high:
            yield from _pages(one, table, _and(where, f"{keys[0]} <= ?", low), keys[1:])
        else:
            yield where if high is None else _and(where, f"{keys[0]} < ?", high)


def _sorted(one: Run, statement: str, values: list[int]) -> tuple[Any, bool]:
    """The numbers of a result of one column, in order and 8 bytes each, and whether cells are missing."""
    column = one.sql(statement, values, rows=1 << 40).to_arrow()[0]
    if column.null_count == len(column):
        return [], len(column) > 0
    numbers = column.combine_chunks().drop_null().sort()
    return memoryview(numbers.buffers()[1]).cast("q")[:len(numbers)], column.null_count > 0


def _windows(values: Any) -> Iterator[tuple[int, int | None]]:
    """The sorted values as windows [low, high) of at most `ROWS`, the last one without an end, and as
    [low, low] what is one value more often than that."""
    at = 0
    while at < len(values):
        low = values[at]
        high = values[at + ROWS] if at + ROWS < len(values) else None
        yield low, high
        if high is None:
            return
        at = bisect_right(values, low) if low == high else bisect_left(values, high, at)


def _and(where: Where, condition: str, *values: int) -> Where:
    return f"{where[0]} {'AND' if where[0] else 'WHERE'} {condition}", [*where[1], *values]
