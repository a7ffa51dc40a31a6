"""Records of HIP by roctracer, against a simulated HIP and roctracer: planted work comes back, and
planted faults are said.

What this cannot show is that the records of a real one mean what we think; only an AMD device can.
"""

import json
import shutil
import signal
import subprocess
import unittest

import logs
from launching import BORESCOPE, LauncherTest
from support import LIBRARY, PROGRAMS, RecordTest, environment, make_control

HIP = PROGRAMS / "hip" / "libamdhip64.so.6"
TOOL = LIBRARY.parent / "libborescope_record_rocm.so"
LAUNCH, MODULE_LAUNCH, EXT_LAUNCH, MEMCPY, MEMSET, SYNCHRONIZE = 41, 42, 43, 60, 61, 77  # simhip.h
GPUS = "rocm-gpus=2:90402:304:64,3:90010:104:64"
WATCHDOG_S = 60


class RoctracerTest(RecordTest):
    def run_hip(self, how="exit", count=3000, fault="", options="rocm", expect=0, program=("roctracer",), **more):
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        variables = environment(self.folder, options) | {"SIMROCTRACER_FAULT": fault} | more
        command = [PROGRAMS / program[0], *program[1:], how, str(count)]
        # The limit of time is the watchdog: no call may wait for a lock of ours.
        result = subprocess.run(command, env=variables, check=False, capture_output=True, text=True,
                                timeout=WATCHDOG_S)
        self.assertEqual(result.returncode, expect, result.stderr)
        self.assertEqual(result.stderr, "")
        return int(result.stdout)

    def troubles(self, log):
        return [(s.a, s.text) for s in log.of(logs.STATE) if s.a in (5, 6)]

    def kernels(self, log):
        """Correlations and what the kernels took."""
        return {k.a: k.body[1] - k.body[0] for k in log.of(logs.KERNEL)}

    def called(self, log, *functions):
        """Correlations of calls of these functions."""
        return {c.a for c in log.of(logs.CALL) if c.body[2] & 0xffffffff in functions}


