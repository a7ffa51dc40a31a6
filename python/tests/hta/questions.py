"""The questions that HTA and borescope.hta are both asked, and how answers are compared."""

from __future__ import annotations

import gzip
import importlib
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

Question = Callable[[Any], Any]


def _series(analysis: Any, name: str) -> Any:
    return getattr(analysis, name)(ranks=analysis.t.get_ranks())


def _blocked(analysis: Any) -> Any:
    series = analysis.get_queue_length_time_series(ranks=analysis.t.get_ranks())
    return analysis.get_time_spent_blocked_on_full_queue(series, max_queue_length=2)


def _sequences(analysis: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        rank = analysis.t.get_ranks()[0]
        return analysis.get_frequent_cuda_kernel_sequences("aten::", folder, rank=rank)


# Which of the two an edge is can depend on how an unstable sort orders equal times in HTA.
_DELAYS = {"critical_path_kernel_launch_delay", "critical_path_kernel_kernel_delay"}


def _path(analysis: Any, annotation: str) -> Any:
    found = analysis.critical_path_analysis(analysis.t.get_ranks()[0], annotation, 0)
    if found is None:
        return None
    graph, is_valid = found
    edges = {(begin, end, data["object"].type.value, data["object"].weight, data["weight"])
             for begin, end, data in graph.edges(data=True)}
    rows = graph.get_critical_path_breakdown()
    order = ["event_idx", "type", "duration"]
    return {"valid": is_valid, "edges": {edge for edge in edges if edge[2] not in _DELAYS}, "nodes": [
                (node.idx, node.ev_idx, node.ts, node.is_start, node.is_blocking)
                for node in graph.node_list],
            "path": list(graph.critical_path_nodes), "events": graph.critical_path_events_set,
            "delayed": {edge[1] for edge in edges if edge[2] in _DELAYS},
            "attribution": {(edge.begin, edge.end): graph.get_event_attribution_for_edge(edge)
                            for edge in graph.critical_path_edges_set},
            "breakdown": rows.drop(columns="cat").sort_values(order, ignore_index=True),
            "summary": graph.summary(),
            "trace_df": graph.trace_df["index"].tolist()}


def _frames(analysis: Any) -> Any:
    return {rank: _decoded(analysis.t, analysis.t.get_trace(rank)) for rank in analysis.t.get_ranks()}


def _decoded(trace: Any, frame: Any) -> Any:
    """Numbers of names differ from run to run: the names themselves are compared."""
    names = trace.symbol_table.get_sym_table()
    made = frame.copy()
    for column in ("cat", "name", "user_annotation"):
        if column in made.columns and made[column].dtype.kind == "i":
            made[column] = [names[number] if number >= 0 else "" for number in made[column].tolist()]
    return made


def _annotated(analysis: Any) -> Any:
    frame = analysis.get_gpu_kernels_with_user_annotations(analysis.t.get_ranks()[0])
    return None if frame is None else _decoded(analysis.t, frame)


def _module(analysis: Any, name: str) -> Any:
    """Another module of the package that an analysis is of."""
    package = type(analysis).__module__.rsplit(".", 1)[0]
    return importlib.import_module(f"{package}.{name}")


def _diff(analysis: Any) -> Any:
    """The first step of a run against its last one, as HTA compares runs."""
    module = _module(analysis, "trace_diff")
    traces = [module.LabeledTrace(label, t=_module(analysis, "common.trace").Trace(
        dict(analysis.t.trace_files))) for label in ("first", "last")]
    steps, ranks = traces[0].iterations(), traces[0].ranks()
    given = {"control_iteration": steps[0], "test_iteration": [steps[-1]], "test_rank": ranks[-1]}
    rows = [_decoded(traces[0].t, traces[0].extract_ops(iteration=steps[-1], device_type=side))
            for side in module.DeviceType]
    sums = traces[0].get_ops_summary(traces[0].extract_ops(rank=ranks[-1]))
    sums = sums.drop(columns=["cat_id", "name_id"]).sort_values(["cat", "name"], ignore_index=True)
    return [steps, *rows, sums, module.TraceDiff.compare_traces(*traces, **given),
            module.TraceDiff.compare_traces(*traces, **given, use_short_name=True,
                                            device_type=module.DeviceType.GPU),
            module.TraceDiff.ops_diff(*traces, **given)]


def _with_last_step(analysis: Any) -> Any:
    again = type(analysis)(trace_files=dict(analysis.t.trace_files), include_last_profiler_step=True)
    return {"frames": _frames(again), "steps": again.get_profiler_steps(),
            "breakdown": again.get_temporal_breakdown(visualize=False)}


def _counters(analysis: Any) -> Any:
    """The counter events that are written into a copy of the trace."""
    written: list[Any] = []
    analysis.t.write_raw_trace = lambda name, content: written.append((name, content))
    analysis.generate_trace_with_counters(ranks=_ranks(analysis)[:1])
    del analysis.t.write_raw_trace
    name, content = written[0]
    return [os.path.basename(name), [event for event in content["traceEvents"] if event["ph"] == "C"
                   and event["name"].startswith(("Queue", "Mem"))]]


def _overlay(analysis: Any) -> Any:
    """The events that are marked as critical, and the ends of arrows."""
    rank = _ranks(analysis)[0]
    found = analysis.critical_path_analysis(rank, "ProfilerStep", 0)
    if found is None:
        found = analysis.critical_path_analysis(rank, "", 0)
    with tempfile.TemporaryDirectory() as folder:
        path = analysis.overlay_critical_path_analysis(rank, found[0], folder,
                                                       only_show_critical_events=False)
        with open(path, "rb") as file:
            text = file.read()
        # HTA compresses whatever the name of the file ends in.
        is_packed = text.startswith(b"\x1f\x8b")
        events = json.loads(gzip.decompress(text) if is_packed else text)["traceEvents"]
    # Without their times, which HTA sums as doubles: at Unix time these round to a quarter of a us.
    arrows = sorted((event["ph"], event["pid"], event["tid"], event["args"]["type"],
                     int(event["args"]["weight"]))
                    for event in events if event.get("cat") == "critical_path")
    return {"name": path.rsplit("/", 1)[1], "arrows": arrows, "marked": [
        index for index, event in enumerate(events)
        if isinstance(event.get("args"), dict) and event["args"].get("critical") == 1
        and event.get("cat") != "critical_path"]}


def _ranks(analysis: Any) -> list[int]:
    return list(analysis.t.get_ranks())


QUESTIONS: dict[str, Question] = {
    "get_trace": _frames,
    "trace": lambda a: [a.t.get_ranks(), a.t.get_iterations(), a.t.get_trace_duration(),
                        a.t.get_device_type(), int(a.t.min_ts)],
    "get_temporal_breakdown": lambda a: a.get_temporal_breakdown(visualize=False),
    "get_comm_comp_overlap": lambda a: a.get_comm_comp_overlap(visualize=False),
    "get_gpu_kernel_breakdown": lambda a: a.get_gpu_kernel_breakdown(visualize=False),
    "get_gpu_kernel_breakdown(3, 0.5)": lambda a: a.get_gpu_kernel_breakdown(
        visualize=False, num_kernels=3, duration_ratio=0.5, include_memory_kernels=False),
    "get_gpu_user_annotation_breakdown": lambda a: a.get_gpu_user_annotation_breakdown(
        visualize=False),
    "get_gpu_user_annotation_breakdown(host)": lambda a: a.get_gpu_user_annotation_breakdown(
        visualize=False, use_gpu_annotation=False, num_kernels=2, allowlist_patterns=["Step"]),
    "get_idle_time_breakdown": lambda a: a.get_idle_time_breakdown(
        ranks=_ranks(a), visualize=False, show_idle_interval_stats=True),
    "get_cuda_kernel_launch_stats": lambda a: a.get_cuda_kernel_launch_stats(
        ranks=_ranks(a), visualize=False),
    "get_cuda_kernel_launch_stats(no memory)": lambda a: a.get_cuda_kernel_launch_stats(
        ranks=_ranks(a), visualize=False, include_memory_events=False),
    "get_queue_length_time_series": lambda a: _series(a, "get_queue_length_time_series"),
    "get_queue_length_summary": lambda a: _series(a, "get_queue_length_summary"),
    "get_time_spent_blocked_on_full_queue": _blocked,
    "get_memory_bw_time_series": lambda a: _series(a, "get_memory_bw_time_series"),
    "get_memory_bw_summary": lambda a: _series(a, "get_memory_bw_summary"),
    "generate_trace_with_counters": _counters,
    "overlay_critical_path_analysis": _overlay,
    "include_last_profiler_step": _with_last_step,
    "TraceDiff": _diff,
    "get_profiler_steps": lambda a: a.get_profiler_steps(),
    "get_potential_stragglers": lambda a: a.get_potential_stragglers(),
    "critical_path_analysis": lambda a: _path(a, ""),
    "critical_path_analysis(step)": lambda a: _path(a, "ProfilerStep"),
    # What follows adds columns to HTA's frames.
    "get_gpu_kernels_with_user_annotations": _annotated,
    "get_aten_op_kernels_and_delay": lambda a: a.get_aten_op_kernels_and_delay(ranks=_ranks(a)[:1]),
    "get_frequent_cuda_kernel_sequences": _sequences,
    "get_cupti_counter_data_with_operators": lambda a: a.get_cupti_counter_data_with_operators(
        ranks=_ranks(a)[:1]),
}


# --- parts of HTA that its notebooks import by themselves


def _part(analysis: Any, name: str) -> Any:
    """A module of the package that the analysis is of."""
    return _module(analysis, name)


def _fresh(analysis: Any) -> Any:
    """The same traces as parsed, with names as texts; call graphs add columns to frames."""
    trace = _part(analysis, "common.trace").Trace(trace_files=dict(analysis.t.trace_files))
    trace.parse_traces(use_multiprocessing=False)
    trace.decode_symbol_ids()
    return trace


def _filters(analysis: Any) -> Any:
    trace = _fresh(analysis)
    filters = _part(analysis, "common.trace_filter")
    rank = trace.get_ranks()[0]
    frame, symbols = trace.get_trace(rank), trace.symbol_table
    begin, end = int(frame["ts"].min()), int(frame["ts"].max())
    step = int(frame["iteration"].max())
    kinds = {"iteration": filters.IterationFilter(step), "index": filters.IterationIndexFilter([0, 5]),
             "first": filters.FirstIterationFilter(), "rank": filters.RankFilter(0),
             "time": filters.TimeRangeFilter((begin, (begin + end) // 2)), "name": filters.NameFilter("aten::|.*kernel"),
             "device": filters.GPUKernelFilter(), "host": filters.CPUOperatorFilter(), "query": filters.QueryFilter("dur > 3"),
             "copies": filters.MemCopyEventFilter("Memcpy DtoD (Device -> Device)"),
             "both": filters.CompositeFilter([filters.GPUKernelFilter(), filters.NameFilter(".*kernel")])}
    return {f"{name} {bool(table)}": kind(frame, table)["index"].tolist() if len(kind(frame, table)) else []
            for name, kind in kinds.items() for table in (symbols, None) if name != "copies" or table}


def _cells(frame: Any) -> dict[str, list[Any]]:
    """The columns as lists, which are the same for every release of pandas: times in microseconds."""
    def cells(column: Any) -> list[Any]:
        if column.dtype.kind == "M":
            return [int(each.timestamp() * 1e6 + 0.5) for each in column]
        return [str(column.dtype) if column.dtype.kind in "if" else "text", *column.tolist()]

    return {str(name): cells(frame[name]) for name in frame.columns}


_STACK = ["index", "end", "depth", "height", "parent", "num_kernels", "kernel_dur_sum", "kernel_span",
          "first_kernel_start", "last_kernel_end"]


def _call_graph(analysis: Any) -> Any:
    trace = _fresh(analysis)
    graph = _part(analysis, "common.trace_call_graph").CallGraph(trace)
    rank = graph.ranks[0]
    nodes = trace.get_trace(rank)["index"].tolist()[:12]
    return {"frames": {each: _cells(trace.get_trace(each)[_STACK]) for each in graph.ranks},
            "mapping": graph.mapping[["rank", "label", "stack_index", "count"]].values.tolist(),
            "stacks": [sorted(graph.get_stack_of_node(node, rank, skip).index.tolist()) for node in nodes
                       for skip in (False, True) if trace.get_trace(rank).loc[node, "stream"] <= 0
                       or trace.get_trace(rank).loc[node, "parent"] >= 0]}


def _old_call_graph(analysis: Any) -> Any:
    trace = _fresh(analysis)
    _part(analysis, "common.call_stack").CallGraph(trace)
    return {rank: _cells(trace.get_trace(rank)[["index", "depth", "parent"]].fillna(-9)) for rank in trace.get_ranks()}


def _operators(analysis: Any) -> Any:
    trace = _fresh(analysis)
    _part(analysis, "common.trace_call_graph").CallGraph(trace)
    filters = _part(analysis, "common.trace_stack_filter")
    frame = trace.get_trace(trace.get_ranks()[0])
    names = sorted(frame.loc[frame["stream"] == -1, "s_name"].unique())[:4]
    kinds = (filters.UnderOperatorFilter, filters.AfterOperatorFilter, filters.BeforeOperatorFilter)
    found = {f"{kind.__name__} {name} {place}": kind(name, place, True)(frame) for kind in kinds for name in names
             for place in (0, -1)}
    found["combined"] = filters.CombinedOperatorFilter(names[0], names[-1], "nothing", True, [0, 1])(frame)
    return {key: rows["index"].tolist() if len(rows) else [] for key, rows in found.items()}


def _timelines(analysis: Any) -> Any:
    trace = _fresh(analysis)
    _part(analysis, "common.trace_call_graph").CallGraph(trace)
    timeline, kernels = _part(analysis, "common.timeline"), _part(analysis, "analyzers.timeline")
    frame, symbols = trace.get_trace(trace.get_ranks()[0]), trace.symbol_table
    aligned = timeline.align_module_with_kernels(frame, ["aten::", "Profiler"], symbols)
    answers = {"aligned": _cells(aligned[["index", "ts", "dur", "stream"]])}
    for name, rows in (("all", frame), ("host", frame[frame["stream"] < 0]), ("device", frame[frame["stream"] > 0])):
        for is_global in (False, True):
            setting = timeline.TimelinePlotSetting(use_global_time=is_global)
            events = timeline.prepare_timeline_events(rows, setting, symbols).sort_index()
            answers[f"{name} {is_global}"] = _cells(events[sorted(set(events.columns))])
    import pandas

    ranks = trace.get_ranks()
    rows = pandas.concat([trace.get_trace(rank) for rank in ranks], keys=ranks, names=["rank", "idx"]).reset_index()
    events = kernels.prepare_timeline_gpu_events(rows, symbols).sort_index()
    answers["kernels"] = _cells(events[["index", "s_name", "s_cat", "calibrated_start_global", "calibrated_end_global",
                                        "task"]])
    return answers


def _configured(analysis: Any) -> Any:
    configs, traces = _part(analysis, "configs.parser_config"), _part(analysis, "common.trace")
    config = configs.ParserConfig
    more = config()
    more.add_args([configs.AVAILABLE_ARGS[key] for key in ("sm::occupancy", "threads::grid", "cuda::device")])
    chosen = {"more": more, "minimum": config(config.get_minimum_args() + config.ARGS_INPUT_SHAPE),
              "selected": config().set_args_selector(["stream", "correlation", "bytes"]),
              "all": config(parse_all_args=True)}
    answers: dict[str, Any] = {"known": sorted((spec.name, spec.raw_name, spec.value_type.name, spec.default_value)
                                               for spec in configs.AVAILABLE_ARGS.values())}
    for name, each in chosen.items():
        trace = traces.Trace(trace_files=dict(analysis.t.trace_files), parser_config=each)
        trace.parse_traces(use_multiprocessing=False)
        answers[name] = {rank: _cells(_decoded(trace, trace.get_trace(rank))) for rank in trace.get_ranks()}
    return answers


_NAMES = ["void at::native::(anonymous namespace)::f<int, 4>(int*)", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork)",
          "Memcpy HtoD (Pageable -> Device)", "Memset (Device)", "operator->(x)", "a b c", "f<g<h>>(i(j))", "cudaLaunchKernel",
          "hipMemcpyAsync", "x)y", ""]


def _names(analysis: Any) -> Any:
    utils = _part(analysis, "utils.utils")
    functions = [utils.shorten_name, utils.get_kernel_type, utils.get_memory_kernel_type, utils.is_comm_kernel,
                 utils.is_memory_kernel, utils.is_compute_kernel]
    return {function.__name__: [function(name) for name in _NAMES] for function in functions}


# Answers of plain values, which any release of pandas gives alike.
PLAIN: dict[str, Question] = {
    "filters": _filters, "call_graph": _call_graph, "old_call_graph": _old_call_graph, "operator_filters": _operators,
    "timelines": _timelines, "parser_configs": _configured, "names_of_kernels": _names}
QUESTIONS.update(PLAIN)

# Columns of HTA's call graph, which are not here.
_CALL_GRAPH = {"depth", "height", "parent", "num_kernels", "kernel_dur_sum", "kernel_span",
               "first_kernel_start", "last_kernel_end"}


def comparable(value: Any) -> Any:
    """An answer without the columns of HTA's call graph, which are not here; with counters, whose
    order is that of a set in HTA, in the order of names; and without types of kernels that run at the
    same time for no time at all."""
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [comparable(each) for each in value]
    if hasattr(value, "columns"):
        if list(value.columns) == ["kernel_type", "sum", "percentage"]:
            value = value[value["sum"] != 0].reset_index(drop=True)
        kept = [name for name in value.columns if name not in _CALL_GRAPH]
        counters = sorted(name for name in kept if "." in str(name))
        return value[[name for name in kept if name not in counters] + counters]
    return value


def differences(theirs: Any, ours: Any, place: str = "") -> list[str]:
    """Where two answers differ; nothing where they are equal."""
    import pandas

    if isinstance(theirs, (pandas.DataFrame, pandas.Series)) and type(theirs) is type(ours):
        check = (pandas.testing.assert_frame_equal if isinstance(theirs, pandas.DataFrame)
                 else pandas.testing.assert_series_equal)
        try:
            check(theirs, ours, check_exact=True)  # type: ignore[operator]
        except AssertionError as error:
            return [f"{place}: {' '.join(str(error).split())[:300]}"]
        return []
    if isinstance(theirs, dict) and isinstance(ours, dict) and theirs.keys() == ours.keys():
        return [each for key in theirs for each in differences(theirs[key], ours[key], f"{place}[{key}]")]
    if isinstance(theirs, (list, tuple)) and isinstance(ours, (list, tuple)) and len(theirs) == len(ours) \
            and any(hasattr(each, "columns") for each in theirs):
        return [found for number, pair in enumerate(zip(theirs, ours))
                for found in differences(*pair, f"{place}[{number}]")]
    if isinstance(theirs, set) and isinstance(ours, set) and theirs != ours:
        return [f"{place}: {len(theirs - ours)} of {len(theirs)} are not here, {len(ours - theirs)} only "
                f"here: {sorted(theirs - ours)[:2]} / {sorted(ours - theirs)[:2]}"]
    if theirs == ours or (theirs is None and ours is None):
        return []
    return [f"{place}: {str(theirs)[:150]} / {str(ours)[:150]}"]
