"""Run: the recordings of one job, opened once and asked many times."""

from __future__ import annotations

import dataclasses
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _native
from ._answer import Answer
from ._cache import CacheOption, cache_of
from ._check import CheckResult, check
from ._checks import SqlValue, check_options, check_sql, names_of, sql_value
from ._diagnostics import DiagnosticAction, Diagnostic, Severity, diagnostics_of
from ._errors import DataWarning, FormatError, InputError, usage
from ._io import Given, Inputs
from ._params import Pairs, pairs_of, shard_of, size_of
from ._progress import ProgressOption, reporting
from ._stores import is_same_file, write_bytes
from ._table import Table
from ._verbs import PARAMETERS, TAKES_TWO, WORDS, Verbs

Keep = Literal["auto", "always", "never"] | int

_FOLDER = os.path.dirname(__file__)
# More bytes than any memory has.
_ALL_BYTES = 1 << 62


@dataclasses.dataclass(frozen=True)
class Alignment:
    """How the times of a file were moved to be in line with those of the first.

    Attributes:
        file: the file.
        shift_ns: what was added to its times.
        error_ns: by how much that may be wrong.
        verdict: of the clock, as in the table ``clocks`` of ``waits``.
    """

    file: str
    shift_ns: int
    error_ns: int
    verdict: str


@dataclasses.dataclass(frozen=True)
class Conversion:
    """What ``Run.convert`` wrote.

    Attributes:
        written: events in the output.
        outside: events left out because they begin outside of the window.
        unplaced: events left out because the format has no place for them.
        format: the format of the output.
        files: how many files were read.
        skipped: files of a folder that are no recordings.
        aligned: with ``align``, how the times of every file but the first were moved.
        diagnostics: irregularities of the inputs.
    """

    written: int
    outside: int
    unplaced: int
    format: str
    files: int
    skipped: int
    aligned: tuple[Alignment, ...]
    diagnostics: tuple[Diagnostic, ...]


def _free_bytes() -> int:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 8 << 30


def _keep_bytes(keep: Keep, memory_limit: int, can_repeat: bool) -> int:
    if keep == "always" or not can_repeat:
        return _ALL_BYTES
    if keep == "never":
        return 0
    if keep == "auto":
        return (memory_limit or _free_bytes()) // 2
    if isinstance(keep, int) and not isinstance(keep, bool) and keep >= 0:
        return keep
    raise usage("`keep` takes \"auto\", \"always\", \"never\" or a number of bytes", parameter="keep")


