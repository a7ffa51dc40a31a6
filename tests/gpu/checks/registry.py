"""How a check is declared."""

from collections.abc import Callable
from dataclasses import dataclass

CHECKS = []


@dataclass
class Check:
    number: int  # of the list; reports of several machines are compared by it
    title: str
    expected: str  # the figure, in words
    needs: tuple  # names that Bench.require knows
    seconds: float  # about as long as it takes; with a budget, what would take longer is left out
    is_alone: bool  # its figures are times: nothing may run beside it
    run: Callable  # takes a Bench; returns figures, and what is not as expected


def check(number, title, expected, needs=("gpu", "nvcc"), seconds=5.0, alone=False):
    def register(function):
        CHECKS.append(Check(number, title, expected, needs, seconds, alone, function))
        return function
    return register


class Failures(list):
    """What is not as expected."""

    def expect(self, holds, text):
        if not holds:
            self.append(text)

    def equal(self, what, measured, expected):
        self.expect(measured == expected, f"{what}: {measured}, expected {expected}")
