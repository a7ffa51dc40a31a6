"""The words `mcp` and `evidence` of the command line."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._errors import Error, unreadable, usage
from .._install import extra
from .._run import Run

if TYPE_CHECKING:
    from ._resolve import Resolved

_MCP_HELP = """\
borescope mcp: a server for agents on standard input and output

Usage: borescope mcp [--root DIR]
Example: borescope mcp --root runs/

An agent's client starts it and speaks the Model Context Protocol with it. The
tools open_run, ask, sql, evidence, compare, check and postmortem read what is
below DIR; nothing is written, and no network is used. Needs the package mcp,
which the extra `mcp` brings: pip install '.[mcp]' in a checkout of Borescope.

Input
      --root DIR           only files below this folder, also where links lead
                           (default: the current folder)
  -h, --help               this help
"""
_EVIDENCE_HELP = """\
borescope evidence: where a number that an agent gave comes from

Usage: borescope evidence [OPTIONS] ID INPUT...
Example: borescope evidence b1:rlkx4n2jqg6yhz7d run/

ID is an evidence id of the server for agents (borescope mcp). INPUT is the run
it is about: a trace or database of any format in `borescope list`, a glob, or a
directory. An id of `diff` takes two: the base and the test.

Prints the row with the number, the command line that gives it again, and the
time window and events it comes from, where these are known. If the id names
nothing of these files, the status is 2, and the message says what changed.

Output
  -f, --format FORMAT      text (default) or json
  -h, --help               this help
"""


def command(words: Sequence[str]) -> int:
    """Runs `mcp ...` or `evidence ...`; returns the exit status."""
    name, *rest = words
    actions: dict[str, tuple[str, Callable[[list[str]], None]]] = {
        "mcp": (_MCP_HELP, _mcp), "evidence": (_EVIDENCE_HELP, _evidence)}
    text, action = actions[name]
    try:
        if "--help" in rest or "-h" in rest:
            _print(text)
        else:
            action(rest)
    except Error as error:
        sys.stderr.write(f"borescope: {_printable(str(error))}\n")
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


def _printable(text: str) -> str:
    from ._text import escaped

    return "\n".join(escaped(line) for line in text.split("\n"))


def _print(text: str) -> None:
    """Writes to standard output; that nobody reads it is no error."""
    if sys.stdout is None:  # closed
        raise _unwritten(os.strerror(errno.EBADF))
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
        with suppress(io.UnsupportedOperation):  # not of a file
            os.close(os.dup(sys.stdout.fileno()))  # network file systems report a full disk only here
    except OSError as error:
        # What is left goes nowhere when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise _unwritten(error.strerror or str(error)) from None


def _unwritten(cause: str) -> Error:
    return unreadable("standard output", f"cannot write: {cause}")


def _split(words: list[str], options: dict[str, str], verb: str) -> tuple[dict[str, str], list[str]]:
    """The values of options, by their long name, and the other words. `options` has the long name of
    each spelling."""
    values: dict[str, str] = {}
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            return values, others + list(rest)
        name, has_value, value = word.partition("=")
        if name in options:
            given = value if has_value else next(rest, None)
            if given is None:
                raise usage(f"{name} needs a value", remedy=f"borescope {verb} --help")
            values[options[name]] = given
        elif word.startswith("-") and word != "-":
            raise usage(f"{verb} has no option {word[:80]!r}", remedy=f"borescope {verb} --help lists them")
        else:
            others.append(word)
    return values, others


def _mcp(words: list[str]) -> None:
    values, others = _split(words, {"--root": "root"}, "mcp")
    if others:
        raise usage(f"mcp takes no input such as {others[0][:80]!r}",
                    remedy="the agent opens the runs; --root DIR names the folder they are in")
    try:
        from ._server import serve
    except ImportError as error:
        raise usage(f"borescope mcp needs the package mcp, version 2.3 or later ({error})",
                    remedy=extra("mcp")) from None
    serve(values.get("root", "."))


def _evidence(words: list[str]) -> None:
    values, others = _split(words, {"-f": "format", "--format": "format"}, "evidence")
    form = values.get("format", "text")
    if form not in ("text", "json"):
        raise usage(f"evidence has no format {form[:80]!r}", remedy="there are text and json")
    if len(others) < 2:
        raise usage("evidence takes an id and a run", remedy="borescope evidence ID RUN")
    from ._budget import to_json
    from ._resolve import as_data

    identity, *inputs = others
    data = as_data(_resolved(identity, inputs), inputs)
    _print(to_json(data) + "\n" if form == "json" else _text_of(data))


def _resolved(identity: str, inputs: list[str]) -> Resolved:
    """The row of an id about one run of all inputs, or about the two of a comparison."""
    from .._verbs import TAKES_TWO
    from ._ids import parse
    from ._resolve import UnknownEvidence, resolve

    question = parse(identity).question
    if len(inputs) == 2 and question is None:
        try:
            return resolve(identity, [_run(each) for each in inputs])
        except UnknownEvidence:
            pass
    if question is not None and question.verb in TAKES_TWO:
        return resolve(identity, [_run(each) for each in inputs])
    return resolve(identity, [_run(inputs)])


def _run(source: str | list[str]) -> Run:
    return Run(source, ranks=None, threads=0, memory_limit=None, progress=None, storage_options=None,
               keep="auto", captures=None, on_diagnostic="ignore")


def _text_of(found: dict[str, Any]) -> str:
    data = found["data"]
    width = max(map(len, data["row"]), default=0)
    lines = [f"{data['title'] or found['table']}: row {found['row']} of {found['rows']}, counted from 0",
             *(f"  {name:<{width}}  {_value(value)}" for name, value in data["row"].items()),
             "", f"Again    {found['command']}"]
    for window in found["window"] or []:
        lines.append(f"Time     rank {window['rank']}: {window['begin_ns']} to {window['end_ns']} ns")
    if found["window"]:
        lines.append(f"         (of {found['window_of']})")
    else:
        lines.append("Time     not known")
    lines += [f"Show     {line}" for line in data["open"] or []]
    lines += _events_of(data.get("events"), found["no_events"])
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if type(value) is int else str(value)


def _events_of(events: dict[str, Any] | None, why_not: str | None) -> list[str]:
    if events is None:
        return [f"Events   not known: {why_not or 'the row is one'}"]
    lines = [f"Events   {events['count']:,}, the first:"]
    lines += [f"         rank {each['rank']} {each['side']} id {each['id']}: {each['ts_ns']} ns, "
              f"{each['dur_ns']:,} ns long" for each in events["first"]]
    return lines + ([f"         {events['sql']}"] if "sql" in events else [])
