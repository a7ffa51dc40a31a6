#!/usr/bin/env python3
"""The JUnit, SARIF and Markdown reports of `borescope check` are well-formed, say the same as the tables, and
escape whatever recordings and budget files are called.

    check_reports.py --borescope BIN --root SOURCES [--schemas FOLDER]

With a folder of the published schemas (official_schemas.py), JUnit and SARIF have to be valid by these, and so
do the action of GitHub and the job of GitLab; skipped (77) where the schemas or what reads them is missing.
"""

import argparse
import json
import runpy
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import report_forms  # noqa: E402
from report_forms import markdown_problems  # noqa: E402

HOSTILE = ["<b>bold</b> & \"quoted\" ]]>", "a | b | c", "[link](javascript:alert(1))", "@everyone `rm`", "ünï \u202e cödé",
           "tab\there", "x" * 5000, "${{ secrets.TOKEN }}"]


def budget_text(names, limit):
    return "".join(f"[[budget]]\nname = {json.dumps(name, ensure_ascii=False)}\ntable = \"steps\"\ncolumn = \"span_ns\"\n"
                   f"max = \"{limit}\"\n" for name in names)


class Case:
    """A folder with runs, in which checks write their reports."""

    def __init__(self, borescope, folder, forms):
        self.borescope, self.folder, self.forms, self.problems = borescope, folder, forms, []

    def check(self, what, *words, status):
        reports = {"junit": "j.xml", "sarif": "s.json", "markdown": "m.md"}
        options = [word for name, path in reports.items() for word in (f"--{name}", path)]
        done = subprocess.run([self.borescope, "check", *words, *options, "-q", "-f", "json"], cwd=self.folder,
                              capture_output=True, check=False)
        if done.returncode != status:
            self.problems.append(f"{what}: exit status {done.returncode}, not {status}: {done.stderr.decode()[:300]}")
            return
        junit, sarif, markdown = ((self.folder / path).read_text() for path in reports.values())
        for problem in self.forms.junit_problems(junit) + self.forms.sarif_problems(sarif) + markdown_problems(markdown):
            self.problems.append(f"{what}: {problem}")
        self.compare(what, json.loads(done.stdout), junit, json.loads(sarif), markdown)

    def compare(self, what, answer, junit, sarif, markdown):
        """The reports count as many broken limits as the table."""
        tables = {table["name"]: {column["name"]: column["values"] for column in table["columns"]}
                  for table in answer["tables"]}
        broken = tables.get("checks", {"status": []})["status"].count("broken")
        suite = ElementTree.fromstring(junit).find("testsuite")
        errors = [result for result in sarif["runs"][0]["results"] if result["level"] == "error"]
        if "gate" not in tables and tables["check"]["result"][0] != "void":
            counts = {int(suite.get("failures")), len(errors), broken}
            if len(counts) != 1 or ("more are not shown" not in markdown and markdown.count("❌") != broken + (broken > 0)):
                self.problems.append(f"{what}: broken are {broken}, {suite.get('failures')} in JUnit, {len(errors)} in SARIF, "
                                     f"{markdown.count('❌')} in Markdown")


def hostile_kernels(write_run, folder):
    """Slow runs whose kernels have such names."""
    for side, level in (("base", 1.0), ("slow", 1.2)):
        for i in range(5):
            path = folder / f"{side}{i}.json"
            write_run(path, level * (1 + 0.001 * i))
            trace = json.loads(path.read_text())
            for event in trace["traceEvents"]:
                if event["cat"] == "kernel":
                    event["name"] = HOSTILE[0 if "gemm" in event["name"] else 1]
            path.write_text(json.dumps(trace))


def load_schemas(folder):
    try:
        import official_schemas
    except ImportError as error:
        print(f"skipped: {error}; scripts/setup --dev installs it")
        sys.exit(77)
    missing = [name for name in official_schemas.FILES if not (folder / name).exists()]
    if missing:
        print(f"skipped: no {', '.join(missing)}; scripts/setup --dev installs them where npm is")
        sys.exit(77)
    return official_schemas


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--borescope", required=True, type=Path)
    parser.add_argument("--root", required=True, type=Path)
    parser.add_argument("--schemas", type=Path)
    arguments = parser.parse_args()
    official = load_schemas(arguments.schemas) if arguments.schemas else None
    forms = official.ReportSchemas(arguments.schemas) if official else report_forms
    write_run = runpy.run_path(str(arguments.root / "tests/data/check/make_runs.py"))["write_run"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        case = Case(arguments.borescope.resolve(), folder, forms)
        hostile_kernels(write_run, folder)
        (folder / "kept.toml").write_text(budget_text(HOSTILE, "1s"))
        (folder / "brok&n %.toml").write_text(budget_text(HOSTILE, "1us"))
        (folder / "many.toml").write_text(budget_text([f"{i} {'<' * 300}" for i in range(900)], "1us"))
        (folder / "void.toml").write_text(budget_text(["a"], "1s") + "[quality]\nmax_unlinked_share = 0.01\n")
        write_run(folder / "unlinked.json", unlinked=4)
        bases, slows = ([f"{side}{i}.json" for i in range(5)] for side in ("base", "slow"))
        case.check("kept", "base0.json", "--budget", "kept.toml", status=0)
        case.check("broken", "base0.json", "--budget", "brok&n %.toml", status=1)
        case.check("many", "base0.json", "--budget", "many.toml", status=1)
        case.check("void", "unlinked.json", "--budget", "void.toml", status=2)
        case.check("slower", *slows, "--all", "--baseline", *bases, status=1)
        case.check("cannot tell", "slow0.json", "--baseline", "base0.json", status=0)
        case.check("strict", "slow0.json", "--strict", "--baseline", "base0.json", status=3)
    problems = case.problems + (official.template_problems(arguments.root) if official else [])
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in the reports of 7 checks")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
