"""Rules that start and stop recording at ranges, steps and calls, and which children are recorded."""

import os
import random
import signal
import subprocess
import unittest
from urllib.parse import quote

import logs
from launching import LauncherTest
from support import LIBRARY, PROGRAMS, RecordTest, environment, make_control

RULES = str(PROGRAMS / "rules")
BEGINS = (logs.PUSH, logs.MARK, logs.RANGE_START)


def texts(log):
    """Of all that begins, in the order of the thread that wrote it."""
    return [log.text(record) for record in log.of(*BEGINS)]


class RulesTest(RecordTest):
    def run_words(self, *words, options="", expect=0, starts=0):
        """What a program that starts paused, or once started, records, with a log per process."""
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        make_control(self.folder, recording=starts, starts=starts)
        result = self.run_program("rules", *words, options=options)
        self.assertEqual((result.returncode, result.stderr), (expect, ""))
        return [texts(log) for log in self.parse()]


class Sources(RulesTest):
    def test_each_kind_of_range_starts_and_its_end_stops(self):
        for begin, end in (("push:go", "pop"), ("apush:go", "apop"), ("rpush:go", "rpop"),
                           ("domain:go", "dpop"), ("start:0:go", "end:0"), ("rstart:0:go", "rend:0")):
            found = self.run_words("mark:before", begin, "mark:in", end, "mark:after", begin, end,
                                   options="start-range=go;stop-own-range")
            self.assertEqual(found, [["go", "in"]], begin)

    def test_wide_and_other_forms(self):
        for name in ("push w", "push ex", "start w", "start ex", "mark ex"):
            make_control(self.folder, recording=0, starts=0)
            self.run_program("forms", options=f"start-range={quote(name)};stop-own-range")
            for log in self.parse():
                self.assertEqual(texts(log)[:1], [name])
                log.path.unlink()

    def test_a_mark_has_no_end(self):
        found = self.run_words("push:a", "mark:go", "pop", "push:b", "pop",
                               options="start-range=go;stop-own-range")
        self.assertEqual(found, [["go", "b"]])

    def test_a_thread(self):
        found = self.run_words("push:go", "thread", "mark:in", "push:go", "mark:more", "pop", "mark:still",
                               options="start-range=go;stop-own-range")
        self.assertEqual(sorted(found[0]), ["go", "go", "in", "more", "still"])

    def test_names(self):
        name = "a;b%3b=é 'x'"
        for given in (name, "a;b*"):
            found = self.run_words("push:a;b", f"push:{name}", "mark:in", "pop", "pop", "mark:after",
                                   options=f"start-range={quote(given)};stop-own-range")
            self.assertEqual(found[0], [name, "in"] if given == name else ["a;b", name, "in"])
        # Compared as a whole, up to 255 bytes.
        self.assertEqual(self.run_words("push:" + "x" * 256, "pop", options="start-range=" + "x" * 255), [])

    def test_what_is_nested_too_deep_starts_nothing(self):
        """Its end is not known, and nothing would stop."""
        deep = ["push:x"] * 64 + ["push:go", "mark:deep", "pop"] + ["pop"] * 64
        found = self.run_words(*deep, "mark:between", "push:go", "mark:in", "pop", "mark:after",
                               options="start-range=go;stop-own-range")
        self.assertEqual(found, [["go", "in"]])
        said = [state.text for state in self.only_log().of(logs.STATE) if state.a == 6]
        self.assertEqual(len(said), 1)
        self.assertIn("the end of a range could not be awaited", said[0])

    def test_ends_across_threads(self):
        found = self.run_words("start:0:go", "thread", "mark:in", "end:0", "mark:after",
                               options="start-range=go;stop-own-range")
        self.assertEqual(sorted(found[0]), ["go", "in"])


class Steps(RulesTest):
    def test_from_step_to_step(self):
        words = [word for n in range(8) for word in (f"step:{n}", f"mark:{n}")]
        found = self.run_words(*words, options="start-step=3;stop-step=5")
        self.assertEqual(found, [["ProfilerStep#3", "3", "ProfilerStep#4", "4"]])

    def test_other_steps(self):
        words = [word for n in range(8) for word in (f"push:ProfilerStep#{n}", f"mark:{n}", "pop")]
        found = self.run_words(*words, options="start-step=3;stop-step=4")
        self.assertEqual(found, [["ProfilerStep#3", "3"]])
        words = [word for n in range(8) for word in (f"note:{n}", f"mark:{n}")]
        self.assertEqual(self.run_words(*words, options="start-step=3;stop-step=5"), [["3", "4"]])
        # A later step stops, too; only this one starts.
        words = [word for n in (0, 5, 10, 15) for word in (f"note:{n}", f"mark:{n}")]
        self.assertEqual(self.run_words(*words, options="start-step=5;stop-step=12"), [["5", "10"]])
        self.assertEqual(self.run_words(*words, options="start-step=4;stop-step=12"), [])

    def test_repeat(self):
        words = [word for n in (0, 1, 2, 0, 1, 2, 0, 1, 2) for word in (f"note:{n}", f"mark:{n}")]
        for most, times in ((0, 3), (1, 1), (2, 2), (7, 3)):
            found = self.run_words(*words, options=f"start-step=1;stop-step=2;repeat={most}")
            self.assertEqual(found, [["1"] * times])


