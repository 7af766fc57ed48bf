# SPDX-License-Identifier: Apache-2.0
"""The tables as they were published: which columns each has, and its lines in plain SI numbers."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from ullage.errors import UserError
from ullage.importers.printed import positive_number, whole_number
from ullage.units import parse_size

_MISSING: Final = "N/A"
_SIZE: Final = re.compile(r"\d+(?:[KM]?B)?")
_MOST_THREADS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Table:
    """``columns``: kind of work, threads, size (empty: none), ours, peer's, theory. ``factor`` makes them SI."""

    name: str
    part: str
    metric: str
    unit: str
    better: Literal["more", "less"]
    columns: tuple[str, str, str, str, str, str]
    tool: str
    factor: float

    @property
    def heads(self) -> frozenset[str]:
        """Those without which it is not this table; the efficiencies follow from them."""
        return frozenset(filter(None, self.columns))


def _table(name: str, metric: str, unit: str, tool: str, factor: float, columns: str) -> Table:
    work, threads, size, ours, peer, theory = (word.strip("-") for word in columns.split())
    better: Literal["more", "less"] = "less" if unit == "s" else "more"
    heads = (work, threads, size, ours, peer, theory)
    return Table(name, name.partition(" ")[0], metric, unit, better, heads, tool, factor)


_CPU: Final = "precision threads - measured_gops hpl_gflops theoretical_gops"
_MEMORY_RATE: Final = "workload threads block measured_gb_s pmbw_gb_s theoretical_gb_s"
_MEMORY_TIME: Final = "workload threads block_bytes measured_us pmbw_us theoretical_us"
_DISK_RATE: Final = "workload threads block measured_mb_s iozone_mb_s theoretical_mb_s"
_DISK_IOPS: Final = "workload threads block measured_iops iozone_iops theoretical_iops"
_DISK_TIME: Final = "workload threads block measured_ms iozone_ms theoretical_ms"
_NETWORK_RATE: Final = "protocol threads block measured_mbit_s iperf_mbit_s theoretical_mbit_s"
_NETWORK_TIME: Final = "protocol threads message measured_ms ping_ms theoretical_ms"
TABLES: Final = (
    _table("cpu", "compute_rate", "op/s", "HPL", 1e9, _CPU),
    _table("memory throughput", "memory_bandwidth", "B/s", "pmbw", 1e9, _MEMORY_RATE),
    _table("memory latency", "latency", "s", "pmbw", 1e-6, _MEMORY_TIME),
    _table("disk throughput", "bandwidth", "B/s", "IOzone", 1e6, _DISK_RATE),
    _table("disk iops", "operation_rate", "op/s", "IOzone", 1.0, _DISK_IOPS),
    _table("disk latency", "latency", "s", "IOzone", 1e-3, _DISK_TIME),
    _table("network throughput", "bandwidth", "B/s", "iperf", 1e6 / 8, _NETWORK_RATE),
    _table("network latency", "latency", "s", "ping", 1e-3, _NETWORK_TIME),
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line in SI numbers. ``size``: 0 where the table has none; ``peer``: None where the other tool has no number."""

    table: Table
    work: str
    threads: int
    size: int
    ours: float
    peer: float | None
    theory: float
    efficiency: float | None
    peer_efficiency: float | None


def table_of(text: str) -> Table | None:
    """Return the table whose columns the first line names, or None."""
    heads = {word.strip() for word in (text.splitlines() or [""])[0].split(",")}
    return next((table for table in TABLES if table.heads <= heads), None)


def read_lines(text: str, name: str) -> Iterator[Line]:
    """Yield the lines of a file; raise ``UserError`` with line and column of the first mistake."""
    table = table_of(text)
    if table is None:
        known = "; ".join(", ".join(filter(None, table.columns)) for table in TABLES)
        raise UserError("the first line has the columns of no known table", f"{name}:1", f"known tables are {known}")
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    try:
        for cells in reader:
            yield _line(table, cells, f"{name}:{reader.line_num}")
    except csv.Error as error:
        raise UserError(f"is not CSV: {error}", f"{name}:{reader.line_num}", "close every quote") from error


def _line(table: Table, cells: dict[str | None, str | None], place: str) -> Line:
    if None in cells or any(value is None for value in cells.values()):
        raise UserError("has more or fewer values than there are columns", place, "write one for each column")
    words = {str(key).strip(): str(value).strip() for key, value in cells.items()}
    work, threads, size, ours, peer, theory = table.columns
    peers = [key for key in words if key.endswith("efficiency_pct") and key != "efficiency_pct"]
    return Line(
        table,
        _work(words[work], f"{place}, {work}"),
        _threads(words[threads], f"{place}, {threads}"),
        _bytes(words[size], f"{place}, {size}") if size else 0,
        table.factor * _number(words[ours], f"{place}, {ours}"),
        None if words[peer] == _MISSING else table.factor * _number(words[peer], f"{place}, {peer}"),
        table.factor * _number(words[theory], f"{place}, {theory}"),
        _efficiency(words.get("efficiency_pct", _MISSING), place),
        _efficiency(words[peers[0]] if peers else _MISSING, place),
    )


def _work(text: str, place: str) -> str:
    if not 0 < len(text) <= 16 or not text.isalnum():
        raise UserError(f"'{text}' is not a workload", place, "write RS, WS, RR, WR, RWS, RWR, QP, DP, TCP or the like")
    return text.upper()


def _threads(text: str, place: str) -> int:
    threads = whole_number(text, _MOST_THREADS)
    if threads is None:
        raise UserError(f"'{text}' is not a count of threads", place, "write a whole number, 1 or more")
    return threads


def _bytes(text: str, place: str) -> int:
    """Read a size in bytes. Blocks are powers of two, whatever their unit is called."""
    if not _SIZE.fullmatch(text):
        raise UserError(f"'{text}' is not a size", place, "write 1, 1KB or 10MB")
    return parse_size(text.removesuffix("B") or "0")


def _number(text: str, place: str) -> float:
    value = positive_number(text, 1e18)
    if value is None:
        raise UserError(f"'{text}' is not a number above 0", place, "write it with a point, for example 540.5")
    return value


def _efficiency(text: str, place: str) -> float | None:
    return None if text == _MISSING else _number(text, f"{place}, efficiency")
