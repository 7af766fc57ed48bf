# SPDX-License-Identifier: Apache-2.0
"""What a report shows of IO500 alone: what each phase does to the total, and what it would have to give."""

import math
from typing import Final

from ullage.analysis.ladders import LadderRule, Step
from ullage.analysis.storage_ladders import METADATA_STEPS
from ullage.model.summary import Row, Summary
from ullage.quantity import DASH, significant
from ullage.report.answers import AnswerRule
from ullage.report.bars import Bars, bars
from ullage.report.contents import Cell, Content, Grid, Heading, Section, number_cell
from ullage.report.data import ReportData
from ullage.report.headlines import Rule
from ullage.report.phases import format_list_rate, named_phases
from ullage.suites.io500.phases import find_phase
from ullage.suites.io500.score import PhaseInfluence, sensitivity

_COLUMNS: Final = (
    Heading("phase"),
    Heading("value", is_number=True),
    Heading("10 % more: total", is_number=True),
    Heading("mean of the others", is_number=True),
    Heading("at that mean: total", is_number=True),
)


def tables(data: ReportData) -> Content | None:
    """Make a table for each target whose phases are those of IO500; None where no target's are."""
    phases = named_phases(data)
    grids: list[Grid] = []
    for target in data.view.targets:
        own = {phase.name: phase.row for phase in phases if phase.target == target}
        influences = sensitivity({name: row.median for name, row in own.items()})
        if influences:
            gain, loss = max(one.gain for one in influences) - 1, max(1.0, *(one.loss or 1.0 for one in influences))
            rows = [_cells(influence, own[influence.phase].unit, gain, loss) for influence in influences]
            grids.append(Grid(target if len(data.view.targets) > 1 else "", _COLUMNS, rows))
    return Content(grids=grids) if grids else None


def _cells(influence: PhaseInfluence, unit: str, largest_gain: float, largest_loss: float) -> list[Cell]:
    gain, loss = influence.gain - 1, influence.loss
    # Lengths follow the logarithm, as the total is a product; what is above the mean of the others has no bar.
    length = math.log(loss) / math.log(largest_loss) if loss is not None and loss > 1.0 else 0.0
    return [
        Cell(influence.phase, css="target nowrap"),
        number_cell(format_list_rate(influence.value, unit)),
        number_cell(f"+{gain * 100:.2f} %", bar=gain / largest_gain if largest_gain > 0 else 0.0),
        number_cell(format_list_rate(influence.others, unit) or DASH),
        number_cell(DASH if loss is None else f"x {significant(loss)}", bar=length),
    ]


SECTION: Final = Section(
    name="sensitivity",
    title="Where the score comes from",
    doc="The total is a geometric mean, so 10 % more in a phase changes it by the same factor whatever the value "
    "of the phase. The last column is the total if that phase alone reached the mean of the others of its half.",
    order=4,
    part="metadata",
    build=tables,
)


def _is_scored(row: Row) -> bool:
    phase = find_phase(row.word("phase"))
    return phase is not None and phase.scored and row.metric == phase.metric


HEADLINES: Final = tuple(
    Rule(part, metric, _is_scored, lambda row: row.params["phase"], lambda row: row.word("phase"))
    for part, metric in (("disk", "bandwidth"), ("metadata", "operation_rate"))
)


def _is_easy(hard: Row, row: Row) -> bool:
    same = (row.suite, row.target, row.metric) == (hard.suite, hard.target, hard.metric)
    return same and row.word("phase") == hard.word("phase").replace("hard", "easy") != hard.word("phase")


_PATTERN: Final = Step(
    "pattern",
    "Transfers of 47,008 bytes, interleaved in one shared file, take the place of 2M in a file for each rank.",
    _is_easy,
    advice="Let a program that writes so use files of its own, records of whole 4K, or collective calls of MPI-IO. "
    "The suites pio and sweep tell size, sharing and alignment apart.",
)
LADDERS: Final = (
    *(LadderRule(f"ior-hard-{access}", (_PATTERN,)) for access in ("write", "read")),
    LadderRule("mdtest-hard-write", METADATA_STEPS),
)


def phases(summary: Summary) -> list[Bars]:
    """Return the rate of every phase that counts: bandwidths, then operations."""
    scored = [row for row in summary.rows if _is_scored(row)]
    several = len({row.target for row in scored}) > 1
    lines = [(f"{row.target}: {row.word('phase')}" if several else row.word("phase"), row) for row in scored]
    return [
        group
        for title, unit in (("Bandwidth of each phase", "B/s"), ("Operations of each phase", "op/s"))
        for group in bars(
            title, [line for line in lines if line[1].unit == unit], lambda row: format_list_rate(row.median, row.unit)
        )
    ]


ANSWER: Final = AnswerRule(
    "io500",
    "What is the IO500 score, and what lowers it?",
    "io500-score sensitivity slow-rank",
    remarks="io500-invalid",
    picture=phases,
)