class Calls(RulesTest):
    def test_calls_start_and_stop_each_time(self):
        for begin, end in (("cuda+", "cuda-"), ("hip+", "hip-"), ("api+", "api-")):
            found = self.run_words("mark:a", begin, "mark:b", end, "mark:c", begin, "mark:d", end, "mark:e",
                                   options="start-calls;stop-calls")
            self.assertEqual(found, [["b", "d"]], begin)

    def test_twice_is_once(self):
        found = self.run_words("cuda+", "cuda+", "mark:a", "cuda-", "mark:b", "cuda-", "cuda+", "mark:c",
                               options="start-calls;stop-calls")
        self.assertEqual(found, [["a", "c"]])

    def test_they_do_nothing_without_the_rule(self):
        self.assertEqual(self.run_words("cuda+", "mark:a", "cuda-"), [])

    def test_the_programs_own_function_is_called(self):
        """Also where its library is not among those that all others see, as in Python."""
        make_control(self.folder, recording=0, starts=0)
        result = self.run_program("rules", "load", "cuda+", "mark:a", "cuda-", "mark:b",
                                  options="start-calls;stop-calls")
        self.assertEqual(result.stdout.split(), ["started", "stopped"])
        self.assertEqual(texts(self.only_log()), ["a"])


class Processes(RulesTest):
    def test_a_child_counts_for_itself(self):
        """It inherits an open range, whose end there is none of the parent's."""
        found = self.run_words("push:go", "fork", "mark:in", "pop", "mark:after", "push:go", "pop",
                               options="start-range=go;stop-own-range")
        # Child first: it is over before its parent goes on. Its second range starts anew.
        self.assertEqual(sorted(found, key=len), [["go", "in"], ["in", "after", "go"]])

    def test_a_child_does_not_stop_for_a_range_of_its_parent(self):
        for begin, end in (("push:x", "pop"), ("start:0:x", "end:0"), ("rstart:0:x", "rend:0")):
            words = [begin, "fork", "mark:in", end, "mark:after"]
            found = self.run_words(*words, options="stop-range=x", starts=1)
            self.assertEqual(sorted(found), [["in", "after"], ["x", "in"]], begin)
        # For one of its own it does.
        found = self.run_words("push:x", "fork", "push:x", "mark:in", "pop", "mark:after",
                               options="stop-range=x", starts=1)
        self.assertEqual(sorted(found), [["x"], ["x", "in"]])

    def test_a_killed_process_leaves_recording_on(self):
        self.run_words("push:go", "kill", options="start-range=go;stop-own-range", expect=-signal.SIGKILL)
        result = self.run_program("rules", "mark:other", options="start-range=go;stop-own-range")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(sorted(texts(log) for log in self.parse()), [["go"], ["other"]])

    def test_a_damaged_page(self):
        """Whatever is on it, the program goes on."""
        for seed in range(30):
            words = random.Random(seed).randbytes(4096 - 8)
            (self.folder / "control").write_bytes(b"BSCT\x01\0\0\0" + words)
            result = self.run_program("rules", "push:a", "push:go", "step:1", "pop", "pop", "push:b", "pop",
                                      options="start-range=go;stop-step=1;repeat=0")
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            for log in self.folder.glob("*.bsl"):
                logs.parse(log)
                log.unlink()


