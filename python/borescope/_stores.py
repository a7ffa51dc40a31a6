"""URLs of object stores and other file systems, which fsspec reads and writes. Keys and tokens stay
with fsspec: no message, answer or part has them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from . import _native
from ._drafts import draft_of
from ._errors import unreadable, usage
from ._identity import seconds_of
from ._install import extra

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")
# A name without a password may be part of the place, as abfs://container@account has it.
_USER = re.compile(r"(?<=://)[^/?#@]*:[^/?#@]*@")
_SECRET = re.compile(r"(?i)([?&][^=&]*(?:sig|token|key|secret|credential|password|auth)[^=&]*=)[^&#]*")

_HTTP = ("http://", "https://")
_PIECES = re.compile(rb"[0-9]+|[^0-9]", re.DOTALL)
# What file systems call the version of an object.
_VERSION = ("size", "ETag", "etag", "generation", "mtime", "LastModified", "last_modified", "updated")


def is_url(name: object) -> bool:
    """Whether the name is for fsspec, not for this machine's file system."""
    return isinstance(name, str) and _URL.match(name) is not None


def public_name(url: str) -> str:
    """The URL without the user, password, keys and signatures that some have in them."""
    return _SECRET.sub(r"\1...", _USER.sub("", url))


def system_of(url: str, options: Mapping[str, Any] | None) -> tuple[Any, str]:
    """The file system of a URL, and the path there. ``UsageError`` names the package that is missing."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise usage(f"{public_name(url)} needs the package fsspec",
                    remedy="pip install fsspec, and what it names for the protocol") from None
    try:
        system, path = url_to_fs(url, **(options or {}))
    except ImportError as error:
        remedy = extra("s3") if url.startswith("s3") else "pip install that package"
        raise usage(f"{public_name(url)}: {error}", remedy=remedy) from None
    return system, path


def objects_of(system: Any, path: str, url: str) -> list[Mapping[str, Any]]:
    """What a file system says of the objects that a URL leads to: one, those of a glob, or those of a
    folder."""
    try:
        if _is_glob(path, url):
            found = list(system.glob(path, detail=True).values())
        elif url.endswith("/") or _is_folder(system, path, url):
            found = system.ls(path, detail=True)
        else:
            found = [system.info(path)]
    except FileNotFoundError as error:
        raise unreadable(public_name(url), "No such object",
                         remedy="check the name and the credentials") from error
    files = [info for info in found if info["type"] == "file"]
    if not files:
        raise unreadable(public_name(url), "No object", remedy="check the name and the credentials")
    return sorted(files, key=lambda info: _natural(str(info["name"])))


def _is_glob(path: str, url: str) -> bool:
    return "*" in path.partition("?")[0] if url.startswith(_HTTP) else "*" in path or "?" in path


def _is_folder(system: Any, path: str, url: str) -> bool:
    """Whether it is one without a slash at its end. Of a server of HTTP it is not asked: to find links there,
    its file system reads the whole object."""
    return not url.startswith(_HTTP) and bool(system.isdir(path))


def _natural(name: str) -> tuple[list[tuple[int, int, bytes]], bytes]:
    """A key that sorts numbers in names by value, as the engine does with files of a folder and with
    those of partials."""
    raw = name.encode("utf-8", "surrogateescape")
    pieces = (piece.lstrip(b"0") if piece.isdigit() else piece for piece in _PIECES.findall(raw))
    return [(piece[0], 0, b"") if piece and not piece.isdigit() else (ord("0"), len(piece), piece)
            for piece in pieces], raw


def is_same(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether an object is what it was, by all that its file system says both times."""
    both = [(key, before[key], after[key]) for key in _VERSION
            if before.get(key) is not None and after.get(key) is not None]
    if any(key in ("ETag", "etag") and old == new for key, old, new in both):
        # Times in listings have fractions of seconds, those in other replies have none.
        both = [(key, seconds_of(old), seconds_of(new)) for key, old, new in both]
    return all(old == new for _, old, new in both)


def is_same_file(target: str | os.PathLike[str], file: str) -> bool:
    """Whether to write to `target` is to replace `file`."""
    if is_url(target):
        return public_name(os.fspath(target)) == file
    try:
        return os.path.samefile(target, file)
    except OSError:
        return False


def write_bytes(data: bytes, target: str | os.PathLike[str], options: Mapping[str, Any] | None) -> None:
    """Writes a file or an object, which appears complete or not at all."""
    if not is_url(target):
        with draft_of(target) as draft, open(draft, "wb") as file:
            file.write(data)
        return
    url = os.fspath(target)
    system, path = system_of(url, options)
    try:
        system.pipe_file(path, data)
    except OSError as error:
        raise unreadable(public_name(url), f"cannot write: {error}",
                         remedy="check the name and the credentials") from error


class Folder:
    """A folder here or in a store, which finished files are put into."""

    def __init__(self, name: str | os.PathLike[str], options: Mapping[str, Any] | None) -> None:
        self.name = os.fspath(name)
        self._system: Any = None
        if is_url(self.name):
            self._system, self._path = system_of(self.name, options)

    def drafts(self) -> str | None:
        """Where files are written first; None where any folder of this machine will do."""
        if self._system is not None:
            return None
        _native.check_no_foreign_link(os.fsencode(self.name))
        try:
            os.makedirs(self.name, exist_ok=True)
        except OSError as error:
            raise self._refused(error) from error
        return self.name

    def put(self, file: str, below: str) -> str:
        """Moves a file there, in place of one that has the name, and returns its name."""
        target = f"{self.name.rstrip('/')}/{below}"
        if self._system is None:
            _native.check_no_foreign_link(os.fsencode(target))
        try:
            if self._system is None:
                os.makedirs(os.path.dirname(target), exist_ok=True)
                os.replace(file, target)
            else:
                self._upload(file, f"{self._path.rstrip('/')}/{below}")
        except OSError as error:
            raise self._refused(error) from error
        return target

    def _upload(self, file: str, path: str) -> None:
        self._system.makedirs(os.path.dirname(path), exist_ok=True)
        self._system.put_file(file, path)
        os.unlink(file)

    def _refused(self, error: OSError) -> Exception:
        return unreadable(public_name(self.name), f"cannot write: {error.strerror or error}",
                          remedy="name a folder that can be written to")
