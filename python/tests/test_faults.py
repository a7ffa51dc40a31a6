"""Calls of the system that fail under the package, as tests/faults has them fail under the program."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import ROOT

SHIMS = sorted(ROOT.glob("build/*/tests/faults/libborescope_fault_shim.so"))


# Lack of memory in small blocks is left to runs by hand: what of it ends the interpreter is in other packages (nanobind
# while it imports), and where it falls differs with every build.
@pytest.mark.skipif(not SHIMS, reason="the library that lets calls fail is not built")
@pytest.mark.parametrize(("only", "kind"), [("python", "open"), ("python", "read"), ("python", "stat"),
                                            ("python", "write"), ("python", "close"),
                                            ("agents", "thread"), ("agents", "map"), ("agents", "write"),
                                            ("agents", "close")])
def test_faults(only: str, kind: str) -> None:
    """An answer or an exception; never a crash or another answer. A server for agents answers, or ends and says so."""
    if only == "agents":
        pytest.importorskip("mcp", reason="needs the extra mcp")
    command = [sys.executable, str(ROOT / "tests/faults/inject.py"), "--borescope", "/bin/false",
               "--shim", str(SHIMS[0]), "--python", sys.executable, "--only", only, "--kind", kind,
               "--runs", "12", "--turn", "commits"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
