# SPDX-License-Identifier: Apache-2.0
"""Rows arranged as the curves of this suite: over ranks, over transfer sizes, over regions. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ullage.grouping import grouped, nested
from ullage.model.summary import Row
from ullage.suites.pmem.options import PmemOptions, region_of

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


def count(row: Row, name: str) -> int:
    """Return a parameter that is a number; 0 without one."""
    return int(row.params.get(name, 0))


def transfer_s(row: Row) -> float:
    """Return how long one transfer of a rank takes, by a row that is a bandwidth of all ranks."""
    return count(row, "ranks") * count(row, "block_bytes") / row.median


def by_ranks(rows: Iterable[Row], options: PmemOptions, metric: str = MAIN) -> Curves:
    """Return the rows over ranks: all have the transfer size and the volume that ``options`` name for them."""
    return _curves(rows, metric, "ranks", lambda row: _is_usual(row, options) and _has_volume(row, options))


def by_transfer(rows: Iterable[Row], options: PmemOptions, metric: str = MAIN) -> Curves:
    """Return the rows of one rank over transfer sizes."""
    return _curves(rows, metric, "block_bytes", lambda row: count(row, "ranks") == 1 and _has_volume(row, options))


def by_region(rows: Iterable[Row], options: PmemOptions, metric: str = MAIN) -> Curves:
    """Return the rows of one rank over regions."""
    return _curves(rows, metric, "region_bytes", lambda row: count(row, "ranks") == 1 and _is_usual(row, options))


def by_path(rows: Iterable[Row], metric: str = MAIN) -> Mapping[Curve, Mapping[str, Row]]:
    """Return the rows whose ranks were bound by the NUMA node of the device, by the path they take."""
    return nested((_curve(row), str(row.params[NUMA_PATH]), row) for row in rows if _has_path(row, metric))


def _has_path(row: Row, metric: str) -> bool:
    return row.metric == metric and NUMA_PATH in row.params


def _curves(rows: Iterable[Row], metric: str, axis: str, fits: Callable[[Row], bool]) -> Curves:
    lines = grouped(
        (_curve(row), row) for row in rows if row.metric == metric and NUMA_PATH not in row.params and fits(row)
    )
    return {curve: sorted(line, key=lambda row: count(row, axis)) for curve, line in lines.items() if len(line) > 1}


def _curve(row: Row) -> Curve:
    return Curve(row.target, str(row.params.get("interface", "")), str(row.params.get("access", "")))


def _has_volume(row: Row, options: PmemOptions) -> bool:
    return count(row, "region_bytes") == region_of(count(row, "block_bytes"), options.volume)


def _is_usual(row: Row, options: PmemOptions) -> bool:
    """Tell whether the transfers of ``row`` have the size of those of ranks and regions, or fill a smaller region."""
    block, region = count(row, "block_bytes"), count(row, "region_bytes")
    return block == options.block or block == region < options.block
