"""Python programs that record: the package, what runs at the start of the interpreter, functions, and the names of
rocmProfileData. Without PyTorch."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import logs
from support import LIBRARY
from python_support import BORESCOPE, PACKAGE, PythonTest, calls_of, clean_environment

RANGES = """
import threading
import borescope_record as record
with record.range("outer"):
    with record.range("inner"):
        record.mark("moment")

@record.range("decorated")
def function(value):
    return value + 1
assert function(1) == 2 and function.__name__ == "function"

def work():
    with record.range("of a thread"):
        pass
thread = threading.Thread(target=work)
thread.start()
thread.join()
try:
    with record.range("raises"):
        raise KeyError
except KeyError:
    pass
record.flush()
print(record.is_recording())
"""


class Package(PythonTest):
    def test_ranges_and_marks(self):
        self.expect_quiet(self.record("--python", script=RANGES), "True\n")
        log = self.log_of()
        self.assertEqual([text for _, text in logs.finished(log)],
                         ["inner", "outer", "decorated", "raises", "of a thread"])
        self.assertEqual([mark.text for mark in log.of(logs.MARK)], ["moment"])
        self.assertEqual(len({tid for tid, _ in logs.finished(log)}), 2)

    def test_without_options_of_python_it_is_found_where_it_is_installed(self):
        self.expect_quiet(self.record(script=RANGES, PYTHONPATH=str(PACKAGE)), "True\n")
        self.assertEqual(len(logs.finished(self.log_of())), 5)

    def test_a_range_that_is_open_at_a_kill_ends_there(self):
        for end in ("os.kill(os.getpid(), 9)", "os._exit(3)"):
            script = f"""
import os, time
import borescope_record as record
with record.range("open"):
    time.sleep(0.25)
    {end}
"""
            result = self.record(script=script, PYTHONPATH=str(PACKAGE))
            self.assertIn(result.returncode, (-9, 3), result.stderr)
            ((name, duration),) = self.query("SELECT name, dur_ns FROM host_events", "x.bsr")
            self.assertEqual(name, "open")
            self.assertGreaterEqual(duration, 250_000_000)
            status = subprocess.run([BORESCOPE, "record", "status", "x.bsr"], cwd=self.folder, text=True,
                                    capture_output=True, check=False, env=clean_environment())
            self.assertIn("Processes of the run, which have ended", status.stdout)

    def test_nothing_happens_outside_of_a_recording(self):
        script = RANGES + """
import sys
assert "ctypes" not in sys.modules
with record.recording(), record.step(3), record.ops():
    record.start()
    record.stop()
"""
        self.expect_quiet(self.run_plain(script, PYTHONPATH=str(PACKAGE)), "False\n")

    def test_all_pythons_do(self):
        script = RANGES + "\nwith record.recording(): record.step(1)\n"
        for python in other_pythons():
            with self.subTest(python):
                self.python = python
                self.expect_quiet(self.record("--python", script=script), "True\n")
                self.assertEqual(len(logs.finished(self.log_of())), 6)

    def test_steps(self):
        script = """
import borescope_record as record
with record.range("epoch"):
    for number in range(3):
        record.step(number)
record.mark("between")
with record.step(7):
    pass
record.step("no number")
record.step(8)
"""
        result = self.record("--python", script=script)
        self.assertEqual(result.returncode, 0)
        self.assertIn("invalid literal", result.stderr)  # said because of BORESCOPE_RECORD_DEBUG
        log = self.log_of()
        self.assertEqual([text for _, text in logs.finished(log)],
                         ["ProfilerStep#0", "ProfilerStep#1", "epoch", "ProfilerStep#2", "ProfilerStep#7",
                          "ProfilerStep#8"])
        rows = self.query("SELECT number FROM steps ORDER BY number", "x.bsr")
        self.assertEqual(rows, [(0,), (1,), (2,), (7,), (8,)])

    def test_from_here_to_there(self):
        script = """
import borescope_record as record
record.mark("before")
with record.recording():
    record.mark("within")
    with record.recording():
        record.mark("nested")
    record.mark("still within")
record.mark("after")
@record.recording()
def function():
    record.mark("of a function")
function()
"""
        self.expect_quiet(self.record("--python", "--paused", script=script))
        self.assertEqual([mark.text for mark in self.log_of().of(logs.MARK)],
                         ["within", "nested", "still within", "of a function"])

    def test_rules_start_and_stop(self):
        script = """
