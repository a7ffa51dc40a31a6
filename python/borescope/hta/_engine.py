"""The one place where this package asks the engine.

Frames of HolisticTraceAnalysis (HTA) are made of the tables of ``--compat hta``. An :class:`Asker`
holds the files of a job, each under the rank HTA knows it by, which need not be the one it was
recorded on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import borescope

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Columns:
    """A table of the engine, column by column, as arrays of numpy."""

    def __init__(self, table: borescope.Table) -> None:
        self._table = table

    def __len__(self) -> int:
        return self._table.num_rows

    @property
    def names(self) -> list[str]:
        return self._table.columns

    def missing(self, name: str) -> npt.NDArray[np.bool_] | None:
        """Which cells have no value; None where all have one."""
        import numpy

        missing = self._table[name].missing
        return None if missing is None else numpy.frombuffer(missing, dtype=bool)

    def numbers(self, name: str) -> npt.NDArray[Any]:
        """The cells of a column of numbers, int64 or float64."""
        import numpy

        return numpy.asarray(self._table[name])

    def texts(self, name: str) -> tuple[npt.NDArray[np.intp], list[str]]:
        """Of every row the number of its text, -1 where there is none, and the texts."""
        import pandas

        codes, texts = pandas.factorize(self._objects(name))
        return codes, list(texts)

    def flags(self, name: str) -> npt.NDArray[np.bool_]:
        import numpy

        return numpy.array(self._table[name].to_list(), dtype=bool)

    def _objects(self, name: str) -> npt.NDArray[Any]:
        import numpy

        cells: Any = numpy.empty(len(self), dtype=object)
        cells[:] = self._table[name].to_list()
        return cells

    def objects(self, name: str) -> npt.NDArray[Any]:
        """The cells as objects of Python."""
        return self._objects(name)

    def where(self, name: str, value: int) -> npt.NDArray[np.intp]:
        """The rows in which a column of numbers has this value."""
        import numpy

        return numpy.flatnonzero(self.numbers(name) == value)


class Answered:
    """The tables of one answer, with the ranks of HTA in their columns ``rank``."""

    def __init__(self, answer: borescope.Answer, ranks: Mapping[str, int]) -> None:
        self._answer = answer
        # From the rank in the tables to HTA's.
        self.ranks: dict[int, int] = {file.rank: ranks[os.path.abspath(file.path)]
                      for file in answer.files if not file.error}

    def __getitem__(self, name: str) -> Columns:
        return Columns(self._answer[name])

    def __contains__(self, name: str) -> bool:
        return any(table.name == name for table in self._answer)

    def ranks_of(self, table: Columns) -> npt.NDArray[np.int64]:
        """HTA's rank of every row."""
        import numpy

        found, inverse = numpy.unique(table.numbers("rank"), return_inverse=True)
        return numpy.array([self.ranks[each] for each in found.tolist()], dtype="int64")[inverse]


class Asker:
    """The files of a job by their ranks in HTA. Loaded files are kept for the next question."""

    def __init__(self, files: Mapping[int, str], include_last_step: bool = False) -> None:
        self.files: dict[int, str] = dict(files)
        self._ranks = {os.path.abspath(path): rank for rank, path in self.files.items()}
        self._include_last = include_last_step
        self._runs: dict[tuple[int, ...], borescope.Run] = {}

    def _run(self, ranks: tuple[int, ...]) -> borescope.Run:
        if ranks not in self._runs:
            self._runs[ranks] = borescope.open([self.files[rank] for rank in ranks],
                                               on_diagnostic="ignore")
        return self._runs[ranks]

    def ask(self, verb: str, ranks: list[int] | None = None, **given: Any) -> Answered:
        """The answer by HTA's rules about all ranks, or about these."""
        chosen = tuple(sorted(self.files)) if ranks is None else tuple(ranks)
        if self._include_last:
            given["include_last_step"] = True
        answer = self._run(chosen).ask(verb, compat="hta", **given)
        for file in answer.files:
            if file.error:
                raise borescope.FormatError(file.error, code="corrupt", path=file.path)
        return Answered(answer, self._ranks)

    def find(self, verb: str, ranks: list[int] | None = None, **given: Any) -> Answered | None:
        """The same; None where no rank holds what the question is about."""
        try:
            return self.ask(verb, ranks, **given)
        except borescope.MissingData:
            return None

    def draw(self, verb: str, rank: int, path: str, **given: Any) -> None:
        """Writes the recording of a rank with what a verb finds drawn into it."""
        self._run((rank,)).ask(verb, overlay=path, **given)

    def ranks_with_other_phases(self) -> set[int]:
        """The ranks whose files hold records beside complete events, which have no duration."""
        answer = Answered(self._run(tuple(sorted(self.files))).ask("info"), self._ranks)
        counts = answer["event_counts"]
        is_other = counts.objects("phase") != "X"
        return set(answer.ranks_of(counts)[is_other].tolist())