class Run(Verbs):
    """The recordings of one job. Made by :func:`borescope.open`.

    There is a method for every verb of the command line, with ``_`` for ``-``; each returns an
    :class:`Answer`. The first question loads what it needs; what was loaded is kept for the next one.
    Safe to use from several threads. ``with`` closes it at the end.
    """

    def __init__(self, source: Given, *, ranks: Any, threads: int, memory_limit: int | str | None,
                 progress: ProgressOption, storage_options: Mapping[str, Any] | None, keep: Keep,
                 captures: Given | None, on_diagnostic: DiagnosticAction,
                 counters: Given | None = None, counters_anyway: bool = False,
                 shard: tuple[int, int] | str | None = None,
                 cache: CacheOption = None,
                 cache_size: int | str | None = None) -> None:
        self._arguments: dict[str, Any] = {
            "ranks": ranks, "threads": threads, "memory_limit": memory_limit, "progress": progress,
            "storage_options": storage_options, "keep": keep, "captures": captures,
            "counters": counters, "counters_anyway": counters_anyway,
            "on_diagnostic": on_diagnostic, "shard": shard, "cache": cache, "cache_size": cache_size}
        check_options(threads, progress, on_diagnostic)
        self._source = source
        store = cache_of(cache)
        self._inputs = Inputs(storage_options, store)
        self._inputs.add(source)
        limit = size_of(memory_limit, "memory_limit")
        self._run: _native.Run | None = _native.Run.open(
            self._inputs.native, threads, limit, _keep_bytes(keep, limit, self._inputs.can_repeat),
            _paths_of(captures, "captures"), _paths_of(counters, "counters"), counters_anyway, False,
            shard_of(shard), store.folder,
            None if cache_size is None else size_of(cache_size, "cache_size"), store.is_optional,
            store.is_for_objects)
        self._lock = threading.Lock()
        self._warned: set[tuple[str, str]] = set()

    # --- the run itself

    @property
    def files(self) -> tuple[str, ...]:
        """The input files that were found, in order."""
        return tuple(os.fsdecode(path) for path in self._open().paths)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The ranks that were recorded, in order. Loads the run."""
        return tuple(sorted(set(self.info()["traces"]["rank"].to_list())))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The irregularities of all recordings. Loads the run."""
        return self.info().diagnostics

    @property
    def memory_bytes(self) -> int:
        """Bytes of the loaded recordings that are kept for the next question."""
        return self._open().kept_bytes

    def forget(self) -> None:
        """Lets go of what is loaded; the next question loads it again."""
        self._open().forget()

    def schema(self) -> Answer:
        """The tables, columns and functions that :meth:`sql` can name."""
        return Answer(_native.query_schema())

    def close(self) -> None:
        """Frees what is loaded. Later questions are errors; answers stay valid."""
        with self._lock:
            self._run = None

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._run is None

    def __enter__(self) -> Run:
        self._open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def _open(self) -> _native.Run:
        run = self._run
        if run is None:
            raise usage("the run is closed", remedy="open it again with borescope.open")
        return run

    # --- questions

    def ask(self, *verbs: str, **given: Any) -> Answer:
        """Answers several verbs by one load. Keywords are those of the verbs."""
        names, types = self._asked(verbs, given)
        return self._answer(names, given, types)

    def _asked(self, verbs: tuple[str, ...], given: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
        """The verbs, checked, and the types of their keywords, of which ``given`` must be."""
        names = names_of(verbs)
        for name in names:
            self._check_verb(name)
        types = {key: kind for name in names for key, kind in PARAMETERS[name].items()}
        _check_keywords(", ".join(names), given, types)
        return names, types

    def _verb(self, verb: str, given: Mapping[str, Any]) -> Answer:
        return self._answer([verb], given, PARAMETERS[verb])

    def _answer(self, verbs: list[str], given: Mapping[str, Any], types: Mapping[str, str]) -> Answer:
        given = self._with_ranks(given, types)

        def ask(format: str) -> _native.Answer:
            with self._question(given, types) as (run, pairs, progress):
                return run.ask(verbs, pairs, format, progress)

        return self._checked(Answer(ask(""), verbs[0] if len(verbs) == 1 else "", ask))

    def _pair(self, verb: str, base: Run | Given, given: Mapping[str, Any]) -> Answer:
        """The answer of a verb about two runs, of which this is the second."""
        other = base if isinstance(base, Run) else Run(base, **self._arguments)
        types = PARAMETERS[verb]

        def ask(format: str) -> _native.Answer:
            with self._question(given, types) as (run, pairs, progress), other._reading():
                return other._open().compare(run, verb, pairs, format, progress)

        return self._checked(Answer(ask(""), verb, ask))

    def sql(self, text: str, params: Sequence[SqlValue] | Mapping[str, SqlValue] = (), *,
            time_limit: float | None = None, rows: int | None = None) -> Table:
        """The result of one SQL statement over everything that was recorded.

        ``params`` are values for ``?`` in order, or for ``:name`` by name. ``time_limit`` is in
        seconds; ``rows`` cuts the result there, and without it more than a million rows are an
        error. :meth:`schema` says what there is.

        >>> import borescope
        >>> run = borescope.open("tests/data/demo_run")
        >>> run.sql("select count(*) as n from kernels where dur_ns > ?", [100_000])["n"].to_list()
        [135]
        """
        answer = self.query(text, params, time_limit=time_limit, rows=rows)
        if len(answer) != 1:
            raise usage(f"sql takes one statement, not {len(answer)}", remedy="use Run.query")
        return answer.tables[0]

    def query(self, text: str, params: Sequence[SqlValue] | Mapping[str, SqlValue] = (), *,
              time_limit: float | None = None, rows: int | None = None) -> Answer:
        """A table for every statement of an SQL text; otherwise as :meth:`sql`."""
        check_sql(text, params, time_limit, rows)
        named = params.items() if isinstance(params, Mapping) else (("", each) for each in params)
        values = [(name, sql_value(value)) for name, value in named]
        rank = self._with_ranks({}, {"rank": "ranges"})
        with self._question(rank, {"rank": "ranges"}) as (run, pairs, progress):
            chosen = pairs[0][1] if pairs else ""
            return self._checked(Answer(run.query(text, values, chosen, time_limit, rows, progress)))

    def report(self, path: str | os.PathLike[str] | None = None, *,
               card: str | os.PathLike[str] | None = None,
               markdown: str | os.PathLike[str] | None = None,
               against: Run | Given | None = None, **given: Any) -> None:
        """Writes one self-contained HTML page with the answers of all verbs, and, ``against`` another
        run, what changed since it; or in short a ``card``, a picture whose name ends with .svg or
        .png, and ``markdown``, a text for pull requests. Any of them together take one load.
        Keywords are those that select, ``top``, ``timeline`` (``"window"``, ``"full"`` or
        ``"off"``) and ``plain_step``, what a step takes without the profiler."""
        files = [b"" if each is None else os.fsencode(each) for each in (path, card, markdown)]
        with self._reported(against, given) as (run, pairs, other, progress):
            run.report(*files, pairs, other, progress)

    def report_html(self, *, against: Run | Given | None = None, **given: Any) -> str:
        """The page of :meth:`report` as a text."""
        with self._reported(against, given) as (run, pairs, other, progress):
            page: bytes = run.report_bytes(pairs, other, progress)
            return page.decode()

    @contextmanager
    def _reported(self, against: Run | Given | None, given: Mapping[str, Any]) -> Iterator[Any]:
        types = PARAMETERS["report"]
        _check_keywords("report", given, types)
        given = self._with_ranks(given, types)
        other = against if against is None or isinstance(against, Run) else Run(against, **self._arguments)
        with self._question(given, types) as (run, pairs, progress):
            yield run, pairs, None if other is None else other._open(), progress

    def convert(self, path: str | os.PathLike[str], *, to: str | None = None,
                overlay: Sequence[str] = (),
                step: str | int | Sequence[int] | None = None,
                begin: str | int | None = None, end: str | int | None = None,
                context: bool = True,
                align: Literal["collectives"] | None = None,
                scrub: bool | Literal["names"] = False) -> Conversion:
        """Writes the recordings into one file of another format, chosen by the ending of ``path`` or
        by ``to``. ``overlay`` are verbs (``critical-path``, ``bandwidth``, ``queue``, ``sequences``)
        whose findings are drawn into a copy of one JSON trace. ``step`` (``3``, ``"3..5"``),
        ``begin`` and ``end`` (nanoseconds, or ``"1ms"``, ``"10%"``) cut out a part, of which verbs
        report what they report of it in the whole run; with ``context=False`` it has only the
        events that start in it. ``align="collectives"`` puts the clocks of ranks in line by what they did together, as
        :meth:`waits` does;
        ``scrub`` leaves out what may identify people, machines or secrets."""
        if scrub not in (True, False, "names"):
            raise usage(f"`scrub` takes True, False or \"names\", not {scrub!r:.80}", parameter="scrub")
        given = {"step": step, "begin": begin, "end": end}
        types = {"step": "ranges", "begin": "moment", "end": "moment"}
        with self._question(given, types) as (_, pairs, progress), \
                tempfile.TemporaryDirectory(prefix="borescope-") as folder:
            window = dict(pairs)
            row = _native.convert(self._inputs.as_files(folder), os.fsencode(path), to or "",
                                  list(overlay), window.get("step", ""), window.get("begin", ""),
                                  window.get("end", ""), context, align or "",
                                  None if scrub is False else scrub == "names",
                                  self._arguments["threads"], progress)
        diagnostics = diagnostics_of(row.pop("diagnostics"))
        row.pop("scrubbed")
        aligned = tuple(Alignment(*file) for file in row.pop("aligned"))
        return Conversion(**row, aligned=aligned, diagnostics=diagnostics)

    def check(self, budget: str | os.PathLike[str] | None = None, **given: Any) -> CheckResult:
        """Whether the run keeps its budgets, and is slower than a baseline: :func:`borescope.check`
        of this run. It is read again, by its name: one file, folder or glob."""
        if not isinstance(self._source, (str, os.PathLike)):
            raise usage("a run that is checked is one file, folder or glob",
                        remedy="name it by its path in borescope.open")
        return check(self._source, budget=budget, **given)

    def map(self, *verbs: str, output: str | os.PathLike[str] | None = None, **given: Any) -> bytes:
        """The part of an answer that these files give, for :func:`borescope.reduce` elsewhere.
        ``output`` is a file or a URL of fsspec that it is also written to, with the
        ``storage_options`` of the run."""
        names, types = self._asked(verbs, given)
        if output is not None and any(is_same_file(output, file) for file in self.files):
            raise usage(f"the part would replace a recording: {os.fsdecode(output)}", parameter="output",
                        remedy="name another file")
        with self._question(self._with_ranks(given, types), types) as (run, pairs, progress):
            part = run.map(names, pairs, progress)
        if output is not None:
            write_bytes(part, output, self._arguments["storage_options"])
        return part

    def _only(self, files: Sequence[int], keep: Keep, **changed: Any) -> Run:
        """A run of some of the files, by their numbers. ``changed`` are other arguments of `open`."""
        part = Run.__new__(Run)
        part._arguments = {**self._arguments, **changed, "keep": keep}
        part._source, part._inputs = self._source, self._inputs
        part._run = self._open().only(files, _keep_bytes(keep, 0, self._inputs.can_repeat))
        part._lock, part._warned = threading.Lock(), set()
        return part

    # --- what questions have in common

    @contextmanager
    def _question(self, given: Mapping[str, Any], types: Mapping[str, str]) -> Iterator[
            tuple[_native.Run, Pairs, Any]]:
        run = self._open()
        with ExitStack() as stack, reporting(self._arguments["progress"]) as progress, self._reading():
            yield run, pairs_of(given, types, stack), progress

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Chains an error of the engine to the exception of the object that it read from."""
        try:
            yield
        except (InputError, FormatError) as error:
            cause = self._inputs.interruption() or self._inputs.failure()
            if cause is None:
                raise
            if not isinstance(cause, Exception):
                raise cause from None
            raise InputError(str(error), code="io", remedy=error.remedy, path=error.path) from cause
        if (stopped := self._inputs.interruption()) is not None:
            raise stopped

    def _with_ranks(self, given: Mapping[str, Any], types: Mapping[str, str]) -> Mapping[str, Any]:
        ranks = self._arguments["ranks"]
        if ranks is None or "rank" not in types or given.get("rank") is not None:
            return given
        return {**given, "rank": ranks}

    def _checked(self, answer: Answer) -> Answer:
        """Warns, once a run, of what makes an answer doubtful; raises where that was asked for."""
        action = self._arguments["on_diagnostic"]
        if action == "ignore":
            return answer
        grave = [(each.file, each.code, str(each)) for each in answer.diagnostics
                 if each.severity is Severity.ERROR]
        grave += [(each.path, "unreadable", each.error) for each in answer.files if each.error]
        for file, code, text in grave:
            self._tell(file, code, text, action)
        return answer

    def _tell(self, file: str, code: str, text: str, action: DiagnosticAction) -> None:
        if action == "raise":
            raise FormatError(text, code="corrupt", path=file)
        with self._lock:
            is_new = (file, code) not in self._warned
            self._warned.add((file, code))
        if is_new:
            warnings.warn(text, DataWarning, stacklevel=_frames_of_ours())

    @staticmethod
    def _check_verb(name: str) -> None:
        if name == "report":
            raise usage("report writes a page", remedy="call Run.report")
        if name in WORDS:
            raise usage(f"{name} takes a word; call Run.{name}")
        if name in TAKES_TWO:
            raise usage(f"{name} compares two runs; call Run.{name}")
        if name not in PARAMETERS:
            near = _native.nearest(name, [each for each in PARAMETERS if each != "report"])
            raise usage(f"there is no verb {name!r}", remedy=f"did you mean {near!r}?" if near else
                        "borescope.schema() lists them")

    if not TYPE_CHECKING:  # to a type checker every name would exist

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            near = _native.nearest(name, [each for each in dir(type(self)) if not each.startswith("_")])
            remedy = f"; did you mean {near!r}?" if near else ""
            raise AttributeError(f"a run has no verb {name!r}{remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        if not self._inputs.can_pickle:
            raise TypeError("a run on a file-like object cannot be pickled; open it by a path or URL")
        return _unpickled, (self._source, self._arguments)

    def __repr__(self) -> str:
        if self.closed:
            return "<Run: closed>"
        files = self.files
        if not files:
            return "<Run: no files in this shard>"
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"<Run: {files[0]}{more}>"


def _frames_of_ours() -> int:
    """How many frames up the caller of this package is, for the place that a warning names."""
    count, frame = 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _FOLDER:
        count, frame = count + 1, frame.f_back
    return count


def _paths_of(given: Given | None, parameter: str) -> list[str]:
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    if isinstance(given, Iterable) and not isinstance(given, (bytes, bytearray, memoryview)):
        return [os.fspath(each) for each in given]  # type: ignore[arg-type]
    raise usage(f"`{parameter}` takes names of files or folders", parameter=parameter)


def _check_keywords(verb: str, given: Mapping[str, Any], types: Mapping[str, str]) -> None:
    from ._keywords import unknown_keyword

    for name in given:
        if name not in types:
            raise unknown_keyword(verb, name, types)


def _unpickled(source: Given, arguments: dict[str, Any]) -> Run:
    return Run(source, **arguments)
