"""Parts of answers: where `reduce` and `merge` find them, and where `Run.map` leaves them."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ._errors import unreadable
from ._stores import is_same, is_url, objects_of, public_name, system_of

Part = bytes | str | os.PathLike[str]
# What parts are called, and how they begin (docs/use/partials.md).
ENDING = ".part"
MAGIC = b"\x89BSP\r\n\x1a\n"


def read_parts(parts: Part | Iterable[Part], options: Mapping[str, Any] | None) -> tuple[
        list[bytes], list[str]]:
    """The bytes of all parts, and what to call each in messages."""
    if isinstance(parts, (bytes, str, os.PathLike)):
        parts = [parts]
    contents: list[bytes] = []
    names: list[str] = []
    for number, part in enumerate(parts):
        for name, content in _found(part, number, options):
            names.append(name)
            contents.append(content)
    return contents, names


def _found(part: Part, number: int, options: Mapping[str, Any] | None) -> Iterator[tuple[str, bytes]]:
    if isinstance(part, bytes):
        yield f"part {number}", part
    elif is_url(part):
        yield from _objects(os.fspath(part), options)
    else:
        for name in _files(os.fspath(part)):
            yield name, _content(name)


def _files(name: str) -> list[str]:
    """The file, the parts of a folder, or the files of a glob; a name that exists is never taken for a
    glob."""
    if os.path.isdir(name):
        found = [os.path.join(name, each) for each in _names_in(name) if not each.startswith(".")]
        found = [each for each in found if each.endswith(ENDING) or _begins_as_part(each)]
    elif not os.path.lexists(name) and glob.has_magic(name):
        found = list(_matching(name))
    else:
        return [name]
    files = sorted(each for each in found if _may_be_file(each))
    if not files:
        raise unreadable(name, "No part", remedy="check the name")
    return files


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError as error:
        raise unreadable(folder, error.strerror or "cannot be read",
                         remedy="check the name and its permissions") from error


def _matching(pattern: str) -> Iterator[str]:
    """What a pattern of the shell matches. A folder that cannot be listed is an error: glob takes it for
    an empty one, and the answer would lack its parts."""
    folder, last = os.path.split(pattern)
    for each in _matching(folder) if glob.has_magic(folder) else [folder]:
        if not glob.has_magic(last):
            if not _is_nothing(os.path.join(each, last)):
                yield os.path.join(each, last)
        elif not _is_no_folder(each or os.curdir):
            names = fnmatch.filter(_names_in(each or os.curdir), last)
            yield from (os.path.join(each, name) for name in names
                        if last.startswith(".") or not name.startswith("."))


def _is_nothing(name: str) -> bool:
    """Whether not even a link is there; not where it cannot be looked at: reading it says why."""
    try:
        os.lstat(name)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _is_no_folder(name: str) -> bool:
    """Whether nothing is there, or something else; not where it cannot be looked at."""
    try:
        return not stat.S_ISDIR(os.stat(name).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _may_be_file(name: str) -> bool:
    """Whether something is an ordinary file, or cannot be looked at: reading it says why, where an answer
    without it would be one about less than was asked."""
    try:
        return stat.S_ISREG(os.stat(name).st_mode)
    except OSError:
        return True


def _begins_as_part(name: str) -> bool:
    """Whether a file of another name is a part, or cannot be read; logs of jobs often lie beside parts."""
    if not _may_be_file(name):
        return False
    try:
        with open(name, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return True


def _content(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise unreadable(name, error.strerror or "cannot be read",
                         remedy="check the name and its permissions") from error


def _objects(url: str, options: Mapping[str, Any] | None) -> Iterator[tuple[str, bytes]]:
    """Objects are fetched together, many at once, and must be then what they were when listed."""
    system, path = system_of(url, options)
    infos = {info["name"]: info for info in objects_of(system, path, url)}
    named = {name: info for name, info in infos.items() if name.endswith(ENDING)}
    infos = named or infos
    try:
        contents = system.cat(list(infos), on_error="raise") if len(infos) > 1 else {
            name: system.cat_file(name) for name in infos}
    except OSError as error:
        raise unreadable(public_name(url), f"cannot be read: {error}",
                         remedy="check the name and the credentials") from error
    system.invalidate_cache()
    after = {info["name"]: info for info in objects_of(system, path, url)}
    for name, info in infos.items():
        public = public_name(system.unstrip_protocol(name))
        same = name in after and is_same(info, after[name])
        if not same or len(contents[name]) != info["size"]:
            raise unreadable(public, "the object changed while it was read", remedy="reduce again")
        yield public, contents[name]
