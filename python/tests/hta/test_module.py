"""borescope.hta beside its frames: what it imports, refuses, draws, saves."""

from __future__ import annotations

import gzip
import json
import os
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


@pytest.mark.parametrize("name, way", [("common.call_stack", "run.stacks()"),
                                       ("common.trace_filter", "run.sql"),
                                       ("common.timeline", "borescope open"),
                                       ("configs", "nothing to configure")])
def test_what_is_not_mirrored_names_the_way(name: str, way: str) -> None:
    with pytest.raises(ImportError, match=name.replace(".", r"\.")) as caught:
        __import__(f"borescope.hta.{name}")
    assert way in str(caught.value)


def test_a_parser_configuration_is_refused() -> None:
    with pytest.raises(ImportError, match="sql"):
        Trace(trace_dir=str(TRACES), parser_config=object())  # type: ignore[arg-type]


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
