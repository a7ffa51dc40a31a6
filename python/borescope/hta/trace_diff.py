"""What differs between two traces: counts and durations of events by name."""

from __future__ import annotations

import os
import random
from enum import Enum
from typing import TYPE_CHECKING, Union

from . import figures
from ._symbols import short_name
from .common.trace import Trace

if TYPE_CHECKING:
    import pandas as pd

TraceDir = str


class DeviceType(Enum):
    """Which rows are compared: without a stream, with one, or all."""

    CPU = 1
    GPU = 2
    ALL = 3


class LabeledTrace:
    """A trace with a name. All its steps are there, and times as recorded."""

    def __init__(self, label: str | None = None, t: Trace | None = None,
                 trace_dir: str | None = None) -> None:
        self.label: str = label or f"t{random.randint(0, 10)}"
        if t is None and (trace_dir is None or not os.path.isdir(trace_dir)):
            raise ValueError("either a trace object or a valid trace dir must be provided in "
                             "LabeledTrace.__init__()")
        self.t: Trace = Trace(trace_dir=str(trace_dir)) if t is None else t
        self.t.parse_traces()
        self.iteration_df: pd.DataFrame = self._steps()

    def _steps(self) -> pd.DataFrame:
        """The names of steps, their numbers in the table of names, and the numbers of the steps."""
        import pandas

        rows = [(name, number, int(name.replace("ProfilerStep#", "")))
                for name, number in self.t.symbol_table.sym_index.items()
                if name.startswith("ProfilerStep")]
        return pandas.DataFrame(rows, columns=["symbol", "id", "iteration"])

    def ranks(self) -> list[int]:
        """The ranks, sorted."""
        return self.t.get_ranks()

    def iterations(self) -> list[int]:
        """The numbers of the steps, sorted."""
        return sorted(self.iteration_df["iteration"].tolist())

    def extract_ops(self, rank: int | list[int] | None = None,
                    iteration: int | list[int] | None = None,
                    device_type: DeviceType = DeviceType.ALL) -> pd.DataFrame:
        """The rows of ranks and steps, by default of the first of each."""
        import pandas

        ranks = self._chosen("rank", rank, self.ranks())
        steps = self._chosen("iteration", iteration, self.iterations())
        if len(ranks) == 1:
            rows = self.t.get_trace(ranks[0])
        else:
            rows = pandas.concat([self.t.get_trace(each) for each in ranks], keys=ranks,
                                 names=["rank", "idx"]).reset_index()
        rows = rows[rows["iteration"].isin(steps)]
        if device_type is DeviceType.CPU:
            return rows[rows["stream"] == -1]
        return rows[rows["stream"] != -1] if device_type is DeviceType.GPU else rows

    def _chosen(self, what: str, given: int | list[int] | None, known: list[int]) -> list[int]:
        if given is None and not known:
            raise ValueError(f"Trace {self.label} doesn't have any {what}.")
        chosen = known[:1] if given is None else [given] if isinstance(given, int) else given
        if not isinstance(chosen, list) or any(each not in known for each in chosen):
            raise ValueError(f"Invalid argument {what}={given}; there are {known}.")
        return chosen

    def get_ops_summary(self, ops: pd.DataFrame) -> pd.DataFrame:
        """How often events of each category and name occur, and how long they take in all."""
        sums = ops.groupby(["cat", "name"])["dur"].agg(["count", "sum"]).reset_index()
        sums = sums.rename(columns={"cat": "cat_id", "name": "name_id", "count": "counts",
                                    "sum": "total_duration"})
        symbols = self.t.symbol_table
        for column, number, change in (("cat", "cat_id", str), ("name", "name_id", str),
                                       ("short_name", "name_id", short_name)):
            # HTA leaves numbers where there are no rows.
            sums[column] = symbols.decoded(sums[number], change) if len(sums) else sums[number]
        return sums[["cat", "name", "short_name", "counts", "total_duration", "cat_id", "name_id"]]


