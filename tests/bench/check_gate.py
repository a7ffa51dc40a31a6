#!/usr/bin/env python3
"""The gate of counted costs fails what costs more, and nothing else; growth finds what is quadratic.

    check_gate.py --root SOURCES
"""

import argparse
import contextlib
import io
import sys
import unittest
from pathlib import Path

FIGURES = {"info": {"instructions": 1000, "peak_memory": 2000}, "ops": {"instructions": 1000, "peak_memory": 2000}}


class Gate(unittest.TestCase):
    def compare(self, **changes):
        now = {name: {**figure, **changes.get(name, {})} for name, figure in FIGURES.items()}
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            worse = instructions.compare(FIGURES, now)
        return worse, said.getvalue()

    def test_equal_costs_pass(self):
        worse, said = self.compare()
        self.assertEqual((worse, said.count(" ok\n")), ([], 2))

    def test_three_percent_pass(self):
        self.assertEqual(self.compare(info={"instructions": 1030})[0], [])

    def test_more_instructions_fail(self):
        self.assertEqual(self.compare(info={"instructions": 1031})[0], ["info"])

    def test_more_heap_fails(self):
        self.assertEqual(self.compare(ops={"peak_memory": 2061})[0], ["ops"])

    def test_less_is_reported(self):
        worse, said = self.compare(info={"instructions": 900})
        self.assertEqual(worse, [])
        self.assertIn("update the figure", said)

    def test_a_command_without_a_figure_fails(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual(instructions.compare({}, {"info": FIGURES["info"]}), ["info"])

    def test_another_compiler_is_not_compared(self):
        document = {"environment": {"compiler": "13", "libc6": "2"}}
        self.assertEqual(len(instructions.not_comparable(document, {"compiler": "12", "libc6": "2"})), 1)
        self.assertEqual(instructions.not_comparable(document, {"compiler": "13", "libc6": "2"}), [])

    def test_every_command_has_a_figure(self):
        document = instructions.json.loads(instructions.FIGURES.read_text())
        self.assertEqual(set(document["figures"]), set(instructions.COMMANDS))
        self.assertTrue(all(figure["reason"] for figure in document["figures"].values()))


class Growth(unittest.TestCase):
    def test_exponents(self):
        for power in (1, 2, 3):
            self.assertAlmostEqual(growth.exponent([500 + n**power for n in (1000, 2000, 4000)]), power)

    def test_shapes_grow_with_their_number(self):
        for name, shape in growth.SHAPES.items():
            sizes = [len(shape(n)) for n in (4000, 8000)]
            self.assertTrue(1.8 < sizes[1] / sizes[0] < 2.2, f"{name}: {sizes}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", required=True, type=Path)
    arguments, rest = parser.parse_known_args()
    sys.path.insert(0, str(arguments.root / "bench"))
    import growth
    import instructions

    unittest.main(argv=[sys.argv[0], *rest])
