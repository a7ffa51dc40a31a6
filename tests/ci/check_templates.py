#!/usr/bin/env python3
"""The shell of the GitHub Action and of the GitLab job, run as these run it, on good and bad runs.

    check_templates.py --borescope BIN --root SOURCES --environment VENV

Needs PyYAML, of the system or of the environment; skipped (77) without it. pip is a stub that notes its words.
"""

import argparse
import contextlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BUDGET = '[[budget]]\nname = "step"\ntable = "steps"\ncolumn = "span_ns"\nmax = "{}"\n'
STUB = '#!/bin/sh\nprintf "%s\\n" "$@" >>"$PIP_WORDS"\n'


def load_yaml(environment):
    sys.path += [str(path) for path in environment.glob("lib/python3*/site-packages")]
    try:
        import yaml
    except ImportError:
        print("skipped: PyYAML is not installed")
        sys.exit(77)
    return yaml


class Bench:
    """A folder in which scripts run, with our program and a stub of python on PATH."""

    def __init__(self, borescope, write_run, folder):
        self.folder, self.problems = folder, []
        programs = folder / "programs"
        programs.mkdir()
        (programs / "borescope").symlink_to(borescope.resolve())
        (programs / "python").write_text(STUB)
        (programs / "python").chmod(0o755)
        self.path = f"{programs}:{os.environ['PATH']}"
        for i, level in enumerate((1.0, 1.01, 0.995)):
            write_run(folder / f"base {i}.json", level)
            write_run(folder / f"slow{i}.json", 1.1 * level)
        write_run(folder / "slowest.json", 2)
        (folder / "kept.toml").write_text(BUDGET.format("1ms"))
        (folder / "broken.toml").write_text(BUDGET.format("1us"))

    def run(self, what, words, script, variables, status):
        environment = {"PATH": self.path, "HOME": str(self.folder), "PIP_WORDS": str(self.folder / "pip_words"),
                       "GITHUB_STEP_SUMMARY": str(self.folder / "summary"), "GITHUB_OUTPUT": str(self.folder / "output"),
                       **variables}
        file = self.folder / "script"
        file.write_text(script)
        done = subprocess.run([*words, str(file)], cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode != status:
            self.problems.append(f"{what}: exit status {done.returncode}, not {status}: {done.stderr[:400]}")

    @contextlib.contextmanager
    def command_of_another_project(self):
        """A command of the name that says something else."""
        command = self.folder / "programs" / "borescope"
        ours = command.readlink()
        command.unlink()
        command.write_text("#!/bin/sh\necho 'usage: borescope [shell]'\n")
        command.chmod(0o755)
        yield
        command.unlink()
        command.symlink_to(ours)

    def leave_stale_reports(self):
        """Those of an earlier check, which nobody may take for those of this one."""
        (self.folder / "borescope-reports").mkdir(exist_ok=True)
        for name in ("check.md", "check.sarif", "junit.xml", "saved.json"):
            (self.folder / "borescope-reports" / name).write_text("stale")

    def take(self, name):
        path = self.folder / name
        text = path.read_text() if path.exists() else ""
        path.unlink(missing_ok=True)
        return text

    def expect(self, what, holds):
        if not holds:
            self.problems.append(what)


# What is installed, and what an index would resolve to whatever has the name there.
PACKAGES = ["wheels/gpu_borescope-0.1.0-cp312-abi3-linux_x86_64.whl", "https://example.org/gpu_borescope-0.1.0.whl",
            "./checkout/"]
NAMES_ALONE = ["borescope", "borescope==1.1.0", "gpu-borescope", "none"]
# What is asked, the variables in the words of the inputs, and the exit status.
CASES = [
    ("kept", {"trace": "base 0.json", "budget": "kept.toml"}, 0),
    ("broken", {"trace": "base 0.json\n", "budget": "broken.toml"}, 1),
    ("slower", {"trace": "slow0.json\nslow1.json\nslow2.json", "baseline": "base 0.json\nbase 1.json\nbase 2.json\n"}, 1),
    ("nothing was tested", {"trace": "slow0.json", "baseline": "base 0.json"}, 3),
    ("nothing was tested, and may be", {"trace": "slow0.json", "baseline": "base 0.json", "strict": "false"}, 0),
    ("one run that is slower than any noise", {"trace": "slowest.json", "baseline": "base 0.json"}, 1),
    ("strict", {"trace": "slow0.json", "baseline": "base 0.json", "strict": "true"}, 3),
    ("strict in capitals", {"trace": "slow0.json", "baseline": "base 0.json", "strict": "True"}, 3),
    ("strict of another word", {"trace": "slow0.json", "baseline": "base 0.json", "strict": "yes"}, 2),
    ("error", {"trace": "absent.json", "budget": "kept.toml"}, 2),
    ("no command in a name", {"trace": "$(touch pwned) `touch pwned`; touch pwned", "budget": "kept.toml"}, 2),
]


def check_github(bench, yaml, root):
    action = yaml.safe_load((root / "ci/github/action.yml").read_text())
    bench.expect("action.yml: composite", action["runs"]["using"] == "composite")
    install, check = action["runs"]["steps"]
    for step in (install, check):
        bench.expect(f"{step['name']}: inputs stand in the script", "${{" not in step["run"])
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
    for what, given, status in CASES:
        inputs = {name: given.get(name, row.get("default", "")) for name, row in action["inputs"].items()}
        filled = {key: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: inputs[match[1]], value)
                  for step in (install, check) for key, value in step["env"].items()}
        bench.run(f"github install, {what}", shell, install["run"], filled, 0)
        bench.leave_stale_reports()
        bench.run(f"github, {what}", shell, check["run"], filled, status)
        bench.expect(f"github, {what}: status", bench.take("output") == f"status={status}\n")
        summary = bench.take("summary")
        bench.expect(f"github, {what}: summary {summary!r}", "borescope check" in summary and "stale" not in summary)
        bench.expect(f"github, {what}: one line of an error", status != 2 or summary.count("\n") == 1)
        check_reports(bench, f"github, {what}", status)
    check_install(bench, "github", shell, install["run"])


