# SPDX-License-Identifier: Apache-2.0
"""Sentences of suite ``pmem``, and the curves they are on: over ranks, transfer sizes, regions and NUMA paths."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ullage.analysis.contests import carries, compare_rows, spread_of
from ullage.analysis.findings.enough import ENOUGH, Enough, enough_of
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, with_gain
from ullage.analysis.findings.study import NOTHING_SETTABLE, Settable
from ullage.analysis.statistics.comparison import Comparison, level_of_each
from ullage.grouping import grouped, nested
from ullage.model.flags import UNPINNED, Flag, each_once
from ullage.model.record import PhaseRecord
from ullage.model.summary import Finding, Row
from ullage.quantity import format_quantity, listing, percent, plural, times
from ullage.results.rows import Measured
from ullage.suites.pmem.options import PmemOptions, region_of
from ullage.units import format_bytes, format_rate

MAIN: Final = "bandwidth"
NUMA_PATH: Final = "numa_path"
WITHOUT_SYNC: Final = "transfer_bandwidth"
FAULTS: Final = "page_faults"


@dataclass(frozen=True, order=True)
class Curve:
    """What a curve shows: one interface at one target, writing or reading."""

    target: str
    interface: str
    access: str

    @property
    def subject(self) -> str:
        """Begin a sentence about it, as ``pm mmap writes``."""
        return f"{self.target} {self.interface} {self.access}s"


Curves: TypeAlias = Mapping[Curve, Sequence[Row]]


def transfer_s(row: Row) -> float:
    """Return how long one transfer of a rank takes, by a row that is a bandwidth of all ranks."""
    return row.ranks * row.count("block_bytes") / row.median


def curves(axis: str, rows: Iterable[Row], options: PmemOptions, metric: str = MAIN) -> Curves:
    """Return the rows of ``metric`` over ``ranks``, or of one rank over ``block_bytes`` or ``region_bytes``.

    What is not the axis is the transfer size and the volume that ``options`` name for it.
    """

    def fits(row: Row) -> bool:
        has_volume = row.count("region_bytes") == region_of(row.count("block_bytes"), options.volume)
        return (
            (axis == "ranks" or row.ranks == 1)
            and (axis == "region_bytes" or has_volume)
            and (axis == "block_bytes" or _is_usual(row, options))
        )

    asked = (row for row in rows if row.metric == metric and NUMA_PATH not in row.params)
    lines = grouped((_curve(row), row) for row in asked if fits(row))
    return {curve: sorted(line, key=lambda row: row.count(axis)) for curve, line in lines.items() if len(line) > 1}


def by_path(rows: Iterable[Row], metric: str = MAIN) -> Mapping[Curve, Mapping[str, Row]]:
    """Return the rows whose ranks were bound by the NUMA node of the device, by the path they take."""
    bound = (row for row in rows if row.metric == metric and NUMA_PATH in row.params)
    return nested((_curve(row), row.word(NUMA_PATH), row) for row in bound)


def _curve(row: Row) -> Curve:
    return Curve(row.target, row.word("interface"), row.access)


def _is_usual(row: Row, options: PmemOptions) -> bool:
    """Tell whether the transfers of ``row`` have the size of those of ranks and regions, or fill a smaller region."""
    block, region = row.count("block_bytes"), row.count("region_bytes")
    return block == options.block or block == region < options.block


NOT_ASKED: Final = "unsaid"
BUFFERS_ELSEWHERE: Final = "buffers-elsewhere"
_LOCAL, _REMOTE = "local", "remote"


def with_placement(rows: Iterable[Row], measured: Iterable[Measured]) -> list[Row]:
    """Return ``rows``; those whose ranks the engine has placed get the flags of that, and lose that of the launch."""
    placed = grouped(
        ((item.case.case, item.phase.phase), item.phase) for item in measured if "bound_ranks" in item.phase.gauges
    )
    return [_with_placement(row, placed.get((row.case, row.access), [])) for row in rows]


def _with_placement(row: Row, placed: Sequence[PhaseRecord]) -> Row:
    if not placed:
        return row
    flags = [flag for flag in row.flags if flag.kind != UNPINNED]
    free = max(phase.ranks - round(phase.gauges["bound_ranks"].sum) for phase in placed)
    if free > 0:
        flags.append(Flag(code=UNPINNED, reason=f"{free} ranks are not bound to a core"))
    elsewhere = max(round(phase.gauges["buffer_pages_elsewhere"].sum) for phase in placed)
    if elsewhere > 0:
        reason = f"{elsewhere} pages of buffers are on another NUMA node than planned"
        flags.append(Flag(code=BUFFERS_ELSEWHERE, reason=reason))
    return row.model_copy(update={"flags": each_once(flags)})


def numa_findings(paths: Mapping[Curve, Mapping[str, Row]], level: float) -> list[Finding]:
    """Compare the local with the remote path of each interface; ``level``: of all comparisons together."""
    both = {curve: found for curve, found in paths.items() if {_LOCAL, _REMOTE} <= found.keys()}
    own = level_of_part(level, max(1, len(both)))
    return [_numa_finding(curve, found[_LOCAL], found[_REMOTE], own) for curve, found in both.items()]


def _numa_finding(curve: Curve, local: Row, remote: Row, level: float) -> Finding:
    found = compare_rows(remote, local, level, None)
    interval = "" if found.low is None or found.high is None else f" [{found.low:.2f}, {found.high:.2f}]"
    ratio = f"{times(found.ratio)} the bandwidth of the local path{interval}"
    text = f"{curve.subject} reach {format_rate(remote.median)} from remote NUMA nodes, {ratio}."
    if found.verdict == "slower":
        title = f"{curve.subject} are slower from remote NUMA nodes"
        text += " Bind ranks to the node of the device."
    elif found.verdict == "faster":
        title = f"{curve.subject} are faster from remote NUMA nodes"
    else:
        title = f"Whether {curve.subject} are slower from remote NUMA nodes cannot be told"
        text += " Whether the paths differ cannot be told."
    said = finding(
        "numa-path",
        title,
        text,
        target=curve.target,
        access=curve.access,
        interface=curve.interface,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
    )
    return with_gain(said, gain_of(compare_rows(local, remote, level, None)), "--numa-path local")


Granted = Mapping[tuple[str, str], tuple[str, Mapping[str, str]]]
IN_MEMORY: Final = frozenset({"tmpfs", "ramfs", "hugetlbfs"})
_MAP: Final = "map"


def persistence_findings(granted: Granted) -> list[Finding]:
    """Return a finding for each target. ``granted``: file system and hints of its writes, by target and interface."""
    by_target = grouped((target, (interface, *facts)) for (target, interface), facts in granted.items())
    return [_persistence_of(target, lines) for target, lines in by_target.items()]


def _persistence_of(target: str, lines: Iterable[tuple[str, str, Mapping[str, str]]]) -> Finding:
    found = list(lines)
    file_system = next((name for _, name, _ in found if name), "")
    stored = [interface for interface, _, hints in found if hints.get(_MAP) == "MAP_SYNC"]
    mapped = [interface for interface, _, hints in found if _MAP in hints and interface not in stored]
    if file_system in IN_MEMORY:
        title, text = f"Nothing at {target} is persistent", f"{target} is a {file_system}: a restart loses all of it."
    elif stored:
        title = f"Stores at {target} are persistent without system calls"
        text = (
            f"The kernel grants MAP_SYNC to {listing(stored)} at {target}. Stores are persistent once they have left "
            "the caches of the cores."
        )
    else:
        title = f"Data at {target} is persistent after fsync or msync only"
        text = f"{target} is written through the page cache, unless by O_DIRECT. Data is persistent after fsync."
        if mapped:
            text += f" The kernel refuses MAP_SYNC to {listing(mapped)}."
    forced = [interface for interface, _, hints in found if hints.get("persistent") == "forced"]
    if forced:
        text += f" {listing(forced)} treats it as persistent only because PMEM_IS_PMEM_FORCE says so."
    numbers = {"target": target, "file_system": file_system, "map_sync": stored, "no_map_sync": mapped}
    return finding("persistence", title, text, **numbers)


_FAMILIES: Final = 3


def findings_of(
    rows: Sequence[Row], options: PmemOptions, level: float, settable: Settable = NOTHING_SETTABLE
) -> list[Finding]:
    """Return all findings; ``rows``: those on which a sentence may rest. ``level``: of all comparisons together."""
    own = level_of_part(level, _FAMILIES)
    return [
        *system_calls(curves("block_bytes", rows, options), own),
        *writers(curves("ranks", rows, options), own, settable),
        *numa_findings(by_path(rows), own),
    ]


@dataclass(frozen=True)
class _Size:
    """System calls beside no system calls, at one transfer size; ``found``: rate of the first over the second."""

    calls: Row
    without: Row
    found: Comparison

    @property
    def block(self) -> int:
        return self.calls.count("block_bytes")

    @property
    def is_enough(self) -> bool:
        return self.found.low is not None and self.found.low >= ENOUGH


def system_calls(lines: Curves, level: float) -> list[Finding]:
    """Compare posix with each interface that needs no system call for a transfer, at each size that both have."""
    pairs = {
        curve: _both(lines.get(replace(curve, interface="posix"), ()), line)
        for curve, line in lines.items()
        if curve.interface in ("mmap", "pmem")
    }
    own = level_of_part(level, max(1, sum(map(len, pairs.values()))))
    spread = spread_of(row for some in pairs.values() for pair in some for row in pair if carries(row))
    return [
        _system_calls(
            curve, [_Size(calls, without, compare_rows(calls, without, own, None, spread)) for calls, without in some]
        )
        for curve, some in pairs.items()
        if some
    ]


def _both(calls: Iterable[Row], without: Iterable[Row]) -> list[tuple[Row, Row]]:
    others = {row.count("block_bytes"): row for row in without}
    return [(row, others[block]) for row in calls if (block := row.count("block_bytes")) in others]


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
            f" At {format_bytes(first.block)} a transfer takes {format_quantity(transfer_s(first.calls), 's')} by "
            f"posix and {format_quantity(transfer_s(first.without), 's')} by {other} ({times(1 / first.found.ratio)})."
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


def writers(lines: Curves, level: float, settable: Settable) -> list[Finding]:
    """Find for each curve over ranks how many reach the most, and whether more are slower."""
    own = level_of_each(level, map(len, lines.values()))
    spread = spread_of(row for line in lines.values() for row in line if carries(row))
    return [_writers(curve, line, enough_of(line, own, spread), settable) for curve, line in lines.items()]


def _writers(curve: Curve, line: Sequence[Row], found: Enough, settable: Settable) -> Finding:
    many, last = _ranks(found.row), line[-1]
    has_room = settable.has_room(2 * last.ranks, last.count("nodes", 1))
    more = " Test more ranks (--ranks)." if has_room else " They use all cores."
    said = finding(
        "writers",
        found.title(curve.subject, many),
        found.text(curve.subject, _ranks, format_rate, more),
        target=curve.target,
        access=curve.access,
        interface=curve.interface,
        ranks=[row.ranks for row in line],
        bytes_per_s=[row.median for row in line],
        enough=None if found.is_open else found.row.ranks,
        falls=found.falls,
    )
    return with_gain(said, found.gain, f"--ranks {found.row.ranks}")


def _ranks(row: Row) -> str:
    return plural(row.ranks, "rank")
