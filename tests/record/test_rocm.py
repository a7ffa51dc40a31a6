"""Device records by rocprofiler-sdk, against a simulated one: planted work comes back.

What this cannot show is that the records of a real one mean what we think; only an AMD device can.
"""

import json
import signal
import subprocess
import unittest

import logs
from launching import BORESCOPE, LauncherTest
from support import LIBRARY, PROGRAMS, RecordTest, environment, make_control

TOOL = LIBRARY.parent / "libborescope_record_rocm.so"


class Rocm(RecordTest):
    def run_rocm(self, how="exit", count=3000, version=0, fault="", options="rocm", expect=0):
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        # With the colon: the tool's parser drops what follows the last one.
        variables = environment(self.folder, options) | {
            "ROCP_TOOL_LIBRARIES": f"{TOOL}:", "SIMROCPROFILER_VERSION": str(version),
            "SIMROCPROFILER_FAULT": fault}
        result = subprocess.run([PROGRAMS / "rocm", how, str(count)], env=variables, check=False,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, expect, result.stderr)
        self.assertEqual(result.stderr, "")
        return int(result.stdout)

    def troubles(self, log):
        return [(s.a, s.text) for s in log.of(logs.STATE) if s.a in (5, 6)]

    def test_planted_work(self):
        for version in (0, 1):
            with self.subTest(version=version):
                total = self.run_rocm(version=version)
                log = self.only_log()
                self.assertEqual(self.troubles(log), [])
                kernels = log.of(logs.KERNEL)
                self.assertEqual({k.a for k in kernels}, set(range(1, 3001)))
                self.assertEqual(len(kernels), 3000)
                self.assertEqual(sum(k.body[1] - k.body[0] for k in kernels), total)
                calls = log.of(logs.CALL)
                self.assertEqual({c.a for c in calls}, set(range(1, 3003)))
                self.assertEqual({c.body[2] for c in calls}, {1 | 3 << 32, 2 | 3 << 32, 1 | 5 << 32})
                self.assertEqual(len({c.body[4] for c in calls}), 1)
                self.expect_kernels(log)

    def expect_kernels(self, log):
        strings = log.strings()
        kernels = sorted(log.of(logs.KERNEL), key=lambda kernel: kernel.a)
        self.assertEqual([strings[k.body[3] >> 32] for k in kernels[:3]],
                         ["_Z3mulPfS_", "Cijk_Ailk_Bljk", "_Z3addPfS_"])
        # Devices are the GPUs in order: agents 101 and 102; work-items become work-groups.
        self.assertEqual([k.body[2] & 0xffffffff for k in kernels[:3]], [0, 1, 1])
        self.assertEqual(kernels[0].body[4:7], (16 | 2 << 32, 1 | 64 << 32, 2 | 1 << 32))

    def test_which_calls(self):
        for options, kept in (("rocm;api=launch", {(3, 1), (3, 2), (5, 1)}), ("rocm;api=none", set()),
                              ("rocm;api-skip=ncclAllReduce,hipLaunchKernel", {(3, 2)})):
            with self.subTest(options=options):
                self.run_rocm(count=3, options=options)
                log = self.only_log()
                self.assertEqual({(c.body[2] >> 32, c.body[2] & 0xffffffff) for c in log.of(logs.CALL)}, kept)
                self.assertEqual(len(log.of(logs.KERNEL)), 3)

    def test_times_are_ours(self):
        self.run_rocm(count=10)
        log = self.only_log()
        (anchor, *_) = log.of(logs.ANCHOR)
        for kernel in log.of(logs.KERNEL):
            self.assertLess(abs(kernel.body[0] - anchor.body[0]), 60_000_000_000)

    def test_copies(self):
        self.run_rocm(count=1)
        copies = [(c.a, c.body[2], c.body[3] & 0xffffffff, c.body[5] & 0xffffffff)
                  for c in self.only_log().of(logs.COPY)]
        self.assertEqual(sorted(copies), [(2, 4096, 1, 1), (3, 512, 1, 2)])

    def test_names_and_devices(self):
        for version in (0, 1):
            self.run_rocm(count=1, version=version)
            self.expect_names(self.only_log())

    def expect_names(self, log):
        names = {(n.body[0], n.body[1]): n.text for n in log.of(logs.NAME) if n.a == 5}
        self.assertEqual(names, {(3, 1): "hipLaunchKernel", (3, 2): "hipMemcpyAsync", (5, 1): "ncclAllReduce"})
        devices = [json.loads(d.text)["name"] for d in log.of(logs.DEVICE) if d.a == 1]
        self.assertEqual(devices, ["AMD gfx942", "AMD gfx90a"])

    def test_what_was_flushed_survives_a_kill(self):
        self.run_rocm("kill", expect=-9)
        self.assertEqual(len(self.only_log().of(logs.KERNEL)), 3000)

    def test_a_flush_of_its_own_before_a_kill(self):
        for fault in ("", "busy"):
            self.run_rocm("flush", options="rocm;flush-ms=60000", fault=fault, expect=-9)
            self.assertEqual(len(self.only_log().of(logs.KERNEL)), 3000, fault)

    def test_what_is_launched_after_a_start_is_there(self):
        """However seldom the page is looked at."""
        make_control(self.folder, recording=0, starts=0)
        self.run_rocm("range", options="rocm;flush-ms=60000;start-range=go;stop-own-range")
        self.assertEqual({k.a for k in self.only_log().of(logs.KERNEL)}, set(range(1, 3001)))

    def test_nothing_is_switched_on_after_the_end(self):
        make_control(self.folder, recording=0, starts=0)
        self.run_rocm("late", fault="slow", options="rocm;flush-ms=60000;start-range=go;stop-own-range")

    def test_not_asked_for(self):
        self.run_rocm(options="")
        self.assertEqual(list(self.folder.glob("*.bsl")), [])

    def test_faults_are_said(self):
        self.run_rocm(fault="clock")
        self.assertEqual(self.troubles(self.only_log()), [(5, "rocprofiler: its clock is not known")])
        self.run_rocm(fault="service")
        self.assertEqual(self.troubles(self.only_log()),
                         [(5, "rocprofiler: device work cannot be recorded (status 17)")])
        self.run_rocm(fault="rccl")
        self.assertEqual(self.troubles(self.only_log()), [])
        self.run_rocm(fault="drop")
        self.assertEqual(sum(d.body[0] for d in self.only_log().of(logs.DROPPED) if d.a == 2) % 3, 0)
        self.assertGreater(sum(d.body[0] for d in self.only_log().of(logs.DROPPED) if d.a == 2), 0)


