"""Timelines of rows of frames, as figures of plotly."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from .trace_df import find_events_by_name_patterns_using_decoded_names, find_events_by_name_patterns_using_symbol_table
from .trace_filter import Filter, logger
from .trace_symbol_table import TraceSymbolTable

if TYPE_CHECKING:
    import pandas as pd

AnnotationStreamID = 0
CPUStreamID = -1
DefaultMustHaveColumns = ["name", "ts", "dur"]
DefaultHoverColumns = ["trace", "rank", "iteration", "stream", "cat", "index"]
DefaultTaskLabelColumns = ["stream", "rank", "trace", "depth"]
DefaultCallStackHoverColumns = ["name", "cat", "index", "ts", "dur", "rank", "stream", "height", "depth", "tid",
                                "index_correlation"]
REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT = {"index", "stream", "ts", "dur", "name", "first_kernel_start", "kernel_span",
                                          "num_kernels"}


class EventType(Enum):
    """Of which side the rows are."""

    GPUEvents = 0
    CPUEvents = 1
    AllEvents = 2


class PlotFormat(Enum):
    """What is done with a figure: returned as HTML, shown, or only written."""

    HTML = "html"
    Inline = "inline"
    File = "file"


@dataclass
class TimelinePlotSetting:
    """How a timeline is drawn. With ``auto_detect`` the rows decide what their lines are called after."""

    auto_detect: bool = True
    event_type: EventType = EventType.GPUEvents
    multi_ranks: bool = False
    multi_traces: bool = False
    multi_streams: bool = True
    x_start_column: str = "calibrated_start_global"
    x_end_column: str = "calibrated_end_global"
    task_column: str = "task"
    color_column: str = "name"
    task_height: int = 30
    amplify_short_events: bool = True
    short_events_display_duration: int = 1000
    use_global_time: bool = False
    plot_format: PlotFormat = PlotFormat.Inline
    compress_threads: bool = True


DefaultTimelinePlotSetting = TimelinePlotSetting()


def auto_detect_setting(events: pd.DataFrame, setting: TimelinePlotSetting) -> None:
    """Finds out of how many ranks, traces and streams rows are, and of which side."""
    if not setting.auto_detect:
        return

    def are_several(column: str) -> bool:
        return column in events.columns and events[column].nunique() > 1

    setting.multi_ranks, setting.multi_traces = are_several("rank"), are_several("trace")
    setting.multi_streams = are_several("stream")
    streams = events["stream"].unique().tolist() if "stream" in events.columns else [CPUStreamID]
    setting.event_type = (EventType.GPUEvents if CPUStreamID not in streams else
                          EventType.AllEvents if len(streams) > 1 else EventType.CPUEvents)


_KEPT = re.compile(r"##.+##$|<.+>$|Mem\w+(\s+\w+)?\s+\(.+\)$")
_NAME = re.compile(r"(?:void\s+)?([\w:.#\s<>,]+)(?:\(.+\))?")


def _simplify_name(name: str, max_length: int = 45) -> str:
    """A name without its arguments, and not longer than this."""
    if not _KEPT.match(name):
        name = re.sub(r"^void\s+", "", name.replace("(anonymous namespace)::", "anon::"))
        name = name.replace("autograd::engine::evaluate_function: ", "autograd::")
        found = _NAME.match(name)
        name = found[1] if found else name
    longest = max(20, max_length)
    return name if len(name) < longest else name[:longest - 3] + "..."


def _label(prefix: str, column: pd.Series) -> pd.Series:
    from pandas.api.types import is_string_dtype

    if is_string_dtype(column):
        return f"{prefix} " + column.str.pad(width=5, side="right")
    return f"{prefix} " + column.astype(str).str.zfill(3)


def _side_of(row: Any) -> str:
    if row["stream"] != CPUStreamID:
        is_annotation = row["stream"] == AnnotationStreamID
        return "gpu annotate" if is_annotation else "gpu stream " + str(row["stream"]).zfill(3)
    return "cpu level " + str(row["depth"]).zfill(3) if "depth" in row else "cpu events"


def _set_task_names(events: pd.DataFrame, setting: TimelinePlotSetting) -> pd.Series:
    """What the line of each row is called."""
    import pandas

    labels = [_label(name, events[name]) for name, are_several in
              (("trace", setting.multi_traces), ("rank", setting.multi_ranks)) if are_several]
    if setting.event_type == EventType.GPUEvents and setting.multi_streams:
        labels.append(_label("gpu stream", events["stream"]))
    elif setting.event_type == EventType.CPUEvents:
        if "tid" in events.columns and not setting.compress_threads:
            labels.append(_label("tid", events["tid"]))
        if "depth" in events.columns:
            labels.append(_label("cpu level", events["depth"]))
        if not labels:
            labels.append(pandas.Series("cpu events", index=events.index))
    else:
        labels.append(pandas.Series([_side_of(row) for row in events.to_dict("records")], index=events.index))
    tasks = labels[0]
    for label in labels[1:]:
        tasks = tasks + " " + label
    return tasks


def _sort_columns(events: pd.DataFrame, setting: TimelinePlotSetting) -> list[str]:
    names = ["trace"] * setting.multi_traces + ["rank"] * setting.multi_ranks
    if setting.event_type == EventType.CPUEvents:
        names += ["tid", "depth"]
    elif setting.event_type == EventType.AllEvents or setting.multi_streams:
        names.append("stream")
    return [name for name in [*names, "ts"] if name in events.columns]


def align_module_with_kernels(events_df: pd.DataFrame, module_list: list[str],
                              sym_table: TraceSymbolTable | None = None,
                              include_original_cpu_events: bool = False) -> pd.DataFrame:
    """The kernels, and host events of these names as annotations of stream 0, where their kernels ran. The frame needs
    the columns of a call graph."""
    import pandas
    from pandas.api.types import is_string_dtype

    missing = REQUIRED_COLUMNS_FOR_CPU_GPU_ALIGNMENT - set(events_df.columns)
    if missing:
        raise ValueError(f"the frame has no columns {sorted(missing)}; a CallGraph adds them")
    calls = events_df[(events_df["stream"] == CPUStreamID) & (events_df["num_kernels"] >= 1)]
    if sym_table is not None and not is_string_dtype(events_df["name"]):
        found = find_events_by_name_patterns_using_symbol_table(calls, module_list, sym_table)
    else:
        names = [name for name in ("name", "s_name") if name in events_df.columns and is_string_dtype(events_df[name])]
        if not names:
            raise ValueError("names are numbers: a table of names is needed, or the column `s_name`")
        found = find_events_by_name_patterns_using_decoded_names(calls, module_list, names[0])
    others = (events_df[events_df["stream"] != AnnotationStreamID] if include_original_cpu_events
              else events_df[events_df["stream"] > 0])
    annotations = calls.loc[found].copy()
    annotations["ts"] = annotations["first_kernel_start"].astype(int)
    annotations["dur"] = annotations["kernel_span"].astype(int)
    annotations["stream"] = AnnotationStreamID
    return pandas.concat([others, annotations], ignore_index=True)


def prepare_timeline_events(df: pd.DataFrame, setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
                            symbol_table: TraceSymbolTable | None = None,
                            hover_columns: list[str] | None = None) -> pd.DataFrame:
    """The rows with what a timeline needs: start, end and line of each. Without the columns it needs, an empty one."""
    import pandas

    if df.empty or not set(DefaultMustHaveColumns) <= set(df.columns):
        logger.error("a timeline needs rows with the columns %s", DefaultMustHaveColumns)
        return pandas.DataFrame()
    wanted = {*(hover_columns or DefaultHoverColumns), *DefaultMustHaveColumns, *DefaultTaskLabelColumns}
    events = df[[name for name in df.columns if name in wanted]].copy()
    auto_detect_setting(df, setting)
    if symbol_table is not None:
        events["name"] = symbol_table.decoded(events["name"], lambda name: _simplify_name(_simplify_name(name)))
        if "cat" in events.columns:
            events["cat"] = symbol_table.decoded(events["cat"], _simplify_name)
    begin = events["ts"].min()
    events["ts"] = events["ts"] - begin
    shown = events["dur"]
    if setting.amplify_short_events:
        least = setting.short_events_display_duration
        shown = shown.map(lambda dur: max(dur, least))
    times = {setting.x_start_column: events["ts"], setting.x_end_column: events["ts"] + shown}
    for name, values in times.items():
        events[name] = pandas.to_datetime(values + begin, unit="us") if setting.use_global_time else values
    events[setting.task_column] = _set_task_names(events, setting)
    return events.sort_values(by=_sort_columns(events, setting))


def figure_of_events(title: str, events: pd.DataFrame, setting: TimelinePlotSetting,
                     hover_columns: list[str] | None = None) -> Any:
    """The figure of a timeline."""
    import plotly.express

    tasks = sorted(events[setting.task_column].unique())
    if len(tasks) < 20:
        setting.task_height = 80
    figure = plotly.express.timeline(
        events, x_start=setting.x_start_column, x_end=setting.x_end_column, y=setting.task_column,
        hover_data=[name for name in hover_columns or DefaultHoverColumns if name in events.columns],
        category_orders={setting.task_column: tasks}, color=setting.color_column,
        color_discrete_sequence=plotly.express.colors.qualitative.D3,
        height=50 + setting.task_height * len(tasks), title=title)
    # Times are numbers, which plotly would take for dates.
    figure.layout.xaxis.type = "linear"
    for bars in figure.data:
        bars.x = events.loc[events[setting.color_column] == bars.name, "dur"].tolist()
    return figure.update_layout(
        xaxis_range=[events[setting.x_start_column].min(), events[setting.x_end_column].max()],
        xaxis={"showgrid": True, "rangeslider_visible": True}, paper_bgcolor="rgba(0,0,0,0)")


def plot_events_timeline(title: str, events: pd.DataFrame, setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
                         hover_columns: list[str] | None = None, output_image_path: str | None = None) -> str | None:
    """Draws rows of :func:`prepare_timeline_events`: shows them, returns them as HTML, or only writes a file."""
    needed = {setting.x_start_column, setting.x_end_column, setting.task_column, setting.color_column}
    if events.empty or not needed <= set(events.columns):
        logger.error("a timeline needs rows with the columns %s", sorted(needed))
        return None
    figure = figure_of_events(title, events, setting, hover_columns)
    if output_image_path:
        write = figure.write_html if output_image_path.endswith(".html") else figure.write_image
        write(output_image_path)
    # By value: a notebook that is reloaded has another class of the same members.
    if setting.plot_format.value == PlotFormat.Inline.value:
        figure.show()
    if setting.plot_format.value == PlotFormat.HTML.value:
        from plotly.io import to_html

        page: str = to_html(figure, include_plotlyjs="cdn")
        return page
    return None


def get_fig_title_from_fig_name(fig_name: str, sep: str = r"\s+|_+|-+") -> str:
    """``gpu_kernels`` as ``Gpu Kernels``."""
    return " ".join(word.capitalize() for word in re.split(sep, fig_name or "untitled_figure") if word)


def get_fig_name_from_fig_title(title: str) -> str:
    """``GPU Kernels`` as ``gpu_kernels``."""
    return "_".join(word.lower() for word in re.split(r"\s+", title or "Untitled Figure") if word)


class Timeline:
    """Rows, prepared for a timeline when they are given."""

    def __init__(self, timeline_events: pd.DataFrame, symbol_table: TraceSymbolTable,
                 filter_func: Filter | None = None, setting: TimelinePlotSetting = DefaultTimelinePlotSetting,
                 hover_columns: list[str] | None = None) -> None:
        self.timeline_events, self.symbol_table, self.setting = timeline_events, symbol_table, setting
        self.hover_columns: list[str] = hover_columns or DefaultHoverColumns
        self.prepare(filter_func)

    @staticmethod
    def is_timeline_events(df: pd.DataFrame, setting: TimelinePlotSetting) -> bool:
        """Whether rows are prepared already."""
        return {setting.task_column, setting.x_start_column, setting.x_end_column} <= set(df.columns)

    def prepare(self, filter_func: Filter | None = None) -> None:
        """Filters and prepares the rows."""
        if self.is_timeline_events(self.timeline_events, self.setting):
            return
        if filter_func is not None:
            self.timeline_events = filter_func(self.timeline_events, self.symbol_table).copy()
        self.timeline_events = prepare_timeline_events(self.timeline_events, self.setting, self.symbol_table)

    def plot(self, title: str, save_path: str | None = None) -> None:
        """Draws them."""
        plot_events_timeline(title, self.timeline_events, self.setting, self.hover_columns, save_path)
