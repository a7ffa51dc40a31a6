"""What tests of recorded Python programs share: running a script under `borescope record`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import logs
from support import LIBRARY, RecordTest

BORESCOPE = os.environ["BORESCOPE_PROGRAM"]
PACKAGE = Path(__file__).resolve().parents[2] / "python"
# Set by this process or a test's caller, and not to be passed on.
DROPPED = ("LD_PRELOAD", "NVTX_", "CUDA_", "RANK", "PYTHON", "BORESCOPE", "RPDT_", "KINETO_")


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    return kept | {"BORESCOPE_RECORD_LIBRARY": str(LIBRARY), "BORESCOPE_RECORD_DEBUG": "1"} | more


class PythonTest(RecordTest):
    """Scripts are files in a folder of the test, which is the working directory."""

    python = sys.executable

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    def record(self, *options, script="", flags=(), name="x", arguments=(), **variables):
        """Runs the text of a script under the launcher."""
        path = self.write("program.py", script)
        command = [BORESCOPE, "record", "-q", "--replace", "-o", name, *options, "--", self.python,
                   *flags, str(path), *arguments]
        return subprocess.run(command, cwd=self.folder, timeout=300, capture_output=True, text=True,
                              check=False, env=clean_environment(**variables))

    def run_plain(self, script, **variables):
        path = self.write("program.py", script)
        return subprocess.run([self.python, str(path)], cwd=self.folder, timeout=300, check=False,
                              capture_output=True, text=True, env=clean_environment(**variables))

    def expect_quiet(self, result, stdout=""):
        self.assertEqual((result.returncode, result.stderr, result.stdout), (0, "", stdout))

    def logs_of(self, name="x"):
        return logs.parse_folder(self.folder / f"{name}.bsr")

    def log_of(self, name="x"):
        found = self.logs_of(name)
        self.assertEqual(len(found), 1, [str(log.path) for log in found])
        return found[0]

    def query(self, statement, path):
        result = subprocess.run([BORESCOPE, "query", statement, str(path), "-f", "json", "-q"],
                                cwd=self.folder, capture_output=True, text=True, check=False,
                                env=clean_environment())
        self.assertEqual(result.returncode, 0, result.stderr)
        columns = json.loads(result.stdout)["tables"][0]["columns"]
        return list(zip(*(column["values"] for column in columns)))


def calls_of(log):
    """Names of functions in order of their calls. Raises where calls and returns do not nest; what is still open
    comes second."""
    names = {record.a: record.text for record in log.of(logs.PYTHON_CODE)}
    stacks, called = {}, []
    for record in log.of(logs.PYTHON_CALL, logs.PYTHON_RETURN):
        stack = stacks.setdefault(record.tid, [])
        if record.type == logs.PYTHON_CALL:
            stack.append(record.a)
            called.append(names[record.a])
        elif not stack or stack.pop() != record.a:
            raise logs.LogError(f"a return of {names[record.a]} without its call")
    return called, [names[code] for stack in stacks.values() for code in stack]