class Outside(LauncherTest):
    def test_a_rocm_without_a_profiler_is_said_at_the_start(self):
        version = self.folder / "rocm" / ".info" / "version"
        version.parent.mkdir(parents=True)
        version.write_text("6.1.2-115\n")
        result = self.record("sh", "-c", "exit 3", options=["--rocm"], ROCM_PATH=str(version.parents[1]))
        self.assertEqual(result.returncode, 3)
        first = result.stderr.splitlines()[0]
        self.assertIn("--rocm: ROCm 6.1.2 in", first)
        self.assertIn("has neither rocprofiler-sdk, from 6.2 on, nor roctracer, before; HIP calls, kernels and "
                      "copies are not recorded", first)
        quiet = self.record("true", options=["--rocm", "-q", "--replace"], ROCM_PATH=str(version.parents[1]))
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))

    def test_flush(self):
        """Device work that rocprofiler would keep is in the log of a program that is killed."""
        for fault in ("", "busy"):
            words = [BORESCOPE, "record", "-o", "x", "--replace", "--rocm", "--flush", "60s", "--",
                     PROGRAMS / "rocm", "wait", "3000"]
            with subprocess.Popen(words, cwd=self.folder, env=self.variables(SIMROCPROFILER_FAULT=fault),
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True) as launcher:
                launcher.stdout.readline()
                result = self.borescope("record", "flush", "x.bsr")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("1 process fetched", result.stderr)
                launcher.stdin.close()
                self.assertEqual(launcher.wait(60), -signal.SIGKILL)
            self.assertEqual(self.query("SELECT COUNT(*) FROM kernels"), [["3000"]], fault)


if __name__ == "__main__":
    unittest.main()
