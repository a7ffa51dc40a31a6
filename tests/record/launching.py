"""Running `borescope record` as users do."""

import contextlib
import csv
import os
import subprocess
import time

from support import LIBRARY, RecordTest

BORESCOPE = os.environ["BORESCOPE_PROGRAM"]


class LauncherTest(RecordTest):
    """Records into x.bsr of a folder of its own."""

    def setUp(self):
        super().setUp()
        self.run_path = self.folder / "x.bsr"

    def variables(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("LD_PRELOAD", "NVTX_", "CUDA_", "RANK"))}
        return kept | {"BORESCOPE_RECORD_LIBRARY": str(LIBRARY)} | more

    def borescope(self, *arguments, **more):
        return subprocess.run([BORESCOPE, *map(str, arguments)], cwd=self.folder, timeout=120,
                              capture_output=True, text=True, check=False,
                              env=self.variables(**more))

    def record(self, *command, options=(), **more):
        return self.borescope("record", "-o", "x", *options, "--", *command, **more)

    @contextlib.contextmanager
    def running(self, *command, options=()):
        """The launcher of a program that has begun to record; both end with the block."""
        words = [BORESCOPE, "record", "-o", "x", *options, "--", *map(str, command)]
        with subprocess.Popen(words, cwd=self.folder, env=self.variables(), stderr=subprocess.PIPE,
                              text=True) as launcher:
            try:
                deadline = time.monotonic() + 60
                while not list(self.run_path.glob("*.bsl")) and time.monotonic() < deadline:
                    time.sleep(0.01)
                yield launcher
            finally:
                launcher.terminate()
                launcher.communicate(timeout=60)

    def query(self, statement, path="x.bsr"):
        """Rows of texts."""
        result = self.borescope("query", statement, path, "-f", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line for line in result.stdout.splitlines() if not line.startswith("#")]
        return list(csv.reader(lines))[1:]
