"""Who says what about a quantity, and where they disagree."""

import math

TOLERANCE = 1e-9  # of shares and other quotients; integers must be equal


class Claims:
    """Collects, for every quantity, what each place says of it; numbers by key, or one number."""

    def __init__(self):
        self.said = {}  # quantity: [(place, {key: number})]
        self.faults = []  # what could not be compared

    def say(self, quantity, place, numbers):
        numbers = numbers if isinstance(numbers, dict) else {(): numbers}
        self.said.setdefault(quantity, []).append((place, numbers))

    def problems(self):
        found = list(self.faults)
        for quantity, places in self.said.items():
            first_place, first = places[0]
            for place, numbers in places[1:]:
                found += [f"{quantity}: {difference}"
                          for difference in differences(first_place, first, place, numbers)]
        return found

    def lonely(self):
        """Quantities that one place alone speaks of: nothing is compared."""
        return [quantity for quantity, places in self.said.items() if len(places) < 2]


def differences(place_a, a, place_b, b):
    if a == b:
        return
    for key in sorted(set(a) | set(b), key=str):
        if key not in a or key not in b:
            here, there = (place_a, place_b) if key in a else (place_b, place_a)
            yield f"{key} is {(a if key in a else b)[key]} in {here}, and not in {there}"
        elif not equal(a[key], b[key]):
            yield f"{key} is {a[key]} in {place_a}, {b[key]} in {place_b}"


def equal(a, b):
    if isinstance(a, float) or isinstance(b, float):
        return None not in (a, b) and math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return a == b


def nonzero(numbers):
    """Without zeros and what is missing: where some places have a row for nothing, and some none."""
    return {key: number for key, number in numbers.items() if number}
