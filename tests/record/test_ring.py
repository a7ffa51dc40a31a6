"""The flight recorder: the last part of each log, complete, however a process ends."""

import os
import random
import signal
import subprocess
import time
import unittest

import logs
from launching import LauncherTest
from support import PROGRAMS, Counters, environment

WINDOW_MS = 25
KILLS = int(os.environ.get("BORESCOPE_RING_KILLS", "6"))
OVERWROTE = 7


class Ring(LauncherTest):
    def run_until_killed(self, threads, seconds, options=f"ring-ms={WINDOW_MS}"):
        """Returns how many ranges were finished."""
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        path = self.folder.parent / "counters"
        counters = Counters(path)
        command = [PROGRAMS / "ranges", "forever", str(threads), "0", path]
        with subprocess.Popen(command, env=environment(self.folder, options)) as process:
            while counters.total() == 0:
                time.sleep(0.001)
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
            process.wait()
        return counters.total()

    def kept(self, log):
        """By thread, (number, begin, end) of the ranges that are whole, as they follow each other."""
        open_ranges, ranges = {}, {}
        for record in sorted_records(log):
            if record.type == logs.PUSH:
                open_ranges[record.tid] = record
            elif record.type == logs.POP and record.tid in open_ranges:
                begin = open_ranges.pop(record.tid)
                thread, number = begin.text.split()
                ranges.setdefault(thread, []).append((int(number[1:]), begin.body[0], record.body[0]))
        return ranges

    def expect_no_gap(self, rows):
        numbers = [row[0] for row in rows]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))
        return numbers

    def expect_window(self, log, finished, threads):
        """No range within the window is missing; what is missing is older, and is said."""
        ranges = self.kept(log)
        begin = max(rows[-1][2] for rows in ranges.values()) - WINDOW_MS * 1_000_000
        self.assertEqual(len(ranges), threads)
        total = 0
        for name, rows in ranges.items():
            numbers = self.expect_no_gap(rows)
            if numbers[0] > 0:
                self.assertLess(rows[0][1], begin, name)
            total += numbers[-1] + 1
        self.assertLessEqual(abs(total - finished), threads)
        (state,) = [record for record in log.of(logs.STATE) if record.a == OVERWROTE]
        overwritten_until, first, chunks = state.body
        lost = any(rows[0][0] > 0 for rows in ranges.values())
        self.assertEqual(chunks > 0, lost)
        if lost:
            self.assertLess(overwritten_until, begin)
            self.assertLess(first, overwritten_until)
        return chunks

    def test_kill_at_random_times(self):
        dice = random.Random(30)
        overwritten = 0
        for _ in range(KILLS):
            threads = dice.choice((1, 2, 4))
            finished = self.run_until_killed(threads, dice.uniform(0.05, 0.4))
            (log,) = logs.parse_folder(self.folder)
            overwritten += self.expect_window(log, finished, threads)
        self.assertGreater(overwritten, 0)

    def test_the_log_stops_growing(self):
        self.run_until_killed(1, 0.2)
        once = next(self.folder.glob("*.bsl")).stat().st_size
        self.run_until_killed(1, 1)
        self.assertLess(next(self.folder.glob("*.bsl")).stat().st_size, 2.5 * once)

    def test_a_limit_of_bytes_keeps_what_fits(self):
        for options in (f"ring-ms={WINDOW_MS};max-bytes=1000000", "ring-ms=3600000;max-bytes=1000000"):
            self.run_until_killed(2, 0.4, options)
            (log,) = logs.parse_folder(self.folder)
            self.assertLessEqual(log.path.stat().st_size, 1_000_000)
            for name, rows in self.kept(log).items():
                self.assertGreater(self.expect_no_gap(rows)[0], 0, name)
            self.assertEqual(log.states(), [OVERWROTE])

    def test_threads_that_come_and_go(self):
        result = self.run_program("ranges", "one", 1000, 5, options="ring-ms=20")
        self.assertEqual(result.returncode, 5)
        (log,) = logs.parse_folder(self.folder)
        self.assertLess(log.path.stat().st_size, 1000 * 65536)
        last = max(self.kept(log).items(), key=lambda item: item[1][-1][2])
        self.assertEqual([row[0] for row in last[1]][-5:], list(range(5)))

    def test_children_have_rings_of_their_own(self):
        result = self.run_program("ranges", "forks", 4, 5000, options="ring-ms=60000")
        self.assertEqual(result.returncode, 5)
        parsed = logs.parse_folder(self.folder)
        self.assertEqual(len(parsed), 51)
        for log in parsed:
            self.assertEqual(len(logs.finished(log)), 10 if log.flags & 2 else 15_000)

    def test_names_outlive_the_window(self):
        """What records refer to was said long before, and is kept."""
        result = self.run_program("ranges", "registered", 1, 300_000, options="ring-ms=1")
        self.assertEqual(result.returncode, 5, result.stderr)
        (log,) = logs.parse_folder(self.folder)
        pushed = log.of(logs.PUSH)
        self.assertLess(len(pushed), 200_000)
        self.assertEqual({log.text(record) for record in pushed[:1000]}, {"said once"})
        rows = self.query("SELECT DISTINCT name FROM host_events", log.path)
        self.assertEqual(rows, [["registered:said once"]])

    def test_the_reader_agrees(self):
        self.run_until_killed(2, 0.3)
        (log,) = logs.parse_folder(self.folder)
        ranges = self.kept(log)
        expected = sorted([f"{thread} i{number}", str(end - begin)] for thread, rows in ranges.items()
                          for number, begin, end in rows)
        rows = self.query("SELECT name, dur_ns FROM host_events ORDER BY 1, 2", log.path)
        # One of each thread may have been open at the kill.
        self.assertLessEqual(len(rows) - len(expected), 2)
        missing = set(map(tuple, expected)) - set(map(tuple, rows))
        self.assertEqual(missing, set())
        checks = self.borescope("doctor", log.path, "-f", "csv").stdout
        self.assertIn("recording-gap", checks)
        self.assertNotIn("torn-chunk", checks)

    def test_a_server_is_copied_while_it_runs(self):
        path = self.folder.parent / "counters"
        counters = Counters(path)
        with self.running(PROGRAMS / "ranges", "forever", "2", "0", path,
                          options=["--ring", f"{WINDOW_MS}ms"]):
            for number in range(2):
                time.sleep(0.2)
                finished = counters.by_thread()
                result = self.borescope("record", "flush", "x.bsr", "-o", f"copy{number}")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn(f"borescope summary copy{number}.bsr", result.stderr)
                (log,) = logs.parse_folder(self.folder / f"copy{number}.bsr")
                for name, rows in self.kept(log).items():
                    self.expect_no_gap(rows)
                    self.assertGreaterEqual(rows[-1][0] + 1, finished[int(name[1:])], name)
                    # The copy began a little before its last record.
                    self.assertGreater(rows[-1][2] - rows[0][1], WINDOW_MS * 700_000, name)
            self.assertEqual(self.borescope("record", "flush", "x.bsr", "-o", "copy1").returncode, 2)


def sorted_records(log):
    """Of chunks in the order of time, which in a ring is not that of the file."""
    return sorted((record for record in log.records if record.type in (logs.PUSH, logs.POP)),
                  key=lambda record: record.body[0])


if __name__ == "__main__":
    unittest.main()
