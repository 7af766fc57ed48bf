# SPDX-License-Identifier: Apache-2.0
"""The table of a suite of particle files in a report."""

from collections.abc import Callable, Sequence
from typing import Final

from ullage.model.summary import Row
from ullage.quantity import DASH
from ullage.report.contents import Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, PhaseLine, grid_of, phase_lines, value_column
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


def _param(name: str) -> Callable[[PhaseLine], str]:
    return lambda line: str(line.first.params.get(name, DASH))


def _value(heading: str, metric: str) -> Column[PhaseLine]:
    return value_column(heading, lambda line: line.rows.get(metric))


_RATE: Final = "observed_bandwidth"
_HEAD: Final[Sequence[Column[PhaseLine]]] = (
    Column("target", lambda line: line.first.target, is_number=False),
    Column("layout", _param("layout"), is_number=False),
    Column("format", _param("format"), is_number=False),
    Column("transfers", _param("transfers"), is_number=False),
)
_OF_READS: Final[Sequence[Column[PhaseLine]]] = (
    Column("read", _param("read"), is_number=False),
    Column("data of", _param("data_of"), is_number=False),
)
_TAIL: Final[Sequence[Column[PhaseLine]]] = (
    Column("ranks", _param("ranks")),
    Column("particles a rank", _param("particles")),
    Column("steps", _param("steps")),
    Column("computation a step", lambda line: format_time(float(line.first.params["compute_s"]))),
    _value("OBSERVED", _RATE),
    _value("RAW", "raw_bandwidth"),
    _value("wall", "phase_time"),
    _value("calls", "raw_time"),
    _value("open", "open_time"),
    _value("sync", "sync_time"),
    _value("close", "close_time"),
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
