"""Calls of the system that fail under the package, as tests/faults has them fail under the program."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

SHIMS = sorted(ROOT.glob("build/*/tests/faults/libborescope_fault_shim.so"))


@pytest.mark.skipif(not SHIMS, reason="the library that lets calls fail is not built")
@pytest.mark.parametrize("what", ["python", "agents"])
def test_faults(what: str) -> None:
    """An answer or an exception; never a crash, another answer, or a server that ends."""
    if what == "agents":
        pytest.importorskip("mcp", reason="the package mcp is not installed")
    command = [sys.executable, str(ROOT / "tests/faults/inject.py"), "--borescope", "/bin/false",
               "--shim", str(SHIMS[0]), "--python", sys.executable, "--only", what, "--runs", "40",
               "--turn", "commits"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
