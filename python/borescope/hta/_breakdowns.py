"""Where the time of devices went: temporal, kernel, annotation, idle and overlap breakdowns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._engine import Answered, Columns
from ._kernels import STATISTICS, decode, device_rows, folded, with_types
from ._symbols import TraceSymbolTable

if TYPE_CHECKING:
    import pandas as pd

    from .common.trace import Trace


def _in_order(answer: Answered, table: Columns, names: dict[str, str]) -> pd.DataFrame:
    """Columns of a table under other names, sorted by rank."""
    import pandas

    frame = pandas.DataFrame({"rank": answer.ranks_of(table),
                              **{ours: table.numbers(name) for name, ours in names.items()}})
    return frame.sort_values("rank", kind="stable", ignore_index=True)


def duration_type(trace: Trace, ranks: list[int]) -> str:
    """How pandas holds sums of durations: HTA's frames have fractions where a file has records
    without a duration."""
    return "float64" if trace.asker.ranks_with_other_phases() & set(ranks) else "int64"


def _narrow_type(trace: Trace, ranks: list[int]) -> Any:
    """The type of times of a frame whose times are all whole numbers: that of differences, which pandas
    does not widen as it does sums."""
    import numpy

    types = {numpy.result_type(frame["ts"], frame["dur"])
             for frame in (trace.get_trace(rank) for rank in ranks)}
    return types.pop() if len(types) == 1 else numpy.dtype("int64")


def temporal_breakdown(trace: Trace) -> pd.DataFrame:
    """As TraceAnalysis.get_temporal_breakdown."""
    answer = trace.asker.ask("breakdown")
    times = {"idle_us": "idle_time(us)", "compute_us": "compute_time(us)",
             "non_compute_us": "non_compute_time(us)", "kernel_us": "kernel_time(us)"}
    frame = _in_order(answer, answer["breakdown"], times)
    held = duration_type(trace, frame["rank"].tolist())
    frame = frame.astype({name: held for name in times.values()})
    if held == "int64":
        frame = frame.astype({"kernel_time(us)": _narrow_type(trace, frame["rank"].tolist())})
    for part in ("idle_time", "compute_time", "non_compute_time"):
        frame[f"{part}_pctg"] = round(100 * (frame[f"{part}(us)"] / frame["kernel_time(us)"]), 2)
    return frame


def overlap(trace: Trace) -> pd.DataFrame:
    """As TraceAnalysis.get_comm_comp_overlap."""
    import pandas

    found: dict[int, float] = {}
    answer = trace.asker.find("overlap")
    if answer is not None:
        table = answer["overlap"]
        found = {rank: percent for rank, percent in zip(
            answer.ranks_of(table).tolist(), table.objects("comp_comm_overlap_pctg").tolist())
            if percent is not None}
    ranks = sorted(trace.trace_files)
    percents = pandas.Series([found.get(rank) for rank in ranks], dtype="float64")
    return pandas.DataFrame({"rank": ranks, "comp_comm_overlap_pctg": percents})


def kernel_breakdown(trace: Trace, duration_ratio: float, num_kernels: int,
                     include_memory: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """As TraceAnalysis.get_gpu_kernel_breakdown."""
    types = ["COMPUTATION", "COMMUNICATION"] + (["MEMORY"] if include_memory else [])
    parts = []
    for rank in trace.traces:
        rows = with_types(device_rows(trace, rank), trace.symbol_table)
        rows["name"] = trace.symbol_table.decoded(rows["name"])
        for kernel_type in types:
            part = folded(rows[rows["kernel_type"] == kernel_type], num_kernels, duration_ratio)
            parts.append(part.assign(kernel_type=kernel_type, rank=int(rank)))
    kernels = _joined(parts, ["kernel_type", "name", "rank"], ["kernel_type", "rank"])
    return _kernel_types(trace, include_memory), kernels


def _joined(parts: list[pd.DataFrame], order: list[str], more: list[str]) -> pd.DataFrame:
    import pandas

    columns = ["name", "sum", "max", "min", "std", "mean", *more]
    frame = pandas.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    wide = {name: "int64" for name in ("sum", "max", "min", "rank") if frame[name].dtype.kind == "i"}
    return (frame[columns].astype(wide).sort_values(order, ignore_index=True)
            .rename(columns=STATISTICS))


def _kernel_types(trace: Trace, include_memory: bool) -> pd.DataFrame:
    import pandas

    given: dict[str, Any] = {} if include_memory else {"no_memory_kernels": True}
    answer = trace.asker.find("kernels", **given)
    if answer is None:
        frame = pandas.DataFrame({"kernel_type": pandas.Series(dtype="object"),
                                  "sum": pandas.Series(dtype="int64")})
    else:
        table = answer["kernel_types"]
        frame = pandas.DataFrame({"kernel_type": table.objects("type"),
                                  "sum": table.numbers("total_us")})
    frame = frame.sort_values("kernel_type").sort_values("sum", ascending=False, ignore_index=True)
    frame["percentage"] = (frame["sum"] / frame["sum"].sum()) * 100
    return frame.round({"percentage": 1})


def annotated_kernels(trace: Trace, rank: int, expand_names: bool,
                      shorten_names: bool) -> pd.DataFrame | None:
    """As TraceAnalysis.get_gpu_kernels_with_user_annotations."""
    frame = trace.get_trace(rank)
    symbols = trace.symbol_table
    frame["end"] = frame["ts"] + frame["dur"]
    frame["user_annotation"] = -1
    if "gpu_user_annotation" not in symbols.sym_index:
        return None
    annotations = frame[frame["cat"] == symbols.sym_index["gpu_user_annotation"]]
    syncs = symbols.those(lambda name: name in ("Event Sync", "Context Sync"))
    is_device = ((frame["stream"] >= 0) & (frame["correlation"] >= 0)) | frame["name"].isin(syncs)
    kernels = frame[is_device].copy()
    _annotate(kernels, annotations.sort_values("dur", ascending=False))
    if expand_names:
        decode(kernels, symbols, shorten_names)
    return kernels.reset_index(drop=True)


def _annotate(kernels: pd.DataFrame, annotations: pd.DataFrame) -> None:
    """Gives each kernel the shortest annotation of its line that it overlaps. Annotations come from
    long to short; kernels of other lines with the very same times take part, as in HTA."""
    for value in (kernels, annotations):
        if (value["dur"] < 0).any():
            raise ValueError("left side of interval must be <= right side: a row is -1 us long")
    begins, ends = kernels["ts"].to_numpy(), kernels["end"].to_numpy()
    labels = kernels["user_annotation"].to_numpy().copy()
    times = kernels.groupby(["ts", "end"]).ngroup().to_numpy()
    lines = annotations[["pid", "tid"]].drop_duplicates()
    for pid, tid in zip(lines["pid"], lines["tid"]):
        on_line = ((kernels["pid"] == pid) & (kernels["tid"] == tid)).to_numpy()
        here = annotations[(annotations["pid"] == pid) & (annotations["tid"] == tid)]
        shared = _shared_times(on_line, times)
        for begin, end, name in zip(here["ts"], here["end"], here["name"]):
            labels[shared & _meets(begins, ends, begin, end)] = name
    kernels["user_annotation"] = labels


def _shared_times(on_line: Any, times: Any) -> Any:
    """The kernels of a line, and those with the same begin and end as one of them."""
    import numpy

    return numpy.isin(times, times[on_line])


def _meets(begins: Any, ends: Any, begin: Any, end: Any) -> Any:
    """Which half-open intervals overlap another one by the rules of the installed pandas: since
    release 3 an empty interval overlaps nothing."""
    import pandas

    meets = (begins < end) & (begin < ends)
    if int(pandas.__version__.split(".")[0]) >= 3:
        meets &= (begins < ends) & (begin < end)
    return meets


def annotation_breakdown(trace: Trace, on_device: bool, duration_ratio: float, num_kernels: int,
                         patterns: list[str] | None) -> pd.DataFrame | None:
    """As TraceAnalysis.get_gpu_user_annotation_breakdown."""
    symbols = trace.symbol_table
    category = symbols.sym_index.get("gpu_user_annotation" if on_device else "user_annotation")
    if category is None:
        return None
    kept = None if patterns is None else _matched(symbols, patterns)
    parts = []
    for rank, frame in trace.traces.items():
        rows = frame[frame["cat"] == category].copy()
        rows["name"] = symbols.decoded(rows["name"])
        parts.append(folded(rows, num_kernels, duration_ratio, kept).assign(rank=int(rank)))
    return _joined(parts, ["rank", "name"], ["rank"])


def _matched(symbols: TraceSymbolTable, patterns: list[str]) -> set[str]:
    """The names that contain one of these texts, which HTA calls patterns."""
    return {name for name in symbols.sym_table if any(pattern in name for pattern in patterns)}


_IDLE = ["host_wait", "kernel_wait", "other"]
_WORK = {"kernel", "Kernel", "gpu_memset", "Memset", "gpu_memcpy", "Memcpy", "mtia_ccp_events"}


def idle_breakdown(trace: Trace, ranks: list[int], streams: list[int] | None, delay_us: float,
                   with_stats: bool) -> tuple[pd.DataFrame, pd.DataFrame | None]:
    """As TraceAnalysis.get_idle_time_breakdown."""
    import pandas

    frames, stats = [], []
    for rank in ranks:
        gaps = _gaps(trace, rank, streams, delay_us)
        frames.append(_idle_times(gaps, rank))
        stats.append(_idle_stats(gaps, rank))
    return pandas.concat(frames), pandas.concat(stats) if with_stats else None


def _gaps(trace: Trace, rank: int, streams: list[int] | None, delay_us: float) -> pd.DataFrame:
    """For all work the gap before it on its stream, and its category; streams in the order of the
    file, or as they were asked for."""
    import numpy
    import pandas

    frame = trace.get_trace(rank)
    categories = trace.symbol_table.those(_WORK.__contains__)
    work = frame[(frame["stream"] != -1) & frame["cat"].isin(categories)]
    starts = frame["ts"][~frame.index.duplicated()].reindex(work["index_correlation"])
    work = work[["stream", "ts", "dur"]].assign(called=starts.to_numpy())
    parts = []
    for stream in streams or list(work["stream"].unique()):
        part = work[work["stream"] == stream].sort_values(by="ts")
        before = (part["ts"] + part["dur"]).shift(1)
        gap = part["ts"] - before
        category = numpy.where(part["called"] > before, 0, numpy.where(gap < delay_us, 1, 2))
        parts.append(pandas.DataFrame({"stream": stream, "gap": gap, "category": category}))
    return pandas.concat(parts)


def _idle_times(gaps: pd.DataFrame, rank: int) -> pd.DataFrame:
    sums = gaps.groupby(["stream", "category"], sort=False)["gap"].sum().reset_index()
    order = sums["stream"].map({stream: place for place, stream in enumerate(gaps["stream"].unique())})
    sums = sums.assign(order=order).sort_values(["order", "category"], ignore_index=True)
    total = sums.groupby("order")["gap"].transform("sum")
    sums["idle_time_ratio"] = sums["gap"] / total
    sums["idle_category"] = sums["category"].map(dict(enumerate(_IDLE)))
    sums["rank"] = rank
    sums = sums.rename(columns={"gap": "idle_time"})
    return sums[["rank", "stream", "idle_category", "idle_time", "idle_time_ratio"]].round(2)


def _idle_stats(gaps: pd.DataFrame, rank: int) -> pd.DataFrame:
    import pandas

    parts = []
    for stream in gaps["stream"].unique():
        part = gaps[gaps["stream"] == stream].groupby("category")["gap"].describe()
        part.insert(0, "stream", stream)
        parts.append(part)
    table = pandas.concat(parts).round(2).rename(index=dict(enumerate(_IDLE)))
    table.index.name = "idle_category"
    table.insert(0, "rank", rank)
    return table
