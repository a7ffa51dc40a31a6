"""Calls as trees without kernels, as older notebooks use them; ``common.trace_call_graph`` has those with kernels."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, NamedTuple

from .trace import Trace
from .trace_call_stack import (CLOSE_END, NON_EXISTENT_NODE_INDEX, NULL_NODE_INDEX, OPEN_END, CallStackIdentity, _End)
from .trace_filter import Filter
from .types import DeviceType

if TYPE_CHECKING:
    import pandas as pd


class CallStackNode(NamedTuple):
    """An event in the tree: what it is in, in how many, and what is in it."""

    parent: int = NULL_NODE_INDEX
    depth: int = -1
    children: list[int] = []  # noqa: RUF012  # as in HTA: each node is made with a list of its own


DFSCallback = Callable[[int, CallStackNode], None]


def _difference(a: _End, b: _End) -> Any:
    """Below 0 where one end is before another one, as HTA's older rules have it."""
    if a.number == b.number:
        return a.kind - b.kind
    if a.time != b.time:
        return a.time - b.time
    if a.kind == b.kind:
        order = b.dur - a.dur or a.number - b.number
        return order if a.kind == OPEN_END else -order
    if a.dur > 0 and b.dur > 0:
        return b.kind - a.kind
    return a.kind - b.kind if a.dur > 0 or b.dur > 0 else a.number - b.number


def _ends_of(rows: pd.DataFrame) -> list[_End]:
    """Both ends of every row in order."""
    cells = zip(rows["index"].tolist(), rows["ts"].tolist(), rows["dur"].clip(lower=0).tolist())
    ends = [_End(number, dur, kind, begin + (dur if kind == CLOSE_END else 0)) for number, begin, dur in cells
            for kind in (OPEN_END, CLOSE_END)]
    return sorted(ends, key=cmp_to_key(_difference))


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    """On which side the rows of one thread or stream were recorded, by their streams alone."""
    if df.empty:
        return DeviceType.UNKNOWN
    return DeviceType.GPU if (df["stream"] > 0).all() else \
        DeviceType.CPU if (df["stream"] < 0).all() else DeviceType.UNKNOWN


class CallStackGraph:
    """The calls of one thread; of a stream only that its kernels have no depth."""

    def __init__(self, df: pd.DataFrame, identity: CallStackIdentity, filter_func: Filter | None = None) -> None:
        import pandas

        if "index_correlation" not in df.columns:
            raise ValueError("the frame has no column `index_correlation`")
        self.df, self.identity, self.filter_func = df, identity, filter_func
        self.device_type: DeviceType = infer_device_type(df)
        self.correlations: pd.Series = df["index_correlation"]
        self.nodes: dict[int, CallStackNode] = {}
        if self.device_type is DeviceType.GPU:
            self.depth = pandas.Series(-1, index=df.index, name="depth")
            return
        self._build(df if filter_func is None else filter_func(df))
        self.depth = pandas.Series({number: node.depth for number, node in self.nodes.items() if number >= 0},
                                   name="depth")

    def _build(self, rows: pd.DataFrame) -> None:
        self.nodes[NULL_NODE_INDEX] = CallStackNode(NULL_NODE_INDEX, -1, [])
        opened: list[int] = []
        for end in _ends_of(rows):
            if end.kind != OPEN_END:
                del opened[-1:]
                continue
            parent = opened[-1] if opened else NULL_NODE_INDEX
            self.nodes[parent].children.append(end.number)
            self.nodes[end.number] = CallStackNode(parent, self.nodes[parent].depth + 1, [])
            opened.append(end.number)

    def get_nodes(self) -> dict[int, CallStackNode]:
        """Every node by the number of its event."""
        return self.nodes

    def get_parent(self, idx: int) -> int:
        """The event that an event is in; -2 of an unknown one."""
        return self.nodes[idx].parent if idx in self.nodes else NON_EXISTENT_NODE_INDEX

    def get_children(self, idx: int) -> list[int]:
        """The events in an event."""
        return self.nodes[idx].children if idx in self.nodes else []

    def get_path_to_root(self, idx: int) -> list[int]:
        """The event, the one that it is in, and so on to -1."""
        path = [idx] if idx in self.nodes else []
        while path and path[-1] >= 0:
            path.append(self.nodes[path[-1]].parent)
        return path

    def get_paths_to_leaves(self, idx: int) -> list[list[int]]:
        """From an event to each event below it in which there is none."""
        paths = []
        pending = [[idx]] if idx in self.nodes else []
        while pending:
            path = pending.pop()
            below = self.nodes[path[-1]].children
            if not below:
                paths.append(path)
            pending += [[*path, child] for child in reversed(below)]
        return paths

    def get_leaf_nodes(self, idx: int) -> list[int]:
        """The last events of these paths."""
        return [path[-1] for path in self.get_paths_to_leaves(idx)]

    def get_dataframe(self) -> pd.DataFrame:
        """The rows."""
        return self.df

    def get_depth(self) -> pd.Series:
        """The depth of every event."""
        return self.depth

    def dfs_traverse(self, enter_func: DFSCallback, exit_func: DFSCallback) -> None:
        """Calls a function before and one after the events in an event, for all of them."""
        pending = [(NULL_NODE_INDEX, True)]
        while pending:
            number, is_enter = pending.pop()
            (enter_func if is_enter else exit_func)(number, self.nodes[number])
            if is_enter:
                pending.append((number, False))
                pending += [(child, True) for child in reversed(self.nodes[number].children)]


