"""Names of kernels, paths, and columns of frames."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING

from .._symbols import kernel_type, short_name

if TYPE_CHECKING:
    import pandas as pd


class KernelType(Enum):
    """What a kernel is for."""

    COMMUNICATION = 0
    MEMORY = 1
    COMPUTATION = 2
    OTHER = 3


class IdleTimeType(Enum):
    """Why a stream is idle."""

    HOST_WAIT = 0
    KERNEL_WAIT = 1
    OTHER = 2


def normalize_path(path: str) -> str:
    """The path with ``./`` and ``~/`` at its beginning resolved."""
    for prefix, folder in (("./", os.getcwd()), ("~/", os.path.expanduser("~"))):
        if path.startswith(prefix):
            return os.path.join(folder, path[len(prefix):]) if len(path) > len(prefix) else folder
    return path


def shorten_name(name: str) -> str:
    """A name without what is in brackets, and without what is before its last blank."""
    return short_name(name)


def get_kernel_type(name: str) -> str:
    """The name of the :class:`KernelType`."""
    return kernel_type(name)


def is_comm_kernel(name: str) -> bool:
    """Whether a kernel communicates."""
    from ..common.types import CommunicateKernelGroupingPattern

    return CommunicateKernelGroupingPattern.match(name)


def is_memory_kernel(name: str) -> bool:
    """Whether it is a copy or a fill."""
    from ..common.types import MemoryKernelGroupingPattern

    return MemoryKernelGroupingPattern.match(name)


def is_compute_kernel(name: str) -> bool:
    """Whether it is neither of these."""
    from ..common.types import ComputeKernelGroupingPattern

    return ComputeKernelGroupingPattern.match(name)


is_computer_kernel = is_compute_kernel


def get_memory_kernel_type(name: str) -> str:
    """``Memset``, or ``Memcpy`` with its direction."""
    if name.startswith("Memset"):
        return "Memset"
    return name[:len("Memcpy DtoH")] if name.startswith("Memcpy") else "Memcpy Unknown"


def merge_kernel_intervals(kernel_df: pd.DataFrame) -> pd.DataFrame:
    """The union of the intervals of rows, as columns ``ts`` and ``end``. Sorts the frame, and adds columns to it."""
    kernel_df.sort_values(by="ts", inplace=True)
    kernel_df["end"] = kernel_df["ts"] + kernel_df["dur"]
    begins = kernel_df["ts"] > kernel_df["end"].shift().cummax()
    kernel_df["group"] = begins.cumsum()
    merged = kernel_df.groupby("group", as_index=False).agg({"ts": "min", "end": "max"})
    return merged.drop(columns="group").sort_values(by="ts")


def flatten_column_names(df: pd.DataFrame) -> None:
    """Joins the levels of names of columns by ``_``."""
    if df.columns.nlevels > 1:
        df.columns = ["_".join(levels).rstrip("_") for levels in df.columns]


def get_mp_pool_size(obj_size: int, num_objs: int) -> int:
    """How many processes may hold an object of so many bytes each: memory, processors and objects limit them."""
    free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(int(0.8 * free / obj_size), num_objs, os.cpu_count() or 1)


def get_symbol_column_names(df: pd.DataFrame) -> tuple[str, str]:
    """The columns that hold names and categories as texts; "" where there is none."""
    from pandas.api.types import is_string_dtype

    def found(*names: str) -> str:
        return next((name for name in names if name in df.columns and is_string_dtype(df[name])), "")

    return found("name", "s_name"), found("cat", "s_cat")


def normalize_gpu_stream_numbers(df: pd.DataFrame) -> None:
    """Makes numbers of streams whole ones; -1 of what is none."""
    import pandas

    if "stream" in df.columns:
        df["stream"] = pandas.to_numeric(df["stream"], errors="coerce").fillna(-1).astype(int)


def get_value_from_dict(d: object, key: str, default: object = None) -> object:
    """The value at ``a.b.c`` in dicts of dicts."""
    for part in key.split("."):
        if not isinstance(d, dict) or part not in d:
            return default
        d = d[part]
    return d
