# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a disk run: blocks by threads with peer and ceiling, and small requests by depth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from ullage.analysis.metrics.arithmetic import stage_span_ns
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, format_param, format_quantity
from ullage.report.answers import AnswerRule
from ullage.report.bars import Bars, bars, side_by_side
from ullage.report.contents import Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.declared import columns
from ullage.report.grids import Column, PhaseLine, ceiling_text, grid_of, of, peer_text, peers_of, phase_lines
from ullage.report.headlines import headlines_of
from ullage.results.rows import threads_at_once

_SUITE: Final = "disk"
_PATTERNS: Final = {
    ("read", "sequential"): "sequential reads",
    ("write", "sequential"): "sequential writes",
    ("read", "random"): "random reads",
    ("write", "random"): "random writes",
}
_DEPTH: Final = "queue_depth"
_PEER_NOTE: Final = (
    "{} did the same work in turn. Its buffers are in ordinary pages, those of Ullage in huge pages "
    "where the kernel allows them."
)
# Tolerance of Little's law, as far as times that end in whole operations let it hold.
_TOLERANCE: Final = 0.1


@dataclass(frozen=True)
class _Line(PhaseLine):
    pattern: str
    phases: Sequence[PhaseRecord]

    @property
    def slots(self) -> int:
        """Operations that can be under way at once."""
        return threads_at_once(self.first.params) * self.first.count(_DEPTH, 1)


def tables(data: ReportData) -> Content | None:
    """Return two tables for each target, or None for other suites and where nothing was measured."""
    if not data.rows_of(_SUITE):
        return None
    found: list[Grid] = []
    for target in data.view.targets:
        lines = [line for line in _lines(data) if line.first.target == target]
        blocks = [line for line in lines if _DEPTH not in line.first.params]
        smalls = [line for line in lines if _DEPTH in line.first.params]
        place = f"{target}: " if len(data.view.targets) > 1 else ""
        found += grid_of(f"{place}blocks by threads", _BLOCK_COLUMNS, sorted(blocks, key=_order))
        found += grid_of(f"{place}small random requests", _SMALL_COLUMNS, sorted(smalls, key=_order))
    return Content(notes=_notes(data), grids=found)


def _lines(data: ReportData) -> list[_Line]:
    found: list[_Line] = []
    for line in phase_lines(data.rows_of(_SUITE)):
        access, order = line.first.access, str(line.first.params.get("order", "sequential"))
        pattern = _PATTERNS.get((access, order), f"{access} {order}")
        found.append(_Line(line.rows, pattern, data.phases_of(line.first)))
    return found


def _order(line: _Line) -> tuple[int, int, int]:
    known = list(_PATTERNS.values())
    place = known.index(line.pattern) if line.pattern in known else len(known)
    return place, line.slots, line.first.count("block_bytes", 0)


def _notes(data: ReportData) -> list[str]:
    rows = data.rows_of(_SUITE)
    peers = peers_of(rows)
    notes = [_PEER_NOTE.format(", ".join(peers)) if peers else "No other tool was run for comparison."]
    bounded = {(row.target, row.access, row.unit): row for row in rows if _is_of_device(row)}
    notes += [_ceiling_note(f"{target} {access}s", row) for (target, access, _), row in bounded.items()]
    if any(not row.is_beside_best for row in bounded.values()):
        notes.append("A ceiling belongs to the device: more threads do not raise it.")
    if all(row.is_beside_best for row in bounded.values()):
        notes.append("No ceiling is known, so there is no efficiency. State one with --ceiling.")
    return notes


def _ceiling_note(what: str, row: Row) -> str:
    if row.ceiling is None:
        return f"{what}: no ceiling is known."
    value = format_quantity(row.ceiling.value, row.unit)
    if row.is_beside_best:
        return f"{what}: no ceiling is known. The value beside it is {row.ceiling.source} ({value})."
    return f"The ceiling of {what} is {value} ({row.ceiling.kind}: {row.ceiling.source})."


def _is_of_device(row: Row) -> bool:
    """Tell whether the ceiling is that of the device.

    Bytes of random requests are bounded by operations too, each size by another number.
    """
    return row.ceiling is not None and (row.metric != "bandwidth" or row.params.get("order") != "random")


def _param(key: str) -> Callable[[_Line], str]:
    return lambda line: format_param(key, line.first.params[key]) if key in line.first.params else DASH


def law(line: _Line) -> float | None:
    """Return how many operations are under way on average: rate times mean latency, by Little's law.

    It is the median over the repetitions; None without times.
    """
    found = [
        phase.latency.sum_ns / span_ns
        for phase in line.phases
        if phase.latency is not None and (span_ns := stage_span_ns(phase.stages.get("transfer"))) > 0
    ]
    return median(found) if found else None


def _law(line: _Line) -> str:
    """Say whether as many operations are under way as were asked for; else rate or latency is wrong."""
    found = law(line)
    if found is None:
        return DASH
    return "holds" if abs(found / line.slots - 1) <= _TOLERANCE else "broken"


def _law_hint(line: _Line) -> str:
    found = law(line)
    return "" if found is None else f"{found:.2f} in flight of {line.slots}"


_WORKLOAD: Final = Column[_Line]("workload", lambda line: line.pattern, is_number=False)
_THREADS: Final = Column[_Line]("threads", lambda line: str(threads_at_once(line.first.params)))
_VERDICT: Final = Column[_Line]("verdict", lambda line: line.first.verdict, is_number=False)
_BLOCK_COLUMNS: Final = columns(
    _WORKLOAD,
    _THREADS,
    Column[_Line]("block", _param("block_bytes")),
    "bandwidth:value=ours",
    Column[_Line]("peer", of("bandwidth", peer_text)),
    Column[_Line]("ceiling", of("bandwidth", ceiling_text)),
    "bandwidth:share=our_efficiency bandwidth:peer_share",
    _VERDICT,
)
_SMALL_COLUMNS: Final = columns(
    _WORKLOAD,
    Column[_Line]("request", _param("block_bytes")),
    _THREADS,
    Column[_Line]("depth", _param(_DEPTH)),
    "operation_rate:value=IOPS latency_p50:value=p50 latency_p99:value=p99",
    Column[_Line]("peer IOPS", of("operation_rate", peer_text)),
    Column[_Line]("peer p50", of("latency_p50", peer_text)),
    Column[_Line]("peer p99", of("latency_p99", peer_text)),
    Column[_Line]("ceiling", of("operation_rate", ceiling_text)),
    "operation_rate:share=our_efficiency operation_rate:peer_share",
    Column[_Line]("Little's law", _law, is_number=False, hint=_law_hint),
    Column[_Line]("in flight", lambda line: DASH if (found := law(line)) is None else f"{found:.2f}"),
    _VERDICT,
)

SECTION: Final = Section(
    name="disk",
    title="The disk",
    doc="The threads of a row share its volume. Little's law holds where rate times mean latency is within 10 % of "
    "the requests in flight.",
    order=2,
    part="disk",
    build=tables,
)


def shares(summary: Summary) -> list[Bars]:
    """Return what the best of each kind reaches of the ceiling that was asked about, else each target's best."""
    lines = [(line.what, summary.rows[line.row]) for line in headlines_of(summary)]
    asked = [(what, row) for what, row in lines if row.share is not None]
    return bars("Share of the ceiling", asked, of_ceiling=True) or side_by_side(summary)


ANSWER: Final = AnswerRule(
    "disk", "Which threads, blocks and requests in flight does the disk need?", "queue-depth", picture=shares
)
