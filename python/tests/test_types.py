"""The package is typed throughout."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import borescope
from borescope import _native


def test_mypy_is_content(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    folder = Path(borescope.__file__).parent.parent
    environment = {**os.environ, "MYPYPATH": "" if folder.name == "site-packages" else str(folder)}
    check_types("borescope", tmp_path, environment)
    check_types("borescope_pytest", tmp_path, {**os.environ, "MYPYPATH": str(ROOT / "python")})
    check_types("borescope_record", tmp_path, {**os.environ, "MYPYPATH": str(ROOT / "python")})


def check_types(package: str, tmp_path: Path, environment: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml",
                           "--no-incremental", "-p", package],
                          capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stdout


USES = """
import borescope
run = borescope.open("x")
run.kernels(top=3)["kernels"]["total_ns"].to_list()
run.kernels().to_pandas().columns
run.kernels().kernels.head(2)
column = run.breakdown()["busy_ns"]
tables = run.breakdown()[:1]
reveal_type(run.breakdown()["breakdown"])
reveal_type(run.kernels().to_dicts())
"""
# A line that a type checker must refuse, and a part of what it says.
MISUSES = {
    'run.kernel()': '"Run" has no attribute "kernel"', "run.kernels(tpo=3)": 'Unexpected keyword argument "tpo"',
    'run.idle(kernel_wait=[1])': "kernel_wait", 'run.summary().to_panda()': '"Table" not callable',
    'run.kernels()["kernels"].colums': '"Table" has no attribute "colums"',
}


def test_type_checkers_see_slips(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    folder = Path(borescope.__file__).parent.parent
    (tmp_path / "uses.py").write_text(USES + "\n".join(MISUSES) + "\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--no-incremental",
                           "uses.py"], capture_output=True, text=True, check=False, cwd=tmp_path,
                          env={**os.environ, "MYPYPATH": "" if folder.name == "site-packages" else str(folder)})
    first = USES.count("\n") + 1
    for number, (line, said) in enumerate(MISUSES.items(), first):
        assert re.search(rf"uses.py:{number}: error: .*{re.escape(said)}", done.stdout), (line, done.stdout)
    assert done.stdout.count("error:") == len(MISUSES), done.stdout
    assert re.search(r'Revealed type is "borescope\._table\.Table"', done.stdout)
    assert re.search(r'Revealed type is ".*list\[.*dict\[', done.stdout)


def members(tree: ast.Module | ast.ClassDef) -> dict[str, list[str]]:
    """The functions and properties of a stub, with the names of their arguments."""
    return {node.name: [each.arg for each in node.args.args if each.arg != "self"]
            for node in tree.body if isinstance(node, ast.FunctionDef)}


def arguments(function: object) -> list[str]:
    """The names of arguments as nanobind says them."""
    signature = getattr(function, "__nb_signature__")[0][0].split("->")[0]
    return [name for name in re.findall(r"(\w+):", signature) if name != "self"]


def check_same(stub: dict[str, list[str]], real: object) -> None:
    names = {name for name in vars(real) if not name.startswith("_")}
    assert {name for name in stub if not name.startswith("_")} == names - {"Column", "Table", "Answer", "Run"}
    for name in names & set(stub):
        if hasattr(getattr(real, name), "__nb_signature__"):
            assert arguments(getattr(real, name)) == stub[name], name


def test_the_stub_is_the_module() -> None:
    text = (ROOT / "python" / "borescope" / "_native.pyi").read_text()
    tree = ast.parse(text)
    check_same(members(tree), _native)
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            check_same(members(node), getattr(_native, node.name))
