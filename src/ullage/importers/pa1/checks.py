# SPDX-License-Identifier: Apache-2.0
"""Rows of the published tables, with everything in them that cannot be. Pure.

The rules: a ceiling belongs to the device, so that of one thread is that of all; operations in flight are rate times
latency (Little 1961) and can neither exceed the threads nor stay far below them in a closed loop; a latency is that of
one operation, so it does not fall because others run beside it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.verdicts.physics import ABOVE_CEILING
from ullage.importers.pa1.tables import Line
from ullage.model.flags import INVALID, INVALID_ABOVE_CEILING, INVALID_LITTLES_LAW, Flag, each_once, interval_below
from ullage.model.plan import Scalar
from ullage.model.summary import Ceiling, Peer, Row
from ullage.units import format_rate, format_time

INVALID_INVERSE_RATE: Final = f"{INVALID}:inverse-rate"
CEILING_OF_ALL_CORES: Final = "ceiling-of-all-cores"
CEILING_OF_SMALL_REQUESTS: Final = "ceiling-of-small-requests"
CEILING_OF_DDR_TWICE: Final = "ceiling-of-ddr-twice"
CEILING_TIMES_THREADS: Final = "ceiling-times-threads"
CEILING_WITHOUT_INSTRUCTION: Final = "ceiling-without-instruction"
EFFICIENCY_INVERTED: Final = "efficiency-inverted"
PEER_ABOVE_CEILING: Final = "peer-above-ceiling"
PEER_EFFICIENCY_INVERTED: Final = "peer-efficiency-inverted"
PEER_LITTLES_LAW: Final = "peer-littles-law"
TYPES: Final = {"QP": "int8", "HP": "int16", "SP": "fp32", "DP": "fp64"}
_ACCESS: Final = {"R": "read", "W": "write"}
_ORDER: Final = {"S": "sequential", "R": "random"}
_CLOSE: Final = 0.01
# Little's law may be missed by this share: a closed loop of n threads keeps n operations in flight.
_LAW: Final = 0.1
_SMALL_REQUEST: Final = 4000
_LARGE: Final = 1 << 20
# These are the transfers/s of DDR3 to DDR5 in 10^6 (JEDEC), of 8 bytes a channel. They count both clock edges already.
_DDR_RATES: Final = (1066, 1333, 1600, 1866, 2133, 2400, 2666, 2933, 3200, 3600, 4000, 4400, 4800, 5200, 5600, 6400)
_CHANNEL_BYTES: Final = 8
_DDR_CLOSE: Final = 0.0005
# A time that falls with threads to less than this, and times the threads is the same again, is an inverse rate.
_FALLEN: Final = 0.75
_SAME: Final = 2.0


@dataclass(frozen=True)
class Checked:
    """A line of a table after its checks.

    ``device``: what the theory says of the device or machine itself. ``found``: the flags of what cannot be.
    """

    line: Line
    row: Row
    device: float
    found: dict[str, Flag]


def checked(lines: Sequence[Line]) -> list[Checked]:
    """Make a row of every line and check it, in the order of ``lines``."""
    return [_checked(line, lines) for line in lines]


def _checked(line: Line, lines: Sequence[Line]) -> Checked:
    device, source = device_ceiling(line, lines)
    flags = each_once(flag for check in _CHECKS for flag in check(line, lines, device))
    return Checked(line, _row(line, device, source, flags), device, {flag.code: flag for flag in flags})


def device_ceiling(line: Line, lines: Sequence[Line]) -> tuple[float, str]:
    """Return the theory of the device itself, without what the table has made of it, and its source.

    It is that of the fewest threads; for large random blocks under the ceiling of small requests, the sequential one.
    """
    alone = _alone(line, lines)
    published = f"published theory: {line.table.name}"
    if _is_of_small_requests(line, lines):
        same_way = [
            other
            for other in lines
            if other.table is line.table and other.threads == 1 and other.work == line.work[0] + "S"
        ]
        if same_way:
            return same_way[0].theory, f"{published}, sequential, 1 thread"
    return alone.theory, f"{published}, 1 thread" if is_multiplied(line, lines) else published


def _alone(line: Line, lines: Iterable[Line]) -> Line:
    """Return the line of the same work and size with the fewest threads."""
    alike = [other for other in lines if (other.table, other.work, other.size) == (line.table, line.work, line.size)]
    return min(alike, key=lambda other: other.threads)


def is_multiplied(line: Line, lines: Iterable[Line]) -> bool:
    """Tell whether its theory is that of fewer threads times the threads."""
    alone = _alone(line, lines)
    times = line.threads / alone.threads
    return times > 1 and line.table.better == "more" and _is_close(line.theory, alone.theory * times)


def _is_of_small_requests(line: Line, lines: Iterable[Line]) -> bool:
    """Tell whether random blocks of 1 MB and more have the rate of small requests x 4 KB, which bounds none of them."""
    if line.table.name != "disk throughput" or line.size < _LARGE or line.work[1:] != "R":
        return False
    rates = {other.theory for other in lines if other.table.name == "disk iops" and other.work == line.work}
    return any(_is_close(_alone(line, lines).theory, rate * _SMALL_REQUEST) for rate in rates)


def _is_close(a: float, b: float) -> bool:
    return abs(a - b) <= _CLOSE * b


# -- what cannot be ---------------------------------------------------------------------------------------------------

Found = list[Flag]


def _above_ceiling(line: Line, _lines: Sequence[Line], device: float) -> Found:
    found: Found = []
    for code, who, value in (
        (INVALID_ABOVE_CEILING, "", line.ours),
        (PEER_ABOVE_CEILING, f"{line.table.tool}: ", line.peer),
    ):
        share = 0.0 if value is None else value / device if line.table.better == "more" else device / value
        if share > ABOVE_CEILING:
            found.append(Flag(code=code, reason=f"{who}{share:.2f} times the ceiling"))
    return found


def _times_threads(line: Line, lines: Sequence[Line], _device: float) -> Found:
    if not is_multiplied(line, lines):
        return []
    alone = _alone(line, lines)
    reason = f"the theory of 1 thread was multiplied by {line.threads}: a device has one ceiling"
    return [Flag(code=CEILING_TIMES_THREADS, reason=f"{reason} ({format_rate(alone.theory)})")]


def _small_requests(line: Line, lines: Sequence[Line], _device: float) -> Found:
    if not _is_of_small_requests(line, lines):
        return []
    reason = "the theory is the rate of small requests x 4 KB, which bounds no large block"
    return [Flag(code=CEILING_OF_SMALL_REQUESTS, reason=reason)]


def _little(line: Line, lines: Sequence[Line], _device: float) -> Found:
    """Check Little's law between the table of latencies and that of rates, for the same work."""
    if line.table.name not in ("disk iops", "disk latency"):
        return []
    other_name = "disk latency" if line.table.name == "disk iops" else "disk iops"
    place = (line.work, line.threads, line.size)
    others = (one for one in lines if one.table.name == other_name)
    other = next((one for one in others if place == (one.work, one.threads, one.size)), None)
    if other is None:
        return []
    found: Found = []
    for code, who, a, b in (
        (INVALID_LITTLES_LAW, "", line.ours, other.ours),
        (PEER_LITTLES_LAW, f"{line.table.tool}: ", line.peer, other.peer),
    ):
        if a is None or b is None:
            continue
        rate, latency_s = (a, b) if line.table.name == "disk iops" else (b, a)
        in_flight = rate * latency_s
        if abs(in_flight / line.threads - 1) > _LAW:
            reason = (
                f"{who}{rate:,.0f} a second x {format_time(latency_s)} = {in_flight:.2f} in flight with "
                f"{line.threads} thread{'s' if line.threads > 1 else ''}"
            )
            found.append(Flag(code=code, reason=reason))
    return found


