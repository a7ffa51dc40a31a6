"""Objects that are read from front to back: the caller's file objects, and objects of a store."""

from __future__ import annotations

import os
import re
import threading
import zlib
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Literal

from ._errors import InputError, unreadable
from ._identity import Unidentified, identity_of
from ._stores import is_same, public_name

# Formats that are databases are read by position: they must be files.
DATABASE = b"SQLite format 3\0"
# So many bytes say what a recording is.
HEAD = 1024
BLOCK = 8 << 20

# What a JSON of a dump or a memory snapshot of PyTorch begins with.
_JOB_JSON = re.compile(rb'\s*\{\s*"(segments|device_traces|allocator_settings|external_annotations|entries|'
                       rb'pg_config|pg_status|nccl_version|comm_lib_version|version)"')


def must_be_file(head: bytes) -> bool:
    """Whether what begins so is read by position, or, as what a dead job left, more than once."""
    if head.startswith(b"\x1f\x8b"):
        try:
            head = zlib.decompressobj(wbits=31).decompress(head, HEAD)
        except zlib.error:
            return False
    is_pickle = len(head) > 1 and head[0] == 0x80 and 2 <= head[1] <= 5
    return head.startswith(DATABASE) or is_pickle or _JOB_JSON.match(head) is not None


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
        while len(head) < HEAD:
            piece = _checked(self._file.read(HEAD - len(head)))
            if not piece:
                break
            head += piece
        if self.can_repeat:
            self._file.seek(self._begin)
        return head

    def must_be_file(self) -> bool:
        return must_be_file(self._head)

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


class Changed(Exception):
    """The object is no longer what it was when the run was opened."""


class Remote:
    """An object of a file system of fsspec."""

    def __init__(self, system: Any, info: Mapping[str, Any], is_direct: bool) -> None:
        self.url: str = system.unstrip_protocol(info["name"])
        self.name = public_name(self.url)
        self.failure: BaseException | None = None
        self.can_repeat = True
        self._system = system
        self.path = info["name"]
        self._before = info
        self._is_direct = is_direct
        self.stopped: BaseException | None = None  # what ended a question to the store, such as Ctrl-C
        self.kind: Literal["stream", "database"] = "stream"

    def listed_identity(self, kind: str) -> str:
        """What the content is called as an object of this kind, by what the store said at first; empty
        where that is not enough."""
        try:
            return self._identity(self._before, kind)
        except Exception:  # whatever a server may say about it
            return ""

    def look_again(self) -> None:
        """What the store says now is what the object is: before a copy is made, as listings leave out
        versions."""
        self._before = {**self._before, **self._info_now()}

    def identify(self) -> tuple[str, str]:
        """What the content is called, asked now; or nothing, and why."""
        try:
            now = self._info_now()
            if not is_same(self._before, now):
                return "", "the object changed after the run was opened"
            identity = self._identity(now, self.kind)
            # What a listing leaves out counts from now on.
            self._before = {**self._before, **now}
            return identity, ""
        except Unidentified as error:
            return "", f"not kept: {error}"
        except Exception as error:
            return "", f"the store does not say what it is ({type(error).__name__})"
        except BaseException as error:
            self.stopped = error
            return "", type(error).__name__

    def _identity(self, info: Mapping[str, Any], kind: str) -> str:
        if not self._is_direct:
            raise Unidentified("it is read through another file system")
        return f"{kind} {identity_of(self._system, info, self.url)}"

    def __call__(self) -> Any:
        if self.stopped is not None:
            return type(self.stopped).__name__  # the load ends, too
        read = _ReadAhead(self._open, self._check).read
        return _Reading(self, read, b"", self._before.get("size"), self._why_changed)

    def _open(self) -> Any:
        return self._system.open(self.path, "rb", block_size=BLOCK, cache_type="readahead")

    def _check(self) -> None:
        """Asks the store again; what a store does not say of its objects cannot be compared."""
        if not is_same(self._before, self._info_now()):
            raise Changed("the object changed while it was read")

    def _info_now(self) -> Mapping[str, Any]:
        self._system.invalidate_cache()
        info: Mapping[str, Any] = self._system.info(self.path)
        return info

    def _why_changed(self, done: int) -> str | None:
        self._check()
        size = self._before.get("size")
        if size is not None and done != size:
            return f"the transfer ended early: {done:,} of {size:,} bytes"
        return None


class _ReadAhead:
    """Reads the next block while the engine works on the last one. ``check`` is called after each but
    the last one, so that blocks of two versions of an object never meet."""

    def __init__(self, open_file: Any, check: Any) -> None:
        self._check = check
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
        elif len(data) == BLOCK:
            self._check()
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
        except Changed as error:
            return str(error)
        except BaseException as error:
            self._source.failure = error
            # s3fs asks for the version that it opened, and says so where that is gone.
            if type(error).__name__ == "FileExpired":
                return "the object changed while it was read"
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


def _refused(each: Remote, error: Exception) -> InputError:
    return unreadable(each.name, f"cannot be read: {error}", remedy="check the name and the credentials")


def look_at(system: Any, objects: list[Remote]) -> None:
    """Sets the kind of all objects by their first bytes; file systems that can ask for them all at once
    do so."""
    paths = [each.path for each in objects]
    # The exception that an object raised is in the place of its bytes: many file systems, s3fs among them, put it
    # there whatever on_error says.
    try:
        heads = system.cat_ranges(paths, [0] * len(paths), [len(DATABASE)] * len(paths)) if paths else []
    except OSError as error:  # of others, such as a cache that copies objects first
        raise _refused(objects[0], error) from error
    for each, head in zip(objects, heads):
        if isinstance(head, Exception):
            raise _refused(each, head) from head
        each.kind = "database" if must_be_file(bytes(head)) else "stream"
