"""Borescope: where the time of a GPU profile went.

    >>> import borescope
    >>> run = borescope.open("tests/data/demo_run")
    >>> run.breakdown()["breakdown"]["busy_ns"].to_list()
    [30178591, 31875260]

``open`` takes what the command line takes, and bytes, binary files and URLs; a :class:`Run` has a
method for every verb, which returns an :class:`Answer` of :class:`Table` s.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _install, _native
from ._answer import Answer
from ._cache import CacheOption
from ._check import CheckResult, check
from ._diagnostics import Diagnostic, DiagnosticAction, FileInfo, Severity
from ._errors import (Cancelled, DataWarning, Error, FormatError, InputError, MissingData,
                      UsageError, usage)
from ._io import Given
from ._parts import Part, read_parts
from ._postmortem import Postmortem, postmortem
from ._progress import Progress, ProgressOption
from ._run import Alignment, Conversion, Keep, Run
from ._table import Column, Table

__version__: str = _native.version()
__all__ = ["Alignment", "Answer", "Cancelled", "CheckResult", "Column", "Conversion", "DataWarning", "Diagnostic", "Error",
           "FileInfo", "FormatError", "InputError", "MissingData", "Postmortem", "Progress", "Run", "Severity",
           "Table", "UsageError", "__version__", "check", "events_to_parquet", "merge", "open", "postmortem",
           "reduce", "schema"]
# Tracebacks name classes as users import them.
for _kind in (Cancelled, DataWarning, Error, FormatError, InputError, MissingData, UsageError):
    _kind.__module__ = __name__
del _kind
_install.warn_of_other()


def open(source: Given, *, ranks: int | str | Iterable[int] | None = None, threads: int = 0,
         memory_limit: int | str | None = None, progress: ProgressOption = None,
         storage_options: Mapping[str, Any] | None = None, keep: Keep = "auto",
         captures: Given | None = None, counters: Given | None = None,
         counters_anyway: bool = False, shard: tuple[int, int] | str | None = None,
         cache: CacheOption = None, cache_size: int | str | None = None,
         on_diagnostic: DiagnosticAction = "warn") -> Run:
    """Opens a run: finds its files and reads none of them yet.

    Args:
        source: a file, a folder with one recording a rank, or a glob; the content of one recording
            as bytes or a binary file object; a URL of fsspec (``s3://``, ``https://`` and so on);
            or a sequence of these.
        ranks: keep only these in every question: ``3``, ``"0..7"``, ``[0, 2]``.
        threads: how many threads load and analyse; 0 is one a processor.
        memory_limit: bytes of recordings that are loaded at once, or a text such as ``"8G"``.
        progress: ``True`` shows a bar of tqdm, ``False`` nothing, ``None`` a bar where somebody
            looks; a callable gets a :class:`Progress` at most 100 times a second, and what it raises
            stops the question.
        storage_options: for fsspec: keys, endpoints and so on.
        keep: how much of what was loaded stays in memory for the next question: ``"auto"`` (half of
            ``memory_limit``, or else of the memory that is free), ``"always"``, ``"never"``, or a
            number of bytes.
        captures: recordings in which the CUDA or HIP graphs of the run were captured; those beside
            the files are found without it.
        counters: reports of hardware counters that another run of the program measured (``.ncu-rep``,
            ``ncu --csv``, rocprofv3): files, folders or globs, for every rank, or for one as
            ``"3=rank3.ncu-rep"``. Their kernels are matched with those of the recordings.
        counters_anyway: take reports of another model of device, too, for their counts alone.
        shard: keep only part I of N of the files, ``"3/64"`` or ``(3, 64)``, counted from 0; the
            others are asked elsewhere, and the parts of :meth:`Run.map` say so.
        cache: a folder in which indexed traces are kept, so that the next process need not read files and
            objects of the same content again; ``False`` for none. By default that of the environment
            variable ``BORESCOPE_CACHE`` (``off`` for none), and without it ``~/.cache/borescope`` (in
            ``XDG_CACHE_HOME``), for objects of URLs alone. Answers are the same with and without it.
        cache_size: what that folder may take, in bytes or as a text such as ``"8G"``; 10 GiB.
        on_diagnostic: what damage does that makes answers doubtful: ``"warn"`` once with a
            :class:`DataWarning`, ``"ignore"``, or ``"raise"``.

    Raises:
        InputError: a name leads to no file.
        UsageError: a bad argument.
    """
    return Run(source, ranks=ranks, threads=threads, memory_limit=memory_limit, progress=progress,
               storage_options=storage_options, keep=keep, captures=captures,
               counters=counters, counters_anyway=counters_anyway, shard=shard,
               cache=cache, cache_size=cache_size, on_diagnostic=on_diagnostic)


def reduce(parts: Part | Iterable[Part], *, sort: str | None = None, top: int | None = None,
           expect: int | None = None, storage_options: Mapping[str, Any] | None = None) -> Answer:
    """The answer of all parts that :meth:`Run.map` or ``borescope map`` made, in any order: the same,
    byte for byte, as one process gives for all files.

    Args:
        parts: the parts, as bytes, names of files, folders or globs, or URLs of fsspec.
        sort: the column by which every table that has it is sorted.
        top: how many rows of each table are kept.
        expect: how many recordings the run has, those that cannot be read included; fewer are
            counted by the diagnostic ``missing-parts``, more are an error.
        storage_options: for fsspec: keys, endpoints and so on.
    """
    contents, names = read_parts(parts, storage_options)
    return Answer(_native.reduce(contents, names, sort or "", top, expect))


def merge(parts: Part | Iterable[Part], *, storage_options: Mapping[str, Any] | None = None) -> bytes:
    """One part that holds all of these, for reducing in a tree. Takes parts as :func:`reduce` does."""
    contents, names = read_parts(parts, storage_options)
    return _native.merge(contents, names)


def events_to_parquet(run: Run, folder: str | os.PathLike[str], *, name: str | None = None,
                      tables: Iterable[str] | None = None) -> list[str]:
    """Writes what was recorded as Parquet, ``run=NAME/rank=R/TABLE.parquet`` for every rank, which
    DuckDB, polars, Spark and others read as one table by ``run=*/rank=*/TABLE.parquet``. Needs
    pyarrow.

    One rank is loaded at a time, and its rows pass in batches. Files that are there already are
    replaced; each appears complete or not at all, when all ranks are done.

    Args:
        run: the run; of one that was opened with ``ranks``, only these.
        folder: the folder of all runs, also as a URL of fsspec; ``storage_options`` are the run's.
        name: what the run is called; the name of the folder that its files are in unless given.
        tables: which of ``events``, ``kernels``, ``operators``, ``copies``, ``collectives``,
            ``memory`` and ``steps``; all unless given. Their columns are those of :meth:`Run.sql`
            (there ``operators`` is ``ops``, and ``memory`` is ``memory_events``), without ``rank``,
            which the name of the folder says, and without ``end_ns`` where there is ``dur_ns``.

    Returns:
        The names of the files.
    """
    if not isinstance(run, Run):
        raise usage(f"events_to_parquet takes a run, not {type(run).__name__}",
                    remedy="open it first: borescope.open(...)")
    try:
        from ._events import export
    except ModuleNotFoundError:
        raise usage("events_to_parquet needs the package pyarrow",
                    remedy=_install.extra("parquet")) from None
    return export(run, folder, name, tables)


def schema() -> Answer:
    """Every verb with its parameters, tables and columns, and every format, as tables."""
    return Answer(_native.schema())
