"""What the files of a run hold, as a hash: names and folders of files do not matter."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterable

from .._errors import unreadable

_BLOCK = 1 << 20
# By path: what says that a file is unchanged, and its digest.
_known: dict[str, tuple[tuple[int, ...], str]] = {}
_lock = threading.Lock()


def digest_of_file(path: str) -> str:
    """SHA-256 of a file as stored, in hexadecimal. Kept until size, time or inode change."""
    try:
        now = os.stat(path)
        state = (now.st_size, now.st_mtime_ns, now.st_ctime_ns, now.st_ino, now.st_dev)
        with _lock:
            known = _known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        hasher = hashlib.sha256()
        with open(path, "rb") as file:
            while block := file.read(_BLOCK):
                hasher.update(block)
    except OSError as error:
        raise unreadable(path, error.strerror or str(error),
                         remedy="evidence ids need files that can be read again") from error
    with _lock:
        _known[path] = (state, hasher.hexdigest())
    return hasher.hexdigest()


def digest_of(paths: Iterable[str]) -> str:
    """One hash of all files, in any order."""
    each = sorted(digest_of_file(path) for path in paths)
    return hashlib.sha256("\n".join(each).encode()).hexdigest()


def captures_beside(paths: Iterable[str]) -> list[str]:
    """The files that the engine may read for captured graphs, besides these inputs: those next to an
    input that are called captures, and those in folders next to it that are."""
    given = {os.path.realpath(path) for path in paths}
    found: list[str] = []
    for folder in sorted({os.path.dirname(path) or "." for path in paths}):
        try:
            for entry in _visible(folder):
                if "capture" not in entry.name.lower():
                    continue
                inner = _visible(entry.path) if entry.is_dir() else [entry]
                found += [each.path for each in inner if each.is_file()]
        except OSError as error:
            raise unreadable(error.filename or folder, error.strerror or str(error),
                             remedy="evidence ids need every file of captures beside a recording") from error
    return [path for path in found if os.path.realpath(path) not in given]


def _visible(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((each for each in entries if not each.name.startswith(".")),
                          key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []  # the engine has none of it, either
