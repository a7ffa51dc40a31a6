"""Samples of GPUs, by stand-ins for their vendors' libraries with planted values, and of real processes."""

import csv
import signal
import struct
import subprocess
import sys
import time
import unittest

import logs
from launching import BORESCOPE, LauncherTest
from support import PROGRAMS

# Burns a processor for a second, in a child, while it waits itself.
BUSY = "import time\nend = time.time() + 1\nwhile time.time() < end: sum(range(1000))"
PARENT = f"import subprocess, sys, time\nblob = bytearray(60 << 20)\nsubprocess.run([sys.executable, '-c', {BUSY!r}])"


class Samples(LauncherTest):
    def sampled(self, seconds="0.5", options=("--sample", "20ms"), folder="none", **more):
        result = self.record("sleep", seconds, options=options,
                             LD_LIBRARY_PATH=str(PROGRAMS / folder), **more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return self.series()

    def series(self):
        """Values by name, from the log itself."""
        values = {}
        for log in self.parse_run():
            names = log.strings()
            for sample in log.of(logs.SAMPLE):
                value = struct.unpack("<d", struct.pack("<Q", sample.body[1]))[0]
                values.setdefault(names[sample.a], []).append(value)
        return values

    def parse_run(self):
        return logs.parse_folder(self.run_path)

    def test_nvidia(self):
        values = self.sampled(folder="nvml")
        planted = {"utilization": 40, "memory_utilization": 20, "memory_used": 1e10, "power": 250.5,
                   "temperature": 60, "sm_clock": 1980, "memory_clock": 2619, "pcie_sent": 7000,
                   "throttle_reasons": 0}
        rows = {name.split("/")[2]: value for name, value in values.items() if name.startswith("gpu/0/")}
        energy = rows.pop("energy")
        self.assertEqual({name: set(value) for name, value in rows.items()},
                         {name: {value} for name, value in planted.items()})
        self.assertEqual(energy[:2], [1.5, 2.5])
        self.assertEqual(set(values["gpu/1/power"]), {251.5})
        self.assertEqual(set(values["gpu/1/throttle_reasons"]), {4})
        # One each 20 ms, but a busy machine may leave some out.
        self.assertGreater(len(energy), 5)
        self.assertLessEqual(len(energy), 25)

    def test_samples_that_end_are_said(self):
        """A log that may not grow, as on a full disk."""
        command = ["sh", "-c", 'ulimit -f 60; exec "$@"', "sh", BORESCOPE, "record", "--sample", "20ms", "-o", "x",
                   "--", "sleep", "0.5"]
        result = subprocess.run(command, cwd=self.folder, env=self.variables(), capture_output=True, text=True,
                                timeout=60, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.series(), {})
        self.assertIn("samples are missing: x.bsr/", result.stderr)
        self.assertIn("File too large", result.stderr)

    def test_amd(self):
        values = self.sampled(folder="amdsmi")
        self.assertEqual(set(values["gpu/0/utilization"]), {30})
        self.assertEqual(set(values["gpu/1/utilization"]), {31})
        self.assertEqual({round(value) for value in values["gpu/1/power"]}, {200})
        self.assertEqual(set(values["gpu/0/sm_clock"]), {2100})
        self.assertEqual(set(values["gpu/0/memory_clock"]), {1300})
        self.assertEqual(set(values["gpu/0/temperature"]), {55})
        self.assertEqual(set(values["gpu/0/memory_used"]), {2e9})
        self.assertNotIn("gpu/0/memory_utilization", values)
        self.assertEqual(values["gpu/0/energy"][0], 40)

    def test_processes(self):
        result = self.record(sys.executable, "-c", PARENT, options=["--sample", "50ms"])
        self.assertEqual(result.returncode, 0, result.stderr)
        values = self.series()
        cpu = {name: value for name, value in values.items() if name.endswith("/cpu")}
        self.assertEqual(len(cpu), 2, values.keys())
        # One of the two works all the time, the other waits.
        low, high = sorted(sum(value) / len(value) for value in cpu.values())
        self.assertLess(low, 40)
        self.assertGreater(high, 15)
        self.assertLess(max(max(value) for value in cpu.values()), 150)
        resident = max(max(value) for name, value in values.items() if name.endswith("resident_bytes"))
        self.assertGreater(resident, 60 << 20)
        for name in ("threads", "context_switches", "minor_faults", "major_faults"):
            self.assertEqual(len([key for key in values if key.endswith("/" + name)]), 2, name)
            for key, value in values.items():
                if key.endswith("/" + name) and name != "threads":
                    self.assertEqual(value, sorted(value), key)

    def test_samples_are_counters_of_the_trace(self):
        values = self.sampled(folder="nvml")
        rows = self.query("SELECT COUNT(*), MIN(value), MAX(value) FROM samples WHERE name = 'power'")
        count = len(values["gpu/0/power"]) + len(values["gpu/1/power"])
        self.assertEqual([list(map(float, row)) for row in rows], [[count, 250.5, 251.5]])

    def test_a_run_of_samples_begins_with_the_first(self):
        before = time.time_ns()
        self.sampled()
        begin, span = self.info("begin_unix_ns", "span_ns")
        self.assertGreater(int(begin), before - 10**9)
        self.assertLess(int(begin), time.time_ns())
        self.assertGreater(int(span), 10**8)

    def info(self, *columns):
        result = self.borescope("info", self.run_path, "-f", "csv")
        self.assertEqual(result.returncode, 0, result.stderr)
        names, values = list(csv.reader(result.stdout.splitlines()))[1:3]  # after the name of the table
        return [values[names.index(column)] for column in columns]

    def test_the_same_counters_from_an_rpd(self):
        result = self.borescope("record", "-o", "x.rpd", "--sample", "20ms", "--", "sleep", "0.3",
                                LD_LIBRARY_PATH=str(PROGRAMS / "nvml"))
        self.assertEqual(result.returncode, 0, result.stderr)
        statement = ("SELECT name, MIN(value), MAX(value) FROM samples WHERE name IN ('power', "
                     "'sm_clock', 'energy') GROUP BY name ORDER BY name")
        self.assertEqual(self.query(statement, "x.bsr"), self.query(statement, "x.rpd"))

    def test_a_library_that_hangs_stops_nothing(self):
        begin = time.monotonic()
        values = self.sampled(seconds="0.3", folder="nvml", SIMNVML_HANG="1")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertGreater(len([name for name in values if name.startswith("process/")]), 0)
        self.assertEqual([name for name in values if name.startswith("gpu/")], [])

    def test_none_unless_asked(self):
        self.assertEqual(self.sampled(options=(), folder="nvml"), {})
        self.assertEqual([path.name for path in self.run_path.iterdir()], ["control"])

    def test_what_was_sampled_survives_the_launcher(self):
        command = [BORESCOPE, "record", "-o", "x", "--sample", "5ms", "--", "sleep", "0.5"]
        launcher = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.DEVNULL,
                                    env=self.variables(LD_LIBRARY_PATH=str(PROGRAMS / "nvml")))
        deadline = time.monotonic() + 60
        while not self.run_path.is_dir() or not self.parse_run() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        launcher.send_signal(signal.SIGKILL)
        launcher.wait(60)
        self.assertGreater(len(self.series()["gpu/1/power"]), 3)
        status = self.borescope("record", "status", "x.bsr", "-f", "csv").stdout
        self.assertIn("launcher", status)

    def test_bad_times(self):
        for text in ("0", "10", "1us", "fast"):
            result = self.record("true", options=["--sample", text])
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertFalse(self.run_path.exists())


if __name__ == "__main__":
    unittest.main()
