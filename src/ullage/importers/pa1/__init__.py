# SPDX-License-Identifier: Apache-2.0
"""Tables of a widespread course report on one node (pa1_*.csv): ours, a known tool's, the theory, both efficiencies.

The files belong together: rates and latencies of one are held against each other, and against the device's ceiling. Of
every row it is told what cannot be. The rules: a ceiling belongs to the device, so that of one thread is that of all;
operations in flight are rate times latency (Little 1961) and can neither exceed the threads nor stay far below them in
a closed loop; a latency is that of one operation, so it does not fall because others run beside it. Pure.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import finding
from ullage.analysis.verdicts.physics import ABOVE_CEILING
from ullage.importers.pa1.tables import TABLES, Line, read_lines, table_of
from ullage.importers.rows import IMPORT_SUITE, Importer
from ullage.model.flags import INVALID, INVALID_ABOVE_CEILING, INVALID_LITTLES_LAW, Flag, each_once, interval_below
from ullage.model.plan import Scalar
from ullage.model.summary import Ceiling, Finding, Peer, Row, Summary
from ullage.quantity import plural
from ullage.units import format_bytes, format_rate, format_time

_INVERSE_RATE: Final = f"{INVALID}:inverse-rate"
_PEER_LITTLES_LAW: Final = "peer-littles-law"
_TYPES: Final = {"QP": "int8", "HP": "int16", "SP": "fp32", "DP": "fp64"}
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
_WIDTH_ALIKE: Final = 1.3


@dataclass(frozen=True)
class Checked:
    """A line after its checks. ``device``: the theory of the device itself; ``found``: flags of what cannot be."""

    line: Line
    row: Row
    device: float
    found: dict[str, Flag]


def _checked(line: Line, lines: Sequence[Line]) -> Checked:
    device, source = _device_ceiling(line, lines)
    flags = each_once(flag for check in _CHECKS for flag in check(line, lines, device))
    return Checked(line, _row(line, device, source, flags), device, {flag.code: flag for flag in flags})


def _device_ceiling(line: Line, lines: Sequence[Line]) -> tuple[float, str]:
    """Return the theory of the device itself, without what the table has made of it, and its source.

    It is that of the fewest threads; for large random blocks under the ceiling of small requests, the sequential one.
    """
    alone, published = _alone(line, lines), f"published theory: {line.table.name}"
    if _is_of_small_requests(line, lines):
        sequential = (other for other in lines if (other.table, other.threads) == (line.table, 1))
        same_way = next((other for other in sequential if other.work == line.work[0] + "S"), None)
        if same_way is not None:
            return same_way.theory, f"{published}, sequential, 1 thread"
    return alone.theory, f"{published}, 1 thread" if _is_multiplied(line, lines) else published


def _alone(line: Line, lines: Iterable[Line]) -> Line:
    """Return the line of the same work and size with the fewest threads."""
    alike = [other for other in lines if (other.table, other.work, other.size) == (line.table, line.work, line.size)]
    return min(alike, key=lambda other: other.threads)


def _is_multiplied(line: Line, lines: Iterable[Line]) -> bool:
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


# -- what cannot be; ours first, then the other tool's -----------------------------------------------------------------


def _above_ceiling(line: Line, _lines: Sequence[Line], device: float) -> Iterator[Flag]:
    for code, who, value in (
        (INVALID_ABOVE_CEILING, "", line.ours),
        ("peer-above-ceiling", f"{line.table.tool}: ", line.peer),
    ):
        share = 0.0 if value is None else value / device if line.table.better == "more" else device / value
        if share > ABOVE_CEILING:
            yield Flag(code=code, reason=f"{who}{share:.2f} times the ceiling")


def _times_threads(line: Line, lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    if _is_multiplied(line, lines):
        alone = _alone(line, lines)
        reason = f"the theory of 1 thread was multiplied by {line.threads}: a device has one ceiling"
        yield Flag(code="ceiling-times-threads", reason=f"{reason} ({format_rate(alone.theory)})")


def _small_requests(line: Line, lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    if _is_of_small_requests(line, lines):
        reason = "the theory is the rate of small requests x 4 KB, which bounds no large block"
        yield Flag(code="ceiling-of-small-requests", reason=reason)


def _little(line: Line, lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    """Check Little's law between the table of latencies and that of rates, for the same work."""
    opposite = {"disk iops": "disk latency", "disk latency": "disk iops"}.get(line.table.name)
    place = (opposite, line.work, line.threads, line.size)
    other = next((one for one in lines if place == (one.table.name, one.work, one.threads, one.size)), None)
    if other is None:
        return
    for code, who, a, b in (
        (INVALID_LITTLES_LAW, "", line.ours, other.ours),
        (_PEER_LITTLES_LAW, f"{line.table.tool}: ", line.peer, other.peer),
    ):
        if a is None or b is None:
            continue
        rate, latency_s = (a, b) if line.table.name == "disk iops" else (b, a)
        in_flight = rate * latency_s
        if abs(in_flight / line.threads - 1) > _LAW:
            reason = (
                f"{who}{rate:,.0f} a second x {format_time(latency_s)} = {in_flight:.2f} in flight with "
                f"{plural(line.threads, 'thread')}"
            )
            yield Flag(code=code, reason=reason)


