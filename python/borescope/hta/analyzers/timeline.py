"""Timelines of the kernels of several ranks, as figures of plotly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..common.trace import Trace
from ..common.trace_symbol_table import TraceSymbolTable

if TYPE_CHECKING:
    import pandas as pd

_PARTS = (r"\(.+\)", r"<[^<]+>?", r"^void\s+", r"\s+", r"autograd::engine::evaluate_function")


def _simplify_name(name: str) -> str:
    for part in _PARTS:
        name = re.sub(part, "", name)
    return name if len(name) < 45 else name[:42] + "..."


def _get_unique_values(df: pd.DataFrame, col: str, exclude_values: list[int] | None = None) -> list[int]:
    """The values of a column, sorted, without -1. ValueError where there is no such column."""
    if col not in df.columns:
        raise ValueError(f"the frame has no column {col!r}")
    left_out = [-1] if exclude_values is None else exclude_values
    return sorted(value for value in df[col].unique().tolist() if value not in left_out)


def figure_of_timeline(title: str, events: pd.DataFrame, ranks: list[int] | None = None) -> Any:
    """The figure of rows that have ``calibrated_start_global``, ``calibrated_end_global``, ``task`` and ``label``."""
    import plotly.express

    needed = ["calibrated_start_global", "calibrated_end_global", "task", "label"]
    if not set(needed) <= set(events.columns):
        raise ValueError(f"a timeline needs the columns {needed}")
    if ranks is None:
        ranks = sorted(events["rank"].unique()) if "rank" in events.columns else []
    shown = {"rank", "stream", "iteration", "s_cat", "cat", "s_name", "name", "dur"}
    return plotly.express.timeline(
        events, x_start=needed[0], x_end=needed[1], y="task", hover_data=sorted(shown & set(events.columns)),
        category_orders={"task": sorted(events["task"].unique())}, color="label",
        color_discrete_sequence=plotly.express.colors.qualitative.D3, width=1600, height=200 + 120 * len(ranks),
        title=title)


def plot_timeline(title: str, events: pd.DataFrame, ranks: list[int] | None = None) -> None:
    """Shows a timeline."""
    figure_of_timeline(title, events, ranks).show()


def prepare_timeline_gpu_events(df: pd.DataFrame, symbol_table: TraceSymbolTable, ranks: list[int] | None = None,
                                iterations: list[int] | None = None, streams: list[int] | None = None,
                                duration_threshold: int = 1000) -> pd.DataFrame:
    """The rows of these ranks, steps and streams (all unless given) with what a timeline needs. What is shorter than
    the threshold is drawn as long as that."""
    import pandas

    missing = {"iteration", "name", "cat", "rank", "stream", "ts"} - set(df.columns)
    if missing:
        raise ValueError(f"the frame has no columns {sorted(missing)}")
    chosen = {"rank": ranks, "iteration": iterations, "stream": streams}
    events = df
    for name, values in chosen.items():
        events = events[events[name].isin(_get_unique_values(df, name) if values is None else values)]
    events = events.copy()
    events["s_name"] = symbol_table.decoded(events["name"], _simplify_name)
    events["s_cat"] = symbol_table.decoded(events["cat"])
    ends = events["ts"] + events["dur"].clip(lower=duration_threshold)
    events["calibrated_start_global"] = pandas.to_datetime(events["ts"], unit="us")
    events["calibrated_end_global"] = pandas.to_datetime(ends, unit="us")
    events["label"] = events["s_name"]
    events["task"] = "rank " + events["rank"].astype("str") + " stream " + events["stream"].astype("str")
    return events.sort_values(by=["rank", "stream", "ts"])


def plot_timeline_gpu_kernels(title: str, df: pd.DataFrame, symbol_table: TraceSymbolTable,
                              ranks: list[int] | None = None, iterations: list[int] | None = None,
                              streams: list[int] | None = None, duration_threshold: int = 1000) -> None:
    """Shows the timeline of rows of several ranks."""
    plot_timeline(title, prepare_timeline_gpu_events(df, symbol_table, ranks, iterations, streams, duration_threshold))


def plot_timeline_gpu_kernels_from_trace(title: str, trace_data: Trace, ranks: list[int] | None = None,
                                         iterations: list[int] | None = None, streams: list[int] | None = None,
                                         duration_threshold: int = 1000) -> None:
    """The same of a trace."""
    import pandas

    chosen = [rank for rank in trace_data.get_all_traces() if ranks is None or rank in ranks]
    rows = pandas.concat([trace_data.get_trace(rank) for rank in chosen], keys=chosen, names=["rank", "idx"])
    plot_timeline_gpu_kernels(title, rows.reset_index(), trace_data.symbol_table, ranks, iterations, streams,
                              duration_threshold)
