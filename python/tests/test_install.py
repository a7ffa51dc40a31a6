"""The package beside another project's of the same name, and hints where an extra is missing."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import borescope
from borescope import _install

PACKAGE = Path(borescope.__file__).parent


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages that has this one."""
    (tmp_path / "borescope").mkdir()
    for item in PACKAGE.iterdir():
        if item.name != "__pycache__":
            (tmp_path / "borescope" / item.name).symlink_to(item.resolve())
    return tmp_path


def describe(site: Path, folder: str, file: str, name: str, version: str) -> None:
    (site / folder).mkdir()
    (site / folder / file).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: nothing\n")


def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=False, cwd=site)


@pytest.mark.parametrize("folder, file", [("borescope-1.1.0.dist-info", "METADATA"), ("borescope-1.1.0.egg-info", "PKG-INFO")])
def test_another_distribution_of_the_name_is_told(site: Path, folder: str, file: str) -> None:
    describe(site, folder, file, "borescope", "1.1.0")
    done = run(site, "-c", "import borescope; print(borescope.__file__)")
    assert done.stdout.strip() == str(site / "borescope" / "__init__.py")
    assert "the distribution borescope 1.1.0, which is not gpu-borescope, is installed in the same folder" in done.stderr
    assert "pip uninstall borescope gpu-borescope" in done.stderr and '<string>:1: RuntimeWarning' in done.stderr


def test_our_own_distributions_are_not(site: Path) -> None:
    describe(site, "gpu_borescope-0.1.0.dist-info", "METADATA", "gpu-borescope", "0.1.0")
    describe(site, "borescope-compat-0.1.0.dist-info", "METADATA", "gpu-borescope-compat", "0.1.0")
    (site / "borescope-2.dist-info").mkdir()  # damaged: without metadata
    done = run(site, "-W", "error", "-c", "import borescope; print(borescope.__version__)")
    assert done.stdout.strip() == borescope.__version__, done.stderr


def test_a_package_that_was_replaced_says_so(site: Path) -> None:
    """The other package was installed later: its __init__.py is in the place of ours."""
    (site / "borescope" / "__init__.py").unlink()
    (site / "borescope" / "__init__.py").write_text("def main(): pass\n")
    done = run(site, "-m", "borescope.cli", "--version")
    assert done.returncode == 2 and not done.stdout
    assert done.stderr.startswith("borescope: `import borescope` gives another project's package (")
    assert "Traceback" not in done.stderr


def test_commands_of_other_tools_say_so() -> None:
    """The other project alone: there is no module `borescope.cli` of ours."""
    code = ("import sys, types; sys.modules['borescope'] = types.ModuleType('borescope')\n"
            "from borescope_compat._engine import borescope; sys.exit(borescope('--version'))")
    done = run(ROOT / "python" / "compat", "-c", code)
    assert done.returncode == 2 and "needs the package gpu-borescope" in done.stderr, done.stderr


def test_a_wheel_brings_pages_and_completion() -> None:
    """man(1) and the completion of bash look below share/ of the environment whose bin/ is in PATH."""
    try:
        files = {str(file) for file in importlib.metadata.files(_install.DISTRIBUTION) or []}
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed, but imported from a build")
    for end in ("share/man/man1/borescope.1", "share/man/man1/borescope-kernels.1", "completions/borescope",
                "site-functions/_borescope", "vendor_completions.d/borescope.fish", "borescope/skill/SKILL.md",
                "borescope/skill/scripts/first_look.py"):
        assert any(file.endswith(end) for file in files), end
    page = next(file for file in importlib.metadata.files(_install.DISTRIBUTION) or [] if file.name == "borescope.1")
    assert "BORESCOPE_CACHE" in Path(str(page.locate())).read_text()


def test_every_extra_that_is_named_exists() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    section = text.partition("[project.optional-dependencies]\n")[2].partition("\n[")[0]
    extras = set(re.findall(r"^(\w+) = ", section, re.MULTILINE))
    named = {name for path in (ROOT / "python" / "borescope").rglob("*.py")
             for name in re.findall(r'\bextra\("(\w+)"\)', path.read_text())}
    assert named == {"dask", "mcp", "parquet", "ray", "s3"} and named <= extras
    assert _install.extra("mcp").count("[mcp]") == 2
    assert re.search(r'^name = "gpu-borescope"$', text, re.MULTILINE)
