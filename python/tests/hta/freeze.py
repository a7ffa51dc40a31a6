"""Writes what HTA answers for our own traces, as text, for test_frozen.py.

Usage: PYTHON freeze.py

PYTHON has HolisticTraceAnalysis 0.6.1 (`pip install traceinsight`), pandas 2.3, numpy 2.2. A frame is a line
of the types of its columns, and its rows as CSV.
"""

from __future__ import annotations

import os
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
FROZEN = os.path.join(HERE, "frozen")
TRACES = os.path.join(HERE, "traces")


def text_of(value: Any) -> str:
    """An answer as text, the same for equal answers."""
    if hasattr(value, "columns"):
        types = " ".join(str(held) for held in value.dtypes)
        return f"{types} | {value.index.dtype}\n{value.to_csv()}"
    if hasattr(value, "to_csv"):
        return f"{value.dtype}\n{value.to_csv()}"
    if isinstance(value, dict):
        return "".join(f"[{key}]\n{text_of(each)}" for key, each in sorted(value.items()))
    if isinstance(value, (list, tuple)) and any(hasattr(each, "columns") for each in value):
        return "".join(f"[{number}]\n{text_of(each)}" for number, each in enumerate(value))
    return f"{_plain(value)!r}\n"


def _plain(value: Any) -> Any:
    """Numbers without a fraction as whole ones, sets sorted."""
    if isinstance(value, (set, frozenset)):
        return _plain(sorted(value))
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    number = value.item() if hasattr(value, "item") else value
    return int(number) if isinstance(number, float) and number.is_integer() else number


def answers(analysis: Any) -> dict[str, str]:
    """The answers to all questions, as text; "-" where it stops."""
    from questions import QUESTIONS, comparable

    texts = {}
    for name, question in QUESTIONS.items():
        try:
            texts[name] = text_of(comparable(question(analysis)))
        except Exception:  # noqa: BLE001  whatever HTA stops with
            texts[name] = "-\n"
    return texts


def frozen_name(trace: str) -> str:
    return os.path.join(FROZEN, os.path.basename(trace) + ".txt")


def traces() -> list[str]:
    return sorted(os.path.join(TRACES, name) for name in os.listdir(TRACES))


def main() -> None:
    from compare_live import quiet
    from hta.trace_analysis import TraceAnalysis

    quiet()
    os.makedirs(FROZEN, exist_ok=True)
    for trace in traces():
        given = {"trace_dir": trace} if os.path.isdir(trace) else {"trace_files": [trace]}
        with open(frozen_name(trace), "w") as file:
            for name, text in answers(TraceAnalysis(**given)).items():
                file.write(f"=== {name}\n{text}")


if __name__ == "__main__":
    main()
