"""Runs in pieces, for engines that call functions on many machines: what Dask and Ray have in common.

A function of this module gets and returns what pickles: pieces, and parts as bytes. Parts merge in any
order, and one that was made twice counts once, so that a lost worker costs its time only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import usage
from ._streams import Remote

if TYPE_CHECKING:
    from ._answer import Answer
    from ._run import Run

# How many parts one task merges.
FAN = 32


@dataclasses.dataclass(frozen=True)
class Piece:
    """Some files of a run: ``source`` and ``arguments`` open it, ``files`` are their numbers there, and
    None where the source has no others."""

    source: Any
    arguments: Mapping[str, Any]
    files: tuple[int, ...] | None


@dataclasses.dataclass(frozen=True)
class Question:
    """What is asked of every piece, checked."""

    verbs: tuple[str, ...]
    given: Mapping[str, Any]


def question_of(run: Run, verbs: str | Iterable[str], given: Mapping[str, Any]) -> Question:
    """The question, or the error that it would end with on the first worker."""
    from ._run import Run

    if not isinstance(run, Run):
        raise usage(f"map_reduce takes a run, not {type(run).__name__}",
                    remedy="open it first: borescope.open(...)")
    names = (verbs,) if isinstance(verbs, str) else tuple(verbs)
    run._asked(names, given)
    return Question(names, dict(given))


def pieces_of(run: Run, count: int) -> list[Piece]:
    """The files in about `count` pieces of neighbours. A process of the engine is one of several on its
    machine: it loads with one thread unless the run says otherwise."""
    if not run._inputs.can_pickle:
        raise usage("a run on a file-like object cannot be sent to workers",
                    remedy="open it by a path or URL that the workers can read, too")
    arguments = {**run._arguments, "threads": run._arguments["threads"] or 1, "keep": "never",
                 "progress": False, "on_diagnostic": "ignore"}
    numbers = range(len(run.files))
    if not numbers:
        return [Piece(run._source, arguments, None)]
    each = -(-len(numbers) // max(1, min(count, len(numbers))))
    groups = [tuple(numbers[begin:begin + each]) for begin in numbers[::each]]
    urls = _urls_of(run)
    if urls is None:
        return [Piece(run._source, arguments, group) for group in groups]
    arguments["shard"] = None
    return [Piece([urls[number] for number in group], arguments, None) for group in groups]


def _urls_of(run: Run) -> list[str] | None:
    """The URL of every file, so that workers list no folders; None where that does not lead to all."""
    openers = run._inputs.openers
    urls = [opener.url for opener in openers if isinstance(opener, Remote)]
    return urls if len(urls) == len(run.files) and not any("::" in url for url in urls) else None


def map_piece(piece: Piece, question: Question) -> bytes:
    """The part of a piece; what workers run."""
    from ._run import Run

    run = Run(piece.source, **piece.arguments)
    some = run if piece.files is None else run._only(piece.files, "never")
    return some.map(*question.verbs, **question.given)


def merge_parts(*parts: bytes) -> bytes:
    """One part of many; what workers run."""
    from . import merge

    return merge(parts)


def merged(parts: Sequence[Any], merge: Callable[..., Any]) -> list[Any]:
    """At most `FAN` parts, by `merge` of so many at a time, as often as it takes. Parts are whatever the
    engine has for results to come."""
    parts = list(parts)
    while len(parts) > FAN:
        parts = [merge(*parts[begin:begin + FAN]) for begin in range(0, len(parts), FAN)]
    return parts


def answer_of(run: Run, parts: Sequence[bytes], sort: str | None, top: int | None) -> Answer:
    """The answer, with the warnings that the run would have given."""
    from . import reduce

    return run._checked(reduce(parts, sort=sort, top=top))
