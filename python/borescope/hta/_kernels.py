"""What several analyses need of frames: rows of the device, types of kernels, names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._symbols import TraceSymbolTable, kernel_type, short_name

if TYPE_CHECKING:
    import pandas as pd

    from .common.trace import Trace

STATISTICS = {"sum": "sum (us)", "max": "max (us)", "min": "min (us)", "std": "stddev",
              "mean": "mean (us)"}


def device_rows(trace: Trace, rank: int) -> pd.DataFrame:
    """A copy of the rows with a stream."""
    frame = trace.get_trace(rank)
    return frame[frame["stream"] != -1].copy()


def decode(frame: pd.DataFrame, symbols: TraceSymbolTable, shorten: bool) -> None:
    """Adds the texts of names as columns."""
    change = short_name if shorten else str
    frame["s_name"] = symbols.decoded(frame["name"], change)
    frame["s_cat"] = symbols.decoded(frame["cat"])
    if "user_annotation" in frame.columns:
        frame["s_user_annotation"] = symbols.decoded(frame["user_annotation"], change)


def with_types(rows: pd.DataFrame, symbols: TraceSymbolTable) -> pd.DataFrame:
    """The rows with HTA's type of each kernel."""
    rows["kernel_type"] = symbols.decoded(rows["name"], kernel_type)
    return rows


def folded(rows: pd.DataFrame, limit: int, ratio: float, kept: set[str] | None = None) -> pd.DataFrame:
    """Statistics of durations by name. Where there are more names than ``limit`` those beyond it,
    and those beyond a quantile of the running sums, become "others"; all statistics are those of
    the sums by name then, as in HTA."""
    how: Any = ["sum", "max", "min", "mean", "std"]
    table = rows.groupby("name")["dur"].agg(how).reset_index()
    table = table.sort_values(["sum"], ascending=False, ignore_index=True)
    if len(table) > limit:
        running = table["sum"].cumsum()
        small = (running > running.quantile(ratio)) | (table.index >= limit)
        # Without names to keep HTA keeps those whose sum is below 0: its rounding makes such times.
        small &= table["sum"] >= 0 if kept is None else ~table["name"].isin(kept)
        table.loc[small, "name"] = "others"
        table = table.groupby("name")["sum"].agg(how).reset_index()
    table["std"] = table["std"].fillna(0)
    return table
