"""Traces of a job: their files by rank, and the frame of events of each."""

from __future__ import annotations

import gzip
import json
import os
from typing import TYPE_CHECKING, Any

from .._engine import Asker
from .._frames import FrameMaker
from .._symbols import TraceSymbolTable
from ..configs.parser_config import ParserConfig, with_arguments
from .trace_file import create_rank_to_trace_dict, get_trace_files, read_trace

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

PHASE_COUNTER = "C"
DEFAULT_TRACE_DIR = "/tmp/trace"


def _normalized(path: str) -> str:
    if path.startswith("./"):
        return os.path.join(os.getcwd(), path[2:])
    if path.startswith("~/"):
        return os.path.join(os.path.expanduser("~"), path[2:])
    return path


def trace_event_timestamp_to_unixtime_ns(trace_event_ts_us: float,
                                         trace_metadata: dict[str, Any]) -> int:
    """When an event was, in nanoseconds of Unix time. KeyError where the trace does not say."""
    if "baseTimeNanoseconds" not in trace_metadata:
        raise KeyError("'baseTimeNanoseconds' is not in the metadata of the trace, so that times "
                       "cannot be converted to Unix time; record with PyTorch 2.4 or newer")
    return int(trace_event_ts_us * 1e3) + int(trace_metadata["baseTimeNanoseconds"])


