# SPDX-License-Identifier: Apache-2.0
"""From the records of a suite of particle files to its rows and findings."""

from ullage.analysis.verdicts.grades import sound_rows
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.particles.findings import findings_of
from ullage.runs.particles.rows import particle_rows
from ullage.runs.suite import SuiteSummary


def summarise_particles(result: ResultFolder, context: RowContext, suite: str, access: str) -> SuiteSummary:
    """Summarise phase ``access`` of ``suite``."""
    launches = [file.records for file in result.read_records()]
    rows = particle_rows(launches, context, access)
    found = findings_of(sound_rows(rows), suite, context.level)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])
