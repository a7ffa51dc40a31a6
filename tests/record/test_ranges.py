"""No range is lost, however a process ends."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import logs
from support import PROGRAMS, Counters, RecordTest, environment

KILLS = int(os.environ.get("BORESCOPE_RECORD_KILLS", "20"))


class Ranges(RecordTest):
    def expect(self, log, threads, count, first=0):
        done = logs.finished(log)
        expected = sorted(f"t{t} i{i}" for t in range(first, threads) for i in range(count))
        self.assertEqual(sorted(text for _, text in done), expected)
        # Every thread of the program is one of the log.
        self.assertEqual(len({(tid, text.split()[0]) for tid, text in done}), threads - first)

    def test_pairs_of_many_threads(self):
        for threads in (1, 3, 16):
            with self.subTest(threads=threads):
                for log in self.folder.iterdir():
                    log.unlink()
                self.assertEqual(self.run_program("ranges", "exit", threads, 3000).returncode, 5)
                self.expect(self.only_log(), threads, 3000)

    def test_many_threads_with_many_ranges(self):
        self.assertEqual(self.run_program("ranges", "exit", 64, 500).returncode, 5)
        self.expect(self.only_log(), 64, 500)

    def test_threads_that_end_leave_little(self):
        result = self.run_program("ranges", "one", 2000, 2)
        self.assertEqual(result.returncode, 5)
        # glibc keeps stacks of threads, a few.
        self.assertLess(int(result.stdout), 20)
        log = self.only_log()
        self.assertEqual(len(logs.finished(log)), 4002)
        # A page for each, of the 16 KiB that were taken.
        used = log.path.stat().st_blocks * 512
        self.assertLess(used, 2000 * 6000 + 200_000)

    def test_ends(self):
        for how, status in (("_exit", 7), ("abort", -6), ("segv", -11)):
            with self.subTest(how=how):
                for log in self.folder.iterdir():
                    log.unlink()
                self.assertEqual(self.run_program("ranges", how, 3, 1000).returncode, status)
                log = self.only_log()
                self.expect(log, 3, 1000)
                self.assertEqual(log.of(logs.END), [])

    def test_an_exit_is_said(self):
        self.run_program("ranges", "exit", 1, 1)
        self.assertEqual([end.a for end in self.only_log().of(logs.END)], [1])

    def test_exec_begins_another_log(self):
        self.assertEqual(self.run_program("ranges", "exec", 2, 500).returncode, 5)
        first, second = self.parse()
        self.assertEqual((first.pid, first.image, second.image), (second.pid, 0, 1))
        for log in (first, second):
            self.expect(log, 2, 500)

    def test_children(self):
        for how in ("fork", "clone"):
            with self.subTest(how=how):
                for log in self.folder.iterdir():
                    log.unlink()
                self.assertEqual(self.run_program("ranges", how, 1, 800).returncode, 3)
                child, parent = sorted(self.parse(), key=lambda log: -(log.flags & 2))
                self.assertEqual((child.flags & 2, parent.flags & 2), (2, 0))
                self.expect(child, 2, 800, first=1)
                self.assertEqual(len(logs.finished(parent)), 1600)

    def test_children_left_out(self):
        result = self.run_program("ranges", "fork", 1, 100, options="children=none")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(len(logs.finished(self.only_log())), 200)

    def test_children_of_a_process_with_threads(self):
        self.assertEqual(self.run_program("ranges", "forks", 4, 5000).returncode, 5)
        parsed = self.parse()
        self.assertEqual(len(parsed), 51)
        for log in parsed:
            self.assertEqual(len(logs.finished(log)), 10 if log.flags & 2 else 15_000)

    def test_ranges_in_a_signal_handler_harm_nothing(self):
        # Memory file systems interrupt an allocation for every signal.
        if os.access("/dev/shm", os.W_OK):
            holder = tempfile.TemporaryDirectory(prefix="borescope-record-", dir="/dev/shm")
            self.addCleanup(holder.cleanup)
            self.folder = Path(holder.name)
        self.assertEqual(self.run_program("ranges", "handler", 1, 300_000).returncode, 5)
        log = self.only_log()
        self.assertEqual(log.states(), [])
        pushed = [r.text for r in log.of(logs.PUSH) if r.text != "in a handler"]
        self.assertGreaterEqual(len(pushed), 299_000)

    def test_vfork(self):
        self.assertEqual(self.run_program("ranges", "vfork", 1, 100).returncode, 5)
        self.expect(self.only_log(), 1, 100)

    def end_by(self, sent, threads, seconds):
        """Runs until a signal; returns (ranges finished, ranges in the log)."""
        for log in self.folder.iterdir():
            log.unlink()
        counters = Counters(self.folder.parent / "counters")
        command = [PROGRAMS / "ranges", "forever", str(threads), "0", self.folder.parent / "counters"]
        with subprocess.Popen(command, env=environment(self.folder)) as process:
            while counters.total() == 0:
                time.sleep(0.001)
            time.sleep(seconds)
            process.send_signal(sent)
            self.assertEqual(process.wait(), -sent)
        return counters.total(), len(logs.finished(self.only_log()))

    def test_kill_at_random_times(self):
        dice = random.Random(21)
        finished, lost = 0, 0
        for _ in range(KILLS):
            threads = dice.choice((1, 2, 4, 16))
            done, kept = self.end_by(signal.SIGKILL, threads, dice.uniform(0, 0.02))
            # The last range of a thread may be in the log and not yet counted.
            self.assertLessEqual(kept - done, threads)
            finished += done
            lost += max(0, done - kept)
        print(f"{KILLS} kills, {finished} ranges finished, {lost} lost", file=sys.stderr)
        self.assertEqual(lost, 0)

    def test_signals(self):
        for sent in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=sent):
                done, kept = self.end_by(sent, 2, 0.03)
                self.assertIn(kept - done, (0, 1, 2))


if __name__ == "__main__":
    unittest.main()