class Twin:
    """What is to be recorded, by looking at the whole script at once."""

    def __init__(self, words):
        self.begins, self.ends = [], {}  # (index, text, is_mark); the index of a begin to that of its end
        stacks, step = {}, None
        for index, word in enumerate(words):
            name, _, text = word.partition(":")
            if name in ("push", "apush", "rpush", "domain"):
                stacks.setdefault(name, []).append(index)
            if name in ("pop", "apop", "rpop", "dpop"):
                kind = {"pop": "push", "apop": "apush", "rpop": "rpush", "dpop": "domain"}[name]
                self.ends[stacks[kind].pop()] = index
            if name == "step":
                # Its range ends before the next one begins.
                if step is not None:
                    self.ends[step] = index - 0.5
                step, text = index, f"ProfilerStep#{text}"
            if name in ("push", "apush", "rpush", "domain", "step", "mark"):
                self.begins.append((index, text, name == "mark"))

    def matching(self, rule):
        name, prefix = (rule[:-1], True) if rule.endswith("*") else (rule, False)
        return [begin for begin in self.begins if (begin[1].startswith(name) if prefix else begin[1] == name)]

    def own_windows(self, rule):
        """Ranges of the name that overlap are one window."""
        windows = []
        for index, _, _ in self.matching(rule):
            end = self.ends.get(index, float("inf"))
            if windows and index <= windows[-1][1]:
                windows[-1][1] = max(windows[-1][1], end)
            else:
                windows.append([index, end])
        return windows

    def windows(self, starts, stops):
        windows, after = [], -1
        for start in starts:
            if start >= after:
                after = min((stop for stop in stops if stop > start), default=float("inf"))
                windows.append([start, after])
        return windows

    def recorded(self, windows, most):
        kept = windows[:most] if most else windows
        return [text for index, text, _ in self.begins if any(a <= index <= b for a, b in kept)]


class AgainstATwin(RulesTest):
    def script(self, rng):
        words, depth, steps = [], {"": 0, "a": 0, "r": 0, "d": 0}, 0
        for _ in range(rng.randrange(5, 60)):
            kind, text = rng.choice(list(depth)), rng.choice(["A", "B", "AB", "C"])
            act = rng.random()
            if act < 0.4:
                words.append(("domain:" if kind == "d" else f"{kind}push:") + text)
                depth[kind] += 1
            elif act < 0.8 and depth[kind]:
                words.append(f"{kind}pop")
                depth[kind] -= 1
            elif act < 0.9:
                words.append(f"step:{steps % 4}")
                steps += 1
            else:
                words.append(f"mark:{text}")
        return words

    def check(self, words, options, windows, most):
        expected = Twin(words).recorded(windows, most)
        found = self.run_words(*words, options=f"{options};repeat={most}")
        self.assertEqual(found, [expected] if expected else [], (words, options))

    def test_random_scripts(self):
        for seed in range(int(os.environ.get("BORESCOPE_RULES_SCRIPTS", "60"))):
            rng = random.Random(seed)
            words = self.script(rng)
            twin, most = Twin(words), rng.choice([0, 1, 1, 2, 3])
            name, other = rng.choice(["A", "A*", "B", "ProfilerStep#2"]), rng.choice(["B", "C", "ProfilerStep#1"])
            self.check(words, f"start-range={quote(name)};stop-own-range", twin.own_windows(name), most)
            starts = [begin[0] for begin in twin.matching(name)]
            ends = [index if is_mark else twin.ends[index] for index, _, is_mark in twin.matching(other)
                    if is_mark or index in twin.ends]
            if other != name:
                self.check(words, f"start-range={quote(name)};stop-range={quote(other)}",
                           twin.windows(starts, ends), most)
            steps = {n: [b[0] for b in twin.matching(f"ProfilerStep#{n}")] for n in range(4)}
            late = sorted(index - 0.5 for n in (2, 3) for index in steps[n])
            self.check(words, "start-step=1;stop-step=2", twin.windows(steps[1], late), most)


