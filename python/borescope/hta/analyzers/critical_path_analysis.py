"""The critical path of a part of a rank, by HTA's rules."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections import defaultdict
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx

from .._engine import Answered
from .._kernels import decode
from .._symbols import TraceSymbolTable, kernel_type

if TYPE_CHECKING:
    import pandas as pd

    from ..common.trace import Trace

# HTA reads these when they are first needed; here they count when a graph is made or drawn.
_FREE_LAUNCHES = "CRITICAL_PATH_ADD_ZERO_WEIGHT_LAUNCH_EDGE"


@dataclasses.dataclass
class CPNode:
    """A moment: the start or the end of an event."""

    idx: int = -1
    ev_idx: int = -1
    ts: int = 0
    is_start: bool = False
    is_blocking: bool = False


class CPEdgeType(Enum):
    """What an edge stands for."""

    OPERATOR_KERNEL = "critical_path_operator"
    DEPENDENCY = "critical_path_dependency"
    KERNEL_LAUNCH_DELAY = "critical_path_kernel_launch_delay"
    KERNEL_KERNEL_DELAY = "critical_path_kernel_kernel_delay"
    SYNC_DEPENDENCY = "critical_path_sync_dependency"


@dataclasses.dataclass(frozen=True)
class CPEdge:
    """Time between two nodes, or a dependency, which has no weight."""

    begin: int
    end: int
    type: CPEdgeType
    weight: int = 0


class CPGraph(networkx.DiGraph):  # type: ignore
    """The graph behind a critical path, as a graph of networkx: nodes are numbers, edges have
    ``weight`` and, as ``object``, their :class:`CPEdge`.

    Attributes:
        trace_df: the events it was made of.
        node_list: every node by its number.
        critical_path_nodes: the numbers of the nodes on the path, in order.
        critical_path_events_set: the events with a node on it.
        critical_path_edges_set: the edges along it.
    """

    def __init__(self, trace: Trace | None = None, rank: int = 0, question: _Question | None = None,
                 answer: Answered | None = None) -> None:
        super().__init__()
        if trace is None or question is None or answer is None:
            return
        self.rank: int = rank
        self.t: Trace = trace
        self.t_full: Trace = trace
        self.question: _Question = question
        self.symbol_table: TraceSymbolTable = trace.symbol_table
        self.full_trace_df: pd.DataFrame = trace.get_trace(rank)
        self.data_load_events: list[str] | None = question.data_load_events
        self._read(answer)

    def _read(self, answer: Answered) -> None:
        self._is_valid = bool(answer["critical_path_graph"].flags("valid")[0])
        events = answer["cp_events"].numbers("event_index")
        frame = self.full_trace_df
        self.trace_df: pd.DataFrame = frame[frame["index"].isin(events)].sort_values("index", kind="stable")
        self._read_nodes(answer)
        self._read_edges(answer)

    def _read_nodes(self, answer: Answered) -> None:
        table = answer["cp_nodes"]
        moments = table.numbers("ts_us") - int(self.t.min_ts)
        cells = (table.numbers("node").tolist(), table.numbers("event_index").tolist(),
                 moments.tolist(), table.flags("is_start").tolist(), table.flags("is_blocking").tolist())
        self.node_list: list[CPNode] = [CPNode(*row) for row in zip(*cells)]
        self.event_to_start_node_map: dict[int, int] = {
            node.ev_idx: node.idx for node in self.node_list if node.is_start}
        self.event_to_end_node_map: dict[int, int] = {
            node.ev_idx: node.idx for node in self.node_list if not node.is_start}

    def _read_edges(self, answer: Answered) -> None:
        table = answer["cp_edges"]
        types = {kind.value: kind for kind in CPEdgeType}
        edges = [CPEdge(begin, end, types[kind], weight) for begin, end, kind, weight in
                 zip(table.numbers("from_node").tolist(), table.numbers("to_node").tolist(),
                     table.objects("kind").tolist(), table.numbers("weight_us").tolist())]
        self.add_edges_from((edge.begin, edge.end, {"weight": max(0, edge.weight), "object": edge})
                            for edge in edges)
        events = table.objects("event_index").tolist()
        self.edge_to_event_map: dict[tuple[int, int], int] = {
            (edge.begin, edge.end): event for edge, event in zip(edges, events) if event is not None}
        places = table.objects("path_position").tolist()
        placed = sorted((place, number) for number, place in enumerate(places) if place is not None)
        self._put_path([edges[number] for _, number in placed])

    def _put_path(self, path: list[CPEdge]) -> None:
        self.critical_path_nodes: list[int] = [path[0].begin, *(edge.end for edge in path)] if path else []
        self.critical_path_events_set: set[int] = {
            self.node_list[node].ev_idx for node in self.critical_path_nodes}
        self.critical_path_edges_set: set[CPEdge] = set(path)
        self._path = path

    # --- nodes, edges, events

    def get_nodes_for_event(self, ev_id: int) -> tuple[CPNode | None, CPNode | None]:
        """The nodes of the start and the end of an event."""
        start = self.event_to_start_node_map.get(ev_id)
        end = self.event_to_end_node_map.get(ev_id)
        return (None if start is None else self.node_list[start],
                None if end is None else self.node_list[end])

    def get_events_for_edge(self, edge: CPEdge) -> tuple[int, int]:
        """The events at both ends of an edge."""
        return self.node_list[edge.begin].ev_idx, self.node_list[edge.end].ev_idx

    def get_event_attribution_for_edge(self, edge: CPEdge) -> int | None:
        """The event whose time an edge is; None for launch delays and dependencies."""
        return self.edge_to_event_map.get((edge.begin, edge.end))

    @cached_property
    def _edges_of_events(self) -> dict[int, list[CPEdge]]:
        found: dict[int, list[CPEdge]] = defaultdict(list)
        for (begin, end), event in self.edge_to_event_map.items():
            found[event].append(self.edges[begin, end]["object"])
        return found

    def get_edges_attributed_to_event(self, ev_idx: int) -> list[CPEdge]:
        """The edges that are time of an event."""
        return self._edges_of_events.get(ev_idx, [])

    def _get_node_name(self, ev_id: int) -> str:
        if ev_id < 0:
            return "ROOT"
        return str(self.symbol_table.sym_table[self.trace_df["name"].loc[ev_id]])

    # --- the path

    def critical_path(self) -> bool:
        """Finds the longest path of the graph as it is now; False if the graph has a cycle."""
        if not self._is_valid or not networkx.is_directed_acyclic_graph(self):
            return False
        nodes = networkx.dag_longest_path(self, weight="weight")
        self._put_path([self.edges[edge]["object"] for edge in zip(nodes, nodes[1:])])
        return True

    def bound_by(self, row: Any) -> str:
        """What the time of a row of the breakdown is bound by; "" for dependencies."""
        by_type = {CPEdgeType.KERNEL_KERNEL_DELAY.value: "gpu_kernel_kernel_overhead",
                   CPEdgeType.KERNEL_LAUNCH_DELAY.value: "gpu_kernel_launch_overhead",
                   CPEdgeType.DEPENDENCY.value: "", CPEdgeType.SYNC_DEPENDENCY.value: ""}
        if row["type"] in by_type:
            return by_type[row["type"]]
        if row["stream"] < 0:
            import re

            is_loading = any(re.search(pattern, row["s_name"]) for pattern in self.data_load_events or [])
            return "data_loading" if is_loading else "cpu_bound"
        is_communication = kernel_type(str(row["s_name"])) == "COMMUNICATION"
        return "gpu_communication_bound" if is_communication else "gpu_compute_bound"

    def get_critical_path_breakdown(self) -> pd.DataFrame | None:
        """A row for each edge of the path, in order, with the event whose time it is. None without
        a path."""
        import pandas

        if not self._path:
            return None
        decode(self.trace_df, self.symbol_table, True)
        edges = pandas.DataFrame({
            "event_idx": [self.get_event_attribution_for_edge(edge) for edge in self._path],
            "duration": pandas.Series([edge.weight for edge in self._path], dtype=self._held_as()),
            "type": [edge.type.value for edge in self._path]})
        events = self.trace_df[["s_name", "cat", "pid", "tid", "stream", "index"]]
        rows = edges.merge(events, left_on="event_idx", right_on="index", how="left")
        rows["bound_by"] = [self.bound_by(row) for row in rows.to_dict("records")]
        return rows

    def _held_as(self) -> str:
        """How HTA holds durations: as those of the frame, unless all of these are of dependencies."""
        has_time = any(edge.type not in (CPEdgeType.DEPENDENCY, CPEdgeType.SYNC_DEPENDENCY)
                       for edge in self._path)
        return "float64" if has_time and self.trace_df["dur"].dtype.kind == "f" else "int64"

    def summary(self) -> pd.Series:
        """Percent of the length of the path by what bounds it."""
        rows = self.get_critical_path_breakdown()
        assert rows is not None, "Critical path breakdown is required for summary"
        sums: pd.Series = rows.groupby("bound_by")["duration"].sum()
        return sums / rows["duration"].sum() * 100

    def show_critical_path(self) -> None:
        """Logs the nodes of the path."""
        import logging

        for number in self.critical_path_nodes:
            node = self.node_list[number]
            logging.getLogger("borescope.hta").info("%s %s", node, self._get_node_name(node.ev_idx))

    # --- files

    def save(self, out_dir: str) -> str:
        """Writes what the graph was asked for into ``out_dir`` and into a .zip beside it, whose name
        it returns; :func:`restore_cpgraph` makes it again, from the trace."""
        os.makedirs(out_dir, exist_ok=True)
        with open(os.path.join(out_dir, "question.json"), "w") as file:
            json.dump(dataclasses.asdict(self.question), file)
        return shutil.make_archive(out_dir, "zip", out_dir)


@dataclasses.dataclass(frozen=True)
class _Question:
    """Which part of a rank a graph is of, and by which rules."""

    annotation: str
    first: int
    last: int
    data_load_events: list[str] | None
    free_launches: bool

    def given(self) -> dict[str, Any]:
        """The options of `borescope critical-path`."""
        given: dict[str, Any] = {"zero_weight_launch_edges": self.free_launches}
        if self.annotation:
            span = f"{self.first}..{self.last}" if self.first != self.last else str(self.first)
            given |= {"annotation": self.annotation, "instance": span}
        if self.data_load_events:
            given["data_load"] = self.data_load_events[0]
        return given


def _make(trace: Trace, rank: int, question: _Question) -> CPGraph:
    answer = trace.asker.ask("critical_path", [rank], graph=True, **question.given())
    return CPGraph(trace, rank, question, answer)


def restore_cpgraph(zip_filename: str, t_full: Trace, rank: int) -> CPGraph:
    """The graph that :meth:`CPGraph.save` wrote, of the same trace."""
    import zipfile

    with zipfile.ZipFile(zip_filename) as archive, archive.open("question.json") as file:
        return _make(t_full, rank, _Question(**json.load(file)))


class CriticalPathAnalysis:
    """Finds critical paths, and draws them."""

    @classmethod
    def critical_path_analysis(cls, t: Trace, rank: int, annotation: str,
                               instance_id: int | tuple[int, int] | None,
                               data_load_events: list[str] | None = None
                               ) -> tuple[CPGraph, bool] | None:
        """As ``TraceAnalysis.critical_path_analysis``."""
        t.get_trace(rank)
        if not any(annotation in name for name in t.symbol_table.sym_table):
            return None
        if isinstance(instance_id, tuple):
            first, last = instance_id
        elif instance_id is None or isinstance(instance_id, int):
            first = last = instance_id or 0
        else:
            return None
        question = _Question(annotation, first, last, data_load_events,
                             os.environ.get(_FREE_LAUNCHES) == "1")
        graph = _make(t, rank, question)
        return graph, graph._is_valid

    @staticmethod
    def _is_zero_weight_launch_edge(e: CPEdge) -> bool:
        return e.type is CPEdgeType.KERNEL_LAUNCH_DELAY and e.weight == 0

    @classmethod
    def overlay_critical_path_analysis(cls, t: Trace, rank: int, critical_path_graph: CPGraph,
                                       output_dir: str, only_show_critical_events: bool = True,
                                       show_all_edges: bool = False) -> str:
        """As ``TraceAnalysis.overlay_critical_path_analysis``."""
        folder = os.path.expanduser(output_dir)
        if os.path.exists(folder) and not os.path.isdir(folder):
            return ""
        os.makedirs(folder, exist_ok=True)
        name = "overlaid_critical_path_" + os.path.basename(t.trace_files[rank])
        path = os.path.join(folder, name)
        given = critical_path_graph.question.given()
        if not only_show_critical_events:
            given |= {"overlay_all_events": True, "overlay_all_edges": show_all_edges}
        t.asker.ask("critical_path", [rank], overlay=path, **given)
        return path
