"""Hardware counters of kernels by CUPTI's range profiler, against a simulated one: what it counts for
each launch comes back with the number of that launch, and faults end the counters and nothing else.

What this cannot show is that the range profiler takes what we ask of it; only a GPU can
(tests/gpu).
"""

import csv
import io
import os
import re
import struct
import subprocess
import unittest
from pathlib import Path

import logs
from support import LIBRARY, PROGRAMS, RecordTest, environment

PROGRAM = Path(os.environ["BORESCOPE_PROGRAM"])
METRICS = ("dram__bytes_read.sum", "gpu__time_duration.sum")
OPTIONS = f"counters={','.join(METRICS)}"
NAMES = ("_Z3addPfS_", "_Z3mulPfS_", "_ZN2at6native4copyEv")
VERSIONS = (28, 130000, 130500)
WATCHDOG_S = 60


def planted(correlation):
    """What the simulated hardware counts."""
    return tuple(1000 * correlation + len(name) for name in METRICS)


class CountersTest(RecordTest):
    def run_device(self, threads, count, options=OPTIONS, version=28, fault="", library="simcupti", how="launch"):
        """What it prints."""
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        variables = environment(self.folder, options) | {
            "BORESCOPE_CUPTI": str(PROGRAMS / f"lib{library}.so"), "LD_LIBRARY_PATH": str(PROGRAMS),
            "CUDA_INJECTION64_PATH": str(LIBRARY), "SIMCUPTI_VERSION": str(version), "SIMCUPTI_FAULT": fault}
        result = subprocess.run([PROGRAMS / "device", how, str(threads), str(count)], env=variables, text=True,
                                capture_output=True, check=False, timeout=WATCHDOG_S)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def counted(self, log):
        """By correlation: (name of the kernel, values by the order of the metrics)."""
        strings = log.strings()
        found = {}
        for record in log.of(logs.COUNTERS):
            start, end, device_context, name_count = record.body[:4]
            self.assertLessEqual(start, end)
            self.assertEqual(device_context, 1 | 2 << 32)
            self.assertEqual(name_count >> 32, len(METRICS))
            pairs = record.body[4:]
            self.assertEqual(tuple(strings[pair] for pair in pairs[::2]), METRICS)
            self.assertNotIn(record.a, found)
            values = struct.unpack(f"<{len(METRICS)}d", struct.pack(f"<{len(METRICS)}Q", *pairs[1::2]))
            found[record.a] = (strings[name_count & 0xFFFFFFFF], values)
        return found

    def troubles(self, log):
        return [(s.a, s.text) for s in log.of(logs.STATE) if s.a in (5, 6)]

    def test_each_launch_has_its_own(self):
        for version in VERSIONS:
            for fault in ("", "reset"):
                with self.subTest(version=version, fault=fault):
                    left = self.run_device(1, 60, version=version, fault=fault)
                    log = self.only_log()
                    self.assertEqual(self.counted(log), {i + 1: (NAMES[i % 3], planted(i + 1)) for i in range(60)})
                    self.assertEqual(self.troubles(log), [])
                    self.assertEqual(len(log.of(logs.KERNEL)), 60)
                    self.assertEqual(left, ["2"])  # the window is not full: it may go on

    def test_a_window_of_kernels_of_a_name(self):
        left = self.run_device(1, 300, OPTIONS + ";counters-kernels=_Z3*;counters-skip=4;counters-count=7")
        log = self.only_log()
        chosen = [i + 1 for i in range(300) if NAMES[i % 3].startswith("_Z3")][4:11]
        self.assertEqual(sorted(self.counted(log)), chosen)
        self.assertEqual(self.troubles(log), [])
        self.assertEqual(left, ["0"])  # all was given back

    def test_collectives_are_never_replayed(self):
        """They wait for other devices, and would do so for ever."""
        self.run_device(1, 30, how="launch-nccl")
        log = self.only_log()
        self.assertEqual(sorted(self.counted(log)), [i + 1 for i in range(30) if i % 3 != 1])
        self.assertEqual(len(log.of(logs.KERNEL)), 30)

    def test_no_more_than_a_hundred_by_default(self):
        left = self.run_device(1, 300)
        self.assertEqual(sorted(self.counted(self.only_log())), list(range(1, 101)))
        self.assertEqual(left, ["0"])

    def test_threads_in_two_contexts(self):
        """One launch at a time is measured, those that come meanwhile are not; none gets another's values."""
        self.run_device(4, 500, OPTIONS + ";counters-count=1000")
        log = self.only_log()
        found = self.counted(log)
        self.assertGreater(len(found), 0)
        for correlation, (_, values) in found.items():
            self.assertEqual(values, planted(correlation))
        self.assertEqual(len(log.of(logs.KERNEL)), 2000)

    def test_without_the_option_nothing_is_asked(self):
        left = self.run_device(1, 20, options="")
        log = self.only_log()
        self.assertEqual((left, self.counted(log), self.troubles(log)), (["0"], {}, []))

    def test_a_pause_measures_nothing(self):
        (self.folder / "control").write_bytes(struct.pack("<IIIIII", 0x54435342, 1, 0, 0, 0, 0).ljust(4096, b"\0"))
        self.run_device(1, 20)
        self.assertEqual([log.of(logs.COUNTERS) for log in self.parse() if log.of(logs.COUNTERS)], [])

    def test_faults_end_the_counters_and_nothing_else(self):
        words = {
            "refuse35": "no counters: cuptiRangeProfilerEnable is not permitted: run as root or set "
                        "NVreg_RestrictProfilingToAdminUsers=0 (error 35)",
            "start": "no counters: cuptiRangeProfilerStart failed (error 26)",
            "decode": "no counters: cuptiRangeProfilerDecodeData failed (error 999)",
            "passes": "no counters: the kernel was not replayed for all metrics",
        }
        for fault, text in words.items():
            with self.subTest(fault=fault):
                left = self.run_device(1, 50, fault=fault)
                log = self.only_log()
                self.assertEqual(self.troubles(log), [(5, "CUPTI: " + text)])
                self.assertEqual(self.counted(log), {})
                self.assertEqual(len(log.of(logs.KERNEL)), 50)
                self.assertEqual(left, ["0"])

    def test_a_metric_that_is_not_known(self):
        self.run_device(1, 50, OPTIONS + ",unknown__thing.sum")
        log = self.only_log()
        self.assertEqual(self.troubles(log), [(5, "CUPTI: no counters: a metric is not known here: "
                                                  "cuptiProfilerHostConfigAddMetrics failed (error 1)")])
        self.assertEqual(len(log.of(logs.KERNEL)), 50)

    def test_kernels_of_others_in_the_session(self):
        self.run_device(1, 50, fault="mixed")
        log = self.only_log()
        self.assertEqual(sorted(self.counted(log)), [i for i in range(1, 51) if i % 3 != 0])
        self.assertEqual(self.troubles(log), [(6, "CUPTI: no counters of launches during which other threads "
                                                  "launched")])

    def test_a_cupti_without_it(self):
        self.run_device(1, 50, library="simcupti_old")
        log = self.only_log()
        self.assertEqual(self.troubles(log), [(5, "CUPTI: no counters: this version has no range profiler, which "
                                                  "CUDA 12.6 and later have")])
        self.assertEqual(len(log.of(logs.KERNEL)), 50)

    def record(self, *options, expect=0):
        variables = {name: value for name, value in os.environ.items() if not name.startswith(("BORESCOPE_RECORD", "LD_"))}
        variables |= {"BORESCOPE_RECORD_LIBRARY": str(LIBRARY), "BORESCOPE_CUPTI": str(PROGRAMS / "libsimcupti.so"),
                      "LD_LIBRARY_PATH": str(PROGRAMS), "SIMCUPTI_VERSION": "28"}
        run = self.folder / "counted"
        result = subprocess.run([PROGRAM, "record", "-o", run, *options, "--", PROGRAMS / "device", "launch", "1", "30"],
                                env=variables, capture_output=True, text=True, check=False, timeout=WATCHDOG_S)
        self.assertEqual(result.returncode, expect, result.stderr)
        return run.with_suffix(".bsr"), result.stderr

    def table(self, *words):
        result = subprocess.run([PROGRAM, *words, "-f", "csv"], capture_output=True, text=True, check=True,
                                timeout=WATCHDOG_S)
        # One table or several, each below the line "# NAME".
        parts = [part for part in re.split(r"^# .*\n", result.stdout, flags=re.MULTILINE) if part]
        return [list(csv.DictReader(io.StringIO(part))) for part in parts]

    def test_from_the_command_to_the_answer(self):
        """A window in the middle: only the number of the launch says which kernel was counted."""
        run, _ = self.record("--counters", ",".join(METRICS), "--counters-kernels", "*mul*", "--counters-skip", "3",
                             "--counters-count", "4")
        lineup, _, counters = self.table("counters", run)
        self.assertEqual([(row["ranges"], row["lined_up"], row["mode"]) for row in lineup], [("4", "4", "by correlation")])
        expected = [i + 1 for i in range(30) if i % 3 == 1][3:7]
        self.assertEqual([tuple(float(row[name]) for name in METRICS) for row in counters],
                         [planted(correlation) for correlation in expected])
        self.assertEqual({row["kernel"] for row in counters}, {"mul(float*, float*)"})
        (rows,) = self.table("query", "SELECT count(*) AS n FROM counters", run)
        self.assertEqual(rows[0]["n"], "8")

    def test_options_that_cannot_be_meant(self):
        for options, word in ((("--counters", "a b"), "no name of a metric"),
                              (("--counters-count", "5"), "no counters to measure"),
                              (("--counters", "a__b.sum", "--no-cuda"), "leave out --no-cuda"),
                              (("--counters", "a__b.sum", "--counters-count", "5000"), "more than 1000 launches")):
            with self.subTest(options=options):
                self.assertIn(word, self.record(*options, expect=2)[1])


if __name__ == "__main__":
    unittest.main()
