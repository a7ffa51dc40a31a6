"""`borescope open` of a recording that still runs: its steps come while it runs, what is not known yet is marked, and in
the end they are those of `borescope breakdown --by step`.

BORESCOPE_LIVE_STEPS says how many steps of about 60 ms the program records: 60 by default, 1000 for a minute.
"""

import contextlib
import csv
import json
import os
import signal
import subprocess
import time
import unittest
import urllib.error
import urllib.request

from launching import BORESCOPE, LauncherTest
from support import LIBRARY, PROGRAMS

STEPS = int(os.environ.get("BORESCOPE_LIVE_STEPS", "60"))
KERNELS = 12  # of a step
KEPT = 40  # steps that a page has
BUSY_RANGES = 4_000_000  # of a thread of the rank that writes much
PARTS = ("busy_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns", "idle_ns", "span_ns")


class Live(LauncherTest):
    def variables(self, **more):
        return super().variables(
            BORESCOPE_CUPTI=str(PROGRAMS / "libsimcupti.so"), LD_LIBRARY_PATH=str(PROGRAMS), SIMCUPTI_VERSION="28",
            SIMCUPTI_FAULT="", CUDA_INJECTION64_PATH=str(LIBRARY), **more)

    @contextlib.contextmanager
    def program(self, how, steps):
        words = [BORESCOPE, "record", "-o", "x", "--", PROGRAMS / "device", how, "1", KERNELS, steps]
        with subprocess.Popen([*map(str, words)], cwd=self.folder, env=self.variables(), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as launcher:
            try:
                self.wait_for(lambda: list(self.run_path.glob("*.bsl")))
                yield launcher
            finally:
                launcher.terminate()
                launcher.communicate(timeout=60)

    @contextlib.contextmanager
    def ranks(self, quiet, steps, busy_ranges):
        """One rank that writes nothing but ranges, a step of them, beside quiet ranks with few events a step."""
        script = f"RANK=0 {PROGRAMS / 'ranges'} exit 2 {busy_ranges} & " + "".join(
            f"RANK={rank} {PROGRAMS / 'device'} steps 1 {KERNELS} {steps} & " for rank in range(1, quiet + 1)) + "wait"
        words = [BORESCOPE, "record", "-o", "x", "--", "sh", "-c", script]
        with subprocess.Popen(words, cwd=self.folder, env=self.variables(), text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE) as launcher:
            try:
                self.wait_for(lambda: len(list(self.run_path.glob("**/*.bsl"))) > quiet)
                yield launcher
            finally:
                launcher.terminate()
                launcher.communicate(timeout=60)

    @contextlib.contextmanager
    def served(self, *options, **more):
        """The address of the news of the page."""
        words = [BORESCOPE, "open", str(self.run_path), "--no-browser", "--port", "0", *options]
        with subprocess.Popen(words, cwd=self.folder, env=self.variables(), text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, **more) as server:
            try:
                address = server.stdout.readline().strip()
                self.assertTrue(address.startswith("http://127.0.0.1:"), address)
                yield address.rsplit("/", 1)[0] + "/live"
            finally:
                server.send_signal(signal.SIGINT)
                self.said = server.communicate(timeout=60)[1]

    def wait_for(self, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not what() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(what())

    def news(self, address):
        with urllib.request.urlopen(address, timeout=60) as answer:
            return json.load(answer)

    def run_of(self, address):
        runs = self.news(address)["runs"]
        self.assertLessEqual(len(runs), 1)
        return runs[0] if runs else {"state": "none", "steps": []}

    def breakdown(self):
        """By step: the parts of its device time, as the whole recording has them."""
        result = self.borescope("breakdown", "--by", "step", "x.bsr", "-f", "csv", "--top", "all")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line for line in result.stdout.splitlines() if line and not line.startswith("#")]
        return {int(row["step"]): {part: int(row[part]) for part in PARTS}
                for row in csv.DictReader(lines) if row.get("step")}

    def expect_sums(self, step):
        parts = step["compute_ns"] + step["exposed_comm_ns"] + step["exposed_copy_ns"]
        self.assertEqual(parts, step["busy_ns"])
        self.assertEqual(step["busy_ns"] + step["idle_ns"], step["span_ns"])

    def test_steps_come_while_the_program_runs(self):
        seen, marked, states = set(), set(), set()
        late = []
        with self.program("steps", STEPS) as launcher, self.served() as address:
            while launcher.poll() is None:
                run = self.run_of(address)
                states.add(run["state"])
                for step in run["steps"]:
                    self.expect_sums(step)
                    seen.add(step["step"])
                    if step["state"] != "whole":
                        marked.add(step["step"])
                    else:
                        self.assertEqual((step["launches"], step["unreported"]), (KERNELS, 0))
                late.append(len(seen))
                time.sleep(0.2)
            self.wait_for(lambda: self.run_of(address)["state"] == "ended")
            self.wait_for(lambda: self.run_of(address)["steps"][-1]["step"] == STEPS - 1)
            last = self.run_of(address)
        self.assertIn("running", states)
        # They came bit by bit, and the last one was not known as a whole while it ran.
        self.assertGreaterEqual(len(set(late)), 3, late)
        self.assertTrue(marked)
        self.assertEqual([step["step"] for step in last["steps"]], list(range(max(0, STEPS - KEPT), STEPS)))
        self.assertEqual({step["state"] for step in last["steps"]}, {"whole"})
        self.assertEqual(last["text"], "The recording has ended.")
        self.assertEqual(last["notes"], [])
        truth = self.breakdown()
        for step in last["steps"]:
            self.assertEqual({part: step[part] for part in PARTS}, truth[step["step"]], step)
            self.assertEqual(step["gpu"], 1)  # as the simulation has it
            # Twelve kernels of 4 ms, four of which communicate.
            self.assertEqual((step["busy_ns"], step["exposed_comm_ns"]), (48_000_000, 16_000_000))
        self.assertIn("still being written", self.said)

    def test_a_rank_that_writes_much_does_not_hold_back_the_others(self):
        # Until 2026-11-28 all ranks were read one after the other, at the pace of the slowest: the last steps of the
        # others were up to 12 s old.
        ages = {}
        with self.ranks(quiet=3, steps=200, busy_ranges=BUSY_RANGES) as launcher, self.served() as address:
            while launcher.poll() is None:
                for run in self.news(address)["runs"]:
                    if run["rank"] == 0 or run["state"] != "running" or not run["steps"]:
                        continue
                    last = run["steps"][-1]
                    ages.setdefault(run["rank"], []).append(time.time() - (last["begin_ms"] / 1e3 + last["host_ns"] / 1e9))
                time.sleep(0.2)
            written = sum(path.stat().st_size for path in self.run_path.glob("**/*.bsl"))
        self.assertEqual(set(ages), {1, 2, 3})
        self.assertGreater(written, BUSY_RANGES * 50)
        worst = {rank: max(found) for rank, found in ages.items()}
        print(f"age of the last step, at most, beside {written >> 20} MB: {worst}")
        for rank, found in ages.items():
            self.assertLess(sorted(found)[len(found) * 3 // 4], 4, (rank, worst))
            self.assertLess(max(found), 8, (rank, worst))

    def test_a_pause_is_seen_by_who_may_only_read(self):
        """As root, by another user: root may change anything."""
        somebody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if somebody and subprocess.run([BORESCOPE, "--version"], capture_output=True, check=False, **somebody).returncode:
            self.skipTest("another user may not run the program")
        for folder in (self.folder.parent, self.folder):
            folder.chmod(0o755)
        with self.program("steps", 1000):
            self.run_path.chmod(0o755)
            for log in self.run_path.glob("*.bsl"):
                log.chmod(0o644)
            control = self.run_path / "control"
            self.assertEqual(self.borescope("record", "stop", "x.bsr").returncode, 0)
            control.chmod(0o444)
            with self.served(**somebody) as address:
                self.wait_for(lambda: self.run_of(address)["state"] == "paused")
                control.chmod(0)
                self.wait_for(lambda: self.run_of(address)["state"] == "running")
                text = self.run_of(address)["text"]
        self.assertIn("Whether it records or is paused cannot be seen", text)
        self.assertIn("Permission denied", text)

    def test_a_program_that_is_killed(self):
        with self.program("steps-kill", 8) as launcher, self.served("--report") as address:
            self.wait_for(lambda: self.run_of(address)["state"] == "running")
            launcher.wait(timeout=60)
            self.wait_for(lambda: self.run_of(address)["state"] == "ended")
            self.wait_for(lambda: self.run_of(address)["steps"][-1]["step"] == 7)
            last = self.run_of(address)
        self.assertRegex(last["text"], r"^Process \d+ was ended by signal 9\.$")
        # Device records are fetched every 100 ms: those of the last steps may be lost, which is said.
        *ended, killed = last["steps"]
        self.assertEqual({step["state"] for step in ended[:-3]}, {"whole"})
        for step in ended:
            self.assertEqual(step["state"] == "whole", step["unreported"] == 0, step)
        self.assertEqual(killed["state"], "running")

    def test_what_has_ended_is_a_report_like_any_other(self):
        with self.program("steps", 3) as launcher:
            launcher.wait(timeout=60)
        with self.served("--report") as address:
            time.sleep(1.5)
            self.assertEqual(self.news(address)["runs"], [])


if __name__ == "__main__":
    unittest.main()
