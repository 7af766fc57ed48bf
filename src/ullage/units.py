# SPDX-License-Identifier: Apache-2.0
"""People's units in and out: sizes, times, rates, and axes made of them.

Inside the program sizes are bytes (int), times are seconds (float), rates are bytes/s (float).
A bare K, M, G ... is binary, as users of IOR and fio expect; KB, MB, GB are decimal, KiB, MiB, GiB binary.
"""

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from ullage.errors import UserError

_PREFIXES: Final = "KMGTPE"
_NUMBER: Final = r"\d+(?:\.\d+)?"
_SIZE: Final = re.compile(rf"({_NUMBER})\s?(?:([KMGTPE])(iB|B)?|B)?", re.IGNORECASE)
_TIME_UNITS: Final[dict[str, Fraction]] = {
    "d": Fraction(86400),
    "h": Fraction(3600),
    "m": Fraction(60),
    "s": Fraction(1),
    "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6),
    "ns": Fraction(1, 10**9),
}
_TIME_PART: Final = re.compile(rf"({_NUMBER})(ms|us|ns|[dhms])")
_PERCENT: Final = re.compile(r"(\d+(?:\.\d+)?)\s?%", re.ASCII)
_RANGE: Final = re.compile(r"([^:]+):([^:]+):([x+])([^:]+)")
_LONGEST_AXIS: Final = 1000
_SHORTEST_RANGE: Final = 4
_LARGEST_SIZE: Final = 2**63 - 1

SIZE_FORMS: Final = "128K, 1M, 1.5GiB (binary), 1MB (decimal) or plain bytes"


def parse_size(text: str) -> int:
    """Read bytes from ``128K``, ``128KiB``, ``1.5GiB`` (binary), ``1MB`` (decimal) or ``4096``.

    Raise UserError when it is no size, no whole number of bytes, or above 2^63 - 1.
    """
    bytes_ = _exact_bytes(text, "size", SIZE_FORMS)
    if bytes_.denominator != 1:
        raise UserError("size is not a whole number of bytes", _quoted(text), f"write {SIZE_FORMS}")
    if bytes_ > _LARGEST_SIZE:
        raise UserError("size is too large", _quoted(text), "at most 2^63 - 1 bytes")
    return int(bytes_)


def _exact_bytes(text: str, what: str, forms: str) -> Fraction:
    match = _SIZE.fullmatch(text.strip()) if text.isascii() else None
    # "Mb" is a megabit to most people: refused rather than guessed.
    if match is None or match.group(0).endswith("b"):
        raise UserError(f"not a {what}", _quoted(text), f"write {forms}")
    number, prefix, suffix = match.groups()
    if prefix is None:
        return Fraction(number)
    base = 1000 if suffix == "B" else 1024
    return Fraction(number) * base ** (_PREFIXES.index(prefix.upper()) + 1)


_LONGEST_S: Final = 10**9


def parse_duration(text: str) -> float:
    """Read seconds from ``90``, ``60s``, ``2m``, ``1h30m`` or ``500ms``. Units go from large to small, each once.

    Raise UserError for anything else, and above 10^9 s, whose nanoseconds fit into 64 bits.
    """
    seconds = _seconds(text)
    if seconds > _LONGEST_S:
        raise UserError("duration is too long", _quoted(text), "at most 10^9 seconds")
    return float(seconds)


def _seconds(text: str) -> Fraction:
    stripped = text.strip()
    wrong = UserError("not a duration", _quoted(text), "write 90, 60s, 2m, 1h30m or 500ms")
    if re.fullmatch(_NUMBER, stripped, re.ASCII):
        return Fraction(stripped)
    total, end, last = Fraction(0), 0, Fraction(10**9)
    for match in _TIME_PART.finditer(stripped):
        scale = _TIME_UNITS[match.group(2)]
        if match.start() != end or scale >= last:
            raise wrong
        total, end, last = total + Fraction(match.group(1)) * scale, match.end(), scale
    if end == 0 or end != len(stripped) or not stripped.isascii():
        raise wrong
    return total


def parse_rate(text: str) -> float:
    """Read bytes/s from ``3.2GB/s``, ``800MiB/s``, ``1e9`` or plain bytes/s; raise UserError for anything else."""
    stripped = text.strip()
    if re.fullmatch(rf"{_NUMBER}(?:[eE]\+?\d{{1,2}})?", stripped, re.ASCII):
        return float(stripped)
    forms = "3.2GB/s, 800MiB/s or plain bytes/s"
    if not stripped.endswith("/s"):
        raise UserError("not a rate", _quoted(text), f"write {forms}")
    return float(_exact_bytes(stripped[:-2], "rate", forms))


def parse_count(text: str) -> int:
    """Read a whole number, 0 or more; raise UserError for anything else."""
    stripped = text.strip()
    if not re.fullmatch(r"\d{1,18}", stripped, re.ASCII):
        raise UserError("not a count", _quoted(text), "write a whole number, 0 or more")
    return int(stripped)