class CallGraph:
    """The trees of all threads. Making it adds the columns ``depth`` and ``parent`` to the frames."""

    def __init__(self, trace: Trace, ranks: list[int] | None = None, filter_func: Filter | None = None,
                 remapped_tids: dict[int, dict[int, int]] | None = None, pre_process_trace_data: bool = False) -> None:
        import pandas

        self.trace_data = trace
        self.call_stacks: list[CallStackGraph] = []
        chosen = list(trace.get_all_traces()) if ranks is None else ranks
        if pre_process_trace_data:
            for rank in chosen:
                self.constrain_child_time_withinin_parent(trace.get_trace(rank))
        for rank in chosen:
            self._build(rank, filter_func, (remapped_tids or {}).get(rank, {}))
        self.mapping: pd.DataFrame = pandas.DataFrame(
            {name: [getattr(stack.identity, name) for stack in self.call_stacks] for name in ("rank", "pid", "tid")})
        self.mapping["csg_index"] = range(len(self.call_stacks))
        for rank in chosen:
            self._put(rank)
        self.mapping = self.mapping.set_index(["rank", "pid", "tid"])

    def constrain_child_time_withinin_parent(self, df: pd.DataFrame) -> None:
        """Cuts Python functions that last longer than the one that they are in, in the same thread."""
        if not {"python_id", "python_parent_id"} <= set(df.columns):
            return
        rows = df.loc[df["python_id"] > -1, ["python_id", "python_parent_id", "tid", "ts"]]
        place_of = dict(zip(rows["python_id"].tolist(), rows.index))
        below: dict[int, list[int]] = {}
        pending = []
        for number, parent, tid in zip(rows["python_id"].tolist(), rows["python_parent_id"].tolist(), rows["tid"].tolist()):
            if parent > -1 and parent in place_of and df.at[place_of[parent], "tid"] == tid:
                below.setdefault(parent, []).append(number)
            else:
                pending.append(number)
        while pending:
            number = pending.pop()
            place = place_of[number]
            end = df.at[place, "ts"] + df.at[place, "dur"]
            for child in below.get(number, []):
                inside = place_of[child]
                df.at[inside, "dur"] = min(df.at[inside, "dur"], end - df.at[inside, "ts"])
                pending.append(child)

    def _build(self, rank: int, filter_func: Filter | None, moved: dict[int, int]) -> None:
        frame = self.trace_data.get_trace(rank).copy()
        if moved:
            frame["tid"] = frame["tid"].map(moved).fillna(frame["tid"])
        for (pid, tid), rows in frame.groupby(["pid", "tid"]):
            # A stream also has annotations and waits, which have none.
            rows = rows[rows["stream"] > 0] if (rows["stream"] > 0).any() else rows
            self.call_stacks.append(CallStackGraph(rows, CallStackIdentity(rank, pid, tid), filter_func))

    def _put(self, rank: int) -> None:
        import pandas

        frame = self.trace_data.get_trace(rank)
        stacks = [stack for stack in self.call_stacks if stack.identity.rank == rank]
        if stacks:
            frame["depth"] = pandas.concat([stack.get_depth() for stack in stacks])
        parents = {number: node.parent for stack in stacks for number, node in stack.nodes.items() if number >= 0}
        parents.update(frame.loc[frame["stream"] != -1, "index_correlation"].to_dict())
        frame["parent"] = pandas.Series(parents)

    def get_stack_of_node(self, node_id: int, rank: int, skip_ancestors: bool = False) -> pd.DataFrame:
        """The leaves below an event, what it is in unless that is skipped, and the kernels of these leaves. Of a kernel
        those of the call that launched it."""
        frame = self.trace_data.get_trace(rank)
        row = frame.loc[node_id]
        if row["stream"] > -1:
            return self.get_stack_of_node(row["index_correlation"], rank, skip_ancestors)
        stack = self.call_stacks[self.mapping.loc[(rank, row["pid"], row["tid"])]["csg_index"]]
        leaves = stack.get_leaf_nodes(node_id)
        above = [] if skip_ancestors else stack.get_path_to_root(node_id)
        kernels = frame.loc[leaves, "index_correlation"]
        return frame.reindex(leaves + above + kernels[kernels > 0].tolist())
