# SPDX-License-Identifier: Apache-2.0
"""Sentences on a pmem run: from which size on system calls stop mattering, and how many writers are best. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.analysis.contests import carries, compare_rows, spread_of
from ullage.analysis.findings.advice import NOTHING_SETTABLE, Settable
from ullage.analysis.findings.enough import ENOUGH, Enough, enough_of
from ullage.analysis.findings.phrasing import finding, level_of_part, with_gain
from ullage.analysis.statistics import Comparison, Spread, level_of_each
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, percent, plural, times
from ullage.suites.pmem.curves import Curve, Curves, by_path, by_ranks, by_transfer, count, transfer_s
from ullage.suites.pmem.options import PmemOptions
from ullage.suites.pmem.placement import numa_findings
from ullage.units import format_bytes, format_rate

_CALLS: Final = "posix"
_WITHOUT_CALLS: Final = ("mmap", "pmem")
_FAMILIES: Final = 3


def findings_of(
    rows: Sequence[Row], options: PmemOptions, level: float, settable: Settable = NOTHING_SETTABLE
) -> list[Finding]:
    """Return all findings; ``rows``: those on which a sentence may rest. ``level``: of all comparisons together."""
    own = level_of_part(level, _FAMILIES)
    return [
        *system_calls(by_transfer(rows, options), own),
        *writers(by_ranks(rows, options), own, settable),
        *numa_findings(by_path(rows), own),
    ]


# -- from which size on system calls stop mattering --------------------------------------------------------------------


@dataclass(frozen=True)
class _Size:
    """System calls beside no system calls, at one transfer size; ``found``: rate of the first over the second."""

    block: int
    calls: Row
    without: Row
    found: Comparison

    @property
    def is_enough(self) -> bool:
        return self.found.low is not None and self.found.low >= ENOUGH


def system_calls(curves: Curves, level: float) -> list[Finding]:
    """Compare posix with each interface that needs no system call for a transfer, at each size that both have."""
    without = [curve for curve in curves if curve.interface in _WITHOUT_CALLS]
    lines = [(curve, _both(curves.get(replace(curve, interface=_CALLS), ()), curves[curve])) for curve in without]
    sizes = sum(len(line) for _, line in lines)
    own = level_of_part(level, max(1, sizes))
    spread = spread_of(row for _, line in lines for pair in line for row in pair if carries(row))
    return [_system_calls(curve, list(_compared(line, own, spread))) for curve, line in lines if line]


def _both(calls: Iterable[Row], without: Iterable[Row]) -> list[tuple[Row, Row]]:
    others = {count(row, "block_bytes"): row for row in without}
    return [(row, others[block]) for row in calls if (block := count(row, "block_bytes")) in others]


def _compared(line: Iterable[tuple[Row, Row]], level: float, spread: Spread) -> Iterator[_Size]:
    for calls, without in line:
        yield _Size(count(calls, "block_bytes"), calls, without, compare_rows(calls, without, level, None, spread))


def _system_calls(curve: Curve, sizes: Sequence[_Size]) -> Finding:
    what, other = f"{curve.target} {curve.access}s", curve.interface
    first, last, enough = sizes[0], sizes[-1], _from_where(sizes)
    if enough is None:
        text = f"posix {what} are not proved to reach {percent(ENOUGH)} of {other} at {format_bytes(last.block)}."
        if last.found.verdict == "slower":
            title = f"System calls still matter to {what} of {format_bytes(last.block)}, compared with {other}"
            text += f" They reach {percent(last.found.ratio)} of it."
        else:
            size = format_bytes(last.block)
            title = f"Whether system calls matter to {what} of {size}, compared with {other}, cannot be told"
            text += " Repeat more often on an idle machine (--min-repetitions)."
    else:
        size = format_bytes(enough.block)
        title = f"System calls stop mattering to {what} from {size} on, compared with {other}"
        text = f"posix {what} reach at least {percent(ENOUGH)} of {other} in transfers of {size} and more."
    if first is not enough and first.found.verdict == "slower":
        text += (
            f" At {format_bytes(first.block)} a transfer takes {_time(first.calls)} by posix and "
            f"{_time(first.without)} by {other} ({times(1 / first.found.ratio)})."
        )
    numbers = {
        "target": curve.target,
        "access": curve.access,
        "interface": other,
        "block_bytes": [size.block for size in sizes],
        "ratio": [size.found.ratio for size in sizes],
        "enough": None if enough is None else enough.block,
    }
    return finding("system-calls", title, text, **numbers)


def _from_where(sizes: Sequence[_Size]) -> _Size | None:
    """Return the smallest size from which on posix is proved to reach enough at every size; None without one."""
    found: _Size | None = None
    for size in reversed(sizes):
        if not size.is_enough:
            break
        found = size
    return found


def _time(row: Row) -> str:
    return format_quantity(transfer_s(row), "s")


# -- how many writers and readers are best -----------------------------------------------------------------------------


def writers(curves: Curves, level: float, settable: Settable) -> list[Finding]:
    """Find for each curve over ranks how many reach the most, and whether more are slower."""
    own = level_of_each(level, map(len, curves.values()))
    spread = spread_of(row for line in curves.values() for row in line if carries(row))
    return [_writers(curve, line, enough_of(line, own, spread), settable) for curve, line in curves.items()]


def _writers(curve: Curve, line: Sequence[Row], found: Enough, settable: Settable) -> Finding:
    many, last = _ranks(found.row), line[-1]
    has_room = settable.has_room(2 * count(last, "ranks"), int(last.params.get("nodes", 1)))
    more = " Test more ranks (--ranks)." if has_room else " They use all cores."
    said = finding(
        "writers",
        found.title(curve.subject, many),
        found.text(curve.subject, _ranks, format_rate, more),
        target=curve.target,
        access=curve.access,
        interface=curve.interface,
        ranks=[count(row, "ranks") for row in line],
        bytes_per_s=[row.median for row in line],
        enough=None if found.is_open else count(found.row, "ranks"),
        falls=found.falls,
    )
    return with_gain(said, found.gain, f"--ranks {count(found.row, 'ranks')}")


def _ranks(row: Row) -> str:
    return plural(count(row, "ranks"), "rank")