import asyncio
import borescope_record as record
print(record.is_recording())
for number in range(4):
    record.step(number)
    with record.range("load"):
        pass
    with record.range("train"):
        print(record.is_recording())
        record.mark("within")
@record.range("request")
async def request():
    record.mark("of a request")
asyncio.run(request())
"""
        for rules, marks in ((["--start=step:1", "--stop=step:3"], ["within"] * 2),
                             (["--start=range:train", "--repeat=3"], ["within"] * 3),
                             (["--start=range:request"], ["of a request"])):
            result = self.record("--python", *rules, script=script)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout.split().count("True"), marks.count("within"))
            self.assertEqual([mark.text for mark in self.log_of().of(logs.MARK)], marks)

    def test_texts_of_all_kinds(self):
        script = """
import borescope_record as record
class Bad:
    def __str__(self):
        raise ValueError
for text in ("Größe", 7, None, "a\\0b", "\\udc80", Bad(), "x" * 5000):
    record.mark(text)
"""
        self.expect_quiet(self.record("--python", script=script))
        texts = [mark.text for mark in self.log_of().of(logs.MARK)]
        self.assertEqual(texts[:6], ["Größe", "7", "None", "a b", "?", "?"])
        self.assertEqual(len(texts[6]), 4096)

    def test_coroutines_overlap(self):
        script = """
import asyncio
import borescope_record as record
@record.range("request")
async def request():
    await asyncio.sleep(0)
async def main():
    await asyncio.gather(request(), request())
asyncio.run(main())
"""
        self.expect_quiet(self.record("--ops", script=script))
        log = self.log_of()
        order = [record.type for record in log.of(logs.RANGE_START, logs.RANGE_END)]
        self.assertEqual(order, [logs.RANGE_START] * 2 + [logs.RANGE_END] * 2)

    def test_a_child_of_fork_and_one_of_spawn(self):
        script = """
import multiprocessing
import sys
import borescope_record as record
def work(text):
    with record.range(text):
        pass
if __name__ == "__main__":
    record.mark("parent")
    for way in ("fork", "spawn"):
        process = multiprocessing.get_context(way).Process(target=work, args=(way,))
        process.start()
        process.join()
        assert process.exitcode == 0
"""
        self.expect_quiet(self.record("--ops", script=script))
        texts = sorted(text for log in self.logs_of() for _, text in logs.finished(log))
        self.assertEqual(texts, ["fork", "spawn"])

    def test_without_children_these_do_nothing(self):
        script = """
