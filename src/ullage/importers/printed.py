# SPDX-License-Identifier: Apache-2.0
"""Numbers as other programs have printed them, with what rounding may have changed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as it was printed, and the most by which rounding may have changed it."""

    value: float
    off: float = 0.0

    @property
    def low(self) -> float:
        """The least number that is printed like this."""
        return max(self.value - self.off, 0.0)

    @property
    def high(self) -> float:
        """The largest number that is printed like this."""
        return self.value + self.off


def printed(text: str) -> Printed:
    """Read a number with the rounding of its last digit: ``0.021`` is anything from 0.0205 to 0.0215."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return Printed(float(text), 0.5 * 10.0**-decimals)
