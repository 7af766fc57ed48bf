# SPDX-License-Identifier: Apache-2.0
"""Numbers as other programs have printed them, and with what rounding may have changed."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it was printed, or worked out from such, and the least and largest that it may be by rounding."""

    value: float
    low: float
    high: float

    def fits(self, other: "Printed") -> bool:
        """Tell whether both may be the same number."""
        return self.low <= other.high and other.low <= self.high

    def times(self, factor: float) -> "Printed":
        """Return the number in another unit."""
        return Printed(self.value * factor, self.low * factor, self.high * factor)

    def under(self, amount: float) -> "Printed | None":
        """Return ``amount`` over the number, as bytes over a time; None where it may be 0."""
        return Printed(amount / self.value, amount / self.high, amount / self.low) if self.low > 0 else None


Which = Callable[[Printed], float]


def known_to(value: float, off: float = 0.0) -> Printed:
    """Return a number that rounding may have changed by ``off``."""
    return Printed(value, max(value - off, 0.0), value + off)


def printed(text: str) -> Printed:
    """Read a number with the rounding of its last digit: ``0.021`` is anything from 0.0205 to 0.0215."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return known_to(float(text), 0.5 * 10.0**-decimals)


def worked_out(formula: Callable[[Which], float | None]) -> Printed | None:
    """Return what ``formula`` makes of printed numbers: of the values, the least and the largest ones.

    It rises with each of its numbers, so these bound what rounding allows. None where it makes nothing of them.
    """
    of_each: tuple[Which, ...] = (attrgetter("value"), attrgetter("low"), attrgetter("high"))
    known = [value for which in of_each if (value := formula(which)) is not None]
    return Printed(*known) if len(known) == len(of_each) else None


def whole_number(text: str, most: int = 2**63 - 1) -> int | None:
    """Read a whole number from 1 to ``most``; None for another text."""
    is_whole = text.isascii() and text.isdigit() and len(text) <= 19
    return int(text) if is_whole and 1 <= int(text) <= most else None


def positive_number(text: str, below: float = math.inf) -> float | None:
    """Read a number above 0 and ``below`` another; None for another text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if "_" not in text and 0 < value < below else None