import subprocess, sys
import borescope_record as record
record.mark("parent")
subprocess.run([sys.executable, "-c", "import borescope_record as r; r.mark('child'); print(r.is_recording())"])
"""
        self.expect_quiet(self.record("--no-children", "--python", script=script), "False\n")
        self.assertEqual([mark.text for mark in self.log_of().of(logs.MARK)], ["parent"])


def other_pythons():
    """This one, and those of other versions that are here: BORESCOPE_PYTHONS names more, separated by colons."""
    names = ["python3.9", "python3.10", "python3.12", "python3.13", "python3.14"]
    names += filter(None, os.environ.get("BORESCOPE_PYTHONS", "").split(":"))
    found = {sys.executable}
    for name in filter(shutil.which, names):
        answer = subprocess.run([name, "-S", "-c", "import sys; print(sys.executable)"], check=False,
                                capture_output=True, text=True)
        if answer.returncode == 0:
            found.add(answer.stdout.strip())
    return sorted(found)


class Startup(PythonTest):
    def test_the_hidden_sitecustomize_runs(self):
        self.write("theirs/sitecustomize.py", "import sys; sys.theirs = (__name__, __file__)")
        script = "import sys, sitecustomize; print(sys.theirs[0], sitecustomize.__file__ == sys.theirs[1])"
        result = self.record("--ops", script=script, PYTHONPATH=str(self.folder / "theirs"))
        self.expect_quiet(result, "sitecustomize True\n")

    def test_a_broken_one_fails_as_without_us(self):
        self.write("theirs/sitecustomize.py", "raise RuntimeError('theirs')")
        variables = {"PYTHONPATH": str(self.folder / "theirs")}
        script = "print('goes on')"
        plain, recorded = self.run_plain(script, **variables), self.record("--ops", script=script, **variables)
        self.assertEqual((recorded.returncode, recorded.stdout), (0, "goes on\n"))
        self.assertEqual(recorded.stderr, plain.stderr)
        self.assertIn("theirs", plain.stderr)

    def test_interpreters_that_look_for_no_site(self):
        for flag in ("-S", "-I", "-E"):
            with self.subTest(flag):
                self.expect_quiet(self.record("--ops", "--python", flags=[flag], script="print('runs')"),
                                  "runs\n")

    def test_pythons_that_are_too_old(self):
        """They run as without us, with the sitecustomize that is theirs."""
        self.write("theirs/sitecustomize.py", "import sys; sys.theirs = __name__")
        for python in ("python2", "python3.6", *filter(None, os.environ.get("BORESCOPE_OLD_PYTHONS", "").split(":"))):
            answer = subprocess.run([python, "-S", "-c", ""], capture_output=True, check=False) \
                if shutil.which(python) else None
            if answer is None or answer.returncode != 0:
                continue
            with self.subTest(python):
                self.python = python
                result = self.record("--ops", "--python", script="import sys; print(sys.theirs)",
                                     BORESCOPE_RECORD_DEBUG="", PYTHONPATH=str(self.folder / "theirs"))
                self.expect_quiet(result, "sitecustomize\n")

    def test_options_of_the_program_are_its_own(self):
        result = self.record("--ops", script="import sys; print(sys.argv[1:])", arguments=["--ops", "--python", "x"])
        self.expect_quiet(result, "['--ops', '--python', 'x']\n")

    def test_a_torch_that_is_not_pytorch(self):
        self.write("theirs/torch.py", "name = 'another'")
        script = "import torch; print(torch.name, torch.__spec__.loader.name)"
        for way in ("nvtx", "profile"):
            result = self.record(f"--ops={way}", script=script, PYTHONPATH=str(self.folder / "theirs"))
            self.assertEqual((result.returncode, result.stdout), (0, "another torch\n"))
            said = [mark.text for mark in self.log_of().of(logs.MARK)]
            self.assertEqual([text.partition(":")[0] for text in said], ["borescope"] * 2)
            self.assertIn("operators are not recorded", said[0])

    def test_windows_that_are_lost_are_said(self):
        """Of PyTorch's profiler, by a stand-in for what it gives: a disk that is full, and a profiler that refuses."""
        script = """
import types
from borescope_record import _windows

class Result:
    def __init__(self, text):
        self.text = text
    def save(self, path):
        if self.text is None:
            raise OSError(28, "No space left on device")
        with open(path, "w") as file:
            file.write(self.text)

ends = [Result('{"traceEvents": [], "baseTimeNanoseconds": 0}'), Result('{"traceEvents": [{"ph": "X", "na'), Result(""),
        Result(None), None]
def disable():
    result = ends.pop(0)
    if result is None:
        raise RuntimeError("refused")
    return result

anything = lambda *arguments, **named: None
autograd = types.SimpleNamespace(_prepare_profiler=anything, _enable_profiler=anything, _disable_profiler=disable,
                                 ProfilerState=types.SimpleNamespace(KINETO=0), ProfilerConfig=anything,
                                 ProfilerActivity=types.SimpleNamespace(CPU=0))
torch = types.SimpleNamespace(_C=types.SimpleNamespace(
    _autograd=autograd, _profiler=types.SimpleNamespace(_ExperimentalConfig=anything)), autograd=autograd)
window = _windows.Window(torch, 1)
while ends:
    window.enable()
    assert window.disable()
window._enable = None
window.enable()
"""
        self.expect_quiet(self.record("--python", script=script, BORESCOPE_RECORD_DEBUG=""))
        said = [mark.text for mark in self.log_of().of(logs.MARK)]
        self.assertEqual(len(said), 5, said)
        for number, (text, why) in enumerate(zip(said, ("not whole", "not whole", "No space left", "refused")), 2):
            self.assertRegex(text, f"^borescope: operators of window {number}, .* are not recorded: .*{why}")
        self.assertRegex(said[4], "^borescope: operators from here on are not recorded: ")

    def test_a_package_that_cannot_be_loaded_is_said(self):
        shutil.copytree(PACKAGE / "borescope_record", self.folder / "broken/borescope_record")
        (self.folder / "broken/borescope_record/_startup.py").write_text("raise OSError('broken')")
        result = self.record("--ops", script="print(1)", BORESCOPE_RECORD_DEBUG="",
                             BORESCOPE_RECORD_PYTHON_FOLDER=str(self.folder / "broken/borescope_record/startup"))
        self.expect_quiet(result, "1\n")
        self.assertEqual([mark.text for mark in self.log_of().of(logs.MARK)],
                         ["borescope: nothing of Python is recorded: OSError: broken"])

    def test_a_torch_that_fails(self):
        self.write("theirs/torch.py", "raise ImportError('broken')")
        script = "try:\n    import torch\nexcept ImportError as error:\n    print(error)"
        self.expect_quiet(self.record("--ops", script=script, PYTHONPATH=str(self.folder / "theirs")),
                          "broken\n")

    def test_no_torch(self):
        self.expect_quiet(self.record("--ops", flags=["-s"], script="""
import sys
sys.path = [entry for entry in sys.path if "-packages" not in entry]
for _ in range(2):
    try:
        import torch
    except ImportError:
        print("none")
"""), "none\nnone\n")

    def test_as_a_wheel_has_it(self):
        """The library in the folder of the module, the package beside that."""
        (self.folder / "site/borescope").mkdir(parents=True)
        library = shutil.copy(LIBRARY, self.folder / "site/borescope")
        shutil.copytree(PACKAGE / "borescope_record", self.folder / "site/borescope_record")
        result = self.record("--python", script="import borescope_record; print(borescope_record.__file__)",
                             BORESCOPE_RECORD_LIBRARY=str(library))
        self.expect_quiet(result, f"{self.folder}/site/borescope_record/__init__.py\n")

    def test_words_that_are_unknown(self):
        for options in (["--ops=all"], ["--python=lines"], ["--shapes"], ["--ops-steps", "3"], ["--no-nvtx", "--ops"]):
            result = self.record(*options, script="")
            self.assertEqual(result.returncode, 2)
            self.assertIn(options[0], result.stderr)


