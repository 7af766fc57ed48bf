# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: in tables and charts a value with its unit and interval in one prefix; in sentences too.

The one place in which numbers become text, for findings, plans and reports alike; ``units`` has what they are read by.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.units import format_bytes, format_operations, format_rate, format_time

DASH: Final = "\u2013"
"""Stands where there is no value."""

_LARGE: Final = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_SCALED: Final = {
    "B/s": "B/s",
    "bytes/s": "B/s",
    "op/s": "op/s",
    "ops/s": "op/s",
    "operations/s": "op/s",
    "flop/s": "flop/s",
    "update/s": "update/s",
    "Hz": "Hz",
    "B": "B",
}
_TIMES: Final = frozenset({"s", "seconds"})
# Shares by their units, and how people read them.
_SHARES: Final = {
    "of time": "% of the time",
    "of bytes": "% of the bytes",
    "of I/O": "% of the I/O",
    "of shorter": "% of the shorter overlaps",
}
_MOST_DECIMALS: Final = 9
# Without their unit these would be verbs before a number.
_MOVED: Final = {"read_bytes": "bytes read", "write_bytes": "bytes written"}


@dataclass(frozen=True)
class Scale:
    """Divide a plain SI number by ``factor`` to have it in ``unit``."""

    factor: float
    unit: str


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """Return the prefix in which the largest of ``values`` has one to three digits before the point."""
    largest = max((abs(value) for value in values), default=0.0)
    if unit in _TIMES:
        factor, name = next(
            (step for step in _SMALL if largest >= step[0] * 0.9995), _SMALL[-1] if largest else _SMALL[0]
        )
        return Scale(factor, name)
    if unit in _SHARES:
        return Scale(0.01, _SHARES[unit])
    base = _SCALED.get(unit)
    if base is None:
        return Scale(1.0, unit)
    factor, prefix = next((step for step in _LARGE if largest >= step[0] * 0.9995), (1.0, ""))
    return Scale(factor, prefix + base)


def significant(value: float, digits: int = 3) -> str:
    """Write ``digits`` significant digits and all digits before the point, never in exponent form."""
    if not math.isfinite(value):
        return str(value)
    # This is the exponent after rounding: 0.9996 has three digits as 1.00.
    exponent = int(f"{value:.{digits - 1}e}".partition("e")[2]) if value else 0
    decimals = min(max(0, digits - 1 - exponent), _MOST_DECIMALS)
    return f"{value:.{decimals}f}"


def rounded(value: float, digits: int = 5) -> float:
    """Round to so many significant digits: more cannot be seen in a chart, and they would make up most of a page."""
    return float(f"{value:.{digits}g}")


def format_quantity(value: float, unit: str) -> str:
    """Format a value with its unit, as ``1.23 GB/s``."""
    scale = scale_for([value], unit)
    return f"{significant(value / scale.factor)} {scale.unit}".strip()


def format_compact(value: float, unit: str) -> str:
    """Format as ``1.23G``, for places where the unit stands beside, such as the cells of a heat map."""
    scale = scale_for([value], unit)
    base = "" if unit in _TIMES else _SCALED.get(unit, unit)
    return f"{significant(value / scale.factor)}{scale.unit.removesuffix(base)}"


def between(low: str, high: str, *, is_range: bool = False) -> str:
    """Write the bounds of a 95 % interval as ``[1.19, 1.27]``, those of a range as ``1.19 to 1.27``."""
    return f"{low} to {high}" if is_range else f"[{low}, {high}]"


def format_bounds(row: Row, digits: int = 3) -> str:
    """Format as ``[1.19, 1.27]`` in the unit of the median, of too few samples as ``1.19 to 1.27``, of one as nothing.

    ``digits``: significant ones.
    """
    if row.low is None or row.high is None:
        return ""
    scale = scale_for([row.median], row.unit)
    low, high = (significant(value / scale.factor, digits) for value in (row.low, row.high))
    return between(low, high, is_range=row.has_range)


def format_known(row: Row) -> str:
    """Format as ``format_bounds`` does; a range says of how many: ``1.19 to 1.27 in 3 repetitions``."""
    bounds = format_bounds(row)
    return f"{bounds} in {len(row.repetitions)} repetitions" if row.has_range else bounds


def format_row(row: Row) -> str:
    """Format as ``1.23 GB/s [1.19, 1.27]``; a single sample has ``(one sample)`` in the interval's place."""
    return f"{format_quantity(row.median, row.unit)} {format_bounds(row) or '(one sample)'}"


def percent(share: float, decimals: int = 0) -> str:
    """Format a share with so many decimals: ``45 %``, ``2.65 %``."""
    return f"{100 * share:.{decimals}f} %"


def change_percent(ratio: float) -> str:
    """Format a ratio to what was before as its change in %, without the word: ``-7.1``, ``+188.5``."""
    return f"{100 * (ratio - 1):+.1f}"


def change_within(ratio: float, low: float, high: float) -> str:
    """Format a ratio and its bounds as ``-7.1 % [-9.0, -5.2]``."""
    return f"{change_percent(ratio)} % {between(change_percent(low), change_percent(high))}"


def format_share(share: float | None) -> str:
    """Format as ``83 %``; a dash stands where no ceiling is known."""
    return DASH if share is None else f"{significant(share * 100, 2)} %"


def format_param(key: str, value: Scalar) -> str:
    """Format a parameter as people type it: ``_bytes`` in binary units, ``_s`` in seconds, flags as yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key.endswith("_bytes") and isinstance(value, int):
        return format_bytes(value)
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def param_label(key: str) -> str:
    """Return the name for people: ``block_bytes`` becomes ``block``, ``read_bytes`` becomes ``bytes read``."""
    return _MOVED.get(key) or key.removesuffix("_bytes").replace("_", " ")


def plural(count: int, noun: str) -> str:
    """Write a count and its noun: ``1 rank``, ``1,024 ranks``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def processes(count: int) -> str:
    """Write a count of processes: ``1 process``, ``2 processes``."""
    return f"{count:,} process{'' if count == 1 else 'es'}"


def listing(words: Sequence[str], most: int = 8) -> str:
    """Write words as ``a, b and c``, or with more than ``most`` of them ``a, b and 7 more``."""
    shown = list(words) if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1} more"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def show(value: float, unit: str) -> str:
    """Format a value as ``3.20 GB/s``, ``45.2 kop/s`` or ``1.50 ms``; in any other unit with four digits."""
    match unit:
        case "B/s":
            return format_rate(value)
        case "op/s":
            return format_operations(value)
        case "s":
            return format_time(value)
        case _:
            return f"{value:.4g} {unit}".strip()


def show_row(row: Row) -> str:
    """Format median and interval as ``3.20 GB/s [3.10, 3.30]``; few samples are named as such."""
    if row.low is None or row.high is None:
        return f"{show(row.median, row.unit)} (one sample)"
    if row.has_range:
        what = f"{'mean' if len(row.repetitions) == 2 else 'median'} of {len(row.repetitions)}"
        return f"{show(row.median, row.unit)} ({what}, from {show(row.low, row.unit)} to {show(row.high, row.unit)})"
    return f"{show(row.median, row.unit)} [{show(row.low, row.unit)}, {show(row.high, row.unit)}]"


def times(ratio: float) -> str:
    """Format a ratio as ``7.10 x``: two decimals below 10, one below 99.5, then none; small ones with two digits."""
    if ratio >= 99.5:
        return f"{ratio:,.0f} x"
    if ratio >= 9.95:
        return f"{ratio:.1f} x"
    return f"{ratio:.2f} x" if ratio >= 0.0995 else f"{ratio:.2g} x"
