"""How far an answer can be trusted: irregularities of the recordings, as they were counted."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Literal

# What grave irregularities do: nothing, a DataWarning once, or an exception.
DiagnosticAction = Literal["ignore", "warn", "raise"]


class Severity(enum.IntEnum):
    """How grave an irregularity is."""

    INFO = 0
    WARNING = 1
    ERROR = 2


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """One kind of irregularity of one recording: what was repaired, dropped or could not be linked.

    Attributes:
        code: its name, such as ``"unlinked-device-event"``.
        severity: how grave it is.
        count: how many cases there are.
        file: the recording.
        first: place and description of the first case; may be empty.
        help: what it means and what to do.
    """

    code: str
    severity: Severity
    count: int
    file: str
    first: str
    help: str

    def __str__(self) -> str:
        times = "" if self.count == 1 else f" ({self.count:,} times)"
        first = f": {self.first}" if self.first else ""
        return f"{self.file}: {self.code}{times}{first}. {self.help}"


@dataclasses.dataclass(frozen=True)
class FileInfo:
    """One input file of a run, as an answer was made from it.

    Attributes:
        path: its name.
        rank: the rank it was recorded on; -1 where that is not known.
        file_bytes: its size as stored, in bytes.
        text_bytes: its size when inflated, in bytes.
        events: how many events it holds.
        skipped: whether it is no recording, and was found in a folder.
        error: why it could not be loaded; empty if it was.
        load_ns: how long loading it took, in nanoseconds.
        index_ns: how long indexing it took, in nanoseconds.
        analysis_ns: how long the analyses took, in nanoseconds.
        overlay: the copy with the answer drawn into it, if one was asked for.
        saved: the file that ``save`` wrote, if it was asked for.
        cache: ``"found"`` where the cache had the indexed trace, ``"kept"`` where it was put there now,
            ``"failed"`` where it could not be kept or used, ``"none"`` where there is no cache for it.
        cache_failure: why it could not be kept or used; else empty.
    """

    path: str
    rank: int
    file_bytes: int
    text_bytes: int
    events: int
    skipped: bool
    error: str
    load_ns: int
    index_ns: int
    analysis_ns: int
    overlay: str | None
    saved: str | None
    cache: Literal["none", "found", "kept", "failed"]
    cache_failure: str


def diagnostics_of(rows: list[tuple[Any, ...]]) -> tuple[Diagnostic, ...]:
    """The rows of the engine as objects."""
    return tuple(Diagnostic(row[0], Severity(row[1]), *row[2:]) for row in rows)
