"""Kinds of devices and copies, and HTA's patterns of names and categories."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from .._symbols import COMMUNICATION, MEMORY, NO_COMPUTATION

if TYPE_CHECKING:
    import pandas as pd


class DeviceType(Enum):
    """On which side rows were recorded."""

    UNKNOWN = 0
    CPU = 1
    GPU = 2
    ALL = 3


def infer_device_type(df: pd.DataFrame) -> DeviceType:
    """On which side the rows of one thread or stream were recorded."""
    if "stream" not in df.columns:
        return DeviceType.UNKNOWN
    has_line = {"pid", "tid"} <= set(df.columns)
    if (df["stream"] > 0).all() or (has_line and ((df["pid"] == 0).all() or (df["tid"] == 0).all())):
        return DeviceType.GPU
    return DeviceType.CPU if (df["stream"] == -1).all() else DeviceType.UNKNOWN


class MemcpyType(Enum):
    """Kinds of copies."""

    DTOD = 0
    DTOH = 1
    HTOD = 2
    UNKNOWN = 3


MEMCPY_TYPE_TO_STR: dict[MemcpyType, str] = {
    MemcpyType.DTOD: "memcpy_dtod", MemcpyType.DTOH: "memcpy_dtoh", MemcpyType.HTOD: "memcpy_htod",
    MemcpyType.UNKNOWN: "memcpy_type_unknown"}


@dataclass
class GroupingPattern:
    """A regular expression for the beginning of names, or of all other names."""

    pattern: re.Pattern[str]
    inverse_match: bool = False
    group_name: str = ""

    def match(self, name: str) -> bool:
        """Whether a name is meant."""
        return (self.pattern.match(name) is not None) != self.inverse_match

    def __hash__(self) -> int:
        return hash((self.pattern.pattern, self.pattern.flags, self.inverse_match))


def to_grouping_pattern(pattern: str | list[str] | re.Pattern[str] | GroupingPattern,
                        group_name: str | None = None,
                        inverse_match: bool | None = None) -> GroupingPattern:
    """A pattern of a regular expression, or of several of which one must match."""
    if isinstance(pattern, GroupingPattern):
        return pattern
    if isinstance(pattern, list):
        pattern = "|".join(f"({each})" for each in pattern)
    if isinstance(pattern, str):
        pattern = re.compile(pattern)
    if not isinstance(pattern, re.Pattern):
        raise ValueError(f"Unsupported pattern type: {type(pattern)}")
    return GroupingPattern(pattern, bool(inverse_match), group_name or "")


def _pattern(name: str, expression: str, inverse: bool = False) -> GroupingPattern:
    return GroupingPattern(re.compile(expression), inverse, name)


ProfilerStepGroupingPattern = _pattern("Profiler Step", r"^ProfilerStep#(\d+)")
MemoryKernelGroupingPattern = _pattern("Memory", MEMORY.pattern)
MTIAMemoryKernelGroupingPattern = _pattern("MTIA Memory", r"dma")
CommunicateKernelGroupingPattern = _pattern("Communicate", COMMUNICATION.pattern)
ComputeKernelGroupingPattern = _pattern("Compute", NO_COMPUTATION.pattern, inverse=True)
KERNEL_CATEGORY_PATTERN = _pattern("GPU Kernels", r"kernel|gpu_mem.+|mtia_ccp_events")
KERNEL_LAUNCH_CATEGORY_PATTERN = _pattern("Kernel Launch", r"cuda.*LaunchKernel|cuLaunchKernel|runFunction")
CPU_OP_CATEGORY_PATTERN = _pattern("CPU Ops", r"cpu_op|user_annotation")
DEVICE_RUNTIME_CATEGORY_PATTERN = _pattern("Device Runtimes", r"cuda_runtime|mtia_runtime")
MEMORY_CATEGORY_PATTERN = _pattern("Memory", r"gpu_mem.+|mtia_ccp_events")
GPU_EVENT_CATEGORY_PATTERN = _pattern("GPU Events", r".*kernel|gpu_mem|mtia_ccp_events|cuda_sync")
CPU_EVENTS_CATEGORY_PATTERN = _pattern("CPU Events", r"cpu_op|user_annotation|.+_runtime")
CPU_AND_GPU_EVENTS_CATEGORY_PATTERN = _pattern(
    "CPU/GPU Events", r"cpu_op|user_annotation|cuda_runtime|.*kernel|gpu_mem|mtia_ccp_events|cuda_sync")
PYTHON_FUNCTION_PATTERN = _pattern("Python Functions", r"python_function")
ALL_CATEGORY_PATTERN = _pattern("All", r".*")
CUDA_SYNC_PATTERN = _pattern("CUDA Sync", r"cuda_sync")
common_grouping_patterns: dict[str, GroupingPattern] = {
    "memory_kernels": MemoryKernelGroupingPattern, "compute_kernels": ComputeKernelGroupingPattern,
    "communicate_kernels": CommunicateKernelGroupingPattern}
