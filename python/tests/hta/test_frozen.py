"""Frames of borescope.hta on our own traces against those of HTA, which freeze.py wrote."""

from __future__ import annotations

import os
import sys

import pytest

pandas = pytest.importorskip("pandas")
pytest.importorskip("networkx")
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import freeze  # noqa: E402
import questions  # noqa: E402

import borescope.hta.trace_analysis as mirrored  # noqa: E402

# What pandas prints, and the types of its columns, differ between releases.
FROZEN_WITH = "2."


def frozen(trace: str) -> dict[str, str]:
    with open(freeze.frozen_name(trace)) as file:
        parts = file.read().split("=== ")[1:]
    return dict(part.split("\n", 1) for part in parts)


def analysis_of(trace: str) -> mirrored.TraceAnalysis:
    return mirrored.TraceAnalysis(**({"trace_dir": trace} if os.path.isdir(trace) else {"trace_files": [trace]}))


@pytest.mark.parametrize("trace", freeze.traces(), ids=os.path.basename)
@pytest.mark.parametrize("name", questions.PLAIN)
def test_plain_answers_are_those_of_hta(name: str, trace: str) -> None:
    """Filters, call graphs, timelines and parser configurations, with any pandas."""
    expected = frozen(trace)[name]
    if expected == "-\n":
        pytest.skip("HTA stops with an exception here")
    assert freeze.text_of(questions.comparable(questions.PLAIN[name](analysis_of(trace)))) == expected


@pytest.mark.skipif(not pandas.__version__.startswith(FROZEN_WITH),
                    reason=f"HTA's frames were frozen with pandas {FROZEN_WITH}x")
@pytest.mark.parametrize("trace", freeze.traces(), ids=os.path.basename)
def test_frames_are_those_of_hta(trace: str) -> None:
    ours = freeze.answers(analysis_of(trace))
    expected = frozen(trace)
    assert ours.keys() == expected.keys()
    stopped = {name for name, text in expected.items() if text == "-\n"}
    for name in expected.keys() - stopped:
        assert ours[name] == expected[name], name
