"""Keywords that a verb does not have, and what was probably meant."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from . import _native
from ._errors import UsageError

P = ParamSpec("P")
T = TypeVar("T")


class UnknownKeyword(UsageError, TypeError):
    """A keyword that the verb does not have; the message has the nearest one that it has."""


def unknown_keyword(verb: str, name: str, known: Iterable[str]) -> UnknownKeyword:
    """The error for the keyword ``name`` of ``verb``."""
    names = list(known)
    near = _native.nearest(name, names)
    remedy = f"did you mean `{near}`?" if near else f"it has {', '.join(f'`{each}`' for each in names)}"
    return UnknownKeyword(f"{verb} has no keyword `{name}`; {remedy}", code="invalid-argument",
                          remedy=remedy, parameter=name)


def verb(method: Callable[P, T]) -> Callable[P, T]:
    """Lets a method of a verb say which keyword was meant."""
    known = [each for each in method.__code__.co_varnames[:method.__code__.co_argcount
                                                          + method.__code__.co_kwonlyargcount]
             if each != "self"]

    @functools.wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> T:
        for name in kwargs:
            if name not in known:
                raise unknown_keyword(method.__name__, name, known)
        return method(*args, **kwargs)

    return checked