class Planted(RoctracerTest):
    def expect_all(self, log, total, count=3000):
        kernels = self.kernels(log)
        self.assertEqual(len(log.of(logs.KERNEL)), count)
        self.assertEqual(sum(kernels.values()), total)
        # Each kernel has a call of its own, and each launch a kernel.
        self.assertEqual(set(kernels), self.called(log, LAUNCH, MODULE_LAUNCH, EXT_LAUNCH))
        self.assertEqual(self.troubles(log), [])

    def test_all_comes_back(self):
        total = self.run_hip()
        log = self.only_log()
        self.expect_all(log, total)
        strings = log.strings()
        names = [strings[k.body[3] >> 32] for k in log.of(logs.KERNEL)[:3]]
        self.assertEqual(names, ["_Z3mulPfS_", "Cijk_Ailk_Bljk", "_Z3addPfS_"])
        self.assertEqual({k.body[3] & 0xffffffff for k in log.of(logs.KERNEL)}, {5})  # the queue

    def test_many(self):
        """More than buffers hold."""
        total = self.run_hip(count=300_000)
        self.expect_all(self.only_log(), total, 300_000)

    def test_calls(self):
        self.run_hip(count=10)
        log = self.only_log()
        (tid,) = {c.body[4] for c in log.of(logs.CALL)}
        self.assertEqual(tid, log.pid)
        for call in log.of(logs.CALL):
            self.assertLessEqual(call.body[0], call.body[1])
            self.assertEqual((call.body[2] >> 32, call.body[3]), (3, 0))
        names = {n.body[1]: n.text for n in log.of(logs.NAME) if n.a == 5 and n.body[0] == 3}
        self.assertEqual(names, {LAUNCH: "hipLaunchKernel", MODULE_LAUNCH: "hipModuleLaunchKernel",
                                 EXT_LAUNCH: "hipExtModuleLaunchKernel", MEMCPY: "hipMemcpyAsync",
                                 MEMSET: "hipMemsetAsync"})

    def test_shapes(self):
        """Of grids in work-groups and in work-items, each by its call."""
        self.run_hip(count=90)
        log = self.only_log()
        grids = {d.a: d.body for d in log.of(logs.CALL_DETAIL)}
        self.assertEqual(set(grids), set(self.kernels(log)))
        for i, correlation in enumerate(sorted(grids), 1):
            self.assertEqual(grids[correlation],
                             (5, i % 100 + 1 | 2 << 32, 1 | 512 << 32, 64 | 4 << 16 | 1 << 32), i)

    def test_copies_and_sets(self):
        self.run_hip(count=1)
        log = self.only_log()
        copies = {c.body[2] - 4096: (c.body[5] & 0xffffffff, c.body[5] >> 32, c.body[6] & 0xffffffff)
                  for c in log.of(logs.COPY)}
        to_host, to_device, on_device = (2, 3, 2), (1, 2, 3), (8, 3, 3)
        self.assertEqual(copies, {0: to_host, 1: to_device, 2: on_device, 3: to_host, 4: to_device,
                                  5: on_device, 6: (0, 0, 0)})
        self.assertEqual({c.a for c in log.of(logs.COPY)}, self.called(log, MEMCPY))
        (one,) = log.of(logs.SET)
        self.assertEqual((one.body[1] - one.body[0], one.body[2]), (5, 256))
        self.assertEqual({one.a}, self.called(log, MEMSET))

    def test_devices_are_counted_without_processors(self):
        self.run_hip(count=10, options=f"rocm;{GPUS}")
        log = self.only_log()
        self.assertEqual({(k.a % 2, k.body[2] & 0xffffffff) for k in log.of(logs.KERNEL)}, {(0, 0), (1, 1)})
        devices = {d.body[0]: json.loads(d.text) for d in log.of(logs.DEVICE) if d.a == 1}
        self.assertEqual({i: d["name"] for i, d in devices.items()}, {0: "AMD gfx942", 1: "AMD gfx90a"})
        self.assertEqual((devices[1]["multiprocessors"], devices[1]["warp_size"]), (104, 64))
        for odd in ("rocm-gpus=", "rocm-gpus=2:90402", "rocm-gpus=x", "rocm-gpus=2:1:1:99999999999"):
            self.run_hip(count=10, options=f"rocm;{odd}")
            self.assertEqual({k.body[2] & 0xffffffff for k in self.only_log().of(logs.KERNEL)}, {2, 3}, odd)

    def test_threads(self):
        self.run_hip("threads", 500)
        log = self.only_log()
        self.assertEqual(len(log.of(logs.KERNEL)), 2000)
        self.assertEqual(set(self.kernels(log)), self.called(log, LAUNCH, MODULE_LAUNCH, EXT_LAUNCH))
        tids = [c.body[4] for c in log.of(logs.CALL)]
        self.assertEqual({tids.count(tid) for tid in tids}, {500})
        self.assertEqual({c.body[4] for c in log.of(logs.CALL)}, {c.tid for c in log.of(logs.CALL)})

    def test_hip_that_is_loaded_late(self):
        """By a library that is loaded for itself alone, as Python loads extensions."""
        part = str(PROGRAMS / "libroctracer_part.so")
        total = self.run_hip(program=("load", part))
        self.expect_all(self.only_log(), total)

    def test_programs_run_with_any_hip(self):
        """The function whose place we take goes on to HIP, under whatever name it is packed: the
        program ends itself where it does not."""
        for part, options in (("other", ""), ("other", "rocm"), ("part", "")):
            self.run_hip(program=("load", str(PROGRAMS / f"libroctracer_{part}.so")), options=options)

    def test_which_calls(self):
        self.run_hip(count=9, options="rocm;api=launch")
        self.assertEqual(len(self.only_log().of(logs.CALL)), 9 + 7 + 1)
        self.run_hip("nested", 2, options="rocm;api=launch")
        self.assertEqual(list(self.folder.glob("*.bsl")), [])
        self.run_hip(count=9, options="rocm;api-skip=hipInit,hipMemcpyAsync,hipModuleLaunchKernel")
        log = self.only_log()
        self.assertEqual(self.called(log, MEMCPY, MODULE_LAUNCH), set())
        self.assertEqual((len(log.of(logs.CALL)), len(log.of(logs.COPY))), (7, 7))
        self.run_hip(count=9, options="rocm;api-skip=hipMemcpy,Async,")
        self.assertEqual(len(self.only_log().of(logs.CALL)), 9 + 7 + 1)
        self.run_hip(count=9, options="rocm;api=none")
        log = self.only_log()
        self.assertEqual((log.of(logs.CALL), len(log.of(logs.KERNEL))), ([], 9))

    def test_nested_calls(self):
        """Each as deep as eight; of deeper ones the innermost."""
        self.run_hip("nested", 8)
        log = self.only_log()
        self.assertEqual(len(log.of(logs.CALL)), sum(range(1, 9)))
        self.assertEqual(len({c.a for c in log.of(logs.CALL)}), sum(range(1, 9)))
        self.run_hip("nested", 12)
        self.assertEqual(len(self.only_log().of(logs.CALL)), sum(min(d, 8) for d in range(1, 13)))