def _inverted(line: Line, _lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    """Flag an efficiency of a time published as time over its theory, the least: a time too long has over 100 %."""
    for code, who, value, published in (
        ("efficiency-inverted", "", line.ours, line.efficiency),
        ("peer-efficiency-inverted", f"{line.table.tool}: ", line.peer, line.peer_efficiency),
    ):
        # Some lines are not inverted: they give theory over time.
        is_known = line.table.better == "less" and value is not None and published is not None
        if is_known and _is_close(published or 0.0, 100 * (value or 0.0) / line.theory):
            reason = f"{who}published as {published:.4g} %: a time over its theory, which grows as it gets worse"
            yield Flag(code=code, reason=reason)


def _inverse_rate(line: Line, lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    if line.table.metric != "latency" or line.threads == 1:
        return
    alone = _alone(line, lines)
    falls = line.ours < _FALLEN * alone.ours
    if falls and 1 / _SAME <= line.ours * (line.threads / alone.threads) / alone.ours <= _SAME:
        reason = (
            f"{format_time(line.ours)} with {line.threads} threads against {format_time(alone.ours)} with "
            f"{alone.threads}: total time over all operations, the inverse of a rate"
        )
        yield Flag(code=_INVERSE_RATE, reason=reason)


def _no_instruction(line: Line, lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    """Flag int8 at 8 times the rate of doubles: AVX2 has no such multiply-add, only VNNI has products of int8."""
    doubles = next((one for one in lines if one.table is line.table and one.work == "DP"), None)
    is_of_bytes = line.table.name == "cpu" and line.work == "QP"
    if doubles is not None and is_of_bytes and _is_close(line.theory, 8 * doubles.theory):
        reason = (
            "8 times that of doubles, from the number of lanes alone: no such CPU multiplies 8-bit numbers in all lanes"
        )
        yield Flag(code="ceiling-without-instruction", reason=reason)


def _ddr_twice(line: Line, _lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    """Flag a theory of four channels of DDR: with two, as most machines have, double data rate is counted twice."""
    channel = line.theory / 4
    rate = next((one for one in _DDR_RATES if abs(channel / (one * 1e6 * _CHANNEL_BYTES) - 1) <= _DDR_CLOSE), None)
    if line.table.name == "memory throughput" and rate is not None:
        reason = (
            f"{format_rate(line.theory)} is 4 x {rate} MT/s x 8 B: right for 4 channels; with 2 the double data rate, "
            f"which MT/s hold already, was counted twice, and the theory is {format_rate(2 * channel)}"
        )
        yield Flag(code="ceiling-of-ddr-twice", reason=reason)


def _whole_machine(line: Line, lines: Sequence[Line], _device: float) -> Iterator[Flag]:
    most = max(one.threads for one in lines if one.table is line.table)
    if line.table.name == "cpu" and line.threads != most:
        reason = f"{plural(line.threads, 'thread')} compared with the peak of all cores"
        yield Flag(code="ceiling-of-all-cores", reason=reason)


_CHECKS: Final = (
    *(_above_ceiling, _times_threads, _small_requests, _little, _inverted),
    *(_inverse_rate, _no_instruction, _ddr_twice, _whole_machine),
)


def _row(line: Line, device: float, source: str, found: Sequence[Flag]) -> Row:
    table = line.table
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
        ceiling=Ceiling(value=device, kind="declared", source=source),
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
    if line.work in _TYPES:
        params["type"] = _TYPES[line.work]
    params["threads"] = line.threads
    return {**params, "block_bytes": line.size} if line.size else params


_Pick = Callable[[Checked], float]


def _peer_share(one: Checked) -> float:
    peer = one.line.peer or 0.0
    if one.line.table.better == "more":
        return peer / one.device
    return one.device / peer if peer else 0.0


def _threads(one: Checked) -> float:
    return one.line.threads


def _fewest_threads(one: Checked) -> float:
    return -one.line.threads


_RULES: Final[Mapping[str, tuple[str, _Pick]]] = {
    "ceiling-times-threads": ("the ceiling was multiplied by the threads", _threads),
    "ceiling-of-small-requests": ("random blocks have the ceiling of small requests", _threads),
    INVALID_ABOVE_CEILING: ("more was measured than the device can do", lambda one: one.row.share or 0.0),
    "peer-above-ceiling": ("the other tool's number is more than the device can do", _peer_share),
    INVALID_LITTLES_LAW: ("rate and latency contradict each other", _fewest_threads),
    _PEER_LITTLES_LAW: ("the other tool's rate and latency contradict each other", _fewest_threads),
    _INVERSE_RATE: ("a latency falls with threads", _threads),
    "efficiency-inverted": ("the efficiency of a time is inverted", lambda one: one.line.efficiency or 0.0),
    "peer-efficiency-inverted": (
        "the efficiency of the other tool's time is inverted",
        lambda one: one.line.peer_efficiency or 0.0,
    ),
    "ceiling-without-instruction": ("no instruction can reach the theoretical rate", _threads),
    "ceiling-of-ddr-twice": ("the ceiling may count DDR twice", _threads),
    "ceiling-of-all-cores": ("a part of the cores is compared with all of them", _fewest_threads),
}
# The law binds two tables, and is told once.
_TOLD_ONCE: Final = frozenset({INVALID_LITTLES_LAW, _PEER_LITTLES_LAW})


def _findings(found: Sequence[Checked]) -> Iterator[Finding]:
    """Yield what cannot be, then what the rates of types say of the code, and the checks that were not made."""
    for code, (lead, pick) in _RULES.items():
        tables = list(dict.fromkeys(one.line.table.name for one in found if code in one.found))
        for table in tables[:1] if code in _TOLD_ONCE else tables:
            met = [one for one in found if code in one.found and one.line.table.name == table]
            worst = max(met, key=pick)
            flag, line = worst.found[code], worst.line
            size = f" {format_bytes(line.size)}" if line.size else ""
            count = "The only line" if len(met) == 1 else f"The clearest of {len(met)} lines"
            place = f"{line.work}{size} with {plural(line.threads, 'thread')}"
            text = f"{table}: {lead}. {count} is {place}. Reason: {flag.reason}."
            numbers = {"table": table, "lines": len(met), "worst": pick(worst)}
            yield finding(flag.detail or flag.code, f"{table}: {lead}", text, "warning", **numbers)
    yield from _widths(found)
    yield from _not_checked({one.line.table.name for one in found})


def _widths(found: Sequence[Checked]) -> Iterator[Finding]:
    """Report rates that do not depend on the width of the type: such code handles one value at a time."""
    lines = [one.line for one in found if one.line.table.name == "cpu" and one.line.threads == 1]
    alone = {line.work: line.ours for line in lines}
    if len(alone) < 2 or max(alone.values()) > _WIDTH_ALIKE * min(alone.values()):
        return
    least, most = (format_rate(value).removesuffix("B/s") for value in (min(alone.values()), max(alone.values())))
    text = (
        f"cpu: {', '.join(alone)} all do {least} to {most}operations a second with 1 thread. A rate that does not "
        "depend on the width of the type is that of scalar code: one value an instruction."
    )
    title = "cpu: the rate does not depend on the type's width"
    yield finding("width-independent", title, text, "advice", types=list(alone))


# These checks of a table need another table beside it.
_NEEDS: Final = {
    "disk iops": ("disk latency", "whether its rates and the latencies agree"),
    "disk latency": ("disk iops", "whether its latencies and the rates agree"),
    "disk throughput": ("disk iops", "whether its random blocks have the ceiling of small requests"),
}


def _not_checked(tables: Collection[str]) -> Iterator[Finding]:
    """Name the checks that were not made: one that was not made is not one that was passed."""
    for table, (other, what) in _NEEDS.items():
        if table in tables and other not in tables:
            text = f"{table}: {what} was not checked. Import {_file_of(other)} with it."
            yield finding("not-checked", f"{table}: one check was not made", text, table=table, needs=_file_of(other))


def _file_of(table: str) -> str:
    return f"pa1_{table.replace(' ', '_')}.csv"


def recognises(text: str) -> bool:
    """Tell whether the first line is that of one of the tables."""
    return table_of(text) is not None


def read_all(texts: Mapping[str, str]) -> Summary:
    """Summarise all tables together; raise ``UserError`` with file, line and column of the first mistake."""
    lines = [line for name, text in texts.items() for line in read_lines(text, name)]
    found = [_checked(line, lines) for line in lines]
    rows = [one.row for one in found]
    return Summary(suite=IMPORT_SUITE, run_id="imported", created="", rows=rows, findings=list(_findings(found)))


IMPORTER: Final = Importer(
    "pa1",
    "CSV of a course report: precision, workload or protocol, threads, measured_*, a peer, theoretical_*",
    recognises,
    lambda text, name: read_all({name: text}),
    tuple(_file_of(table.name) for table in TABLES),
    read_all,
)
