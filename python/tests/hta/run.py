"""Runs HTA's own tests against borescope.hta.

Usage: PYTHON run.py HTA_DIR [--list]

HTA_DIR is a checkout of HolisticTraceAnalysis 0.6 with its tests/data, or its unpacked source
package (`pip download --no-deps --no-binary :all: traceinsight`), to which the data must be added. Of
the tests named in hta_tests.txt, which use nothing but public names, those that pass with HTA itself
must pass here; --list names all others, too. Needs pytest and what HTA needs.

Exit status: 0 so it is; 1 a test fails here that passes with HTA; 2 usage, or no test of HTA passes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

_HERE = os.path.dirname(os.path.abspath(__file__))


def tests() -> list[str]:
    """The tests by their names in pytest, without the folder."""
    with open(os.path.join(_HERE, "hta_tests.txt")) as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def passed(hta_dir: str, is_swapped: bool) -> set[str]:
    """The tests that pass, as ``file::Class::test``."""
    paths = [_HERE] if is_swapped else [hta_dir]
    environment = {**os.environ, "HTA_DIR": hta_dir, "TEST_DATA_PREFIX_PATH": hta_dir,
                   "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    files = sorted({name.split("::")[0] for name in tests()})
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                   f"--junitxml={report}", *(["-p", "swap_hta"] if is_swapped else []),
                   *(os.path.join(hta_dir, "tests", name) for name in files)]
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
        cases = xml.etree.ElementTree.parse(report).iter("testcase")
        return {_name(case) for case in cases if len(case) == 0}


def _name(case: xml.etree.ElementTree.Element) -> str:
    found = re.search(r"(test_\w+)\.(\w+)$", case.get("classname", ""))
    file, group = found.groups() if found else ("", "")
    return f"{file}.py::{group}::{case.get('name')}"


def main() -> int:
    arguments = [each for each in sys.argv[1:] if not each.startswith("-")]
    if len(arguments) != 1 or not os.path.isdir(os.path.join(arguments[0], "tests")):
        print(__doc__)
        return 2
    hta_dir = os.path.abspath(arguments[0])
    wanted = tests()
    theirs, ours = passed(hta_dir, False), passed(hta_dir, True)
    reference = [name for name in wanted if name in theirs]
    failed = [name for name in reference if name not in ours]
    print(f"{len(wanted)} tests; {len(reference)} pass with HTA, "
          f"{len(reference) - len(failed)} of these here; "
          f"{len([name for name in wanted if name in ours])} of all pass here")
    for name in failed:
        print(f"  fails here: {name}")
    if "--list" in sys.argv:
        for name in sorted(set(wanted) - theirs):
            print(f"  {'passes here' if name in ours else 'fails here, too'}, not with HTA: {name}")
    return 2 if not reference else 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
