"""What of a program is recorded, from when to when, and where to: --start, --for, --rank-only, --spool."""

import os
import tempfile
import time
import unittest

import logs
from launching import LauncherTest
from support import PROGRAMS

RANGES = str(PROGRAMS / "ranges")
# Ranges until it is killed, after a second.
FOR_A_SECOND = ["timeout", "-s", "KILL", "1", RANGES, "forever", "1", "1"]


class When(LauncherTest):
    def window(self, *options):
        """Seconds from the launcher's start to the first range and to the last."""
        begin = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.record(*FOR_A_SECOND, options=options)
        if not list(self.run_path.glob("*.bsl")):
            return None
        (row,) = self.query("SELECT MIN(ts_ns), MAX(ts_ns) FROM host_events")
        return [int(value) / 1e9 - begin for value in row]

    def test_after(self):
        first, last = self.window("--start", "after:400ms")
        self.assertGreater(first, 0.4)
        self.assertLess(first, 0.9)
        self.assertGreater(last, first)

    def test_for(self):
        first, last = self.window("--for", "200ms")
        self.assertLess(last - first, 0.4)
        self.assertGreater(last - first, 0.1)

    def test_from_then_for_so_long(self):
        first, last = self.window("--start=after:300ms", "--for=200ms")
        self.assertGreater(first, 0.3)
        self.assertLess(last - first, 0.4)

    def test_paused_and_never_started(self):
        self.assertIsNone(self.window("--start=paused", "--for=200ms"))
        self.assertEqual(list(self.run_path.glob("*.bsl")), [])

    def test_a_program_that_ends_before_its_start(self):
        begin = time.monotonic()
        self.assertEqual(self.record("true", options=["--start=after:1h"]).returncode, 0)
        self.assertLess(time.monotonic() - begin, 30)

    def test_errors(self):
        for option, said in (("--start=soon", "none of now"), ("--start=after:x", "no time"),
                             ("--for=0s", "no time"), ("--children=some", "none of all, none"),
                             ("--rank-only=0,x", "rank-only"), ("--api=some", "none of all, launch, none"),
                             ("--api-skip=cudaNone", "no function of CUDA"), ("--api-skip=a;b", "no function"),
                             (f"--api-skip={'hip' * 200}", "more than 500 bytes"), ("--spool=/no/such", "cannot be made")):
            result = self.record("true", options=[option])
            self.assertEqual(result.returncode, 2, (option, result.stderr))
            self.assertIn(said, result.stderr)
            self.assertFalse(self.run_path.is_symlink() or self.run_path.exists(), option)


class Which(LauncherTest):
    def test_calls(self):
        """As the library has them: functions of CUDA by all their numbers, others by name."""
        result = self.record("sh", "-c", "echo $BORESCOPE_RECORD_OPTIONS", options=[
            "--api=launch", "--api-skip=cudaMemcpyAsync,cuLaunchKernel,hipMalloc,ncclSend", "--warm"])
        self.assertEqual(result.returncode, 0, result.stderr)
        words = dict(word.partition("=")[::2] for word in result.stdout.strip().split(";"))
        self.assertEqual((words["api"], words["api-skip"], words["warm"]), ("launch", "hipMalloc,ncclSend", ""))
        self.assertIn("41", words["skip-runtime"].split(","))
        self.assertEqual(words["skip-driver"].split(",")[0], "307")

    def test_ranks(self):
        script = f"for r in 0 1 2 13; do RANK=$r {RANGES} exit 1 50; done; {RANGES} exit 1 50; exit 0"
        result = self.record("sh", "-c", script, options=["--rank-only=0,13"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(log.rank for log in logs.parse_folder(self.run_path)), [0, 13])
        result = self.record("sh", "-c", script, options=["--rank-only=7", "--replace"])
        self.assertIn("; only ranks 7 were to be recorded", result.stderr)

    def test_children(self):
        for which, count in (("all", 1), ("none", 0)):
            script = f"{RANGES} exit 1 50; exit 0"
            self.record("sh", "-c", script, options=[f"--children={which}", "--replace"])
            self.assertEqual(len(logs.parse_folder(self.run_path)), count)


class Spool(LauncherTest):
    def setUp(self):
        super().setUp()
        holder = tempfile.TemporaryDirectory(prefix="borescope-spool-")
        self.addCleanup(holder.cleanup)
        self.spool = holder.name

    def test_logs_are_moved_afterwards(self):
        result = self.record(RANGES, "exit", 2, 3000, options=["--spool", self.spool])
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertEqual(os.listdir(self.spool), [])
        self.assertFalse(self.run_path.is_symlink())
        self.assertEqual(self.run_path.stat().st_mode & 0o777, 0o700)
        (log,) = logs.parse_folder(self.run_path)
        self.assertEqual(log.path.stat().st_mode & 0o777, 0o600)
        self.assertEqual(log.flags & 1, 1)
        self.assertEqual(len(logs.finished(log)), 6000)

    def test_what_others_put_there_is_moved_too(self):
        script = f'mkdir "$BORESCOPE_RECORD/traces"; echo x > "$BORESCOPE_RECORD/traces/y"; {RANGES} exit 1 5; exit 0'
        result = self.record("sh", "-c", script, options=["--spool", self.spool])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.run_path / "traces" / "y").read_text(), "x\n")
        self.assertEqual(os.listdir(self.spool), [])

    def test_the_run_is_found_meanwhile(self):
        with self.running(RANGES, "forever", "1", "1", options=["--spool", self.spool]):
            self.assertTrue(self.run_path.is_symlink())
            self.assertIn("is paused", self.borescope("record", "stop", "x.bsr").stderr)
            self.assertGreater(int(self.query("SELECT COUNT(*) FROM host_events")[0][0]), 0)
        self.assertFalse(self.run_path.is_symlink())
        self.assertEqual(os.listdir(self.spool), [])

    def test_it_stays_while_a_process_records(self):
        script = f"{RANGES} forever 1 1 > /dev/null 2>&1 & sleep 0.5; echo $!"
        result = self.record("sh", "-c", script, options=["--spool", self.spool])
        try:
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("still run", result.stderr)
            self.assertTrue(self.run_path.is_symlink())
            self.assertGreater(int(self.query("SELECT COUNT(*) FROM host_events")[0][0]), 0)
        finally:
            os.kill(int(result.stdout), 9)


if __name__ == "__main__":
    unittest.main()
