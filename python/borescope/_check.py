"""check: whether runs keep their budgets, and whether they are slower than a baseline."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, Literal

from . import _native
from ._answer import Answer
from ._checks import check_threads
from ._errors import usage
from ._params import pairs_of, size_of
from ._progress import ProgressOption, reporting
from ._verbs import PARAMETERS

PathLike = str | os.PathLike[str]
CheckStatus = Literal["kept", "broken", "cannot tell", "void"]


@dataclasses.dataclass(frozen=True)
class CheckResult:
    """What a check found.

    Attributes:
        status: ``"kept"``, ``"broken"``, ``"cannot tell"`` where there are too few runs, or ``"void"``
            where the recordings are not as good as the budget file asks.
        why: what decided, in a sentence.
        answer: the tables ``check``, ``check_runs``, ``checks``, ``gate`` and ``gate_calls``.
    """

    status: CheckStatus
    why: str
    answer: Answer

    @property
    def tested(self) -> bool | None:
        """Whether anything that was compared with the baseline could tell a change; None without a
        baseline."""
        tested: bool | None = self.answer["check"]["tested"].to_list()[0]
        return tested

    def __bool__(self) -> bool:
        """Whether nothing is broken: every budget is kept, or nobody can tell."""
        return self.status in ("kept", "cannot tell")

    def __repr__(self) -> str:
        return f"<CheckResult: {self.status}: {self.why}>"


def _paths(given: PathLike | Iterable[PathLike], name: str) -> list[bytes]:
    if isinstance(given, (str, os.PathLike)):
        given = [given]
    try:
        return [os.fsencode(each) for each in given]
    except TypeError:
        raise usage(f"`{name}` takes names of files or folders, not {given!r:.80}",
                    parameter=name) from None


def check(runs: PathLike | Iterable[PathLike], *, budget: PathLike | None = None,
          baseline: PathLike | Iterable[PathLike] = (), history: PathLike | Iterable[PathLike] = (),
          fail: float = 0.03, all: bool = False, force: bool = False, strict: bool = False,
          save_baseline: PathLike | None = None, junit: PathLike | None = None,
          sarif: PathLike | None = None, markdown: PathLike | None = None,
          html: PathLike | None = None, captures: PathLike | Iterable[PathLike] = (), threads: int = 0,
          memory_limit: int | str | None = None, progress: ProgressOption = None,
          **given: Any) -> CheckResult:
    """Whether runs keep their budgets, and whether they are slower than a baseline.

    Args:
        runs: the runs, each a file, a folder of its ranks or a glob, and one execution of the program; or what
            ``borescope map check`` wrote of it.
        budget: file of budgets, in TOML.
        baseline: runs to compare with, or what ``save_baseline`` wrote, or a folder of that.
        history: runs of one unchanged program, which say how much runs differ, where there are too few.
        fail: a change of time that matters, as a part of the baseline.
        all: every class and kernel decides, not the time of the step alone.
        force: compare runs on other devices, or with another amount of work.
        strict: in the reports, what cannot be said is a failure.
        save_baseline: file for the values of ``runs``.
        junit: file for a JUnit report.
        sarif: file for SARIF 2.1.0.
        markdown: file for a summary in Markdown.
        html: file for a page with charts.
        captures: recordings in which the graphs of the runs were captured.
        threads: how many threads load and analyse; 0 is one a processor.
        memory_limit: as of :func:`open`.
        progress: as of :func:`open`.
        given: keywords that select, and ``plain_step``, as of :meth:`Run.report`.

    >>> import borescope
    >>> borescope.check("tests/data/demo_run", baseline="tests/data/demo_run").status
    'cannot tell'
    """
    check_threads(threads)
    files = {name: os.fsencode(path) for name, path in
             {"budget": budget, "save_baseline": save_baseline, "junit": junit, "sarif": sarif,
              "markdown": markdown, "html": html}.items() if path is not None}
    types = {name: kind for name, kind in PARAMETERS["report"].items() if name not in ("top", "against")}
    for name in given:
        if name not in types:
            from ._keywords import unknown_keyword

            raise unknown_keyword("check", name, types)
    with ExitStack() as stack, reporting(progress) as report:
        status, why, answer = _native.check(
            _paths(runs, "runs"), _paths(baseline, "baseline"), _paths(history, "history"), files,
            pairs_of(given, types, stack), fail, all, force, strict,
            [os.fsdecode(path) for path in _paths(captures, "captures")], threads,
            size_of(memory_limit, "memory_limit"), report)
    return CheckResult(status, why, Answer(answer))  # type: ignore[arg-type]
