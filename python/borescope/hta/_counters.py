"""Time series: lengths of queues and rates of copies; what profiler ranges measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._kernels import decode, device_rows, with_types

if TYPE_CHECKING:
    import pandas as pd

    from .common.trace import Trace

_LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx",
             "cudaMemcpyAsync", "cudaMemsetAsync",
             "runFunction - job_prep_and_submit_for_execution", "hipLaunchKernel",
             "hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync",
             "hipMemcpyWithStream"}


def queue_lengths(trace: Trace, rank: int) -> pd.DataFrame | None:
    """As one frame of TraceAnalysis.get_queue_length_time_series; None without launches."""
    import pandas

    frame = trace.get_trace(rank)
    names = trace.symbol_table.those(_LAUNCHES.__contains__)
    calls = frame[frame["name"].isin(names) & (frame["index_correlation"] > 0)]
    work = frame[frame["stream"] != -1]
    place = work[["stream", "pid", "tid", "correlation"]].set_index("correlation")
    begun = calls[["index", "ts", "correlation"]].join(place, on="correlation").assign(change=1)
    ended = work[work["correlation"].isin(calls["correlation"])].assign(change=-1)
    if len(begun) != len(ended):
        raise AssertionError(f"rank {rank}: {len(begun)} launches and {len(ended)} rows of the device "
                             "share correlation numbers; borescope.open(...).queue() counts each")
    columns = ["index", "ts", "pid", "tid", "stream", "change"]
    points = pandas.concat([begun[columns], ended[columns]]).sort_values(by="ts").set_index("index")
    points["queue_length"] = points.groupby("stream")["change"].cumsum()
    parts = [part for _, part in points.groupby("stream")]
    return pandas.concat(parts)[["ts", "pid", "tid", "stream", "queue_length"]] if parts else None


def queue_summary(series: dict[int, pd.DataFrame]) -> pd.DataFrame | None:
    """As TraceAnalysis.get_queue_length_summary_from_time_series."""
    return _described(series, "stream", "queue_length")


def _described(series: dict[int, pd.DataFrame], key: str, value: str) -> pd.DataFrame | None:
    import pandas

    parts = []
    for rank, frame in series.items():
        frame["rank"] = rank
        parts.append(frame[["rank", key, value]].groupby(["rank", key]).describe())
    return pandas.concat(parts) if parts else None


def blocked_time(trace: Trace, series: dict[int, pd.DataFrame], limit: int) -> pd.DataFrame | None:
    """As TraceAnalysis.get_time_spent_blocked_on_full_queue: of each rank the last stream."""
    import pandas

    rows: dict[int, list[Any]] = {}
    for rank, frame in series.items():
        for stream in frame["stream"].unique():
            points = frame[frame["stream"] == stream]
            lasting = points["ts"].shift(-1) - points["ts"]
            is_full = points["queue_length"] >= limit
            if is_full.any():
                blocked = lasting[is_full].sum()
                rows[rank] = [stream, blocked, blocked * 1.0 / trace.get_trace_duration(rank)]
    columns = ["stream", "duration_at_max_queue_length", "relative_duration_at_max_queue_length"]
    table = pandas.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.reset_index(names="rank")


def _label(name: str) -> str:
    """"Memcpy HtoD (Pageable -> Device)" is "Memcpy HtoD"."""
    if name.startswith("Memset"):
        return "Memset"
    return name[:len("Memcpy HtoD")] if name.startswith("Memcpy") else "Memcpy Unknown"


def copy_rates(trace: Trace, rank: int) -> pd.DataFrame | None:
    """As one frame of TraceAnalysis.get_memory_bw_time_series; None without copies."""
    import pandas

    rows = with_types(device_rows(trace, rank), trace.symbol_table)
    copies = rows[rows["kernel_type"] == "MEMORY"].copy()
    copies["name"] = trace.symbol_table.decoded(copies["name"], _label)
    begun = copies[["ts", "pid", "name", "memory_bw_gbps"]]
    ended = begun.assign(ts=copies["ts"] + copies["dur"].where(copies["dur"] != 0, 1),
                         memory_bw_gbps=-copies["memory_bw_gbps"])
    points = pandas.concat([begun, ended], ignore_index=True).sort_values(by="ts")
    # Not groupby's own sum, which compensates for rounding where HTA's does not.
    parts = [part.assign(memory_bw_gbps=part["memory_bw_gbps"].cumsum())
             for _, part in points.groupby("name")]
    return pandas.concat(parts) if parts else None


def rate_summary(series: dict[int, pd.DataFrame]) -> pd.DataFrame | None:
    """As TraceAnalysis.get_memory_bw_summary: of the points above 0."""
    return _described({rank: frame[frame["memory_bw_gbps"] > 0].copy()
                       for rank, frame in series.items()}, "name", "memory_bw_gbps")


def counters_with_operators(trace: Trace, rank: int) -> pd.DataFrame | None:
    """As one frame of TraceAnalysis.get_cupti_counter_data_with_operators, but for the columns of
    HTA's call graph; None where ranges and launches do not pair."""
    symbols = trace.symbol_table
    frame = trace.get_trace(rank)
    decode(frame, symbols, False)
    ranges = frame[frame["s_cat"] == "cuda_profiler_range"].sort_values("ts").reset_index(drop=True)
    is_launch = (frame["s_cat"].str.startswith("cuda_runtime")
                 & frame["s_name"].str.startswith("cudaLaunchKernel"))
    launches = frame[is_launch].sort_values("ts").reset_index(drop=True)
    if len(launches) != len(ranges):
        return None
    table = trace.asker.ask("counters", [rank])["counters"]
    ranges["index_runtime"] = launches["index"]
    stacks = {text: text.split(" -> ") for text in table.texts("op_stack")[1]}
    ranges["op_stack"] = [stacks.get(text, []) for text in table.objects("op_stack").tolist()]
    ranges["top_level_op"] = ranges["op_stack"].str[0]
    ranges["bottom_level_op"] = ranges["op_stack"].str[-1]
    ranges["name"] = ranges["s_name"]
    ranges["cat"] = ranges["s_cat"]
    return ranges.drop(columns=["s_cat", "s_name"])
