# SPDX-License-Identifier: Apache-2.0
"""The suite ``bdcats``: from its options to cases, and from records to rows and findings."""

from collections.abc import Mapping

from ullage.model.plan import Parameters
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import read_options
from ullage.runs.particles.cells import WorkloadSettings, prepare_particles
from ullage.runs.particles.findings import summarise_particles
from ullage.runs.suite import SuiteSummary
from ullage.suites.bdcats.options import BdcatsOptions


def prepare_bdcats(request: Request, engine_context: EngineContext) -> PreparedCells:
    """Check everything that can be checked without starting anything."""
    options = read_options(BdcatsOptions, request)
    lines = ["Each case writes its file first. That write is not reported."]
    if options.source == "other-node":
        lines.append("Ranks read what a rank of the next node has written, or the next rank on one node.")
    if options.cache == "none":
        lines.append("Nothing is done about caches before reads: expect the verdict warm.")
    asked = WorkloadSettings(["write", "read"], {"read_back": options.source}, reads_of(options))
    return prepare_particles(request, engine_context, options, asked, lines)


def reads_of(options: BdcatsOptions) -> Mapping[str, Parameters]:
    """Return the words of the reads with their parameters of the workload."""
    sizes: dict[str, Parameters] = {
        "full": {},
        "partial": {"read_particles": max(1, round(options.part * options.particles))},
        "strided": {"run": options.run, "stride": options.stride},
    }
    return {read: sizes[read] for read in options.reads}


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    return summarise_particles(result, context, "bdcats", "read")