FUNCTIONS = """
import threading
def leaf(value):
    return value + 1
def values(count):
    try:
        for number in range(count):
            yield leaf(number)
    finally:
        pass
def raises():
    raise ValueError
def main():
    try:
        raises()
    except ValueError:
        pass
    first = values(3)
    next(first)
    try:
        first.throw(KeyError)
    except KeyError:
        pass
    second = values(3)
    next(second)
    second.close()
    list(values(2))
main()
thread = threading.Thread(target=leaf, args=(1,))
thread.start()
thread.join()
import json
json.dumps([1])
"""
# A generator counts each time that it is entered: at its start, and after each yield.
CALLED = {"main": 1, "raises": 1, "values": 2 + 2 + 3, "leaf": 1 + 1 + 2 + 1}


PROFILES = """
import json, os, random, sys, tempfile
from borescope_record._library import library

def read(text, ahead):
    path = os.path.join(sys.argv[1], "profile.json")
    with open(path, "wb") as file:
        file.write(text)
    return library.borescope_record_profile(os.fsencode(path), ahead)

def word(dice):
    letters = "ab:_ \\"\\\\/{}[],\\u00e9\\u20ac\\U0001f600\\t\\n"
    return "".join(dice.choice(letters) for _ in range(dice.randrange(1, 12)))

def event(dice, number):
    args = {"Record function id": number, "External id": dice.randrange(9), "Ev Idx": number}
    if dice.random() < 0.7:
        args["Input Dims"] = [[dice.randrange(9) for _ in range(dice.randrange(4))] for _ in range(dice.randrange(5))]
        args["Input type"] = [word(dice) for _ in args["Input Dims"]]
        args["Concrete Inputs"] = ["" for _ in args["Input Dims"]]
    if dice.random() < 0.5:
        args["Sequence number"], args["Fwd thread id"] = dice.randrange(100), dice.randrange(3)
    found = {"ph": dice.choice("XXXXiM"), "cat": dice.choice(["cpu_op", "cpu_op", "user_annotation", "python_function"]),
             "name": word(dice), "pid": 7, "tid": dice.randrange(1, 9), "ts": dice.randrange(10**9) / 1000,
             "dur": dice.randrange(10**6) / 1000, "args": args}
    for key in dice.sample(sorted(found), dice.randrange(3) if dice.random() < 0.2 else 0):
        if key not in ("ts", "tid"):
            del found[key]
    return found

truth = []
for seed in range(30):
    dice = random.Random(seed)
    events = [event(dice, number) for number in range(dice.randrange(60))]
    base, ahead = dice.randrange(10**17, 2 * 10**18), -dice.randrange(10**17)
    members = [("schemaVersion", 1), ("deviceProperties", [{"id": 0, "name": "]}"}]), ("traceEvents", events),
               ("baseTimeNanoseconds", base), ("traceName", "x")]
    dice.shuffle(members)
    text = json.dumps(dict(members), ensure_ascii=dice.random() < 0.5, indent=dice.choice([None, 1])).encode()
    count = read(text, ahead)
    wanted = [e for e in events if e.get("ph") == "X" and e.get("cat") in ("cpu_op", "user_annotation")]
    assert count == len(wanted), (count, len(wanted))
    truth.append([base + ahead, wanted])
    for _ in range(100):  # what is cut or broken does no harm
        broken = bytearray(text[:dice.randrange(len(text) + 1)])
        if broken and dice.random() < 0.5:
            broken[dice.randrange(len(broken))] = dice.randrange(256)
        library.borescope_record_mark(b"broken")
        read(bytes(broken), 0)
        library.borescope_record_mark(b"whole")
assert library.borescope_record_profile(b"/nowhere", 0) == -1
with open(os.path.join(sys.argv[1], "truth.json"), "w") as file:
    json.dump(truth, file)
"""


