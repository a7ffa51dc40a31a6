"""Filters by what is before, after or under an operator."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from ..utils.utils import get_symbol_column_names
from .trace_df import find_op_occurrence
from .trace_filter import Filter, FirstIterationFilter, logger
from .trace_symbol_table import TraceSymbolTable

if TYPE_CHECKING:
    import pandas as pd


def get_matching_kernels(df_ops: pd.DataFrame, df_both: pd.DataFrame, cat_column: str) -> pd.DataFrame:
    """The kernels in ``df_both`` that calls in ``df_ops`` launched."""
    calls = df_ops.loc[df_ops[cat_column] == "cuda_runtime", "index"]
    return df_both[df_both["index_correlation"].isin(calls)]


class OperatorFilterMethod(Enum):
    """Which events are meant: those within an operator, after its end, before its start."""

    Under = 0
    After = 1
    Before = 2
    Ancestors = 3
    Stack = 4


class OperatorFilter(Filter):
    """Events by where they are from one occurrence of an operator, on its stream; none where it does not occur."""

    def __init__(self, op_name: str, position: int, method: OperatorFilterMethod, include_gpu_kernels: bool = False,
                 name_column: str | None = None) -> None:
        self.op_name, self.position, self.method = op_name, position, method
        self.include_gpu_kernels = include_gpu_kernels
        self.name_column: str = name_column or ""

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        import pandas
        from pandas.api.types import is_string_dtype

        names, categories = get_symbol_column_names(df)
        if self.name_column:
            names, categories = self.name_column, self.name_column.replace("name", "cat")
        if not all(each in df.columns and is_string_dtype(df[each]) for each in (names, categories)):
            logger.error("the frame has no columns of names and categories as texts")
            return df
        found, operator = find_op_occurrence(df, self.op_name, self.position, names)
        if not found:
            logger.warning("%s does not occur", self.op_name)
            return pandas.DataFrame()
        rows = df[self._is_meant(df, operator) & (df["stream"] == operator["stream"])]
        if not self.include_gpu_kernels:
            return rows
        return pandas.concat([rows, get_matching_kernels(rows, df, categories)])

    def _is_meant(self, df: pd.DataFrame, operator: pd.Series) -> pd.Series:
        # By value: a notebook that is reloaded has another class of the same members.
        if self.method.value == OperatorFilterMethod.Under.value:
            return (df["ts"] >= operator["ts"]) & (df["end"] <= operator["end"])
        if self.method.value == OperatorFilterMethod.After.value:
            return df["ts"] >= operator["end"]
        if self.method.value == OperatorFilterMethod.Before.value:
            return df["end"] <= operator["ts"]
        raise NotImplementedError(f"Operator method {self.method} is not supported")


class AfterOperatorFilter(OperatorFilter):
    """Events that begin at or after the end of an operator."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: str | None = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.After, include_gpu_kernels, name_column)


class BeforeOperatorFilter(OperatorFilter):
    """Events that end at or before the start of an operator."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: str | None = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Before, include_gpu_kernels, name_column)


class UnderOperatorFilter(OperatorFilter):
    """Events within an operator."""

    def __init__(self, op_name: str, position: int, include_gpu_kernels: bool = False,
                 name_column: str | None = None) -> None:
        super().__init__(op_name, position, OperatorFilterMethod.Under, include_gpu_kernels, name_column)


class CombinedOperatorFilter(Filter):
    """Events of the first step under the first ``root_op_name``, after the last ``preceding_op_name`` and before the
    first ``following_op_name``; an operator that does not occur restricts nothing."""

    def __init__(self, root_op_name: str, preceding_op_name: str, following_op_name: str,
                 include_gpu_kernels: bool = False, stack_depths: list[int] | None = None) -> None:
        self.root_op_name, self.preceding_op_name = root_op_name, preceding_op_name
        self.following_op_name = following_op_name
        self.include_gpu_kernels = include_gpu_kernels
        self.stack_depths: list[int] = stack_depths or []

    def __call__(self, df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None) -> pd.DataFrame:
        import pandas

        names, categories = get_symbol_column_names(df)
        if not names or not categories:
            logger.error("the frame has no columns of names and categories as texts")
            return df
        rows = FirstIterationFilter()(df)
        for kind, name, position in ((UnderOperatorFilter, self.root_op_name, 0),
                                     (AfterOperatorFilter, self.preceding_op_name, -1),
                                     (BeforeOperatorFilter, self.following_op_name, 0)):
            if find_op_occurrence(rows, name, position, names)[0]:
                rows = kind(name, position, False, names)(rows)
        if not rows.empty and self.include_gpu_kernels:
            rows = pandas.concat([get_matching_kernels(rows, df, categories), rows])
        if "depth" in rows.columns and self.stack_depths:
            rows = rows[(rows["stream"] > 0) | rows["depth"].isin(self.stack_depths)]
        return rows