def _inverted(line: Line, _lines: Sequence[Line], _device: float) -> Found:
    """Flag an efficiency of a time that is published as time over theory.

    The theory of a time is the least, so its efficiency is theory over time; inverted, a time too long has over 100 %.
    """
    if line.table.better == "more":
        return []
    found: Found = []
    for code, who, value, published in (
        (EFFICIENCY_INVERTED, "", line.ours, line.efficiency),
        (PEER_EFFICIENCY_INVERTED, f"{line.table.tool}: ", line.peer, line.peer_efficiency),
    ):
        # Some lines are not inverted: they give theory over time.
        if value is not None and published is not None and _is_close(published, 100 * value / line.theory):
            reason = f"{who}published as {published:.4g} %: a time over its theory, which grows as it gets worse"
            found.append(Flag(code=code, reason=reason))
    return found


def _inverse_rate(line: Line, lines: Sequence[Line], _device: float) -> Found:
    if line.table.metric != "latency" or line.threads == 1:
        return []
    alone = _alone(line, lines)
    times = line.threads / alone.threads
    falls = line.ours < _FALLEN * alone.ours
    if not falls or not 1 / _SAME <= line.ours * times / alone.ours <= _SAME:
        return []
    reason = (
        f"{format_time(line.ours)} with {line.threads} threads against {format_time(alone.ours)} with {alone.threads}: "
        "total time over all operations, the inverse of a rate"
    )
    return [Flag(code=INVALID_INVERSE_RATE, reason=reason)]


