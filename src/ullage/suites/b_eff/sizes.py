# SPDX-License-Identifier: Apache-2.0
"""The 21 message sizes of b_eff, and how large the largest is."""

from typing import Final

_MIB: Final = 1 << 20
_SHARE: Final = 128
_POWERS: Final = 12
_ABOVE: Final = 8
COUNT: Final = _POWERS + 1 + _ABOVE
# Each loop with one of the first so many sizes is preceded by an iteration that is not timed.
WARMED_SIZES: Final = 18


def lmax_of(memory_bytes: int, cap: int) -> int:
    """1/128 of the memory of a process, whole MiB of it, and no more than ``cap``."""
    return min(memory_bytes // _MIB * _MIB // _SHARE, cap)


def message_sizes(lmax: int) -> list[int]:
    """Powers of two up to 4 KiB, then eight more in equal ratios up to ``lmax``."""
    smallest = 1 << _POWERS
    ratio = (lmax / smallest) ** (1 / _ABOVE)
    above = [round(smallest * ratio**step) for step in range(1, _ABOVE + 1)]
    return [*(1 << power for power in range(_POWERS + 1)), *above]
