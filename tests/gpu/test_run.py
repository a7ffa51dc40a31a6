"""tests/gpu/run.sh on any machine: it comes to its end, and each check has its row and its reason."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).parent
BUILD = os.environ.get("BORESCOPE_BUILD", "no-such-build")


class Run(unittest.TestCase):
    def run_list(self, *options, build=BUILD, path="/usr/bin:/bin"):
        with tempfile.TemporaryDirectory() as out:
            result = subprocess.run([HERE / "run.sh", build, out, *options], capture_output=True, text=True,
                                    check=False, timeout=300, env={"PATH": path, "PYTHON": sys.executable})
            report = json.loads((Path(out) / "report.json").read_text(encoding="utf-8"))
        return result, report

    def test_without_a_gpu_all_is_skipped(self):
        # No folder with nvidia-smi or nvcc, so that a GPU of this machine is not in the way.
        with tempfile.TemporaryDirectory() as folder:
            for name in ("sh", "env", "dirname", "find"):
                for place in ("/usr/bin", "/bin"):
                    if not (Path(folder) / name).exists() and Path(place, name).exists():
                        (Path(folder) / name).symlink_to(Path(place, name))
            result, report = self.run_list(path=folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["number"] for row in report["checks"]], list(range(1, 19)))
        for row in report["checks"]:
            self.assertEqual(row["status"], "skipped", row)
            self.assertTrue(row["reason"] and row["expected"] and row["title"])
        self.assertIn("system", report["machine"])

    def test_some_of_it(self):
        result, report = self.run_list("--only", "2,17", build="/no/such/build")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["number"] for row in report["checks"]], [2, 17])
        self.assertIn("is missing", report["checks"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
