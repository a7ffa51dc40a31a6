"""What PyTorch's execution trace says of the operators of a trace, as columns of its frame."""

from __future__ import annotations

import gzip
import json
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..utils.utils import normalize_path
from .trace import Trace

if TYPE_CHECKING:
    import pandas as pd

logger = logging.getLogger("borescope.hta")
EXECUTION_TRACE_SUPPORTED_EVENTS = ["cpu_op", "user_annotation"]


@dataclass
class Node:
    """An operator of an execution trace."""

    id: int
    name: str
    rf_id: int | None = None
    op_schema: str = ""
    input_shapes: list[Any] = field(default_factory=list)
    input_types: list[Any] = field(default_factory=list)
    output_shapes: list[Any] = field(default_factory=list)
    output_types: list[Any] = field(default_factory=list)


def _node_of(record: dict[str, Any]) -> Node:
    """A node as the first schemas have it, flat, or with ``attrs``, ``inputs`` and ``outputs`` since 1.0.3."""
    attrs = {each["name"]: each.get("value") for each in record.get("attrs", []) if "name" in each}
    cells: dict[str, list[Any]] = {}
    for side in ("input", "output"):
        values = record.get(f"{side}s")
        for part in ("shapes", "types"):
            cells[f"{side}_{part}"] = (values.get(part, []) if isinstance(values, dict)
                                       else record.get(f"{side}_{part}", []))
    return Node(record["id"], record.get("name", ""), attrs.get("rf_id", record.get("rf_id")),
                attrs.get("op_schema", record.get("op_schema", "")), **cells)


class ExecutionTrace:
    """The operators of a file, by their numbers."""

    def __init__(self, content: dict[str, Any]) -> None:
        self.schema: str = content.get("schema", "")
        self.nodes: dict[int, Node] = {record["id"]: _node_of(record) for record in content.get("nodes", [])}


def load_execution_trace(et_file: str) -> ExecutionTrace:
    """Reads an execution trace, plain or compressed."""
    path = normalize_path(et_file)
    with gzip.open(path, "rb") if path.endswith("gz") else open(path, "rb") as file:
        return ExecutionTrace(json.load(file))


def _overlap(numbers: Any, et: ExecutionTrace) -> bool:
    """Whether all operators of the execution trace are in the time of the trace, by the numbers that PyTorch gave."""
    known = [node.rf_id for node in et.nodes.values() if node.rf_id is not None
             and "execution_trace|thread" not in node.name and "execution_trace|process" not in node.name]
    return bool(known) and bool(numbers.min() <= min(known) and numbers.max() >= max(known))


def correlate_execution_trace(trace: Trace, rank: int, et: ExecutionTrace) -> None:
    """Adds the column ``et_node``, the number of the node of each operator and annotation. Without an overlap of both
    traces, none."""
    frame = trace.get_trace(rank)
    if not _overlap(frame["external_id"], et):
        logger.error("the execution trace and the trace do not overlap")
        return
    numbers = {node.rf_id: number for number, node in et.nodes.items()}
    meant = [trace.symbol_table.sym_index.get(name) for name in EXECUTION_TRACE_SUPPORTED_EVENTS]
    frame.loc[frame["cat"].isin(meant), "et_node"] = frame["external_id"].map(numbers).astype("float64")


def add_et_column(trace_df: pd.DataFrame, et: ExecutionTrace, column: str) -> None:
    """Adds what the nodes say as a column: ``op_schema``, ``input_shapes``, ``input_types``, ``output_shapes``,
    ``output_types`` or ``et_node_name``. Needs the column ``et_node``."""
    import numpy
    import pandas

    known = ("op_schema", "input_shapes", "input_types", "output_shapes", "output_types", "et_node_name")
    if "et_node" not in trace_df.columns or column not in known:
        logger.error("call correlate_execution_trace first" if column in known else f"there is no column {column}")
        return
    name = "name" if column == "et_node_name" else column
    cells: Any = numpy.empty(len(trace_df), dtype=object)
    cells[:] = [getattr(et.nodes[int(node)], name) if pandas.notna(node) else numpy.nan
                for node in trace_df["et_node"].tolist()]
    trace_df[column] = cells
