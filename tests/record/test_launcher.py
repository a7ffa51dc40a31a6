"""`borescope record`: the launcher, and that other verbs read what it leaves."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import logs
from launching import BORESCOPE, LauncherTest
from support import LIBRARY, PROGRAMS

RANGES = str(PROGRAMS / "ranges")


def counted(path):
    """Ranges that the first thread of `ranges` has finished, so far."""
    return int.from_bytes(path.read_bytes()[:8], sys.byteorder) if path.exists() else 0


class Launcher(LauncherTest):
    def info(self, path="x.bsr"):
        result = self.borescope("info", path, "-f", "json")
        self.assertEqual(result.returncode, 0, result.stderr)
        tables = {table["name"]: table for table in json.loads(result.stdout)["tables"]}
        columns = {column["name"]: column["values"] for column in tables["traces"]["columns"]}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]

    def test_a_recording_is_an_input(self):
        result = self.record(RANGES, "exit", 3, 500)
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn("the program ended with status 5", result.stderr)
        self.assertIn("borescope summary x.bsr", result.stderr)
        (row,) = self.info()
        self.assertEqual((row["format"], row["host_events"], row["threads"]), ("recording", 1500, 3))
        self.assertEqual(self.run_path.stat().st_mode & 0o777, 0o700)
        for file in self.run_path.iterdir():
            self.assertEqual(file.stat().st_mode & 0o777, 0o600, file)

    def test_a_signal_is_the_status(self):
        result = self.record(RANGES, "segv", 2, 100)
        self.assertEqual(result.returncode, -signal.SIGSEGV, result.stderr)
        self.assertIn("ended by signal 11", result.stderr)
        self.assertEqual(self.info()[0]["host_events"], 200)

    def test_the_status_counts_where_ends_of_children_are_ignored(self):
        """Some launchers of jobs leave SIGCHLD ignored, and then the system forgets how children end."""
        command = [BORESCOPE, "record", "-o", "x", "--postmortem", "--", "sh", "-c", "exit 7"]
        result = subprocess.run(command, cwd=self.folder, env=self.variables(), capture_output=True, text=True,
                                timeout=120, check=False,
                                preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 7, result.stderr)
        self.assertIn("the program ended with status 7", result.stderr)

    def test_who_ends_the_launcher_ends_the_program(self):
        command = [BORESCOPE, "record", "-o", "x", "--", RANGES, "forever", "1", "1", "counted"]
        launcher = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True,
                                    env=os.environ | {"BORESCOPE_RECORD_LIBRARY": str(LIBRARY)})
        deadline = time.monotonic() + 60
        while not counted(self.folder / "counted") and time.monotonic() < deadline:
            time.sleep(0.01)
        launcher.terminate()
        said = launcher.communicate(timeout=60)[1]
        self.assertEqual(launcher.returncode, -signal.SIGTERM, said)
        self.assertGreater(self.info()[0]["host_events"], 0)

    def test_a_program_that_is_killed(self):
        """What it finished is exact, and what was open ends with its last record."""
        # Killed once it has counted ranges that it finished, however long a busy machine takes to begin.
        script = (f"{RANGES} forever 1 1 counted & until tr -d '\\0' <counted 2>/dev/null | grep -q .; "
                  "do sleep 0.01; done; kill -9 $!; wait; exit 3")
        result = self.record("sh", "-c", script)
        self.assertEqual(result.returncode, 3, result.stderr)
        finished = counted(self.folder / "counted")
        (row,) = self.info()
        self.assertGreater(finished, 0)
        self.assertIn(row["host_events"] - finished, (0, 1, 2))  # killed between a record and its count, or in one
        statement = "SELECT COUNT(*), SUM(dur_ns > 1000000000) FROM host_events"
        table = self.borescope("query", statement, "x.bsr", "-f", "csv").stdout.splitlines()
        self.assertEqual(table[-1], f"{row['host_events']},0")

    def test_what_may_be_sensitive_is_named(self):
        self.record(RANGES, "exit", 1, 10, WORLD_SIZE="4")
        checks = self.borescope("doctor", "x.bsr", "-f", "csv").stdout
        self.assertIn("sensitive-environment", checks)
        self.assertIn("sensitive-processes", checks)

    def test_children_and_ranks(self):
        script = f'for r in 0 1; do RANK=$r WORLD_SIZE=2 {RANGES} exit 1 50; done; exit 0'
        self.assertEqual(self.record("sh", "-c", script).returncode, 0)
        rows = self.info()
        self.assertEqual([(row["rank"], row["host_events"]) for row in rows], [(0, 50), (1, 50)])
        # Each once, however it is named.
        logs = sorted(str(path) for path in self.run_path.glob("*.bsl"))
        self.assertEqual(self.borescope("info", *logs, "-f", "csv").stdout,
                         self.borescope("info", self.run_path, "-f", "csv").stdout)

    def test_without_children(self):
        script = f'{RANGES} exit 1 50; exit 0'
        result = self.record("sh", "-c", script, options=["--no-children"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("nothing was recorded", result.stderr)

    def test_the_same_rows_from_converted_files(self):
        statement = "SELECT name, pid, tid, dur_ns FROM host_events ORDER BY 1, 2, 3, 4"
        for name in ("x.json.gz", "x.rpd"):
            result = self.borescope("record", "--replace", "-o", name, "--", RANGES, "exit", 2, 300)
            self.assertEqual(result.returncode, 5, result.stderr)
            self.assertIn(f"wrote {name}", result.stderr)
            tables = [self.borescope("query", statement, path, "-f", "csv").stdout
                      for path in ("x.bsr", name)]
            self.assertEqual(*tables)
            self.assertEqual(len(tables[0].splitlines()), 602)

    def test_paused_until_started(self):
        program = str(PROGRAMS / "api")
        result = self.record(program, options=["--paused"])
        self.assertEqual(result.returncode, 0, result.stderr)
        texts = self.borescope("query", "SELECT name FROM host_events", "x.bsr", "-f", "csv")
        self.assertNotIn("outer", texts.stdout)
        self.assertIn("range", texts.stdout)

    def test_start_stop_and_status(self):
        self.record(RANGES, "exit", 1, 10)
        for verb, said in (("stop", "is paused"), ("start", "records")):
            result = self.borescope("record", verb, "x.bsr")
            self.assertEqual((result.returncode, said in result.stderr), (0, True), result.stderr)
        status = self.borescope("record", "status", "x.bsr", "-f", "csv")
        self.assertIn("ended", status.stdout)
        self.assertEqual(len(status.stdout.splitlines()), 3)
        self.assertEqual(self.borescope("record", "status", self.folder).returncode, 2)

    def test_a_folder_that_is_gone_does_not_hide_the_status(self):
        for command in ("rm -rf x.bsr; exit 3", "mv x.bsr y; exit 3"):
            result = self.record("sh", "-c", command)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertIn("x.bsr: was renamed or removed while the program ran", result.stderr)

    def leave(self, how, *more):
        shutil.rmtree(self.run_path, ignore_errors=True)
        result = self.record(PROGRAMS / "leaves", how, self.run_path, *more)
        if how in ("chroot", "setuid", "filter") and result.returncode == 4:
            self.skipTest("the rights are not there")
        self.assertEqual(result.returncode, 7, result.stderr)
        return result

    def test_who_leaves_the_folder_records_on(self):
        for how in ("stay", "close", "chroot", "setuid"):
            with self.subTest(how):
                self.leave(how)
                self.assertEqual(self.info()[0]["host_events"], 50_010)

    def test_who_has_no_proc_is_not_called_ended(self):
        """It cannot say when it began, nor since which start of the machine."""
        if os.geteuid() != 0:
            self.skipTest("only root can leave the file system")
        empty = self.folder / "empty"
        empty.mkdir()
        script = (f"import ctypes, os, time\nlibrary = ctypes.CDLL(None)\nos.chroot({str(empty)!r})\n"
                  "library.borescope_record_mark(b'here')\ntime.sleep(60)")
        with self.running(sys.executable, "-c", script):
            status = self.borescope("record", "status", "x.bsr", "-f", "csv")
            self.assertIn(",recording,", status.stdout)

    def test_who_leaves_before_the_first_range(self):
        self.leave("chroot", "first")
        self.assertEqual(self.info()[0]["host_events"], 50_000)
        # Nobody else may write into the folder, by whatever descriptor: it is said.
        result = self.leave("setuid", "first")
        self.assertIn("1 process could not write its log: Permission denied", result.stderr)

    def test_where_calls_of_the_system_are_refused_the_program_runs_on(self):
        result = self.leave("filter")
        self.assertIn("could not write its log", result.stderr)
        self.assertIn(self.info()[0]["host_events"], range(10, 50_000))

    def test_a_folder_that_is_renamed_is_recorded_into(self):
        result = self.leave("rename")
        self.assertIn("x.bsr: was renamed or removed while the program ran", result.stderr)
        self.assertEqual(self.info("x.bsr.new")[0]["host_events"], 50_010)

    def test_children_of_children_keep_no_more_descriptors(self):
        self.leave("forks")
        self.assertEqual(len(list(self.run_path.glob("*.bsl"))), 21)

    def test_without_a_log_recording_ends(self):
        self.assertIn("x.bsr: its files were removed while the program ran", self.leave("remove").stderr)
        self.assertIn("1 process could not write its log: No such file or directory", self.leave("remove-logs").stderr)
        self.leave("close-chroot")
        log = logs.parse_folder(self.run_path)[0]
        self.assertEqual(log.states(), [3])
        self.assertGreater(log.of(logs.DROPPED)[0].body[0], 0)

    def test_a_log_that_cannot_be_made_is_said(self):
        result = self.record("sh", "-c", f"ulimit -f 1; {RANGES} exit 1 10; {RANGES} exit 1 10; exit 0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("nothing was recorded: 2 processes could not write their logs: File too large", result.stderr)
        result = self.record("sh", "-c", f"(ulimit -f 1; exec {RANGES} exit 1 10); {RANGES} exit 1 10",
                             options=["--replace"])
        self.assertIn("recorded x.bsr: 1 process", result.stderr)
        self.assertIn("1 process could not write its log: File too large", result.stderr)

    def test_marks_from_outside(self):
        self.record(RANGES, "exit", 1, 10)
        for text in ("phase é", "x" * 5000):
            result = self.borescope("record", "mark", "x.bsr", text)
            self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.query("SELECT name, dur_ns FROM host_events WHERE kind = 'annotation' AND name "
                          "NOT LIKE 't0%' ORDER BY ts_ns")
        self.assertEqual(rows, [["phase é", "0"], ["x" * 4096, "0"]])
        (row,) = self.info()
        self.assertEqual((row["host_events"], row["format"]), (12, "recording"))
        self.assertEqual(self.borescope("doctor", "x.bsr", "-f", "csv").stdout.count("torn-chunk"), 0)
        self.assertIn("launcher", self.borescope("record", "status", "x.bsr", "-f", "csv").stdout)
        self.assertEqual(self.borescope("record", "mark", self.folder, "x").returncode, 2)

    def test_flush_from_outside(self):
        """Device work that CUPTI would keep until the end is in the log of a program that is killed."""
        command = [BORESCOPE, "record", "-o", "x", "--flush", "60s", "--", PROGRAMS / "device", "wait", "2", "500"]
        variables = os.environ | {
            "BORESCOPE_RECORD_LIBRARY": str(LIBRARY), "SIMCUPTI_VERSION": "28",
            "BORESCOPE_CUPTI": str(PROGRAMS / "libsimcupti.so"), "LD_LIBRARY_PATH": str(PROGRAMS)}
        with subprocess.Popen(command, cwd=self.folder, env=variables, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as launcher:
            launcher.stdout.readline()
            result = self.borescope("record", "flush", "x.bsr")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("1 process fetched", result.stderr)
            launcher.stdin.close()
            self.assertEqual(launcher.wait(60), -signal.SIGKILL)
        kernels = self.borescope("query", "SELECT COUNT(*) FROM kernels", "x.bsr", "-f", "csv")
        self.assertEqual(kernels.stdout.split()[-1], "1000")
        result = self.borescope("record", "flush", "x.bsr")
        self.assertIn("0 processes fetched", result.stderr)

    def test_a_folder_of_dumps_that_cannot_be_made_is_said(self):
        (self.folder / "x.postmortem").write_text("")
        result = self.record("true", options=["--postmortem"])
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertRegex(result.stderr, "x.postmortem: the folder of dumps cannot be made: (File exists|Not a dir)")
        self.assertFalse(self.run_path.exists())

    def test_errors_name_their_remedy(self):
        cases = (
            ((), "borescope record -- PROGRAM"),
            (("python", "x.py"), "put -- before the program"),
            (("--", "/no/such/program"), "cannot be started"),
            (("-o", "%z", "--", "true"), "placeholders are"),
            (("--max-bytes", "much", "--", "true"), "max-bytes"),
            (("start",), "name one folder"),
            (("mark", "x.bsr"), "and a text"),
        )
        for arguments, said in cases:
            result = self.borescope("record", *arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertIn(said, result.stderr)
            self.assertEqual(list(self.folder.iterdir()), [], arguments)

    def test_a_recording_is_replaced_only_on_request(self):
        self.assertEqual(self.record(RANGES, "exit", 1, 10).returncode, 5)
        result = self.record(RANGES, "exit", 1, 20)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--replace", result.stderr)
        self.assertEqual(self.record(RANGES, "exit", 1, 20, options=["--replace"]).returncode, 5)
        self.assertEqual(self.info()[0]["host_events"], 20)

    def test_another_tool_is_not_replaced(self):
        result = self.record("true", CUDA_INJECTION64_PATH="/opt/other.so")
        self.assertEqual(result.returncode, 2)
        self.assertIn("CUDA_INJECTION64_PATH is set to /opt/other.so", result.stderr)

    def test_the_program_gets_its_words(self):
        program = [sys.executable, "-c", "import sys; print(sys.argv[1:])", "--top", "-o", "a b"]
        result = self.record(*program)
        self.assertEqual(result.stdout, "['--top', '-o', 'a b']\n")

    def test_simulated_device_work(self):
        # A stand-in for the driver loads the library, and one for CUPTI has a kernel for each call.
        result = self.record(PROGRAMS / "device", "exit", 4, 1000, SIMCUPTI_VERSION="28",
                             BORESCOPE_CUPTI=str(PROGRAMS / "libsimcupti.so"),
                             LD_LIBRARY_PATH=str(PROGRAMS))
        self.assertEqual(result.returncode, 0, result.stderr)
        planted = result.stdout.split()[0]
        sums = self.borescope("query", "SELECT COUNT(*), SUM(dur_ns), COUNT(launch_id) FROM "
                              "kernels", "x.bsr", "-f", "csv")
        self.assertEqual(sums.stdout.splitlines()[-1].split(","), ["4000", planted, "4000"])


if __name__ == "__main__":
    unittest.main()
