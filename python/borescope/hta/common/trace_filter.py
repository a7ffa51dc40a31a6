"""Filters of frames: each takes a frame, and a table of names where it needs one, and returns some of the rows."""

from __future__ import annotations

import logging
import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from .._symbols import TraceSymbolTable
from ..utils.utils import get_symbol_column_names

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("borescope.hta")


def _numbers(given: int | list[int], name: str) -> list[int]:
    if not isinstance(given, (int, list)):
        raise TypeError(f"{name} must be a whole number or a list of these")
    return [given] if isinstance(given, int) else given


def _has(df: pd.DataFrame, column: str) -> bool:
    if column not in df.columns:
        logger.warning("the frame has no column %r", column)
    return column in df.columns


class Filter(ABC):
    """What all filters are."""

    @abstractmethod
    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        """The rows that are meant."""


class IterationFilter(Filter):
    """Events of steps, by their numbers."""

    def __init__(self, iterations: int | list[int]) -> None:
        self.iterations: list[int] = _numbers(iterations, "iterations")

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        return df[df["iteration"].isin(self.iterations)] if _has(df, "iteration") else df


class IterationIndexFilter(Filter):
    """Events of steps, by their place among those of the frame."""

    def __init__(self, iteration_index: int | list[int]) -> None:
        self.iteration_index: list[int] = _numbers(iteration_index, "iteration_index")

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        import pandas

        if not _has(df, "iteration"):
            return df
        steps = sorted(df["iteration"].unique())
        if steps == [-1]:
            return df
        steps = steps[1:] if steps[0] == -1 else steps
        chosen = [step for place, step in enumerate(steps) if place in self.iteration_index]
        if not chosen:
            logger.warning("there is no step at %s", self.iteration_index)
            return pandas.DataFrame()
        return df[df["iteration"].isin(chosen)]


class FirstIterationFilter(IterationIndexFilter):
    """Events of the first step."""

    def __init__(self) -> None:
        super().__init__([0])


class RankFilter(Filter):
    """Events of ranks."""

    def __init__(self, ranks: int | list[int]) -> None:
        self.ranks: list[int] = _numbers(ranks, "ranks")

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        return df[df["rank"].isin(self.ranks)] if _has(df, "rank") else df


class TimeRangeFilter(Filter):
    """Events that are entirely within a time."""

    def __init__(self, time_range: tuple[int, int]) -> None:
        is_pair = isinstance(time_range, tuple) and len(time_range) == 2
        if not is_pair or not all(isinstance(each, int) for each in time_range):
            raise ValueError("time_range must be a tuple of two whole numbers")
        if time_range[0] > time_range[1]:
            raise ValueError("the start of time_range is after its end")
        self.time_start, self.time_end = time_range

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if not _has(df, "ts"):
            return df
        return df[(df["ts"] >= self.time_start) & (df["ts"] + df["dur"] <= self.time_end)]


class NameStringColumnFilter(Filter):
    """Events whose name, a text in the frame, begins as an expression says."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = name_pattern

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        column, _ = get_symbol_column_names(df)
        if not column:
            logger.warning("the frame has no column of names as texts")
            return df
        return df[df[column].str.match(self.name_pattern)]


class NameIdColumnFilter(Filter):
    """Events whose name, a number in the frame, begins as an expression says."""

    def __init__(self, name_pattern: str) -> None:
        self.name_pattern = name_pattern
        self.name_column = "name"

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if symbol_table is None:
            logger.warning("names are numbers: a table of names is needed")
            return df
        pattern = re.compile(self.name_pattern)
        return df[df[self.name_column].isin(symbol_table.those(pattern.match))]


class NameFilter(Filter):
    """Events whose name begins as an expression says: by their texts, or with a table of names by their numbers."""

    def __init__(self, name_pattern: str, symbol_table: TraceSymbolTable | None = None,
                 name_column: str | None = None) -> None:
        self.name_pattern = name_pattern
        self.symbol_table = symbol_table
        self.name_column = name_column

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        symbols = symbol_table or self.symbol_table
        if df.empty:
            return df
        if symbols is None:
            return NameStringColumnFilter(self.name_pattern)(df)
        return NameIdColumnFilter(self.name_pattern)(df, symbols)


class QueryFilter:
    """Events for which an expression of ``DataFrame.query`` holds."""

    def __init__(self, query_str: str) -> None:
        self.filter_query = query_str

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        found: pd.DataFrame = df.query(self.filter_query)
        return found


ZeroDurationFilter = QueryFilter("dur > 0")


def _is_device(df: pd.DataFrame, symbols: TraceSymbolTable) -> pd.Series:
    """Which rows are work of the device, or a wait of the whole device, which has no stream."""
    waits = [symbols.sym_index[name] for name in ("Event Sync", "Context Sync") if name in symbols.sym_index]
    return ((df["stream"] >= 0) & (df["correlation"] >= 0)) | df["name"].isin(waits)


class GPUKernelFilter(Filter):
    """Work of the device."""

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if not _has(df, "stream"):
            return df
        if symbol_table is None:
            return df[(df["stream"] >= 0) & (df["correlation"] >= 0)]
        return df[_is_device(df, symbol_table)]


class CPUOperatorFilter(Filter):
    """Events of the host."""

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        if not _has(df, "stream"):
            return df
        return df[df["stream"] == -1] if symbol_table is None else df[~_is_device(df, symbol_table)]


class CompositeFilter(Filter):
    """One filter after another."""

    def __init__(self, filters: list[Filter]) -> None:
        if not all(isinstance(each, Filter) for each in filters):
            raise TypeError("each of the filters must be a Filter")
        self.filters: list[Filter] = filters

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        for each in self.filters:
            df = each(df, symbol_table)
        return df


class MemCopyEventFilter(Filter):
    """Copies of a kind, such as ``Memcpy DtoH (Device -> Pinned)``."""

    def __init__(self, memory_copy_type: str, symbol_table: TraceSymbolTable | None = None) -> None:
        self.memory_copy_type = memory_copy_type
        self.symbol_table = symbol_table

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        import pandas

        if df.empty:
            return df
        index = (symbol_table or self.symbol_table or TraceSymbolTable()).sym_index
        if self.memory_copy_type not in index:
            return pandas.DataFrame()
        return df[(df["name"] == index[self.memory_copy_type]) & (df["cat"] == index["gpu_memcpy"])]
