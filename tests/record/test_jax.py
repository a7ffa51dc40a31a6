"""Steps of programs of JAX: a stand-in of its profiler, whose annotations say them."""

import unittest

import logs
from python_support import PythonTest

PROFILER = """
class TraceMe:  # of the compiled part
    def __init__(self, name, **named): self.named = named
    def __enter__(self): return self
    def __exit__(self, *error): return None

class StepTraceAnnotation(TraceMe):
    def __init__(self, name, **named):
        super().__init__(name, _r=1, **named)
"""

STEPS = """
import numbers
import jax
from jax.profiler import StepTraceAnnotation
assert StepTraceAnnotation is jax.profiler.StepTraceAnnotation

class OfNumpy(int): pass
class OfDevice:  # to read its number would wait for a device
    def __int__(self): raise RuntimeError
    __index__ = __int__

for number in (0, 1, OfNumpy(2), 3, 4):
    with StepTraceAnnotation("train", step_num=number) as annotation:
        assert annotation.named == {"_r": 1, "step_num": number}
with StepTraceAnnotation("train", step_num=OfDevice()):
    pass
with StepTraceAnnotation("train"):
    pass
try:
    with jax.profiler.StepTraceAnnotation("train", step_num=7):
        raise KeyError
except KeyError:
    print("raised")
"""


class Jax(PythonTest):
    def record_steps(self, *options):
        self.write("jax/__init__.py", "from jax import profiler\n")
        self.write("jax/profiler.py", PROFILER)
        self.expect_quiet(self.record(*options, script=STEPS), "raised\n")
        return [text for log in self.logs_of() for _, text in logs.finished(log)]

    def test_annotated_steps(self):
        self.assertEqual(self.record_steps("--ops"), [f"ProfilerStep#{number}" for number in (0, 1, 2, 3, 4, 7)])

    def test_a_window_of_steps(self):
        self.assertEqual(self.record_steps("--start=step:2", "--stop=step:4"), ["ProfilerStep#2", "ProfilerStep#3"])

    def test_nothing_is_changed_without_options(self):
        self.assertEqual(self.record_steps(), [])


if __name__ == "__main__":
    unittest.main()
