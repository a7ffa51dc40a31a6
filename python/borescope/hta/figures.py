"""Plotly figures of the frames of this package; each function returns one.

>>> from borescope.hta import figures                       # doctest: +SKIP
>>> figures.temporal_breakdown(analysis.get_temporal_breakdown(visualize=False))  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

    from ._symbols import TraceSymbolTable


def show(figures: Figure | Iterable[Figure], renderer: str | None = None) -> None:
    """Shows figures, as ``visualize=True`` does."""
    from plotly.basedatatypes import BaseFigure

    for figure in [figures] if isinstance(figures, BaseFigure) else figures:
        figure.show(renderer=renderer or None)


def can_show() -> bool:
    """Whether there is plotly. Without it ``visualize=True`` shows nothing."""
    import importlib.util

    return importlib.util.find_spec("plotly") is not None


def _bars(frame: pd.DataFrame, title: str, **given: Any) -> Figure:
    import plotly.express

    figure: Figure = plotly.express.bar(frame, title=title, **given)
    return figure


def temporal_breakdown(frame: pd.DataFrame) -> Figure:
    """Parts of the time of each rank, stacked."""
    shares = frame[["rank"]].assign(**{part: frame[f"{part}(us)"] / frame["kernel_time(us)"]
                                       for part in ("idle_time", "compute_time", "non_compute_time")})
    figure = _bars(shares, "Temporal breakdown across ranks", x="rank",
                   y=["idle_time", "compute_time", "non_compute_time"], labels={"rank": "Rank"})
    return figure.update_layout(yaxis_tickformat=".2%", yaxis_title="Percentage",
                                legend_title="Time Breakdown")


def comm_comp_overlap(frame: pd.DataFrame) -> Figure:
    """The part of communication behind which there is computation, by rank."""
    shares = frame.assign(comp_comm_overlap_ratio=frame["comp_comm_overlap_pctg"] / 100)
    name = "Computation-Communication Overlap"
    figure = _bars(shares, name, x="rank", y="comp_comm_overlap_ratio",
                   labels={"rank": "Rank", "comp_comm_overlap_ratio": f"{name} Percentage"})
    return figure.update_layout(yaxis_tickformat=".2%")


def kernel_types(frame: pd.DataFrame) -> Figure:
    """A pie of the time of each type of kernels."""
    import plotly.express

    figure: Figure = plotly.express.pie(frame[frame["percentage"] > 0], values="percentage",
                                        names="kernel_type", height=500,
                                        title="Kernel Type Percentage Across All Ranks")
    return figure.update_layout(margin={side: 50 for side in "lrbt"}, showlegend=True,
                                legend={"yanchor": "bottom", "y": -0.4, "xanchor": "left", "x": 0})


def _pies(frame: pd.DataFrame, title: str) -> Figure:
    """A pie for each rank, two in a row."""
    from plotly import graph_objects, subplots

    ranks = list(frame["rank"].unique())
    rows = (len(ranks) + 1) // 2
    figure: Figure = subplots.make_subplots(rows=rows, cols=2, specs=[[{"type": "domain"}] * 2] * rows)
    for place, rank in enumerate(ranks):
        part = frame[frame["rank"] == rank]
        pie = graph_objects.Pie(labels=part["name"], values=part["sum (us)"], title=f"Rank {rank}",
                                automargin=False)
        figure.add_trace(pie, place // 2 + 1, place % 2 + 1)
    return figure.update_layout(title_text=title, margin={side: 50 for side in "lrbt"},
                                showlegend=True, height=400 * (1 + len(ranks) / 2),
                                legend={"yanchor": "bottom", "y": -0.1, "xanchor": "left", "x": 0})


def _means(frame: pd.DataFrame, title: str) -> list[Figure]:
    """For each name its mean duration by rank, with smallest and largest."""
    figures = []
    for name in frame["name"].unique():
        if name == "others":
            continue
        part = frame[frame["name"] == name]
        mean = part["mean (us)"]
        figure = _bars(part, title.format(name), x="rank", y="mean (us)",
                       labels={"rank": "Rank", "mean (us)": "Mean Duration (us)"},
                       error_y=part["max (us)"] - mean, error_y_minus=mean - part["min (us)"])
        figures.append(figure.update_layout(xaxis={"tickmode": "linear", "tick0": 0, "dtick": 1}))
    return figures


def kernels_by_rank(frame: pd.DataFrame, kernel_type: str) -> Figure:
    """The kernels of a type, a pie for each rank."""
    return _pies(frame[frame["kernel_type"] == kernel_type],
                 f'Kernel type "{kernel_type}" - kernel distribution on each rank')


def kernel_durations(frame: pd.DataFrame, kernel_type: str) -> list[Figure]:
    """Mean durations by rank of each kernel of a type."""
    return _means(frame[frame["kernel_type"] == kernel_type], f'Kernel type "{kernel_type}" - {{}}')


def annotations_by_rank(frame: pd.DataFrame) -> Figure:
    """The annotations, a pie for each rank."""
    return _pies(frame, "User annotation distribution on each rank")


def annotation_durations(frame: pd.DataFrame) -> list[Figure]:
    """Mean durations by rank of each annotation."""
    return _means(frame, "User annotation = {}")


def idle_time(frame: pd.DataFrame, as_share: bool = True) -> list[Figure]:
    """Idle time of streams by category; a figure for each rank."""
    figures = []
    for rank in frame["rank"].unique():
        part = frame[frame["rank"] == rank].astype({"stream": str})
        figure = _bars(part, f"Idle time breakdown on rank {rank} per CUDA stream", x="stream",
                       y="idle_time_ratio" if as_share else "idle_time", color="idle_category",
                       hover_data=["idle_time", "idle_time_ratio"])
        layout = ({"yaxis_tickformat": ".2%", "yaxis_title": "Percentage",
                   "legend_title": "Idle Time Breakdown"} if as_share else
                  {"yaxis_title": "Idle time (us)", "legend_title": "Idle Time Breakdown"})
        figures.append(figure.update_layout(**layout))
    return figures


def _histogram(values: pd.Series, title: str, label: str, **given: Any) -> Figure:
    import plotly.express

    figure: Figure = plotly.express.histogram(values.to_frame(), x=values.name, title=title,
                                              labels={str(values.name): label}, **given)
    return figure


def short_kernels(frame: pd.DataFrame, rank: int, runtime_cutoff: int = 50) -> Figure:
    """Calls that took longer than the work they started."""
    rows = frame[(frame["cpu_duration"] <= runtime_cutoff)
                 & (frame["gpu_duration"] < frame["cpu_duration"])]
    title = f"Short GPU kernels (gpu op duration < cpu op duration) on rank {rank}"
    return _histogram(rows["cpu_duration"], title, "Cuda Runtime Event Duration (us)")


def long_calls(frame: pd.DataFrame, rank: int, runtime_cutoff: int = 50) -> Figure:
    """Calls that took long."""
    rows = frame[frame["cpu_duration"] > runtime_cutoff]
    title = f"Runtime Event Duration Outliers (duration > {runtime_cutoff} us) on rank {rank}"
    return _histogram(rows["cpu_duration"], title, "Cuda Runtime Event Duration (us)", nbins=300)


def long_delays(frame: pd.DataFrame, rank: int, launch_delay_cutoff: int = 100) -> Figure:
    """Work that began long after it was launched."""
    rows = frame[frame["launch_delay"] > launch_delay_cutoff]
    title = f"Launch Delay Outliers (duration > {launch_delay_cutoff} us) on rank {rank}"
    return _histogram(rows["launch_delay"], title, "Launch Delay Duration (us)", nbins=300)


def operator_delays(frame: pd.DataFrame, rank: int) -> Figure:
    """The delays of operators as a table."""
    from plotly import graph_objects

    heads = ["ATen Operation", "Kernel Sequence", "Occurrence Count",
             "Average ATen Op Launch Delay (us)", "Average Runtime Delay (us)"]
    cells = [frame[name] for name in frame.columns]
    figure = graph_objects.Figure(graph_objects.Table(
        header={"values": heads}, cells={"values": cells, "height": 30, "align": "left"}))
    title = f"ATen Operations, Associated Kernels, ATen and Runtime Delays for Rank {rank}"
    return figure.update_layout(title=title, width=1500, height=1500)


def frequent_sequences(frame: pd.DataFrame, rank: int, top_k: int = 5) -> Figure:
    """How often the most frequent sequences of kernels occur."""
    rows = frame.head(top_k)
    rows = rows.assign(pattern=rows["pattern"].str.replace("|", "<br>", regex=False))
    figure = _bars(rows, f"Top {len(rows)} frequent patterns for rank {rank}", x=rows.index, y="count",
                   hover_data=["pattern", "count"],
                   labels={"x": "Pattern Index", "count": "Pattern Count"})
    return figure.update_xaxes(type="category")


def straggler_timelines(df: pd.DataFrame, long: pd.DataFrame, kernels: pd.DataFrame,
                        symbol_table: TraceSymbolTable) -> list[Figure]:
    """When the communication kernels that take long ran, and when the decisive ones, on every rank."""
    from .analyzers.timeline import _get_unique_values, figure_of_timeline, prepare_timeline_gpu_events

    steps, ranks = _get_unique_values(df, "iteration"), _get_unique_values(df, "rank")
    parts = [("Timeline of Communication Kernels Longer Than 1.00% of Iteration Time\n", long, 2000),
             (f"Timeline of Candidate Kernels (Iterations={steps})", kernels, 1000)]
    return [figure_of_timeline(title, prepare_timeline_gpu_events(rows, symbol_table, ranks,
                                                                  duration_threshold=threshold))
            for title, rows, threshold in parts]


def stragglers(kernels: pd.DataFrame, late: pd.Series) -> Figure:
    """When each rank began the decisive kernel of each step."""
    words = kernels["rank"].map((late > 0).groupby(level=0).any()).map({True: "Yes", False: "No"})
    rows = kernels.assign(is_straggler=words)
    several = rows["iteration"].nunique() > 1
    return _bars(rows, "Potential Stragglers", x="rank", y="normalized_start_time",
                 facet_col="iteration" if several else None, color="is_straggler",
                 color_discrete_map={"Yes": "red", "No": "blue"},
                 width=300 * rows["iteration"].nunique())


MEMORY_COLORS = {"Parameter": "darkgreen", "Optimizer state": "goldenrod", "Input": "black",
                 "Temporary": "mediumpurple", "Activation": "red", "Gradient": "mediumblue",
                 "Autograd": "royalblue", "Unknown": "grey"}


def memory_timeline(times: Any, sizes: Any) -> Figure:
    """Memory by category over time, stacked; of what MemoryAnalysis reads."""
    import numpy
    from plotly import graph_objects

    moments = numpy.asarray(times)
    stacked = numpy.cumsum(numpy.asarray(sizes), axis=1) / 1024**3
    figure = graph_objects.Figure()
    for place, (category, color) in enumerate(MEMORY_COLORS.items()):
        figure.add_trace(graph_objects.Scatter(
            x=(moments - moments.min()) / 1e6, y=stacked[:, place], mode="lines", fill="tonexty",
            fillcolor=color, name=category, marker={"color": color}, showlegend=True))
    figure.update_xaxes(title="Time (ms)")
    figure.update_yaxes(title="Memory (GB)")
    return figure.update_layout(title_text="Memory timeline", title_x=0.5, width=1200, height=800)


def trace_diff(frame: pd.DataFrame, of: str) -> Figure:
    """Counts (``of="counts"``) or durations (``of="duration"``) of two traces side by side."""
    from plotly import graph_objects

    column = "counts" if of == "counts" else "total_duration"
    both = [name for name in frame.columns if name.endswith(f"_{column}")]
    shown = [*both, f"diff_{of}"]
    bars = [graph_objects.Bar(name=name, x=frame.index, y=frame[name]) for name in shown]
    words = "Counts" if of == "counts" else "Total Duration (us)"
    return graph_objects.Figure(bars).update_layout(
        barmode="group", title=f"Operators of both traces: {words}", yaxis_title=words)