class Profiles(PythonTest):
    """Files of PyTorch's profiler, which the library reads, as Python reads them."""

    INPUTS = ("Input Dims", "Input type", "Concrete Inputs", "Input Strides")

    def expected(self):
        for base, events in json.loads((self.folder / "truth.json").read_text()):
            for event in events:
                start = base + round(event["ts"] * 1000)
                body = (start, start + round(event.get("dur", 0) * 1000))
                name, args = event.get("name", ""), event.get("args", {})
                if event["cat"] == "user_annotation":
                    yield name, (*body, 2**64 - 1, 0, 0), event["tid"], None
                    continue
                numbers = (args.get("Sequence number", -1) % 2**64, args.get("Fwd thread id", 0),
                           args.get("Record function id", 0))
                yield name, body + numbers, event["tid"], {k: args[k] for k in self.INPUTS if k in args}

    def found(self, log):
        strings, is_broken = log.strings(), False
        for record in log.of(logs.OPERATOR, logs.MARK):
            if record.type == logs.MARK:
                is_broken = record.text == "broken"
            elif not is_broken:
                # The tid is the first word of what logs.py takes for the text.
                data = record.text.encode("utf-8", "surrogateescape")
                thread, text = int.from_bytes(data[:8], "little"), data[8:].decode()
                is_range = record.body[2:5] == (2**64 - 1, 0, 0) and not text
                yield strings.get(record.a, ""), record.body, thread, None if is_range else json.loads(text or "{}")

    def test_events_are_as_python_reads_them(self):
        self.expect_quiet(self.record(script=PROFILES, PYTHONPATH=str(PACKAGE), arguments=[str(self.folder)]))
        expected, found = list(self.expected()), list(self.found(self.log_of()))
        self.assertGreater(len(expected), 300)
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            name, body, thread, inputs = other
            # A range and an operator without anything look alike here.
            inputs = inputs if inputs or one[3] is not None else None
            self.assertEqual(one, (name, body, thread, inputs))

# Its handlers call functions for the first time where the limit is near.
RECURSION = """
import sys, threading
def deep(n):
    global reached
    reached = n
    deep(n + 1)
def handled(n):
    try:
        handled(n + 1)
    except RecursionError:
        try: new[n]()
        except RecursionError: pass
new = [eval("lambda: None") for _ in range(5000)]
def run():
    found = set()
    for _ in range(20):
        try: deep(0)
        except RecursionError: found.add(reached)
    return sorted(found)
def after(): handled(0)
class Thread(threading.Thread):
    def run(self):
        self.found = run()
        after()
print(int(hasattr(sys, "monitoring")), *run())
after()
thread = Thread()
thread.start()
thread.join()
print(*thread.found)
after()
"""


def numbers(result):
    return [int(word) for word in result.stdout.split()]


