# SPDX-License-Identifier: Apache-2.0
"""The table of a suite of particle files in a report."""

from typing import Final

from ullage.model.summary import Row
from ullage.report.contents import Section
from ullage.report.declared import Table, columns, storage_section, tables_of
from ullage.report.grids import Column, PhaseLine
from ullage.report.headlines import Rule
from ullage.runs.particles.suite import layout_text, particles_read
from ullage.units import format_time

_DOC: Final = (
    "Layout: order in memory, then in the file, each contiguous (C) or interleaved (I). RAW is bytes over the time of "
    "the calls alone. OBSERVED is bytes over the time of the whole phase without the emulated computation. What "
    "converts between the orders is inside the calls. Times are of the slowest rank."
)


def _place(row: Row) -> tuple[str | int, ...]:
    read, form, transfers, layout = (
        str(row.params.get(name, "")) for name in ("read", "format", "transfers", "layout")
    )
    return row.target, row.ranks, read, form, transfers, layout


def particle_section(suite: str, title: str, *, of_reads: bool) -> Section:
    """Return the section of ``suite``."""
    shown = columns(
        "target layout format transfers",
        "read data_of" if of_reads else "",
        "ranks particles=particles_a_rank steps",
        Column[PhaseLine]("computation a step", lambda line: format_time(float(line.first.params["compute_s"]))),
        "observed_bandwidth=OBSERVED raw_bandwidth=RAW phase_time=wall raw_time=calls open_time=open sync_time=sync",
        "close_time=close verdict",
    )
    done = "Read the particles" if of_reads else "Write the particles"
    return storage_section(suite, title, _DOC, tables_of(suite, [Table(shown, lambda _row: done)], _place))


def headline_rule(access: str, read: str = "") -> Rule:
    """Return the rule by which the best row of ``access`` stands on the front page; ``read``: of reads, which ones."""

    def applies(row: Row) -> bool:
        return row.params.get("access") == access and row.params.get("read", "") == read

    return Rule("disk", "observed_bandwidth", applies, lambda _row: (access, read), _what)


def _what(row: Row) -> str:
    done = "written" if row.access == "write" else "read"
    return f"{row.target}: {particles_read(row)} {done}, {row.params['format']}, {layout_text(row)}"
