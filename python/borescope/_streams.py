"""Objects that are read from front to back: the caller's file objects, and objects of a store."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from ._errors import unreadable

# Formats that are databases are read by position: they must be files.
DATABASE = b"SQLite format 3\0"
BLOCK = 8 << 20


class FileLike:
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
        while len(head) < len(DATABASE):
            piece = _checked(self._file.read(len(DATABASE) - len(head)))
            if not piece:
                break
            head += piece
        if self.can_repeat:
            self._file.seek(self._begin)
        return head

    def is_database(self) -> bool:
        return self._head == DATABASE

    def __call__(self) -> Any:
        with self._lock:
            self._opened += 1
            if self._opened > 1 and not self.can_repeat:
                return "this object was read before and cannot seek; give its bytes, or open the " \
                       "run with keep=\"always\""
            if self.can_repeat:
                self._file.seek(self._begin)
        head = b"" if self.can_repeat else self._head
        return _Reading(self, self._file.read, head, self._size, self._why_changed)

    def _why_changed(self, done: int) -> str | None:
        if self._size is None or done == self._size_now() == self._size:
            return None
        return f"the object changed while it was read: it had {self._size:,} bytes"


class Remote:
    """An object of a file system of fsspec."""

    def __init__(self, system: Any, info: Mapping[str, Any], head: bytes) -> None:
        self.name = system.unstrip_protocol(info["name"])
        self.failure: BaseException | None = None
        self.can_repeat = True
        self._system = system
        self._path = info["name"]
        self._before = info
        self._head = head

    def is_database(self) -> bool:
        return self._head == DATABASE

    def __call__(self) -> Any:
        read = _ReadAhead(self._open).read
        return _Reading(self, read, b"", self._before.get("size"), self._why_changed)

    def _open(self) -> Any:
        return self._system.open(self._path, "rb", block_size=BLOCK, cache_type="readahead")

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
        data = bytes(self._file.read(BLOCK))
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

    def __init__(self, source: Any, read: Any, head: bytes, size: int | None,
                 why_changed: Any) -> None:
        self._source = source
        self._read = read
        self._left = head
        self._size = size
        self._why_changed = why_changed
        self._done = 0

    def read(self, size: int) -> bytes | str:
        try:
            piece = self._piece(size)
            self._done += len(piece)
            # What is longer than it was is not read on: it may grow as fast as it is read.
            if not piece or (self._size is not None and self._done > self._size):
                return self._why_changed(self._done) or b""
            return piece
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


def heads_of(system: Any, infos: list[Mapping[str, Any]]) -> list[bytes]:
    """The first bytes of all objects; file systems that can ask for them all at once do so."""
    paths = [info["name"] for info in infos]
    heads = system.cat_ranges(paths, [0] * len(paths), [len(DATABASE)] * len(paths))
    return [bytes(head) for head in heads]


def objects_of(system: Any, path: str, url: str) -> list[Mapping[str, Any]]:
    """What a file system says of the objects that a URL leads to: one, those of a glob, or those of a
    folder."""
    try:
        if "*" in path or "?" in path:
            found = list(system.glob(path, detail=True).values())
        elif url.endswith("/") or system.isdir(path):
            found = system.ls(path, detail=True)
        else:
            found = [system.info(path)]
    except FileNotFoundError as error:
        raise unreadable(url, "No such object", hint="check the name and the credentials") from error
    files = [info for info in found if info["type"] == "file"]
    if not files:
        raise unreadable(url, "No object", hint="check the name and the credentials")
    return sorted(files, key=lambda info: str(info["name"]))