class Trace:
    """The traces of a job. Frames are made when something needs them.

    Attributes:
        trace_path: folder that relative names of files are in.
        trace_files: name of the file of each rank.
        is_parsed: whether traces were loaded, or will be when they are asked for.
    """

    def __init__(self, trace_files: list[str] | dict[int, str] | None = None,
                 trace_dir: str = DEFAULT_TRACE_DIR, parser_config: ParserConfig | None = None) -> None:
        self.parser_config: ParserConfig = parser_config or ParserConfig.get_default_cfg()
        self.is_parsed: bool = False
        self.trace_path: str = _normalized(trace_dir)
        if trace_files is None:
            files = get_trace_files(self.trace_path)
        elif isinstance(trace_files, dict):
            files = trace_files
        else:
            files = create_rank_to_trace_dict(trace_files)[1]
        self.trace_files: dict[int, str] = files
        self._normalize_trace_filenames()
        if not self._validate_trace_files():
            raise ValueError("Trace files validation failed.")
        self._include_last = False
        self._is_aligned = False
        self._loaded: _Loaded | None = None
        self._meta: dict[int, dict[str, Any]] = {}
        self._asker: Asker | None = None
        self._put: dict[str, Any] = {"traces": {}, "symbol_table": TraceSymbolTable(), "min_ts": 0}

    def _normalize_trace_filenames(self) -> None:
        for rank, name in self.trace_files.items():
            if not (name.startswith(self.trace_path) or name.startswith("/")):
                self.trace_files[rank] = os.path.join(self.trace_path, name)

    def _validate_trace_files(self) -> bool:
        return all(os.access(name, os.R_OK) and name.endswith((".gz", ".json"))
                   for name in self.trace_files.values())

    # --- loading

    def load_traces(self, include_last_profiler_step: bool | None = False,
                    use_multiprocessing: bool = True, use_memory_profiling: bool = True) -> None:
        """Chooses what frames hold: without the last step, unless it is to be included; times from
        the first start of all ranks. The other arguments have no meaning here."""
        if not self.is_parsed:
            self._include_last = bool(include_last_profiler_step)
            self._is_aligned = True
            self.is_parsed = bool(self.trace_files)

    def parse_traces(self, max_ranks: int = -1, use_multiprocessing: bool = True,
                     use_memory_profiling: bool = True) -> None:
        """Chooses frames with all steps, and times as recorded, as :class:`LabeledTrace` has them. The
        arguments have no meaning here: all ranks are read."""
        if not self.is_parsed or self._is_aligned:
            self._is_aligned = False
            self._loaded = None
            self.is_parsed = bool(self.trace_files)

    @property
    def asker(self) -> Asker:
        """The door to the engine."""
        if self._asker is None:
            self._asker = Asker(self.trace_files, self._include_last)
        return self._asker

    def _frames(self) -> _Loaded:
        if self._loaded is None:
            self._loaded = _Loaded(self)
        return self._loaded

    @property
    def is_aligned(self) -> bool:
        """Whether frames lack the last step and begin at 0."""
        return self._is_aligned

    # --- what was loaded

    @property
    def traces(self) -> dict[int, pd.DataFrame]:
        """The frame of events of each rank."""
        frames: dict[int, pd.DataFrame] = self._of("traces")
        return frames

    @traces.setter
    def traces(self, frames: dict[int, pd.DataFrame]) -> None:
        self._put_into("traces", frames)

    @property
    def symbol_table(self) -> TraceSymbolTable:
        """The names behind the numbers in the columns ``name`` and ``cat``."""
        symbols: TraceSymbolTable = self._of("symbol_table")
        return symbols

    @symbol_table.setter
    def symbol_table(self, symbols: TraceSymbolTable) -> None:
        self._put_into("symbol_table", symbols)

    @property
    def min_ts(self) -> Any:
        """What was subtracted from all times, in microseconds."""
        return self._of("min_ts")

    @min_ts.setter
    def min_ts(self, value: Any) -> None:
        self._put_into("min_ts", value)

    def _of(self, name: str) -> Any:
        """What was loaded, or, before that, what was put here."""
        return getattr(self._frames(), name) if self.is_parsed else self._put[name]

    def _put_into(self, name: str, value: Any) -> None:
        if self.is_parsed:
            setattr(self._frames(), name, value)
        self._put[name] = value

    @property
    def meta_data(self) -> dict[int, dict[str, Any]]:
        """What each file says beside its events."""
        for rank, name in self.trace_files.items():
            if rank not in self._meta:
                content = read_trace(name)
                content.pop("traceEvents", None)
                content["device_type"] = self._frames().device_types.get(rank, "UNKNOWN GPU")
                self._meta[rank] = content
        return self._meta

    def get_ranks(self) -> list[int]:
        """The ranks that have events, sorted."""
        return sorted(self.traces)

    def _rank_or_first(self, rank: int | None) -> int:
        ranks = self.get_ranks() if rank is None else [rank]
        return ranks[0] if ranks else -1

    def get_iterations(self, rank: int | None = None) -> list[int]:
        """The numbers of the steps of a rank, or of the first one."""
        rank = self._rank_or_first(rank)
        if rank not in self.traces or "iteration" not in self.traces[rank].columns:
            return []
        return sorted(number for number in self.traces[rank]["iteration"].unique() if number >= 0)

    def get_trace_duration(self, rank: int | None = None) -> int:
        """From the first to the last start of any event of a rank, in microseconds."""
        starts = self.get_trace(self._rank_or_first(rank))["ts"]
        duration: int = starts.max() - starts.min()
        return duration

    def get_trace(self, rank: int) -> pd.DataFrame:
        """The frame of a rank. ValueError where there is none."""
        if rank not in self.traces:
            raise ValueError(f"there is no trace of rank {rank}; ranks are {self.get_ranks()}")
        return self.traces[rank]

    def get_all_traces(self) -> dict[int, pd.DataFrame]:
        """The frame of each rank."""
        return self.traces

    def get_device_type(self) -> str:
        """NVIDIA GPU, AMD GPU, MTIA or UNKNOWN GPU, of the first rank."""
        types = self._frames().device_types
        return next(iter(types.values()), "UNKNOWN GPU")

    def get_trace_start_unixtime_ns(self, rank: int) -> int:
        """When the traces begin, in nanoseconds of Unix time. KeyError where the file does not say."""
        if rank not in self.traces:
            raise ValueError(f"there is no trace of rank {rank}; ranks are {self.get_ranks()}")
        return trace_event_timestamp_to_unixtime_ns(self.min_ts, self.meta_data[rank])

    def decode_symbol_ids(self, use_shorten_name: bool = True) -> None:
        """Adds the names themselves to all frames, as ``s_name`` and ``s_cat``."""
        from .._kernels import decode

        for frame in self.traces.values():
            decode(frame, self.symbol_table, use_shorten_name)

    # --- files

    def get_raw_trace_for_one_rank(self, rank: int = 0) -> dict[str, Any]:
        """The content of the file of a rank. ValueError where there is none."""
        if rank not in self.trace_files:
            raise ValueError(f"there is no trace of rank {rank}; ranks are {sorted(self.trace_files)}")
        return read_trace(self.trace_files[rank])

    def write_raw_trace(self, output_file: str, trace_contents: dict[str, Any]) -> None:
        """Writes a trace, always compressed."""
        with gzip.open(output_file, "wb", compresslevel=6) as file:
            file.write(json.dumps(trace_contents).encode())

    def convert_time_series_to_events(self, series: pd.DataFrame, counter_name: str,
                                      counter_col: str) -> list[dict[str, Any]]:
        """Counter events of a time series, one for each row; none without the columns it needs."""
        if not {"pid", "ts", counter_col} <= set(series.columns):
            return []
        names = series["name"] if "name" in series.columns else [counter_name] * len(series)
        cells: list[Any] = [series["pid"].tolist(), (series["ts"] + self.min_ts).tolist(),
                            series[counter_col].tolist(), list(names)]
        events = [{"ph": PHASE_COUNTER, "name": name, "pid": pid, "ts": ts,
                   "args": {counter_name: value}} for pid, ts, value, name in zip(*cells)]
        if "id" in series.columns:
            for event, number in zip(events, series["id"].tolist()):
                event["id"] = number
        return events

    @staticmethod
    def flow_event(id: int, pid: int, tid: int, ts: int, is_start: bool, name: str, cat: str,
                   args: dict[str, Any] | None = None) -> dict[str, Any]:
        """One end of an arrow."""
        event: dict[str, Any] = {"ph": "s" if is_start else "f", "id": id, "pid": pid, "tid": tid,
                                 "ts": ts, "cat": cat, "name": name}
        if args is not None:
            event["args"] = args
        if not is_start:
            event["bp"] = "e"
        return event


class _Loaded:
    """What the engine says of the files of a trace."""

    def __init__(self, trace: Trace) -> None:
        given: dict[str, Any] = {} if trace.is_aligned else {"as_parsed": True}
        answer = trace.asker.ask("events", **given)
        self.symbol_table = TraceSymbolTable()
        maker = FrameMaker(answer, self.symbol_table, not trace.is_aligned)
        self.traces = maker.frames()
        usual = ParserConfig().get_fingerprint_key()
        if trace.parser_config.get_fingerprint_key() != usual:
            self.traces = {rank: with_arguments(frame, read_trace(trace.trace_files[rank])["traceEvents"],
                                                trace.parser_config) for rank, frame in self.traces.items()}
        self.device_types = maker.device_types()
        self.min_ts: np.generic | int = 0
        if trace.is_aligned and self.traces:
            self.min_ts = next(iter(self.traces.values()))["ts"].dtype.type(maker.origin())