class Users(LauncherTest):
    WORDS = ("step:0", "push:load", "pop", "step:1", "push:go", "mark:in", "pop", "step:2", "push:go", "pop")

    def run_rules(self, *options, words=WORDS):
        result = self.record(RULES, *words, options=[*options, "--replace"])
        self.assertEqual(result.returncode, 0, result.stderr)
        found = logs.parse_folder(self.run_path)
        return [text for log in found for text in texts(log)], result.stderr

    def test_starts_and_stops(self):
        for options, expected in (
                (["--start=range:go"], ["go", "in"]),
                (["--start=range:go", "--stop=range"], ["go", "in"]),
                (["--start=range:go", "--repeat"], ["go", "in", "go"]),
                (["--start=range:go", "--repeat=2"], ["go", "in", "go"]),
                (["--start=range:lo*", "--stop=step:2"], ["load", "ProfilerStep#1", "go", "in"]),
                (["--start=step:1", "--stop=step:2"], ["ProfilerStep#1", "go", "in"]),
                (["--start=step:2"], ["ProfilerStep#2", "go"]),
                (["--start=step:2", "--for=1h"], ["ProfilerStep#2", "go"]),
                (["--stop=range:load"], ["ProfilerStep#0", "load"]),
                (["--stop=step:1"], ["ProfilerStep#0", "load"])):
            self.assertEqual(self.run_rules(*options)[0], expected, options)

    def test_after_a_time_and_again(self):
        words = [word for i in range(3) for word in ("push:go", "sleep:700", "mark:late", "pop", "mark:out")]
        for options, times in ((["--repeat"], 3), ([], 1), (["--repeat=2"], 2)):
            found, _ = self.run_rules("--start=range:go", "--stop=after:100ms", *options, words=words)
            self.assertEqual(found, ["go"] * times, options)

    def test_what_never_came_is_said(self):
        for options, words, said in (
                (["--start=range:og"], self.WORDS,
                 "nothing was recorded: no range or mark named 'og' began; there were 'load', 'go', 'in'\n"),
                (["--start=range:og"], ["api+"], "recorded x.bsr"),
                (["--start=range:og"], [f"mark:{i}" for i in range(40)], "'7' and more\n"),
                (["--start=range:og"], ["step:1"], "began; there was none of another name\n"),
                (["--start=range:og"], ["mark:\x1b[31m"], "there were '\ufffd[31m'\n"),
                (["--start=step:7"], self.WORDS, "nothing was recorded: step 7 never began; the last was step 2\n"),
                (["--start=step:7"], ["push:x"], "never began; there was no step: say them by "),
                (["--start=api"], self.WORDS, "called none of cudaProfilerStart, hipProfilerStart and borescope_"),
                (["--start=paused"], self.WORDS, "nothing was recorded: nobody started it\n"),
                (["--start=after:1h"], self.WORDS, "the program ended before it was to start\n"),
                (["--stop=range:x"], self.WORDS, "went on until the end: no range or mark named 'x' ended\n"),
                (["--stop=step:9"], self.WORDS, "until the end: step 9 never began; the last was step 2\n"),
                (["--start=range:in"], self.WORDS, "or it was a mark, which has no end\n"),
                (["--start=range:go", "--repeat"], [*self.WORDS, "push:go"],
                 "the last 'go' was still open when the program ended, or its process was killed, or"),
                (["--start=now", "--stop=api"], self.WORDS, "called none of cudaProfilerStop and hipProfilerStop\n")):
            self.assertIn(said, self.run_rules(*options, words=words)[1], (options, words))

    def test_the_status_is_the_programs(self):
        result = self.record("sh", "-c", "exit 7", options=["--start=range:x"])
        self.assertEqual(result.returncode, 7, result.stderr)

    def test_errors(self):
        for options, said in (
                ("--start=range:", "--start=range:: no name after it"),
                ("--start=range:*", "--start=range:*: names no range"),
                ("--start=range:" + "x" * 256, "the name has 256 bytes; at most 255"),
                ("--start=step:x", "--start=step: 'x' is no number between 0 and"),
                ("--start=step:-1", "--start=step: '-1' is no number between 0 and"),
                ("--start=ranges", "--start: 'ranges' is none of now, paused, after:TIME, range:TEXT, step:N or api"),
                ("--stop=now", "--stop: 'now' is none of after:TIME, range, range:TEXT, step:N or api"),
                ("--stop=after:x", "--stop: 'x' is no time"),
                ("--stop=range", "--stop=range: is the end of the range that started, and none does"),
                ("--stop=after:1s --for=2s", "--stop=after:1s and --for: give one of the two"),
                ("--stop=step:3 --for=2s", "--stop: recording also stops after a time"),
                ("--start=step:5 --stop=step:5", "--stop=step:5: is not after step 5, where recording starts"),
                ("--start=step:5 --stop=step:2", "--stop=step:2: is not after step 5, where recording starts"),
                ("--start=api --stop=step:3", "--stop: with --start=api the program stops"),
                ("--start=step:1 --stop=api", "--stop=api: goes with --start=api, now"),
                ("--repeat", "--repeat: goes with --start=range:TEXT or --start=step:N"),
                ("--start=range:x --repeat=0", "--repeat: '0' is no number between 1 and 1000000"),
                ("--start=step:1 --repeat", "--repeat: nothing stops recording"),
                ("--children=match:", "--children=match: no pattern after it"),
                ("--children=python", "--children: 'python' is none of all, none or match:PATTERN"),
                ("--children=match:" + "x" * 256, "--children=match:: the name has 256 bytes")):
            result = self.record("true", options=options.split(" "))
            self.assertEqual(result.returncode, 2, (options, result.stderr))
            self.assertIn(said, result.stderr)
            self.assertEqual(result.stderr.splitlines()[1:], ["Try: borescope record --help"])
            self.assertFalse(self.run_path.exists(), options)

    def test_many_processes_are_one_window(self):
        """Whoever is within the range keeps all of them recording."""
        script = (f"{RULES} sleep:100 push:go sleep:600 pop & "
                  f"{RULES} sleep:400 mark:first sleep:600 mark:second sleep:600 mark:third & "
                  f"{RULES} sleep:500 push:go sleep:800 pop & wait")
        result = self.record("sh", "-c", script, options=["--start=range:go"])
        self.assertEqual(result.returncode, 0, result.stderr)
        found = sorted(text for log in logs.parse_folder(self.run_path) for text in texts(log))
        self.assertEqual(found, ["first", "go", "go", "second"])


