"""Advice in the words of the tools: what the program says of command lines, for somebody who has none."""

from __future__ import annotations

import json
import re
import shlex

from ._question import ASKABLE

_COMMAND = re.compile(r"`borescope ([a-z][^`\n]*)`")
_OF_PACKAGE = re.compile(r"\b(?:Run|borescope)\.([a-z_]+)\(\)(?:\[\"\w+\"\])?")
_OPTION = re.compile(r"(?<![\w`-])--(?!root\b)([a-z][a-z-]*)")
# What the verbs of the command line are here that are no verbs to ask.
_TOOLS = {"query": "sql", "diff": "compare", "check": "check", "evidence": "evidence",
          "postmortem": "postmortem"}
_RESOURCES = {"schema": "borescope://sql", "list": "borescope://verbs"}


def call_of(verb: str, options: dict[str, object] | None = None) -> str:
    """How the tool `ask` is called for a verb."""
    more = f", options={json.dumps(options)}" if options else ""
    return f'ask(verb="{verb}"{more})'


def _options_of(words: list[str]) -> dict[str, object]:
    """The options of a command line; one without a value is a flag."""
    options: dict[str, object] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name = word[2:]
            options[name] = True
        elif name and not word.startswith("-"):
            options[name], name = word, ""
    return options


def _in_tools(match: re.Match[str]) -> str:
    try:
        words = shlex.split(match[1])
    except ValueError:
        return match[0]
    verb = words[0]
    if verb in ASKABLE:
        return f"`{call_of(verb, _options_of(words[1:]))}`"
    if verb in _TOOLS:
        return f"the tool `{_TOOLS[verb]}`"
    if verb in _RESOURCES:
        return f"the resource {_RESOURCES[verb]}"
    return f"{match[0]} (a command line; no tool)"


def _of_package(match: re.Match[str]) -> str:
    name = match[1].replace("_", "-")
    if name in ASKABLE:
        return f"`{call_of(name)}`"
    if name in _TOOLS:
        return f"the tool `{_TOOLS[name]}`"
    return f"the resource {_RESOURCES['schema' if match[0].startswith('Run') else 'list']}" if name == "schema" \
        else match[0]


def in_tools(text: str) -> str:
    """The text with calls of tools in the place of commands, and names of options without dashes."""
    text = _OF_PACKAGE.sub(_of_package, _COMMAND.sub(_in_tools, text))
    return _OPTION.sub(lambda match: f"`{match[1].replace('-', '_')}`", text)
