# SPDX-License-Identifier: Apache-2.0
"""From the records of a pmem run to rows, and to sentences on system calls, writers and persistence."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ullage.analysis.verdicts.grades import sound_rows
from ullage.model.record import CaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import Measured, RowContext, build_rows, join
from ullage.runs.ceilings import with_ceilings
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.pmem.cells import interface_of
from ullage.suites.pmem.findings import findings_of
from ullage.suites.pmem.options import PmemOptions
from ullage.suites.pmem.persistence import persistence_findings
from ullage.suites.pmem.placement import NOT_ASKED, NUMA_PATH, with_placement

if TYPE_CHECKING:
    from ullage.model.plan import Scalar


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``. Rows name their interface, the region of a rank and, where it was chosen, the NUMA path."""
    options = read_options(PmemOptions, request)
    launches = [file.records for file in result.read_records()]
    measured = join(launches)
    cases = {item.case.case: item.case for item in measured}
    labelled_rows = labelled(build_rows(launches, context), cases)
    rows = with_ceilings(with_placement(labelled_rows, measured), request.targets, options.machine)
    sound = sound_rows(rows)
    said = [*findings_of(sound, options, context.level, context.settable), *persistence_findings(_granted(measured))]
    return SuiteSummary(rows, [*said, *failures_of(launches, context.level, rows)])


def labelled(rows: Iterable[Row], cases: Mapping[str, CaseRecord]) -> list[Row]:
    """Return ``rows`` with the parameters by which this suite tells them apart."""
    return [_labelled(row, cases[row.case]) for row in rows]


def _labelled(row: Row, case: CaseRecord) -> Row:
    known = case.workload_parameters
    params: dict[str, Scalar] = {
        name: row.params[name] for name in ("access", "ranks", "nodes", "block_bytes") if name in row.params
    }
    params["region_bytes"] = count_of(known, "block_bytes", 1 << 20) * count_of(known, "segments", 1)
    params["interface"] = interface_of(case.backend, case.backend_parameters)
    if (path := known.get(NUMA_PATH, NOT_ASKED)) != NOT_ASKED:
        params[NUMA_PATH] = str(path)
    return row.model_copy(update={"params": params})


def _granted(measured: Iterable[Measured]) -> dict[tuple[str, str], tuple[str, dict[str, str]]]:
    """Return the file system and what was granted to the writes of each target and interface, as last recorded."""
    found: dict[tuple[str, str], tuple[str, dict[str, str]]] = {}
    for item in measured:
        if item.phase.access == "write":
            interface = interface_of(item.case.backend, item.case.backend_parameters)
            found[item.case.target, interface] = (item.phase.file_system, item.phase.hints_granted)
    return found
