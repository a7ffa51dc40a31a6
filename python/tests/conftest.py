"""What the tests of the package share. They run from any folder, against the package that is
importable: an installed wheel, or PYTHONPATH=build/PRESET/python."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import borescope

# Nothing is written into the cache of whoever runs the tests; those about it name a folder of their own.
os.environ["BORESCOPE_CACHE"] = "off"

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "tests" / "data" / "demo_run"
SMALL = ROOT / "tests" / "data" / "small"


def kernel(name: str, begin_us: int, correlation: int, dur: int = 3) -> list[dict[str, object]]:
    """The events of one launched kernel."""
    return [
        {"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": begin_us, "dur": 2,
         "args": {}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
         "ts": begin_us, "dur": 1, "args": {"correlation": correlation}},
        {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": begin_us + 2, "dur": dur,
         "args": {"device": 0, "stream": 7, "correlation": correlation}},
    ]


def trace_text(kernels: int = 3, name: str = "add_kernel") -> bytes:
    """A Kineto trace of so many kernels."""
    events = [event for i in range(kernels) for event in kernel(name, 10 * i, i + 1)]
    return json.dumps({"traceEvents": events}).encode()


@pytest.fixture
def demo() -> borescope.Run:
    return borescope.open(DEMO)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "rank-0.json"
    path.write_bytes(trace_text())
    return path


@pytest.fixture(scope="session")
def large_trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes some tenths of a second to load."""
    path = tmp_path_factory.mktemp("large") / "rank-0.json"
    one = json.dumps(kernel("add_kernel", 0, 1))[1:-1]
    with open(path, "w") as file:
        file.write('{"traceEvents":[' + one)
        for _ in range(int(os.environ.get("BORESCOPE_LARGE_MB", "100")) * 2300):
            file.write("," + one)
        file.write("]}")
    return path
