# SPDX-License-Identifier: Apache-2.0
"""The suite ``vpic``: from its options to cases, and from records to rows and findings."""

from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.particles.cells import WorkloadSettings, prepare_particles
from ullage.runs.particles.findings import summarise_particles
from ullage.runs.suite import SuiteSummary
from ullage.suites.vpic.options import VpicOptions


def prepare_vpic(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(VpicOptions, request)
    lines = ["All ranks write one file. It is read and verified after the time."]
    asked = WorkloadSettings(phases=["write"], parameters={"sync": options.sync})
    return prepare_particles(request, engine_context, options, asked, lines)


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    return summarise_particles(result, context, "vpic", "write")
