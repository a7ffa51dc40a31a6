"""Columns as pandas holds them. Needs pandas; imported late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
import pandas

if TYPE_CHECKING:
    from ._native import Column


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