class Clocks(RoctracerTest):
    def test_every_clock_becomes_ours(self):
        """A kernel begins after its call did, and soon after."""
        for fault in ("", "noclock", "monotonic", "realtime"):
            with self.subTest(clock=fault):
                self.run_hip(count=2000, fault=fault)
                log = self.only_log()
                starts = {c.a: c.body[0] for c in log.of(logs.CALL)}
                for kernel in log.of(logs.KERNEL):
                    self.assertGreater(kernel.body[0] - starts[kernel.a], -1_000_000)
                    self.assertLess(kernel.body[0] - starts[kernel.a], 1_000_000_000)
                said = [(6, "roctracer: its clock is not known; times of device work may be off")]
                self.assertEqual(self.troubles(log), said if fault == "realtime" else [])


class Ends(RoctracerTest):
    def test_exit_of_all_kinds(self):
        for how, status in (("exit", 0), ("kill", -9), ("flush", -9)):
            with self.subTest(how=how):
                options = "rocm" if how == "kill" else "rocm;flush-ms=60000"
                total = self.run_hip(how, expect=status, options=options)
                self.assertEqual(sum(self.kernels(self.only_log()).values()), total)

    def test_calls_outlive_everything(self):
        """They are in the log when they return; device work is fetched in turns."""
        for how, status in (("killnow", -9), ("_exit", 7)):
            with self.subTest(how=how):
                self.run_hip(how, expect=status, options="rocm;flush-ms=60000")
                self.assertEqual(len(self.only_log().of(logs.CALL)), 3000 + 8)

    def test_forks(self):
        total = self.run_hip("fork", 200)
        parent, child = sorted(self.parse(), key=lambda log: log.flags & 2)
        self.assertEqual(sum(self.kernels(parent).values()), total)
        self.assertEqual(len(self.called(parent, SYNCHRONIZE)), 0)
        self.assertEqual((len(self.called(child, SYNCHRONIZE)), child.of(logs.KERNEL)), (200, []))
        self.assertEqual({c.body[4] for c in child.of(logs.CALL)}, {child.pid})
        names = {n.body[1] for n in child.of(logs.NAME) if n.a == 5}
        self.assertIn(SYNCHRONIZE, names)

    def test_a_flush_that_hangs_is_abandoned(self):
        self.run_hip(count=10, fault="hang")
        self.assertEqual(len(self.only_log().of(logs.CALL)), 18)


class Windows(RoctracerTest):
    def test_ranges_and_starts(self):
        """Only calls between start and stop are there, at once, with their kernels; after a stop,
        kernels are until the collection follows."""
        for how, rules in (("range", ";start-range=go;stop-own-range"), ("paused", "")):
            with self.subTest(how=how):
                make_control(self.folder, recording=0, starts=0)
                self.run_hip(how, 50, options=f"rocm;flush-ms=60000{rules}")
                log = self.only_log()
                self.assertEqual(len(log.of(logs.CALL)), 50)
                self.assertLessEqual({c.a for c in log.of(logs.CALL)}, set(self.kernels(log)))
                self.assertIn(len(log.of(logs.KERNEL)), (50, 57))

    def test_not_asked_for(self):
        self.run_hip(options="")
        self.assertEqual(list(self.folder.glob("*.bsl")), [])


