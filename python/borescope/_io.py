"""What `borescope.open` takes besides names of files: bytes, file-like objects, URLs of fsspec."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import IO, Any

from . import _native
from ._cache import Cache
from ._errors import unreadable, usage
from ._stores import is_url, objects_of, system_of
from ._streams import BLOCK, HEAD, FileLike, Remote, look_at, must_be_file

# One recording, or a folder or glob of them.
One = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
Given = One | Iterable[One]


class Inputs:
    """The sources of a run as the engine takes them, and what belongs to them."""

    def __init__(self, storage_options: Mapping[str, Any] | None, cache: Cache) -> None:
        self.native: list[tuple[Any, ...]] = []
        self.openers: list[FileLike | Remote] = []
        self._remotes: list[Remote] = []
        self.can_pickle = True
        self._options = dict(storage_options or {})
        self._cache = cache
        self._names: set[str] = set()
        self._copies = 0
        self._spool: tempfile.TemporaryDirectory[str] | None = None

    @property
    def can_repeat(self) -> bool:
        """Whether every source can be loaded again."""
        return all(opener.can_repeat for opener in self.openers)

    @property
    def folder_of_copies(self) -> str | None:
        """Where databases, dumps and snapshots lie that were given as something else than files."""
        return None if self._spool is None else self._spool.name

    def failure(self) -> BaseException | None:
        """The exception that ended the reading of a source, once."""
        for opener in self.openers:
            if opener.failure is not None:
                failure, opener.failure = opener.failure, None
                return failure
        return None

    def interruption(self) -> BaseException | None:
        """What ended a question to a store, such as Ctrl-C, once."""
        for remote in self._remotes:
            if remote.stopped is not None:
                stopped, remote.stopped = remote.stopped, None
                return stopped
        return None

    def add(self, given: Given) -> None:
        """Adds one source, or all of a sequence."""
        if isinstance(given, (str, os.PathLike)):
            self._add_name(os.fspath(given))
        elif isinstance(given, (bytes, bytearray, memoryview)):
            self._add_bytes(given)
        elif hasattr(given, "read"):
            name = getattr(given, "name", None)
            self._add_file(FileLike(given, self._free_name(name)), isinstance(name, str))
            self.can_pickle = False
        elif isinstance(given, Iterable) and not isinstance(given, Mapping):
            for each in given:
                self.add(each)
        else:
            raise usage(f"a run cannot be opened from {type(given).__name__}",
                        remedy="give a path, a glob, a folder, bytes, a binary file or a URL")

    def _add_name(self, name: str | bytes) -> None:
        if is_url(name):
            self._add_url(os.fsdecode(name))
            return
        if not name:
            raise usage("the name of the recording is empty")
        if not _is_glob(name) and name != "-":
            try:
                os.lstat(name)
            except (OSError, ValueError) as error:
                raise unreadable(name, getattr(error, "strerror", None) or "No such file or directory",
                                 remedy="check the name and its permissions") from None
        self.native.append(("path", os.fsencode(name)))

    def _add_bytes(self, data: bytes | bytearray | memoryview) -> None:
        if must_be_file(bytes(data[:HEAD])):
            # No number is in its name: of a dump or a snapshot that would be its rank.
            self.native.append(("path", os.fsencode(self._spooled("recording", [data]))))
        else:
            self.native.append(("bytes", self._free_name(None), data))

    def _add_file(self, file: FileLike, is_named: bool) -> None:
        if file.must_be_file():
            name = file.name if is_named else "recording"
            self.native.append(("path", os.fsencode(self._copied(file, name))))
        else:
            self._add_opener(file.name, file, None)

    def _add_opener(self, name: str, opener: FileLike | Remote, identify: Any) -> None:
        self.native.append(("stream", name, opener, identify))
        self.openers.append(opener)

    def _add_url(self, url: str) -> None:
        system, path = system_of(url, self._options)
        # What was listed for an earlier run may have changed.
        system.invalidate_cache()
        objects = [Remote(system, info, "::" not in url) for info in objects_of(system, path, url)]
        kept = [self._is_kept(each) for each in objects]
        look_at(system, [each for each, is_kept in zip(objects, kept) if not is_kept])
        for each, is_kept in zip(objects, kept):
            self._add_remote(each, is_kept)

    def _is_kept(self, remote: Remote) -> bool:
        """Whether the cache has the content, so that nothing of it need be read; sets what kind it is."""
        for kind in ("stream", "database"):
            identity = remote.listed_identity(kind) if self._cache.folder else ""
            if identity and _native.is_in_cache(self._cache.folder, identity):
                remote.kind = kind
                return True
        return False

    def _add_remote(self, remote: Remote, is_kept: bool) -> None:
        self._remotes.append(remote)
        if remote.kind == "stream":
            self._add_opener(remote.name, remote, remote.identify)
        elif is_kept:
            # Under the name of the copy that there would be.
            self._add_opener(self._place_of_copy(remote.name), remote, remote.identify)
        else:
            remote.look_again()
            self.native.append(("copy", os.fsencode(self._copied(remote, remote.name)), remote.identify))

    def _copied(self, opener: FileLike | Remote, name: str) -> str:
        reader = opener()
        return self._spooled(name, iter(lambda: reader.read(BLOCK), b""))

    def _free_name(self, given: Any) -> str:
        name = os.path.basename(given) if isinstance(given, str) and given else "recording"
        free, number = name, 1
        while free in self._names:
            number += 1
            stem, dot, ending = name.partition(".")
            free = f"{stem}-{number}{dot}{ending}"
        self._names.add(free)
        return free

    def _spooled(self, name: str, pieces: Iterable[Any]) -> str:
        """A file for as long as the run lives."""
        path = self._place_of_copy(name)
        with open(path, "xb") as file:
            for piece in pieces:
                if isinstance(piece, str):
                    raise usage(f"{name}: {piece}")
                file.write(piece)
        return path

    def _place_of_copy(self, name: str) -> str:
        """Where there is no copy yet."""
        if self._spool is None:
            self._spool = tempfile.TemporaryDirectory(prefix="borescope-")
        self._copies += 1
        return _own_place(self._spool.name, self._copies, name)

    def as_files(self, folder: str) -> list[bytes]:
        """Names of files with the content of all sources; streams are written into ``folder``."""
        names = []
        for number, (kind, name, *rest) in enumerate(self.native):
            if kind in ("path", "copy"):
                names.append(name)
            else:
                names.append(as_file(rest[0] if kind == "bytes" else rest[0](), folder, number, name))
        return names


def as_file(content: Any, folder: str, number: int, name: str) -> bytes:
    """The name of a new file below ``folder`` with these bytes, or those that a reader yields."""
    path = _own_place(folder, number, name)
    with open(path, "xb") as file:
        if isinstance(content, (bytes, bytearray, memoryview)):
            file.write(content)
        else:
            _copy(content, file, name)
    return os.fsencode(path)


def _own_place(folder: str, number: int, name: str) -> str:
    """A path in a folder of its own: files of ranks may be called the same."""
    own = os.path.join(folder, str(number))
    os.mkdir(own)
    return os.path.join(own, os.path.basename(name) or "recording")


def _is_glob(name: str | bytes) -> bool:
    return any(each in os.fsdecode(name) for each in "*?[")


def _copy(reader: Any, file: IO[bytes], name: str) -> None:
    if isinstance(reader, str):
        raise usage(f"{name}: {reader}")
    while piece := reader.read(BLOCK):
        if isinstance(piece, str):
            raise usage(f"{name}: {piece}")
        file.write(piece)
