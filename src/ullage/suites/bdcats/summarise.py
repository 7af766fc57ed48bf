# SPDX-License-Identifier: Apache-2.0
"""From the records of bdcats to its rows."""

from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.particles.summarise import summarise_particles
from ullage.runs.suite import SuiteSummary


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    return summarise_particles(result, context, "bdcats", "read")
