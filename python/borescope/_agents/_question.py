"""Questions that ids name: options as texts, the answer, and the ids of its rows."""

from __future__ import annotations

import itertools
import os
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from .. import _native
from .._answer import Answer
from .._errors import usage
from .._keywords import unknown_keyword
from .._params import pairs_of
from .._run import Run
from .._table import Table
from .._verbs import PARAMETERS, TAKES_TWO, WORDS
from ._content import captures_beside, digest_of
from ._ids import SQL, Question, make

# Options that choose what is shown of an answer, and no number of it.
_DISPLAY = ("top", "sort")
# Kinds of options that name files: those would be read or written beside the run.
_OF_FILES = ("file", "folder")
SQL_SECONDS = 10.0
SQL_ROWS = 200

ASKABLE = [verb for verb in PARAMETERS if verb != "report" and verb not in TAKES_TWO]


def check_verb(verb: str, among: Sequence[str]) -> str:
    """The name of a verb as the command has it."""
    name = verb.replace("_", "-")
    if name not in among:
        near = _native.nearest(name, among)
        remedy = f"did you mean {near}?" if near else f"there are {', '.join(among)}"
        raise usage(f"there is no verb {name[:80]!r} that can be asked", remedy=remedy, parameter="verb")
    return name


def question_of(verb: str, given: Mapping[str, Any]) -> Question:
    """The question with these options: of the command line, with _ or -, without files."""
    types = PARAMETERS[verb]
    values = {name.replace("-", "_"): value for name, value in given.items()}
    _check_options(verb, values)
    with ExitStack() as stack:
        return Question(verb, tuple(sorted(pairs_of(values, types, stack))))


def _check_options(verb: str, names: Iterable[str]) -> None:
    """Also those that an id carries, which anybody can write: none may lead to another file."""
    types = PARAMETERS[verb]
    for name in names:
        if name not in types or name in _DISPLAY:
            raise unknown_keyword(verb, name, [each for each in types if each not in _DISPLAY])
        if types[name] in _OF_FILES:
            raise usage(f"the option {name} names a file, which is not read or written here",
                        remedy="use the command line", parameter=name)


class Asked:
    """A question and its answer about one run, or about two: the base and the test."""

    def __init__(self, runs: Sequence[Run], question: Question) -> None:
        self.runs = runs
        self.question = question
        self.answer = _answer(runs, question)
        self._content: list[str] | None = None

    @property
    def content(self) -> list[str]:
        """A digest of the files of each run."""
        if self._content is None:
            self._content = [content_of(run, self.answer) for run in self.runs]
        return self._content

    def keys(self, table: Table) -> list[Any]:
        """What distinguishes each row of a table: its key cells, and among rows that have the same
        ones the number of the row."""
        columns = [column for column in table.schema.values() if column.role == "key"]
        names = [column.name for column in columns]
        paths = {path: os.path.basename(path) for run in self.runs for path in run.files}
        cells = [_without_folders(column.to_list(), paths) for column in columns]
        rows = list(zip(*cells)) if cells else [()] * len(table)
        seen: Counter[Any] = Counter()
        keys = []
        for row in rows:
            keys.append([names, list(row), seen[row]])
            seen[row] += 1
        return keys

    def ids(self, table: Table, rows: Sequence[int]) -> list[str]:
        """The evidence ids of these rows."""
        keys = self.keys(table)
        return [make(self.content, self.question, table.name, keys[row]) for row in rows]


def _without_folders(cells: list[Any], paths: Mapping[str, str]) -> list[Any]:
    """The name of an input without its folder, which differs from call to call."""
    return [paths.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]


def content_of(run: Run, answer: Answer) -> str:
    """The digest of the recordings of a run; other files of its folder do not count."""
    skipped = {file.path for file in answer.files if file.skipped}
    files = [path for path in run.files if path not in skipped]
    return digest_of(files + captures_beside(files))


def _answer(runs: Sequence[Run], question: Question) -> Answer:
    options: dict[str, Any] = dict(question.options)
    verb = question.verb
    if verb == SQL:
        return _of_statement(runs[0], options.get("text", ""))
    if verb not in ASKABLE and verb not in TAKES_TWO:
        raise usage(f"{verb[:80]!r} is no verb that can be asked")
    _check_options(verb, options)
    for name, kind in PARAMETERS[verb].items():
        if kind == "flag" and name in options:
            options[name] = options[name] == "true"
    if verb in TAKES_TWO:
        return runs[1]._pair(verb, runs[0], options)
    return runs[0]._answer([verb], options, PARAMETERS[verb])


def _of_statement(run: Run, text: str) -> Answer:
    answer = run.query(text, time_limit=SQL_SECONDS, rows=SQL_ROWS)
    if len(answer) != 1:
        raise usage(f"sql takes one statement, not {len(answer)}", parameter="statement")
    return answer


def command_of(question: Question, inputs: Sequence[str]) -> str:
    """The command line that asks it."""
    options = dict(question.options)
    words = ["borescope", question.verb]
    if question.verb == SQL:
        return shlex.join(["borescope", "query", options.get("text", ""), *inputs, "-f", "json"])
    if question.verb in WORDS:
        words.append(options.pop("report", "all"))
    flags = {name for name, kind in PARAMETERS[question.verb].items() if kind == "flag"}
    given = [[f"--{name.replace('_', '-')}"] + ([] if name in flags else [value])
             for name, value in sorted(options.items())]
    return shlex.join([*words, *inputs, *itertools.chain.from_iterable(given), "-f", "json"])
