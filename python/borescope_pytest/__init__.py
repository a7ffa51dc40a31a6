"""A plugin of pytest: records a part of a test with the profiler of PyTorch, and checks budgets.

    @pytest.mark.borescope(budget="budget.toml")
    def test_step(borescope_profile):
        with borescope_profile() as profiler:
            for batch in batches:
                step(batch)
                profiler.step()

Each call of ``step`` ends a step. The test fails where a budget is broken. pytest imports this file at every start: it imports nothing
else before the fixture is used.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "borescope(budget=FILE, baseline=RUNS, strict=False): what `borescope_profile` "
                   "checks where it is not told otherwise")


def _torch_profiler(**given: Any) -> Any:
    """The profiler of PyTorch; the test is skipped where there is none."""
    try:
        import torch.profiler
    except ImportError as error:
        pytest.skip(f"borescope_profile needs PyTorch: {error}")
    if "schedule" in given:
        return torch.profiler.profile(**given)
    # Without a schedule the profiler marks no steps, whatever `step` is called for. This one records
    # from the first to the last of them, in one window: nothing is cleared between.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*clears events at the end of each cycle.*")
        profiler = torch.profiler.profile(schedule=lambda _: torch.profiler.ProfilerAction.RECORD, **given)
    profiler._borescope_steps = True
    return profiler


# What threads do; other events lie anywhere.
_HOST_CATEGORIES = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")


def _drop_empty_last_step(trace: Any, number: int) -> None:
    """Each call of ``step`` begins a step, the last one too: where nothing was done in that, but the
    end of the recording waited for the device, it is no step."""
    import json

    with open(trace, encoding="utf-8") as file:
        recorded = json.load(file)
    events = recorded.get("traceEvents", [])
    name = f"ProfilerStep#{number}"
    last = [each for each in events if each.get("name") == name and each.get("cat") == "user_annotation"]
    if len(last) != 1 or number == 0:
        return
    begin, end = last[0]["ts"], last[0]["ts"] + last[0]["dur"]
    for each in events:
        is_work = (each.get("ph") == "X" and each.get("cat") in _HOST_CATEGORIES and each is not last[0]
                   and "Synchronize" not in each.get("name", ""))
        if is_work and begin <= each["ts"] <= end:
            return
    recorded["traceEvents"] = [each for each in events if each.get("name") != name]
    with open(trace, "w", encoding="utf-8") as file:
        json.dump(recorded, file)


def _beside(request: pytest.FixtureRequest, path: Any) -> Any:
    """A relative name is in the folder of the test, as of data that belongs to it; else in the
    current one."""
    if path is None or os.path.isabs(os.fspath(path)):
        return path
    beside = request.path.parent / path
    return beside if beside.exists() else path


def _all_beside(request: pytest.FixtureRequest, given: Any) -> list[Any]:
    single = isinstance(given, (str, os.PathLike))
    return [_beside(request, path) for path in ([given] if single else given or ())]


def _of_marker(marker: Any) -> dict[str, Any]:
    """The arguments of the marker; a misspelt one would hold nothing."""
    if marker is None:
        return {}
    known = ("budget", "baseline", "strict")
    if marker.args:
        raise pytest.UsageError(f"the marker `borescope` takes {', '.join(known)} by name, as in budget=FILE")
    for name in marker.kwargs:
        if name not in known:
            raise pytest.UsageError(f"the marker `borescope` has no argument {name!r}; it takes {', '.join(known)}")
    return dict(marker.kwargs)


@pytest.fixture
def borescope_profile(request: pytest.FixtureRequest, tmp_path: Any) -> Callable[..., Any]:
    """A function that returns a context manager: ``with borescope_profile("budget.toml") as profiler:``.

    Its arguments are ``budget``, ``baseline`` and ``strict`` (those of the marker unless given),
    ``profiler`` (a function that makes one in place of ``torch.profiler.profile``), and those of the
    profiler. What ``step`` is called for is a step of the recording, unless a ``schedule`` is given
    that says what is recorded. The trace is in ``tmp_path``, several of one test in several files.
    """
    marker = request.node.get_closest_marker("borescope")
    defaults = _of_marker(marker)

    def profile(budget: Any = None, *, baseline: str | os.PathLike[str] | Iterable[Any] | None = None,
                strict: bool | None = None, profiler: Callable[..., Any] | None = None,
                **given: Any) -> AbstractContextManager[Any]:
        budget = defaults.get("budget") if budget is None else budget
        baseline = defaults.get("baseline") if baseline is None else baseline
        strict = bool(defaults.get("strict", False)) if strict is None else strict
        return _profiled(request, tmp_path, profiler or _torch_profiler, given,
                         _beside(request, budget), _all_beside(request, baseline), strict)

    return profile


@contextmanager
def _profiled(request: pytest.FixtureRequest, folder: Any, make: Callable[..., Any],
              given: dict[str, Any], budget: Any, baseline: list[Any], strict: bool) -> Iterator[Any]:
    if budget is None and not baseline:
        raise pytest.UsageError("borescope_profile needs a budget or a baseline, of its own or of the "
                                "marker `borescope`")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*clears events at the end of each cycle.*")
        with make(**given) as profiler:
            yield profiler
    number = len(list(folder.glob("borescope-*.json")))
    trace = folder / f"borescope-{number}.json"
    profiler.export_chrome_trace(str(trace))
    if getattr(profiler, "_borescope_steps", False):
        _drop_empty_last_step(trace, profiler.step_num)
    _assert_kept(request, trace, budget, baseline, strict)


def _assert_kept(request: pytest.FixtureRequest, trace: Any, budget: Any, baseline: list[Any],
                 strict: bool) -> None:
    import borescope

    if not hasattr(borescope, "check"):
        pytest.fail(f"`import borescope` gives another project's package ({borescope.__file__}), not that of "
                    "gpu-borescope", pytrace=False)
    result = borescope.check(trace, budget=budget, baseline=baseline, strict=strict)
    request.node.user_properties.append(("borescope", f"{result.status}: {result.why}"))
    if not result or (strict and result.status == "cannot tell"):
        names = [name for name in ("checks", "gate") if name in [each.name for each in result.answer]]
        tables = "\n".join(str(result.answer[name]) for name in names)
        pytest.fail(f"borescope check: {result.status}: {result.why}\n{trace}\n{tables}", pytrace=False)
