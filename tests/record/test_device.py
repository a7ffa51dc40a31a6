"""Device records by CUPTI, against a simulated CUPTI: planted work comes back, planted faults are said.

What this cannot show is that CUPTI's records mean what we think; only a GPU can.
"""

import ctypes.util
import os
import subprocess
import sys
import time
import unittest

import logs
from support import LIBRARY, PROGRAMS, RecordTest, environment, make_control

# API 28 and before (one tool at a time), 13.0, and 13.5 with subscribers: five sizes of records.
VERSIONS = (24, 26, 28, 130000, 130500)
WATCHDOG_S = 60
SHIM = os.environ.get("BORESCOPE_FAULT_SHIM", "")


class DeviceTest(RecordTest):
    def run_device(self, how, threads, count, *more, **settings):
        """The first number that it prints."""
        return int(self.words_of(how, threads, count, *more, **settings)[0])

    def words_of(self, how, threads, count, *more, version=28, fault="", options="", expect=0, library="simcupti"):
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        variables = environment(self.folder, options) | {
            "BORESCOPE_CUPTI": str(PROGRAMS / f"lib{library}.so"), "LD_LIBRARY_PATH": str(PROGRAMS),
            "CUDA_INJECTION64_PATH": str(LIBRARY), "SIMCUPTI_VERSION": str(version),
            "SIMCUPTI_FAULT": fault}
        # The limit of time is the watchdog: no call may wait for a lock of ours.
        result = subprocess.run([PROGRAMS / "device", how, str(threads), str(count), *map(str, more)], env=variables,
                                capture_output=True, text=True, check=False, timeout=WATCHDOG_S)
        self.assertEqual(result.returncode, expect, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout.split()

    def kernels(self, log):
        """(correlation, start, end, name) of each."""
        strings = log.strings()
        return [(k.a, k.body[0], k.body[1], strings[k.body[3] >> 32]) for k in log.of(logs.KERNEL)]

    def troubles(self, log):
        return [(s.a, s.text) for s in log.of(logs.STATE) if s.a in (5, 6)]


class Planted(DeviceTest):
    def expect_all(self, log, total, count):
        kernels = self.kernels(log)
        self.assertEqual(len(kernels), count)
        self.assertEqual({k[0] for k in kernels}, set(range(1, count + 1)))
        self.assertEqual(sum(k[2] - k[1] for k in kernels), total)
        self.assertEqual({c.a for c in log.of(logs.CALL)}, {k[0] for k in kernels})
        self.assertEqual(len(log.of(logs.CALL)), count)

    def test_all_versions(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                total = self.run_device("exit", 4, 3000, version=version)
                log = self.only_log()
                self.expect_all(log, total, 12_000)
                self.assertEqual(self.troubles(log), [])
                (body,) = {k.body[4:10] for k in log.of(logs.KERNEL)}
                self.assertEqual(body[0:4], (10 | 11 << 32, 12 | 13 << 32, 14 | 15 << 32, 40 | 128 << 32))
                self.assertEqual(body[4:6], (256 | 16 << 32, 77))
                channel = 3 if version not in (24, 26) else 0
                self.assertEqual({k.body[10] for k in log.of(logs.KERNEL)}, {5 | channel << 32}
                                 if version != 24 else {0})

    def test_names(self):
        self.run_device("exit", 1, 300)
        self.assertEqual([k[3] for k in self.kernels(self.only_log())[:3]],
                         ["_Z3addPfS_", "_Z3mulPfS_", "_ZN2at6native4copyEv"])

    def test_threads_of_calls_are_those_of_the_system(self):
        for version in (24, 28, 130000, 130500):
            with self.subTest(version=version):
                told = [int(word) for word in self.words_of("threads", 3, 0, version=version)]
                self.assertEqual([c.body[4] for c in self.only_log().of(logs.CALL)], told)

    def test_threads_of_calls_where_cupti_cannot_say_them(self):
        for settings in ({"fault": "nothreads"}, {"library": "simcupti_old"}):
            with self.subTest(**settings):
                told = [int(word) for word in self.words_of("threads", 1, 0, **settings)]
                log = self.only_log()
                self.assertEqual(self.troubles(log), [])
                (call,) = log.of(logs.CALL)
                self.assertNotIn(call.body[4], told)
                self.run_device("exit", 3, 100, **settings)
                # The thread that has a chunk of its own is known by both.
                self.assertEqual(len({c.body[4] for c in self.only_log().of(logs.CALL)}), 3)

    def driver_calls(self, *numbers, **settings):
        """Which of these the recorder keeps."""
        self.run_device("calls", 1, 0, *numbers, **settings)
        return [c.body[2] & 0xFFFFFFFF for log in self.parse() for c in log.of(logs.CALL)]

    def test_calls_of_the_driver_that_do_work(self):
        launches = (43, 73, 117, 217, 276, 277, 307, 430, 442, 514, 652, 797, 840)
        orders = (496, 528, 578, 598, 600, 847)
        others = (2, 29, 33, 126, 450, 504, 686, 694, 862, 868, 1000)
        for library in ("simcupti", "simcupti_old"):
            with self.subTest(library=library):
                every = sorted(launches + orders + others)
                self.assertEqual(self.driver_calls(*every, library=library), sorted(launches + orders))
                self.assertEqual(self.driver_calls(*every, library=library, options="api=launch"), list(launches))
                self.assertEqual(self.driver_calls(*every, library=library, options="api=none"), [])

    def test_calls_that_say_nothing_cost_nothing(self):
        for version in (28, 130500):
            with self.subTest(version=version):
                numbers = (10, 11, 17, 317, 410, 502)
                words = self.words_of("idle", 1, 0, *numbers, 211, version=version)
                self.assertEqual(int(words[2]), 100)
                self.assertEqual({c.body[2] for log in self.parse() for c in log.of(logs.CALL)}, {211 | 1 << 32})
                # Those that are skipped, too.
                words = self.words_of("idle", 1, 0, 31, 211, version=version, options="skip-runtime=31")
                self.assertEqual(int(words[2]), 100)
                words = self.words_of("idle", 1, 0, 200, 211, version=version, options="api=launch")
                self.assertEqual(int(words[2]), 100)
        self.words_of("idle", 1, 0, 10, 211, library="simcupti_old")
        self.assertEqual({c.body[2] for log in self.parse() for c in log.of(logs.CALL)}, {211 | 1 << 32})

    def test_calls_newer_than_our_tables_are_named(self):
        self.run_device("each", 1, 0, options="flush-ms=10")
        log = self.only_log()
        self.assertEqual([n.text for n in log.of(logs.NAME) if n.a == 5], [])
        self.run_device("newer", 1, 0)
        log = self.only_log()
        named = [(n.body, n.text) for n in log.of(logs.NAME) if n.a == 5]
        self.assertEqual(named, [((1, 900), "cudaSimulatedAsync_v14000")])
        self.assertEqual([c.body[2] for c in log.of(logs.CALL)], [900 | 1 << 32, 900 | 1 << 32, 1010 | 1 << 32])

    def test_a_device_has_its_name_from_its_first_use_on(self):
        # Killed: CUPTI's own record of the device never came.
        self.run_device("_exit", 1, 10, options="flush-ms=20", expect=7)
        (device,) = self.only_log().of(logs.DEVICE)
        self.assertEqual(device.body, (1,))
        self.assertEqual(device.text, '{"name":"Simulated \\"GPU\\" 1","total_bytes":80,"multiprocessors":132,'
                         '"compute_major":9,"warp_size":32,"max_threads_per_multiprocessor":2048}')

    def test_one_of_each(self):
        self.run_device("each", 1, 0, options="memory;sync")
        log = self.only_log()
        calls = {(c.a, c.body[2], c.body[3]) for c in log.of(logs.CALL)}
        self.assertEqual(calls, {(91, 307 | 2 << 32, 0), (93, 31 | 1 << 32, 2**64 - 3)})
        (copy,), (fill,) = log.of(logs.COPY), log.of(logs.SET)
        self.assertEqual((copy.a, copy.body), (94, (100, 150, 4096, 1 | 2 << 32, 7, 1 | 2 << 32, 3 | 5 << 32, 78)))
        self.assertEqual((fill.a, fill.body), (95, (200, 220, 512, 1 | 2 << 32, 7 | 9 << 32, 0, 3 | 5 << 32, 78)))
        (sync,), (memory,), (graph,) = log.of(logs.SYNC), log.of(logs.MEMORY), log.of(logs.GRAPH_RUN)
        self.assertEqual(sync.body, (300, 301, 3 | 7 << 32, 2))
        self.assertEqual(memory.body[:4], (300, 0x7000, 4096, 1 | 3 << 32))
        self.assertEqual(graph.body, (300, 305, 0, 5 << 32))
        (external,) = log.of(logs.EXTERNAL)
        self.assertEqual((external.a, external.body), (96, (3, 1234)))
        device, other, context, stream = log.of(logs.DEVICE)
        self.assertIn('"Simulated \\"GPU\\" 0"', other.text)
        self.assertIn('"name":"Simulated \\"GPU\\" 1","total_bytes":80,"multiprocessors":132', device.text)
        self.assertEqual((device.body, context.body, stream.body), ((1,), (2 | 1 << 32,), (7 | 2 << 32,)))
        self.assertEqual(len(log.of(logs.OVERHEAD)), 1)

    def test_what_is_off_is_not_recorded(self):
        self.run_device("each", 1, 0, options="graphs=node;api=none")
        log = self.only_log()
        self.assertEqual(log.of(logs.CALL, logs.SYNC, logs.MEMORY, logs.GRAPH_RUN), [])
        self.assertEqual(len(log.of(logs.COPY)), 1)

    def test_calls_that_are_skipped(self):
        for options, kept in (("skip-runtime=31", {91}), ("skip-driver=1023,307", {93}), ("api-skip=cuda", {91, 93}),
                              ("skip-runtime=30,31;skip-driver=307,99999", set()), ("api=launch", {91, 93}),
                              ("skip-runtime=;skip-driver=x", {91, 93})):
            with self.subTest(options=options):
                self.run_device("each", 1, 0, options=options)
                self.assertEqual({c.a for c in self.only_log().of(logs.CALL)}, kept)

    def test_what_waits_is_warmed_up_once(self):
        make_control(self.folder, recording=0, starts=0)
        for version in (28, 130500):
            self.assertEqual(self.run_device("state", 1, 0, version=version), 0)
            self.assertEqual(self.run_device("state", 1, 0, version=version, options="warm"), 2)
        make_control(self.folder)
        self.assertEqual(self.run_device("state", 1, 0, options="warm"), 3)

    def test_cuda_can_be_left_out(self):
        self.run_device("exit", 1, 10, options="no-cuda")
        self.assertEqual(self.parse(), [])

    def test_a_flush_before_a_kill(self):
        total = self.run_device("flush", 2, 2000, expect=-9)
        self.expect_all(self.only_log(), total, 4000)

    def test_without_an_exit_only_the_last_period_can_be_lost(self):
        total = self.run_device("_exit", 1, 20_000, options="flush-ms=20", expect=7)
        self.expect_all(self.only_log(), total, 20_000)

    def test_stop_and_start(self):
        make_control(self.folder)
        self.run_device("toggle", 1, 1000, options="flush-ms=10")
        kernels = self.kernels(self.only_log())
        self.assertEqual(len(kernels), 2000)
        self.assertNotIn(7777, {k[0] for k in kernels})

    def test_a_name_in_the_memory_of_another(self):
        self.run_device("rename", 1, 0)
        self.assertEqual([k[3][-1] for k in self.kernels(self.only_log())], ["A", "B"])

    def test_a_forked_child_leaves_cupti_alone(self):
        total = self.run_device("fork", 1, 500)
        self.expect_all(next(log for log in self.parse() if not log.flags & 2), total, 500)


class Faults(DeviceTest):
    def test_buffers(self):
        for version in (28, 130500):
            for fault in ("unfilled", "thread", "twice", "unknown", "clock"):
                with self.subTest(version=version, fault=fault):
                    total = self.run_device("exit", 2, 20_000, version=version, fault=fault)
                    log = self.only_log()
                    kernels = self.kernels(log)
                    self.assertEqual(len(kernels), 40_000)
                    self.assertEqual(sum(k[2] - k[1] for k in kernels), total)
                    self.assertEqual(self.troubles(log), [])

    def test_records_are_stepped_over_once_their_lengths_are_known(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                total, reads, appended = map(int, self.words_of("flush-end", 2, 30_000, version=version))
                log = self.only_log()
                self.assertEqual(sum(k[2] - k[1] for k in self.kernels(log)), total)
                self.assertEqual(len(log.of(logs.KERNEL, logs.CALL)), 120_000)
                self.assertEqual(self.troubles(log), [])
                self.assertLess(reads, appended / 2)

    def test_records_that_cannot_be_stepped_over(self):
        for fault in ("ragged", "holes"):
            with self.subTest(fault=fault):
                total, reads, appended = map(int, self.words_of("flush-end", 2, 30_000, fault=fault))
                log = self.only_log()
                self.assertEqual(sum(k[2] - k[1] for k in self.kernels(log)), total)
                self.assertEqual(len(log.of(logs.KERNEL, logs.CALL)), 120_000)
                self.assertEqual(self.troubles(log), [])
                self.assertGreaterEqual(reads, appended)

    def test_a_kill_while_buffers_go_round(self):
        """No flush is needed then, and what is lost is no more than with one."""
        count = int(self.words_of("kill", 1, 200_000, expect=-9)[0])
        kernels = len(self.only_log().of(logs.KERNEL))
        # A buffer holds some 4,000 of both records; two more may be on their way.
        self.assertGreaterEqual(kernels, count - 3 * 4_300)

    def test_dropped(self):
        self.run_device("exit", 1, 20_000, fault="dropped")
        dropped = [d.body[0] for d in self.only_log().of(logs.DROPPED) if d.a == 2]
        self.assertGreater(len(dropped), 0)
        self.assertEqual(sum(dropped) % 7, 0)

    def test_refusals(self):
        for fault, words in (("refuse39", "another tool has it (error 39)"),
                             ("refuse15", "it cannot be set up (error 15)"),
                             ("refuse999", "cuptiGetVersion failed (error 999)")):
            for version in (28, 130500):
                with self.subTest(fault=fault, version=version):
                    self.run_device("exit", 1, 10, version=version, fault=fault)
                    log = self.only_log()
                    self.assertEqual(self.troubles(log), [(5, "CUPTI: " + words)])
                    self.assertEqual(log.of(logs.KERNEL), [])

    def trouble_with(self, *command, **more):
        """Of a program that starts the driver."""
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        variables = environment(self.folder) | {
            "LD_LIBRARY_PATH": str(PROGRAMS), "CUDA_INJECTION64_PATH": str(LIBRARY)} | more
        starts = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"]
        result = subprocess.run(command or starts, env=variables, check=False, capture_output=True,
                                timeout=WATCHDOG_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        ((kind, text),) = self.troubles(self.only_log())
        self.assertEqual(kind, 5)
        return text

    def test_why_there_is_no_library(self):
        self.assertEqual(self.trouble_with(BORESCOPE_CUPTI="/nowhere/libcupti.so"),
                         "CUPTI: BORESCOPE_CUPTI cannot be loaded: /nowhere/libcupti.so: cannot open shared object "
                         "file: No such file or directory")
        self.assertEqual(self.trouble_with(BORESCOPE_CUPTI=str(PROGRAMS / "libroctx_next.so")),
                         "CUPTI: libcupti lacks functions")

    @unittest.skipIf(ctypes.util.find_library("cupti") or os.path.exists("/usr/local/cuda/extras/CUPTI"),
                     "a CUPTI is installed here, which would be found")
    def test_a_library_that_is_none_is_named(self):
        installed = self.folder.parent / "cuda/extras/CUPTI/lib64"
        installed.mkdir(parents=True)
        (installed / "libcupti.so.13").write_text("no library")
        self.assertIn(f"CUPTI: libcupti cannot be loaded: {installed}/libcupti.so.13: ",
                      self.trouble_with(CUDA_HOME=str(self.folder.parent / "cuda")))

    def test_records_that_are_refused_are_said_once(self):
        for version in (28, 130500):
            for options, words in (("", [(6, "CUPTI: sets cannot be recorded (error 13)")]),
                                   ("memory", [(6, "CUPTI: sets cannot be recorded (error 13)"),
                                               (6, "CUPTI: memory cannot be recorded (error 13)")])):
                with self.subTest(version=version, options=options):
                    self.run_device("exit", 1, 10, version=version, fault="refuse-some", options=options)
                    log = self.only_log()
                    self.assertEqual(self.troubles(log), words)
                    self.assertEqual(len(log.of(logs.KERNEL)), 10)

    def test_without_a_thread_it_is_said(self):
        if not os.path.isfile(SHIM):
            self.skipTest("the shim that makes calls fail is not built")
        preload = f"{SHIM} {LIBRARY}"
        said = self.trouble_with(PROGRAMS / "device", "exit", "1", "1", BORESCOPE_CUPTI=str(PROGRAMS / "libsimcupti.so"),
                                 SIMCUPTI_VERSION="28", LD_PRELOAD=preload, FAULT_CALL="thread", FAULT_AT="1")
        self.assertEqual(said, "CUPTI: no thread can be had")

    def test_buffers_that_another_profiler_took(self):
        self.run_device("exit", 1, 100, fault="keep")
        ((kind, text),) = self.troubles(self.only_log())
        self.assertEqual(kind, 6)
        self.assertIn("buffers were not returned", text)

    def test_a_profiler_of_the_processor_alone_leaves_the_device_to_us(self):
        for how in ("kineto", "kineto-past"):
            for version in (28, 130000, 130500):
                with self.subTest(how=how, version=version):
                    total = self.run_device(how, 1, 6000, version=version)
                    log = self.only_log()
                    kernels = self.kernels(log)
                    self.assertEqual(len(kernels), 18_000)
                    self.assertEqual(sum(k[2] - k[1] for k in kernels), total)
                    self.assertEqual(len(log.of(logs.CALL)), 18_000)
                    self.assertEqual(self.troubles(log), [])

    def test_after_a_profiler_of_the_device_it_is_recorded_again(self):
        self.run_device("kineto-gpu", 1, 6000)
        log = self.only_log()
        self.assertEqual(len(self.kernels(log)), 12_000)
        ((kind, text),) = self.troubles(log)
        self.assertEqual(kind, 6)
        self.assertIn("another profiler of the program takes its buffers", text)

    def test_a_buffer_that_cannot_be_read(self):
        self.run_device("exit", 1, 100, fault="broken")
        troubles = self.troubles(self.only_log())
        self.assertIn((6, "CUPTI: a buffer could not be read to its end (error 999)"), troubles)
        self.assertGreater(len(self.only_log().of(logs.KERNEL)), 0)

    def test_a_flush_that_hangs_is_abandoned(self):
        begin = time.monotonic()
        self.run_device("exit", 1, 100, fault="hang")
        self.assertLess(time.monotonic() - begin, 5)


if __name__ == "__main__":
    unittest.main()
