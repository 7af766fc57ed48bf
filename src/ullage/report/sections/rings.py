# SPDX-License-Identifier: Apache-2.0
"""The tables of a rings run: rings and pairs beside hpcc, their ratio, and the balance with other suites' numbers."""

from collections.abc import Callable, Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of, peer_hint, peer_text, value_hint, value_text
from ullage.report.quantity import DASH, format_quantity, significant
from ullage.report.table import peer_ratio
from ullage.suites.rings.balance import Balance, balances
from ullage.suites.rings.diagnosis import kinds_of
from ullage.suites.rings.findings import UNWRITTEN_NOTE, diagnosis_of
from ullage.units import format_bytes

SUITE: Final = "rings"
_WHAT: Final = {"natural": "natural ring", "random": "random rings", "ping-pong": "ping-pong"}
_OF_PAIRS: Final = {"least": "least", "most": "most"}
_NO_PEER: Final = "hpcc was not run in turn: it is not installed, not asked for, or the processes are on several nodes."


def build(data: ReportData) -> Content | None:
    """None for other suites, and where nothing was measured."""
    rows = data.rows_of(SUITE)
    if not rows:
        return None
    latencies, bandwidths = (_of(rows, unit) for unit in ("s", "B/s"))
    grids = [
        *grid_of("latency of 8 bytes", _columns(is_rate=False), latencies),
        *grid_of("bandwidth of 2,000,000 bytes", _columns(is_rate=True), bandwidths),
        *_ratios(rows),
        *_balance(data.summary.rows),
    ]
    return Content(notes=_notes(rows), grids=grids)


def _of(rows: Sequence[Row], unit: str) -> list[Row]:
    return [row for row in rows if row.unit == unit]


def _columns(*, is_rate: bool) -> list[Column[Row]]:
    found: list[Column[Row]] = [
        Column("what", _what, is_number=False),
        Column("processes", lambda row: str(row.params["ranks"])),
        Column("each process" if is_rate else "one message", value_text, hint=value_hint),
    ]
    if is_rate:
        found.append(Column("all together", _together))
    return [
        *found,
        Column("interval", _interval),
        Column("hpcc", peer_text, hint=peer_hint),
        Column("ours over hpcc's", _ratio),
        Column("grade", lambda row: row.grade or DASH, is_number=False),
        Column("flags", lambda row: ", ".join(row.flags) or DASH, is_number=False),
    ]


def _what(row: Row) -> str:
    """``ping-pong, most`` of the pairs; the mean has no word."""
    word = row.metric.removeprefix("ping_pong_").split("_")[0]
    name = _WHAT[str(row.params["order"])]
    return f"{name}, {_OF_PAIRS[word]}" if word in _OF_PAIRS else f"{name}, mean" if name == "ping-pong" else name


def _together(row: Row) -> str:
    """Of rings alone: one pair at a time has no others."""
    return DASH if row.params["order"] == "ping-pong" else format_quantity(int(row.params["ranks"]) * row.median, "B/s")


def _interval(row: Row) -> str:
    return value_hint(row).split(";")[0] if row.low is not None else DASH


def _ratio(row: Row) -> str:
    ratio = peer_ratio(row)
    return DASH if ratio is None else significant(ratio)


def _ratios(rows: Sequence[Row]) -> list[Grid]:
    """What was seen, and what is expected of each kind of network."""
    found = diagnosis_of(rows)
    if found is None:
        return []
    params = next(row.params for row in rows if row.metric == "ping_pong_bandwidth")
    lines: list[tuple[str, ...]] = [("measured", "1", f"{found.natural:.2f}", f"{found.random:.2f}", "")]
    for kind in kinds_of(int(params["ranks"]), int(params["nodes"])):
        mark = "nearest" if found.kinds and kind == found.kinds[0] else "as near" if kind in found.kinds else ""
        lines.append((kind.name, "1", f"{kind.natural:.2f}", f"{kind.random:.2f}", mark))

    def text(index: int) -> Callable[[tuple[str, ...]], str]:
        return lambda line: line[index]

    heads = ("network", "ping-pong", "natural ring", "random rings", "")
    columns = [Column(head, text(index), is_number=index in (1, 2, 3)) for index, head in enumerate(heads)]
    return grid_of("ratio of bandwidths, each process", columns, lines)


def _balance(rows: Sequence[Row]) -> list[Grid]:
    """Only where this result has the numbers of the suites cpu and memory."""
    columns: list[Column[Balance]] = [
        Column("balance", lambda one: one.name, is_number=False),
        Column("ratio", lambda one: f"{significant(one.value)} {one.unit}"),
        Column("from", lambda one: _over(one.over), is_number=False),
        Column("all together", lambda one: format_quantity(one.over_rate, "B/s")),
        Column("linear solve", lambda one: format_quantity(one.solve.median, "op/s")),
        Column("of", lambda one: _solve(one.solve), is_number=False),
    ]
    return grid_of("balance", columns, balances(rows))


def _over(row: Row) -> str:
    if row.metric == "ring_bandwidth":
        return f"random rings of {format_bytes(int(row.params['message_bytes']))} B, {row.params['ranks']} processes"
    return f"triad, {row.params.get('threads', 1)} threads"


def _solve(row: Row) -> str:
    who = f"{row.params['threads']} threads" if "threads" in row.params else f"{row.params.get('ranks', 1)} processes"
    return f"n = {row.params.get('n', DASH)}, {who}"


def _notes(rows: Sequence[Row]) -> list[str]:
    peers = sorted({f"{row.peer.tool} {row.peer.version}" for row in rows if row.peer is not None})
    if not peers:
        return [_NO_PEER]
    turns = f"{', '.join(peers)} was run in turn with us, once after each of our repetitions, by as many processes."
    return [turns, UNWRITTEN_NOTE]


SECTION: Final = Section(
    name="rings",
    title="Rings and ping-pong",
    doc="As HPC Challenge defines them. In a ring every process sends to both neighbours at once; the time is that of "
    "one message, the least of the measurements, each of the slowest process; of random rings the geometric mean of 30 "
    "(latency) or 10 (bandwidth). In a ping-pong one pair sends while all others wait.",
    order=4,
    build=build,
    suite=SUITE,
)
