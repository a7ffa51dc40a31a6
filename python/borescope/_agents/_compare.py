"""What changed from one run to another, in words and numbers of `diff`."""

from __future__ import annotations

from typing import Any

from .._answer import Answer

# Below this share of the base a difference of one run from one run says nothing.
_NOTHING = 0.01


def verdict_of(answer: Answer) -> dict[str, Any]:
    """The time of both runs and of their device work, of the mean step where both have steps (else of
    a token or a rank, see `unit`): without what was launched before the recordings. One run against one
    run has no interval: `interval` is null."""
    runs = {row["run"]: row for row in answer["diff_runs"]}
    classes = answer["diff_classes"].to_dicts()
    whole = answer["diff_time"].to_dicts()[:1]
    unit = whole[0]["part"] if whole else "run"
    base, test = (whole[0][f"{name}_ns"] if whole else runs[name]["span_ns"] for name in ("base", "test"))
    work = {name: sum(row[f"{name}_ns"] or 0 for row in classes) for name in ("base", "test")}
    of_unit = "" if unit == "run" else f" of a {unit}"
    return {"text": _sentence("the span" + of_unit, base, test) + "; " +
                    _sentence("device work" + of_unit, work["base"], work["test"]),
            "by_step": unit == "step", "unit": unit,
            "span_base_ns": base, "span_test_ns": test, "span_change_share": _change(base, test),
            "work_base_ns": work["base"], "work_test_ns": work["test"],
            "work_change_share": _change(work["base"], work["test"]),
            "interval": None, "samples_base": 1, "samples_test": 1,
            "note": "one run against one run: no interval, so a change cannot be distinguished from what "
                    "varies between runs"}


def _change(base: int | None, test: int | None) -> float | None:
    return None if not base or test is None else round((test - base) / base, 6)


def _sentence(what: str, base: int | None, test: int | None) -> str:
    change = _change(base, test)
    if change is None or base is None or test is None:
        return f"{what} cannot be compared"
    times = f"{base / 1e6:,.3f} ms in the base, {test / 1e6:,.3f} ms in the test"
    if abs(change) < _NOTHING:
        return f"{what} is the same within {_NOTHING:.0%} ({times})"
    word = "longer" if change > 0 else "shorter"
    return f"{what} is {abs(change):.1%} {word} ({times})"
