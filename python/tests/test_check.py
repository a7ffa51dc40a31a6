"""borescope.check, and the plugin of pytest."""

from __future__ import annotations

import importlib.metadata
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import DEMO, ROOT

import borescope

pytest_plugins = ["pytester"]

Maker = Callable[..., None]

BUDGET = '[[budget]]\nname = "step"\ntable = "steps"\ncolumn = "span_ns"\nmax = "{}"\n'


@pytest.fixture(scope="session")
def make_run() -> Maker:
    maker: Maker = runpy.run_path(str(ROOT / "tests" / "data" / "check" / "make_runs.py"))["write_run"]
    return maker


@pytest.fixture
def runs(tmp_path: Path, make_run: Maker) -> Path:
    for i, level in enumerate((1.0, 1.01, 0.995)):
        make_run(tmp_path / f"base{i}.json", level)
        make_run(tmp_path / f"slow{i}.json", 1.1 * level)
    (tmp_path / "kept.toml").write_text(BUDGET.format("1ms"))
    (tmp_path / "broken.toml").write_text(BUDGET.format("1us"))
    return tmp_path


def paths(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}?.json"))


def test_budgets(runs: Path) -> None:
    kept = borescope.check(runs / "base0.json", budget=runs / "kept.toml")
    assert kept and kept.status == "kept"
    broken = borescope.check(runs / "base0.json", budget=runs / "broken.toml", junit=runs / "j.xml",
                             sarif=runs / "s.json", markdown=runs / "m.md")
    assert not broken and broken.status == "broken"
    assert broken.answer["checks"]["status"].to_list() == ["broken"]
    assert "is above 1 us" in broken.why
    assert (runs / "j.xml").exists() and (runs / "s.json").exists() and (runs / "m.md").exists()


def test_baseline(runs: Path) -> None:
    slower = borescope.check(paths(runs, "slow"), baseline=paths(runs, "base"))
    assert slower.status == "broken"
    assert slower.answer["gate"]["verdict"].to_list()[0] == "slower"
    one = borescope.check(runs / "slow0.json", baseline=runs / "base0.json")
    assert one and one.status == "cannot tell"
    assert one.tested is False and slower.tested is True
    assert borescope.check(runs / "slow0.json", budget=runs / "kept.toml").tested is None


def test_saved_baseline(runs: Path) -> None:
    borescope.check(paths(runs, "base"), save_baseline=runs / "saved.json")
    again = borescope.check(paths(runs, "slow"), baseline=runs / "saved.json")
    read = borescope.check(paths(runs, "slow"), baseline=paths(runs, "base"))
    assert again.answer["gate"] == read.answer["gate"]


def test_of_a_run(runs: Path) -> None:
    assert borescope.open(runs / "base0.json").check(runs / "kept.toml").status == "kept"
    with pytest.raises(borescope.UsageError, match="one file, folder or glob"):
        borescope.open((runs / "base0.json").read_bytes()).check(runs / "kept.toml")


def test_errors(runs: Path) -> None:
    (runs / "wrong.toml").write_text('[[budget]]\nname = "x"\nmx = 1\n')
    with pytest.raises(borescope.UsageError, match="wrong.toml:3.*did you mean 'max'"):
        borescope.check(runs / "base0.json", budget=runs / "wrong.toml")
    with pytest.raises(TypeError, match="did you mean `step`"):
        borescope.check(runs / "base0.json", budget=runs / "kept.toml", stp=1)
    with pytest.raises(borescope.UsageError, match="fail takes a share"):
        borescope.check(runs / "base0.json", budget=runs / "kept.toml", fail=float("nan"))
    with pytest.raises(borescope.UsageError, match="`baseline`"):
        borescope.check(DEMO, baseline=[1])  # type: ignore[list-item]


def test_same_bytes_as_the_command(runs: Path) -> None:
    words = [sys.executable, "-m", "borescope", "check", str(runs / "base0.json"), "--budget",
             str(runs / "kept.toml"), "-f", "json"]
    done = subprocess.run(words, capture_output=True, check=True)
    answer = borescope.check(runs / "base0.json", budget=runs / "kept.toml").answer
    assert answer.to_json() == done.stdout


# --- the plugin

TORCH = '''
import contextlib, json, runpy, sys

class profile:
    """A profiler that records what make_runs.py makes."""
    def __init__(self, **given):
        self.given = given
        self.step_num = 0
    def __enter__(self):
        return self
    def __exit__(self, *raised):
        return None
    def step(self):
        self.step_num += 1
    def export_chrome_trace(self, path):
        """As PyTorch: without a schedule no steps, and with one a last one that nothing is in."""
        runpy.run_path(MAKER)["write_run"](path, steps=max(self.step_num, 1))
        with open(path) as file:
            recorded = json.load(file)
        events = recorded["traceEvents"]
        if "schedule" not in self.given:
            events = [each for each in events if not each["name"].startswith("ProfilerStep")]
        elif self.step_num:
            end = max(each["ts"] + each["dur"] for each in events) + 10
            step = {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{self.step_num}", "pid": 100, "tid": 1}
            wait = {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 100, "tid": 1}
            events += [{**step, "ts": end, "dur": 9}, {**wait, "ts": end + 1, "dur": 5}]
        with open(path, "w") as file:
            json.dump({**recorded, "traceEvents": events}, file)

class ProfilerAction:
    RECORD = "record"
'''

