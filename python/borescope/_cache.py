"""Where indexed traces are kept for the next process, as an argument or the environment says: docs/use/cache.md."""

from __future__ import annotations

import dataclasses
import os
from typing import Literal

from ._errors import usage

# A folder, or False for none; None is what the environment says.
CacheOption = str | os.PathLike[str] | Literal[False] | None

_OFF = ("", "off")


@dataclasses.dataclass(frozen=True)
class Cache:
    """A folder of indexed traces.

    Attributes:
        folder: its name; empty for none.
        is_optional: whether there is no cache, and no error, where it cannot be used.
        is_for_objects: whether it is for remote objects alone, and files are read.
    """

    folder: str
    is_optional: bool = False
    is_for_objects: bool = False


def cache_of(given: CacheOption) -> Cache:
    """What the argument ``cache`` means: a folder for everything that is asked for or that
    ``BORESCOPE_CACHE`` names, else the one that belongs to this user, for remote objects."""
    if given is None:
        return _of_environment()
    if given is False:
        return Cache("")
    try:
        name = os.fspath(given)
    except TypeError:
        raise usage(f"`cache` takes a folder, False or None, not {given!r:.80}", parameter="cache") from None
    return Cache("" if name in _OFF else os.path.expanduser(name))


def _of_environment() -> Cache:
    named = os.environ.get("BORESCOPE_CACHE")
    if named is not None:
        return Cache("" if named in _OFF else os.path.expanduser(named), is_optional=True)
    return Cache(_folder_of_user(), is_optional=True, is_for_objects=True)


def _folder_of_user() -> str:
    """By the XDG Base Directory Specification, which has relative names ignored; empty where there is no
    home."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):
        caches = os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(caches, "borescope")
    return folder if os.path.isabs(folder) and _is_text(folder) else ""


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
