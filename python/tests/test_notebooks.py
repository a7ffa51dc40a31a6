"""The recipes: notebooks run without an error, and are those of docs/use/recipes.md."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import borescope

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
IMPORT = re.compile(r"^(?:import|from) ([\w.]+)", re.MULTILINE)


def code_of(notebook: Path) -> str:
    cells = json.loads(notebook.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def skip_without(modules: list[str]) -> None:
    """Skips what needs a module that is not there."""
    for module in modules:
        try:
            found = importlib.util.find_spec(module)
        except ModuleNotFoundError:
            found = None
        if found is None:
            pytest.skip(f"needs {module}")


def test_there_are_ten() -> None:
    assert [path.name[:3] for path in NOTEBOOKS] == [f"{number:02}_" for number in range(1, 11)]


def test_they_are_those_of_the_page() -> None:
    tool = ROOT / "tools" / "gen_notebooks.py"
    done = subprocess.run([sys.executable, str(tool), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_64_ranks_are_those_of_their_formulas() -> None:
    import gzip

    sys.path.insert(0, str(ROOT / "tools"))
    try:
        from gen_recipe_data import OUT, RANKS, text_of
    finally:
        sys.path.pop(0)
    for rank in range(RANKS):
        assert gzip.decompress((OUT / "ranks_64" / f"rank-{rank:02}.json.gz").read_bytes()) == text_of(rank)


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(notebook: Path) -> None:
    """In a kernel of its own; an error in a cell is an exception here."""
    modules = IMPORT.findall(code_of(notebook))
    skip_without(["nbformat", "nbclient", "ipykernel", "pandas", *modules])
    import nbclient
    import nbformat

    content: Any = nbformat.read(notebook, as_version=4)
    nbformat.validate(content)
    assert not any(cell.get("outputs") for cell in content.cells), "commit notebooks without outputs"
    client = nbclient.NotebookClient(content, timeout=120, kernel_name="python3",
                                     resources={"metadata": {"path": str(FOLDER)}})
    package = str(Path(borescope.__file__).absolute().parent.parent)
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    client.execute(env={**os.environ, "PYTHONPATH": path})
    outputs = [output for cell in content.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any(output.output_type in ("execute_result", "display_data") for output in outputs)
    errors = [output for output in outputs if output.output_type == "error"
              or (output.output_type == "stream" and output.name == "stderr")]
    assert not errors
