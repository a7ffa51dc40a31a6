"""The calls of all threads of a trace as trees; the backward thread is below the annotation of the main one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .trace import Trace
from .trace_call_stack import CallStackGraph, CallStackIdentity, CallStackNode
from .trace_symbol_table import TraceSymbolTable
from .types import DeviceType, infer_device_type

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("borescope.hta")
# In the order of HTA's frames.
_BEGINNING = {"depth": -1.0, "height": -1.0, "parent": -1.0, "num_kernels": 0.0, "kernel_dur_sum": 0.0,
              "kernel_span": 0.0, "first_kernel_start": -1.0, "last_kernel_end": -1.0}
_BACKWARD = ("## backward ##", "ProfilerStep#")


def get_cpu_gpu_correlation(df: pd.DataFrame) -> pd.DataFrame:
    """Which call launched which kernel, as columns ``gpu_index`` and ``cpu_index``."""
    kernels = df.loc[df["stream"].gt(0) & df["index_correlation"].gt(0), "index"]
    pairs = df.loc[kernels, ["index", "index_correlation"]]
    return pairs.rename(columns={"index": "gpu_index", "index_correlation": "cpu_index"}).reset_index(drop=True)


class CallGraph:
    """The trees of some ranks. Making it adds the columns of :attr:`stack_columns`, and ``end``, to their frames.

    Attributes:
        rank_to_nodes: by rank the nodes by the number of their event.
        rank_to_stacks: by rank the trees of its threads.
        call_stacks: all trees.
        mapping: a row for each tree: rank, pid, tid, what it is for, its number and that of its root.
    """

    stack_columns = ["parent", "depth", "height", "first_kernel_start", "last_kernel_end", "num_kernels",
                     "kernel_dur_sum", "kernel_span"]

    def __init__(self, trace: Trace, ranks: list[int] | None = None) -> None:
        import pandas

        self.trace_data = trace
        known = trace.get_ranks()
        self.ranks: list[int] = [rank for rank in ranks if rank in known] if ranks else known
        if not self.ranks:
            raise ValueError("No rank was found for the trace.")
        self.rank_to_nodes: dict[int, dict[int, CallStackNode]] = {}
        self.rank_to_stacks: dict[int, dict[CallStackIdentity, CallStackGraph]] = {}
        self.call_stacks: list[CallStackGraph] = []
        self.mapping: pd.DataFrame = pandas.DataFrame(
            columns=["rank", "pid", "tid", "label", "stack_index", "stack_root", "count"])
        for rank in self.ranks:
            self._build(rank)
        self._rank = self.ranks[0]

    @staticmethod
    def from_dataframe(df: pd.DataFrame, symbol_table: TraceSymbolTable | None = None, rank: int = -1) -> CallGraph:
        """The trees of a frame of one rank, of which it keeps a copy."""
        trace = Trace(trace_files={}, trace_dir="")
        trace.symbol_table = symbol_table or TraceSymbolTable.create_from_df(df)
        trace.traces[rank] = df.copy()
        return CallGraph(trace)

    # --- making it

    def _build(self, rank: int) -> None:
        frame = self.trace_data.get_trace(rank)
        if "end" not in frame.columns:
            frame["end"] = frame["ts"] + frame["dur"]
        for name, value in _BEGINNING.items():
            frame[name] = value
        nodes: dict[int, CallStackNode] = {}
        stacks: dict[CallStackIdentity, CallStackGraph] = {}
        self.rank_to_nodes[rank], self.rank_to_stacks[rank] = nodes, stacks
        pairs = get_cpu_gpu_correlation(frame)
        for (pid, tid), thread in frame.groupby(["pid", "tid"]):
            if infer_device_type(thread) is DeviceType.GPU:
                continue
            identity = CallStackIdentity(rank, pid, tid)
            stack = CallStackGraph(thread, identity, pairs, frame, self.trace_data.symbol_table, nodes,
                                   save_call_stack_to_df=False)
            stacks[identity] = stack
            self.call_stacks.append(stack)
            self.mapping.loc[len(self.mapping)] = (rank, pid, tid, self._label_of(stack), len(self.call_stacks) - 1,
                                                   stack.root_index, 1)
        self._connect(rank)
        if self.call_stacks:
            self.call_stacks[-1].save_call_stack_to_dataframe(apply_whole_graph=True)
        self._tidy(frame)

    def _label_of(self, stack: CallStackGraph) -> str:
        names = [self.trace_data.symbol_table.sym_table[number] for number in stack.df["name"].unique()]
        if any(name.startswith("ProfilerStep#") for name in names):
            return "main"
        if any("autograd::" in name for name in names):
            return "bwd"
        return names[0] if names else "empty"

    def _connect(self, rank: int) -> None:
        """Puts the calls of the backward thread below what the main thread says of them."""
        of_rank = self.mapping[self.mapping["rank"] == rank]
        both = of_rank[of_rank["label"].isin(["bwd", "main"])].sort_values("label")
        if len(both) == 2:
            backward, main = (self.call_stacks[number] for number in both["stack_index"])
            for event in self._backward_events(main):
                backward.update_parent_of_first_layer_nodes(event)
        roots = of_rank["stack_index"].map(lambda number: self.call_stacks[number].root_index)
        self.mapping.loc[of_rank.index, "stack_root"] = roots
        self.mapping.loc[of_rank.index, "count"] = roots.groupby(roots).cumcount() + 1

    def _backward_events(self, main: CallStackGraph) -> list[int]:
        for beginning in _BACKWARD:
            numbers = self.trace_data.symbol_table.those(lambda name: name.startswith(beginning))
            events: list[int] = main.df.loc[main.df["name"].isin(numbers), "index"].tolist()
            if events:
                return events
        return []

    @staticmethod
    def _tidy(frame: pd.DataFrame) -> None:
        import pandas

        frame["num_kernels"] = frame["num_kernels"].fillna(-1)
        without = frame.index[frame["num_kernels"] <= 0]
        frame.loc[without, ["kernel_dur_sum", "kernel_span"]] = 0
        frame.loc[without, ["first_kernel_start", "last_kernel_end"]] = -1
        for name in ("depth", "height", "parent", "num_kernels"):
            frame[name] = pandas.to_numeric(frame[name], errors="coerce", downcast="integer")

    # --- asking it

    def get_call_stacks(self, rank: int | None = None, pid: int | None = None, tid: int | None = None,
                        stack_index: int | None = None) -> Iterator[CallStackGraph]:
        """The trees of a rank, a process, a thread, or with a number."""
        rows = self.mapping
        for name, value in (("rank", rank), ("pid", pid), ("tid", tid), ("stack_index", stack_index)):
            rows = rows if value is None else rows[rows[name] == value]
        return (self.call_stacks[number] for number in rows["stack_index"].tolist())

    def get_node_attributes(self, index: int, rank: int | None = None) -> pd.Series:
        """The row of an event. ValueError where there is none."""
        if rank and rank in self.ranks:
            self._rank = rank
        frame = self.trace_data.get_trace(self._rank)
        if index not in frame.index:
            raise ValueError(f"invalid node index - {index}")
        row: pd.Series = frame[frame["index"] == index].squeeze()
        return row

    def _call_of(self, index: int, rank: int | None) -> tuple[pd.Series, bool]:
        """The row of a call, of a kernel that of the call that launched it, and whether it is a call."""
        row = self.get_node_attributes(index, rank)
        return (self.get_node_attributes(row["parent"], rank), False) if row["stream"] > 0 else (row, True)

    def get_csg_of_node(self, index: int, rank: int | None = None) -> CallStackGraph:
        """The tree that an event, or the call that launched a kernel, is in. ValueError where there is none."""
        row, _ = self._call_of(index, rank)
        stack = next(self.get_call_stacks(rank=self._rank, pid=row["pid"], tid=row["tid"]), None)
        if stack is None:
            raise ValueError(f"invalid node index - {index}")
        return stack

    def get_stack_of_node(self, index: int, rank: int | None = None, skip_ancestors: bool = False) -> pd.DataFrame:
        """The rows of an event, of what is in it, and, unless they are skipped, of what it is in, by their start."""
        row, is_call = self._call_of(index, rank)
        stack = self.get_csg_of_node(index, rank)
        numbers = set(stack.get_descendants(row["index"])) if is_call else {index}
        if not skip_ancestors:
            numbers |= set(stack.get_path_to_root(row["index"]))
        rows = stack.full_df.loc[[number for number in numbers if number >= 0]]
        return rows.copy().sort_values("ts")

    def get_gpu_kernels(self, rank: int | None = None) -> pd.DataFrame:
        """The rows of a rank that are no calls."""
        if rank and rank in self.ranks:
            self._rank = rank
        frame = self.trace_data.get_trace(self._rank)
        return frame[frame["stream"] != -1]
