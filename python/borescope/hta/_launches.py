"""Launches: their statistics, delays of operators, frequent sequences of kernels."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any

from .common.trace_file import read_trace

if TYPE_CHECKING:
    import pandas as pd

    from .common.trace import Trace

_CALLS = {"cudaLaunchKernel", "cudaLaunchKernelExC",
          "runFunction - job_prep_and_submit_for_execution"}
_MEMORY_CALLS = {"cudaMemcpyAsync", "cudaMemsetAsync"}


def launch_stats(trace: Trace, rank: int, with_memory: bool) -> pd.DataFrame:
    """As TraceAnalysis.get_cuda_kernel_launch_stats, of one rank."""
    frame = trace.get_trace(rank)
    calls = _CALLS | _MEMORY_CALLS if with_memory else _CALLS
    names = trace.symbol_table.those(calls.__contains__)
    numbers = frame.loc[frame["name"].isin(names), "correlation"]
    rows = frame.loc[frame["correlation"].isin(numbers), ["correlation", "dur", "ts", "stream"]]
    pairs = rows[rows["stream"] == -1].merge(rows[rows["stream"] != -1], on="correlation",
                                             suffixes=("_cpu", "_gpu"))
    delay = pairs["ts_gpu"] - pairs["ts_cpu"] - pairs["dur_cpu"]
    pairs["launch_delay"] = delay.clip(lower=0)
    pairs = pairs.rename(columns={"dur_cpu": "cpu_duration", "dur_gpu": "gpu_duration"})
    return pairs[["correlation", "cpu_duration", "gpu_duration", "launch_delay"]]


def operator_delays(trace: Trace, rank: int, sort_by: list[str]) -> pd.DataFrame:
    """As TraceAnalysis.get_aten_op_kernels_and_delay, of one rank."""
    import pandas

    trace.get_trace(rank)
    table = trace.asker.ask("delays", [rank])["delays"]
    frame = pandas.DataFrame({
        "aten_op_name": table.objects("aten_op_name"),
        "kernel_sequence": table.objects("kernel_sequence"),
        "occurrence_count": table.numbers("occurrence_count"),
        "avg_aten_op_launch_delay": table.numbers("avg_aten_op_launch_delay_us"),
        "avg_runtime_delay": table.numbers("avg_runtime_delay_us")})
    frame = frame.sort_values(["aten_op_name", "kernel_sequence"], ignore_index=True)
    return frame.sort_values(sort_by, ascending=False)


def frequent_sequences(trace: Trace, rank: int, operator: str, least: int) -> pd.DataFrame:
    """The frame of TraceAnalysis.get_frequent_cuda_kernel_sequences; empty where there are none."""
    import pandas

    trace.get_trace(rank)
    answer = trace.asker.find("sequences", [rank], operator=operator, min_length=least)
    if answer is None or not len(answer["sequences"]):
        return pandas.DataFrame()
    table = answer["sequences"]
    frame = pandas.DataFrame({
        "pattern": table.objects("pattern"), "count": table.numbers("count"),
        "GPU kernel duration (us)": table.numbers("gpu_kernel_us").astype("float64"),
        "CPU op duration (us)": table.numbers("cpu_op_us").astype("float64")})
    held = trace.traces[rank]["dur"].dtype
    if held.kind == "i":
        frame = frame.astype({name: "int64" for name in frame.columns[2:]})
    return frame.sort_values(["count", "pattern"], ascending=[False, True], ignore_index=True)


def with_patterns(trace: Trace, rank: int, operator: str, least: int) -> dict[str, Any]:
    """The trace of a rank with the sequences drawn on lines of their own."""
    with tempfile.TemporaryDirectory(prefix="borescope-") as folder:
        drawn = os.path.join(folder, "sequences.json")
        trace.asker.draw("sequences", rank, drawn, operator=operator, min_length=least)
        return read_trace(drawn)


def overlaid_name(trace: Trace, rank: int, folder: str) -> str:
    """Where the trace with sequences goes."""
    return os.path.join(folder, "overlaid_" + os.path.basename(trace.trace_files[rank]))
