"""An evidence id as the row it names: what it says, how to ask for it again, and where it is from."""

from __future__ import annotations

import dataclasses
import os
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from .._errors import Error, MissingData, UsageError, usage
from .._run import Run
from .._table import Table
from .._verbs import TAKES_TWO
from ._events import Found, find
from ._ids import SQL, EvidenceId, Question, files_part, make, parse, row_part
from ._question import ASKABLE, Asked, command_of
from ._text import cell, column_name, plain


class UnknownEvidence(UsageError):
    """An id that names nothing of these files; the message says what changed."""


def _unknown(message: str, remedy: str) -> UnknownEvidence:
    return UnknownEvidence(f"{message}; {remedy}", code="invalid-argument", remedy=remedy, parameter="id")


@dataclasses.dataclass(frozen=True)
class Resolved:
    """The row of an id."""

    id: str
    asked: Asked
    table: Table
    row: int
    found: Found

    @property
    def cells(self) -> dict[str, Any]:
        """The cells of the row by the name of their column."""
        return self.table[self.row]


def resolve(text: str, runs: Sequence[Run]) -> Resolved:
    """The row that an id names in these runs: one, or for `diff` the base and the test."""
    wanted = parse(text)
    question = wanted.question
    if question is None:
        return _search(text, wanted, runs)
    needed = 2 if question.verb in TAKES_TWO else 1
    if len(runs) != needed:
        raise usage(f"the id is of {question.verb}, which takes {needed} run{'s' * (needed > 1)}",
                    remedy="give the base and the test" if needed > 1 else "give one run")
    asked = _ask(question, runs)
    _check_files(wanted, asked)
    if question.verb == SQL:
        return _of_statement(text, wanted, asked)
    return _of_table(text, wanted, asked)


def _ask(question: Question, runs: Sequence[Run]) -> Asked:
    try:
        return Asked(runs, question)
    except (UsageError, MissingData) as error:
        raise _unknown(f"the question of the id has no answer here: {error}",
                       "the files are others, the id is of another version, or it was changed"
                       ) from error


def _check_files(wanted: EvidenceId, asked: Asked) -> None:
    now = files_part(asked.content)
    if wanted.files == now:
        return
    files = [path for run in asked.runs for path in run.files]
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    raise _unknown(f"the files changed: the id is of files with the fingerprint {wanted.files}, and "
                   f"those given ({os.path.basename(files[0])}{more}) have {now}",
                   "a recording was added, removed or written again; ask the question again for a "
                   "new id: " + command_of(asked.question, ["RUN"] if len(asked.runs) == 1 else
                                           ["BASE", "TEST"]))


def _of_table(text: str, wanted: EvidenceId, asked: Asked) -> Resolved:
    tables = {table.name: table for table in asked.answer}
    table = tables.get(wanted.table)
    if table is None:
        raise _unknown(f"{asked.question.verb} has no table {wanted.table[:40]!r} now",
                       "the id is of another version, or was changed")
    row = _row_of(wanted.row, asked, table)
    if row is None:
        raise _unknown(f"the files are the same, and none of the {len(table):,} rows of "
                       f"{table.name} is the one of the id",
                       "the id is of another version, or was changed")
    return _resolved(text, asked, table, row)


def _row_of(row: str, asked: Asked, table: Table) -> int | None:
    for number, key in enumerate(asked.keys(table)):
        if row_part(asked.content, asked.question, table.name, key) == row:
            return number
    return None


def _resolved(text: str, asked: Asked, table: Table, row: int) -> Resolved:
    if len(asked.runs) > 1:
        found = Found(why_not="the row compares two runs")
    else:
        found = find(asked.runs[0], asked.question, table.name, table[row])
    return Resolved(text, asked, table, row, found)


def _of_statement(text: str, wanted: EvidenceId, asked: Asked) -> Resolved:
    if row_part(asked.content, asked.question, SQL, None) != wanted.row:
        raise _unknown("the statement is not the one of the id", "the id was changed; copy it whole")
    table = asked.answer.tables[0]
    row = wanted.row_number or 0
    if row >= len(table):
        raise _unknown(f"the statement has {len(table):,} rows, and no row {row}",
                       "rows count from 0")
    found = Found(why_not="rows of a statement are not tied to events")
    return Resolved(text, asked, table, row, found)


def id_of_statement(asked: Asked) -> str:
    """The id of an SQL statement; `.row=N` at its end names a row."""
    return make(asked.content, asked.question, SQL, None)


def _search(text: str, wanted: EvidenceId, runs: Sequence[Run]) -> Resolved:
    """The row of an id without a question, among those of every verb without options."""
    asked_any = False
    for asked in _every_question(runs):
        asked_any = True
        for table in asked.answer:
            row = _row_of(wanted.row, asked, table)
            if row is not None:
                return _resolved(text, asked, table, row)
    if not asked_any:
        raise _unknown("no verb has an answer about these files", "check that they are recordings")
    raise _unknown("no row of any verb without options has this id",
                   "the files changed, or the question had options; give the id with what follows "
                   "its 16 letters, which says which")


def _every_question(runs: Sequence[Run]) -> Iterator[Asked]:
    verbs = sorted(TAKES_TWO) if len(runs) > 1 else ["summary"] + [each for each in ASKABLE
                                                                   if each != "summary"]
    for verb in verbs:
        try:
            yield Asked(runs, Question(verb))
        except (MissingData, UsageError):
            continue


def as_data(resolved: Resolved, inputs: Sequence[str]) -> dict[str, Any]:
    """The row as JSON has it. `inputs` are the names that the caller gave; all text of recordings is
    in `data`."""
    question, table = resolved.asked.question, resolved.table
    columns = table.schema
    values = {column_name(name, columns[name].unit): cell(value, name)
              for name, value in resolved.cells.items()}
    data: dict[str, Any] = {"title": plain(table.title), "row": values}
    found = resolved.found
    if found.count is not None:
        data["events"] = {"count": found.count,
                          "first": [{name: cell(value) for name, value in each.items()}
                                    for each in found.first]}
        if plain(found.sql, 2000) == found.sql:
            data["events"]["sql"] = found.sql
    data["open"] = _opened(resolved)
    out: dict[str, Any] = {"evidence": plain(resolved.id, 4000), "table": plain(table.name),
                           "row": resolved.row, "rows": len(table),
                           "command": command_of(question, inputs)}
    out["window"] = [{"rank": each.rank, "begin_ns": each.begin_ns, "end_ns": each.end_ns}
                     for each in found.windows[:FEW]] or None
    out["window_of"] = found.of or None
    out["no_events"] = found.why_not or None
    return {**out, "data": data}


# Windows of so many ranks are listed.
FEW = 8


def _opened(resolved: Resolved) -> list[str] | None:
    """The command lines that show the windows on a timeline."""
    if len(resolved.asked.runs) > 1:
        return None
    info = resolved.asked.answer.files or resolved.asked.runs[0].info().files
    files = {file.rank: file.path for file in info if not file.skipped}
    lines = [shlex.join(["borescope", "open", files[each.rank], "--begin", str(each.begin_ns), "--end",
                         str(each.end_ns)])
             for each in resolved.found.windows[:FEW] if each.rank in files]
    return [escaped for line in lines if (escaped := plain(line, 1000)) == line] or None


__all__ = ["Error", "Resolved", "UnknownEvidence", "as_data", "id_of_statement", "resolve"]
