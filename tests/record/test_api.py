"""The interface for C, the page that starts and stops, and ROCTX."""

import os
import subprocess
import unittest

import logs
from support import PROGRAMS, LIBRARY, RecordTest, environment, make_control


class Interface(RecordTest):
    def test_records(self):
        result = self.run_program("api")
        self.assertEqual(result.stdout.split(), ["1", "1", "1"])
        log = self.only_log()
        self.assertEqual(logs.finished(log)[0][1], "outer")
        self.assertEqual([m.text for m in log.of(logs.MARK)], ["moment"])
        self.assertEqual(log.states(), [2, 1])
        first, second = log.of(logs.OPERATOR)
        strings = log.strings()
        self.assertEqual((strings[first.a], first.body[:5], first.text),
                         ("aten::mm", (10, 20, 3, 0, 9), "[[1,2]]"))
        self.assertEqual((second.a, second.body[2:], second.text),
                         (first.a, (2**64 - 1, 77, 10), ""))
        (code,) = log.of(logs.PYTHON_CODE)
        self.assertEqual((code.text, strings[code.body[0] & 0xFFFFFFFF], code.body[0] >> 32),
                         ("function", "file.py", 12))
        self.assertEqual([r.a for r in log.of(logs.PYTHON_CALL, logs.PYTHON_RETURN)], [code.a] * 2)

    def test_starts_count(self):
        make_control(self.folder)
        self.run_program("api", "twice")
        self.assertEqual([m.text for m in self.only_log().of(logs.MARK)], ["moment", "after a stop"])

    def test_ranges_across_a_pause(self):
        make_control(self.folder)
        self.run_program("api", "pause")
        log = self.only_log()
        order = [(r.type, getattr(r, "text", "")) for r in log.of(logs.PUSH, logs.POP)]
        self.assertEqual(order, [(logs.PUSH, "outer"), (logs.PUSH, "ends in the pause"),
                                 (logs.POP, ""), (logs.PUSH, "inner"), (logs.POP, ""),
                                 (logs.POP, "")])
        self.assertEqual(len(log.of(logs.RANGE_END)), 1)

    def test_paused_from_the_beginning(self):
        make_control(self.folder, recording=0, starts=0)
        self.assertEqual(self.run_program("ranges", "exit", 2, 100).returncode, 5)
        self.assertEqual(self.parse(), [])

    def test_a_damaged_page_is_not_trusted(self):
        (self.folder / "control").write_bytes(b"x" * 4096)
        self.run_program("ranges", "exit", 1, 10)
        self.assertEqual(len(logs.finished(self.only_log())), 10)

    def test_outside_of_a_recording(self):
        command = [str(PROGRAMS / "api")]
        clean = {name: value for name, value in os.environ.items() if "BORESCOPE" not in name}
        result = subprocess.run(command, env=clean, capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout.split(), ["0", "0", "0"])

    def test_a_folder_that_is_not_there(self):
        result = subprocess.run([str(PROGRAMS / "api")], capture_output=True, text=True, check=False,
                                env=environment(self.folder / "missing"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


class Roctx(RecordTest):
    def expect_ranges(self, log):
        self.assertEqual([(m.a, m.text) for m in log.of(logs.MARK)], [(1, "mark")])
        self.assertEqual([text for _, text in logs.finished(log)], ["push"])
        (start,), (end,) = log.of(logs.RANGE_START), log.of(logs.RANGE_END)
        self.assertEqual((start.text, start.a, start.body[1]), ("start", 1, end.body[1]))

    def test_alone(self):
        self.assertEqual(self.run_program("roctx").stdout, "depth 0 0\n")
        self.expect_ranges(self.only_log())

    def test_passed_on(self):
        both = environment(self.folder)
        both["LD_PRELOAD"] = f"{LIBRARY}:{PROGRAMS / 'libroctx_next.so'}"
        result = subprocess.run([str(PROGRAMS / "roctx")], env=both, capture_output=True, text=True,
                                check=True)
        self.assertEqual(result.stdout.splitlines(),
                         ["next mark mark", "next start start", "next push push", "depth 100 200",
                          "next stop 1"])
        self.expect_ranges(self.only_log())

    def test_left_out(self):
        self.run_program("roctx", options="no-roctx")
        self.assertEqual(self.parse(), [])


if __name__ == "__main__":
    unittest.main()