def check_install(bench, what, words, script):
    """Nothing is installed that was not named, and nothing by a name that an index may resolve."""
    bench.expect(f"{what}: nothing is installed by default", bench.take("pip_words") == "")
    for package in PACKAGES:
        bench.run(f"{what}, {package}", words, script, {"BORESCOPE_PACKAGE": package}, 0)
        bench.expect(f"{what}: pip installs {package}", bench.take("pip_words").splitlines()[-1:] == [package])
    for package in NAMES_ALONE:
        bench.run(f"{what}, {package}", words, script, {"BORESCOPE_PACKAGE": package}, 2)
        bench.expect(f"{what}: {package} reaches pip", bench.take("pip_words") == "")
    with bench.command_of_another_project():
        bench.run(f"{what}, another project's command", words, script, {"BORESCOPE_PACKAGE": ""}, 2)


def check_reports(bench, what, status):
    reports = bench.folder / "borescope-reports"
    names = {path.name for path in reports.iterdir()}
    wanted = {"check.md"} if status == 2 else {"check.md", "check.sarif", "junit.xml", "saved.json"}
    bench.expect(f"{what}: reports are {sorted(names)}", names == wanted)
    stale = sorted(path.name for path in reports.iterdir() if "stale" in path.read_text())
    bench.expect(f"{what}: reports of an earlier check: {stale}", not stale)
    bench.expect(f"{what}: a name was run", not (bench.folder / "pwned").exists())
    shutil.rmtree(reports)


def check_gitlab(bench, yaml, root):
    job = yaml.safe_load((root / "ci/gitlab/borescope.yml").read_text())[".borescope-check"]
    bench.expect("gitlab: an image is chosen", "image" not in job)
    bench.expect("gitlab: a package is chosen", job["variables"]["BORESCOPE_PACKAGE"] == "")
    bench.expect("gitlab: junit", job["artifacts"]["reports"]["junit"] == "$BORESCOPE_REPORTS/junit.xml")
    script = "set -e\n" + "\n".join(job["before_script"] + job["script"])
    shells = [[path] for path in (shutil.which("bash"), shutil.which("dash"), shutil.which("busybox")) if path]
    for shell in shells:
        words = [*shell, "sh"] if shell[0].endswith("busybox") else shell
        for what, given, status in CASES:
            variables = {**job["variables"], **{f"BORESCOPE_{key.upper()}": value for key, value in given.items()}}
            bench.leave_stale_reports()
            bench.run(f"gitlab in {shell[0]}, {what}", words, script, variables, status)
            check_reports(bench, f"gitlab, {what}", status)
        check_install(bench, f"gitlab in {shell[0]}", words, "set -e\n" + "\n".join(job["before_script"]))


def main():
    parser = argparse.ArgumentParser()
    for name in ("borescope", "root", "environment"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    arguments = parser.parse_args()
    yaml = load_yaml(arguments.environment)
    write_run = runpy.run_path(str(arguments.root / "tests/data/check/make_runs.py"))["write_run"]
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(arguments.borescope, write_run, Path(name))
        check_github(bench, yaml, arguments.root)
        check_gitlab(bench, yaml, arguments.root)
    print("\n".join(bench.problems) or f"{len(CASES)} cases of each template end as they should")
    return 1 if bench.problems else 0


if __name__ == "__main__":
    sys.exit(main())
