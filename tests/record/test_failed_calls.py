"""Calls of the system that fail under `borescope record`: none is read as "there is nothing"."""

import errno
import os
import pathlib
import shutil
import unittest

import logs
from launching import LauncherTest
from support import PROGRAMS

SHIM = os.environ.get("BORESCOPE_FAULT_SHIM", "")
RANGES = str(PROGRAMS / "ranges")
SHORT = "short"


@unittest.skipUnless(pathlib.Path(SHIM).is_file(), "the shim that makes calls fail is not built")
class FailedCalls(LauncherTest):
    def count(self, kind, *arguments, status=0):
        """How many calls of the kind a command makes."""
        counts = self.folder / "counts"
        result = self.borescope(*arguments, LD_PRELOAD=SHIM, FAULT_COUNTS=str(counts))
        self.assertEqual(result.returncode, status, result.stderr)
        return int(dict(line.split() for line in counts.read_text().splitlines()).get(kind, 0))

    def ends(self, kind, error, *arguments, count):
        """The ends of the command where the first of these calls fails, the second, and so on."""
        for at in range(1, count + 1):
            yield self.borescope(*arguments, LD_PRELOAD=SHIM, FAULT_CALL=kind, FAULT_AT=str(at),
                                 FAULT_ERROR=str(error))

    def ranges_in(self, folder):
        return sum(len(log.of(logs.PUSH)) for log in logs.parse_folder(folder))

    def statuses_of_copies(self, kind, error):
        """Of copies of which one call failed: each is whole, or there is none."""
        command = ("record", "flush", "x.bsr", "-o", "y")
        count = self.count(kind, *command)
        copy = self.folder / "y.bsr"
        shutil.rmtree(copy)
        statuses = set()
        for result in self.ends(kind, error, *command, count=count):
            statuses.add(result.returncode)
            self.assertIn(result.returncode, (0, 2), result.stderr)
            self.assertNotIn("No such process", result.stderr)
            self.assertEqual(copy.exists(), result.returncode == 0, result.stderr)
            if copy.exists():
                self.assertEqual(self.ranges_in(copy), 8000, (kind, error, result.stderr))
                shutil.rmtree(copy)
        return statuses

    def test_a_copy_has_all_records_or_is_an_error(self):
        self.assertEqual(self.record(RANGES, "exit", 2, 4000).returncode, 5)
        self.assertEqual(self.ranges_in(self.run_path), 8000)
        self.assertIn(2, self.statuses_of_copies("read", errno.EIO))
        self.statuses_of_copies("read", errno.EINTR)
        self.statuses_of_copies("read", SHORT)
        self.assertIn(2, self.statuses_of_copies("write", errno.ENOSPC))
        self.statuses_of_copies("write", SHORT)

    def marks(self):
        return [record.text for log in logs.parse_folder(self.run_path) for record in log.of(logs.MARK)]

    def forget_marks(self):
        for path in self.run_path.glob("*.marks.bsl"):
            path.unlink()

    def test_a_mark_is_in_the_log_or_an_error(self):
        self.assertEqual(self.record(RANGES, "exit", 1, 10).returncode, 5)
        for kind, error in (("stat", errno.EIO), ("read", errno.EIO), ("read", SHORT), ("lock", errno.ENOLCK),
                            ("write", errno.ENOSPC), ("truncate", errno.ENOSPC)):
            count = self.count(kind, "record", "mark", "x.bsr", "counted")
            self.forget_marks()
            for result in self.ends(kind, error, "record", "mark", "x.bsr", "m", count=count):
                self.assertIn(result.returncode, (0, 2), result.stderr)
                self.assertEqual(self.marks().count("m"), int(result.returncode == 0), (kind, error, result.stderr))
                # What has failed is no hindrance to the next one.
                self.assertEqual(self.borescope("record", "mark", "x.bsr", "next").returncode, 0, (kind, error))
                self.assertEqual(self.marks().count("next"), 1)
                self.forget_marks()  # the next mark makes the log, too

    def test_a_file_system_without_locks_is_recorded_to(self):
        self.assertEqual(self.record(RANGES, "exit", 1, 10).returncode, 5)
        command = ("record", "mark", "x.bsr", "m")
        count = self.count("lock", *command)
        self.assertGreater(count, 1)
        self.forget_marks()
        for error in (errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL):
            for result in self.ends("lock", error, *command, count=count):
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(self.marks(), ["m"])
                self.forget_marks()

    def test_no_log_is_left_out_of_the_status(self):
        self.assertEqual(self.record(RANGES, "exit", 1, 10).returncode, 5)
        count = self.count("open", "record", "status", "x.bsr", "-f", "csv")
        is_unreadable = False
        for result in self.ends("open", errno.EACCES, "record", "status", "x.bsr", "-f", "csv", count=count):
            if result.returncode == 0:
                self.assertEqual(len(result.stdout.splitlines()), 3, result.stdout)
                is_unreadable |= ",unreadable," in result.stdout
            else:
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn("Permission denied", result.stderr)
        self.assertTrue(is_unreadable)

    def test_a_log_that_cannot_be_looked_at_afterwards_is_said(self):
        """The end of `record`: no refused call makes it say that the program used nothing of ours."""
        command = ("record", "--replace", "-o", "x", "--", RANGES, "exit", 1, 10)
        self.assertEqual(self.borescope(*command).returncode, 5)  # what is replaced takes calls, too
        count = self.count("open", *command, status=5)
        self.assertGreater(count, 5)
        for result in self.ends("open", errno.EACCES, *command, count=count):
            if result.returncode != 5:  # the program was not started
                self.assertEqual(result.returncode, 2, result.stderr)
            self.assertNotIn("used neither", result.stderr)


if __name__ == "__main__":
    unittest.main()
