"""TraceAnalysis: the analyses of HolisticTraceAnalysis (HTA), answered by Borescope."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import Flag, auto
from typing import TYPE_CHECKING, Any

from . import _breakdowns, _counters, _launches, figures
from ._stragglers import (find_stragglers_with_late_start_comm_kernels, profiler_steps,
                          selected_rows)
from .common.trace import DEFAULT_TRACE_DIR, Trace

if TYPE_CHECKING:
    import pandas as pd

    from .analyzers.critical_path_analysis import CPGraph


class TimeSeriesTypes(Flag):
    """What :meth:`TraceAnalysis.generate_trace_with_counters` adds."""

    QUEUE_LENGTH = auto()
    MEMCPY_BANDWIDTH = auto()


def _first_rank(ranks: list[int] | None) -> list[int]:
    return ranks or [0]


class TraceAnalysis:
    """Analyses of the traces of a job, one for each rank. Times are microseconds.

    Args:
        trace_files: name of the file of each rank; or names alone, and the rank stands in the file.
        trace_dir: folder of the traces, and of relative names.
        include_last_profiler_step: keep the last step, which may not be complete.
    """

    def __init__(self, trace_files: dict[int, str] | list[str] | None = None,
                 trace_dir: str = DEFAULT_TRACE_DIR,
                 include_last_profiler_step: bool | None = False) -> None:
        self.t: Trace = Trace(trace_files, trace_dir)
        self.t.load_traces(include_last_profiler_step)
        assert self.t.is_parsed is True, f"there is no trace in {self.t.trace_path}"

    # --- where time goes

    def get_temporal_breakdown(self, visualize: bool = True) -> pd.DataFrame:
        """Idle, computing and other time of the devices of each rank, from the first to the last
        work."""
        frame = _breakdowns.temporal_breakdown(self.t)
        if visualize and figures.can_show():
            figures.show(figures.temporal_breakdown(frame))
        return frame

    def get_comm_comp_overlap(self, visualize: bool = True) -> pd.DataFrame:
        """The part of communication during which there is computation, in percent, by rank."""
        frame = _breakdowns.overlap(self.t)
        if visualize and figures.can_show():
            figures.show(figures.comm_comp_overlap(frame))
        return frame

    def get_gpu_kernel_breakdown(self, visualize: bool = True, duration_ratio: float = 0.8,
                                 num_kernels: int = 10, include_memory_kernels: bool = True,
                                 image_renderer: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
        """Time by type of kernels, and statistics of kernels by name, type and rank. Of more than
        ``num_kernels`` names of a type the others are one row, as are those beyond the quantile
        ``duration_ratio`` of the running sums."""
        types, kernels = _breakdowns.kernel_breakdown(self.t, duration_ratio, num_kernels,
                                                      include_memory_kernels)
        if visualize and figures.can_show():
            figures.show(figures.kernel_types(types), image_renderer)
            for kind in kernels["kernel_type"].unique():
                figures.show(figures.kernels_by_rank(kernels, kind), image_renderer)
                figures.show(figures.kernel_durations(kernels, kind), image_renderer)
        return types, kernels

    def get_gpu_kernels_with_user_annotations(self, rank: int, expand_names: bool = True,
                                              shorten_names: bool = True) -> pd.DataFrame | None:
        """The kernels of a rank, each with the shortest annotation of the device that it overlaps.
        None where there are no annotations of devices."""
        return _breakdowns.annotated_kernels(self.t, rank, expand_names, shorten_names)

    def get_gpu_user_annotation_breakdown(
            self, use_gpu_annotation: bool = True, visualize: bool = True,
            duration_ratio: float = 0.8, num_kernels: int = 1000,
            allowlist_patterns: list[str] | None = None,
            image_renderer: str | None = None) -> pd.DataFrame | None:
        """Statistics of annotations by name and rank. Names that contain a text of
        ``allowlist_patterns`` always have a row of their own. None without annotations."""
        frame = _breakdowns.annotation_breakdown(self.t, use_gpu_annotation, duration_ratio,
                                                 num_kernels, allowlist_patterns)
        if frame is not None and visualize and figures.can_show():
            figures.show(figures.annotations_by_rank(frame), image_renderer)
            figures.show(figures.annotation_durations(frame), image_renderer)
        return frame

    def get_idle_time_breakdown(
            self, ranks: list[int] | None = None, streams: list[int] | None = None,
            visualize: bool = True, visualize_pctg: bool = True,
            show_idle_interval_stats: bool = False,
            consecutive_kernel_delay: int = 30) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Idle time of streams by its cause, and statistics of the gaps. Gaps shorter than
        ``consecutive_kernel_delay`` (in microseconds) wait for the kernel alone."""
        frame, stats = _breakdowns.idle_breakdown(self.t, _first_rank(ranks), streams,
                                                  consecutive_kernel_delay, show_idle_interval_stats)
        if visualize and figures.can_show():
            figures.show(figures.idle_time(frame, visualize_pctg))
        return frame, stats

    # --- launches

    def get_cuda_kernel_launch_stats(self, ranks: list[int] | None = None, runtime_cutoff: int = 50,
                                     launch_delay_cutoff: int = 100,
                                     include_memory_events: bool = True,
                                     visualize: bool = True) -> dict[int, pd.DataFrame]:
        """For each launch of a rank the length of the call, of the work, and the time between."""
        frames = {rank: _launches.launch_stats(self.t, rank, include_memory_events)
                  for rank in _first_rank(ranks)}
        if visualize and figures.can_show():
            for rank, frame in frames.items():
                figures.show([figures.short_kernels(frame, rank, runtime_cutoff),
                              figures.long_calls(frame, rank, runtime_cutoff),
                              figures.long_delays(frame, rank, launch_delay_cutoff)])
        return frames

    def get_aten_op_kernels_and_delay(self, ranks: list[int] | None = None,
                                      sort_by: list[str] | None = None) -> dict[int, pd.DataFrame]:
        """For each operator and what it launches: how often, and mean delays from the operator to
        its first launch and from there to the start of the work. ``figures.operator_delays`` shows
        such a frame; here nothing is shown."""
        return {rank: _launches.operator_delays(self.t, rank, sort_by or ["occurrence_count"])
                for rank in _first_rank(ranks)}

    def get_frequent_cuda_kernel_sequences(
            self, operator_name: str, output_dir: str, min_pattern_len: int = 3, rank: int = 0,
            top_k: int = 5, visualize: bool = False,
            compress_other_kernels: bool = True) -> pd.DataFrame:
        """The sequences of kernels that operators start whose name contains a text. Writes a copy of
        the trace into ``output_dir``, with the sequences on lines of their own; other events stay as
        they are, whatever ``compress_other_kernels`` is. Empty where there are none, or no such
        folder that can be written to."""
        import pandas

        if not operator_name or not (os.path.isdir(output_dir) and os.access(output_dir, os.W_OK)):
            return pandas.DataFrame()
        frame = _launches.frequent_sequences(self.t, rank, operator_name, min_pattern_len)
        if frame.empty:
            return frame
        content = _launches.with_patterns(self.t, rank, operator_name, min_pattern_len)
        self.t.write_raw_trace(_launches.overlaid_name(self.t, rank, output_dir), content)
        if visualize and figures.can_show():
            figures.show(figures.frequent_sequences(frame, rank, top_k))
        return frame

    # --- over time

    def get_queue_length_time_series(self, ranks: list[int] | None = None) -> dict[int, pd.DataFrame]:
        """At each launch and each start of work how many launches of the stream wait."""
        found = {rank: _counters.queue_lengths(self.t, rank) for rank in _first_rank(ranks)}
        return {rank: frame for rank, frame in found.items() if frame is not None}

    def get_queue_length_summary(self, ranks: list[int] | None = None) -> pd.DataFrame | None:
        """Statistics of the lengths of queues, by rank and stream."""
        return _counters.queue_summary(self.get_queue_length_time_series(ranks))

    def get_queue_length_summary_from_time_series(
            self, queue_length_dict: dict[int, pd.DataFrame]) -> pd.DataFrame | None:
        """The same of time series."""
        return _counters.queue_summary(queue_length_dict)

    def get_time_spent_blocked_on_full_queue(self, queue_length_dict: dict[int, pd.DataFrame],
                                             max_queue_length: int = 1024) -> pd.DataFrame | None:
        """Of each rank the time for which the queue of its last stream was full."""
        return _counters.blocked_time(self.t, queue_length_dict, max_queue_length)

    def get_memory_bw_time_series(self, ranks: list[int] | None = None) -> dict[int, pd.DataFrame]:
        """At each start and end of a copy the sum of the rates of copies of its kind, in GB/s."""
        found = {rank: _counters.copy_rates(self.t, rank) for rank in _first_rank(ranks)}
        return {rank: frame for rank, frame in found.items() if frame is not None}

    def get_memory_bw_summary(self, ranks: list[int] | None = None) -> pd.DataFrame | None:
        """Statistics of those rates, by rank and kind, where they are above 0."""
        return _counters.rate_summary(self.get_memory_bw_time_series(ranks))

    def generate_trace_with_counters(self, time_series: TimeSeriesTypes | None = None,
                                     ranks: list[int] | None = None,
                                     output_suffix: str = "_with_counters") -> None:
        """Writes copies of traces with lengths of queues and rates of copies as counters, beside the
        traces, compressed."""
        chosen = (TimeSeriesTypes.QUEUE_LENGTH | TimeSeriesTypes.MEMCPY_BANDWIDTH
                  if time_series is None else time_series)
        for rank in _first_rank(ranks):
            content = self.t.get_raw_trace_for_one_rank(rank)
            content["traceEvents"] += self._counters(rank, chosen)
            name = self.t.trace_files[rank].replace(".json", f"{output_suffix}.json")
            self.t.write_raw_trace(name, content)

    def _counters(self, rank: int, chosen: TimeSeriesTypes) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        if TimeSeriesTypes.QUEUE_LENGTH in chosen:
            lengths = self.get_queue_length_time_series([rank]).get(rank)
            if lengths is not None:
                named = lengths.rename(columns={"stream": "id"})
                events += self.t.convert_time_series_to_events(named, "Queue Length", "queue_length")
        if TimeSeriesTypes.MEMCPY_BANDWIDTH in chosen:
            rates = self.get_memory_bw_time_series([rank]).get(rank)
            if rates is not None:
                events += self.t.convert_time_series_to_events(rates, "Memcpy BW", "memory_bw_gbps")
        return events

    def get_cupti_counter_data_with_operators(self,
                                              ranks: list[int] | None = None) -> list[pd.DataFrame]:
        """What hardware counters measured, a row for each kernel, with the operators around its
        launch. HTA's columns about its call graph are not among those of the frames."""
        if "cuda_profiler_range" not in self.t.symbol_table.sym_index:
            return []
        frames = (_counters.counters_with_operators(self.t, rank) for rank in _first_rank(ranks))
        return [frame for frame in frames if frame is not None]

    # --- steps and ranks

    def get_profiler_steps(self) -> list[int]:
        """The numbers of the steps."""
        return profiler_steps(self.t)

    def get_potential_stragglers(
            self, profiler_steps: list[int] | None = None, num_candidates: int = 2,
            visualize: bool = False,
            straggler_identification_impl: Callable[..., pd.Series] =
            find_stragglers_with_late_start_comm_kernels) -> list[int]:
        """The ranks that are most often among the last to begin the communication kernel that
        varies most; or what a function of one's own makes of the events of all ranks, a table of
        names, the number of candidates, and ``visualize``."""
        known = self.get_profiler_steps()
        chosen = known if profiler_steps is None else [step for step in profiler_steps if step in known]
        if not chosen:
            raise ValueError(f"invalid value for argument: profiler_steps={profiler_steps}; "
                             f"available profiler steps={known}")
        count = max(1, num_candidates)
        counts = straggler_identification_impl(selected_rows(self.t, chosen), self.t.symbol_table,
                                               count, visualize)
        ranks: list[int] = counts.sort_values(ascending=False)[:count].index.tolist()
        return ranks

    # --- the critical path

    def critical_path_analysis(self, rank: int, annotation: str,
                               instance_id: int | tuple[int, int] | None,
                               data_load_events: list[str] | None = None
                               ) -> tuple[CPGraph, bool] | None:
        """What decides how long a part of a rank takes: the graph, and whether a path was found.
        None where nothing has such a name."""
        from .analyzers.critical_path_analysis import CriticalPathAnalysis

        return CriticalPathAnalysis.critical_path_analysis(self.t, rank, annotation, instance_id,
                                                           data_load_events)

    def overlay_critical_path_analysis(self, rank: int, critical_path_graph: CPGraph,
                                       output_dir: str, only_show_critical_events: bool = True,
                                       show_all_edges: bool = False) -> str:
        """Writes a copy of the trace with the path marked; returns its name."""
        from .analyzers.critical_path_analysis import CriticalPathAnalysis

        return CriticalPathAnalysis.overlay_critical_path_analysis(
            self.t, rank, critical_path_graph, output_dir, only_show_critical_events, show_all_edges)
