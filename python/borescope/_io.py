"""What `borescope.open` takes besides names of files: bytes, file-like objects, URLs of fsspec."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any, Protocol

from ._errors import usage

# One recording, or a folder or glob of them.
One = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
Given = One | Iterable[One]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
# Formats that are databases are read by position: they must be files.
_DATABASE = b"SQLite format 3\0"
_BLOCK = 8 << 20


class _Opener(Protocol):
    """Yields the bytes of one recording, once for each time it is loaded."""

    name: str
    failure: BaseException | None
    can_repeat: bool

    def __call__(self) -> Any: ...


class _FileLike:
    """A file-like object that the caller has opened, and closes."""

    def __init__(self, file: Any, name: str) -> None:
        self.name = name
        self.failure: BaseException | None = None
        self._file = file
        self._lock = threading.Lock()
        self._opened = 0
        self.can_repeat = bool(getattr(file, "seekable", lambda: False)())
        self._begin = file.tell() if self.can_repeat else 0
        self._size = self._size_now()
        self._head = self._peek()

    def _size_now(self) -> int | None:
        if not self.can_repeat:
            return None
        end = self._file.seek(0, os.SEEK_END)
        self._file.seek(self._begin)
        return int(end) - self._begin

    def _peek(self) -> bytes:
        head = b""
        while len(head) < len(_DATABASE):
            piece = _checked(self._file.read(len(_DATABASE) - len(head)))
            if not piece:
                break
            head += piece
        if self.can_repeat:
            self._file.seek(self._begin)
        return head

    def is_database(self) -> bool:
        return self._head == _DATABASE

    def __call__(self) -> Any:
        with self._lock:
            self._opened += 1
            if self._opened > 1 and not self.can_repeat:
                return "this object was read before and cannot seek; give its bytes, or open the " \
                       "run with keep=\"always\""
            if self.can_repeat:
                self._file.seek(self._begin)
        return _Reading(self, self._file.read, b"" if self.can_repeat else self._head, self._why_changed)

    def _why_changed(self, done: int) -> str | None:
        if self._size is None or done == self._size_now() == self._size:
            return None
        return f"the object changed while it was read: it had {self._size:,} bytes"


class _Remote:
    """An object of a file system of fsspec."""

    def __init__(self, system: Any, path: str) -> None:
        self.name = system.unstrip_protocol(path)
        self.failure: BaseException | None = None
        self.can_repeat = True
        self._system = system
        self._path = path
        self._before = system.info(path)

    def is_database(self) -> bool:
        return bytes(self._system.cat_file(self._path, start=0, end=len(_DATABASE))) == _DATABASE

    def __call__(self) -> Any:
        return _Reading(self, _ReadAhead(self._open).read, b"", self._why_changed)

    def _open(self) -> Any:
        return self._system.open(self._path, "rb", block_size=_BLOCK, cache_type="readahead")

    def _why_changed(self, done: int) -> str | None:
        self._system.invalidate_cache()
        after = self._system.info(self._path)
        same = all(self._before.get(key) == after.get(key)
                   for key in ("size", "ETag", "etag", "mtime", "LastModified", "updated"))
        if not same:
            return "the object changed while it was read"
        size = after.get("size")
        if size is not None and done != size:
            return f"the transfer ended early: {done:,} of {size:,} bytes"
        return None


class _ReadAhead:
    """Reads the next block while the engine works on the last one."""

    def __init__(self, open_file: Any) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="borescope-read")
        self._file: Any = None
        self._open = open_file
        self._left = b""
        self._next: Future[bytes] = self._pool.submit(self._block)

    def _block(self) -> bytes:
        if self._file is None:
            self._file = self._open()
        data = bytes(self._file.read(_BLOCK))
        if not data:
            self._file.close()
        return data

    def read(self, size: int) -> bytes:
        if not self._left:
            self._left = self._next.result()
            if not self._left:
                self._pool.shutdown(wait=False)
                return b""
            self._next = self._pool.submit(self._block)
        piece, self._left = self._left[:size], self._left[size:]
        return piece

    def __del__(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Reading:
    """What the engine reads from: bytes, or a str that says why there are none. An exception is
    kept, so that the one of the question can be chained to it."""

    def __init__(self, source: Any, read: Any, head: bytes, why_changed: Any) -> None:
        self._source = source
        self._read = read
        self._left = head
        self._why_changed = why_changed
        self._done = 0

    def read(self, size: int) -> bytes | str:
        try:
            piece = self._piece(size)
            self._done += len(piece)
            return piece if piece else self._why_changed(self._done) or b""
        except BaseException as error:
            self._source.failure = error
            return f"{type(error).__name__}: {error}"

    def _piece(self, size: int) -> bytes:
        if self._left:
            piece, self._left = self._left[:size], self._left[size:]
            return piece
        piece = _checked(self._read(size))
        if len(piece) > size:
            raise ValueError(f"read({size}) returned {len(piece)} bytes")
        return piece


def _checked(data: Any) -> bytes:
    if data is None:
        raise BlockingIOError("read() has no data yet; give an object that blocks")
    if isinstance(data, str):
        raise TypeError("read() returned str; open the file in binary mode (\"rb\")")
    return bytes(data)


class Inputs:
    """The sources of a run as the engine takes them, and what belongs to them."""

    def __init__(self, storage_options: Mapping[str, Any] | None) -> None:
        self.native: list[tuple[Any, ...]] = []
        self.openers: list[_FileLike | _Remote] = []
        self.can_pickle = True
        self._options = dict(storage_options or {})
        self._names: set[str] = set()
        self._spool: tempfile.TemporaryDirectory[str] | None = None

    @property
    def can_repeat(self) -> bool:
        """Whether every source can be loaded again."""
        return all(opener.can_repeat for opener in self.openers)

    def failure(self) -> BaseException | None:
        """The exception that ended the reading of a source, once."""
        for opener in self.openers:
            if opener.failure is not None:
                failure, opener.failure = opener.failure, None
                return failure
        return None

    def add(self, given: Given) -> None:
        """Adds one source, or all of a sequence."""
        if isinstance(given, (str, os.PathLike)):
            self._add_name(os.fspath(given))
        elif isinstance(given, (bytes, bytearray, memoryview)):
            self._add_bytes(given)
        elif hasattr(given, "read"):
            self._add_opener(_FileLike(given, self._free_name(getattr(given, "name", None))))
            self.can_pickle = False
        elif isinstance(given, Iterable):
            for each in given:
                self.add(each)
        else:
            raise usage(f"a run cannot be opened from {type(given).__name__}",
                        hint="give a path, a glob, a folder, bytes, a binary file or a URL")

    def _add_name(self, name: str | bytes) -> None:
        if isinstance(name, str) and _URL.match(name):
            self._add_url(name)
        else:
            self.native.append(("path", os.fsencode(name)))

    def _add_bytes(self, data: bytes | bytearray | memoryview) -> None:
        name = self._free_name(None)
        if bytes(data[:len(_DATABASE)]) == _DATABASE:
            self.native.append(("path", os.fsencode(self._spooled(name, [data]))))
        else:
            self.native.append(("bytes", name, data))

    def _add_opener(self, opener: _FileLike | _Remote) -> None:
        if opener.is_database():
            reader = opener()
            pieces = iter(lambda: reader.read(_BLOCK), b"")
            path = self._spooled(os.path.basename(opener.name), pieces)
            self.native.append(("path", os.fsencode(path)))
        else:
            self.native.append(("stream", opener.name, opener))
            self.openers.append(opener)

    def _add_url(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise usage(f"{url} needs the package fsspec",
                        hint="pip install fsspec, and what it names for the protocol") from None
        system, path = url_to_fs(url, **self._options)
        for each in _objects(system, path, url):
            self._add_opener(_Remote(system, each))

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
        """A database as a file, for as long as the run lives."""
        if self._spool is None:
            self._spool = tempfile.TemporaryDirectory(prefix="borescope-")
        path = os.path.join(self._spool.name, os.path.basename(name) or "recording")
        with open(path, "xb") as file:
            for piece in pieces:
                if isinstance(piece, str):
                    raise usage(f"{name}: {piece}")
                file.write(piece)
        return path

    def as_files(self, folder: str) -> list[bytes]:
        """Names of files with the content of all sources; streams are written into ``folder``."""
        names = []
        for kind, name, *rest in self.native:
            if kind == "path":
                names.append(name)
                continue
            path = os.path.join(folder, os.path.basename(name))
            with open(path, "xb") as file:
                if kind == "bytes":
                    file.write(rest[0])
                else:
                    _copy(rest[0](), file, name)
            names.append(os.fsencode(path))
        return names


def _copy(reader: Any, file: IO[bytes], name: str) -> None:
    if isinstance(reader, str):
        raise usage(f"{name}: {reader}")
    while piece := reader.read(_BLOCK):
        if isinstance(piece, str):
            raise usage(f"{name}: {piece}")
        file.write(piece)


def _objects(system: Any, path: str, url: str) -> list[str]:
    """The objects that a URL leads to: one, those of a glob, or those of a folder."""
    if "*" in path or "?" in path:
        found = [each for each in system.glob(path) if not system.isdir(each)]
    elif url.endswith("/") or system.isdir(path):
        found = [each["name"] for each in system.ls(path, detail=True) if each["type"] == "file"]
    else:
        found = [path]
    if not found:
        raise usage(f"{url} leads to no object")
    for each in found:
        if not system.exists(each):
            from ._errors import unreadable

            raise unreadable(url, "No such object", hint="check the name and the credentials")
    return sorted(found)
