"""The calls of one thread as a tree, with the kernels that they launched as leaves."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, NamedTuple

from .trace_symbol_table import TraceSymbolTable
from .types import DeviceType, infer_device_type

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("borescope.hta")
NON_EXISTENT_NODE_INDEX = -2
NULL_NODE_INDEX = -1
EVENT_START = 1
EVENT_END = -1
OPEN_END = -1
CLOSE_END = 1


class _End(NamedTuple):
    """One end of an event."""

    number: int
    dur: Any
    kind: int
    time: Any


def _comes_first(a: _End, b: _End) -> bool:
    """Whether an end is before another one. At the same time an event without duration is within those that begin or
    end then. Not an order where three ends of different kinds meet: what HTA makes of these follows from how they are
    sorted."""
    if a.time != b.time:
        return bool(a.time < b.time)
    if a.number == b.number:
        return a.kind == OPEN_END
    if a.dur == 0 and b.dur == 0:
        if a.kind != b.kind:
            return a.kind == OPEN_END
        return a.number < b.number if a.kind == OPEN_END else a.number > b.number
    if a.dur == 0:
        return b.kind == CLOSE_END
    if b.dur == 0:
        return a.kind == OPEN_END
    if a.kind != b.kind:
        return a.kind == CLOSE_END
    if a.dur != b.dur:
        return bool(a.dur > b.dur if a.kind == OPEN_END else a.dur < b.dur)
    return a.number < b.number if a.kind == OPEN_END else a.number > b.number


def _order(a: _End, b: _End) -> int:
    return -1 if _comes_first(a, b) else 1


def _ends_in_order(rows: pd.DataFrame) -> list[_End]:
    """Both ends of every row, so that what was opened last is closed first."""
    import numpy

    index, begin, dur = (rows[name].to_numpy() for name in ("index", "ts", "dur"))
    times = numpy.concatenate([begin, begin + dur])
    kinds: Any = numpy.repeat([OPEN_END, CLOSE_END], len(rows))
    order = numpy.argsort(times, kind="quicksort")
    columns = (numpy.tile(index, 2)[order].tolist(), numpy.tile(dur, 2)[order].tolist(), kinds[order].tolist(),
               times[order].tolist())
    return sorted((_End(*cells) for cells in zip(*columns)), key=cmp_to_key(_order))


class CallStackIdentity(NamedTuple):
    """Whose calls these are."""

    rank: int = -1
    pid: int = -1
    tid: int = -1


@dataclass
class CallStackNode:
    """An event in the tree.

    Attributes:
        parent: the event that it is in.
        depth: how many events it is in; -1 of the root.
        height: how far the farthest leaf is; 0 of a kernel, at least 1 of a call.
        device: where it ran.
        children: the events in it.
    """

    parent: int = NULL_NODE_INDEX
    depth: int = -1
    height: int = -1
    device: DeviceType = DeviceType.CPU
    children: list[int] = field(default_factory=list)


DFSCallback = Callable[[int, CallStackNode], None]


class CallStackGraph:
    """The calls of one thread. Several of a rank share their nodes, so that the threads can be connected.

    Attributes:
        nodes: every node by the number of its event; that of the root is below 0.
        root_index: the number of the root.
        df: the events of the thread.
        full_df: those of the rank.
        correlations: which call launched which kernel, as columns ``cpu_index`` and ``gpu_index``.
    """

    def __init__(self, df: pd.DataFrame, identity: CallStackIdentity, cpu_gpu_correlation: pd.DataFrame,
                 full_df: pd.DataFrame, symbol_table: TraceSymbolTable,
                 nodes: dict[int, CallStackNode] | None = None, use_existing_stack_columns: bool = True,
                 save_call_stack_to_df: bool = True) -> None:
        self.df, self.identity, self.correlations = df, identity, cpu_gpu_correlation
        self.full_df, self.symbol_table = full_df, symbol_table
        self.device_type: DeviceType = infer_device_type(df)
        self.nodes: dict[int, CallStackNode] = {} if nodes is None else nodes
        if self.device_type is DeviceType.GPU:
            return
        self.root_index: int = -abs(identity.tid)
        self.nodes.setdefault(self.root_index, CallStackNode(NULL_NODE_INDEX, -1, -1, self.device_type))
        if "end" not in full_df.columns:
            full_df["end"] = full_df["ts"] + full_df["dur"]
        if use_existing_stack_columns and self._has_columns():
            self._read_columns()
            return
        self._build()
        if save_call_stack_to_df:
            self.save_call_stack_to_dataframe()

    def __repr__(self) -> str:
        return "CallStackGraph\n" + "".join(f"    {key}: {node}\n" for key, node in self.nodes.items())

    # --- making it

    def _has_columns(self) -> bool:
        names = ["parent", "depth", "height"]
        if not set(names) <= set(self.full_df.columns):
            return False
        known = self.full_df.loc[self.df.index, names]
        return not known.isna().any().any() and known["parent"].unique().tolist() != [-1]

    def _read_columns(self) -> None:
        children: dict[int, list[int]] = {}
        for number, parent in self.full_df["parent"].items():
            children.setdefault(parent, []).append(number)
        rows = self.full_df.loc[self.df["index"], ["index", "parent", "depth", "height"]]
        for number, parent, depth, height in rows.to_numpy().tolist():
            self.nodes[number] = CallStackNode(parent, depth, height, self.device_type, children.get(number, []))

    def _build(self) -> None:
        if "index_correlation" not in self.df.columns:
            raise ValueError("the frame has no column `index_correlation`")
        opened: list[int] = []
        for end in _ends_in_order(self.df[self.df["stream"] == -1]):
            if end.kind == OPEN_END:
                self._add(opened[-1] if opened else self.root_index, end.number, DeviceType.CPU)
                opened.append(end.number)
            elif opened:
                opened.pop()
        pairs = self.correlations[self.correlations["cpu_index"].isin(self.df["index"])]
        for call, kernel in pairs[["cpu_index", "gpu_index"]].to_numpy().tolist():
            self._add(call, kernel, DeviceType.GPU)

    def _add(self, parent: int, child: int, device: DeviceType) -> None:
        if child in self.nodes:
            logger.error("event %d is in the tree already", child)
            return
        above = self.nodes.setdefault(parent, CallStackNode(self.root_index, 0, -1, device))
        above.children.append(child)
        self.nodes[child] = CallStackNode(parent, above.depth + 1, -1, device)

    def update_parent_of_first_layer_nodes(self, new_parent_index: int) -> None:
        """Moves the calls of the first level that are within an event of another thread below it."""
        if new_parent_index not in self.nodes or new_parent_index not in self.full_df.index:
            raise ValueError(f"there is no event {new_parent_index}")
        if self.root_index not in self.nodes:
            return
        event = self.full_df[self.full_df["index"] == new_parent_index].iloc[0]
        first = self.full_df[self.full_df["index"].isin(self.nodes[self.root_index].children)]
        is_within = (first["ts"] >= event["ts"]) & (first["end"] <= event["end"])
        self._move(set(first.loc[is_within, "index"].tolist()), new_parent_index)
        if self.root_index not in self.nodes:
            self.root_index = self.get_root(new_parent_index)

    def _move(self, numbers: set[int], parent: int) -> None:
        moved = numbers & set(self.nodes) - set(self.nodes[parent].children)
        before = {self.nodes[number].parent for number in moved}
        for number in moved:
            self.nodes[number].parent = parent
        self.nodes[parent].children.extend(moved)
        for each in before:
            self.nodes[each].children[:] = [child for child in self.nodes[each].children if child not in moved]
            if not self.nodes[each].children:
                del self.nodes[each]

    # --- asking it

    def get_nodes(self) -> dict[int, CallStackNode]:
        """Every node by the number of its event."""
        return self.nodes

    def get_parent(self, idx: int) -> int:
        """The event that an event is in; -2 of an unknown one."""
        return self.nodes[idx].parent if idx in self.nodes else NON_EXISTENT_NODE_INDEX

    def get_children(self, idx: int) -> list[int]:
        """The events in an event."""
        return self.nodes[idx].children if idx in self.nodes else []

    def get_root(self, idx: int) -> int:
        """The root of the tree with an event; -1 of an unknown one."""
        if idx not in self.nodes:
            return NULL_NODE_INDEX
        root = self.nodes[idx].parent
        while root >= 0 and root in self.nodes:
            root = self.nodes[root].parent
        return root

    def get_path_to_root(self, idx: int) -> list[int]:
        """The event, the one that it is in, and so on."""
        path = [idx] if idx in self.nodes else []
        while path and path[-1] >= 0 and path[-1] in self.nodes:
            path.append(self.nodes[path[-1]].parent)
        return path

    def get_paths_to_leaves(self, idx: int, include_cuda_kernel: bool = False) -> list[list[int]]:
        """From an event to each leaf below it."""
        if idx not in self.nodes or (not include_cuda_kernel and self.nodes[idx].device is not DeviceType.CPU):
            return []
        paths = []
        pending = [[idx]]
        while pending:
            path = pending.pop()
            below = self.nodes[path[-1]].children
            if not below:
                paths.append(path)
            pending += [[*path, child] for child in reversed(below) if child in self.nodes]
        return paths

    def get_leaf_nodes(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """The leaves below an event."""
        return [path[-1] for path in self.get_paths_to_leaves(idx, include_gpu_kernel)]

    def get_descendants(self, idx: int, include_gpu_kernel: bool = False) -> list[int]:
        """An event and all that is in it."""
        if idx not in self.nodes or (not include_gpu_kernel and self.nodes[idx].device is not DeviceType.CPU):
            return []
        return list({number for number, _ in self._below(idx)})

    def get_dataframe(self) -> pd.DataFrame:
        """The events of the thread."""
        return self.df

    def get_depth(self) -> pd.Series:
        """The depth of every event of the thread."""
        import pandas

        if "depth" in self.full_df.columns:
            depth: pd.Series = self.full_df.loc[self.df["index"], "depth"]
            return depth
        known = {number: node.depth for number, node in self.nodes.items() if number >= 0}
        return pandas.Series(known, name="depth", dtype=pandas.Int16Dtype()).loc[self.df["index"]]

    def dfs_traverse(self, enter_func: DFSCallback, exit_func: DFSCallback) -> None:
        """Calls a function before and one after the events in an event, for all of them."""
        for number, is_enter in self._walk(self.root_index):
            (enter_func if is_enter else exit_func)(number, self.nodes[number])

    def _walk(self, root: int) -> Iterator[tuple[int, bool]]:
        """Every event of a tree when it is entered and when it is left. No recursion: stacks may be deep."""
        pending = [(root, True)]
        while pending:
            number, is_enter = pending.pop()
            yield number, is_enter
            if is_enter:
                pending.append((number, False))
                pending += [(child, True) for child in reversed(self.nodes[number].children) if child in self.nodes]

    def _below(self, root: int) -> Iterator[tuple[int, CallStackNode]]:
        """Every event of a tree, parents before what is in them."""
        return ((number, self.nodes[number]) for number, is_enter in self._walk(root) if is_enter)

    # --- columns

    def _roots(self, whole: bool) -> list[int]:
        if whole:
            return [number for number in self.nodes if number < 0 and number != NON_EXISTENT_NODE_INDEX]
        return [self.root_index]

    def save_call_stack_to_dataframe(self, apply_whole_graph: bool = False) -> None:
        """Puts depth, height, parent and what is known of kernels into the columns of the frame of the rank."""
        roots = self._roots(apply_whole_graph)
        kernels = self._measure(roots)
        frame = self.full_df
        if "parent" in frame.columns:
            self._put({name: {number: getattr(node, name) for number, node in self.nodes.items() if number >= 0}
                       for name in ("parent", "depth", "height")}, frame["height"].dtype)
        if "num_kernels" in frame.columns and kernels:
            for place, name in enumerate(("num_kernels", "kernel_dur_sum", "kernel_span", "first_kernel_start",
                                          "last_kernel_end")):
                self._put({name: {number: values[place] for number, values in kernels.items()}}, frame[name].dtype)

    def _put(self, columns: dict[str, dict[int, Any]], dtype: Any) -> None:
        import pandas

        for name, cells in columns.items():
            column = pandas.Series(cells)
            self.full_df.loc[column.index, name] = column.astype(dtype)

    def _measure(self, roots: list[int]) -> dict[int, tuple[Any, ...]]:
        """Depths and heights of all nodes; of each event the kernels below it: how many, the sum of their durations,
        their span, the first start and the last end."""
        rows = self.full_df[self.full_df["index"].isin(self.nodes) & (self.full_df["stream"] != -1)]
        times = dict(zip(rows["index"].tolist(), zip(rows["dur"].tolist(), rows["ts"].tolist(), rows["end"].tolist())))
        late = self.full_df["ts"].max() * 2
        found: dict[int, tuple[Any, ...]] = {}
        for root in roots:
            for number, is_enter in self._walk(root):
                node = self.nodes[number]
                if is_enter:
                    above = self.nodes.get(node.parent)
                    node.depth = -1 if number == root else (above.depth if above is not None else -1) + 1
                    continue
                self._measure_one(number, node, times, late, found)
        return {number: values for number, values in found.items() if number >= 0}

    def _measure_one(self, number: int, node: CallStackNode, times: dict[int, tuple[Any, ...]], late: Any,
                     found: dict[int, tuple[Any, ...]]) -> None:
        if node.device is DeviceType.GPU:
            node.height = 0
            if number in times:
                dur, begin, end = times[number]
                found[number] = (1, dur, end - begin, begin, end)
            return
        below = [self.nodes[child] for child in node.children if child in self.nodes]
        node.height = max([1, *(child.height + 1 for child in below)])
        parts = [found.get(child, (0, 0, 0, late, -1)) for child in node.children]
        begin = min([late, *(part[3] for part in parts)])
        end = max([-1, *(part[4] for part in parts)])
        found[number] = (sum(part[0] for part in parts), sum(part[1] for part in parts),
                         end - begin if parts else 0, begin, end)