class Children(LauncherTest):
    def names(self, pattern, *command):
        self.record(*command, options=[f"--children=match:{pattern}", "--replace"])
        return sorted(text for log in logs.parse_folder(self.run_path) for text in texts(log))

    def test_names(self):
        script = f"{RULES} mark:rules; {PROGRAMS / 'roctx'} > /dev/null; exit 0"
        others = ["mark", "push", "start"]
        for pattern, expected in (("rules", ["rules"]), ("ru*", ["rules"]), ("r[a-p]*", others),
                                  ("r[!o]l?s", ["rules"]), ("r[!u]l?s", []), ("?????", sorted([*others, "rules"])),
                                  ("*", sorted([*others, "rules"])), ("rul", []), ("[r", [])):
            self.assertEqual(self.names(pattern, "sh", "-c", script), expected, pattern)

    def test_the_program_is_always_recorded(self):
        self.assertEqual(self.names("python*", RULES, "mark:here"), ["here"])
        self.assertEqual(self.names("python*", "sh", "-c", f"exec {RULES} mark:here"), ["here"])

    def test_no_such_name_is_said(self):
        result = self.record("sh", "-c", f"{RULES} mark:x; exit 0", options=["--children=match:ru?"])
        self.assertEqual(result.returncode, 0)
        self.assertIn("no descriptors left); of what it started, only ru? was to be recorded\n", result.stderr)

    def test_forks_have_its_name(self):
        self.assertEqual(self.names("python*", RULES, "mark:a", "fork", "mark:b"), ["a", "b"])
        self.assertEqual(self.names("rul*", RULES, "mark:a", "fork", "mark:b"), ["a", "b", "b"])

    def test_a_script_and_what_it_starts(self):
        script = self.folder / "worker"
        script.write_text(f"#!/bin/sh\n{RULES} mark:$BORESCOPE_TEST_NAME\n")
        script.chmod(0o700)
        command = f"BORESCOPE_TEST_NAME=one {script}; exit 0"
        self.assertEqual(self.names("worker", "sh", "-c", command), [])
        # Those that are not recorded hand the run on.
        self.assertEqual(self.names("rules", "sh", "-c", command), ["one"])


class Devices(RecordTest):
    """What is launched after a start is there, however seldom the page is looked at."""

    def kernels(self, how, options, version, fault=""):
        for log in self.folder.glob("*.bsl"):
            log.unlink()
        make_control(self.folder, recording=0, starts=0)
        variables = environment(self.folder, f"{options};flush-ms=60000") | {
            "BORESCOPE_CUPTI": str(PROGRAMS / "libsimcupti.so"), "LD_LIBRARY_PATH": str(PROGRAMS),
            "CUDA_INJECTION64_PATH": str(LIBRARY), "SIMCUPTI_VERSION": str(version), "SIMCUPTI_FAULT": fault}
        result = subprocess.run([PROGRAMS / "device", how, "1", "100"], env=variables, timeout=60,
                                capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return [kernel.a for log in self.parse() for kernel in log.of(logs.KERNEL)]

    def test_a_range(self):
        for version in (28, 130500):
            found = self.kernels("range", "start-range=go;stop-own-range", version)
            self.assertEqual(found, list(range(1, 101)), version)

    def test_nothing_is_enabled_after_the_end(self):
        self.kernels("late", "start-range=go;stop-own-range", 28, fault="slow")

    def test_calls_that_cupti_sees(self):
        for version in (28, 130000, 130500):
            found = self.kernels("profiler", "start-calls;stop-calls", version)
            self.assertEqual(found, list(range(1, 101)), version)


if __name__ == "__main__":
    unittest.main()
