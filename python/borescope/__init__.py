"""Borescope: where the time of a GPU profile went.

    >>> import borescope
    >>> run = borescope.open("tests/data/demo_run")
    >>> run.breakdown()["breakdown"]["busy_ns"].to_list()
    [30178591, 31875260]

``open`` takes what the command line takes, and bytes, binary files and URLs; a :class:`Run` has a
method for every verb, which returns an :class:`Answer` of :class:`Table` s.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import _native
from ._answer import Answer
from ._diagnostics import Diagnostic, DiagnosticAction, FileInfo, Severity
from ._errors import (Cancelled, DataWarning, Error, FormatError, InputError, MissingData,
                      UsageError, unreadable)
from ._io import Given
from ._progress import Progress, ProgressOption
from ._run import Conversion, Keep, Run
from ._table import Column, Table

__version__: str = _native.version()
__all__ = ["Answer", "Cancelled", "Column", "Conversion", "DataWarning", "Diagnostic", "Error",
           "FileInfo", "FormatError", "InputError", "MissingData", "Progress", "Run", "Severity",
           "Table", "UsageError", "__version__", "merge", "open", "reduce", "schema"]
# Tracebacks name classes as users import them.
for _kind in (Cancelled, DataWarning, Error, FormatError, InputError, MissingData, UsageError):
    _kind.__module__ = __name__
del _kind


def open(source: Given, *, ranks: int | str | Iterable[int] | None = None, threads: int = 0,
         memory_limit: int | str | None = None, progress: ProgressOption = None,
         storage_options: Mapping[str, Any] | None = None, keep: Keep = "auto",
         captures: Given | None = None, on_diagnostic: DiagnosticAction = "warn") -> Run:
    """Opens a run: finds its files and reads none of them yet.

    Args:
        source: a file, a folder with one recording a rank, or a glob; the content of one recording
            as bytes or a binary file object; a URL of fsspec (``s3://``, ``https://`` and so on);
            or a sequence of these.
        ranks: keep only these in every question: ``3``, ``"0..7"``, ``[0, 2]``.
        threads: how many threads load and analyse; 0 is one a processor.
        memory_limit: bytes of recordings that are loaded at once, or a text such as ``"8G"``.
        progress: ``True`` shows a bar of tqdm, ``False`` nothing, ``None`` a bar where somebody
            looks; a callable gets a :class:`Progress` at most 20 times a second, and what it raises
            stops the question.
        storage_options: for fsspec: keys, endpoints and so on.
        keep: how much of what was loaded stays in memory for the next question: ``"auto"`` (half of
            ``memory_limit``, or else of the memory that is free), ``"always"``, ``"never"``, or a
            number of bytes.
        captures: recordings in which the CUDA or HIP graphs of the run were captured; those beside
            the files are found without it.
        on_diagnostic: what damage does that makes answers doubtful: ``"warn"`` once with a
            :class:`DataWarning`, ``"ignore"``, or ``"raise"``.

    Raises:
        InputError: a name leads to no file.
        UsageError: a bad argument.
    """
    return Run(source, ranks=ranks, threads=threads, memory_limit=memory_limit, progress=progress,
               storage_options=storage_options, keep=keep, captures=captures,
               on_diagnostic=on_diagnostic)


def _parts_of(parts: Iterable[bytes | str | os.PathLike[str]]) -> tuple[list[bytes], list[str]]:
    if isinstance(parts, (bytes, str, os.PathLike)):
        parts = [parts]
    contents: list[bytes] = []
    names: list[str] = []
    for number, part in enumerate(parts):
        if isinstance(part, bytes):
            contents.append(part)
            names.append(f"part {number}")
            continue
        name = os.fspath(part)
        try:
            with builtins.open(name, "rb") as file:
                contents.append(file.read())
        except OSError as error:
            raise unreadable(name, error.strerror or "cannot be read",
                             hint="check the name and its permissions") from error
        names.append(name)
    return contents, names


def reduce(parts: Iterable[bytes | str | os.PathLike[str]], *, sort: str | None = None,
           top: int | None = None) -> Answer:
    """The answer of all parts that :meth:`Run.map` or ``borescope map`` made, in any order: the same,
    byte for byte, as one process gives for all files.

    Args:
        parts: the parts, as bytes or names of files.
        sort: the column by which every table that has it is sorted.
        top: how many rows of each table are kept.
    """
    contents, names = _parts_of(parts)
    return Answer(_native.reduce(contents, names, sort or "", top))


def merge(parts: Iterable[bytes | str | os.PathLike[str]]) -> bytes:
    """One part that holds all of these, for reducing in a tree."""
    contents, names = _parts_of(parts)
    return _native.merge(contents, names)


def schema() -> Answer:
    """Every verb with its parameters, tables and columns, and every format, as tables."""
    return Answer(_native.schema())
