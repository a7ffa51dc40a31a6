"""Parts of answers: where `reduce` and `merge` find them, and where `Run.map` leaves them."""

from __future__ import annotations

import glob
import os
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
        found = [os.path.join(name, each) for each in os.listdir(name) if not each.startswith(".")]
        found = [each for each in found if each.endswith(ENDING) or _begins_as_part(each)]
    elif not os.path.lexists(name) and glob.has_magic(name):
        found = glob.glob(name)
    else:
        return [name]
    files = sorted(each for each in found if os.path.isfile(each))
    if not files:
        raise unreadable(name, "No part", remedy="check the name")
    return files


def _begins_as_part(name: str) -> bool:
    """Whether a file of another name is a part; logs of jobs often lie beside them."""
    try:
        with open(name, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


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