TESTS = '''
import pytest

@pytest.mark.borescope(budget="kept.toml")
def test_kept(borescope_profile):
    with borescope_profile(record_shapes=True) as profiler:
        for _ in range(4):
            profiler.step()
    assert profiler.given.pop("schedule")(0) == "record"
    assert profiler.given == {"record_shapes": True}

def test_broken(borescope_profile):
    with borescope_profile("broken.toml") as profiler:
        for _ in range(4):
            profiler.step()

@pytest.mark.borescope(baseline="base.json", strict=True)
def test_cannot_tell(borescope_profile):
    with borescope_profile() as profiler:
        for _ in range(4):
            profiler.step()

def test_nothing_to_check(borescope_profile):
    with borescope_profile():
        pass

@pytest.mark.borescope(budget="kept.toml")
def test_of_its_own(borescope_profile):
    import torch.profiler
    for _ in range(2):
        with borescope_profile(profiler=torch.profiler.profile, schedule=print) as profiler:
            profiler.step()
            profiler.step()
'''

EVERY_STEP = """
[[budget]]
name = "steps"
table = "steps"
reduce = "count"
min = 4
max = 4

[[budget]]
name = "shortest"
table = "steps"
column = "length_ns"
reduce = "min"
min = "100us"
"""


@pytest.fixture(autouse=True)
def same_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes of other folders import the package that is tested."""
    monkeypatch.setenv("PYTHONPATH", str(Path(borescope.__file__).absolute().parents[1]))


def plugin_words() -> list[str]:
    """The plugin comes with an installed package; of the tree it is named."""
    installed = [each.value for each in importlib.metadata.entry_points(group="pytest11")]
    return [] if "borescope_pytest" in installed else ["-p", "borescope_pytest"]


def test_plugin(pytester: pytest.Pytester, make_run: Maker) -> None:
    maker = ROOT / "tests" / "data" / "check" / "make_runs.py"
    pytester.mkpydir("torch")
    (pytester.path / "torch" / "profiler.py").write_text(f"MAKER = {str(maker)!r}\n{TORCH}")
    (pytester.path / "kept.toml").write_text(BUDGET.format("1ms"))
    (pytester.path / "broken.toml").write_text(BUDGET.format("1us"))
    make_run(pytester.path / "base.json")
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_subprocess("--strict-markers", "-p", "no:cacheprovider", *plugin_words())
    done.assert_outcomes(passed=2, failed=3)
    done.stdout.fnmatch_lines(["*borescope check: broken: step: * is above 1 us*"])
    done.stdout.fnmatch_lines(["*borescope check: cannot tell: *"])
    done.stdout.fnmatch_lines(["*needs a budget or a baseline*"])


def example_of_the_docs() -> str:
    """The test that docs/use/check.md shows."""
    text = (ROOT / "docs" / "use" / "check.md").read_text()
    found = re.search(r"((?:^    [^\n]*\n|\n)*^    def test_step\(.*\n(?:^    [^\n]*\n)*)", text, re.M)
    assert found is not None
    lines = [line[4:] for line in found[1].splitlines()]
    return "\n".join(lines[next(i for i, line in enumerate(lines) if line.startswith("@pytest")):])


@pytest.mark.parametrize("is_real", [False, True], ids=["simulated", "PyTorch"])
def test_the_documented_example(pytester: pytest.Pytester, is_real: bool) -> None:
    """As it stands, with a budget about steps: the fixture records them."""
    if is_real:
        pytest.importorskip("torch.profiler")
    else:
        maker = ROOT / "tests" / "data" / "check" / "make_runs.py"
        pytester.mkpydir("torch")
        (pytester.path / "torch" / "profiler.py").write_text(f"MAKER = {str(maker)!r}\n{TORCH}")
    (pytester.path / "budget.toml").write_text(EVERY_STEP)
    work = "import torch\n\ndef step(n):\n    torch.ones(400, n) @ torch.ones(n, 400)\n" if is_real else "def step(n): pass\n"
    pytester.makepyfile(f"import pytest\n\n{work}\nbatches = [900] * 4\n\n{example_of_the_docs()}")
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugin_words())
    done.assert_outcomes(passed=1)


@pytest.mark.parametrize("marker, message", [("budgett='kept.toml'", "*has no argument 'budgett'*"),
                                             ("'kept.toml'", "*takes budget, baseline, strict by name*")])
def test_marker_refuses_what_it_does_not_know(pytester: pytest.Pytester, marker: str, message: str) -> None:
    pytester.makepyfile(f"""
        import pytest

        @pytest.mark.borescope({marker})
        def test_any(borescope_profile):
            pass
    """)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugin_words())
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines([message])


def test_plugin_without_torch(pytester: pytest.Pytester) -> None:
    pytester.makepyfile('''
        def test_any(borescope_profile):
            with borescope_profile("kept.toml"):
                pass
    ''')
    (pytester.path / "torch.py").write_text("raise ImportError('none here')\n")
    (pytester.path / "kept.toml").write_text(BUDGET.format("1ms"))
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider", *plugin_words())
    done.assert_outcomes(skipped=1)


def test_plugin_is_light() -> None:
    code = "import sys, borescope_pytest; print('borescope' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
