"""Tables as frames of other libraries, and files that those write. Needs them; imported late."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy
import pandas

from ._errors import unreadable

if TYPE_CHECKING:
    from ._native import Column
    from ._table import Table


def series_of(column: Column) -> Any:
    """The cells as pandas holds them best, with nothing lost where some are missing."""
    missing = column.missing
    mask: Any = None if missing is None else numpy.frombuffer(missing, dtype=bool)
    if column.type == "int":
        cells = numpy.asarray(column)
        return cells if mask is None else pandas.arrays.IntegerArray(cells.copy(), mask.copy())
    if column.type == "float":
        cells = numpy.asarray(column)
        return cells if mask is None else numpy.where(mask, numpy.nan, cells)
    if column.type == "bool" and mask is None:
        return numpy.array(column.to_list(), dtype=bool)
    if column.type == "bool":
        return pandas.array(column.to_list(), dtype="boolean")
    return column.to_list()


def write_parquet(table: Table, path: str | os.PathLike[str], options: dict[str, Any]) -> None:
    """Writes beside the target and renames."""
    import pyarrow.parquet

    target = os.path.abspath(os.fspath(path))
    try:
        handle, draft = tempfile.mkstemp(prefix=".borescope-", dir=os.path.dirname(target))
    except OSError as error:
        raise unreadable(path, f"cannot write: {error.strerror}",
                         hint="name a file in a folder that can be written to") from error
    os.close(handle)
    try:
        pyarrow.parquet.write_table(table.to_arrow(), draft, **options)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(draft, 0o666 & ~umask)
        os.replace(draft, target)
    except BaseException:
        os.unlink(draft)
        raise
