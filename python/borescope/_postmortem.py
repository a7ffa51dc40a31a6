"""postmortem: why a job hung, died or ran out of memory, from what it left."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from typing import IO, Any

from . import _native
from ._answer import Answer
from ._checks import check_threads
from ._errors import usage
from ._io import as_file
from ._params import ranges_of, size_of
from ._progress import ProgressOption, reporting
from ._streams import FileLike

PathLike = str | os.PathLike[str]
# The name of a file or folder, or what is in a file.
One = PathLike | bytes | bytearray | memoryview | IO[bytes]


class Postmortem(Answer):
    """What a post-mortem found: an :class:`Answer` whose main table is the verdict, ``postmortem``.

    Tables without rows are left out, but for ``postmortem`` and ``postmortem_files``.
    """

    __slots__ = ("_judged",)
    _judged: tuple[bool, bool, bool]

    def __init__(self, native: _native.Answer, has_cause: bool, is_unclear: bool, has_failed: bool) -> None:
        super().__init__(native, "postmortem")
        object.__setattr__(self, "_judged", (has_cause, is_unclear, has_failed))

    @property
    def has_cause(self) -> bool:
        """Whether a cause was found."""
        return self._judged[0]

    @property
    def is_unclear(self) -> bool:
        """Whether no cause was found, or nobody can say who is at fault."""
        return self._judged[1]

    @property
    def has_failed(self) -> bool:
        """Whether a file that should have been readable was not: ``diagnostics`` say which, and the answer
        is about the others."""
        return self._judged[2]

    @property
    def findings(self) -> list[dict[str, Any]]:
        """The rows of the verdict, the first cause first: ``finding``, ``severity``, ``certainty``,
        ``ranks``, ``evidence``, ``where``, ``help`` and more."""
        return self["postmortem"].to_dicts()

    def __reduce__(self) -> tuple[object, ...]:
        return _unpickled, (self.to_json(), *self._judged)


def _unpickled(json: bytes, has_cause: bool, is_unclear: bool, has_failed: bool) -> Postmortem:
    return Postmortem(_native.Answer.parse_json(json), has_cause, is_unclear, has_failed)


def _is_content(given: Any) -> bool:
    return isinstance(given, (bytes, bytearray, memoryview)) or hasattr(given, "read")


def _copied(content: Any, folder: str, number: int) -> bytes:
    name = getattr(content, "name", None)
    name = os.path.basename(name) if isinstance(name, str) else ""
    if hasattr(content, "read"):
        content = FileLike(content, name or "recording")()
    path = as_file(content, folder, number, name or "recording")
    os.utime(path, (0, 0))  # when the content was written is not known: it is no sign of how long a hang lasted
    return path


def _paths(given: One | Iterable[One], copies: ExitStack) -> list[bytes]:
    """Names of files and folders; contents become files that are gone with ``copies``."""
    items: Any = [given] if _is_content(given) or isinstance(given, (str, os.PathLike)) else given
    paths: list[bytes] = []
    folder = ""
    for each in items if isinstance(items, Iterable) else ():
        if _is_content(each):
            folder = folder or copies.enter_context(tempfile.TemporaryDirectory(prefix="borescope-"))
            paths.append(_copied(each, folder, len(paths)))
        elif isinstance(each, (str, os.PathLike)):
            paths.append(os.fsencode(each))
        else:
            paths = []
            break
    if not paths:
        raise usage("a post-mortem takes the name of a folder, names of files, or what is in files",
                    remedy="name the folder that holds what the job left")
    return paths


def _count(value: Any, name: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 0 <= value.__index__() < 1 << 31:
        raise usage(f"`{name}` takes a whole number, not {value!r:.80}", parameter=name)
    return int(value.__index__())


def postmortem(job: One | Iterable[One], *, world: int | None = None, limit: int | str | None = None,
               skip_frames: str | None = None, fix_time: int = 20, rank: int | str | Iterable[int] | None = None,
               sort: str | None = None, top: int | None = None, scrub: bool = False, threads: int = 0,
               memory_limit: int | str | None = None, progress: ProgressOption = None) -> Postmortem:
    """Why a job hung, died or ran out of memory: which rank, which line, and what to change.

    Reads dumps of PyTorch's flight recorder, memory snapshots, error files and logs. Nothing in a pickle
    is executed.

    Args:
        job: the folder that the job left, or names of files; or what is in a file, as bytes or a
            binary file object, whose ``name`` may say the rank: ``pickle.dumps(torch.cuda.memory._snapshot())``.
            It becomes a file in a folder of its own for as long as this takes.
        world: the number of ranks, where no file says so.
        limit: memory that the process may reserve, in bytes or as PyTorch writes it (``"1.58 GiB"``),
            where no file says so.
        skip_frames: a regular expression of files whose frames are never the line of the program.
        fix_time: seconds for replays of what would have helped; 0 tries nothing.
        rank: only rows of these ranks.
        sort: the column by which every table that has it is sorted.
        top: how many rows of each table are kept.
        scrub: whether texts of the answer are without what may say who, where and with which secrets:
            paths, hosts, accounts and tokens. Numbers and ranks stay.
        threads: how many threads read; 0 is one a processor.
        memory_limit: as of :func:`open`.
        progress: as of :func:`open`.

    Raises:
        InputError: a name leads to nothing.
        FormatError: nothing there is readable.
        UsageError: a bad argument.

    Example::

        answer = borescope.postmortem("job/")
        answer.findings[0]["finding"]       # 'Ranks stopped issuing work'
        answer["hang_culprits"].to_pandas()
    """
    check_threads(threads)
    if not isinstance(scrub, bool):
        raise usage(f"`scrub` takes True or False, not {scrub!r:.80}: a post-mortem gives no new names", parameter="scrub")
    text = limit if isinstance(limit, str) else "" if limit is None else str(size_of(limit, "limit"))
    with ExitStack() as copies, reporting(progress) as report:
        paths = _paths(job, copies)
        answer, *judged = _native.postmortem(
            paths, _count(world or 0, "world"), text, skip_frames or "", _count(fix_time, "fix_time"),
            "" if rank is None else ranges_of(rank, "rank"), sort or "",
            None if top is None else _count(top, "top"), scrub, threads, size_of(memory_limit, "memory_limit"), report)
    return Postmortem(answer, *judged)
