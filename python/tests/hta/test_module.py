"""borescope.hta beside its frames: what it imports, draws, saves, and call graphs of planted calls."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pandas")
networkx = pytest.importorskip("networkx")

from borescope.hta.common.trace import Trace  # noqa: E402
from borescope.hta.trace_analysis import TimeSeriesTypes, TraceAnalysis  # noqa: E402

TRACES = Path(__file__).parent / "traces"


@pytest.fixture(scope="module")
def edges() -> TraceAnalysis:
    return TraceAnalysis(trace_files=[str(TRACES / "edges.json")])


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = ("import sys, borescope.hta.trace_analysis, borescope.hta.trace_diff; "
            "print([each for each in ('pandas', 'numpy', 'plotly', 'networkx') if each in sys.modules])")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def planted(source: random.Random) -> tuple[list[dict[str, Any]], dict[int, dict[str, Any]]]:
    """Calls of one thread, nested at random, some of which launch kernels; and by the place of each event in the file
    what a call graph must say of it."""
    events: list[dict[str, Any]] = []
    truth: dict[int, dict[str, Any]] = {}

    def call(begin: int, end: int, parent: int, depth: int) -> tuple[int, list[int]]:
        number = len(events)
        is_launch = source.random() < 0.3 and depth > 0
        events.append({"ph": "X", "cat": "cuda_runtime" if is_launch else "cpu_op", "pid": 1, "tid": 1, "ts": begin,
                       "name": "cudaLaunchKernel" if is_launch else f"op{depth}", "dur": end - begin, "args": {}})
        height, kernels = 1, []
        if is_launch:
            kernel, dur = len(events), source.randint(1, 9)
            events[number]["args"]["correlation"] = number + 1
            events.append({"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5000 + 10 * kernel, "dur": dur,
                           "args": {"stream": 7, "device": 0, "correlation": number + 1}})
            truth[kernel] = {"parent": number, "depth": depth + 1, "height": 0, "kernels": [kernel]}
            kernels = [kernel]
        else:
            now = begin + 1
            while now + 2 < end and source.random() < 0.7:
                until = source.randint(now + 1, min(end - 1, now + 300))
                below, inside = call(now, until, number, depth + 1)
                height, kernels = max(height, below + 1), kernels + inside
                now = until + source.randint(1, 5)
        height = 1 if is_launch else height
        truth[number] = {"parent": parent, "depth": depth, "height": height, "kernels": kernels}
        return height, kernels

    call(0, 3000, -1, 0)
    return events, truth


@pytest.mark.parametrize("seed", range(12))
def test_call_graphs_of_planted_calls(seed: int, tmp_path: Path) -> None:
    from borescope.hta.common.trace_call_graph import CallGraph

    events, truth = planted(random.Random(seed))
    path = tmp_path / "rank-0.json"
    path.write_text(json.dumps({"traceEvents": events}))
    trace = Trace(trace_files={0: str(path)})
    trace.parse_traces()
    graph = CallGraph(trace)
    frame = trace.get_trace(0)
    for number, known in truth.items():
        row = frame.loc[number]
        kernels = [events[each] for each in known["kernels"]]
        parent = known["parent"] if known["parent"] >= 0 else -1  # the root is -abs(tid), here -1
        assert (row["parent"], row["depth"], row["num_kernels"]) == (parent, known["depth"], len(kernels)), number
        assert row["kernel_dur_sum"] == sum(each["dur"] for each in kernels)
        if kernels:
            first, last = min(each["ts"] for each in kernels), max(each["ts"] + each["dur"] for each in kernels)
            assert (row["first_kernel_start"], row["last_kernel_end"], row["kernel_span"]) == (first, last, last - first)
        if number not in known["kernels"]:
            below = {each for each in truth if number in ancestors(truth, each)} | {number}
            assert set(graph.get_stack_of_node(number, 0, True).index) == below


def ancestors(truth: dict[int, dict[str, Any]], number: int) -> set[int]:
    found: set[int] = set()
    while (number := truth[number]["parent"]) >= 0:
        found.add(number)
    return found


def test_deep_stacks_need_no_recursion(tmp_path: Path) -> None:
    from borescope.hta.common import call_stack, trace_call_graph

    depth = 3000
    events = [{"ph": "X", "cat": "cpu_op", "name": "f", "pid": 1, "tid": 1, "ts": number, "dur": 3 * depth - 2 * number,
               "args": {}} for number in range(depth)]
    path = tmp_path / "rank-0.json"
    path.write_text(json.dumps({"traceEvents": events}))
    for kind in (trace_call_graph.CallGraph, call_stack.CallGraph):
        trace = Trace(trace_files={0: str(path)})
        trace.parse_traces()
        kind(trace)
        assert trace.get_trace(0)["depth"].tolist() == list(range(depth))


def test_an_execution_trace_becomes_columns(tmp_path: Path) -> None:
    """Of both schemas: members of nodes, and attributes."""
    from borescope.hta.common import execution_trace as execution

    events = [{"ph": "X", "cat": "cpu_op", "name": f"aten::op{i}", "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5,
               "args": {"External id": 11 + i}} for i in range(3)]
    (tmp_path / "rank-0.json").write_text(json.dumps({"traceEvents": events}))
    flat = {"id": 5, "name": "aten::op0", "rf_id": 11, "op_schema": "op0()", "input_shapes": [[2]], "input_types": ["Tensor"],
            "output_shapes": [[3]], "output_types": ["Tensor"]}
    nested = {"id": 6, "name": "aten::op1", "attrs": [{"name": "rf_id", "value": 12}, {"name": "op_schema", "value": "op1()"}],
              "inputs": {"shapes": [[4]], "types": ["Float"]}, "outputs": {"shapes": [], "types": []}}
    file = tmp_path / "et.json.gz"
    with gzip.open(file, "wt") as out:
        json.dump({"schema": "1.0.3", "nodes": [flat, nested]}, out)
    trace = Trace(trace_files={0: str(tmp_path / "rank-0.json")})
    trace.parse_traces()
    et = execution.load_execution_trace(str(file))
    execution.add_et_column(trace.get_trace(0), et, "op_schema")  # before the correlation: nothing
    execution.correlate_execution_trace(trace, 0, et)
    frame = trace.get_trace(0)
    assert frame["et_node"].tolist()[:2] == [5, 6] and frame["et_node"].isna().tolist() == [False, False, True]
    for column in ("op_schema", "input_shapes", "input_types", "output_shapes", "et_node_name"):
        execution.add_et_column(frame, et, column)
    assert frame["op_schema"].tolist()[:2] == ["op0()", "op1()"] and frame["input_shapes"].tolist()[:2] == [[[2]], [[4]]]
    assert frame["et_node_name"].tolist()[:2] == ["aten::op0", "aten::op1"] and frame["input_types"].isna()[2]
    late = execution.ExecutionTrace({"nodes": [{**flat, "rf_id": 99}]})
    other = Trace(trace_files={0: str(tmp_path / "rank-0.json")})
    other.parse_traces()
    execution.correlate_execution_trace(other, 0, late)
    assert "et_node" not in other.get_trace(0).columns


def test_the_default_configuration_is_for_later_traces(tmp_path: Path) -> None:
    from borescope.hta.common import trace_parser
    from borescope.hta.configs.config import HtaConfig, logger
    from borescope.hta.configs.parser_config import AVAILABLE_ARGS, ParserBackend, ParserConfig

    before = ParserConfig.get_default_cfg()
    config = ParserConfig.get_default_cfg()
    config.add_args([AVAILABLE_ARGS["cuda::device"]])
    assert "device" not in ParserConfig.get_default_cfg().arg_map  # a copy
    try:
        ParserConfig.set_default_cfg(config)
        _, frame, symbols = trace_parser.parse_trace_dataframe(str(TRACES / "edges.json"))
        assert "device" in frame.columns and symbols.sym_table
    finally:
        ParserConfig.set_default_cfg(before)
    trace_parser.set_default_trace_parsing_backend(ParserBackend.IJSON)
    assert trace_parser.get_default_trace_parsing_backend() is ParserBackend.IJSON
    (tmp_path / "trace_analyzer.json").write_text('{"a": {"b": 3}}')
    settings = HtaConfig(str(tmp_path / "trace_analyzer.json"), load_default_paths=False)
    assert settings.get_config("a.b") == 3 and settings.get_config("a.c", 7) == 7 and logger.name == "borescope.hta"


def test_timelines_are_figures(edges: TraceAnalysis, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    from borescope.hta.analyzers.timeline import figure_of_timeline, prepare_timeline_gpu_events
    from borescope.hta.common.timeline import PlotFormat, Timeline, TimelinePlotSetting, plot_events_timeline
    from borescope.hta.common.trace_filter import GPUKernelFilter

    frame, symbols = edges.t.get_trace(0), edges.t.symbol_table
    setting = TimelinePlotSetting(plot_format=PlotFormat.HTML)
    timeline = Timeline(frame, symbols, GPUKernelFilter(), setting)
    page = plot_events_timeline("kernels", timeline.timeline_events, setting, output_image_path=str(tmp_path / "t.html"))
    assert page is not None and "kernels" in page and (tmp_path / "t.html").stat().st_size > 1000
    rows = frame.assign(rank=0)
    events = prepare_timeline_gpu_events(rows, symbols)
    assert len(figure_of_timeline("all", events).data) == events["label"].nunique()
    with pytest.raises(ValueError, match="needs the columns"):
        figure_of_timeline("none", rows)


def test_stragglers_show_three_figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    from borescope.hta import figures

    shown: list[Any] = []
    monkeypatch.setattr(figures, "show", lambda given, renderer=None: shown.extend(given))
    for rank in (0, 1):
        events: list[dict[str, Any]] = []
        for step in (1, 2, 3):
            begin, late = 1000 * step, 300 * rank
            events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin,
                           "dur": 1000, "args": {}})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": begin + 1,
                           "dur": 2, "args": {"correlation": step}})
            events.append({"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce(x)", "pid": 0, "tid": 7,
                           "ts": begin + 100 + late, "dur": 700 - late, "args": {"stream": 7, "device": 0, "correlation": step}})
        (tmp_path / f"rank-{rank}.json").write_text(
            json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": events}))
    analysis = TraceAnalysis(trace_dir=str(tmp_path))
    assert analysis.get_potential_stragglers(num_candidates=1, visualize=True) == [1]
    assert [figure.layout.title.text.split()[0] for figure in shown] == ["Timeline", "Timeline", "Potential"]


def test_no_trace_and_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=str(tmp_path)):
        TraceAnalysis(trace_dir=str(tmp_path))
    with pytest.raises(ValueError, match="validation failed"):
        TraceAnalysis(trace_files={0: str(tmp_path / "none.json")})


def test_ranks_are_those_the_caller_gives() -> None:
    analysis = TraceAnalysis(trace_files={4: str(TRACES / "two_ranks" / "rank-1.json"),
                                          9: str(TRACES / "two_ranks" / "rank-0.json")})
    assert analysis.t.get_ranks() == [4, 9]
    assert analysis.t.get_trace(4)["pid"].tolist() == [2, 2]
    frame = analysis.get_comm_comp_overlap(visualize=False)
    assert frame["rank"].tolist() == [4, 9]
    with pytest.raises(ValueError, match="rank 0"):
        analysis.get_idle_time_breakdown(visualize=False)


def test_a_critical_path_is_a_graph_of_networkx(edges: TraceAnalysis, tmp_path: Path) -> None:
    found = edges.critical_path_analysis(0, "", None)
    assert found is not None
    graph, is_valid = found
    assert is_valid and isinstance(graph, networkx.DiGraph)
    nodes, length = graph.critical_path_nodes, networkx.dag_longest_path_length(graph)
    assert sum(graph.edges[edge]["weight"] for edge in zip(nodes, nodes[1:])) == length
    # Found once more in Python, by networkx, it is the same.
    assert graph.critical_path() and graph.critical_path_nodes == nodes
    from borescope.hta.analyzers.critical_path_analysis import restore_cpgraph

    restored = restore_cpgraph(graph.save(str(tmp_path / "graph")), edges.t, 0)
    assert restored.critical_path_nodes == nodes
    assert edges.critical_path_analysis(0, "no such name", 0) is None


def test_counters_are_added_to_a_copy(tmp_path: Path) -> None:
    source = tmp_path / "rank.json"
    source.write_text((TRACES / "streams.json").read_text())
    analysis = TraceAnalysis(trace_files=[str(source)])
    analysis.generate_trace_with_counters(TimeSeriesTypes.QUEUE_LENGTH)
    with gzip.open(tmp_path / "rank_with_counters.json") as file:
        events = json.load(file)["traceEvents"]
    before = json.loads(source.read_text())["traceEvents"]
    assert events[:len(before)] == before
    assert {event["name"] for event in events[len(before):]} == {"Queue Length"}


def test_sequences_are_drawn_into_a_copy(tmp_path: Path) -> None:
    analysis = TraceAnalysis(trace_files=[str(TRACES / "two_ranks" / "rank-0.json")])
    frame = analysis.get_frequent_cuda_kernel_sequences("aten::mm", str(tmp_path), min_pattern_len=1)
    assert frame["pattern"].tolist() == ["aten::mm|gemm"]
    assert os.listdir(tmp_path) == ["overlaid_rank-0.json"]
    assert analysis.get_frequent_cuda_kernel_sequences("aten::mm", str(tmp_path / "none")).empty


def test_memory_by_category(tmp_path: Path) -> None:
    from borescope.hta.memory_analysis import MemoryAnalysis

    path = tmp_path / "memory.raw.json.gz"
    with gzip.open(path, "wt") as file:
        json.dump([[-1, 0, 100, 0], [50, 1, 8, 2], [50, 1, 4, 4], [70, 2, -8, 2]], file)
    times, sizes = MemoryAnalysis(str(path))._process_raw_events()
    assert times == [50, 50, 70]
    assert [sizes[-1][0], sizes[1][2], sizes[-1][2], sizes[-1][4]] == [100, 8, 0, 4]


def test_a_trace_is_validated(tmp_path: Path) -> None:
    from borescope.hta.utils.validate_trace import validate_trace_format

    assert validate_trace_format(str(TRACES / "streams.json")) == (True, {})
    ok, errors = validate_trace_format(str(tmp_path / "none.json"))
    assert not ok and list(errors) == ["trace_read_error"]


def test_every_figure_is_one_of_plotly(edges: TraceAnalysis) -> None:
    plotly = pytest.importorskip("plotly.graph_objects")
    from borescope.hta import figures

    types, kernels = edges.get_gpu_kernel_breakdown(visualize=False)
    launches = edges.get_cuda_kernel_launch_stats(visualize=False)[0]
    drawn: list[Any] = [
        figures.temporal_breakdown(edges.get_temporal_breakdown(visualize=False)),
        figures.comm_comp_overlap(edges.get_comm_comp_overlap(visualize=False)),
        figures.kernel_types(types), figures.kernels_by_rank(kernels, "COMPUTATION"),
        *figures.kernel_durations(kernels, "COMPUTATION"),
        *figures.idle_time(edges.get_idle_time_breakdown(visualize=False)[0]),
        figures.short_kernels(launches, 0), figures.long_calls(launches, 0),
        figures.long_delays(launches, 0), figures.memory_timeline([0, 1], [[0] * 8, [1] * 8])]
    assert all(isinstance(each, plotly.Figure) and each.data for each in drawn)
