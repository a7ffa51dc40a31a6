"""Ranks that begin the decisive communication kernels later than others, as HTA finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._symbols import TraceSymbolTable, step_number

if TYPE_CHECKING:
    import pandas as pd

    from .common.trace import Trace


def profiler_steps(trace: Trace) -> list[int]:
    """The numbers of all steps of all ranks, sorted."""
    found: set[int] = set()
    symbols = trace.symbol_table
    for frame in trace.traces.values():
        names = frame["name"].unique()
        found |= {step_number(symbols.sym_table[number]) for number in names
                  if symbols.sym_table[number].startswith("ProfilerStep")}
    return sorted(found - {-1})


def selected_rows(trace: Trace, steps: list[int]) -> pd.DataFrame:
    """The rows of all ranks in these steps, with columns ``rank`` and ``idx`` in front."""
    import pandas

    frames = trace.get_all_traces()
    rows = pandas.concat(list(frames.values()), keys=list(frames), names=["rank", "idx"])
    rows = rows.reset_index()
    return rows[rows["iteration"].isin(steps)]


def find_stragglers_with_late_start_comm_kernels(df: pd.DataFrame, symbol_table: TraceSymbolTable,
                                                 n_stragglers: int = 2,
                                                 visualize: bool = False) -> pd.Series:
    """How often each rank was among the last to start the communication kernel that varies most.

    Looks at the last kernel of each name, stream and step that takes a hundredth of a step or more.
    """
    long, kernels = _decisive_kernels(df, symbol_table)
    late = _late_ranks(kernels, max(1, n_stragglers))
    if visualize:
        from . import figures

        figures.show([*figures.straggler_timelines(df, long, kernels, symbol_table), figures.stragglers(kernels, late)])
    return late


def _decisive_kernels(df: pd.DataFrame, symbol_table: TraceSymbolTable) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The kernels that take long, and of these the last ones of the name and stream whose duration differs most between
    ranks."""
    steps = df["iteration"].unique()
    rows = df[df["iteration"].isin(steps[steps != -1])]
    begin = rows["ts"].min()
    step_us = ((rows["ts"] + rows["dur"]).max() - begin) / float((steps != -1).sum())
    names = symbol_table.those(lambda name: name.startswith("ncclKernel"))
    is_long = ((rows["stream"] > 0) & (rows["iteration"] > 0) & (rows["dur"] >= step_us * 0.01)
               & rows["name"].isin(names))
    keys = ["rank", "stream", "iteration", "name"]
    long = rows[is_long]
    last = long.groupby(keys, as_index=False).last()
    last["normalized_start_time"] = (last["ts"] - begin) / step_us
    last["duration"] = last["dur"] / step_us
    spread = last.groupby(["stream", "iteration", "name"])["duration"].std()
    stream, name = spread.groupby(["stream", "name"]).mean().idxmax()
    return long, last[(last["stream"] == stream) & (last["name"] == name)]


def _late_ranks(kernels: pd.DataFrame, count: int) -> pd.Series:
    """Of each step the ranks that start no earlier than the ``count``-th last one."""
    metric = "normalized_start_time"

    def is_late(starts: Any) -> Any:
        return (starts >= starts.sort_values(ascending=False).tolist()[count - 1]).astype("int64")

    late = kernels[["rank"]].assign(
        is_straggler=kernels.groupby("iteration")[metric].transform(is_late))
    if kernels["iteration"].nunique() > 1:
        return late.groupby("rank")["is_straggler"].sum()
    return late.set_index("rank")["is_straggler"]