def _no_instruction(line: Line, lines: Sequence[Line], _device: float) -> Found:
    """Flag a theory of 8 bits a lane at 8 times the rate of doubles.

    AVX2 has no such multiply-add; dot products of int8 came with VNNI.
    """
    doubles = next((one for one in lines if one.table is line.table and one.work == "DP"), None)
    if line.table.name != "cpu" or line.work != "QP" or doubles is None:
        return []
    if not _is_close(line.theory, 8 * doubles.theory):
        return []
    reason = (
        "8 times that of doubles, from the number of lanes alone: no such CPU multiplies 8-bit numbers in all lanes"
    )
    return [Flag(code=CEILING_WITHOUT_INSTRUCTION, reason=reason)]


def _ddr_twice(line: Line, _lines: Sequence[Line], _device: float) -> Found:
    """Flag a theory of four channels of DDR: few such machines have them.

    With two channels it counts the double data rate twice.
    """
    if line.table.name != "memory throughput":
        return []
    channel = line.theory / 4
    rate = next((one for one in _DDR_RATES if abs(channel / (one * 1e6 * _CHANNEL_BYTES) - 1) <= _DDR_CLOSE), None)
    if rate is None:
        return []
    reason = (
        f"{format_rate(line.theory)} is 4 x {rate} MT/s x 8 B: right for 4 channels; with 2 the double data rate, "
        f"which MT/s hold already, was counted twice, and the theory is {format_rate(2 * channel)}"
    )
    return [Flag(code=CEILING_OF_DDR_TWICE, reason=reason)]


def _whole_machine(line: Line, lines: Sequence[Line], _device: float) -> Found:
    most = max(one.threads for one in lines if one.table is line.table)
    if line.table.name != "cpu" or line.threads == most:
        return []
    reason = f"{line.threads} thread{'s' if line.threads > 1 else ''} compared with the peak of all cores"
    return [Flag(code=CEILING_OF_ALL_CORES, reason=reason)]


_CHECKS: Final[tuple[Callable[[Line, Sequence[Line], float], Found], ...]] = (
    _above_ceiling,
    _times_threads,
    _small_requests,
    _little,
    _inverted,
    _inverse_rate,
    _no_instruction,
    _ddr_twice,
    _whole_machine,
)


# -- rows -------------------------------------------------------------------------------------------------------------


def _row(line: Line, device: float, source: str, found: Found) -> Row:
    table = line.table
    ceiling = Ceiling(value=device, kind="declared", source=source)
    return Row(
        metric=table.metric,
        unit=table.unit,
        better=table.better,
        target=table.part,
        suite=f"pa1 {table.name}",
        params={"table": table.name, **_params(line)},
        median=line.ours,
        low=None,
        high=None,
        repetitions=[line.ours],
        ceiling=ceiling,
        share=line.ours / device if table.better == "more" else device / line.ours,
        verdict="unknown(imported)",
        verdict_reasons=["imported: one value, without counters"],
        grade=None,
        flags=[Flag(code=interval_below()), *found],
        peer=None if line.peer is None else Peer(tool=table.tool, version="as published", median=line.peer),
    )


def _params(line: Line) -> dict[str, Scalar]:
    """Return the parameters in the words of our own suites, and the table's own as ``workload``."""
    params: dict[str, Scalar] = {"workload": line.work}
    if line.table.part == "disk":
        params |= {"access": _ACCESS.get(line.work[0], line.work), "order": _ORDER.get(line.work[1:], "")}
    if line.work in TYPES:
        params["type"] = TYPES[line.work]
    params["threads"] = line.threads
    return {**params, "block_bytes": line.size} if line.size else params