class Functions(PythonTest):
    def check(self, log):
        called, still_open = calls_of(log)
        counts = {name: called.count(name) for name in CALLED}
        self.assertEqual(counts, CALLED)
        self.assertEqual(still_open, [])
        self.assertNotIn("dumps", called)

    def test_each_call_has_its_return(self):
        for python in other_pythons():
            with self.subTest(python):
                self.python = python
                self.expect_quiet(self.record("--python", script=FUNCTIONS))
                self.check(self.log_of())

    def test_the_limit_of_recursion_is_the_programs(self):
        """It is reached at the depth at which it is without us, again and again, and functions are recorded afterwards.
        What sys.monitoring calls, from Python 3.12 on, takes two calls of it, and is not called where there are none."""
        for python in other_pythons():
            with self.subTest(python):
                self.python = python
                plain = self.run_plain(RECURSION)
                self.expect_quiet(plain, plain.stdout)
                for options in (["--python"], ["--python", "--ops"]):
                    result = self.record(*options, script=RECURSION)
                    self.expect_quiet(result, result.stdout)
                    taken = [before - now for before, now in zip(numbers(plain), numbers(result))]
                    self.assertEqual(taken, [0, 2, 2] if numbers(plain)[0] else [0, 0, 0])
                    names = {record.a: record.text for record in self.log_of().of(logs.PYTHON_CODE)}
                    called = [names[record.a] for record in self.log_of().of(logs.PYTHON_CALL)]
                    self.assertEqual(called.count("after"), 3)
                    if not numbers(plain)[0]:
                        self.assertEqual(calls_of(self.log_of())[1], [])

    def test_frames_are_those_of_other_formats(self):
        self.expect_quiet(self.record("--python=calls", script=FUNCTIONS))
        rows = self.query("SELECT DISTINCT name FROM host_events WHERE kind = 'python' AND name LIKE '%leaf'",
                          "x.bsr")
        self.assertEqual(rows, [(f"{self.folder / 'program.py'}(3): leaf",)])


RPD = """
from rpdTracerControl import rpdTracerControl
rpdTracerControl.skipCreate()
rpdTracerControl.setFilename("trace.rpd", append=True)
rpd = rpdTracerControl()
def work():
    rpd.rangePush("python", "work", "1, 2")
    rpd.rangePop()
rpd.setPythonTrace(True)
rpd.start()
rpd.rangePush("", "rpd profile range", "")
work()
rpd.rangePop()
rpd.stop()
rpd.flush()
rpd.setPythonTrace(False)
with rpd:
    work()
work()
"""


class Rpd(PythonTest):
    def test_scripts_of_its_users(self):
        self.expect_quiet(self.record("--rpd-compat", "--paused", script=RPD))
        log = self.log_of()
        self.assertEqual([text for _, text in logs.finished(log)],
                         ["python: work(1, 2)", "rpd profile range", "python: work(1, 2)"])
        self.assertEqual(calls_of(log), (["work"], []))

    def test_its_variables(self):
        path = self.write("program.py", RPD)
        command = [BORESCOPE, "record", "-q", "--rpd-compat", "--", sys.executable, str(path)]
        subprocess.run(command, cwd=self.folder, check=True,
                       env=clean_environment(RPDT_FILENAME="theirs.rpd", RPDT_AUTOSTART="0"))
        self.assertEqual(len(logs.finished(self.log_of("theirs"))), 3)
        self.assertTrue((self.folder / "theirs.rpd").exists())

    def test_outside_of_a_recording(self):
        startup = PACKAGE / "borescope_record" / "startup"
        self.expect_quiet(self.run_plain(RPD, PYTHONPATH=f"{startup}:{PACKAGE}"))

    def test_its_library(self):
        script = """
import ctypes
rpd = ctypes.CDLL("librpd_tracer.so")
rpd.rpdstart()
rpd.rpd_rangePush(b"domain", b"name", b"")
rpd.rpd_mark(None, b"mark", b"x")
rpd.rpd_rangePop()
rpd.rpdflush()
rpd.rpdstop()
"""
        self.expect_quiet(self.record("--rpd-compat", script=script))
        log = self.log_of()
        self.assertEqual([text for _, text in logs.finished(log)], ["domain: name"])
        self.assertEqual([mark.text for mark in log.of(logs.MARK)], ["mark(x)"])
        folder = Path(os.environ["BORESCOPE_RECORD_LIBRARY"]).parent / "rpd"
        self.expect_quiet(self.run_plain(script, LD_LIBRARY_PATH=str(folder)))


if __name__ == "__main__":
    unittest.main()
