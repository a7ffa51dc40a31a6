"""Exceptions and warnings of Borescope."""

from __future__ import annotations

import os
import re


class Error(Exception):
    """What went wrong, as one line: the file, the place in it, the cause and the remedy.

    Attributes:
        code: the kind of error: ``"io"``, ``"unsupported-format"``, ``"corrupt"``,
            ``"missing-data"``, ``"invalid-argument"`` or ``"cancelled"``.
        remedy: what to do about it; may be empty.
        path: the file it is about; ``None`` where there is none.
        offset: the byte in that file, after inflating; ``None`` where it is not known.
        line: the line in that file, of a text; ``None`` where it is not known.
        parameter: the keyword of the question it is about; ``None`` where there is none.
    """

    code: str
    remedy: str
    path: str | None
    offset: int | None
    line: int | None
    parameter: str | None

    def __init__(self, message: str, *, code: str = "io", remedy: str = "", path: str | None = None,
                 offset: int | None = None, line: int | None = None,
                 parameter: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.remedy = remedy
        self.path = path
        self.offset = offset
        self.line = line
        self.parameter = parameter

    def __reduce__(self) -> tuple[object, ...]:
        fields = {"code": self.code, "remedy": self.remedy, "path": self.path, "offset": self.offset,
                  "line": self.line, "parameter": self.parameter}
        return _again, (type(self), str(self), fields)


def _again(kind: type[Error], message: str, fields: dict[str, object]) -> Error:
    return kind(message, **fields)  # type: ignore[arg-type]


class InputError(Error, OSError):
    """A recording cannot be opened or read, or an output cannot be written."""


class FormatError(Error, ValueError):
    """An input is of no format that Borescope reads, or damaged beyond repair."""


class MissingData(Error, LookupError):
    """The question needs something that was not recorded; ``remedy`` says how to record it."""


class UsageError(Error, ValueError):
    """The question cannot be asked like this: an unknown keyword, a bad value."""


class Cancelled(Error):
    """The question was stopped before it had an answer."""


class DataWarning(UserWarning):
    """A recording is damaged or incomplete in a way that makes answers doubtful."""


_CLASSES: dict[str, type[Error]] = {
    "io": InputError,
    "unsupported-format": FormatError,
    "corrupt": FormatError,
    "missing-data": MissingData,
    "invalid-argument": UsageError,
    "cancelled": Cancelled,
}


# How remedies of the engine, which speak of the command line, are worded in Python.
_WORDS = (
    (re.compile(r"borescope query --schema"), "Run.schema()"),
    (re.compile(r"`borescope list`"), 'borescope.schema()["formats"]'),
    (re.compile(r"Describe\(\)\.writers lists the formats"), "write json, csv, text, svg or png"),
    (re.compile(r"others with -f text, csv or json"), "others are tables only"),
    (re.compile(r"`borescope ([a-z]+)`|\bborescope (annotations|map)\b"), r"Run.\1\2()"),
)


def _in_python(remedy: str) -> str:
    for pattern, words in _WORDS:
        remedy = pattern.sub(words, remedy)
    return remedy


def make(code: str, sentence: str, remedy: str, path: str, offset: int | None, line: int | None,
         parameter: str) -> Error:
    """The exception for an error of the engine, which calls this."""
    if remedy and sentence.endswith(remedy):
        sentence = sentence[:-len(remedy)] + _in_python(remedy)
        remedy = _in_python(remedy)
    return _CLASSES[code](sentence, code=code, remedy=remedy, path=path or None, offset=offset,
                          line=line, parameter=parameter or None)


def usage(message: str, *, remedy: str = "", parameter: str | None = None) -> UsageError:
    """An error in how a function of this package was called."""
    sentence = f"{message}; {remedy}" if remedy else message
    return UsageError(sentence, code="invalid-argument", remedy=remedy, parameter=parameter)


def unreadable(name: str | bytes | os.PathLike[str], message: str, *, remedy: str = "") -> InputError:
    """An input that this package, not the engine, could not read."""
    path = os.fsdecode(name)
    sentence = f"{path}: {message}" + (f"; {remedy}" if remedy else "")
    return InputError(sentence, code="io", remedy=remedy, path=path)
