"""tests/gpu/run.sh on any machine: it comes to its end, each check has its row and its reason, and what checks
conclude from answers such as those of an H100 (canned here) is right."""

import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

import report_text
import run as runner
import toolkit
from bench import Bench, Missing, Skip
from checks import counts, ends
from checks.registry import CHECKS, Check, Failures

sys.path.append(str(Path(__file__).resolve().parents[1] / "record"))
import write_seeds  # noqa: E402

HERE = Path(__file__).parent
BUILD = os.environ.get("BORESCOPE_BUILD", "no-such-build")
BY_NUMBER = {check.number: check for check in CHECKS}


class Run(unittest.TestCase):
    def run_list(self, *options, build=BUILD, path="/usr/bin:/bin"):
        with tempfile.TemporaryDirectory() as out:
            result = subprocess.run([HERE / "run.sh", build, out, *options], capture_output=True, text=True,
                                    check=False, timeout=300, env={"PATH": path, "PYTHON": sys.executable})
            report = json.loads((Path(out) / "report.json").read_text(encoding="utf-8"))
        return result, report

    def test_without_a_gpu_all_is_skipped(self):
        # No folder with nvidia-smi or nvcc, so that a GPU of this machine is not in the way.
        with tempfile.TemporaryDirectory() as folder:
            for name in ("sh", "env", "dirname", "find"):
                for place in ("/usr/bin", "/bin"):
                    if not (Path(folder) / name).exists() and Path(place, name).exists():
                        (Path(folder) / name).symlink_to(Path(place, name))
            result, report = self.run_list(path=folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["number"] for row in report["checks"]], list(range(1, 26)))
        for row in report["checks"]:
            self.assertEqual(row["status"], "skipped", row)
            self.assertTrue(row["reason"] and row["expected"] and row["title"])
        self.assertIn("system", report["machine"])

    def test_nothing_is_left_but_the_report(self):
        with tempfile.TemporaryDirectory() as out, tempfile.TemporaryDirectory() as scratch:
            subprocess.run([HERE / "run.sh", "/no/such/build", out], capture_output=True, check=True, timeout=300,
                           env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "TMPDIR": scratch})
            self.assertEqual(sorted(os.listdir(out)), ["report.json", "report.txt"])
            self.assertEqual(os.listdir(scratch), [])
            text = Path(out, "report.txt").read_text(encoding="utf-8")
        self.assertIn("25 checks: 0 passed, 25 skipped, 0 failed", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 130)

    def test_some_of_it(self):
        result, report = self.run_list("--only", "2,17", build="/no/such/build")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([row["number"] for row in report["checks"]], [2, 17])
        self.assertIn("is missing", report["checks"][0]["reason"])

    def test_no_time_at_all(self):
        result, report = self.run_list("--seconds", "0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual({row["reason"].partition(":")[0] for row in report["checks"]}, {"no time left"})


class Order(unittest.TestCase):
    def test_every_check_has_its_place(self):
        self.assertEqual(sorted(runner.ORDER), sorted(BY_NUMBER))
        self.assertEqual([check.number for check in runner.ordered(CHECKS)], list(runner.ORDER))

    def test_what_measures_time_runs_alone(self):
        for batch in runner.batches(runner.ordered(CHECKS)):
            self.assertTrue(len(batch) == 1 or not any(check.is_alone for check in batch))

    def test_all_of_it_takes_as_long_as_is_said(self):
        def seconds(batch):
            return max(sum(check.seconds for check in batch) / runner.BESIDE, max(check.seconds for check in batch))
        self.assertLess(sum(map(seconds, runner.batches(runner.ordered(CHECKS)))), 150)

    def test_a_budget_leaves_out_what_would_take_longer(self):
        """Random lists: what ran fitted when it began, and what was left out did not; the report has all."""
        for seed in range(20):
            rng = random.Random(seed)
            ran = []
            checks = [Check(number, "a", "b", (), rng.choice([0.0, 0.01, 0.02, 5.0]), rng.random() < 0.5,
                            lambda _, number=number: (time.sleep(0.005), ran.append(number), ({}, Failures()))[2])
                      for number in range(1, 9)]
            bench = Bench(Path("."), Path("."), until=time.monotonic() + 1.0)
            report = {"checks": []}
            with Silence():
                runner.run_all(checks, bench, report, lambda: None)
            self.assertEqual([row["number"] for row in report["checks"]], list(range(1, 9)))
            self.assertEqual(sorted(ran), [check.number for check in checks if check.seconds < 1])
            for row in report["checks"]:
                self.assertEqual(row["status"], "passed" if row["number"] in ran else "skipped")

    def test_a_program_that_hangs_is_ended_with_its_children(self):
        bench = Bench(Path("."), Path("."))
        with tempfile.TemporaryDirectory() as folder:
            pid = Path(folder) / "pid"
            with self.assertRaises(subprocess.TimeoutExpired):
                bench.execute(["sh", "-c", f"sleep 60 & echo $! > {pid}; wait"], limit=0.5)
            child = int(pid.read_text(encoding="ascii"))
        for _ in range(100):
            try:
                state = Path(f"/proc/{child}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
            except FileNotFoundError:
                return
            if state == "Z":
                return
            time.sleep(0.02)
        self.fail("the child still runs")


class Report(unittest.TestCase):
    def test_text_of_a_report(self):
        report = {"machine": {"gpu": "NVIDIA H200, 580.159.04", "nvcc": ["a", "b"], "jax": ""}, "seconds": 12.3, "checks": [
            {"number": 9, "title": "graphs", "expected": "rows", "status": "passed", "seconds": 1.0, "failures": [],
             "figures": {"rows": 100, "ms": 2.34567, "by kind": {"kernel": [1, 2]}}},
            {"number": 2, "title": "launches", "expected": "1000 kernels", "status": "failed", "seconds": 2.0,
             "failures": ["kernels: 999, expected 1000"], "recordings": ["check2-run1.bsr"]},
            {"number": 3, "title": "threads", "expected": "x", "status": "skipped", "reason": "no nvcc", "seconds": 0.0}]}
        text = report_text.write(report)
        self.assertEqual(report_text.summary(report), "3 checks: 1 passed, 1 skipped, 1 failed; 12 s")
        self.assertLess(text.index("FAILED."), text.index("SKIPPED."))
        self.assertLess(text.index("SKIPPED."), text.index("PASSED."))
        for words in ("differs    kernels: 999, expected 1000", "expected   1000 kernels", "skipped    no nvcc",
                      "measured   rows 100, ms 2.346, by kind (kernel [1, 2])", "gpu        NVIDIA H200, 580.159.04", "jax        none"):
            self.assertIn(words, text)

    def test_recordings_of_failed_checks_are_kept_as_far_as_they_are_small(self):
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder, "work")
            for name, size in (("a.bsr", 1000), ("b.bsr", runner.MOST_KEPT_BYTES), ("c.bsr", 2000), ("d.bsr", 5)):
                (work / name).mkdir(parents=True)
                (work / name / "log.bsl").write_bytes(bytes(size))
            report = {"checks": [{"recordings": ["a.bsr", "b.bsr", "gone.bsr"]}, {}, {"recordings": ["c.bsr"]}]}
            runner.keep_failed(report, work, Path(folder, "failed.tar.gz"))
            self.assertEqual(report["kept"]["recordings"], ["a.bsr", "c.bsr"])
            with tarfile.open(Path(folder, "failed.tar.gz")) as archive:
                sizes = {each.name: each.size for each in archive if each.isfile()}
            self.assertEqual(sizes, {"a.bsr/log.bsl": 1000, "c.bsr/log.bsl": 2000})


class Silence:
    def __enter__(self):
        self.out = sys.stdout
        sys.stdout = open(os.devnull, "w", encoding="utf-8")

    def __exit__(self, *raised):
        sys.stdout.close()
        sys.stdout = self.out


class Launched:
    """Stands in for programs/work.cu that launches without an end."""

    def __init__(self, *given):
        self.folder = "run.bsr"

    def finished(self):
        return 20_000

    def pid(self):
        return os.getpid()

    def kill(self):
        pass


class Statements(unittest.TestCase):
    def test_what_checks_ask_is_understood(self):
        """Every statement of every check, put to the program."""
        program = Path(BUILD, "bin", "borescope")
        if not program.exists():
            self.skipTest("no build")
        asked = []

        class Asking(Canned):
            def query(self, statement, run):
                asked.append(statement)
                columns = re.sub(r"\([^)]*\)", "", statement.partition(" FROM ")[0]).count(",") + 1
                return [["a b", 1000][:columns] if "name" in statement.partition(" FROM ")[0] else [1000] * columns] * 4

            def output(self, *command):
                return ""

            def start(self, *command, options=()):
                return self.new_run(), subprocess.Popen(["true"])

        was = ends.Launching, ends.time.sleep
        ends.Launching, ends.time.sleep = Launched, lambda seconds: None
        try:
            with tempfile.TemporaryDirectory() as folder:
                for check in CHECKS:
                    try:
                        check.run(Asking(folder, {"": "1 1\n"}))
                    except (Missing, Skip):
                        continue
        finally:
            ends.Launching, ends.time.sleep = was
        statements = list(dict.fromkeys(asked))
        self.assertGreater(len(statements), 20)
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "device.bsl")
            log.write_bytes(write_seeds.device())
            result = subprocess.run([program, "query", "-q", log, "-f", "csv"], input=";\n".join(statements) + ";\n", text=True,
                                    capture_output=True, check=False, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sum(line.startswith("#") for line in result.stdout.splitlines()), len(statements))