Comparable = Union[LabeledTrace, Trace, TraceDir]


def _labeled(given: Comparable, label: str) -> LabeledTrace:
    if isinstance(given, LabeledTrace):
        return given
    if isinstance(given, Trace):
        return LabeledTrace(label, t=given)
    if isinstance(given, str):
        return LabeledTrace(label, trace_dir=given)
    raise ValueError(f"a LabeledTrace, a Trace or the name of a folder is needed, not {given!r}")


class TraceDiff:
    """Compares two traces."""

    @classmethod
    def compare_traces(cls, control: Comparable, test: Comparable,
                       control_rank: int | list[int] | None = None,
                       test_rank: int | list[int] | None = None,
                       control_iteration: int | list[int] | None = None,
                       test_iteration: int | list[int] | None = None,
                       device_type: DeviceType = DeviceType.ALL,
                       use_short_name: bool = False) -> pd.DataFrame:
        """Counts and durations (in microseconds) by name in both, and their differences; by default
        of the first rank and step of each."""
        import pandas

        first, second = _labeled(control, "Control"), _labeled(test, "Test")
        if first.label == second.label:
            second.label = f"{second.label}_control_test"
        key = "short_name" if use_short_name else "name"
        tables = {}
        for trace, rank, step in ((first, control_rank, control_iteration),
                                  (second, test_rank, test_iteration)):
            sums = trace.get_ops_summary(trace.extract_ops(rank, step, device_type))
            tables[trace.label] = sums.groupby(key)[["counts", "total_duration"]].sum()
        both = pandas.concat(tables, axis=1, join="outer").fillna(0)
        both.columns = pandas.Index([f"{label}_{name}" for label, name in both.columns])
        for name, ours in (("counts", "diff_counts"), ("total_duration", "diff_duration")):
            both[ours] = both[f"{second.label}_{name}"] - both[f"{first.label}_{name}"]
        signs = both["diff_counts"].map(lambda change: "+" if change > 0 else "-" if change < 0 else "=")
        both["counts_change_categories"] = signs
        return both

    @classmethod
    def ops_diff(cls, control: Comparable, test: Comparable,
                 control_rank: int | list[int] | None = None,
                 test_rank: int | list[int] | None = None,
                 control_iteration: int | list[int] | None = None,
                 test_iteration: int | list[int] | None = None,
                 device_type: DeviceType = DeviceType.ALL) -> dict[str, list[str]]:
        """The names that were added, deleted, increased, decreased, and those that are unchanged."""
        first, second = _labeled(control, "Control"), _labeled(test, "Test")
        both = cls.compare_traces(first, second, control_rank, test_rank, control_iteration,
                                  test_iteration, device_type)
        before, after = both[f"{first.label}_counts"], both[f"{second.label}_counts"]
        change = both["diff_counts"]
        which = {"added": (before == 0) & (after > 0), "deleted": (before > 0) & (after == 0),
                 "increased": (before > 0) & (change > 0), "decreased": (after > 0) & (change < 0),
                 "unchanged": (after > 0) & (change == 0)}
        return {name: both.index[rows].tolist() for name, rows in which.items()}

    @classmethod
    def visualize_counts_diff(cls, df: pd.DataFrame, show_image: bool = True,
                              export_image_path: str | None = None) -> None:
        """Shows the counts of both traces, or writes the picture."""
        cls._draw(df, "counts", show_image, export_image_path)

    @classmethod
    def visualize_duration_diff(cls, df: pd.DataFrame, show_image: bool = True,
                                export_image_path: str | None = None) -> None:
        """Shows the durations of both traces, or writes the picture."""
        cls._draw(df, "duration", show_image, export_image_path)

    @staticmethod
    def _draw(df: pd.DataFrame, of: str, show_image: bool, path: str | None) -> None:
        figure = figures.trace_diff(df, of)
        if show_image:
            figures.show(figure)
        if path:
            figure.write_image(path)
