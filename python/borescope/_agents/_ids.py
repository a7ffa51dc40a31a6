"""Evidence ids: the name of one row of one answer about certain files.

    b1:ROW.FILES.VERB[.TABLE][.OPTION=VALUE]...

ROW is the base32 of the first 80 bits of SHA-256 over the content of the files, verb, options, table
and key cells of the row. FILES is that of 40 bits over the content alone, by which it can be said
that the files changed. The rest is the question, so that it can be asked again without a search.
`b1:ROW` alone is an id, too, where the question has no options.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Sequence
from urllib.parse import quote, unquote

from .._errors import usage

Options = tuple[tuple[str, str], ...]
SQL = "sql"
_ID = re.compile(r"b1:(?P<row>[a-z2-7]{16})(\.(?P<files>[a-z2-7]{8})\.(?P<question>.+))?")


@dataclasses.dataclass(frozen=True)
class Question:
    """What was asked: a verb with options in the order of their names, without `top` and `sort`,
    which only choose what is shown. `sql` is a verb with the option `text`."""

    verb: str
    options: Options = ()

    def text(self, table: str) -> str:
        """As ids carry it."""
        parts = [self.verb] + ([] if table == self.verb.replace("-", "_") else [table])
        return ".".join(parts + [f"{name}={_quoted(value)}" for name, value in self.options])


@dataclasses.dataclass(frozen=True)
class EvidenceId:
    """The parts of an id; without a question it is to be searched. `row_number` is that of a row of
    an SQL statement, whose id is one for all rows."""

    row: str
    files: str = ""
    question: Question | None = None
    table: str = ""
    row_number: int | None = None


def _quoted(value: str) -> str:
    return quote(value, safe=",:", errors="surrogateescape").replace(".", "%2E")


def letters(digest: bytes, bits: int) -> str:
    """The first bits of a hash as small letters and digits."""
    return base64.b32encode(digest[:bits // 8]).decode().lower()


def files_part(content: Sequence[str]) -> str:
    """The part of an id that names the files: one digest a run."""
    return letters(hashlib.sha256("\n".join(content).encode()).digest(), 40)


def row_part(content: Sequence[str], question: Question, table: str, key: object) -> str:
    """The part of an id that names a row by its key cells."""
    whole = [list(content), question.verb, [list(each) for each in question.options], table, key]
    text = json.dumps(whole, separators=(",", ":"), ensure_ascii=True, allow_nan=True)
    return letters(hashlib.sha256(text.encode()).digest(), 80)


def make(content: Sequence[str], question: Question, table: str, key: object) -> str:
    """The id of a row."""
    row = row_part(content, question, table, key)
    return f"b1:{row}.{files_part(content)}.{question.text(table)}"


def parse(text: str) -> EvidenceId:
    """The parts of an id."""
    match = _ID.fullmatch(text.strip())
    if match is None:
        raise usage(f"{text[:80]!r} is no evidence id", parameter="id",
                    remedy="ids begin with b1: and 16 letters; copy the whole id")
    if match["question"] is None:
        return EvidenceId(match["row"])
    verb, *rest = match["question"].split(".")
    table = rest.pop(0) if rest and "=" not in rest[0] else verb.replace("-", "_")
    options: list[tuple[str, str]] = []
    for each in rest:
        name, _, value = each.partition("=")
        options.append((name, unquote(value, errors="surrogateescape")))
    number = None
    if verb == SQL and options and options[-1][0] == "row":
        number = _row_number(options.pop()[1])
    return EvidenceId(match["row"], match["files"], Question(verb, tuple(options)), table, number)


def _row_number(text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise usage(f"row={text[:20]!r} is no number of a row", parameter="id")
    return int(text)