# ---- checks with canned answers ----------------------------------------------------------------------------------

DOCTOR = "# quality\nrank,check,severity,count,share,first,help\n"
DOCTOR_ROWS = {"recording-gap": (1, "CUPTI: buffers were not returned", "records are missing"),
               "unlinked-device-event": (3, "Memset", "its call was not recorded"),
               "dropped-records": (12, "", "the buffer was full"), "torn-chunk": (1, "", "the log ends in a record")}


def doctor_answer(bad=(), absent=()):
    """As `doctor -f csv` prints it: checks that found nothing have rows, too."""
    rows = [f'0,{name},{"n/a" if name in absent else "warning" if name in bad else "ok"},'
            f'{count if name in bad else 0},,"{first}","{help_text}"'
            for name, (count, first, help_text) in DOCTOR_ROWS.items()]
    return DOCTOR + "\n".join(rows) + "\n\n# files\nrank,file,format\n0,recording-gap,recording\n"


class Canned(Bench):
    """Answers by words of the command: a text, a status and an error, or a function of the command. The first that fits is
    taken; a recording is made where a command asks for one, unless `no_recording`."""

    def __init__(self, folder, answers, no_recording=False, is_long=False):
        super().__init__(Path("/build"), Path(folder), is_long)
        self.answers, self.no_recording, self.commands = answers, no_recording, []

    def execute(self, command, env=None, limit=None):
        words = " ".join(map(str, command))
        self.commands.append(words)
        if " record " in words and " -o " in words and not self.no_recording:
            Path(command[command.index("-o") + 1]).mkdir(exist_ok=True)
        for text, answer in self.answers.items():
            if text in words:
                answer = answer(words) if callable(answer) else answer
                out, status, error = (answer, 0, "") if isinstance(answer, str) else answer
                return subprocess.CompletedProcess(command, status, out, error)
        return subprocess.CompletedProcess(command, 0, "", "")

    def program(self, *flags, source="work.cu", libraries=()):
        return Path("/programs", Path(source).stem)


