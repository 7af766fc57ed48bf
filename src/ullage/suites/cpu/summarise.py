# SPDX-License-Identifier: Apache-2.0
"""From the records of a cpu run to rows and findings."""

from dataclasses import replace

from ullage.analysis.findings import find_all
from ullage.analysis.verdicts.grades import is_sound
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.model.request import Request
from ullage.results.events import failed_cases
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, with_peers
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.cpu.ceilings import with_ceilings
from ullage.suites.cpu.findings import findings_of, mismatch_finding, mismatches, with_flags
from ullage.suites.cpu.options import CpuOptions
from ullage.suites.cpu.rows import Measurement, measurements, ratio_rows


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(CpuOptions, request)
    found = _with_peers(measured(result, options, context), result)
    wrong = mismatches(found)
    found = with_flags(found, wrong)
    sound = [one for one in found if all(map(is_sound, one.rows.values()))]
    launches = [file.records for file in result.read_records()]
    findings = [
        *find_all(
            [],
            [one for one in failed_cases(launches) if one.case not in _tries(result)],
            context.level,
            context.settable,
        ),
        *findings_of(sound, ratio_rows(sound), options.missing, context.level),
        *(mismatch_finding(one, sound, context.level) for one in mismatches(sound)),
    ]
    return SuiteSummary([row for one in found for row in one.rows.values()] + ratio_rows(found), findings)


def _tries(result: ResultFolder) -> set[str]:
    """Return the cases with kernels that a library was told to take, as it may not have them."""
    return {case.case for file in result.read_records() for case in file.cases if case.workload_parameters.get("core")}


def measured(result: ResultFolder, options: CpuOptions, context: RowContext) -> list[Measurement]:
    """Return the measurements that the records hold so far, under their ceilings."""
    system = result.read_system()
    launches = [file.records for file in result.read_records()]
    cores = None if system is None else system.cpu.usable_cores
    found = _with_thread_flags(measurements(launches, context, options.libraries))
    return with_ceilings(found, options.machine, cores)


def _with_thread_flags(found: list[Measurement]) -> list[Measurement]:
    flagged = iter(with_thread_flags([row for one in found for row in one.rows.values()]))
    return [replace(one, rows={metric: next(flagged) for metric in one.rows}) for one in found]


def _with_peers(found: list[Measurement], result: ResultFolder) -> list[Measurement]:
    """Join the peers to the rows before findings are made, as these name the peer."""
    peers = result.read_peers()
    joined: list[Measurement] = []
    for one in found:
        rows = with_peers(list(one.rows.values()), peers)
        joined.append(replace(one, rows={row.metric: row for row in rows}))
    return joined