def parse_axis(text: str, parse: Callable[[str], int] = parse_count) -> list[int]:
    """Read the values of an axis in the order written: ``1,2,4``, ``128K:16M:x2`` (geometric), ``1:8:+1``, or a mix.

    ``parse`` reads one value (``parse_count`` or ``parse_size``). The end of a range belongs to it when a step
    meets it. A value written twice counts once.
    """
    values: dict[int, None] = {}
    for part in text.split(","):
        if not part.strip():
            raise UserError("empty value in a list", _quoted(text), "write 1,2,4 or 128K:16M:x2 or 1:8:+1")
        values.update(dict.fromkeys(_range(part, parse) if ":" in part else [parse(part)]))
        if len(values) > _LONGEST_AXIS:
            raise UserError(f"more than {_LONGEST_AXIS} values", _quoted(text), "take a larger step")
    return list(values)


def parse_share(text: str, what: str = "not a share between 0 and 1") -> float:
    """Read a share above 0 and below 1 from ``5%`` or ``0.05``; raise UserError that says ``what`` of others."""
    match = _PERCENT.fullmatch(text.strip())
    try:
        value = float(match.group(1)) / 100 if match else float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise UserError(what, _quoted(text), "write 5% or 0.05")
    return value


def _range(text: str, parse: Callable[[str], int]) -> list[int]:
    match = _RANGE.fullmatch(text.strip())
    if match is None:
        raise UserError("not a range", _quoted(text), "write FIRST:LAST:x2 or FIRST:LAST:+STEP")
    first, last = parse(match.group(1)), parse(match.group(2))
    multiply = match.group(3) == "x"
    step = parse_count(match.group(4)) if multiply else parse(match.group(4))
    if last < first or step < (2 if multiply else 1) or (multiply and first == 0):
        raise UserError("range does not rise", _quoted(text), "FIRST <= LAST, x2 or more from above 0, or +1 or more")
    values = [first]
    while (following := values[-1] * step if multiply else values[-1] + step) <= last:
        values.append(following)
        if len(values) > _LONGEST_AXIS:
            raise UserError(f"more than {_LONGEST_AXIS} values", _quoted(text), "take a larger step")
    return values


def format_axis(values: Sequence[int], form: Callable[[int], str] = str) -> str:
    """Format as ``parse_axis`` reads it: ``1,2,4``, or four values and more that are geometric as ``128K:8M:x4``."""
    steps = {after / before for before, after in pairwise(values)} if all(values) else set[float]()
    if len(values) >= _SHORTEST_RANGE and len(steps) == 1 and (step := steps.pop()) > 1 and step.is_integer():
        return f"{form(values[0])}:{form(values[-1])}:x{int(step)}"
    return ",".join(map(form, values))


def format_duration(seconds: float) -> str:
    """Format exactly, as ``parse_duration`` reads it, in one unit: ``2m``, ``90s``, ``500ms``."""
    exact = Fraction(str(seconds))
    for unit, scale in _TIME_UNITS.items():
        if exact and (exact / scale).denominator == 1 and unit != "d":
            return f"{exact / scale}{unit}"
    return f"{seconds}s"


def format_bytes(bytes_: int) -> str:
    """Format exactly in the largest binary unit that divides it, as ``parse_size`` reads it: ``128K``, ``1000``."""
    for power in range(len(_PREFIXES), 0, -1):
        if bytes_ and bytes_ % 1024**power == 0:
            return f"{bytes_ // 1024**power}{_PREFIXES[power - 1]}"
    return str(bytes_)


def format_volume(bytes_: float) -> str:
    """Format a volume or free space, whose exact count does not matter, with three digits: ``1.50 GiB``."""
    value, power = float(bytes_), 0
    while abs(value) >= 999.5 and power < len(_PREFIXES):
        value, power = value / 1024, power + 1
    return f"{round(value)} B" if power == 0 else f"{_three(value)} {_PREFIXES[power - 1]}iB"


def format_rate(bytes_per_s: float) -> str:
    """Format in decimal units with three digits: ``3.20 GB/s``."""
    return _decimal(bytes_per_s, "B/s")


def format_operations(per_s: float) -> str:
    """Format in decimal units with three digits: ``45.2 kop/s``."""
    return _decimal(per_s, "op/s")


def _decimal(value: float, unit: str) -> str:
    power = 0
    while abs(value) >= 999.5 and power < len(_PREFIXES):
        value, power = value / 1000, power + 1
    prefix = "" if power == 0 else "k" if power == 1 else _PREFIXES[power - 1]
    return f"{_three(value)} {prefix}{unit}"


def format_time(seconds: float) -> str:
    """Format with three digits up to 100 s (``1.50 ms``), then ``2m05s``.

    Without blanks ``parse_duration`` reads it.
    """
    if abs(seconds) >= 99.95:
        minutes, rest = divmod(round(abs(seconds)), 60)
        hours, minutes = divmod(minutes, 60)
        sign = "-" if seconds < 0 else ""
        return f"{sign}{hours}h{minutes:02}m{rest:02}s" if hours else f"{sign}{minutes}m{rest:02}s"
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if abs(seconds) * scale >= 0.9995:
            return f"{_three(seconds * scale)} {unit}"
    return "0 s" if seconds == 0 else f"{_three(seconds * 1e9)} ns"


def _three(value: float) -> str:
    """Write three significant digits, never in exponent form."""
    if not math.isfinite(value):
        return str(value)
    size = abs(value)
    digits = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return f"{value:.{digits}f}"


def _quoted(text: str) -> str:
    return f"'{text}'"
