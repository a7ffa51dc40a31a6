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
    run: Callable  # takes a Bench; returns figures, and what is not as expected


def check(number, title, expected, needs=("gpu", "nvcc")):
    def register(function):
        CHECKS.append(Check(number, title, expected, needs, function))
        return function
    return register


class Failures(list):
    """What is not as expected."""

    def expect(self, holds, text):
        if not holds:
            self.append(text)

    def equal(self, what, measured, expected):
        self.expect(measured == expected, f"{what}: {measured}, expected {expected}")
