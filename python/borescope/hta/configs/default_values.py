"""What an argument of events is called, in files and in frames."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class YamlVersion(NamedTuple):
    """A version of the list of arguments."""

    major: int
    minor: int
    patch: int

    def get_version_str(self) -> str:
        """``1.0.0``."""
        return f"{self.major}.{self.minor}.{self.patch}"

    @staticmethod
    def from_string(version_str: str) -> YamlVersion:
        """Reads ``1.0.0``."""
        parts = version_str.split(".")
        if len(parts) != 3 or not all(part.isdigit() for part in parts):
            raise ValueError(f"Invalid version string: {version_str}")
        return YamlVersion(*map(int, parts))


v1_0_0 = YamlVersion(1, 0, 0)


class ValueType(Enum):
    """The type of the values of an argument."""

    Int = 1
    Float = 2
    String = 3
    Object = 4


class AttributeSpec(NamedTuple):
    """An argument: the column, its key in the file, its type, and the cell where it is missing."""

    name: str
    raw_name: str
    value_type: ValueType
    default_value: int | float | str | object
    min_supported_version: YamlVersion = v1_0_0


def _specs() -> dict[str, AttributeSpec]:
    whole, real, text, other = ValueType.Int, ValueType.Float, ValueType.String, ValueType.Object
    v1_1, v1_2 = YamlVersion(1, 1, 0), YamlVersion(1, 2, 0)
    rows: list[tuple[str, str, str, ValueType, object]] = [
        ("index::ev_idx", "ev_idx", "Ev Idx", whole, -1), ("index::external_id", "external_id", "External id", whole, -1),
        ("index::python_id", "python_id", "Python id", whole, -1),
        ("index::python_parent_id", "python_parent_id", "Python parent id", whole, -1),
        ("cpu_op::concrete_inputs", "concrete_inputs", "Concrete Inputs", other, "[]"),
        ("cpu_op::fwd_thread", "fwd_thread_id", "Fwd thread id", whole, -1),
        ("cpu_op::input_dims", "input_dims", "Input Dims", other, "-1"),
        ("cpu_op::input_type", "input_type", "Input type", other, "-1"),
        ("cpu_op::input_strides", "input_strides", "Input Strides", other, "-1"),
        ("cpu_op::sequence_number", "sequence", "Sequence number", whole, -1),
        ("cpu_op::kernel_backend", "kernel_backend", "kernel_backend", text, ""),
        ("cpu_op::kernel_hash", "kernel_hash", "kernel_hash", text, ""),
        ("correlation::cbid", "cbid", "cbid", whole, -1), ("correlation::cpu_gpu", "correlation", "correlation", whole, -1),
        ("sm::blocks", "blocks_per_sm", "blocks per SM", other, "[]"),
        ("sm::occupancy", "est_occupancy", "est. achieved occupancy %", whole, -1),
        ("sm::warps", "warps_per_sm", "warps per SM", real, 0.0), ("data::bytes", "bytes", "bytes", whole, -1),
        ("data::bandwidth", "memory_bw_gbps", "memory bandwidth (GB/s)", real, 0.0),
        ("cuda::context", "context", "context", whole, -1), ("cuda::device", "device", "device", whole, -1),
        ("cuda::stream", "stream", "stream", whole, -1), ("kernel::queued", "queued", "queued", whole, -1),
        ("kernel::shared_memory", "shared_memory", "shared memory", whole, -1),
        ("threads::block", "block", "block", other, "[]"), ("threads::grid", "grid", "grid", other, "[]"),
        ("threads::registers", "registers_per_thread", "registers per thread", whole, -1),
        ("cuda_sync::stream", "wait_on_stream", "wait_on_stream", whole, -1),
        ("cuda_sync::event", "wait_on_cuda_event_record_corr_id", "wait_on_cuda_event_record_corr_id", whole, -1),
        ("info::finished", "finished", "finished", text, ""), ("info::labels", "labels", "labels", text, ""),
        ("info::name", "name", "name", whole, -1), ("info::op_count", "op_count", "Op count", whole, -1),
        ("info::sort_index", "sort_index", "sort_index", whole, -1),
        ("nccl::collective_name", "collective_name", "Collective name", text, ""),
        ("nccl::in_msg_nelems", "in_msg_nelems", "In msg nelems", whole, 0),
        ("nccl::out_msg_nelems", "out_msg_nelems", "Out msg nelems", whole, 0),
        ("nccl::in_msg_size", "in_msg_size", "In msg size", whole, 0),
        ("nccl::out_msg_size", "out_msg_size", "Out msg size", whole, 0),
        ("nccl::group_size", "group_size", "Group size", whole, 0), ("nccl::dtype", "msg_dtype", "dtype", text, ""),
        ("nccl::in_split_size", "in_split_size", "In split size", other, "[]"),
        ("nccl::out_split_size", "out_split_size", "Out split size", other, "[]"),
        ("nccl::input_tensors_start", "input_tensors_start", "Input Tensors start", other, "[]"),
        ("nccl::output_tensors_start", "output_tensors_start", "Output Tensors start", other, "[]"),
        ("nccl::process_group_name", "process_group_name", "Process Group Name", text, ""),
        ("nccl::process_group_desc", "process_group_desc", "Process Group Description", text, ""),
        ("nccl::process_group_ranks", "process_group_ranks", "Process Group Ranks", other, "[]"),
        ("nccl::rank", "process_rank", "Rank", whole, -1), ("nccl::seq", "seq_num", "Seq", whole, -1),
        ("inference::batch_size", "batch_size", "batchSize", whole, -1),
        ("inference::batch_id", "batch_id", "batchId", text, "")]
    later = {"cpu_op::kernel_hash": v1_1, "nccl::input_tensors_start": v1_2, "nccl::output_tensors_start": v1_2}
    return {key: AttributeSpec(name, raw, kind, default, later.get(key, v1_0_0))
            for key, name, raw, kind, default in rows}


AVAILABLE_ARGS: dict[str, AttributeSpec] = _specs()
