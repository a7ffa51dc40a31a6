"""Events of a frame by their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .._symbols import TraceSymbolTable

if TYPE_CHECKING:
    import pandas as pd


def get_iterations(df: pd.DataFrame) -> list[int]:
    """The numbers of the steps, sorted. TypeError where the column is missing or has no whole numbers."""
    if "iteration" not in df.columns:
        raise TypeError("the frame has no column `iteration`")
    if df["iteration"].dtype.kind != "i":
        raise TypeError("the column `iteration` holds no whole numbers")
    return sorted(number for number in df["iteration"].unique() if number != -1)


def find_op_occurrence(df: pd.DataFrame, op_name: str, position: int,
                       name_column: str = "s_name") -> tuple[bool, pd.Series]:
    """Whether a name occurs so often, and the row: 0 is the first occurrence, -1 the last."""
    import pandas

    if df.empty or "ts" not in df.columns or name_column not in df.columns:
        return False, pandas.Series()
    rows = df[df[name_column] == op_name].sort_values("ts")
    place = position if position >= 0 else len(rows) + position
    return (True, rows.iloc[place]) if 0 <= place < len(rows) else (False, pandas.Series())


def find_events_by_name_patterns_using_symbol_table(df: pd.DataFrame, list_name_patterns: list[str],
                                                    symbol_table: TraceSymbolTable) -> pd.Series:
    """The column ``index`` of the rows whose name begins as one of the expressions says."""
    patterns = [re.compile(each) for each in list_name_patterns]
    numbers = symbol_table.those(lambda name: any(each.match(name) for each in patterns))
    found: pd.Series = df.loc[df["name"].isin(numbers), "index"]
    return found


def find_events_by_name_patterns_using_decoded_names(df: pd.DataFrame, list_name_patterns: list[str],
                                                     name_column: str = "s_name") -> pd.Series:
    """The same, of a column of texts."""
    found: set[int] = set()
    for pattern in list_name_patterns:
        found |= set(df.loc[df[name_column].str.match(pattern), "index"])
    rows: pd.Series = df.loc[list(found), "index"]
    return rows
