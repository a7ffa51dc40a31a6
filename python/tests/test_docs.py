"""What the documentation of the package says is so: its code runs, its names exist."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import borescope

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"^(?P<code>[^#\s][^#\n]*?) +# (?P<value>.*)$", re.MULTILINE)


def values_of(block: str) -> list[tuple[str, object]]:
    """Expressions of a block with the values that their comments say, where these are literals."""
    values = []
    for match in COMMENT.finditer(block):
        try:
            ast.parse(match["code"], mode="eval")
            values.append((match["code"], ast.literal_eval(match["value"])))
        except (SyntaxError, ValueError):
            continue
    return values


def test_the_page_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block, one after another, and the values in comments."""
    for module in ("pandas", "polars", "pyarrow", "duckdb"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"needs {module}")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    checked = 0
    for block in BLOCK.findall((ROOT / "docs" / "use" / "python.md").read_text()):
        exec(compile(block, "docs/use/python.md", "exec"), names)
        for code, value in values_of(block):
            assert eval(code, names) == value, code
            checked += 1
    assert checked >= 3


def test_the_lines_of_the_readme(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = BLOCK.findall((ROOT / "README.md").read_text())
    assert len(blocks) == 1
    monkeypatch.chdir(ROOT)
    exec(compile(blocks[0], "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "Where the device time goes" in printed and "ncclDevKernel_AllReduce" in printed


# --- names of other tools

ROW = re.compile(r"^\| (?P<name>[^|]+) \| (?P<commands>[^|]+) \| (?P<tables>[^|]*)\| (?P<note>[^|]*)\|$",
                 re.MULTILINE)
PAGE = ROOT / "docs" / "use" / "from_other_tools.md"
# Where each table of the page has rows, or at least columns.
RECORDINGS = ("demo_run", "recipes/train", "small/counters.json", "small/graphs.json",
              "small/serving.json")


def rows() -> list[re.Match[str]]:
    return [row for row in ROW.finditer(PAGE.read_text()) if not row["name"].startswith("---")
            and row["commands"].strip() != "Borescope"]


def spans(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


class Names:
    """What the program has, as its schema says."""

    def __init__(self) -> None:
        schema = borescope.schema()
        self.verbs = set(schema["verbs"]["name"].to_list())
        self.tasks = {row["name"] for row in schema["verbs"].to_dicts() if row["kind"] == "task"}
        self.parameters: dict[str, dict[str, dict[str, Any]]] = {}
        for row in schema["parameters"].to_dicts():
            self.parameters.setdefault(row["verb"], {})[row["name"]] = row
        self.tables: dict[str, set[str]] = {}
        for row in schema["tables"].to_dicts():
            self.tables.setdefault(row["verb"], set()).add(row["name"])

    def problem(self, command: str) -> str | None:
        """What is wrong with a command, if anything."""
        verb, *words = command.split()
        if verb not in self.verbs:
            return f"there is no verb {verb}"
        known = self.parameters.get(verb, {})
        if verb == "stats" and not set(words[0].split(",")) <= self.tables["stats"]:
            return f"there is no report {words[0]}"
        for word, value in zip(words, [*words[1:], ""]):
            if not word.startswith("--"):
                continue
            row = known.get(word.lstrip("-").replace("-", "_"))
            if row is None:
                return f"{verb} has no option {word}"
            choices = set(filter(None, row["choices"].split(",")))
            if choices and not set(value.split(",")) <= choices:
                return f"{verb} {word} does not take {value}"
        return None


def arguments_of(command: str) -> tuple[str, list[str], dict[str, Any]]:
    """The method, its arguments and its keywords. Words in capitals are for the reader to fill in."""
    verb, *words = command.split()
    given: dict[str, Any] = {}
    for word, value in zip(words, [*words[1:], "--"]):
        if word.startswith("--") and not value.isupper():
            given[word[2:].replace("-", "_")] = True if value.startswith("--") else value
    return verb.replace("-", "_"), words[:1] if verb == "stats" else [], given


def tables_of(commands: list[str], tasks: set[str]) -> set[str]:
    """The tables that the commands give, of any of the recordings."""
    found: set[str] = set()
    for command in commands:
        if command.split()[0] in tasks:
            continue
        method, words, given = arguments_of(command)
        for name in RECORDINGS:
            run = borescope.open(ROOT / "tests" / "data" / name)
            try:
                answer = run.diff(run, **given) if method == "diff" else getattr(run, method)(*words, **given)
            except borescope.MissingData:
                continue
            found |= {table.name for table in answer}
    return found


def test_every_name_of_another_tool_leads_somewhere() -> None:
    names = Names()
    wrong = []
    for row in rows():
        commands = spans(row["commands"])
        problems = [problem for problem in map(names.problem, commands) if problem]
        wrong += [f"{row['name']}: {problem}" for problem in problems]
        if not problems:
            there = tables_of(commands, names.tasks)
            wrong += [f"{row['name']}: no table {table}" for table in spans(row["tables"])
                      if table not in there]
        if not commands and row["commands"].strip() != "—":
            wrong.append(f"{row['name']}: no command")
    assert not wrong, "\n".join(wrong)
    assert len(rows()) > 80


def test_the_check_of_names_finds_what_is_wrong() -> None:
    names = Names()
    assert names.problem("kernel") == "there is no verb kernel"
    assert names.problem("kernels --byy op") == "kernels has no option --byy"
    assert names.problem("kernels --by ops") == "kernels --by does not take ops"
    assert names.problem("stats cuda_sum") == "there is no report cuda_sum"
    assert names.problem("kernels --by op,step --top 3") is None


def test_every_method_of_hta_has_a_row() -> None:
    """The public methods of HTA 0.6's TraceAnalysis."""
    methods = """get_temporal_breakdown get_comm_comp_overlap get_gpu_kernel_breakdown
        get_gpu_kernels_with_user_annotations get_gpu_user_annotation_breakdown get_idle_time_breakdown
        get_cuda_kernel_launch_stats get_aten_op_kernels_and_delay get_queue_length_time_series
        get_queue_length_summary get_queue_length_summary_from_time_series
        get_time_spent_blocked_on_full_queue get_memory_bw_time_series get_memory_bw_summary
        generate_trace_with_counters get_frequent_cuda_kernel_sequences
        get_cupti_counter_data_with_operators get_profiler_steps get_potential_stragglers
        critical_path_analysis overlay_critical_path_analysis""".split()
    assert len(methods) == 21
    named = [name for row in rows() for name in spans(row["name"])]
    assert [name for name in methods if name not in named] == []


def test_every_report_of_stats_has_a_row() -> None:
    named = {name for row in rows() for name in spans(row["name"])}
    assert Names().tables["stats"] - named == set()
