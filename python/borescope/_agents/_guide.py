"""What an agent may read before it asks, and prompts to begin with: texts of this package, none of a recording."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

from .. import _native
from .._answer import Answer
from .._errors import usage
from ._question import ASKABLE
from ._words import call_of, in_tools

_SKILL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "skill")
VERB = "borescope://verbs/"


@dataclasses.dataclass(frozen=True)
class Page:
    """A text that can be read, by its address."""

    uri: str
    name: str
    description: str
    kind: str = "text/markdown"


PAGES = (
    Page("borescope://guide", "From slow to a verified fix", "The way of an analysis with these tools, step by step."),
    Page("borescope://pitfalls", "Pitfalls", "27 ways to read a profile wrongly, and the question that shows what is so."),
    Page("borescope://verbs", "Verbs", "What can be asked, with one line each."),
    Page("borescope://sql", "Tables of the tool sql", "Tables, columns and functions of SQL statements."),
)


@dataclasses.dataclass(frozen=True)
class Prompt:
    """A question to begin with; its arguments by name with what they are, all of them needed."""

    name: str
    description: str
    arguments: Mapping[str, str]
    text: str


PROMPTS: dict[str, Prompt] = {each.name: each for each in (
    Prompt("why_slow", "Where the time of a run goes, and what to do first.",
           {"path": "the run: a file or folder below --root"},
           "Find out why the run {path} is slow. Call open_run, and stop at checks of the recording that failed: say "
           'what they make doubtful. Then ask(verb="summary"). Follow its largest finding with the question that its '
           "help names, until you can name the work, the ranks and the steps. Say what the time would be without it "
           '(ask(verb="whatif")). Cite the evidence id of every number. Read borescope://pitfalls before you conclude.'),
    Prompt("verify_change", "Whether a change made a program faster, or slower.",
           {"base": "runs before the change, with blanks between them", "test": "runs after the change"},
           "Runs before a change: {base}. Runs after it: {test}. Each is one execution of the program. Call check with "
           "the runs after the change as `runs` and those before as `baseline`. If it cannot tell, say so, and how many "
           "runs are needed; do not take the numbers of single runs for an answer. If it is slower or faster, call "
           "compare for one pair to find out where. Say whether the amount of work is the same."),
    Prompt("why_died", "Why a job hung, died or ran out of memory.",
           {"path": "what the job left: a folder below --root"},
           "A job hung, died or ran out of memory, and left {path}. Call postmortem. Say which ranks it names, at which line, "
           "and how certain that is; where it cannot tell, say so, and which files or settings would have shown it. Name the "
           "smallest change that was replayed and fits, if there is one. Do not name ranks that it does not name."),
    Prompt("trust_recording", "Whether a recording can be trusted, and what it lacks.",
           {"path": "the run: a file or folder below --root"},
           'Look at the recording {path}. Call open_run, then ask(verb="doctor") and ask(verb="info"). Say which '
           "questions it can answer, which it cannot, and which options of the profiler record what is missing."),
)}


def prompt_text(name: str, arguments: Mapping[str, str]) -> str:
    """The text of a prompt."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise usage(f"there is no prompt {name[:80]!r}", remedy=f"there are {', '.join(PROMPTS)}")
    missing = [each for each in prompt.arguments if not arguments.get(each)]
    if missing:
        raise usage(f"{name} needs `{missing[0]}`", parameter=missing[0])
    text = prompt.text
    for each in prompt.arguments:
        text = text.replace("{" + each + "}", arguments[each])
    return text


def page_text(uri: str) -> str:
    """The text of a page, as Markdown."""
    if uri == "borescope://guide":
        return _file("SKILL.md")
    if uri == "borescope://pitfalls":
        return _file("references/pitfalls.md")
    if uri == "borescope://sql":
        return _tables_of_sql(Answer(_native.query_schema()))
    schema = Answer(_native.schema())
    if uri == "borescope://verbs":
        rows = [row for row in schema["verbs"].to_dicts() if row["name"] in ASKABLE]
        return "# Verbs\n\n" + "\n".join(f"- `{row['name']}`: {row['summary']}" for row in rows) + "\n"
    if uri.startswith(VERB) and uri[len(VERB):] in ASKABLE:
        return _verb(schema, uri[len(VERB):])
    raise usage(f"there is no resource {uri[:200]!r}",
                remedy=f"there are {', '.join(page.uri for page in PAGES)} and {VERB}VERB")


def _file(name: str) -> str:
    with open(os.path.join(_SKILL, *name.split("/")), encoding="utf-8") as file:
        return file.read()


def _verb(schema: Answer, verb: str) -> str:
    """What a verb takes and answers, in the words of the tools."""
    (row,) = [each for each in schema["verbs"].to_dicts() if each["name"] == verb]
    lines = [f"# {verb}", "", f"{row['summary']}. Call `{call_of(verb)}`.", "", "Options:", ""]
    for each in schema["parameters"].to_dicts():
        if each["verb"] != verb or each["name"] in ("sort", "top") or each["type"] in ("file", "folder"):
            continue
        default = f" (default {each['default']})" if each["default"] else ""
        choices = f": {each['choices'].replace(',', ', ')}" if each["choices"] else ""
        lines.append(f"- `{each['name']}` ({each['type']}): {in_tools(each['doc'])}{choices}{default}")
    for table in [each for each in schema["tables"].to_dicts() if each["verb"] == verb]:
        lines += ["", f"Table `{table['name']}`: {table['title']}", ""]
        for each in schema["columns"].to_dicts():
            if (each["verb"], each["table"]) == (verb, table["name"]):
                kind = ", ".join(filter(None, (each["type"], each["unit"])))
                lines.append(f"- `{each['name']}` ({kind}): {in_tools(each['doc'])}")
    return "\n".join(lines) + "\n"


def _tables_of_sql(schema: Answer) -> str:
    lines = ["# SQL", "", "SQLite's dialect, read only. Times are whole nanoseconds; NULL is not recorded."]
    for table in schema:
        lines += ["", f"## {table.title}", ""]
        names = table.columns
        for row in table.to_dicts():
            first, *others = [str(row[name]) for name in names if row[name] not in (None, "")]
            lines.append(f"- `{first}`: {'; '.join(others)}")
    return "\n".join(lines) + "\n"
