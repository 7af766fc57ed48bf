# SPDX-License-Identifier: Apache-2.0
"""The table of a suite of particle files in a report."""

from collections.abc import Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, PhaseLine, grid_of, metric_column, param_text, phase_lines
from ullage.report.headlines import Rule
from ullage.report.verdicts import headword
from ullage.runs.particles.rows import layout_text, particles_read
from ullage.units import format_time

_DOC: Final = (
    "Layout: order in memory, then in the file, each contiguous (C) or interleaved (I). RAW is bytes over the time of "
    "the calls alone. OBSERVED is bytes over the time of the whole phase without the emulated computation. What "
    "converts between the orders is inside the calls. Times are of the slowest rank."
)


def _place(line: PhaseLine) -> tuple[str, int, str, str, str, str]:
    """Return by what lines are ordered: cases were measured in a random order."""
    params = line.first.params
    read, form, transfers, layout = (str(params.get(name, "")) for name in ("read", "format", "transfers", "layout"))
    return line.first.target, int(params["ranks"]), read, form, transfers, layout


_RATE: Final = "observed_bandwidth"
_HEAD: Final[Sequence[Column[PhaseLine]]] = (
    Column("target", lambda line: line.first.target, is_number=False),
    Column("layout", param_text("layout"), is_number=False),
    Column("format", param_text("format"), is_number=False),
    Column("transfers", param_text("transfers"), is_number=False),
)
_OF_READS: Final[Sequence[Column[PhaseLine]]] = (
    Column("read", param_text("read"), is_number=False),
    Column("data of", param_text("data_of"), is_number=False),
)
_TAIL: Final[Sequence[Column[PhaseLine]]] = (
    Column("ranks", param_text("ranks")),
    Column("particles a rank", param_text("particles")),
    Column("steps", param_text("steps")),
    Column("computation a step", lambda line: format_time(float(line.first.params["compute_s"]))),
    metric_column("OBSERVED", _RATE),
    metric_column("RAW", "raw_bandwidth"),
    metric_column("wall", "phase_time"),
    metric_column("calls", "raw_time"),
    metric_column("open", "open_time"),
    metric_column("sync", "sync_time"),
    metric_column("close", "close_time"),
    Column("verdict", lambda line: headword(line.first), is_number=False),
)


def particle_section(suite: str, title: str, *, of_reads: bool) -> Section:
    """Return the section of ``suite``."""
    done = "Read the particles" if of_reads else "Write the particles"
    columns = [*_HEAD, *(_OF_READS if of_reads else ()), *_TAIL]

    def build(data: ReportData) -> Content | None:
        lines = sorted(phase_lines(data.rows_of(suite)), key=_place)
        return Content(notes=[], grids=list(grid_of(done, columns, lines))) if lines else None

    return Section(name=suite, title=title, doc=_DOC, order=2, part="disk", build=build, suite=suite)


# -- headlines ---------------------------------------------------------------------------------------------------------


def headline_rule(access: str, read: str = "") -> Rule:
    """Return the rule by which the best row of ``access`` stands on the front page; ``read``: of reads, which ones."""

    def applies(row: Row) -> bool:
        return row.params.get("access") == access and row.params.get("read", "") == read

    return Rule("disk", _RATE, applies, lambda _row: (access, read), _what)


def _what(row: Row) -> str:
    done = "written" if row.params["access"] == "write" else "read"
    return f"{row.target}: {particles_read(row)} {done}, {row.params['format']}, {layout_text(row)}"
