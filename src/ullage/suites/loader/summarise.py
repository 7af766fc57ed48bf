# SPDX-License-Identifier: Apache-2.0
"""From the records of suite ``loader`` to its rows: each epoch of each number of accelerators, and all epochs of it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.verdicts import cache_verdict
from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, RowFrame, TargetFacts, build_rows, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.loader.findings import ALL_EPOCHS, CACHED, NO_PRESET, RATE, USE, findings_of
from ullage.suites.loader.options import LoaderOptions

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_RUN_USE: Final = "run_use"
_COLD: Final = "cold"
_Phases = Mapping[tuple[str, str], Sequence[PhaseRecord]]


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(LoaderOptions, request)
    launches = [list(file.records) for file in result.read_records()]
    rows = loader_rows(launches, context, options)
    system = result.read_system()
    cores = None if system is None else system.cpu.usable_cores
    found = findings_of(sound_rows(rows), options, context.level, cores)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found])


def loader_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, options: LoaderOptions) -> list[Row]:
    """Return the rows of every epoch, with the share of bytes that memory answered, and the AU of all epochs."""
    records = [list(launch) for launch in launches]
    measured = join(records)
    cases = {item.case.case: item.case for item in measured}
    groups = grouped(((item.case.case, item.phase.phase), item) for item in measured)
    phases = {place: [item.phase for item in items] for place, items in groups.items()}
    rows = [row for row in build_rows(records, context) if _is_shown(row, options)]
    told = [_told(row, cases[row.case], phases[row.case, str(row.params["access"])], options) for row in rows]
    return [*told, *_cached_shares(told, phases, context)]


def _is_shown(row: Row, options: LoaderOptions) -> bool:
    """Tell whether a row is no sum that goes on with a later epoch."""
    return row.metric != _RUN_USE or row.params["access"] == f"epoch-{options.epochs}"


def _told(row: Row, case: CaseRecord, phases: Sequence[PhaseRecord], options: LoaderOptions) -> Row:
    access, parameters = str(row.params["access"]), case.workload_parameters
    is_run = row.metric == _RUN_USE
    samples = phases[-1].counters.get("samples", 0) or count_of(parameters, "samples", 0)
    params: dict[str, Scalar] = {
        "access": ALL_EPOCHS if is_run else access,
        "ranks": row.params["ranks"],
        "nodes": row.params["nodes"],
        **_samples_of(options),
        "accelerators": _accelerators(phases[-1]),
        "samples": samples,
        "volume_bytes": phases[-1].bytes,
        "batch": options.batch_samples,
        "step_s": options.pace_s,
        "limit": options.least_use,
        "threads_each": count_of(parameters, "threads", 4),
        "block_bytes": count_of(parameters, "transfer_bytes", 1 << 20),
        "backend": row.params["backend"],
    }
    if access != "write":
        params["data_of"] = phases[-1].data_of
    changes: dict[str, object] = {"params": params, "metric": USE if is_run else row.metric}
    told = row.model_copy(update=changes)
    # Memory may answer a later epoch, and the ceiling of the device does not bound memory.
    return with_ceiling(told, None) if access != "write" and told.verdict != _COLD else told


def _samples_of(options: LoaderOptions) -> "dict[str, Scalar]":
    """Name the samples by the preset; where their sizes were asked for, state these."""
    if options.is_of_preset_samples:
        return {"preset": options.preset}
    return {"preset": NO_PRESET, "sample_bytes": options.mean_bytes}


def _accelerators(phase: PhaseRecord) -> int:
    found = phase.facts.get("accelerators")
    return found if isinstance(found, int) else 0


def _cached_shares(rows: Iterable[Row], phases: _Phases, context: RowContext) -> list[Row]:
    """Return a row of the share of each epoch's bytes that memory answered; none where no counter tells."""
    found: list[Row] = []
    for row in rows:
        access = str(row.params["access"])
        if row.metric != RATE or access == "write":
            continue
        shares = _shares(phases[row.case, access], context.targets.get(row.target, TargetFacts()))
        if shares:
            frame = RowFrame(CACHED, "of bytes", row.target, row.params, row.case, "less", grade=row.grade)
            verdict = {"verdict": row.verdict, "verdict_reasons": row.verdict_reasons}
            found.append(frame.row(shares, context.level).model_copy(update=verdict))
    return found


def _shares(phases: Iterable[PhaseRecord], facts: TargetFacts) -> list[float]:
    verdicts = [
        cache_verdict(phase, memory_target=facts.is_memory, remote_target=facts.is_remote, holds_data=facts.holds_data)
        for phase in phases
    ]
    return [1 - min(1.0, verdict.share) for verdict in verdicts if verdict.share is not None]
