# SPDX-License-Identifier: Apache-2.0
"""Tables of bandwidth: copies of blocks, STREAM's kernels, each level, random updates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import DASH, significant
from ullage.report.contents import Grid
from ullage.report.grids import (
    Column,
    ceiling_hint,
    ceiling_text,
    grid_of,
    peer_hint,
    peer_share_text,
    peer_text,
    ratio_text,
    share_text,
    value_column,
    value_hint,
    value_text,
)
from ullage.suites.memory.report.rows import KERNELS, blocks, bus_rows, largest_streams, size_of, streams, threads_of
from ullage.units import format_bytes

_WORKLOADS: Final = {"sequential": "RWS", "random": "RWR"}
_LEVEL_KERNELS: Final = ("read", "copy", "triad")
_GIGA: Final = 1e9


def block_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the seed's table of throughput, that of copies of blocks."""
    order = list(_WORKLOADS)
    lines = sorted(
        blocks(rows),
        key=lambda row: (order.index(str(row.params["order"])), threads_of(row), int(row.params["block_bytes"])),
    )
    return grid_of("copies of blocks", _BLOCK_COLUMNS, lines)


_BLOCK_COLUMNS: Final[tuple[Column[Row], ...]] = (
    Column("workload", lambda row: _WORKLOADS.get(str(row.params["order"]), ""), is_number=False),
    Column("threads", lambda row: str(threads_of(row))),
    Column("block", lambda row: format_bytes(int(row.params["block_bytes"]))),
    Column("working set", lambda row: format_bytes(size_of(row))),
    Column("ours", value_text, hint=value_hint),
    Column("peer", peer_text, hint=peer_hint),
    Column("ceiling", ceiling_text, hint=ceiling_hint),
    Column("our efficiency", share_text),
    Column("peer's efficiency", peer_share_text),
)


@dataclass(frozen=True)
class _Stream:
    """A kernel's bandwidth by both ways of counting; the second where no cache holds the set."""

    row: Row
    bus: Row | None


def _of(part: Callable[[Row], str]) -> Callable[[_Stream], str]:
    return lambda line: part(line.row)


def stream_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of STREAM's kernels, by both kinds of stores, over the largest set."""
    by_case = bus_rows(rows)
    found = [row for row in largest_streams(rows) if str(row.params["kernel"]) in KERNELS]
    found.sort(
        key=lambda row: (
            KERNELS.index(str(row.params["kernel"])),
            str(row.params.get("stores", "")) != "ordinary",
            threads_of(row),
        )
    )
    size = format_bytes(size_of(found[0])) if found else ""
    return grid_of(f"kernels over {size}", _STREAM_COLUMNS, [_Stream(row, by_case.get(row.case)) for row in found])


_STREAM_COLUMNS: Final[tuple[Column[_Stream], ...]] = (
    Column("kernel", _of(lambda row: str(row.params["kernel"])), is_number=False),
    Column("stores", _of(lambda row: str(row.params.get("stores", DASH))), is_number=False),
    Column("threads", _of(lambda row: str(threads_of(row)))),
    value_column("application", lambda line: line.row),
    value_column("on the bus", lambda line: line.bus),
    # A share is of the number beside it: what crossed the bus under what can cross it.
    Column("ceiling of bus", lambda line: ceiling_text(line.bus), hint=lambda line: ceiling_hint(line.bus)),
    Column("share of bus", lambda line: share_text(line.bus)),
    Column("peer", _of(peer_text), hint=_of(peer_hint)),
    Column("ours to peer's", _of(ratio_text)),
)


@dataclass(frozen=True)
class _Level:
    """The best of each kernel with ordinary stores, of one level and thread count."""

    name: str
    threads: int
    best: dict[str, Row]


def level_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of the best that each level gives to each kernel, with ordinary stores."""
    lines: dict[tuple[str, int], dict[str, Row]] = {}
    for row in streams(rows):
        level, kernel = row.params.get("level"), str(row.params["kernel"])
        if level is None or kernel not in _LEVEL_KERNELS or row.params.get("stores", "ordinary") != "ordinary":
            continue
        best = lines.setdefault((str(level), threads_of(row)), {})
        if kernel not in best or row.median > best[kernel].median:
            best[kernel] = row
    # Caches are named L1, L2 ...; memory, the last, begins with another letter.
    ordered = sorted(lines.items(), key=lambda item: (not item[0][0].startswith("L"), *item[0]))
    return grid_of(
        "the best of each level, ordinary stores",
        _LEVEL_COLUMNS,
        [_Level(name, threads, best) for (name, threads), best in ordered],
    )


def _level_column(kernel: str) -> Column[_Level]:
    return Column(
        kernel, lambda line: value_text(line.best.get(kernel)), hint=lambda line: _where(line.best.get(kernel))
    )


def _where(row: Row | None) -> str:
    return "" if row is None else f"{format_bytes(size_of(row))}; {value_hint(row)}"


_LEVEL_COLUMNS: Final[tuple[Column[_Level], ...]] = (
    Column("level", lambda line: line.name, is_number=False),
    Column("threads", lambda line: str(line.threads)),
    *(_level_column(kernel) for kernel in _LEVEL_KERNELS),
)


def update_grids(rows: Sequence[Row]) -> list[Grid]:
    """Make the table of random updates."""
    lines = sorted((row for row in rows if row.metric == "update_rate"), key=threads_of)
    return grid_of("random updates", _UPDATE_COLUMNS, lines)


_UPDATE_COLUMNS: Final[tuple[Column[Row], ...]] = (
    Column("threads", lambda row: str(threads_of(row))),
    Column("table", lambda row: format_bytes(int(row.params.get("table_bytes", 0)))),
    Column("GUPS", lambda row: significant(row.median / _GIGA), hint=value_hint),
    Column(
        "peer's GUPS",
        lambda row: DASH if row.peer is None else significant(row.peer.median / _GIGA),
        hint=peer_hint,
    ),
)