def table(*rows):
    """An answer of `query`: a header, then the rows."""
    return "\n".join(["a,b,c,d"[:2 * len(rows[0]) - 1] if rows else "a", *(",".join(map(str, row)) for row in rows)]) + "\n"


class Checks(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def ask(self, number, answers, **more):
        return BY_NUMBER[number].run(Canned(self.folder, answers, **more))

    def row(self, number, answers, **more):
        bench = Canned(self.folder, answers, **more)
        bench.require = lambda need: None
        return runner.run_check(BY_NUMBER[number], bench)

    # 1

    def test_find_fails_where_it_may_not_look_and_still_finds(self):
        paths = "/opt/cuda/lib64/libcupti.so.13\n/usr/lib/libcupti.so.13\n"
        for status in (0, 1):
            figures, failures = self.ask(1, {"find ": (paths, status, "find: '/root': Permission denied"),
                                             "libcupti.so.13": "130001\n", "nvidia-smi": "NVIDIA H100, 580.159.04\n"})
            self.assertEqual((figures["libcupti"], failures), (dict.fromkeys(paths.split(), "130001"), []))
        _, failures = self.ask(1, {"find ": ("", 1, "find: '/root': Permission denied"), "nvidia-smi": "NVIDIA H100"})
        self.assertEqual(failures, ["no libcupti.so on this machine"])

    def test_a_real_find(self):
        for folder in ("a/b", "closed"):
            (self.folder / folder).mkdir(parents=True)
        (self.folder / "a/b/libcupti.so.12").touch()
        (self.folder / "closed").chmod(0)
        real = Bench(Path("/build"), self.folder)
        old, toolkit.search_roots = toolkit.search_roots, lambda: [str(self.folder), "/no/such/root"]
        try:
            self.assertEqual(counts.find_libraries(real, "libcupti.so*"), [str(self.folder / "a/b/libcupti.so.12")])
        finally:
            toolkit.search_roots = old
            (self.folder / "closed").chmod(0o700)

    # 2, 12, 14: doctor

    def launches(self, doctor):
        return {"doctor": doctor, "COUNT(*) FROM kernels": table((1000,)), "COUNT(*) FROM launches": table((1000,)),
                "COUNT(launch_id)": table((1000,)),
                "FROM copies": table(("Memcpy HtoD (Pageable -> Device)", 4194304),
                                     ("Memcpy DtoH (Device -> Pageable)", 4194304))}

    def test_rows_of_doctor_that_are_ok_are_no_findings(self):
        _, failures = self.ask(2, self.launches(doctor_answer(absent=("torn-chunk",))))
        self.assertEqual(failures, [])
        for name in DOCTOR_ROWS:
            _, failures = self.ask(2, self.launches(doctor_answer(bad=(name,))))
            self.assertEqual(failures, [f"doctor: ['{name}'], expected []"])

    def test_what_torch_profiler_took_must_be_said(self):
        answers = {"model.py profiled": "2314\n", "COUNT(*) FROM kernels": table((1430,))}
        figures, failures = self.ask(12, {"doctor": doctor_answer(bad=("recording-gap",)), **answers})
        self.assertEqual((figures["doctor"], failures), (["recording-gap"], []))
        _, failures = self.ask(12, {"doctor": doctor_answer(), **answers})
        self.assertEqual(failures, ["kernels are missing, and nothing says so"])

    def test_beside_other_tools(self):
        figures, failures = self.ask(14, {"doctor": doctor_answer(bad=("recording-gap",)),
                                          "CUDA_INJECTION64_PATH": ("", 2, "CUDA_INJECTION64_PATH is set")})
        self.assertEqual((figures["doctor"], failures), (["recording-gap"], []))

    # 5

    def steady(self, rng, drift_per_minute, seconds=10, hertz=100):
        """Pairs as on the H100: the first launch loads modules for 105 ms, the host is noisy, and some waits are long."""
        rows = []
        for i in range(seconds * hertz):
            call = 10**15 + i * (10**9 // hertz) + rng.randint(0, 50_000)
            wait = 105_000_000 if i == 0 else 4000 + int(rng.expovariate(1 / 3000))
            wait += rng.choice([0] * 50 + [2_000_000]) + round(drift_per_minute * i / hertz / 60)
            rows.append((call, call + wait, 2000))
        return {"launches.ts_ns": table(*rows)}

    def test_the_first_launch_is_no_drift(self):
        for seed in range(20):
            figures, failures = self.ask(5, self.steady(random.Random(seed), 0))
            self.assertEqual(failures, [], figures)

    def test_a_drift_is_seen(self):
        for seed in range(20):
            rng = random.Random(seed)
            drift = rng.choice([-1, 1]) * rng.randint(3000, 1_000_000)
            figures, failures = self.ask(5, self.steady(rng, drift))
            self.assertEqual(len(failures), 1, (drift, figures))
            self.assertLess(abs(figures["ns_per_minute"] - drift), 1500 + 0.02 * abs(drift))

    def test_nothing_recorded_is_no_clock(self):
        _, failures = self.ask(5, {"launches.ts_ns": "a,b,c\n"})
        self.assertEqual(len(failures), 2)

    # 8

    def costs(self, ours, theirs, is_there=True):
        """Nanoseconds of an empty launch, by way; `plain` of both is 3,600."""
        toolkit_was = toolkit.find_cupti_header, toolkit.find_cupti
        toolkit.find_cupti_header = lambda: Path("/cuda/include/cupti.h") if is_there else None
        toolkit.find_cupti = lambda: Path("/cuda/lib/libcupti.so.13") if is_there else None
        answers = {"launch_cost plain": "records 0 ns 3600.0\n", "launch_cost kernels": f"records 9 ns {theirs - 200}\n",
                   "launch_cost few": f"records 9 ns {theirs - 50}\n", "launch_cost all": f"records 9 ns {theirs}\n", "--api=none": f"{ours - 100}\n", "--no-cuda": "3650\n",
                   "--memory": f"{ours + 50}\n", " record ": f"{ours}\n", "work empty": "3600.0\n"}
        try:
            return self.ask(8, answers)
        finally:
            toolkit.find_cupti_header, toolkit.find_cupti = toolkit_was

    def test_the_cost_above_that_of_cupti(self):
        for ours, theirs, is_good in ((7101.3, 4600.0, False), (4880.0, 4600.0, True), (4901.0, 4600.0, False)):
            figures, failures = self.costs(ours, theirs)
            self.assertEqual(not failures, is_good, figures)
            self.assertAlmostEqual(figures["all, more than CUPTI"], ours - theirs, places=1)
            self.assertEqual(figures["CUPTI: all, more than few"], 50.0)
        # What was measured is in the report all the same.
        with self.assertRaisesRegex(Skip, "not known") as skipped:
            self.costs(4880.0, 4600.0, is_there=False)
        self.assertEqual(skipped.exception.figures["all"], 4880.0)

    # 11, 16: what is missing is said

    def test_a_recording_that_was_not_made(self):
        cause = "borescope: borescope_record: not found next to /build/lib; install Borescope with its recorder"
        answers = {"exported": "9.3\n9.4\n", " record ": ("", 2, cause + "\nTry: borescope record --help")}
        for number in (11, 16):
            row = self.row(number, answers, no_recording=True)
            self.assertEqual(row["status"], "failed")
            self.assertNotIn("traceback", row)
            self.assertIn("made no recording", row["failures"][0])

    def test_a_program_that_printed_nothing(self):
        row = self.row(16, {"exported": ("", 1, "RuntimeError: CUDA error: out of memory")})
        self.assertEqual((row["status"], row["reason"]),
                         ("skipped", f"without recording {Path(sys.executable).name} model.py exported 20 torch.json printed "
                                     "no figure (status 1): RuntimeError: CUDA error: out of memory"))

    def test_a_build_without_the_python_side(self):
        build = self.folder / "build"
        for name in ("bin/borescope", "lib/libborescope_record.so"):
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            (build / name).touch()
        bench = Bench(build, self.folder)
        with self.assertRaisesRegex(Skip, "Python side of the recorder is missing"):
            bench.require("python side")
        startup = build / "lib/python/borescope_record/startup"
        startup.mkdir(parents=True)
        (startup / "sitecustomize.py").touch()
        Bench(build, self.folder).require("python side")

    def test_a_program_that_fails_without_recording_too_is_skipped(self):
        """torchrun that may not listen, a compute-sanitizer that refuses the device, Triton without a compiler."""
        error = ("", 1, "Error: Device not supported")
        for number, program in ((14, "compute-sanitizer"), (13, "torch.distributed.run"), (24, "model.py compiled")):
            answers = {program: error, "CUDA_INJECTION64_PATH": ("", 2, "CUDA_INJECTION64_PATH is set"), "doctor": doctor_answer(),
                       "SELECT DISTINCT pid": table((1,), (2,)), "COUNT(op_id)": table((0, 0)), "triton%": table((0,))}
            row = self.row(number, answers)
            self.assertEqual(row["status"], "skipped", row)
            self.assertIn("fails without recording, too (status 1): Error: Device not supported", row["reason"])
            # The same program that only fails while it is recorded.
            row = self.row(number, {" record ": error, program: ""} | {key: answers[key] for key in answers if key != program})
            self.assertEqual(row["status"], "failed", row)
            self.assertTrue(row["recordings"])

    def test_a_program_that_is_to_fail_is_no_reason_to_skip(self):
        """Check 7: kernels are missing, and the statuses are those that were asked for."""
        statuses = {"term": -15, "_exit": 7, "segv": -11, "abort": -6}
        answers = {f" 1000 {how}": ("", status, "") for how, status in statuses.items()}
        row = self.row(7, {"COUNT(*) FROM kernels": table((1000,)), **answers})
        self.assertEqual(row["status"], "passed", row)
        row = self.row(7, {"COUNT(*) FROM kernels": table((999,)), **answers})
        self.assertEqual((row["status"], len(row["failures"])), ("failed", 4))

    def test_power_that_nvidia_smi_does_not_say(self):
        class Ending(Canned):
            def start(self, *command, options=()):
                return self.new_run(), subprocess.Popen(["sleep", "0.2"])

        for said in ("[N/A]", ""):
            bench = Ending(self.folder, {"nvidia-smi": said, "FROM samples": table((100.0,))})
            with self.assertRaisesRegex(Skip, "says no power"):
                BY_NUMBER[15].run(bench)

    def operators(self, nvtx, profile, kernels):
        answers = iter([table((6015, 6015)), table((kernels, kernels))])
        return {"exported": "9.31\n9.4\n", "--ops=nvtx": f"{nvtx}\n", "--ops=profile": f"{profile}\n",
                "COUNT(op_id)": lambda _: next(answers)}

    def test_operators(self):
        self.assertEqual(self.ask(11, self.operators(13.1, 27.0, 6015))[1], [])
        self.assertEqual(self.ask(11, self.operators(18.0, 88.7, 0))[1],
                         ["--ops=nvtx: a step of 18.0 ms, 9.3 without", "--ops=profile: 0 of 0 linked",
                          "--ops=profile: a step of 88.7 ms, 9.3 without"])

    # the new ones

    def test_a_program_that_does_not_begin(self):
        bench = Bench(self.folder, self.folder)
        bench.borescope, bench.program = "/bin/false", lambda: "/no/such/program"
        with self.assertRaisesRegex(Missing, "did not begin"):
            ends.Launching(bench, 100)

    def ring(self, calls, in_last_second):
        was, ends.Launching, ends.time.sleep = (ends.Launching, ends.time.sleep), Launched, lambda seconds: None
        try:
            return self.ask(22, {"ts_ns >": table((in_last_second,)), "MIN(ts_ns)": table((10**9, 3 * 10**9, calls))})
        finally:
            ends.Launching, ends.time.sleep = was

    def test_ring(self):
        self.assertEqual(self.ring(9_800, 4_990)[1], [])
        self.assertEqual(len(self.ring(20_000, 4_990)[1]), 1)
        self.assertEqual(len(self.ring(9_800, 3_000)[1]), 1)

    def jax(self, linked_sets=414, operations=340, steps=20, unnamed=0):
        return {"jax_steps.py": "0.66\n", "GROUP BY kind": table(("kernel", 340, 340), ("memset", linked_sets, 414)),
                "COUNT(op_id)": table((operations, 340)), "FROM steps": table((steps,)), "cuApi": table((unnamed,))}

    def test_jax(self):
        self.assertEqual(self.ask(19, self.jax())[1], [])
        self.assertEqual(self.ask(19, self.jax(linked_sets=28))[1], ["memset: 28 of 414 have a call"])
        self.assertEqual(self.ask(19, self.jax(operations=0))[1], ["0 of 340 kernels of steps have an operation"])
        self.assertEqual(len(self.ask(19, self.jax(steps=0, unnamed=3))[1]), 2)

    def test_a_graph_of_pytorch(self):
        def answers(rows, kernels, nodes):
            return {"COUNT(*) FROM kernels WHERE name": table((rows,)), "graph_node_id": table((kernels, nodes))}
        self.assertEqual(self.ask(20, answers(10, 1500, 150))[1], [])
        self.assertEqual(len(self.ask(20, answers(9, 1499, 150))[1]), 2)
        self.assertEqual(len(self.ask(20, answers(10, 0, 0))[1]), 1)

    def inductor_cache(self):
        folder = self.folder / "inductor" / "ab"
        folder.mkdir(parents=True)
        (folder / "cab.py").write_text("async_compile.triton('''\ndef benchmark_all_configs(args):\n''')", encoding="utf-8")
        (folder / "cxy.py").write_text("import triton\n\n\ndef benchmark_all_configs(args):\n    pass\n", encoding="utf-8")

    def test_bench_kernel(self):
        head = "# bench\nconfig,time_ns,slowdown,bytes,gbps,registers,spills,shared_bytes\n"
        traced = "# traced\nname,count\ntriton_poi_fused_0,5\n"
        row = self.row(21, {})
        self.assertIn("left no kernel with a benchmark", row["failures"][0])
        self.inductor_cache()
        figures, failures = self.ask(21, {"bench-kernel": head + '"XBLOCK: 256",2668,1.0,24576,9.21,16,0,0\n' + traced})
        self.assertEqual((figures["file"], figures["kernels"], len(figures["configs"]), failures), ("cxy.py", 1, 1, []))
        _, failures = self.ask(21, {"bench-kernel": ("", 2, "borescope: cxy.py: its benchmark gave no time")})
        self.assertEqual(len(failures), 2)

    def test_hardware_counters(self):
        def answers(launches, fused, before):
            work = {f"FROM launches WHERE name LIKE 'cudaLaunchKernel": table((launches,)),
                    "COUNT(launch_id)": table((launches,)), "COUNT(*) FROM kernels WHERE correlation": table((before,)),
                    "COUNT(*) FROM kernels": table((launches,)), "doctor": doctor_answer()}
            rows = [("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", 100, fused, fused), ("dram__bytes_read.sum", 100, 1, 2)]
            return work | {"FROM counters GROUP": "metric,n,a,b\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)}
        self.assertEqual(self.ask(25, answers(200, 1 << 20, 50))[1], [])
        self.assertEqual(len(self.ask(25, answers(200, 1000, 51))[1]), 2)
        self.assertEqual(len(self.ask(25, answers(200, 1 << 20, 50) | {"FROM counters GROUP": "metric,n,a,b\n"})[1]), 2)

    def test_counters_that_the_machine_refuses(self):
        work = {"FROM launches": table((200,)), "COUNT(launch_id)": table((200,)), "FROM counters GROUP": "metric,n,a,b\n",
                "COUNT(*) FROM kernels WHERE correlation": table((0,)), "COUNT(*) FROM kernels": table((200,))}

        def said(text):
            return {"doctor": DOCTOR + f'0,recording-gap,warning,1,,"CUPTI: no counters: {text}","missing"\n', **work}
        for text in ("cuptiRangeProfilerEnable is not permitted: run as root", "this version has no range profiler",
                     "cuptiProfilerInitialize failed (error 999)"):
            with self.assertRaisesRegex(Skip, re.escape(text)) as skipped:
                self.ask(25, said(text))
            self.assertEqual(skipped.exception.figures["kernels"], 200)
        self.assertEqual(len(self.ask(25, said("cuptiRangeProfilerStart failed (error 7)"))[1]), 3)

    def test_torch_compile(self):
        def answers(linked, triton):
            return {"COUNT(op_id)": table((linked, 1000)), "triton%": table((triton,))}
        self.assertEqual(self.ask(24, answers(995, 400))[1], [])
        self.assertEqual(len(self.ask(24, answers(900, 0))[1]), 2)

    def test_a_window_of_steps(self):
        def answers(one, three):
            found = iter([table((one,)), table((three,))])
            return {"COUNT(*) FROM kernels": lambda _: next(found)}
        self.assertEqual(self.ask(23, answers(231, 693))[1], [])
        self.assertEqual(len(self.ask(23, answers(231, 700))[1]), 1)
        self.assertEqual(len(self.ask(23, answers(0, 0))[1]), 1)


if __name__ == "__main__":
    unittest.main()
