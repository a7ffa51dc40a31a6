"""A method for every verb. Written by tools/gen_python.py from the program; change the text there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from ._keywords import verb
from ._types import FileValue

if TYPE_CHECKING:
    from ._answer import Answer
    from ._io import Given
    from ._run import Run

# The tables of all verbs, for editors that complete them.
TableName = Literal[
    "allocator_replay", "annotated_kernels", "annotations", "bandwidth", "boxes", "breakdown",
    "breakdown_spread", "busy", "check", "check_runs", "checks", "clock_skew", "clocks",
    "collective_bandwidth", "collective_time", "collectives", "comm_model", "comm_slow", "copies",
    "counter_flops", "counter_join", "counter_lineup", "counter_ops", "counter_rules", "counters",
    "critical_ops", "critical_path", "critical_path_summary", "cuda_api_sum", "cuda_gpu_kern_sum",
    "cuda_gpu_mem_size_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_trace", "cuda_kern_exec_sum",
    "delays", "device_use", "diff", "diff_annotations", "diff_classes", "diff_modules",
    "diff_operators", "diff_phases", "diff_runs", "diff_summary", "diff_time", "diff_waiting",
    "event_counts", "events", "flame", "gap_neighbours", "gaps", "gate", "gate_calls",
    "gemm_shapes", "gpu_time", "graph_captures", "graph_kernels", "graph_launches",
    "graph_operators", "hang_culprits", "hang_mismatches", "hang_operations", "hang_ranks",
    "host_use", "idle", "idle_causes", "idle_intervals", "inductor_categories", "inductor_kernels",
    "inductor_time", "inference_experts", "inference_parts", "inference_phases", "inference_stalls",
    "inference_steps", "inherited", "inherited_steps", "inherited_work", "job", "kernel_classes",
    "kernels", "late_collectives", "late_host", "lateness", "launch_links", "launch_summary",
    "launches", "ledger", "left_out", "levels", "log_findings", "longest_gaps", "memory_bound",
    "memory_growth", "memory_live", "memory_ops", "memory_peak", "memory_segments",
    "memory_timeline", "modelled", "nvtx_gpu_proj_sum", "nvtx_kern_sum", "nvtx_sum", "oom",
    "oom_fixes", "ops", "osrt_sum", "overlap", "overview", "points", "postmortem",
    "postmortem_files", "postmortem_profiles", "prices", "prof", "quality", "queue", "rank_groups",
    "ranking", "replay_constants", "replay_quality", "roofline", "roofs", "sequence_coverage",
    "sequences", "slack", "slow_steps", "speed_of_light", "stack_frames", "stacks", "step_heat",
    "step_spread", "steps", "steps_spread", "stragglers", "sync_edges", "sync_quality", "timeline",
    "top", "traces", "tracks", "true_time", "utilisation", "variability", "variability_summary",
    "variance_causes", "verdict", "waits", "waits_by_rank", "what_if", "windows"
]
# The type of each parameter, by verb.
PARAMETERS: dict[str, dict[str, str]] = {
    "info": {
        "rank": "ranges", "sort": "text", "top": "count"
    },
    "doctor": {
        "rank": "ranges", "sort": "text", "top": "count"
    },
    "summary": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count", "price": "flag", "plain_step": "times"
    },
    "breakdown": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count",
        "include_last_step": "flag"
    },
    "busy": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count"
    },
    "idle": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count",
        "kernel_wait": "time", "longest": "count", "include_last_step": "flag"
    },
    "gaps": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "sort": "text", "top": "count", "edges": "times"
    },
    "overlap": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count",
        "include_last_step": "flag"
    },
    "top": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count"
    },
    "kernels": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "all": "flag", "sort": "text", "top":
        "count", "patterns": "file", "num_kernels": "count", "duration_ratio": "share",
        "no_memory_kernels": "flag", "include_last_step": "flag"
    },
    "variability": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "all": "flag", "sort": "text", "top": "count", "context":
        "number", "outliers": "number", "patterns": "file"
    },
    "inductor": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count", "wall":
        "time", "runs": "count", "inductor_cache": "folder", "device": "text", "device_spec": "file"
    },
    "ops": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "all": "flag", "sort": "text", "top":
        "count"
    },
    "roofline": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "sort": "text", "top": "count", "device": "text",
        "device_spec": "file", "causal": "choice", "sfu_weight": "number", "disagree": "share"
    },
    "stacks": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "sort": "text", "top": "count", "root": "text", "depth":
        "count", "min_share": "share", "sampled": "flag", "calls": "flag", "folded": "flag"
    },
    "flame": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "sort": "text", "top": "count", "root": "text", "depth":
        "count", "min_share": "share", "folded": "flag"
    },
    "steps": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count", "plain_step": "times", "without_recording":
        "flag"
    },
    "launches": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "long_call": "time",
        "long_delay": "time", "long_kernel": "time", "no_memory_events": "flag",
        "include_last_step": "flag"
    },
    "delays": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "include_last_step":
        "flag"
    },
    "graphs": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count"
    },
    "queue": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "overlay": "file",
        "queue_limit": "count", "series": "flag", "include_last_step": "flag"
    },
    "bandwidth": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "overlay": "file",
        "series": "flag", "include_last_step": "flag"
    },
    "sequences": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "overlay": "file",
        "operator": "text", "min_length": "count", "include_last_step": "flag"
    },
    "annotations": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count",
        "include_last_step": "flag"
    },
    "collectives": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "sort": "text", "top": "count"
    },
    "stragglers": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "include_last_step":
        "flag"
    },
    "waits": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count", "exit_skew": "time"
    },
    "critical-path": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "overlay": "file",
        "save": "file", "data_load": "text", "zero_weight_launch_edges": "flag", "graph": "flag",
        "overlay_all_events": "flag", "overlay_all_edges": "flag", "include_last_step": "flag"
    },
    "whatif": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "sort":
        "text", "top": "count", "scale": "texts", "remove": "texts", "roof": "text",
        "speed_of_light": "texts", "no_data_wait": "flag", "no_sync": "texts", "overlap_comm":
        "flag", "graph": "texts", "launch": "text", "plan": "file", "sweep": "text", "data_load":
        "text", "causal": "choice", "sfu_weight": "number", "device": "text", "device_spec": "file",
        "candidates": "count", "plain_step": "times", "without_recording": "flag"
    },
    "variance": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "sort":
        "text", "top": "count", "parts": "choice", "all_steps": "flag", "data_load": "text",
        "series": "flag"
    },
    "inference": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count", "phase_pattern": "texts"
    },
    "memory": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count"
    },
    "counters": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "by": "list", "compat": "choice", "sort": "text", "top": "count",
        "all_counters": "flag", "disagree": "share", "include_last_step": "flag"
    },
    "stats": {
        "report": "text", "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern":
        "text", "gpu": "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges",
        "begin": "moment", "end": "moment", "sort": "text", "top": "count"
    },
    "prof": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "all": "flag", "sort": "text", "top": "count",
        "columns": "text", "width": "number", "csv": "flag", "parse": "flag", "causal": "choice",
        "sfu_weight": "number"
    },
    "events": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "compat": "choice", "sort": "text", "top": "count", "as_parsed": "flag",
        "include_last_step": "flag"
    },
    "timeline": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "sort": "text", "top": "count", "detail": "choice", "size": "count"
    },
    "diff": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "base_rank":
        "ranges", "test_rank": "ranges", "base_step": "ranges", "test_step": "ranges", "begin":
        "moment", "end": "moment", "compat": "choice", "sort": "text", "top": "count",
        "short_names": "flag"
    },
    "report": {
        "rank": "ranges", "step": "ranges", "step_rule": "choice", "step_pattern": "text", "gpu":
        "ranges", "stream": "ranges", "annotation": "text", "instance": "ranges", "begin": "moment",
        "end": "moment", "top": "count", "timeline": "choice", "plain_step": "times"
    },
}
# The value of each parameter that has one where none is given.
DEFAULTS: dict[str, str | int] = {
    "kernel_wait": "30us",
    "longest": 10,
    "num_kernels": 10,
    "duration_ratio": "80%",
    "context": 2,
    "wall": "0ns",
    "runs": 1,
    "causal": "exact",
    "sfu_weight": 1,
    "disagree": "10%",
    "long_call": "50us",
    "long_delay": "100us",
    "long_kernel": "1ms",
    "queue_limit": 1022,
    "min_length": 3,
    "report": "all",
    "detail": "window",
    "size": 3000000,
    "timeline": "window",
}
# Verbs about two runs, and verbs whose question begins with a word.
TAKES_TWO = frozenset({"diff"})
WORDS = frozenset({"stats"})

class Verbs:
    """The verbs of :class:`Run`."""

    def _verb(self, verb: str, given: Mapping[str, Any]) -> Answer:
        raise NotImplementedError

    def _pair(self, verb: str, base: Run | Given, given: Mapping[str, Any]) -> Answer:
        raise NotImplementedError

    @verb
    def info(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """What was recorded: ranks, devices, events, steps, time span.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            traces: Recordings.
                rank (int): Rank of the process in the job.
                file (string): File as named on the command line.
                format (string): Format recognised by content.
                world_size (int): Number of ranks of the job, if recorded.
                producer (string): Program that wrote the file, as far as it tells.
                events (int, count): All events of the file, everything counted.
                host_events (int, count): Complete events of the host: operators, calls,
                    annotations.
                device_events (int, count): Device work: kernels, memcpys and memsets.
                streams (int, count): Device streams with work on them.
                steps (int, count): ProfilerStep windows.
                begin_unix_ns (int): Unix time of the first event; missing if not recorded.
                span_ns (int, ns): From the first start to the last end of all events.
                devices (string): Visible devices, used or not.
                text_bytes (int, bytes): Size of the inflated text.
                threads (int, count): Host threads with events.
                options (string): Profiler options that the file shows to have been on.
                inherited_works (int, count): Device work that was launched before the recording
                    began: `doctor` says what it is like.
                inherited_ns (int, ns): Sum of its durations.
                inherited_share (float, share): Of the durations of all device work; 0 where there
                    is none.
            event_counts: Events by phase and category.
                rank (int): Rank of the process in the job.
                phase (string): Phase letter: X complete, i instant, s/f flow, M metadata.
                category (string): Category as recorded; missing if there is none.
                count (int, count): Number of events.
                total_ns (int, ns): Sum of their durations as recorded.
            job: What a job left.
                kind (string): flight-recorder: latest communication of a process; memory-snapshot:
                    what its allocator holds; log, elastic-error and others:
                    docs/use/postmortem-logs.md.
                files (int, count): Number of files.
                ranks (string): Whose they are, as 0..7,9; missing where that is not known.
                records (int, count): Entries of rings, events of traces, or lines.
                begin_unix_ns (int, ns): Time of the first record, nanoseconds since 1970.
                end_unix_ns (int, ns): Time of the last record.
                bytes (int, bytes): Size as stored.
                unread (int, count): Files that could not be read, or that end in the middle.
                ask (string): The verb that explains them.
            postmortem_files: Files of the job.
                file (string): The file, as it was named or found.
                kind (string): What it is.
                rank (int): Whose it is; missing if that is not known.
                version (string): Of its format.
                records (int, count): Entries of a ring, events of a trace, or lines.
                begin_unix_ns (int, ns): Time of its first record, nanoseconds since 1970.
                end_unix_ns (int, ns): Time of its last record.
                bytes (int, bytes): Size as stored.
                status (string): read; truncated: up to its end; refused: it could not be read;
                    ignored: it counts for nothing here.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.info()
            <Answer: traces (2 rows), event_counts (34 rows)>
        """
        return self._verb("info", {
            "rank": rank, "sort": sort, "top": top
        })

    @verb
    def doctor(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """How far the trace can be trusted: checks with counts and remedies.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            quality: Quality of the recording.
                rank (int): Rank of the process in the job; missing for checks across ranks.
                check (string): What was looked for.
                severity (string): ok, info, warning, error, or n/a: nothing to look at.
                count (int, count): Number of cases found.
                share (float, share): Affected part of device time or of events, as the help says.
                first (string): The first case.
                help (string): What it means and what to do.
            inherited: Device work from before the recording, and what it is like.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                works (int, count): Kernels, copies and memsets that were launched before the
                    recording began.
                device_ns (int, ns): Sum of their durations.
                share (float, share): Of the durations of all device work.
                cut_ns (int, ns): When the last of it has ended, since the begin of the recording:
                    rates are of the time after it.
                level (string): What it was compared by: full (name, stream, grid, block, bytes) or
                    name (name and stream, where the rest was not recorded or says less).
                alike_runs (int, count): Runs of neighbours that look like neighbours in the
                    recording; of all devices.
                back (int, count): Works that look the same backwards from where the recording goes
                    on; of all devices.
                forward (int, count): Works after that place that look like the first recorded ones;
                    of all devices.
                assigned_share (float, share): Of its time: what has a place in the recording that
                    it is like.
                self_precision (float, share): Of the first recorded works, placed in the same way
                    as if their launches were not recorded: those with the right operator and phase,
                    of the placed ones. Missing where too little was recorded.
                self_recall (float, share): The same, of all of them.
                confidence (string): high, medium, low or none. Other answers use the places where
                    it is high or medium.
            inherited_work: What device work from before the recording is like.
                rank (int): Rank of the process in the job.
                step (int): Number of the step in which it was launched, which may be one before the
                    first recorded one; missing where it is not known.
                gpu (int): Device number as recorded.
                phase (string): Of the work that it is like; missing where no work is.
                module (string): Class of the innermost nn.Module of the work that it is like, if
                    any.
                op (string): Innermost operator of the work that it is like, if any.
                works (int, count): Kernels, copies and memsets.
                device_ns (int, ns): Sum of their durations; adds up to that of the device in
                    `inherited`.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.doctor()
            <Answer: quality (84 rows)>
        """
        return self._verb("doctor", {
            "rank": rank, "sort": sort, "top": top
        })

    @verb
    def summary(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
        price: bool = False,
        plain_step: str | Sequence[int | str] | None = None,
    ) -> Answer:
        """One page: what costs the time, with the numbers.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            price: also what following the advice would bring, by replay as in whatif.
            plain_step: what a step takes without the profiler, as you measured it; or A,B: between
                which it lies.

        Tables:
            verdict: Verdict.
                finding (string): What was found.
                severity (string): ok, info, warning or error.
                evidence (string): The numbers it rests on, as in the tables below.
                value (float, row): The deciding number.
                unit (string): Unit of the value: share (0 to 1), ratio or count.
                help (string): What to do.
                where (string): Where its strongest evidence is seen, with times as --begin and
                    --end take them; missing where it is about the whole.
                rank (int): The rank there.
                gpu (int): The device there; missing: none, or several.
                step (int): The step there, where the finding is about a step.
                begin_ns (int, ns): When that begins, on the file's own clock.
                end_ns (int, ns): When it ends.
            prices: What the advice would bring, by replay.
                rank (int): Rank of the process in the job.
                change (string): What is changed, in words of the findings.
                kernel (string): The kernel that is changed; missing where others are.
                step_ns (int, ns): A step as measured, on average; without steps, the recording.
                new_ns (int, ns): The same with the change; missing where the replay does not
                    represent the recording, of collectives that wait for other ranks, and of
                    products on tensor cores, of which only bounds are known.
                low_ns (int, ns): The interval of new_ns, as in whatif. Of products on tensor cores
                    it ends with the step as it is, and begins where all of them are as fast as the
                    device: none of it is likelier.
                high_ns (int, ns): Its upper end.
                saved_share (float, share): (step - new) / step.
                verdict (string): Of the replay: good, rough, untested or refused, as in whatif.
                note (string): What limits the answer; missing for nothing.
            rank_groups: Ranks by how they spend their time.
                group (int): Number of the group, the largest first.
                ranks (int, count): How many ranks it has.
                members (string): The ranks; long lists are cut.
                differs (string): How its mean differs from that of the largest group, largest
                    difference first, as shares of the median span of all ranks; missing for the
                    largest group.
                span_ns (float, ns): Mean span of a rank; of several devices the sum.
                compute_ns (float, ns): Mean time with computation.
                exposed_comm_ns (float, ns): Mean time with communication and no computation.
                exposed_copy_ns (float, ns): Mean time with copies alone.
                idle_ns (float, ns): Mean time without work.
            true_time: Steps without the profiler.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                steps (int, count): Number of steps.
                recorded_ns (int, ns): The median length of a step as recorded, from completion to
                    completion.
                estimate_ns (int, ns): About how long it takes without the profiler.
                low_ns (int, ns): The least that it may take.
                high_ns (int, ns): The most that it may take.
                device_ns (int, ns): Busy time of the device, by step: no step is shorter.
                idle_share (float, share): Part of a recorded step in which the device idles.
                idle_estimate (float, share): The same without the profiler.
                idle_low (float, share): The least that it may be.
                idle_high (float, share): The most that it may be.
                status (string): corrected; small: recording costs less than 5 % of steps; no pace:
                    too few operators call others; other observer: something else slows every
                    operator, too; refused: the replay does not represent the recording (whatif says
                    why).
                pace_ns (int, ns): What recording an operator costs, from the times of operators
                    around others.
                launch_ns (int, ns): The usual length of a call that starts device work.
                cost_source (string): recording: the cost of recording is estimated from the
                    recording's own times; plain-step: from the given step, which then is the
                    estimate.
                factor (float): The factor of the usual costs that results in the given step; below
                    0.4 or above 2 something other than recording made the difference.
                identity_share (float, share): Error of the replay without changes.
            breakdown: Where the device time goes.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                span_ns (int, ns): Length of the window: the recording, the selected windows, or the
                    step.
                busy_ns (int, ns): Time in which any kernel, memcpy or memset runs (union over
                    streams).
                compute_ns (int, ns): Time in which a kernel computes.
                exposed_comm_ns (int, ns): Communication with no compute beside it.
                exposed_copy_ns (int, ns): Copies with neither compute nor communication beside
                    them.
                idle_ns (int, ns): Span less busy time: nothing runs on the device.
                comm_ns (int, ns): All communication, hidden or not (union).
                copy_ns (int, ns): All copies, hidden or not (union).
                head_idle_ns (int, ns): Part of the idle time before the first device work.
                tail_idle_ns (int, ns): Part of the idle time after the last device work.
                inherited_ns (int, ns): Part of the busy time in which work runs that was launched
                    before the recording.
                busy_share (float, share): Busy time / span.
            kernels: Top 5: Device time per kernel.
                name (string): Name of the kernel as recorded.
                class (string): What the kernel is for, judged by its name.
                count (int, count): Number of launched kernels.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.
                share (float, share): Total / total of all rows of this table.
            overview: Overview.
                rank (int): Rank of the process in the job.
                file (string): File as named on the command line.
                devices (string): Devices that worked; all visible ones if none did.
                world_size (int): Number of ranks of the job.
                steps (int, count): Selected ProfilerStep windows.
                span_ns (int, ns): Selected time, of steps from completion to completion; all of it:
                    from the first start to the last end of all events.
                host_events (int, count): Complete events of the host that start in the selected
                    time.
                device_events (int, count): Kernels, memcpys and memsets launched in the selected
                    time, whenever they ran.
                kernels (int, count): Kernels launched in the selected time.
                kernel_time_ns (int, ns): Sum of their durations.
                short_kernels (int, count): Kernels shorter than 10 us.
                short_kernel_time_ns (int, ns): Sum of their durations.
            host_use: What the host did without device work.
                rank (int): Rank of the process in the job.
                span_ns (int, ns): Selected time; the sum of the others.
                data_ns (int, ns): The main thread was loading data, as in idle_causes.
                operators_ns (int, ns): Else it was in an operator.
                calls_ns (int, ns): Else in a call of CUDA, HIP, a library or the operating system.
                others_ns (int, ns): Else in a range or a frame of Python, with steps.
                nothing_ns (int, ns): Nothing of it was recorded.
            breakdown_spread: How much the ranks differ.
                metric (string): Part of the breakdown.
                mean_ns (float, ns): Mean over all ranks and GPUs.
                min_ns (int, ns): The smallest.
                min_rank (int): Its rank; the first if there are several.
                max_ns (int, ns): The largest.
                max_rank (int): Its rank; the first if there are several.
                stddev_ns (float, ns): Sample standard deviation.
                imbalance (float): Largest / mean: 1 when all are equal; missing when all are 0.
            stragglers: Ranks by the waiting they cause.
                rank (int): Rank of the process in the job.
                score (float, share): Share of all waiting that was for this rank; even ranks have 1
                    / ranks each; missing where nothing was matched.
                collectives (int, count): Collectives found on other ranks too; only of kinds that
                    end on all ranks together.
                times_last (int, count): In how many of them it came last.
                caused_wait_ns (int, ns): Time the other ranks waited for it in these, all together.
                waiting_ranks (int, count): Ranks that waited for it.
                waited_ns (int, ns): Time it waited itself, for others.
                clock_wait_ns (int, ns): The part of caused_wait_ns that the recorded clocks show as
                    well: the other ranks were in the collective before this one began.
                clocks (string): agree: they show at least half of it; contradict: less; apart: they
                    cannot show any, as most of these collectives would have ended on one rank
                    before they began on another. Missing if nobody waited.
                unmatched (int, count): Collectives found on no other rank, or not for certain:
                    recordings that are cut, ranks that are missing, calls that only some ranks
                    make.
                unused (int, count): Communication that does not end on all ranks together:
                    broadcasts, point to point.
                evidence (string): The same in words.
            idle_causes: Why the devices idle.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                idle_ns (int, ns): Idle time, as in the breakdown; the sum of the other times.
                gaps (int, count): Gaps between device work.
                head_ns (int, ns): Before the launch of the first device work.
                tail_ns (int, ns): After the last device work of the recording.
                before_recording_ns (int, ns): The first work was launched, or the host waited for
                    the device, while the device was busy with work from before the recording.
                inherited_ns (int, ns): Gaps up to the end of the last work from before the
                    recording.
                sync_ns (int, ns): The host was blocked when the gap began: the time that would not
                    be idle if it had continued at once.
                data_ns (int, ns): The host was loading data before it launched the next work.
                host_ns (int, ns): The next work had not been launched for another reason.
                launch_call_ns (int, ns): Inside launch calls of 100 us or more, which load code or
                    allocate memory.
                latency_ns (int, ns): Launch latency: the next work began less than 100 us after its
                    launch.
                device_ns (int, ns): Less than 100 us before work launched earlier: dependencies,
                    time between queued work.
                unrecorded_ns (int, ns): The next work had been launched, but something else held it
                    back: another device, or what was not recorded; or the host was in calls whose
                    copies were not recorded.
                unknown_ns (int, ns): The launch of the next work was not recorded.
            left_out: Left out of shares, as it says nothing about the use of devices.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                before_first_launch_ns (int, ns): Until the first launch of a whole process, or of a
                    clock that jumped.
                after_last_work_ns (int, ns): After the last work of a whole process, of a clock
                    that jumped or a cut file.
                before_recording_ns (int, ns): While work ran that was launched before the recording
                    began.
                hardly_used_ns (int, ns): All idle time of a device that is hardly used, beside
                    others of the rank (device_use).
            device_use: Devices that one process drives.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                process (int): The process that launched most of its work; missing if that is not
                    known, or the device is hardly used.
                busy_ns (int, ns): Time in which any kernel, memcpy or memset runs, as in the
                    breakdown.
                any_busy_ns (int, ns): Time in which one or more devices of the process work,
                    without those that are hardly used; 0 where it drives only one.
                together_ns (int, ns): Of this, in which two or more work.
                held_ns (int, ns): Idle time because another device of the process works: launched
                    work begins when work of the other ends, the host waits for the other, is in a
                    launch call for it of 100 us or more, or has no more work for this one.
                is_hardly_used (int): 1: it works for less than a hundredth of the time that the
                    busiest device of the rank does, and is left out of shares.
            inherited: Device work from before the recording, and what it is like.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                works (int, count): Kernels, copies and memsets that were launched before the
                    recording began.
                device_ns (int, ns): Sum of their durations.
                share (float, share): Of the durations of all device work.
                cut_ns (int, ns): When the last of it has ended, since the begin of the recording:
                    rates are of the time after it.
                level (string): What it was compared by: full (name, stream, grid, block, bytes) or
                    name (name and stream, where the rest was not recorded or says less).
                alike_runs (int, count): Runs of neighbours that look like neighbours in the
                    recording; of all devices.
                back (int, count): Works that look the same backwards from where the recording goes
                    on; of all devices.
                forward (int, count): Works after that place that look like the first recorded ones;
                    of all devices.
                assigned_share (float, share): Of its time: what has a place in the recording that
                    it is like.
                self_precision (float, share): Of the first recorded works, placed in the same way
                    as if their launches were not recorded: those with the right operator and phase,
                    of the placed ones. Missing where too little was recorded.
                self_recall (float, share): The same, of all of them.
                confidence (string): high, medium, low or none. Other answers use the places where
                    it is high or medium.
            memory_bound: Kernels at the speed of the memory of their device.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                kernel_ns (int, ns): Durations of kernels, without those of communication.
                modelled_ns (int, ns): The part of it in calls whose bytes are known.
                memory_bound_ns (int, ns): Time of kernels of calls that move their bytes at half of
                    the device's bandwidth or more, and would compute in less time.
                calls_ns (int, ns): Sum of the durations of these kernels.
                bytes (int, bytes): Least bytes that these calls move.
                peak_gbps (float, GB/s): Bandwidth of the memory of the device.
                op (string): Operator with the most of calls_ns.
                op_ns (int, ns): Of it.
            ops: Host and device time per operator.
                name (string): Name of the operator; "(no operator)" holds device work that none can
                    be found for.
                calls (int, count): Calls that began in the selected time.
                self_host_ns (int, ns): Host time less the operators nested inside; launches
                    included.
                total_host_ns (int, ns): Host time of the outermost calls of this row.
                self_device_ns (int, ns): Device work launched by the operator itself.
                total_device_ns (int, ns): Device work launched by the operator and all nested
                    inside.
                flops (int, flops): FLOPs of the calls behind device work, by their shapes; each
                    counts once, for the innermost operator with a formula: of its products of
                    matrices, if it has any. Missing without one, or if shapes were not recorded
                    (profiler option record_shapes=True).
                share (float, share): Self device time / all device work; missing where there is
                    none.
                aligned_ns (int, ns): Device work from before the recording that is inferred to be
                    of this operator; recorded, and in the other columns, it is of none.
            copies: Device time per kind of copy.
                name (string): Name of the kernel as recorded.
                class (string): What the kernel is for, judged by its name.
                count (int, count): Number of launched kernels.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.
                share (float, share): Total / total of all rows of this table.
            step_spread: Steps.
                rank (int): Rank of the process in the job.
                process (int): The process whose steps they are; missing unless several of the rank
                    have steps.
                steps (int, count): Number of steps.
                min_ns (int, ns): Shortest step, from completion to completion as in `steps`.
                median_ns (int, ns): Median step; of an even number the mean of the two in the
                    middle.
                max_ns (int, ns): Longest step.
                slowest_step (int): Number of the longest step.
                above_median_ns (int, ns): Time the steps longer than the median take beyond it.
            quality: Failed checks of the recording (borescope doctor lists every one)
                rank (int): Rank of the process in the job; missing for checks across ranks.
                check (string): What was looked for.
                severity (string): ok, info, warning, error, or n/a: nothing to look at.
                count (int, count): Number of cases found.
                share (float, share): Affected part of device time or of events, as the help says.
                first (string): The first case.
                help (string): What it means and what to do.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.summary()
            <Answer: verdict (7 rows), breakdown (2 rows), kernels (5 rows), overview (2 rows), breakdown_spread (8 rows), stragglers (2 rows), idle_causes (2 rows), memory_bound (2 rows), ops (5 rows), copies (4 rows), step_spread (2 rows), quality (0 rows)>
        """
        return self._verb("summary", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top, "price": price, "plain_step": plain_step
        })

    @verb
    def breakdown(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        include_last_step: bool = False,
    ) -> Answer:
        """Compute, exposed communication, exposed copies and idle time per device.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step, stream.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            breakdown: Where the device time goes.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                span_ns (int, ns): Length of the window: the recording, the selected windows, or the
                    step.
                busy_ns (int, ns): Time in which any kernel, memcpy or memset runs (union over
                    streams).
                compute_ns (int, ns): Time in which a kernel computes.
                exposed_comm_ns (int, ns): Communication with no compute beside it.
                exposed_copy_ns (int, ns): Copies with neither compute nor communication beside
                    them.
                idle_ns (int, ns): Span less busy time: nothing runs on the device.
                comm_ns (int, ns): All communication, hidden or not (union).
                copy_ns (int, ns): All copies, hidden or not (union).
                head_idle_ns (int, ns): Part of the idle time before the first device work.
                tail_idle_ns (int, ns): Part of the idle time after the last device work.
                inherited_ns (int, ns): Part of the busy time in which work runs that was launched
                    before the recording.
                busy_share (float, share): Busy time / span.
            rank_groups: Ranks by how they spend their time.
                group (int): Number of the group, the largest first.
                ranks (int, count): How many ranks it has.
                members (string): The ranks; long lists are cut.
                differs (string): How its mean differs from that of the largest group, largest
                    difference first, as shares of the median span of all ranks; missing for the
                    largest group.
                span_ns (float, ns): Mean span of a rank; of several devices the sum.
                compute_ns (float, ns): Mean time with computation.
                exposed_comm_ns (float, ns): Mean time with communication and no computation.
                exposed_copy_ns (float, ns): Mean time with copies alone.
                idle_ns (float, ns): Mean time without work.
            breakdown_spread: How much the ranks differ.
                metric (string): Part of the breakdown.
                mean_ns (float, ns): Mean over all ranks and GPUs.
                min_ns (int, ns): The smallest.
                min_rank (int): Its rank; the first if there are several.
                max_ns (int, ns): The largest.
                max_rank (int): Its rank; the first if there are several.
                stddev_ns (float, ns): Sample standard deviation.
                imbalance (float): Largest / mean: 1 when all are equal; missing when all are 0.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.breakdown()
            <Answer: breakdown (2 rows), breakdown_spread (8 rows)>
        """
        return self._verb("breakdown", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top, "include_last_step":
            include_last_step
        })

    @verb
    def busy(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["rpd"] | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """How much of its time each device works: union and sum of all work.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: process, stream.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            busy: How busy each device is.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                count (int, count): Kernels, memcpys and memsets that run in the windows.
                span_ns (int, ns): Length of the window: the recording, or the selected windows.
                busy_ns (int, ns): Time in which any of them runs (union).
                idle_ns (int, ns): Span less busy time.
                sum_ns (int, ns): Sum of their durations: time shared by several counts as often.
                share (float, share): Busy time / span.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.busy()
            <Answer: busy (2 rows)>
        """
        return self._verb("busy", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top
        })

    @verb
    def idle(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        kernel_wait: int | str = "30us",
        longest: int = 10,
        include_last_step: bool = False,
    ) -> Answer:
        """Why each stream waits: for the host, for its next kernel, other.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            kernel_wait: a gap shorter than this, after a launch in time, is kernel wait.
            longest: list the N longest gaps of each device, and the longest of each step.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            idle_causes: Why the devices idle.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                idle_ns (int, ns): Idle time, as in the breakdown; the sum of the other times.
                gaps (int, count): Gaps between device work.
                head_ns (int, ns): Before the launch of the first device work.
                tail_ns (int, ns): After the last device work of the recording.
                before_recording_ns (int, ns): The first work was launched, or the host waited for
                    the device, while the device was busy with work from before the recording.
                inherited_ns (int, ns): Gaps up to the end of the last work from before the
                    recording.
                sync_ns (int, ns): The host was blocked when the gap began: the time that would not
                    be idle if it had continued at once.
                data_ns (int, ns): The host was loading data before it launched the next work.
                host_ns (int, ns): The next work had not been launched for another reason.
                launch_call_ns (int, ns): Inside launch calls of 100 us or more, which load code or
                    allocate memory.
                latency_ns (int, ns): Launch latency: the next work began less than 100 us after its
                    launch.
                device_ns (int, ns): Less than 100 us before work launched earlier: dependencies,
                    time between queued work.
                unrecorded_ns (int, ns): The next work had been launched, but something else held it
                    back: another device, or what was not recorded; or the host was in calls whose
                    copies were not recorded.
                unknown_ns (int, ns): The launch of the next work was not recorded.
            late_host: What the host did while devices waited for its launches.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                cause (string): host or head, as in idle_causes.
                activity (string): call: in a call of CUDA, HIP, a library or the operating system;
                    no processor: the thread had none; sampled: by its call stack, as sampled;
                    event: in an operator, a range or a frame; unknown.
                name (string): Outermost call, innermost function with a name, or innermost event;
                    missing without one.
                caller (string): Function that made the call, by its recorded stack; missing without
                    one.
                op (string): Innermost operator or range around it; missing outside.
                total_ns (int, ns): Time of it; adds up to that of the cause in idle_causes.
                share (float, share): Of the time of the cause.
            longest_gaps: Longest gaps: when a device had nothing to run.
                rank (int): Rank of the process in the job.
                step (int): Number of the step; missing for what is in no step.
                gpu (int): Device number as recorded.
                place (int): 1 is the longest gap of this device. Those of the first places have
                    rows, and of each step the longest.
                begin_ns (int, ns): When nothing ran any more, on the file's own clock.
                duration_ns (int, ns): How long, as far as it is in the selected time.
                share (float, share): Of the selected time of the device.
                cause (string): Cause of most of it, as the times of idle_causes are called.
                cause_time_ns (int, ns): How much of it that is.
                activity (string): What is known of the thread that launched the next work, as in
                    late_host: call, no processor, sampled or event; missing: nothing.
                host (string): What that thread did in the gap: the innermost event that fills at
                    least half of it, else the call, function or event with most of it; missing
                    where nothing is known of more of it.
                caller (string): Function that made the call, by its recorded stack; missing without
                    one.
                op (string): Innermost operator that the thread was in for at least half of the gap;
                    missing: none.
                host_time_ns (int, ns): How much of the gap that took.
                before (string): The work that ended last before the gap.
                after (string): The work that ended the gap.
                stream (int): The stream of that work.
                launch (string): The call that launched it; missing: not recorded.
                launch_begin_ns (int, ns): When that call began, on the file's own clock.
            idle: Why the streams wait.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                stream (int): Stream (queue) of the device.
                span_ns (int, ns): Length of the window: the recording, the selected windows, or the
                    step.
                busy_ns (int, ns): Time in which the stream works (union).
                idle_ns (int, ns): Span less busy time; the sum of the six times that follow.
                host_wait_ns (int, ns): Gaps up to the launch of the work after them: the host was
                    late.
                kernel_wait_ns (int, ns): Gaps after the launch, where that is shorter than
                    --kernel-wait: launch latency.
                other_ns (int, ns): Gaps after the launch, where that is longer: dependencies
                    between streams, a full device.
                unlinked_ns (int, ns): Gaps before work whose launch was not recorded.
                head_ns (int, ns): Time before the first work of the stream.
                tail_ns (int, ns): Time after the last work of the stream.
                gaps (int, count): Gaps between works, in part at least.
                idle_share (float, share): Idle time / span.
            idle_intervals: Gaps between the works of a stream, by cause.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                stream (int): Stream (queue) of the device.
                cause (string): host_wait, kernel_wait, other or unlinked, as in table idle.
                count (int, count): Gaps in the selected time, in part at least.
                total_ns (int, ns): Sum of their lengths, as in idle.
                mean_ns (float, ns): Mean gap.
                stddev_ns (float, ns): Sample standard deviation; 0 for a single value.
                min_ns (int, ns): Smallest gap.
                p25_ns (float, ns): A quarter of the values is not above this (linear
                    interpolation).
                p50_ns (float, ns): Median (linear interpolation).
                p75_ns (float, ns): Three quarters of the values are not above this (linear
                    interpolation).
                max_ns (int, ns): Largest gap.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.idle()
            <Answer: idle_causes (2 rows), late_host (4 rows), longest_gaps (20 rows), idle (6 rows), idle_intervals (16 rows)>
        """
        return self._verb("idle", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top, "kernel_wait":
            kernel_wait, "longest": longest, "include_last_step": include_last_step
        })

    @verb
    def gaps(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        sort: str | None = None,
        top: int | None = None,
        edges: str | Sequence[int | str] | None = None,
    ) -> Answer:
        """Where each device stands still: gaps by length, and the kernels around them.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step, stream.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            edges: where one range of lengths ends and the next begins (default:
                10us,20us,50us,100us,1ms,10ms,100ms).

        Tables:
            gpu_time: Work and idle time of each device.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                span_ns (int, ns): Length of the window: the recording, the selected windows, or the
                    step; the sum of the four times that follow.
                busy_ns (int, ns): Time in which any work runs (union).
                gap_ns (int, ns): Time without work between the first and the last work.
                leading_ns (int, ns): Time before the first work.
                trailing_ns (int, ns): Time after the last work.
                idle_share (float, share): Time without work / span.
            gaps: Gaps between work, by their length.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                range (string): Lengths of these gaps; ranges without a gap have no row.
                from_ns (int, ns): They are longer than this.
                to_ns (int, ns): They are this long at most; missing: without limit.
                count (int, count): Number of gaps.
                total_ns (int, ns): Sum of their lengths; over all ranges gap_ns of gpu_time.
                mean_ns (float, ns): Mean length.
                max_ns (int, ns): Longest one.
                share (float, share): Total / span of the device.
            gap_neighbours: Between which works the gaps are.
                before (string): Name of the work that ends last before the gap; of several the
                    first to start.
                after (string): Name of the work that begins where the gap ends.
                count (int, count): Gaps between two such works.
                total_ns (int, ns): Sum of their lengths.
                max_ns (int, ns): Longest one.
                share (float, share): Total / total of all gaps.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.gaps()
            <Answer: gpu_time (2 rows), gaps (8 rows), gap_neighbours (52 rows)>
        """
        return self._verb("gaps", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "sort": sort, "top": top, "edges": edges
        })

    @verb
    def overlap(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        include_last_step: bool = False,
    ) -> Answer:
        """How much communication hides behind compute.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            overlap: Communication beside compute.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                comm_ns (int, ns): Time in which any communication kernel runs (union over streams).
                overlapped_ns (int, ns): Part of it in which a kernel computes, too.
                exposed_ns (int, ns): Part of it with no compute beside it.
                compute_ns (int, ns): Time in which any kernel computes: what could hide
                    communication.
                overlap_share (float, share): Overlapped / all communication; missing where there is
                    none.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.overlap()
            <Answer: overlap (2 rows)>
        """
        return self._verb("overlap", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top, "include_last_step":
            include_last_step
        })

    @verb
    def top(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["rpd"] | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """What takes the device's time: kernels, memcpys and memsets by name.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, gpu, stream, phase, op.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            top: What takes the device's time.
                name (string): Name of the kernel, memcpy or memset as recorded.
                kind (string): kernel, memcpy or memset.
                count (int, count): Number of pieces of device work.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.
                share (float, share): Total / total of all rows of this table.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.top()
            <Answer: top (29 rows)>
        """
        return self._verb("top", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top
        })

    @verb
    def kernels(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["hta", "rpd"] | None = None,
        all: bool = False,
        sort: str | None = None,
        top: int | None = None,
        patterns: FileValue | None = None,
        num_kernels: int = 10,
        duration_ratio: float | str = "80%",
        no_memory_kernels: bool = False,
        include_last_step: bool = False,
    ) -> Answer:
        """Device time per kernel and per class of kernels.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, gpu, stream, phase, domain, module,
                module-instance, op.
            compat: rows, units and rounding of this tool.
            all: also copies and memsets; ops ``compat`` key_averages: also kernels and runtime
                calls.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            patterns: also by your own categories: JSON, {"category": ["regular expression", ...],
                ...}; the last that matches a name decides.
            num_kernels: ``compat`` hta: of more kernels of a type the others are one row.
            duration_ratio: ``compat`` hta: where there are more, those above this quantile of the
                running sums, too.
            no_memory_kernels: ``compat`` hta: no copies and memsets.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            kernels: Device time per kernel.
                name (string): Name of the kernel as recorded.
                class (string): What the kernel is for, judged by its name.
                count (int, count): Number of launched kernels.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.
                share (float, share): Total / total of all rows of this table.
            kernel_classes: Device time per class of kernels.
                class (string): What the kernels are for, judged by their names.
                count (int, count): Number of launched kernels.
                total_ns (int, ns): Sum of their durations.
                share (float, share): Total / total of all rows of this table.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.kernels()
            <Answer: kernels (25 rows), kernel_classes (9 rows)>
        """
        return self._verb("kernels", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "all": all, "sort": sort, "top": top,
            "patterns": patterns, "num_kernels": num_kernels, "duration_ratio": duration_ratio,
            "no_memory_kernels": no_memory_kernels, "include_last_step": include_last_step
        })

    @verb
    def variability(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        all: bool = False,
        sort: str | None = None,
        top: int | None = None,
        context: int = 2,
        outliers: int | None = None,
        patterns: FileValue | None = None,
    ) -> Answer:
        """Kernels that take longer than in their best call of the same size, after the same kernels.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, gpu, stream.
            all: also copies and memsets; ops --compat key_averages: also kernels and runtime calls.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            context: kernels before it that tell calls of a kernel apart.
            outliers: leave out, and count, calls that are Z or more standard deviations from their
                mean.
            patterns: also by your own categories: JSON, {"category": ["regular expression", ...],
                ...}; the last that matches a name decides.

        Tables:
            variability: Kernels that take longer than in their best call of the same size.
                name (string): Name of the kernel as recorded.
                after (string): Names of the kernels before it on its stream, in the order they ran
                    (--context); fewer at the begin of a stream, and missing for its first.
                size (string): What tells its problems apart, as recorded: elements that
                    communication was given and their type, bytes of a copy; blocks of the grid x
                    threads of a block (some AMD recordings: work-items x threads). Missing where
                    none of them was recorded.
                class (string): What the kernel is for, judged by its name.
                count (int, count): Number of calls.
                excess_ns (int, ns): What the calls take beyond the shortest of them: total - count
                    x min.
                excess_share (float, share): Excess / excess of all rows of this table.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.
                gap_ns (int, ns): Time in which the whole device stood idle just before the calls; 0
                    for its first work.
                gap_mean_ns (float, ns): The same for each call.
            variability_summary: Time beyond the best calls.
                kernels (string): communication, other, or all.
                count (int, count): Calls, without outliers.
                total_ns (int, ns): Sum of their durations.
                excess_ns (int, ns): Sum of excess_ns of variability.
                share (float, share): Excess / total of all kernels.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.variability()
            <Answer: variability (65 rows), variability_summary (3 rows)>
        """
        return self._verb("variability", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "all": all, "sort": sort, "top": top, "context": context,
            "outliers": outliers, "patterns": patterns
        })

    @verb
    def inductor(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["inductor"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        wall: int | str = "0ns",
        runs: int = 1,
        inductor_cache: str | os.PathLike[str] | None = None,
        device: str | None = None,
        device_spec: FileValue | None = None,
    ) -> Answer:
        """Device time of a compiled PyTorch model by what made the kernels.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step, graph.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            wall: wall time of a run, as measured without a profiler; 0: take the recording.
            runs: how often the recorded program ran the compiled model.
            inductor_cache: read what generated kernels do from their files in this folder (without
                it no file is read).
            device: peaks of this device, whatever was recorded: "A100 80GB SXM4".
            device_spec: peaks of a device as JSON, {"name": ..., "tflops": {...}, ...}.

        Tables:
            inductor_categories: Device time by category of kernels.
                category (string): What made the kernels, or what they are for.
                kernels (int, count): Distinct names.
                calls (int, count): How often they ran.
                total_ns (int, ns): Sum of their durations.
                share_of_device (float, share): Total / time of all device work.
                share_of_wall (float, share): Total / wall time.
            inductor_kernels: Device time by category and kernel.
                category (string): What made the kernel, or what it is for.
                kernel (string): Name of the kernel, memcpy or memset as recorded.
                calls (int, count): How often it ran.
                total_ns (int, ns): Sum of its durations.
                moved_bytes (int, bytes): Bytes its calls read and write at least, where every
                    launch recorded them.
                share_of_wall (float, share): Total / wall time.
                gain (float, share): What a kernel twice as fast would save of the wall time: half
                    of its share.
                origins (string): Generated kernels: the operators fused into it, from its name;
                    others: the operator that launched it.
                hash (string): Hash of the Triton kernel: the name of its file.
                source (string): File the Triton kernel was compiled from, as recorded; missing for
                    any other.
            inductor_time: What the shares are of.
                wall_ns (int, ns): Wall time of all devices: the recording, the selected windows, or
                    --wall x --runs.
                busy_ns (int, ns): Time in the recording or the selected windows in which a device
                    works (union).
                work_ns (int, ns): Sum of the durations of all work: time shared by several counts
                    as often.
                busy_share (float, share): Busy time / wall time.
                memory_gbps (float, GB/s): Bandwidth of the memory of the device, of several kinds
                    the lowest; missing if none is known.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.inductor()
            <Answer: inductor_categories (5 rows), inductor_kernels (31 rows), inductor_time (1 rows)>
        """
        return self._verb("inductor", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top, "wall": wall, "runs":
            runs, "inductor_cache": inductor_cache, "device": device, "device_spec": device_spec
        })

    @verb
    def ops(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["key_averages"] | None = None,
        all: bool = False,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """Host and device time per framework operator.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, phase, domain, module, module-instance, shape,
                dtype.
            compat: rows, units and rounding of this tool.
            all: also copies and memsets; ops ``compat`` key_averages: also kernels and runtime
                calls.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            ops: Host and device time per operator.
                name (string): Name of the operator; "(no operator)" holds device work that none can
                    be found for.
                calls (int, count): Calls that began in the selected time.
                self_host_ns (int, ns): Host time less the operators nested inside; launches
                    included.
                total_host_ns (int, ns): Host time of the outermost calls of this row.
                self_device_ns (int, ns): Device work launched by the operator itself.
                total_device_ns (int, ns): Device work launched by the operator and all nested
                    inside.
                flops (int, flops): FLOPs of the calls behind device work, by their shapes; each
                    counts once, for the innermost operator with a formula: of its products of
                    matrices, if it has any. Missing without one, or if shapes were not recorded
                    (profiler option record_shapes=True).
                share (float, share): Self device time / all device work; missing where there is
                    none.
                aligned_ns (int, ns): Device work from before the recording that is inferred to be
                    of this operator; recorded, and in the other columns, it is of none.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.ops()
            <Answer: ops (66 rows)>
        """
        return self._verb("ops", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "all": all, "sort": sort, "top": top
        })

    @verb
    def roofline(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        sort: str | None = None,
        top: int | None = None,
        device: str | None = None,
        device_spec: FileValue | None = None,
        causal: Literal["exact", "half", "full"] = "exact",
        sfu_weight: int = 1,
        disagree: float | str = "10%",
    ) -> Answer:
        """Operators against the peaks of the device, and the wall time as a ledger.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, phase, module, module-instance, direction, shape,
                dtype.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            device: peaks of this device, whatever was recorded: "A100 80GB SXM4".
            device_spec: peaks of a device as JSON, {"name": ..., "tflops": {...}, ...}.
            causal: what a causal attention counts: pairs that are not masked, half of all, or all.
            sfu_weight: FLOPs of one exp, log, sin, sqrt, ... (PyProf: 20).
            disagree: measured amounts that differ by more from the modelled ones are named.

        Tables:
            utilisation: How much of the matrix peak the model used.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                span_ns (int, ns): Length of the selected time; without a selection of time, of what
                    is after the work that was launched before the recording began.
                model_flops (int, flops): Matrix FLOPs of forward and backward, each operator call
                    once; of a call in part inside the selected time, in proportion to the time of
                    its kernels.
                recomputed_flops (int, flops): The same of forward operators repeated in backward.
                tflops (float): Model FLOPs / span, in 1e12 operations per second.
                mfu (float, share): Model FLOPs / (span x peak); missing where the peak is not
                    known.
                hfu (float, share): The same with recomputed FLOPs.
                best_type (string): The type with the highest peak of the device, of fp32, tf32,
                    fp16 and bf16.
                mfu_best (float, share): Model FLOPs / (span x that peak): the MFU, had all products
                    been of that type.
                coverage (float, share): Share of the time of compute kernels whose matrix FLOPs are
                    known (also that they have none); the table modelled says why others are not.
                withheld (string): Why there is no tflops, mfu and hfu: the coverage is below 0.9,
                    or nothing was launched in the recording.
                window_begin_ns (int, ns): Where the time begins that the row is about.
                window_share (float, share): Part of the selected time that it is; the rest is
                    inherited work.
            ledger: Where the wall time goes.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                item (string): What the time went to; at peak and at the roof: the least the work
                    could have taken.
                ns (int, ns): Wall time; the rows of a device add up to the span.
                share (float, share): Time / span.
            roofline: Operators against the peaks of the device.
                op (string): Operator with a model that launched the kernels.
                dtypes (string): Type of the operands, if all calls have the same; as recorded with
                    --by dtype.
                count (int, count): Calls whose FLOPs or bytes are known.
                total_ns (int, ns): Sum of the durations of the kernels.
                lost_ns (int, ns): Time beyond the roof, call by call; missing if the peaks are not
                    known.
                coverage (float, share): total / device time of all calls of the operator: the
                    others lack shapes or values (the table modelled says what).
                roof_share (float, share): Time at the roof / time; above 1 where caches spare the
                    memory. Missing if the peaks are not known. This and the other rates are
                    missing, too, if they do not cover 90 % of the time of the operator.
                bound (string): What held back most of the time: compute, memory, or latency
                    (kernels so short that starting them counts); missing if the peaks are not
                    known.
                tensor_core (string): Whether the main kernels use matrix units, by their names:
                    yes, no, some, unknown; - for operators that are no matrix operators.
                tflops (float): FLOPs / time of the calls whose FLOPs are known, in 1e12 operations
                    per second.
                gbps (float, GB/s): Bytes / time of the calls whose bytes are known: at least so
                    much was moved.
                intensity (float): FLOPs / bytes.
                flops (int, flops): Matrix FLOPs of matrix operators, vector FLOPs of others, each
                    call once; a multiply-add is two. Missing of generated kernels, whose arguments
                    do not tell what they compute.
                bytes (int, bytes): Every input read once, every output written once, of
                    communication, too: not the size of its message, as in collectives. Missing if
                    types were not recorded.
                vector_flops (int, flops): Vector FLOPs, which matrix operators have beside: bias,
                    softmax, activation.
                kernels (int, count): Kernels, copies and memsets of these calls.
                tensor_flops (int, flops): Operations of matrix units as measured in another run
                    (counters). This and what follows is of the calls all of whose kernels have
                    counters, and missing if these take less than 90 % of the time, or if something
                    was not counted.
                dram_read (int, bytes): Bytes read from device memory, as measured.
                dram_written (int, bytes): Bytes written to device memory until the kernels ended,
                    as measured.
                measured_intensity (float): Measured FLOPs, of matrix units if it used them, /
                    measured bytes of device memory.
                limiter (string): What held back most of the time of its kernels, by measured
                    percentages of the peaks: near peak, small grid, latency, balanced, compute,
                    memory (see speed_of_light).
                shapes (string): Input shapes as recorded, with --by shape.
            counter_ops: Operators: measured against modelled.
                rank (int): Rank of the process in the job.
                op (string): Operator: that with a model which launched the kernels, else the
                    innermost one.
                calls (int, count): Calls with kernels.
                kernels (int, count): Their kernels.
                total_ns (int, ns): Sum of the durations of the kernels in the trace.
                valued (float, share): Part of that time in calls all of whose kernels have
                    counters. All that follows is of these calls alone.
                matrix_flops (int, flops): Matrix FLOPs by the model of the operator.
                vector_flops (int, flops): Vector FLOPs by the model.
                tensor_flops (int, flops): Measured operations of matrix units; missing if they were
                    not counted for the type of the operands.
                vector_ops (int, flops): Measured floating-point additions, products and
                    multiply-adds (two each) of vector units: exponentials, comparisons and
                    selections count otherwise than in the model.
                flops_ratio (float): Measured / modelled FLOPs of matrix operators; of those that
                    ran on vector units, vector operations / all modelled FLOPs.
                model_read (int, bytes): Every input read once, by the model.
                dram_read (int, bytes): Measured bytes that were read from device memory.
                read_ratio (float): dram_read / model_read.
                model_written (int, bytes): Every output written once, by the model.
                dram_written (int, bytes): Measured bytes that were written to device memory until
                    the kernels ended; the rest is still in the L2 cache.
                l2_bytes (int, bytes): Measured traffic of the L2 cache: what SMs asked for, where
                    that was counted, else on both sides of it.
                tflops (float): Measured FLOPs / time in the trace, in 1e12 operations per second:
                    of matrix units, where the operator used them.
                dram_gbps (float, GB/s): Measured bytes of device memory / time in the trace.
                intensity (float): Measured FLOPs / measured bytes of device memory.
                flops_verdict (string): Of matrix operators: equal (within 0.5 %), close (within the
                    share of disagree), more work, less work, not measured.
                bytes_verdict (string): more traffic or less traffic, where reads differ by more
                    than the share of disagree; writes differ, where they are more than modelled or
                    fewer than cannot be left in L2; else ok. 64 KiB a call are no difference.
                not_counted (string): Types of operands whose operations were not counted: measure
                    sm__ops_path_tensor_src_TYPE_dst_*.sum.
            speed_of_light: Kernels against the peaks of the device, as measured.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                kernel (string): Name of the kernel.
                grid (string): Its size in blocks: x, y, z.
                block (string): The size of a block in threads: x, y, z.
                op (string): Operator around most of the time: that with a model, else the innermost
                    one.
                count (int, count): Kernels with percentages.
                total_ns (int, ns): Sum of their durations in the trace.
                share (float, share): total_ns / time of all selected kernels of the rank.
                compute (float, share): Throughput of the SMs, of its peak: sm__throughput.
                memory (float, share): Throughput of the memory system, of its peak:
                    gpu__compute_memory_throughput.
                dram (float, share): Throughput of device memory, of its peak.
                l2 (float, share): Throughput of the L2 cache, of its peak.
                l1 (float, share): Throughput of the L1 caches, of its peak.
                tensor (float, share): Cycles in which the matrix units worked.
                occupancy (float, share): Warps that were active, of those that an SM holds.
                occupancy_max (float, share): The same at most, for what a block needs.
                occupancy_limit (string): What limits that: registers, shared_mem, blocks, warps or
                    barriers.
                waves (float): Blocks of the grid / blocks that the device holds at once.
                limiter (string): What held it back: near peak (one of compute and memory is at 80 %
                    or above); where both are below 60 %, small grid (less than one wave) or
                    latency; else compute, memory, or balanced (less than 10 % between them).
                inner (string): The part of compute, or of memory if that is higher, that is nearest
                    to its peak.
                beyond_ns (int, ns): Time beyond that at the peak: total_ns x (1 - the larger of
                    compute and memory).
                source (string): How most of the time came by its counters: range, order, broadcast,
                    or recorded (the file itself has them).
            gemm_shapes: Products of matrices by shape.
                op (string): Operator with a model that launched the kernels.
                m (int): Rows of the result; of all rows of a batch if they share one right side.
                n (int): Columns of the result.
                k (int): Length of the sums. All three are missing where the arguments do not show
                    them: sparse and packed operands, experts, gradients whose shapes were not
                    recorded.
                batch (int): How many products one call has.
                dtype (string): Type of the operands.
                count (int, count): Calls all of whose kernels are selected.
                total_ns (int, ns): Time of their kernels.
                tflops (float): FLOPs of all calls / their time, in 1e12 operations per second.
                tflops_min (float): FLOPs / time of the slowest call.
                tflops_median (float): FLOPs / time of the call in the middle; of an even number,
                    the mean of the two.
                tflops_max (float): FLOPs / time of the fastest call.
                tflops_spread (float, share): (max - min) / median: 0 if all calls were equally
                    fast.
            modelled: How much of the device time has a model.
                status (string): "modelled", and of kernels of graphs "captured", are counted in the
                    other tables; all others say why not.
                kernels (int, count): Kernels, copies and memsets.
                total_ns (int, ns): Sum of their durations.
                share (float, share): Total / all device work.
                help (string): What can be done about it.
            roofs: The peaks that times are compared with.
                device (string): Name of the device as recorded.
                spec (string): The device whose peaks are taken; missing if not known.
                fp32_tflops (float): Peak of the vector units, 1e12 operations per second.
                tf32_tflops (float): Peak of the matrix units, dense.
                fp16_tflops (float): Peak of the matrix units, dense.
                bf16_tflops (float): Peak of the matrix units, dense.
                memory_gbps (float, GB/s): Peak bandwidth of the device memory.
                source (string): Where these numbers stand, or how to give them.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.roofline()
            <Answer: utilisation (2 rows), ledger (34 rows), roofline (20 rows), gemm_shapes (2 rows), modelled (3 rows), roofs (1 rows)>
        """
        return self._verb("roofline", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "sort": sort, "top": top, "device": device, "device_spec":
            device_spec, "causal": causal, "sfu_weight": sfu_weight, "disagree": disagree
        })

    @verb
    def stacks(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        sort: str | None = None,
        top: int | None = None,
        root: str | None = None,
        depth: int | None = None,
        min_share: float | str | None = None,
        sampled: bool = False,
        calls: bool = False,
        folded: bool = False,
    ) -> Answer:
        """Host call stacks with the device time below them, and flame graphs.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, thread, phase, domain.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            root: only below frames whose name contains this; all else is one row.
            depth: at most N frames deep; what is below is "(other)" (default: all).
            min_share: frames with less of the device time and of the host time, as 1% or 0.01,
                become "(other)".
            sampled: sampled call stacks: each sample counts as one sampling period.
            calls: stacks recorded with calls: the time in calls, and device work launched by them.
            folded: one row for each stack, "a;b;c": the input of flame graphs.

        Tables:
            stacks: Host call stacks and the device work below them.
                depth (int): How many frames are around it. Rows are in tree order: a row is below
                    the last one before it with a smaller depth.
                name (string): Name of the frame; all steps are ProfilerStep#*. "(no launch)" holds
                    device work whose launch was not recorded, "(other)" what was left out below the
                    frame around it, "(elsewhere)" what is outside of the frames of --root.
                kind (string): python, annotation, op, runtime or other, sampled or function;
                    missing for rows that are no frames.
                calls (int, count): Calls that began in the selected time; with --sampled the number
                    of samples in the frame itself.
                self_host_ns (int, ns): Host time in this frame and in none inside it; with
                    --sampled samples x sampling period.
                total_host_ns (int, ns): Host time of the frame and all below it.
                self_device_ns (int, ns): Device work launched by the frame itself.
                total_device_ns (int, ns): Device work launched by the frame and all below it.
                self_aligned_ns (int, ns): Device work from before the recording that is inferred to
                    be launched by the frame itself. The other columns do not contain it.
                total_aligned_ns (int, ns): The same of the frame and all below it.
                share (float, share): Total device time / all device work; of a run without device
                    work: total host time / all host time.
            stack_frames: Host frames by name, at any place in stacks.
                name (string): Name of the frame; rows that are no frames as in `stacks`.
                kind (string): python, annotation, op, runtime or other, sampled or function;
                    missing for rows that are no frames.
                calls (int, count): Calls that began in the selected time; with --sampled the number
                    of samples in the frame itself.
                self_host_ns (int, ns): Host time in this frame and in none inside it; with
                    --sampled samples x sampling period.
                total_host_ns (int, ns): Host time of the outermost frames of this name and of all
                    below them.
                self_device_ns (int, ns): Device work launched by the frame itself.
                total_device_ns (int, ns): Device work launched by the outermost frames of this name
                    and by all below them.
                self_aligned_ns (int, ns): Device work from before the recording that is inferred to
                    be launched by the frame itself. The other columns do not contain it.
                total_aligned_ns (int, ns): The same of the outermost frames of this name and of all
                    below them.
                share (float, share): Self device time / all device work; of a run without device
                    work: self host time / all host time.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.stacks()
            <Answer: stacks (126 rows), stack_frames (85 rows)>
        """
        return self._verb("stacks", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "sort": sort, "top": top, "root": root, "depth": depth,
            "min_share": min_share, "sampled": sampled, "calls": calls, "folded": folded
        })

    @verb
    def flame(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        sort: str | None = None,
        top: int | None = None,
        root: str | None = None,
        depth: int | None = None,
        min_share: float | str | None = None,
        folded: bool = False,
    ) -> Answer:
        """Device time from module to operator to kernel, as a tree or a flame graph.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: rank, step, thread, gpu, stream, phase, domain.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            root: only below frames whose name contains this; all else is one row.
            depth: at most N frames deep; what is below is "(other)" (default: all).
            min_share: frames with less of the device time and of the host time, as 1% or 0.01,
                become "(other)".
            folded: one row for each stack, "a;b;c": the input of flame graphs.

        Tables:
            flame: Device time by frame, operator and kernel.
                depth (int): How many frames are around it. Rows are in tree order: a row is below
                    the last one before it with a smaller depth.
                name (string): Name of the frame, kernel or copy; all steps are ProfilerStep#*. "(no
                    operator)" is around work that no frame launched, as far as is recorded;
                    "(other)" is what was left out below the frame around it, "(elsewhere)" what is
                    outside of the frames of --root.
                kind (string): python, annotation, op, other, kernel, memcpy or memset; missing for
                    rows that are neither frame nor work.
                works (int, count): Kernels and copies here and below.
                device_ns (int, ns): Sum of their durations.
                share (float, share): Of all device work.
                aligned_ns (int, ns): Device work from before the recording that is inferred to
                    belong here and below; recorded, and in the other columns, it is around no
                    operator.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.flame()
            <Answer: flame (101 rows)>
        """
        return self._verb("flame", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "sort": sort, "top": top, "root": root, "depth": depth,
            "min_share": min_share, "folded": folded
        })

    @verb
    def steps(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
        plain_step: str | Sequence[int | str] | None = None,
        without_recording: bool = False,
    ) -> Answer:
        """Length, busy and idle time of every step.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            plain_step: what a step takes without the profiler, as you measured it; or A,B: between
                which it lies.
            without_recording: steps as they are without the profiler: what recording them cost is
                taken off.

        Tables:
            steps: Steps on each device.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                step (int): Number of the step; missing for what is in no step.
                begin_ns (int, ns): Begin of the step on the host, on the file's own clock.
                span_ns (int, ns): Length of the step on the host, less time in a step of its
                    process that begins later.
                length_ns (int, ns): From the completion of the step before, or the begin of this
                    one if that is later, to its own completion: when its window on the host and all
                    work that it launched have ended; whatever is selected.
                busy_ns (int, ns): Time in which work of the step runs (union); with --step-rule
                    time: in which any work runs inside the step.
                idle_ns (int, ns): Device span less busy time; work of other steps may run then (not
                    with --step-rule time).
                kernels (int, count): Selected kernels of the step.
                copies (int, count): Selected memcpys and memsets of the step.
                device_begin_ns (int, ns): First begin of its work on the device; missing if there
                    is none. With --step-rule time: begin of its selected time.
                device_end_ns (int, ns): Last end of its work, or of its selected time.
                device_span_ns (int, ns): From device begin to device end; with --step-rule time:
                    the time of the step in between.
                shared_ns (int, ns): Part of the busy time in which work of an earlier step runs,
                    too; busy less shared adds up to the busy time of the device.
                waiting_ns (int, ns): Length less busy time: the rest of the step, in which the
                    device does nothing of it; 0 where its work began so long before the completion
                    of the step before that it is busy for longer. With --step-rule time as the idle
                    time.
                end_ns (int, ns): Completion of the step, on the file's own clock.
                name (string): Name of its annotation, with the process if several have steps; (no
                    step): launched outside of steps; (no launch): the launch was not recorded.
            inherited_steps: Steps before the recording, as far as devices worked on them.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                step (int): Number of the step, inferred from what its work is like.
                length_ns (int, ns): From the last end of work of the step before to its own;
                    missing where that was not recorded, or the step is not complete.
                busy_ns (int, ns): Time in which work of the step runs (union).
                kernels (int, count): Selected kernels of the step.
                copies (int, count): Selected memcpys and memsets of the step.
                device_begin_ns (int, ns): First begin of its recorded work on the device.
                device_end_ns (int, ns): Last end of its work.
                complete (bool): Whether the recording has all of its work on the device: what is
                    like the first and the last work of a recorded step.
            step_heat: Steps of all ranks.
                rank (int): The first of the ranks.
                step (int): Number of the first of the steps.
                ranks (string): From which to which rank.
                steps (string): From which to which step.
                length_ns (int, ns): The longest of them, from completion to completion.
                relative (float): Length / the median of those of all cells.
                level (string): As usual: from 0.97 to below 1.03; a little longer: below 1.1,
                    shorter: from 0.9 on; longer: below 1.33, shorter: from 0.75 on; else much
                    longer or shorter.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.steps()
            <Answer: steps (6 rows)>
        """
        return self._verb("steps", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top, "plain_step": plain_step, "without_recording":
            without_recording
        })

    @verb
    def launches(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta", "rpd"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        long_call: int | str = "50us",
        long_delay: int | str = "100us",
        long_kernel: int | str = "1ms",
        no_memory_events: bool = False,
        include_last_step: bool = False,
    ) -> Answer:
        """Launch calls: short and long kernels, long calls, late starts.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            long_call: a launch call longer than this is long.
            long_delay: a launch delay longer than this is long.
            long_kernel: a kernel longer than this is long.
            no_memory_events: ``compat`` hta: no calls of copies and memsets.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            launches: Launch calls and the device work they started.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                stream (int): Stream (queue) of the device.
                correlation (int): Number that ties the call to its work, as recorded.
                api (string): Name of the launch call.
                host_ns (int, ns): Length of the call; the same on all rows of a graph launch.
                device_ns (int, ns): Duration of the work.
                delay_ns (int, ns): End of the call to start of the work; 0 if it started earlier.
                kernel (string): Name of the work as recorded.
                kind (string): kernel, memcpy or memset.
                ordinal (int): Place among the works of the call in order of their start, from 0.
                works (int, count): Works the call started: 1, or more for a graph launch.
                begin_ns (int, ns): When the call begins, on the clock of the file.
            launch_summary: Launches per kernel.
                kernel (string): Name of the kernel, memcpy or memset as recorded.
                count (int, count): Launched works of that name.
                calls (int, count): Launch calls; a graph launch counts with the first of its
                    selected works.
                short_kernels (int, count): Works shorter than their launch call; in a graph, than
                    its length / its works.
                long_kernels (int, count): Works longer than --long-kernel.
                long_calls (int, count): Calls longer than --long-call.
                long_delays (int, count): Calls whose work started later than --long-delay after
                    their end.
                host_ns (int, ns): Sum of the lengths of the calls.
                device_ns (int, ns): Sum of the durations of the works.
                delay_ns (int, ns): Sum of the delays of the calls.
                mean_host_ns (float, ns): Mean length of a call; missing where no call counts.
                mean_device_ns (float, ns): Mean duration of a work.
                mean_delay_ns (float, ns): Mean delay of a call; missing where no call counts.
            launch_links: Launch calls and device work, tied and untied.
                rank (int): Rank of the process in the job.
                launches (int, count): Launch calls: linked, and without work.
                linked (int, count): Calls with device work: --gpu and --stream select by that work.
                launches_without_work (int, count): Calls named as a launch whose work was not
                    recorded, or that started none (an empty memset, graph capture), on any device.
                works (int, count): Kernels, memcpys and memsets: linked, and without launch.
                linked_works (int, count): Device work tied to its call: the rows of launches.
                works_without_launch (int, count): Device work whose launch call was not recorded.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.launches()
            <Answer: launches (1,016 rows), launch_summary (29 rows), launch_links (2 rows)>
        """
        return self._verb("launches", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "long_call": long_call,
            "long_delay": long_delay, "long_kernel": long_kernel, "no_memory_events":
            no_memory_events, "include_last_step": include_last_step
        })

    @verb
    def delays(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        include_last_step: bool = False,
    ) -> Answer:
        """Time from an operator to its first launch, and on to the kernel.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            delays: From operator to launch to kernel.
                op (string): Innermost aten:: operator around the launch, else the innermost of any
                    name; "(no operator)" and "(launch not recorded)" hold what has none.
                kernels (string): Device work that one call of the operator launched itself, in
                    launch order.
                count (int, count): Calls of the operator that launched just that; launches or works
                    where there is none.
                works (int, count): Kernels, memcpys and memsets of all calls.
                launch_delay_ns (int, ns): Start of the operator to its first launch, summed over
                    calls.
                runtime_ns (int, ns): Start of that launch to the start of its first work, summed
                    over calls.
                mean_launch_delay_ns (float, ns): Launch delay per call.
                mean_runtime_ns (float, ns): Runtime per call.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.delays()
            <Answer: delays (27 rows)>
        """
        return self._verb("delays", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "include_last_step":
            include_last_step
        })

    @verb
    def graphs(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """Launches of CUDA and HIP graphs: spans, gaps, their kernels, captures.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            graph_launches: Launches of graphs.
                rank (int): Rank of the process in the job.
                graph (int): Number of the graph, from 0 by its first launch; missing in the row of
                    the device work that belongs to no graph, or whose launch nothing tells.
                told_by (string): What tells its launches from others: the handle of the executable
                    graph, the numbers of its nodes, or the names of its kernels; nothing: without
                    recorded work. The last row is other device work.
                launches (int, count): How often it was launched.
                works (int, count): Kernels, memcpys and memsets of all launches.
                works_per_launch (float): Mean number of works of a launch.
                host_ns (int, ns): Sum of the lengths of the launch calls; missing where none was
                    recorded.
                mean_delay_ns (float, ns): Mean time from the end of the call to the first work, 0
                    if that is earlier.
                span_ns (int, ns): Sum of the times from the first start to the last end of the work
                    of a launch.
                mean_span_ns (float, ns): Mean of these times.
                min_span_ns (int, ns): The shortest.
                max_span_ns (int, ns): The longest.
                device_ns (int, ns): Sum of the durations of the work; work side by side counts
                    twice.
                gap_ns (int, ns): Time within the spans in which no work of the launch ran.
                share (float, share): Device time / all device work of the rank.
            graph_kernels: What the graphs run.
                rank (int): Rank of the process in the job.
                graph (int): Number of the graph, as in `graph_launches`.
                position (int): Place by start in the first launch, from 0; what only later launches
                    have comes last.
                node (int): Number of the graph node as recorded; missing where it was not.
                name (string): Name of the kernel, memcpy or memset as recorded.
                class (string): Class of the kernel: gemm, copy, ...
                launches (int, count): Launches of the graph with this work.
                total_ns (int, ns): Sum of its durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                mean_gap_before_ns (float, ns): Mean time before its start in which no work of the
                    launch ran.
            graph_captures: How graphs were made.
                rank (int): Rank of the process in the job.
                thread (int): Thread that made it.
                begin_ns (int, ns): Start of the first of its calls, on the clock of the file.
                capture_ns (int, ns): Start of BeginCapture to end of EndCapture; missing without
                    both.
                captured (int, count): Launch calls in the capture, which start no work, on any
                    thread of the process.
                instantiate_ns (int, ns): Length of the call that made the graph executable; missing
                    without one.
            graph_operators: Operators of graphs by their captures.
                rank (int): Rank of the process in the job.
                graph (int): Number of the graph, as in `graph_launches`.
                match (string): exact: the capture requested as many kernels of the same names in
                    the same order; aligned: some kernels are missing on one side; none: no capture
                    fits.
                arguments (string): Whether shapes and types are known: yes, or no if captures that
                    fit differ in them; missing without a capture.
                file (string): File of the captures; missing without one.
                captures (int, count): Different captures used; launches with the same kernels take
                    them in turn.
                launches (int, count): Launches of the graph.
                kernels (int, count): Kernels that these ran.
                tied (int, count): Kernels that have a call in the capture.
                kernel_ns (int, ns): Sum of the durations of the kernels.
                tied_ns (int, ns): Sum of the durations of the tied ones.
                coverage (float, share): Time of the tied kernels / time of the kernels; missing
                    without time.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/small/graphs.json")
            >>> run.graphs()
            <Answer: graph_launches (4 rows), graph_kernels (5 rows), graph_captures (1 rows), graph_operators (0 rows)>
        """
        return self._verb("graphs", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top
        })

    @verb
    def queue(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        overlay: str | os.PathLike[str] | None = None,
        queue_limit: int = 1022,
        series: bool = False,
        include_last_step: bool = False,
    ) -> Answer:
        """How many launches wait on each stream, and time blocked at a full queue.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            overlay: also write the whole trace with what was selected drawn into it; into a folder
                under its own name, several traces so only; .gz compresses. It copies all that the
                source holds, but for what --scrub leaves out.
            queue_limit: a queue of this length is full.
            series: also a table of every change over time.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            queue: How many launches wait on each stream.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                stream (int): Stream (queue) of the device.
                samples (int, count): Changes of the queue's length: every launch that enters and
                    every one that leaves it.
                mean (float): Mean length after a change.
                stddev (float): Sample standard deviation; 0 for a single value.
                min (int): Smallest length after a change.
                p25 (float): A quarter of the values is not above this (linear interpolation).
                p50 (float): Median (linear interpolation).
                p75 (float): Three quarters of the values are not above this (linear interpolation).
                max (int): Largest length after a change.
                time_mean (float): Mean length over the time from the first to the last change.
                blocked_ns (int, ns): Time with a queue of --queue-limit or more, at which a launch
                    call has to wait.
                blocked_share (float, share): Blocked time / the recording, or the selected time.
                unlinked (int, count): Device work whose launch was not recorded, and which is in no
                    length.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.queue()
            <Answer: queue (6 rows)>
        """
        return self._verb("queue", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "overlay": overlay,
            "queue_limit": queue_limit, "series": series, "include_last_step": include_last_step
        })

    @verb
    def bandwidth(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta", "rpd"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        overlay: str | os.PathLike[str] | None = None,
        series: bool = False,
        include_last_step: bool = False,
    ) -> Answer:
        """Rate of every kind of copy.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            overlay: also write the whole trace with what was selected drawn into it; into a folder
                under its own name, several traces so only; .gz compresses. It copies all that the
                source holds, but for what --scrub leaves out.
            series: also a table of every change over time.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            bandwidth: Rate of every kind of copy.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                kind (string): Where from and where to, judged by the name of the copy.
                count (int, count): Number of copies.
                bytes (int, bytes): Sum of their bytes as far as recorded; missing if no size was.
                    Copies without one are unrated.
                total_ns (int, ns): Sum of their durations.
                mean_gbps (float, GB/s): Bytes / durations, of all rated copies together; missing if
                    coverage is below 0.9.
                min_gbps (float, GB/s): Rate of the slowest copy.
                p50_gbps (float, GB/s): Median rate of a copy.
                max_gbps (float, GB/s): Rate of the fastest copy.
                unrated (int, count): Copies without bytes or recorded as 0 ns long, which are in no
                    rate.
                coverage (float, share): Time of the rated copies / time of all. Below 0.9 there is
                    no mean rate.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.bandwidth()
            <Answer: bandwidth (8 rows)>
        """
        return self._verb("bandwidth", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "overlay": overlay, "series":
            series, "include_last_step": include_last_step
        })

    @verb
    def sequences(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        overlay: str | os.PathLike[str] | None = None,
        operator: str | None = None,
        min_length: int = 3,
        include_last_step: bool = False,
    ) -> Answer:
        """Kernel patterns that recur under an operator.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            overlay: also write the whole trace with what was selected drawn into it; into a folder
                under its own name, several traces so only; .gz compresses. It copies all that the
                source holds, but for what --scrub leaves out.
            operator: operators whose name contains this (default: every outermost one).
            min_length: only patterns of at least N kernels.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            sequences: Patterns of device work under operators.
                operator (string): Name of the operator or annotation.
                pattern (string): Names of the device work of one call, by start, joined by "|".
                kernels (int, count): Kernels and copies in the pattern.
                count (int, count): Calls with this pattern.
                device_ns (int, ns): Sum of the durations of the work.
                host_ns (int, ns): Sum of the durations of the calls.
                share (float, share): Device time / all device work.
            sequence_coverage: Where the device work is.
                place (string): Whether the work belongs to a pattern, or why not.
                count (int, count): Kernels and copies.
                device_ns (int, ns): Sum of their durations.
                longest (int, count): Kernels and copies of the longest pattern; missing outside of
                    patterns.
                share (float, share): Device time / all device work.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.sequences()
            <Answer: sequences (2 rows), sequence_coverage (4 rows)>
        """
        return self._verb("sequences", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "overlay": overlay, "operator":
            operator, "min_length": min_length, "include_last_step": include_last_step
        })

    @verb
    def annotations(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        include_last_step: bool = False,
    ) -> Answer:
        """Time under each annotation, on host and device, and the kernels inside.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            annotations: Time under each annotation.
                rank (int): Rank of the process in the job.
                side (string): host: as the code ran; device: from the first to the last work on one
                    stream.
                name (string): Name of the annotation.
                count (int, count): Number of annotations of this name.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.
            annotated_kernels: Device work under each annotation.
                rank (int): Rank of the process in the job.
                side (string): device: under an annotation of its stream; host: none there, but one
                    around the launch; none: neither.
                annotation (string): The innermost annotation; missing on side none.
                name (string): Name of the kernel, memcpy or memset.
                count (int, count): Number of kernels, memcpys and memsets.
                total_ns (int, ns): Sum of their durations.
                mean_ns (float, ns): Mean duration.
                min_ns (int, ns): Shortest duration.
                max_ns (int, ns): Longest duration.
                stddev_ns (float, ns): Sample standard deviation of the durations; 0 for a single
                    one.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.annotations()
            <Answer: annotations (32 rows), annotated_kernels (124 rows)>
        """
        return self._verb("annotations", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top, "include_last_step":
            include_last_step
        })

    @verb
    def collectives(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """Message sizes, algorithm and bus bandwidth per collective and group.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: step, size.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            collectives: Communication per collective and group.
                rank (int): Rank of the process in the job.
                collective (string): What was asked for, in one spelling; unknown when neither
                    arguments nor operators nor the kernel's name tell.
                group (string): Name of the process group; missing when not recorded.
                group_size (int, count): Number of ranks in the group.
                dtype (string): Type of the elements, as PyTorch names it.
                count (int, count): Number of calls.
                bytes (int, bytes): Sum of the message sizes, as NCCL-tests counts them: of an
                    all-gather the output, of an all-reduce, reduce-scatter or all-to-all the input,
                    else the larger; missing when no size is known. What memory moves for them,
                    input and output, is bytes of roofline.
                total_ns (int, ns): Sum of the durations of the kernels, or of communication between
                    hosts (gloo) from the request to the end; waiting for late ranks included.
                algo_gbps (float, GB/s): Bytes / time over the calls of which both are known;
                    missing, as is bus_gbps, if coverage is below 0.9.
                bus_gbps (float, GB/s): algo x 2(n-1)/n for all-reduce, x (n-1)/n for all-gather,
                    reduce-scatter, all-to-all, gather and scatter, x 1 for others.
                median_bus_gbps (float, GB/s): The same of the median call; of an even number the
                    mean of the middle two.
                best_bus_gbps (float, GB/s): The same of the fastest call: the one that waited
                    least.
                mean_ns (float, ns): Mean duration of a call.
                min_ns (int, ns): Shortest call.
                max_ns (int, ns): Longest call.
                min_message_bytes (int, bytes): Smallest message.
                max_message_bytes (int, bytes): Largest message.
                kernels (int, count): Communication kernels of these calls.
                untimed (int, count): Calls without a communication kernel in the recording, or an
                    event of a library that communicates between hosts, such as gloo: mostly groups
                    of one rank.
                unsized (int, count): Calls whose message size is not known, barriers among them.
                coverage (float, share): Time of the calls of known size / time of all.
                group_desc (string): Description of the process group.
                recorded_as (string): Spellings of the collective in the file, of communication
                    between hosts the names of the events; missing for kernels without arguments.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.collectives()
            <Answer: collectives (2 rows)>
        """
        return self._verb("collectives", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "sort": sort, "top": top
        })

    @verb
    def stragglers(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        include_last_step: bool = False,
    ) -> Answer:
        """Ranks that enter collectives late, so that the others wait.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            stragglers: Ranks by the waiting they cause.
                rank (int): Rank of the process in the job.
                score (float, share): Share of all waiting that was for this rank; even ranks have 1
                    / ranks each; missing where nothing was matched.
                collectives (int, count): Collectives found on other ranks too; only of kinds that
                    end on all ranks together.
                times_last (int, count): In how many of them it came last.
                caused_wait_ns (int, ns): Time the other ranks waited for it in these, all together.
                waiting_ranks (int, count): Ranks that waited for it.
                waited_ns (int, ns): Time it waited itself, for others.
                clock_wait_ns (int, ns): The part of caused_wait_ns that the recorded clocks show as
                    well: the other ranks were in the collective before this one began.
                clocks (string): agree: they show at least half of it; contradict: less; apart: they
                    cannot show any, as most of these collectives would have ended on one rank
                    before they began on another. Missing if nobody waited.
                unmatched (int, count): Collectives found on no other rank, or not for certain:
                    recordings that are cut, ranks that are missing, calls that only some ranks
                    make.
                unused (int, count): Communication that does not end on all ranks together:
                    broadcasts, point to point.
                evidence (string): The same in words.
            late_collectives: Collectives by the waiting for the last rank.
                collective (string): What was asked for.
                step (int): Number of the step; missing for what is in no step.
                position (int): Sequence number where recorded, else the place among its kind in the
                    step, from 0; before the first step counted back from -1.
                last_rank (int): The rank that came last, of several the first.
                caused_wait_ns (int, ns): Time the other ranks waited for it, all together.
                ranks (int, count): Ranks whose recordings hold it.
                group (string): Name of the process group; missing when not recorded.
                called_from (string): The nearest operator or annotation around the launch.
                kernel (string): Name of the kernel as recorded.
                begin_skew_ns (int, ns): From the first to the last begin on any rank, by the clocks
                    of the files.
                end_skew_ns (int, ns): From the first to the last end: about 0 if the clocks agree.
            collective_bandwidth: Bandwidth of collectives with and without waiting.
                collective (string): What was asked for.
                group (string): Name of the process group; missing when not recorded.
                group_size (int, count): Number of ranks in the group.
                count (int, count): Collectives found on two ranks or more.
                total_ns (int, ns): Sum of the durations on all ranks, waiting included.
                shared_ns (int, ns): Sum of the shortest duration of each collective: all ranks are
                    in it only that long.
                waited_ns (int, ns): Part of total_ns beyond the shortest duration: the ranks waited
                    for the last one.
                wait_share (float, share): waited_ns / total_ns.
                algo_gbps (float, GB/s): Bytes / time of all calls with their waiting, as in
                    collectives.
                shared_algo_gbps (float, GB/s): The same of the shortest call of each collective:
                    free of waiting.
                bus_gbps (float, GB/s): Bus bandwidth of all calls with their waiting; missing if
                    the group size is not known.
                shared_bus_gbps (float, GB/s): The same of the shortest call of each collective.
                coverage (float, share): Part of total_ns in calls whose message size is known.
                    Below 0.9 there are no rates.
                mean_begin_skew_ns (float, ns): From the first to the last begin on any rank, by the
                    clocks of the files; mean.
                max_begin_skew_ns (int, ns): The same at most.
                mean_end_skew_ns (float, ns): From the first to the last end; mean. Ranks leave
                    together, so that this is about how far their clocks differ.
                max_end_skew_ns (int, ns): The same at most.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.stragglers()
            <Answer: stragglers (2 rows), late_collectives (9 rows), collective_bandwidth (1 rows)>
        """
        return self._verb("stragglers", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "include_last_step":
            include_last_step
        })

    @verb
    def waits(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
        exit_skew: int | str | None = None,
    ) -> Answer:
        """Who made whom wait, by how much and why; clocks in line.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            exit_skew: by how much a rank may leave collectives later than others every time
                (default: 10us within a node, 50us across).

        Tables:
            waits_by_rank: Who made others wait.
                rank (int): Rank of the process in the job; missing for waiting of which it is not
                    certain who was last.
                caused_ns (int, ns): Time that others waited because of it, also where it made
                    another rank late that was waited for.
                caused_exposed_ns (int, ns): The part of it beside which the waiting rank computed
                    nothing.
                waited_ns (int, ns): Time it waited in collectives for the last rank.
                dispatch_ns (int, ns): From the launch of its collectives, or the end of what their
                    stream ran before, to their begin.
                last_times (int, count): Collectives that it entered last, by more than the error of
                    the clocks.
                main_cause (string): The largest of its causes in lateness.
                evidence (string): The same in words.
            lateness: Why they were late.
                rank (int): Rank of the process in the job; missing as in waits_by_rank.
                cause (string): What it did longer than the other ranks (their medians): compute,
                    copy, communication, waiting (in other groups, for nobody certain), idle by
                    cause; before recording: its recording began later; inherited: it was behind in
                    the collective before, of which it was not the last for certain; tie.
                total_ns (int, ns): Time that others waited for that; adds up to caused_ns of the
                    rank.
                share (float, share): Of what the rank caused.
            collective_time: Where the time inside of collectives went.
                part (string): waiting: for the last rank; transfer: all were inside, as long as
                    expected (comm_model) or where nothing is expected; transfer excess: what it
                    took longer; tail: after the first had left; contradicted: in collectives that
                    no clocks make possible, which are not divided.
                total_ns (int, ns): Of all ranks together.
                share (float, share): Of all time inside.
                exposed_ns (int, ns): The part of waiting beside which the rank computed nothing;
                    missing for other parts.
            waits: Collectives by the waiting in them.
                collective (string): What was asked for.
                group (string): Name of the process group; missing when not recorded.
                step (int): Number of the step; missing for what is in no step.
                position (int): Sequence number where recorded, else the place among its kind in the
                    step, from 0; before the first step counted back from -1.
                called_from (string): The nearest operator or annotation around the launch.
                ranks (int, count): Ranks whose recordings hold it.
                group_size (int, count): Number of ranks in the group: the last one may be one that
                    was not recorded.
                last_rank (int): Rank that entered last; missing where that is less than the errors
                    of the clocks.
                lead_ns (int, ns): From the last but one to the last that entered.
                spread_ns (int, ns): From the first to the last that entered.
                skew_ns (int, ns): Waiting of all ranks until the last one entered.
                common_ns (int, ns): Time of all ranks while all were inside: the transfer.
                tail_ns (int, ns): Time of all ranks after the first had left.
                exposed_skew_ns (int, ns): The part of skew_ns beside which the waiting rank
                    computed nothing.
                bytes (int, bytes): Size of the message, of one rank.
                bus_gbps_common (float, GB/s): Bus bandwidth while all were inside.
                cause (string): By what the last rank was late most, against the medians of the
                    others; tie: nobody was last for certain; contradicted: no clocks make it
                    possible.
                cause_ns (int, ns): The part of skew_ns due to it.
            comm_model: What transfers of this job take.
                collective (string): What was asked for.
                group (string): Name of the process group; missing when not recorded.
                group_size (int, count): Number of ranks in the group.
                algorithm (string): RING, TREE, NVLS or COLLNET, by the kernel's name.
                protocol (string): LL, LL128 or SIMPLE, by the kernel's name.
                count (int, count): Collectives of known size.
                sizes (int, count): How many sizes they have.
                alpha_ns (float, ns): Latency: what a transfer takes besides its bytes; missing with
                    fewer than 12 collectives, or than 3 sizes that span a factor of 4.
                algo_gbps (float, GB/s): Rate of large transfers; without alpha_ns the best that one
                    reached.
                beta_gbps (float, GB/s): The same as bus bandwidth; missing if the group size is not
                    known.
                half_bytes (float, bytes): Size of which latency takes half of the time.
                fit_spread (float, share): How far collectives lie from the expected time, as a
                    share of it; without alpha_ns those of which another one has the same size.
            comm_slow: Transfers that took more than twice the expected time.
                collective (string): What was asked for.
                group (string): Name of the process group; missing when not recorded.
                step (int): Number of the step; missing for what is in no step.
                position (int): As in waits.
                called_from (string): As in waits.
                bytes (int, bytes): Size of the message.
                transfer_ns (int, ns): From the moment at which all were inside to the first that
                    left.
                expected_ns (int, ns): By the line of comm_model that it belongs to; without
                    alpha_ns what others of its size take.
                excess_ns (int, ns): What it took longer.
            clocks: Clocks of the ranks.
                rank (int): Rank of the process in the job.
                clock (string): Ranks with one name seem to share a clock, within the error.
                offset_ns (int, ns): To be added to its times for those of the first rank it met, in
                    the middle of the recording; an estimate.
                error_ns (int, ns): By which the offset may be wrong, if no rank always leaves
                    collectives more than 50.0 us later than others (--exit-skew).
                whole_error_ns (int, ns): By which this one offset may be wrong anywhere in the
                    recording; missing where that is error_ns, as the clock neither drifts nor was
                    set.
                low_ns (int, ns): The least possible offset: none leaves a collective before all
                    have entered it.
                high_ns (int, ns): The largest possible offset.
                drift_ppm (float): Microseconds per second that are to be added besides; missing for
                    less than 0.1 s, and where chance alone explains it.
                verdict (string): one clock: with other ranks; aligned; stepped: set while it ran;
                    doubtful: more than 1 in 100 collectives contradict the clocks, so no bounds are
                    certain; not comparable: too many do; no collectives.
                collectives (int, count): Collectives found on other ranks.
                contradicted (int, count): Collectives that it left before the last rank entered, or
                    entered after the first had left, by more than the errors of both clocks: they
                    are not divided.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.waits()
            <Answer: waits_by_rank (2 rows), lateness (11 rows), collective_time (4 rows), waits (12 rows), comm_model (1 rows), comm_slow (0 rows), clocks (2 rows)>
        """
        return self._verb("waits", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top, "exit_skew": exit_skew
        })

    @verb
    def critical_path(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        overlay: str | os.PathLike[str] | None = None,
        save: str | os.PathLike[str] | None = None,
        data_load: str | None = None,
        zero_weight_launch_edges: bool = False,
        graph: bool = False,
        overlay_all_events: bool = False,
        overlay_all_edges: bool = False,
        include_last_step: bool = False,
    ) -> Answer:
        """What decides how long it takes: one cause for every moment, and what would help.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            overlay: also write the whole trace with what was selected drawn into it; into a folder
                under its own name, several traces so only; .gz compresses. It copies all that the
                source holds, but for what --scrub leaves out.
            save: also write what the answer follows from, for --load; into a folder as NAME.graph,
                several traces so only; .gz compresses.
            data_load: events whose name contains this are data loading, too.
            zero_weight_launch_edges: ``compat`` hta: tie each kernel to its launch where that did
                not delay it, too, with weight 0.
            graph: ``compat`` hta: also tables of all events, nodes and edges of the graph.
            overlay_all_events: ``overlay``: keep events that are not on the path, too.
            overlay_all_edges: ``overlay``: arrows for all edges, not only those of the path.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            critical_path_summary: What the critical path is bound by.
                rank (int): Rank of the process in the job.
                bound_by (string): cpu, data_load, launch, kernel_kernel_delay, gpu_compute,
                    gpu_communication, gpu_memory_copy; wait: for what the recording does not tell;
                    or before_recording: a device was busy with work from before the recording.
                total_ns (int, ns): Time on the path; all rows add up to the window.
                share (float, share): Part of the window without before_recording.
                inferred_ns (int, ns): Of total_ns, what rests on inferred dependencies: these, and
                    the work they come from.
            critical_ops: What takes the most time on the critical path.
                rank (int): Rank of the process in the job.
                name (string): Name of host events, or of device work; in brackets what bounds the
                    time of none.
                side (string): host or device; missing where it is neither's.
                calls (int, count): Events of that name on the path.
                path_ns (int, ns): Their time on the path; of host events without what lies in
                    events inside. All rows add up to the window.
                share (float, share): Part of the window without before_recording.
            what_if: What would be won if it took no time.
                rank (int): Rank of the process in the job.
                name (string): Name of host events, or of device work.
                side (string): host or device.
                path_ns (int, ns): Time on the path, as in critical_ops.
                saved_ns (int, ns): By how much the longest path gets shorter if all events of that
                    name in the window take no time of their own: then another path is the longest.
                saved_share (float, share): Part of the window without before_recording.
            critical_path: The critical path.
                rank (int): Rank of the process in the job.
                position (int): Place on the path, from 0.
                elapsed_ns (int, ns): Begin, from the begin of the recording.
                duration_ns (int, ns): Length of this piece of the path.
                name (string): Event the time belongs to: the innermost of a thread, the device
                    work, or what waits for the dependency.
                kind (string): operator (an event itself), launch_delay, kernel_kernel_delay, sync
                    or dependency.
                bound_by (string): What the time is spent on, as in the summary.
                side (string): host or device; missing where nothing is recorded.
                track (string): Thread or stream of the event.
                index (int): Position of the event in the file's list of events; missing where it
                    has none.
                begin_ns (int, ns): Begin, on the clock of the host in the file.
                inferred (bool): Whether the dependency was not recorded but inferred, or the path
                    came to this work by one that was.
            sync_edges: Who waits for which device work.
                rank (int): Rank of the process in the job.
                kind (string): event, event_query (asked without waiting), stream, device, copy or
                    stream_wait.
                from_name (string): The last work that is waited for.
                to_name (string): What waits: a call, or the work of a stream.
                weight_ns (int, ns): From the end of the work until what waited went on; 0 where it
                    was not the last to wait for.
                inferred (bool): Not recorded: follows from the name of the call and from what ended
                    before it.
                from_index (int): Position of the device work that is waited for in the file's list
                    of events.
                to_index (int): Position of the call whose end waits, or of the work whose start
                    waits.
            slack: How much longer events could take without making all longer.
                rank (int): Rank of the process in the job.
                name (string): Operator, call or device work.
                side (string): host or device.
                duration_ns (int, ns): Its length.
                slack_ns (int, ns): How much longer it could take, at its end, with the recording as
                    long as it is; 0 on the path. Of a call that waits: how much later it could have
                    been made.
                index (int): Position in the file's list of events; missing where it has none.
                begin_ns (int, ns): Begin, on the clock of the file.
            clock_skew: How far the clocks of devices are from that of the host.
                rank (int): Rank of the process in the job.
                gpu (int): Device number.
                skew_ns (int, ns): What the critical path adds to times of the device, so that no
                    work begins before its launch and no wait ends before its work.
                lowest_ns (int, ns): The least value that recorded launches allow; missing without
                    launches.
                highest_ns (int, ns): The largest value that recorded waits allow; missing without
                    such waits.
                launches (int, count): Launch calls and their work.
                waits (int, count): Calls that waited, by a record of the profiler, and what they
                    waited for.
                inferred_waits (int, count): Calls that waited by their name, and what they waited
                    for.
                contradicting (int, count): Those of the three that do not hold with skew_ns.
                help (string): What was corrected or contradicts; missing where nothing does.
            sync_quality: How far waits are known.
                rank (int): Rank of the process in the job.
                recorded (bool): Whether the file holds records of waits (cuda_sync).
                edges (int, count): Edges of sync_edges in the whole recording.
                inferred (int, count): Those that were not recorded.
                backward (int, count): Waits whose work ends after them by more than clocks drift,
                    which give no edge: lost or wrong records.
                unresolved (int, count): Waits of which it cannot be known what they wait for.
                path_inferred_ns (int, ns): Time on the critical path that rests on inferred
                    dependencies: the sum of inferred_ns in the summary.
                path_inferred_share (float, share): Part of the window without before_recording.
                help (string): What is missing, and what would tell more; missing where nothing is.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.critical_path()
            <Answer: critical_path_summary (18 rows), critical_ops (96 rows), what_if (20 rows), critical_path (1,926 rows), sync_edges (42 rows), slack (5,594 rows), clock_skew (2 rows), sync_quality (2 rows)>
        """
        return self._verb("critical-path", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "overlay": overlay, "save":
            save, "data_load": data_load, "zero_weight_launch_edges": zero_weight_launch_edges,
            "graph": graph, "overlay_all_events": overlay_all_events, "overlay_all_edges":
            overlay_all_edges, "include_last_step": include_last_step
        })

    @verb
    def whatif(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        sort: str | None = None,
        top: int | None = None,
        scale: str | Sequence[str] | None = None,
        remove: str | Sequence[str] | None = None,
        roof: str | None = None,
        speed_of_light: str | Sequence[str] | None = None,
        no_data_wait: bool = False,
        no_sync: str | Sequence[str] | None = None,
        overlap_comm: bool = False,
        graph: str | Sequence[str] | None = None,
        launch: str | None = None,
        plan: FileValue | None = None,
        sweep: str | None = None,
        data_load: str | None = None,
        causal: Literal["exact", "half", "full"] = "exact",
        sfu_weight: int = 1,
        device: str | None = None,
        device_spec: FileValue | None = None,
        candidates: int | None = None,
        plain_step: str | Sequence[int | str] | None = None,
        without_recording: bool = False,
    ) -> Answer:
        """How long it would take if something were faster, and how sure that is.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            scale: durations times F; WHAT is kernel:TEXT, op:TEXT, class:NAME, comm, copy,
                phase:NAME or host:TEXT; may be given again.
            remove: without this work and its launches, or without this host time; may be given
                again.
            roof: operators whose cost is known run at no less than this share of their roof.
            speed_of_light: kernels run at no less than this share of what the device can do at
                most, as --counters measured how near they come; WHAT as in ``scale``; may be given
                again.
            no_data_wait: data is loaded in the background, ahead of its use: nothing waits for it.
            no_sync: calls that wait for the device, in events whose name contains this, end when
                they begin; may be given again.
            overlap_comm: collectives on the stream of other work have one of their own; the
                optimizer waits for them.
            graph: what is launched in events whose name contains this is launched as graphs; may be
                given again.
            launch: host time of launch calls times F.
            plan: scenarios as JSON, {"scenarios": [{"name": ..., "changes": [...]}]}.
            sweep: factors, as 0.9,0.5,0: each takes the place of that of ``scale``.
            data_load: events whose name contains this are data loading, too.
            causal: what a causal attention counts: pairs that are not masked, half of all, or all.
            sfu_weight: FLOPs of one exp, log, sin, sqrt, ... (PyProf: 20).
            device: peaks of this device, whatever was recorded: "A100 80GB SXM4".
            device_spec: peaks of a device as JSON, {"name": ..., "tflops": {...}, ...}.
            candidates: of the changes that could help most, replay those N with most time on the
                path of the replay (default: all, some 40).
            plain_step: what a step takes without the profiler, as you measured it; or A,B: between
                which it lies.
            without_recording: steps as they are without the profiler: what recording them cost is
                taken off.

        Tables:
            ranking: What would help most, each alone.
                rank (int): Rank of the process in the job.
                scenario (string): What is changed.
                step_ns (int, ns): A step as measured, on average from completion to completion;
                    without steps, the recording. With --without-recording or --plain-step as it is
                    without the profiler.
                new_ns (int, ns): The same in the scenario: as measured, less what the replay is
                    shorter with the change than without. Missing where the replay does not
                    represent the recording, and where collectives are changed of whose time a part
                    is waiting for other ranks.
                low_ns (int, ns): The interval of new_ns: the error of the replay, how much steps
                    differ in what they save, a twentieth of what is saved, and half of what
                    launches of graphs are assumed to take.
                high_ns (int, ns): Its upper end.
                saved_share (float, share): (step - new) / step.
                speedup (float): step / new.
                bound_by (string): What most of the path of the replay then consists of, as in
                    critical-path.
                works (int, count): Pieces of device work that are changed.
                host_events (int, count): Events and calls of the host that are changed.
                note (string): What limits the answer; missing for nothing.
            replay_quality: How well the replay represents the recording.
                rank (int): Rank of the process in the job.
                step (int): Number of the step; missing for what is in no step.
                measured_ns (int, ns): From the begin of the step to its completion, when all its
                    device work and its host window have ended, less what the step before took of
                    it; without a step, of all of them together.
                replayed_ns (int, ns): The same in the replay, in which dependencies have lags of
                    their class.
                identity_share (float, share): (replayed - measured) / measured.
                held_out_share (float, share): The same of every other step, with lags measured in
                    the steps between; with fewer than four steps, of all, with lags of every other
                    hundredth of the time.
                null_share (float, share): The same with all lags 0: where this is small, identity
                    says nothing about devices.
                unexplained_share (float, share): Part of the time in which work on the path of the
                    replay waited for what no dependency explains.
                path_device_share (float, share): Part of the path of the replay that is device
                    work.
                anchored_share (float, share): Part of the device time whose launch was not
                    recorded, or was on a thread that depends on nothing recorded: it moves by
                    inference alone, or not at all.
                impossible_share (float, share): Part of the waits for device work that end before
                    that work does: lost or wrong records.
                inferred_edges (int, count): Dependencies that were not recorded, but follow from
                    times and names.
                edges (int, count): All dependencies.
                exact_ns (int, ns): Error of a replay with every lag as measured: 0, or the program
                    is wrong.
                verdict (string): good, rough, untested (answers about devices cannot be tested on
                    this recording) or refused.
                cause (string): Why the verdict is not good; missing where it is.
            true_time: Steps without the profiler.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded; missing when the rank has no device work.
                steps (int, count): Number of steps.
                recorded_ns (int, ns): The median length of a step as recorded, from completion to
                    completion.
                estimate_ns (int, ns): About how long it takes without the profiler.
                low_ns (int, ns): The least that it may take.
                high_ns (int, ns): The most that it may take.
                device_ns (int, ns): Busy time of the device, by step: no step is shorter.
                idle_share (float, share): Part of a recorded step in which the device idles.
                idle_estimate (float, share): The same without the profiler.
                idle_low (float, share): The least that it may be.
                idle_high (float, share): The most that it may be.
                status (string): corrected; small: recording costs less than 5 % of steps; no pace:
                    too few operators call others; other observer: something else slows every
                    operator, too; refused: the replay does not represent the recording (whatif says
                    why).
                pace_ns (int, ns): What recording an operator costs, from the times of operators
                    around others.
                launch_ns (int, ns): The usual length of a call that starts device work.
                cost_source (string): recording: the cost of recording is estimated from the
                    recording's own times; plain-step: from the given step, which then is the
                    estimate.
                factor (float): The factor of the usual costs that results in the given step; below
                    0.4 or above 2 something other than recording made the difference.
                identity_share (float, share): Error of the replay without changes.
            replay_constants: Lags of the replay.
                rank (int): Rank of the process in the job.
                what (string): Kind of dependency: launch, stream, graph, event, wait, queue, call.
                class (string): Between what.
                cases (int, count): How often it decided when something happened.
                lag_ns (int, ns): Mean of these, without the largest 2 %.
                spread_ns (int, ns): From their 10th to their 90th percentile.
                source (string): measured; similar: fewer than 8 cases, the mean of its kind;
                    assumed: a usual value.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.whatif()
            <Answer: ranking (20 rows), replay_quality (8 rows), true_time (2 rows), replay_constants (34 rows)>
        """
        return self._verb("whatif", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern,
            "sort": sort, "top": top, "scale": scale, "remove": remove, "roof": roof,
            "speed_of_light": speed_of_light, "no_data_wait": no_data_wait, "no_sync": no_sync,
            "overlap_comm": overlap_comm, "graph": graph, "launch": launch, "plan": plan, "sweep":
            sweep, "data_load": data_load, "causal": causal, "sfu_weight": sfu_weight, "device":
            device, "device_spec": device_spec, "candidates": candidates, "plain_step": plain_step,
            "without_recording": without_recording
        })

    @verb
    def variance(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        sort: str | None = None,
        top: int | None = None,
        parts: Literal["path", "breakdown", "ops"] | None = None,
        all_steps: bool = False,
        data_load: str | None = None,
        series: bool = False,
    ) -> Answer:
        """Why some steps are slower than others.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            parts: what steps are divided into: the critical path, which is the default; device
                time, by default where no waits were recorded; or the host events of the thread that
                runs them.
            all_steps: count the first recorded step as well, which profilers and caches slow down.
            data_load: events whose name contains this are data loading, too.
            series: also a table of every change over time.

        Tables:
            steps_spread: How far steps differ; without step 1, the first recorded (--all-steps)
                rank (int): Rank of the process in the job; missing for the job of several.
                steps (int, count): Steps that count.
                median_ns (int, ns): Of their lengths, to their completion: measured_ns of whatif;
                    with --parts ops of its window on the host; of the job that of the longest rank.
                mad_ns (int, ns): Median of the distances of the lengths from their median.
                p10_ns (int, ns): 10th percentile of the lengths.
                p90_ns (int, ns): 90th percentile.
                max_ns (int, ns): The longest.
                max_step (int): Its number.
                trend_ns (int, ns): How much longer each step is than the one before: the median of
                    the slopes between all pairs of steps; missing below 5 steps.
                trend_low_ns (int, ns): The interval of the trend, 90 %.
                trend_high_ns (int, ns): Its upper end.
                period (int, count): After how many steps lengths repeat; missing where they do not.
                period_correlation (float): Of lengths with those one period later, without the
                    trend; above 0.5.
                work_share (float, share): Part of the variance that goes with other amounts of
                    work; missing where all steps do the same, or it is not known.
                parts (string): How the steps are divided (--parts), where ranks differ in it, so
                    that their parts are not comparable: --parts breakdown divides all alike.
                    Missing where all are alike.
            variance_causes: What goes with the length of steps, by path: shares need 5 steps.
                rank (int): Rank of the process in the job: what it, for which the others waited,
                    spent beyond the typical rank; missing: time of the typical rank.
                cause (string): bound_by of critical-path; with --parts breakdown compute,
                    exposed_comm, exposed_copy, idle; with --parts ops operator, call, annotation,
                    python, between_events. skew: the longest rank took longer than the one that
                    waited least. other_work: what goes with the FLOPs of the step.
                name (string): Event or device work; missing for none.
                mean_ns (int, ns): Time in a step, on average; all rows add up to the mean step.
                sd_ns (int, ns): Its standard deviation, of a sample.
                share (float, share): Covariance with the length of the step / variance of the
                    length: all rows add up to 1; below 0 what makes up for others. Missing below 5
                    steps, or where all are alike.
                low (float, share): The interval of the share, 90 %: of 1,000 draws of as many
                    steps.
                high (float, share): Its upper end.
                stable (bool): Of the three largest shares: whether the row keeps its place in 80 %
                    of the draws.
            slow_steps: Slow steps, and what took longer than in a usual one.
                step (int): Number of the step.
                length_ns (int, ns): Length of the step.
                over_ns (int, ns): Length less that of the usual step: the mean of those between the
                    40th and the 60th percentile.
                outlier (bool): Whether it is longer than the median by 3.5 x 1.4826 MAD and by 1 %
                    of the median; where no step is, the slowest is shown.
                first_cause (string): Cause and name of what took longer.
                first_ns (int, ns): By how much.
                second_cause (string): Cause and name of what took longer.
                second_ns (int, ns): By how much.
                third_cause (string): Cause and name of what took longer.
                third_ns (int, ns): By how much.
                rest_ns (int, ns): Everything else: over less the three.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.variance()
            <Answer: steps_spread (3 rows), variance_causes (78 rows), slow_steps (1 rows)>
        """
        return self._verb("variance", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern,
            "sort": sort, "top": top, "parts": parts, "all_steps": all_steps, "data_load":
            data_load, "series": series
        })

    @verb
    def inference(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
        phase_pattern: str | Sequence[str] | None = None,
    ) -> Answer:
        """Prefill and decode: time per token, tokens per second, idle time.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            phase_pattern: annotations that are steps, with groups phase, bs, tokens and kv (RE2),
                as '(?P<phase>decode|prefill) bs=(?P<bs>\\d+)'; may be given again.

        Tables:
            inference_phases: Phases of inference.
                rank (int): Rank of the process in the job.
                phase (string): decode: each request gets its next token; prefill: prompts are read;
                    mixed: both in one batch; other: steps that do not say; (no step): device work
                    launched outside of steps; (no launch): its launch was not recorded.
                known_by (string): How the phase is known: annotation, of a server; pattern, of
                    --phase-pattern; sequence, operators that recur, and their shapes; graph,
                    inferred: a graph that reads a cache.
                steps (int, count): Steps of the phase.
                requests (float): Requests in a step, the median of those that say so.
                tokens (int, count): Tokens that all steps processed: of prompts, and one of each
                    request that decodes, more where drafted ones are checked; missing where a step
                    does not say.
                period_ns (float, ns): From completion to completion, the median: from the begin of
                    a step, or the end of all work launched before it if that is later, to the same
                    of the next; missing of the last step.
                p99_ns (float, ns): 99th percentile of the periods.
                token_ns (float, ns): Time for the next token of a request: the median period of
                    decode steps; missing where these check drafted tokens, of which nobody knows
                    how many are right.
                tokens_per_second (float): Tokens of the steps with a period / the sum of these
                    periods; missing where tokens are, and of decode steps that check drafts.
                busy (float, share): Time of the period in which work of the step runs on a device /
                    period, of all steps with one.
                idle_ns (int, ns): Sum over these steps of period less busy.
                device_ns (int, ns): Sum of the durations of the device work that all steps
                    launched.
                share (float, share): Device time / all device work of the rank.
                graph (float, share): Of the device time, what was launched as graphs.
            inference_stalls: Decoding waits for prefill.
                rank (int): Rank of the process in the job.
                phase (string): mixed: steps that read prompts and decode; prefill: steps that read
                    prompts between two that decode.
                steps (int, count): Such steps.
                requests (int, count): Requests that decode in them, or, of prefill, wait for them:
                    at least those that decode behind them and are none of their prompts.
                held_ns (int, ns): Time by which they take longer than the median decode step; of
                    prefill all of it.
                waited_ns (int, ns): The same times the requests of each step: what all requests
                    together wait.
            inference_parts: Device time of each phase by what it is for.
                rank (int): Rank of the process in the job.
                phase (string): As in `inference_phases`.
                part (string): attention; moe: routing, permuting and products of experts, by their
                    names or by an operator around them; gemm: other products; communication;
                    sampling: choosing tokens; norm, pointwise, embedding, reduction, sort, copy and
                    other: by the class of the kernel.
                works (int, count): Kernels, memcpys and memsets.
                device_ns (int, ns): Sum of their durations.
                per_step_ns (float, ns): Device time / steps.
                share (float, share): Device time / that of the phase.
            inference_steps: Steps of inference.
                rank (int): Rank of the process in the job.
                step (int): Number of the step in its process, from 0.
                phase (string): decode, prefill, mixed or other.
                known_by (string): How the phase is known, as in `inference_phases`.
                requests (int, count): Requests in the batch; missing where unknown.
                tokens (int, count): Tokens that the step processes, for all requests.
                prefill_tokens (int, count): Of these, tokens of prompts.
                decode_requests (int, count): Requests that get their next token.
                kv_tokens (int, count): Keys and values that the tokens attend to, of all requests,
                    each layer and head alike.
                begin_ns (int, ns): Begin of the step on the host, on the file's own clock.
                period_ns (int, ns): From completion to completion, as in `inference_phases`;
                    missing of the last one.
                busy_ns (int, ns): Time of the period in which work that the step launched runs on a
                    device (union); of a step without a period of all time since the work launched
                    before it ended.
                idle_ns (int, ns): Period less busy.
                tokens_per_second (float): Tokens / period.
                works (int, count): Kernels, memcpys and memsets that the step launched.
                device_ns (int, ns): Sum of their durations.
                graph_ns (int, ns): Of these, what was launched as graphs.
                device_span_ns (int, ns): From the first start to the last end of that work.
                name (string): Name of the annotation, operator or call with which the step begins.
            inference_experts: Load of the experts of each rank.
                rank (int): Rank of the process in the job.
                exchanges (int, count): All-to-alls that send and get different numbers of elements,
                    as routing makes them.
                sent (int, count): Elements that the rank sent in them.
                received (int, count): Elements that it got: work of its experts.
                load (float): Received / mean of the ranks: 1 where all experts have the same work.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/small/serving.json")
            >>> run.inference()
            <Answer: inference_phases (4 rows), inference_stalls (2 rows), inference_parts (14 rows), inference_steps (10 rows)>
        """
        return self._verb("inference", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top, "phase_pattern": phase_pattern
        })

    @verb
    def memory(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """Allocated and reserved memory over time, and what fills it at the peak.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            memory_peak: Memory at its peak.
                rank (int): Rank of the process in the job.
                device (string): Device the memory is on; missing if not recorded.
                category (string): What the memory holds when the sum of all categories is largest;
                    without categories the peaks of "allocated" and "reserved", each at its own
                    time.
                bytes (int, bytes): How much; missing if all sums of changes have left 64 bits.
                share (float, share): Of the sum of all categories, or of the memory of the device
                    where that is recorded.
                elapsed_ns (int, ns): When it is reached first, since the begin of the recording;
                    missing: before it.
                source (string): "allocator": its own total; "changes": the sum of the changes
                    recorded so far; "replay": of a memory snapshot, by the model of the allocator.
                ts_ns (int, ns): The same as elapsed, on the file's clock.
            memory_ops: What holds the allocated memory at its peak.
                rank (int): Rank of the process in the job.
                device (string): Device the memory is on.
                op (string): Outermost operator that allocated it; "(allocated before)": no
                    allocation recorded; "(freed unseen)": frees that were not recorded, as negative
                    bytes.
                annotation (string): Innermost user annotation around the allocation.
                allocations (int, count): Allocations not yet freed.
                bytes (int, bytes): Their bytes.
                share (float, share): Of all that is allocated at the peak; above 1 where frees were
                    not recorded.
            memory_timeline: Memory over time.
                rank (int): Rank of the process in the job.
                device (string): Device the memory is on; missing if not recorded.
                elapsed_ns (int, ns): When, since the begin of the recording; missing for what was
                    there before it.
                category (string): What the memory holds; "allocated" where no categories are
                    recorded.
                allocated_bytes (int, bytes): What is held afterwards; missing once a sum of changes
                    has left 64 bits.
                reserved_bytes (int, bytes): What the allocator then keeps of the device, used or
                    not; missing if not recorded.
                ts_ns (int, ns): The same as elapsed, on the file's clock.
            memory_live: What held memory.
                rank (int): Whose snapshot it is; missing if that is not known.
                device (int): Number of the device in the process.
                moment (string): peak: the first event with the most allocated; oom: the last
                    failure; end.
                category (string): parameter, gradient, optimizer state, activation, library
                    workspace, held by the program, temporary or before recording:
                    docs/use/postmortem-memory.md.
                line (string): The line of the program that allocated; of the backward pass its
                    function.
                stack (string): Frames of the program of the largest block, innermost first, where
                    there are several.
                blocks (int, count): Number of blocks.
                bytes (int, bytes): Their bytes.
                share (float, share): Of all that was allocated at that moment.
                file (string): The snapshot; missing where there is no other one.
            memory_segments: Where memory lies, most free bytes first.
                rank (int): Whose snapshot it is; missing if that is not known.
                device (int): Number of the device in the process.
                moment (string): peak: the first event with the most allocated; oom: the last
                    failure; end.
                address (int): Where the segment begins; negative from 2^63 on. Each row of pages of
                    expandable_segments is one.
                pool (string): small or large: which requests it serves.
                stream (int): Stream whose requests it serves.
                private_pool (string): The pool of a CUDA graph or of torch.cuda.MemPool, as 1.0;
                    missing for the default one.
                expandable (bool): Of expandable_segments.
                bytes (int, bytes): Its size.
                allocated_bytes (int, bytes): Of it, blocks in use.
                pending_bytes (int, bytes): Freed, but a stream may still use it.
                free_bytes (int, bytes): Free.
                free_blocks (int, count): In so many pieces.
                largest_free_bytes (int, bytes): The largest of these.
                releasable_bytes (int, bytes): What torch.cuda.empty_cache() would give back to the
                    device: the segment if it is free as a whole, or whole free pages.
                serves (string): At oom, what the free bytes are for the request that failed:
                    usable, too small, other pool, other stream or private pool.
                blocks (int, count): Blocks in use.
                category (string): What holds most of it, as in memory_live; missing if nothing
                    does.
                line (string): The line of the program that allocated that: it keeps the segment.
                line_bytes (int, bytes): What this line holds of it in this category.
                file (string): The snapshot; missing where there is no other one.
            memory_growth: Memory that grows from step to step.
                rank (int): Whose snapshot it is; missing if that is not known.
                device (int): Number of the device in the process.
                line (string): The line of the program that allocates.
                category (string): As in memory_live.
                growth (string): held: blocks that stay; replaced: the least that it holds in a
                    step, in blocks that larger ones replace; peak: what a step needs beyond that
                    and frees again.
                steps (int, count): The last steps in a row in which it grew; parts of the time
                    where no steps are marked.
                first_step (int, count): The first of these, counted from 1.
                bytes_per_step (int, bytes): Median of these steps.
                blocks_per_step (int, count): Median of these steps.
                bytes (int, bytes): In all of them.
                certainty (string): certain by marked steps; likely by parts of the time, of what is
                    replaced or freed again, and of a line that fell by as much before.
                file (string): The snapshot; missing where there is no other one.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/small/memory.json")
            >>> run.memory()
            <Answer: memory_peak (2 rows), memory_ops (2 rows), memory_timeline (1 rows)>
        """
        return self._verb("memory", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top
        })

    @verb
    def counters(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        by: str | Sequence[str] | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        all_counters: bool = False,
        disagree: float | str = "10%",
        include_last_step: bool = False,
    ) -> Answer:
        """Hardware counters per kernel with the operators behind, FLOPs from them.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            by: group by these, too: shape, dtype.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            all_counters: of reports: a column for every counter, with attributes of the device.
            disagree: measured amounts that differ by more from the modelled ones are named.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            counter_lineup: Ranges brought together with kernel launches.
                rank (int): Rank of the process in the job.
                gpu (int): Device number; missing: several, and the launches do not tell theirs.
                ranges (int, count): Profiler ranges.
                launches (int, count): Kernel launches.
                lined_up (int, count): Ranges whose launch was found.
                mode (string): "by position": as many ranges as launches; "by names" of kernels or
                    "in order" where the numbers, or the names of recorded kernels, differ; "whole
                    range": one range over all launches; "by correlation": the recording says which
                    launch is whose.
                counters (int, count): Counters measured.
                left_out (int, count): Counters without a column, because there are too many.
            counter_flops: Floating-point operations from hardware counters.
                rank (int): Rank of the process in the job.
                kernel (string): Name of the range: the kernel it was measured for.
                op (string): Innermost operator around the launch; "(no operator)" where there is
                    none.
                ranges (int, count): Ranges measured.
                flops (float, flops): Operations; missing where no counter of them was measured, or
                    not that of the type on which matrix units worked.
                time_ns (float, ns): Time of the kernels; missing if not known.
                time_from (string): Where the time is from: the counter gpu__time_duration, the
                    recorded kernels, or the ranges, which are longer than their kernels; trace: the
                    kernels of the trace, of which another run measured the counters.
                tflops (float): 10^12 operations per second.
                dram_bytes (float, bytes): Traffic between device memory and L2; missing if not
                    measured.
                intensity (float): Operations per byte of that traffic.
                not_counted (string): Counters of tensor-core instructions that no operations can be
                    told from, or types of operands that were not counted; measure
                    sm__ops_path_tensor_src_*.sum.
            counter_join: Reports of counters, matched with kernels.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                file (string): The report.
                tool (string): What wrote it.
                profiled (int, count): Kernels in it, of this process and device.
                launches (int, count): Kernels of the device in the trace.
                range (int, count): Kernels of the trace matched within a range that both recordings
                    name.
                order (int, count): Kernels matched by their order alone.
                broadcast (int, count): Kernels with the mean of others that did the same work: of
                    the same name, size, operator and arguments.
                ambiguous (int, count): Kernels without counters, as what has their name and size
                    does several amounts of work.
                other_work (int, count): Kernels without counters, as what was measured under their
                    name and size took another time.
                none (int, count): Kernels whose name and size were not measured.
                only_in_report (int, count): Kernels of the report whose name and size the trace
                    does not have.
                valued (float, share): Part of the kernel time that has counters.
                other_build (int, count): Matched kernels whose registers or shared memory differ:
                    another build of the program.
                disagreeing (int, count): Kernels that have counters from a report before, which
                    counted other operations (by more than 2 %).
                cache (string): Whether caches were flushed before each kernel, so that what the
                    kernel before has just written is read from memory again: flushed, kept or
                    unknown.
                clock_ratio (float): Clock of the measurement / highest clock of the device,
                    weighted by time.
                passes (int, count): How often each kernel was run to measure all counters.
                counters (int, count): Counters in the report.
                ambiguous_share (float, share): Part of the kernel time that is ambiguous.
                none_share (float, share): Part of the kernel time that was not measured.
                only_in_report_share (float, share): Part of the time of the report's kernels whose
                    name and size the trace does not have.
                first_without (string): The first kernel without counters.
                largest_none (string): Of the kernels that were not measured the one with the most
                    time.
                largest_only_in_report (string): Of the kernels that only the report has the one
                    with the most time.
                remedy (string): What does not fit, and what to do about it; missing where nothing
                    is wrong.
            counter_ops: Operators: measured against modelled.
                rank (int): Rank of the process in the job.
                op (string): Operator: that with a model which launched the kernels, else the
                    innermost one.
                calls (int, count): Calls with kernels.
                kernels (int, count): Their kernels.
                total_ns (int, ns): Sum of the durations of the kernels in the trace.
                valued (float, share): Part of that time in calls all of whose kernels have
                    counters. All that follows is of these calls alone.
                matrix_flops (int, flops): Matrix FLOPs by the model of the operator.
                vector_flops (int, flops): Vector FLOPs by the model.
                tensor_flops (int, flops): Measured operations of matrix units; missing if they were
                    not counted for the type of the operands.
                vector_ops (int, flops): Measured floating-point additions, products and
                    multiply-adds (two each) of vector units: exponentials, comparisons and
                    selections count otherwise than in the model.
                flops_ratio (float): Measured / modelled FLOPs of matrix operators; of those that
                    ran on vector units, vector operations / all modelled FLOPs.
                model_read (int, bytes): Every input read once, by the model.
                dram_read (int, bytes): Measured bytes that were read from device memory.
                read_ratio (float): dram_read / model_read.
                model_written (int, bytes): Every output written once, by the model.
                dram_written (int, bytes): Measured bytes that were written to device memory until
                    the kernels ended; the rest is still in the L2 cache.
                l2_bytes (int, bytes): Measured traffic of the L2 cache: what SMs asked for, where
                    that was counted, else on both sides of it.
                tflops (float): Measured FLOPs / time in the trace, in 1e12 operations per second:
                    of matrix units, where the operator used them.
                dram_gbps (float, GB/s): Measured bytes of device memory / time in the trace.
                intensity (float): Measured FLOPs / measured bytes of device memory.
                flops_verdict (string): Of matrix operators: equal (within 0.5 %), close (within the
                    share of disagree), more work, less work, not measured.
                bytes_verdict (string): more traffic or less traffic, where reads differ by more
                    than the share of disagree; writes differ, where they are more than modelled or
                    fewer than cannot be left in L2; else ok. 64 KiB a call are no difference.
                not_counted (string): Types of operands whose operations were not counted: measure
                    sm__ops_path_tensor_src_TYPE_dst_*.sum.
            speed_of_light: Kernels against the peaks of the device, as measured.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                kernel (string): Name of the kernel.
                grid (string): Its size in blocks: x, y, z.
                block (string): The size of a block in threads: x, y, z.
                op (string): Operator around most of the time: that with a model, else the innermost
                    one.
                count (int, count): Kernels with percentages.
                total_ns (int, ns): Sum of their durations in the trace.
                share (float, share): total_ns / time of all selected kernels of the rank.
                compute (float, share): Throughput of the SMs, of its peak: sm__throughput.
                memory (float, share): Throughput of the memory system, of its peak:
                    gpu__compute_memory_throughput.
                dram (float, share): Throughput of device memory, of its peak.
                l2 (float, share): Throughput of the L2 cache, of its peak.
                l1 (float, share): Throughput of the L1 caches, of its peak.
                tensor (float, share): Cycles in which the matrix units worked.
                occupancy (float, share): Warps that were active, of those that an SM holds.
                occupancy_max (float, share): The same at most, for what a block needs.
                occupancy_limit (string): What limits that: registers, shared_mem, blocks, warps or
                    barriers.
                waves (float): Blocks of the grid / blocks that the device holds at once.
                limiter (string): What held it back: near peak (one of compute and memory is at 80 %
                    or above); where both are below 60 %, small grid (less than one wave) or
                    latency; else compute, memory, or balanced (less than 10 % between them).
                inner (string): The part of compute, or of memory if that is higher, that is nearest
                    to its peak.
                beyond_ns (int, ns): Time beyond that at the peak: total_ns x (1 - the larger of
                    compute and memory).
                source (string): How most of the time came by its counters: range, order, broadcast,
                    or recorded (the file itself has them).
            counter_rules: What the rules of Nsight Compute say.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                kernel (string): Name of the kernel.
                grid (string): Its size in blocks: x, y, z.
                block (string): The size of a block in threads: x, y, z.
                rule (string): The rule, by the name that it has there.
                count (int, count): Kernels of this name and size that have counters.
                total_ns (int, ns): Sum of their durations in the trace.
                title (string): What it found; missing where it has none.
                metric (string): The metric that it looked at; of several the first.
                value (float): The number that the rule gives for it.
                speedup (float, share): What following it would save at most, as the tool estimates.
                speedup_of (string): Of what: kernel, or part: of what the rule is about.
                advice (string): Its words.
            counters: Hardware counters per range.
                rank (int): Rank of the process in the job.
                gpu (int): Device number as recorded.
                kernel (string): Name of the range: the kernel it was measured for.
                ts_ns (int, ns): Start of the range, on the clock of the file, of which often only
                    the order means something; with reports of another run, of the kernel in the
                    trace.
                dur_ns (int, ns): Length of the range, in which the kernel is replayed, and which is
                    often a made-up share; with reports of another run, of the kernel in the trace.
                top_op (string): Outermost operator around the launch.
                bottom_op (string): Innermost operator around the launch.
                op_stack (string): All operators around the launch as a JSON array, outermost first;
                    of a range over many launches the outermost operators that it spans. "…" stands
                    for what is beyond 256 operators or 4096 bytes.
                source (string): Where the counters are from: recorded with the trace, or a report:
                    matched within a range that both recordings name, by order, or broadcast (the
                    mean of others that did the same work). Without counters: ambiguous (what has
                    this name and size does several amounts of work), other work (what was measured
                    took another time), or none (not measured).

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/small/counters.json")
            >>> run.counters()
            <Answer: counter_lineup (1 rows), counter_flops (1 rows), counters (1 rows)>
        """
        return self._verb("counters", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "by": by, "compat": compat, "sort": sort, "top": top, "all_counters":
            all_counters, "disagree": disagree, "include_last_step": include_last_step
        })

    @verb
    def stats(
        self, report: str = "all", *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
    ) -> Answer:
        """The reports of nsys stats with their columns, of any input.

        Args:
            report: reports by their names in nsys, with commas between them, or all: cuda_api_sum,
                cuda_gpu_kern_sum, cuda_gpu_mem_size_sum, cuda_gpu_mem_time_sum, cuda_gpu_trace,
                cuda_kern_exec_sum, nvtx_gpu_proj_sum, nvtx_kern_sum, nvtx_sum, osrt_sum.
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.

        Tables:
            cuda_api_sum: Calls of the runtime and driver.
                Time (%) (float): Percent of the total of all rows.
                Total Time (ns) (int): Sum.
                Num Calls (int): How many.
                Avg (ns) (float): Mean.
                Med (ns) (float): Median.
                Min (ns) (int): Smallest.
                Max (ns) (int): Largest.
                StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Name (string): Name of the call.
            cuda_gpu_kern_sum: Kernels.
                Time (%) (float): Percent of the total of all rows.
                Total Time (ns) (int): Sum.
                Instances (int): How many.
                Avg (ns) (float): Mean.
                Med (ns) (float): Median.
                Min (ns) (int): Smallest.
                Max (ns) (int): Largest.
                StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Name (string): Name of the kernel.
            cuda_gpu_mem_size_sum: Bytes of memcpys and memsets.
                Total (MB) (float): Sum.
                Count (int): How many.
                Avg (MB) (float): Mean.
                Med (MB) (float): Median.
                Min (MB) (float): Smallest.
                Max (MB) (float): Largest.
                StdDev (MB) (float): Sample standard deviation; 0 for a single value.
                Operation (string): Where from and where to.
            cuda_gpu_mem_time_sum: Time of memcpys and memsets.
                Time (%) (float): Percent of the total of all rows.
                Total Time (ns) (int): Sum.
                Count (int): How many.
                Avg (ns) (float): Mean.
                Med (ns) (float): Median.
                Min (ns) (int): Smallest.
                Max (ns) (int): Largest.
                StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Operation (string): Where from and where to.
            cuda_gpu_trace: Kernels, memcpys and memsets by start.
                rank (int): Rank of the process in the job; left out where there is one.
                Start (ns) (int): Start, on the clock of the file.
                Duration (ns) (int): Duration.
                CorrId (int): Number that ties it to its call.
                GrdX (int): Blocks of the grid.
                GrdY (int): Blocks of the grid.
                GrdZ (int): Blocks of the grid.
                BlkX (int): Threads of a block.
                BlkY (int): Threads of a block.
                BlkZ (int): Threads of a block.
                Reg/Trd (int): Registers per thread.
                StcSMem (MB) (float): Missing: static and dynamic shared memory are kept together.
                DymSMem (MB) (float): Missing: static and dynamic shared memory are kept together.
                SMem (MB) (float): Shared memory of a block, static and dynamic; no column of nsys.
                Bytes (MB) (float): Bytes copied or set.
                Throughput (MB/s) (float): Bytes / duration.
                SrcMemKd (string): Kind of memory copied from.
                DstMemKd (string): Kind of memory copied or written to.
                Device (string): Name of the device where recorded, and its number.
                Ctx (int): Missing: contexts are not kept.
                GreenCtx (int): Missing: contexts are not kept.
                Strm (int): Stream.
                Name (string): Name of the kernel, or kind of the copy.
            cuda_kern_exec_sum: Kernels from call to end.
                PID (int): Process that made the call.
                TID (int): Thread that made the call.
                DevId (int): Device number as recorded.
                Count (int): How many.
                QCount (int): How many.
                TAvg (ns) (float): Mean.
                TMed (ns) (float): Median.
                TMin (ns) (int): Smallest.
                TMax (ns) (int): Largest.
                TStdDev (ns) (float): Sample standard deviation; 0 for a single value.
                AAvg (ns) (float): Mean.
                AMed (ns) (float): Median.
                AMin (ns) (int): Smallest.
                AMax (ns) (int): Largest.
                AStdDev (ns) (float): Sample standard deviation; 0 for a single value.
                QAvg (ns) (float): Mean.
                QMed (ns) (float): Median.
                QMin (ns) (int): Smallest.
                QMax (ns) (int): Largest.
                QStdDev (ns) (float): Sample standard deviation; 0 for a single value.
                KAvg (ns) (float): Mean.
                KMed (ns) (float): Median.
                KMin (ns) (int): Smallest.
                KMax (ns) (int): Largest.
                KStdDev (ns) (float): Sample standard deviation; 0 for a single value.
                API Name (string): The call that started the kernels.
                Kernel Name (string): Name of the kernel.
            nvtx_gpu_proj_sum: Ranges as their device work runs.
                Range (string): Text of the range.
                Style (string): PushPop: ranges of a thread, one inside another; StartEnd: ranges
                    that may overlap and end on another thread, to which no device work belongs.
                Total Proj Time (ns) (int): Sum.
                Total Range Time (ns) (int): Sum.
                Range Instances (int): How many.
                Proj Avg (ns) (float): Mean.
                Proj Med (ns) (float): Median.
                Proj Min (ns) (int): Smallest.
                Proj Max (ns) (int): Largest.
                Proj StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Total GPU Ops (int): Sum.
                Avg GPU Ops (float): Mean.
                Avg Range Lvl (float): Mean.
                Avg Num Child (float): Mean.
            nvtx_kern_sum: Kernels by the ranges that launched them.
                NVTX Range (string): Text of the range.
                Style (string): PushPop: ranges of a thread, one inside another; StartEnd: ranges
                    that may overlap and end on another thread, to which no device work belongs.
                PID (int): Process of the range.
                TID (int): Thread of the range.
                NVTX Inst (int): How many.
                Kern Inst (int): How many.
                Total Time (ns) (int): Sum.
                Avg (ns) (float): Mean.
                Med (ns) (float): Median.
                Min (ns) (int): Smallest.
                Max (ns) (int): Largest.
                StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Kernel Name (string): Name of the kernel.
            nvtx_sum: Ranges on the host.
                Time (%) (float): Percent of the total of all rows.
                Total Time (ns) (int): Sum.
                Instances (int): How many.
                Avg (ns) (float): Mean.
                Med (ns) (float): Median.
                Min (ns) (int): Smallest.
                Max (ns) (int): Largest.
                StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Style (string): PushPop: ranges of a thread, one inside another; StartEnd: ranges
                    that may overlap and end on another thread, to which no device work belongs.
                Range (string): Text of the range.
            osrt_sum: Calls of the operating system.
                Time (%) (float): Percent of the total of all rows.
                Total Time (ns) (int): Sum.
                Num Calls (int): How many.
                Avg (ns) (float): Mean.
                Med (ns) (float): Median.
                Min (ns) (int): Smallest.
                Max (ns) (int): Largest.
                StdDev (ns) (float): Sample standard deviation; 0 for a single value.
                Name (string): Name of the call.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.stats("all")
            <Answer: cuda_api_sum (11 rows), cuda_gpu_kern_sum (25 rows), cuda_gpu_mem_size_sum (4 rows), cuda_gpu_mem_time_sum (4 rows), cuda_gpu_trace (1,016 rows), cuda_kern_exec_sum (52 rows), nvtx_gpu_proj_sum (7 rows), nvtx_kern_sum (98 rows), nvtx_sum (9 rows), osrt_sum (0 rows)>
        """
        return self._verb("stats", {
            "report": report, "rank": rank, "step": step, "step_rule": step_rule, "step_pattern":
            step_pattern, "gpu": gpu, "stream": stream, "annotation": annotation, "instance":
            instance, "begin": begin, "end": end, "sort": sort, "top": top
        })

    @verb
    def prof(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["pyprof"] | None = None,
        all: bool = False,
        sort: str | None = None,
        top: int | None = None,
        columns: str | None = None,
        width: int | None = None,
        csv: bool = False,
        parse: bool = False,
        causal: Literal["exact", "half", "full"] = "exact",
        sfu_weight: int = 1,
    ) -> Answer:
        """Every kernel with its operator, arguments, layer, FLOPs and bytes.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            all: also copies and memsets; ops ``compat`` key_averages: also kernels and runtime
                calls.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            columns: columns in this order, with commas between them: idx, seq, altseq, tid, layer,
                trace, dir, sub, mod, op, kernel, params, sil, tc, device, stream, grid, block,
                flops, bytes, status (default: all).
            width: text: a line per kernel with columns of fixed width, in which kernel and params
                share what the others leave of N; without ``columns`` those of PyProf.
            csv: text: a line per kernel, every value in quotes, with commas between them.
            parse: ``compat`` pyprof: what its parse stage writes, a dict of Python for each kernel.
            causal: what a causal attention counts: pairs that are not masked, half of all, or all.
            sfu_weight: FLOPs of one exp, log, sin, sqrt, ... (PyProf: 20).

        Tables:
            prof: Kernels with their operators, arguments and work.
                rank (int): Rank of the process in the job.
                idx (int): Number of the row among those of its rank, from 1, in the order of the
                    launches.
                seq (string): Autograd sequence number of the operator.
                altseq (string): Other sequence numbers around the launch.
                tid (int): Thread that launched the kernel.
                layer (string): Layers around the operator, outermost first: ranges layer:NAME, else
                    modules, else annotations; of a backward kernel those of its forward operator.
                trace (string): Python call stack of the operator, outermost first, as file:line
                    without the framework's.
                dir (string): forward, backward, recompute (forward repeated inside backward),
                    update (of parameters), unknown.
                sub (int): Number of the kernel among those of its operator call, from 0; missing
                    without a call.
                mod (string): Module or namespace of the operator.
                op (string): Operator whose mathematics the kernel does: the innermost with a cost
                    model, else the innermost of all.
                kernel (string): Name of the kernel as recorded.
                params (string): Sizes and types of the operator's tensors; M, N and K as BLAS has
                    them, by columns.
                sil_ns (int, ns): Duration of the kernel.
                tc (string): Matrix units, by the kernel's name: 1 used, 0 could be but are not, -
                    nothing for them, ? the name does not tell.
                device (int): Device the kernel ran on.
                stream (int): Stream the kernel ran on.
                grid (string): Blocks as x,y,z (AMD: work-items).
                block (string): Threads of a block as x,y,z.
                flops (int, flops): FLOPs of the operator call by its arguments (of its products of
                    matrices, if it has any), divided equally among its main kernels; 0 for its
                    other kernels.
                bytes (int, bytes): Least bytes the call reads and writes, divided in the same way.
                status (string): modelled, helper (a kernel beside the main ones), or why flops and
                    bytes are unknown.
                tensor_flops (int, flops): Operations of matrix units, as measured in another run
                    (counters); missing if they were not counted for the type of the operands.
                dram_read (int, bytes): Bytes read from device memory, as measured.
                dram_written (int, bytes): Bytes written to device memory until the kernel ended, as
                    measured.
                source (string): How the kernel came by these: matched within a range or by order,
                    or broadcast; else why not: ambiguous, other work, none.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.prof()
            <Answer: prof (970 rows)>
        """
        return self._verb("prof", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "all": all, "sort": sort, "top": top, "columns": columns,
            "width": width, "csv": csv, "parse": parse, "causal": causal, "sfu_weight": sfu_weight
        })

    @verb
    def events(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        as_parsed: bool = False,
        include_last_step: bool = False,
    ) -> Answer:
        """Every event as it was recorded, host threads first.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            as_parsed: ``compat`` hta: all steps, and times as recorded, as in HTA's frames before
                it aligns the ranks.
            include_last_step: ``compat`` hta: keep the last step, which HTA leaves out by default.

        Tables:
            events: Recorded events.
                rank (int): Rank of the process in the job.
                event_index (int): Position in traceEvents, from 0; missing for formats without one.
                side (string): host or device.
                kind (string): host: python, annotation, op, runtime, other; device: kernel, memcpy,
                    memset, sync, annotation, range, other.
                name (string): Name of the event.
                ts_ns (int, ns): When it began, on the file's clock.
                dur_ns (int, ns): How long it took.
                pid (int): Process, or number of the device.
                tid (int): Thread, or number of the stream.
                correlation (int): Number that ties a call to the work it started.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.events()
            <Answer: events (5,752 rows)>
        """
        return self._verb("events", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "compat": compat, "sort": sort, "top": top, "as_parsed": as_parsed,
            "include_last_step": include_last_step
        })

    @verb
    def timeline(
        self, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        sort: str | None = None,
        top: int | None = None,
        detail: Literal["window", "full"] = "window",
        size: int = 3000000,
    ) -> Answer:
        """What ran when: threads, streams and counters over time, at levels of detail.

        Args:
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            detail: events as recorded: as many as fit, first those that findings lead to; or all,
                whatever their size.
            size: what it may take in a page, shared by the ranks; more than that is merged.

        Tables:
            timeline: What of each rank is drawn.
                rank (int): Rank of the process in the job.
                span_ns (int, ns): How long the recording is.
                tracks (int, count): Rows to be drawn.
                window (string): What the longest of the windows is, of which events are drawn as
                    they were recorded: all, the slowest step, the stretch with the most work, or a
                    place that a finding may name; missing: none of it fitted.
                window_begin_offset_ns (int, ns): Where that begins. Counts from the begin of the
                    recording that begins first.
                window_end_offset_ns (int, ns): Where it ends. Counts from the begin of the
                    recording that begins first.
                window_cut (bool): Whether it ends early, because it did not fit.
                left_out_tracks (int, count): Tracks that are not drawn: those with the fewest
                    events of very many.
                left_out_events (int, count): Events of these, and events that are nested too deep.
                begin_ns (int, ns): When the recording begins, on the clock of its file.
                base_ns (int, ns): Unix time of 0 on that clock; missing: not recorded.
                shift_ns (int, ns): How much later the recording begins than the first.
            tracks: Rows of the timeline.
                rank (int): Rank of the process in the job.
                track (int): Number of the track, in the order of drawing.
                kind (string): steps, path, thread, stream, group, wait or counter.
                name (string): The thread, stream, group or counter.
                parent (string): Its process or device; missing: none.
                depths (int, count): Rows that it takes, because events are nested or overlap.
                events (int, count): Events, or points of a counter.
                busy_ns (int, ns): Time with any event.
                share (float, share): Of the recording.
                unit (string): Of the values of a counter; missing: none.
            levels: Levels of detail.
                rank (int): Rank of the process in the job.
                level (int): Level of detail; 0: as it was recorded.
                grain_ns (int, ns): Shorter events may be merged; 0: no events are merged.
                begin_offset_ns (int, ns): Where it begins. Counts from the begin of the recording
                    that begins first.
                end_offset_ns (int, ns): Where it ends. Counts from the begin of the recording that
                    begins first.
                boxes (int, count): Its boxes and points.
                bytes (int, bytes): About what they take in a page.
                depths (int, count): Where only so many rows of each track fit; missing: it has all.
            boxes: Boxes of the timeline.
                rank (int): Rank of the process in the job.
                track (int): Number of the track, in the order of drawing.
                level (int): Level of detail; 0: as it was recorded.
                depth (int): Row within the track, from 0.
                begin_offset_ns (int, ns): When it begins. Counts from the begin of the recording
                    that begins first.
                duration_ns (int, ns): How long it is.
                name (string): The event; of several the name that takes the largest part of their
                    time.
                tone (string): Its colour, as in the hints of columns.
                count (int, count): Events in it.
                busy_ns (int, ns): Time of these.
                detail (string): Shapes, sizes, or what the critical path is bound by; level 0 only.
                launch_track (int): Track of the call that launched it, or of the event that a
                    stretch of the critical path is of; level 0 only.
                launch_offset_ns (int, ns): When that begins. Counts from the begin of the recording
                    that begins first.
            points: Points of the counters of the timeline.
                rank (int): Rank of the process in the job.
                track (int): Number of the track, in the order of drawing.
                level (int): Level of detail; 0: as it was recorded.
                begin_offset_ns (int, ns): From when on. Counts from the begin of the recording that
                    begins first.
                low (float): The smallest value from then on, for the grain of the level.
                high (float): The largest.
                last (float): The last.
            windows: What is drawn as it was recorded.
                rank (int): Rank of the process in the job.
                window (string): Why: all of it, a step, the most work, or where some kind of time
                    is longest. The most important come first; what does not fit is left out from
                    the end on.
                begin_offset_ns (int, ns): Where it begins. Counts from the begin of the recording
                    that begins first.
                end_offset_ns (int, ns): Where it ends. Counts from the begin of the recording that
                    begins first.
                cut (bool): Whether it ends early, because it did not fit.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run")
            >>> run.timeline()
            <Answer: timeline (2 rows), tracks (24 rows), levels (14 rows), boxes (10,801 rows), points (2,940 rows), windows (2 rows)>
        """
        return self._verb("timeline", {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "begin": begin,
            "end": end, "sort": sort, "top": top, "detail": detail, "size": size
        })

    @verb
    def diff(
        self, base: Run | Given, *,
        rank: int | str | Iterable[int] | None = None,
        step: int | str | Iterable[int] | None = None,
        step_rule: Literal["launch", "time"] | None = None,
        step_pattern: str | None = None,
        gpu: int | str | Iterable[int] | None = None,
        stream: int | str | Iterable[int] | None = None,
        annotation: str | None = None,
        instance: int | str | Iterable[int] | None = None,
        base_rank: int | str | Iterable[int] | None = None,
        test_rank: int | str | Iterable[int] | None = None,
        base_step: int | str | Iterable[int] | None = None,
        test_step: int | str | Iterable[int] | None = None,
        begin: int | str | None = None,
        end: int | str | None = None,
        compat: Literal["hta"] | None = None,
        sort: str | None = None,
        top: int | None = None,
        short_names: bool = False,
    ) -> Answer:
        """What changed between two runs, in counts and time.

        Args:
            base: what this run is compared with: a run, or what ``borescope.open`` takes.
            rank: only these ranks: 0 or 0,3 or 2..5.
            step: only these steps (the N of ProfilerStep#N; others are counted from 0).
            step_rule: what belongs to a step on a device, by launch (default) the work launched in
                it, by time what runs in its window on the host.
            step_pattern: steps are the annotations whose name matches this regular expression,
                instead of ProfilerStep#N.
            gpu: only these devices.
            stream: only these device streams.
            annotation: only inside the host annotation of this name.
            instance: which of its occurrences, counted from 0: 0 or 0,3 or 2..5.
            base_rank: of the first input, instead of ``rank``.
            test_rank: of the second input, instead of ``rank``.
            base_step: of the first input, instead of ``step``.
            test_step: of the second input, instead of ``step``.
            begin: only from here on: nanoseconds, +5ms from the begin, -5ms from the end, 10%, or
                part of the name of a kernel, the first of which starts there.
            end: only up to here, as ``begin``.
            compat: rows, units and rounding of this tool.
            sort: sort rows by this column, numbers from large to small.
            top: show the first N rows of each table; all: every row of every table, of which text
                shows what fits two screens.
            short_names: names without arguments of templates and functions.

        Tables:
            diff_time: 265 us against 265 us a step, no change.
                part (string): step, from completion to completion (or token, rank, run: what is
                    compared), of a device; then the parts that add up to it: compute, communication
                    and copies with nothing beside them, idle time.
                base_ns (int, ns): Mean of the base run.
                test_ns (int, ns): Mean of the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference / the base.
                ratio (float): Test / base.
                base_stddev_ns (float, ns): Sample standard deviation of the steps of the base run;
                    missing for the parts, and where a rank has fewer than two steps.
                test_stddev_ns (float, ns): The same of the test run.
            diff_waiting: Waiting in collectives by the last rank per step.
                rank (int): Rank of the process in the job: the one that came last; of several each
                    has an equal part.
                base_ns (int, ns): How long ranks of the base run waited for it in collectives, the
                    mean of all ranks; what is hidden behind compute is counted, too.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference / the base.
            diff_classes: Device work by class per step.
                class (string): What the work is for.
                base_count (float, count): Calls in the base run.
                test_count (float, count): Calls in the test run.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
                status (string): How base_ns and test_ns compare: slower or faster by 5 % and 1 us
                    at least, else unchanged; added or deleted: in one run only.
                call_time_status (string): How the time of one call compares: longer or shorter if
                    the time differs by 5 % and 1 us at least from that of as many calls in the base
                    run, else same; missing for what is in one run only.
                count_status (string): How the counts compare: more, fewer, same; missing for what
                    is in one run only.
            diff_operators: Device work by operator per step.
                operator (string): Innermost operator around the launch, as self device time in ops.
                base_count (float, count): Calls in the base run.
                test_count (float, count): Calls in the test run.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
                status (string): How base_ns and test_ns compare: slower or faster by 5 % and 1 us
                    at least, else unchanged; added or deleted: in one run only.
                call_time_status (string): How the time of one call compares: longer or shorter if
                    the time differs by 5 % and 1 us at least from that of as many calls in the base
                    run, else same; missing for what is in one run only.
                count_status (string): How the counts compare: more, fewer, same; missing for what
                    is in one run only.
            diff: Changes by name per step.
                side (string): Where it ran: host or device.
                name (string): Name as recorded, or shortened by --short-names, without lines of
                    Python functions and addresses; all steps are ProfilerStep#*.
                renamed_to (string): Name in the test run of the kernel of that class, operator and
                    shape; missing for what has the same name.
                base_count (float, count): Calls in the base run.
                test_count (float, count): Calls in the test run.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
                status (string): How base_ns and test_ns compare: slower or faster by 5 % and 1 us
                    at least, else unchanged; added or deleted: in one run only.
                call_time_status (string): How the time of one call compares: longer or shorter if
                    the time differs by 5 % and 1 us at least from that of as many calls in the base
                    run, else same; missing for what is in one run only.
                count_status (string): How the counts compare: more, fewer, same; missing for what
                    is in one run only.
            diff_phases: Device work by phase per step.
                phase (string): forward, backward, recompute (forward repeated inside backward) or
                    optimizer, from the launch's surroundings on the host; other if unknown.
                base_count (float, count): Calls in the base run.
                test_count (float, count): Calls in the test run.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
                status (string): How base_ns and test_ns compare: slower or faster by 5 % and 1 us
                    at least, else unchanged; added or deleted: in one run only.
                call_time_status (string): How the time of one call compares: longer or shorter if
                    the time differs by 5 % and 1 us at least from that of as many calls in the base
                    run, else same; missing for what is in one run only.
                count_status (string): How the counts compare: more, fewer, same; missing for what
                    is in one run only.
            diff_annotations: Device work by annotation per step.
                annotation (string): Innermost annotation around the launch on its thread, else the
                    step. All steps of training are ProfilerStep#*, and in those of inference
                    servers numbers are "*".
                base_count (float, count): Calls in the base run.
                test_count (float, count): Calls in the test run.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
                status (string): How base_ns and test_ns compare: slower or faster by 5 % and 1 us
                    at least, else unchanged; added or deleted: in one run only.
                call_time_status (string): How the time of one call compares: longer or shorter if
                    the time differs by 5 % and 1 us at least from that of as many calls in the base
                    run, else same; missing for what is in one run only.
                count_status (string): How the counts compare: more, fewer, same; missing for what
                    is in one run only.
            diff_modules: Device work by class of module per step.
                module (string): Class of the innermost nn.Module around the launch.
                base_count (float, count): Calls in the base run.
                test_count (float, count): Calls in the test run.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
                status (string): How base_ns and test_ns compare: slower or faster by 5 % and 1 us
                    at least, else unchanged; added or deleted: in one run only.
                call_time_status (string): How the time of one call compares: longer or shorter if
                    the time differs by 5 % and 1 us at least from that of as many calls in the base
                    run, else same; missing for what is in one run only.
                count_status (string): How the counts compare: more, fewer, same; missing for what
                    is in one run only.
            diff_summary: What changed between base and test per step.
                side (string): Where it ran: host or device.
                status (string): How the total times compare; see the other table.
                count_status (string): Whether there are more or fewer calls; see there, too.
                names (int, count): Distinct names, a renamed kernel once.
                renamed (int, count): Those of them that are kernels of another name in the test
                    run.
                delta_count (float, count): Calls in the test run less the base.
                base_ns (int, ns): Time in the base run: of device work its durations; of host rows
                    their own time, without that of rows within them.
                test_ns (int, ns): The same in the test run.
                delta_ns (int, ns): Test less base.
                change (float, share): The difference of the times / the base.
                ratio (float): Time of the test / time of the base.
            diff_runs: The runs, compared by the mean step: of 6 in the base and 6 in the test.
                run (string): base or test.
                ranks (int, count): Ranks compared.
                steps (int, count): Selected steps of all of them.
                units (int, count): Steps, tokens or ranks, as the title says, of which all other
                    tables have the mean.
                host_events (int, count): Host rows compared.
                device_events (int, count): Device work compared: of the steps, if they are
                    compared.
                outside_events (int, count): Device work in no step, where steps are compared: it is
                    in no other table.
                outside_ns (int, ns): Its summed durations.
                inherited_events (int, count): Selected device work that was launched before the
                    recording began: how much there is says nothing of the program, so that it is in
                    no other table.
                inherited_ns (int, ns): Its summed durations.
                span_ns (int, ns): Selected time of all ranks.

        Example:
            >>> import borescope
            >>> run = borescope.open("tests/data/demo_run/rank-1.json.gz")
            >>> run.diff("tests/data/demo_run/rank-0.json.gz")
            <Answer: diff_time (5 rows), diff_classes (10 rows), diff_operators (24 rows), diff (113 rows), diff_phases (3 rows), diff_annotations (5 rows), diff_modules (1 rows), diff_summary (9 rows), diff_runs (2 rows)>
        """
        return self._pair("diff", base, {
            "rank": rank, "step": step, "step_rule": step_rule, "step_pattern": step_pattern, "gpu":
            gpu, "stream": stream, "annotation": annotation, "instance": instance, "base_rank":
            base_rank, "test_rank": test_rank, "base_step": base_step, "test_step": test_step,
            "begin": begin, "end": end, "compat": compat, "sort": sort, "top": top, "short_names":
            short_names
        })