class Odd(RoctracerTest):
    def test_records_that_say_little_or_lie(self):
        """All of them are kept as they are: the reader judges them. Others are passed over."""
        self.run_hip("odd", 0, options=f"rocm;{GPUS}")
        log = self.only_log()
        lengths = [(k.a, k.body[1] - k.body[0]) for k in log.of(logs.KERNEL)]
        self.assertEqual(lengths, [(0, 50), (1001, 0), (1002, -50), (1003, 50), (1004, 0), (1005, 50), (1010, 50)])
        nameless = [k.a for k in log.of(logs.KERNEL) if k.body[3] >> 32 == 0]
        self.assertEqual(nameless, [1003])
        (timeless,) = [k for k in log.of(logs.KERNEL) if k.a == 1004]
        self.assertEqual(timeless.body[:2], (0, 0))
        (foreign,) = [k for k in log.of(logs.KERNEL) if k.a == 1005]
        self.assertEqual(foreign.body[2] & 0xffffffff, 77)
        self.assertEqual(log.of(logs.CALL, logs.COPY, logs.SET), [])
        self.assertEqual(self.troubles(log), [])

    def test_faults_are_said(self):
        cannot = "roctracer: device work cannot be recorded (status -6)"
        for fault, said in (("version", (5, "roctracer: its version is not known")), ("pool", (5, cannot)),
                            ("work", (6, "roctracer: it cannot be switched (status -1)")),
                            ("calls", (6, "roctracer: it cannot be switched (status -1)"))):
            with self.subTest(fault=fault):
                self.run_hip(count=10, fault=fault)
                self.assertEqual(self.troubles(self.only_log()), [said])
        self.run_hip(count=10, BORESCOPE_ROCTRACER=str(PROGRAMS / "libroctracer_old.so"))
        self.assertEqual(self.troubles(self.only_log()), [(5, "roctracer: this version lacks functions")])
        self.run_hip(count=10, BORESCOPE_ROCTRACER="/nowhere/libroctracer64.so.4")
        self.assertEqual(self.troubles(self.only_log()),
                         [(5, "roctracer: libroctracer64.so.4 is not found, and rocprofiler-sdk neither")])

    def test_buffers_that_cannot_be_read_to_their_end(self):
        """What was not read is counted."""
        for fault, read in (("cut", 99), ("stuck", 1)):
            with self.subTest(fault=fault):
                self.run_hip("threads", 25, fault=fault, options="rocm;flush-ms=60000")
                log = self.only_log()
                self.assertEqual(len(log.of(logs.KERNEL)), read)
                self.assertEqual(self.troubles(log), [(6, "roctracer: a buffer could not be read to its end")])
                self.assertEqual(sum(d.body[0] for d in log.of(logs.DROPPED) if d.a == 2), 100 - read)


class Both(RoctracerTest):
    """Beside rocprofiler-sdk, which collects where it can."""

    def run_both(self, sdk):
        marker = self.folder.parent / "librocprofiler-sdk.so.1"
        shutil.copy(PROGRAMS / "libroctx_next.so", marker)
        preloaded = [LIBRARY, PROGRAMS / "libroctracer_part.so", *([marker] if sdk else [])]
        return self.run_hip(count=30, program=("rocm",), SIMROCPROFILER_VERSION="0", SIMROCPROFILER_FAULT="",
                            ROCP_TOOL_LIBRARIES=f"{TOOL}:", LD_PRELOAD=":".join(map(str, preloaded)))

    def test_rocprofiler_is_preferred(self):
        total = self.run_both(sdk=True)
        log = self.only_log()
        self.assertEqual(sum(self.kernels(log).values()), total)
        self.assertEqual(self.troubles(log), [])

    def test_one_of_them_collects(self):
        """rocprofiler asks though nothing said that it would: roctracer has begun, and goes on."""
        self.run_both(sdk=False)
        self.assertEqual(list(self.folder.glob("*.bsl")), [])

    def test_beside_the_registry(self):
        """HIP can register with rocprofiler, which is there or not."""
        for has_sdk in (True, False):
            for name in ("librocprofiler-register.so.0", *(["librocprofiler-sdk.so.0"] if has_sdk else [])):
                shutil.copy(PROGRAMS / "libroctx_next.so", self.folder.parent / name)
            registry = self.folder.parent / "librocprofiler-register.so.0"
            self.run_hip(count=30, ROCP_TOOL_LIBRARIES=f"{TOOL}:", LD_PRELOAD=f"{LIBRARY}:{registry}")
            self.assertEqual(len(list(self.folder.glob("*.bsl"))), 0 if has_sdk else 1)
            (self.folder.parent / "librocprofiler-sdk.so.0").unlink(missing_ok=True)


class Outside(LauncherTest):
    """As users record and read."""

    def test_tables(self):
        result = self.record(PROGRAMS / "roctracer", "exit", "60", options=["--rocm"])
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = self.query("SELECT COUNT(*), SUM(dur_ns), MIN(grid_y), MAX(block_x) FROM kernels")
        self.assertEqual(rows, [["60", str(sum(range(61))), "2", "64"]])
        self.assertEqual(self.query("SELECT COUNT(*) FROM copies"), [["8"]])

    def test_flush(self):
        words = [BORESCOPE, "record", "-o", "x", "--rocm", "--flush", "60s", "--", PROGRAMS / "roctracer",
                 "wait", "3000"]
        with subprocess.Popen(words, cwd=self.folder, env=self.variables(), stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as launcher:
            launcher.stdout.readline()
            result = self.borescope("record", "flush", "x.bsr")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("1 process fetched", result.stderr)
            launcher.stdin.close()
            self.assertEqual(launcher.wait(60), -signal.SIGKILL)
        self.assertEqual(self.query("SELECT COUNT(*) FROM kernels"), [["3000"]])


if __name__ == "__main__":
    unittest.main()
