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
    for block in BLOCK.findall((ROOT / "docs" / "python.md").read_text()):
        exec(compile(block, "docs/python.md", "exec"), names)
        for code, value in values_of(block):
            assert eval(code, names) == value, code
            checked += 1
    assert checked >= 3
