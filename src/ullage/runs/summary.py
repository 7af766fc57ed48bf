# SPDX-License-Identifier: Apache-2.0
"""The summary of a result, from its records alone: it can be made again at any time, on any machine."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ullage.analysis.ceilings.declared import ceilings_for
from ullage.analysis.findings import find_all
from ullage.analysis.findings.doubts import contamination_findings
from ullage.analysis.findings.targets import find_better_targets
from ullage.analysis.storage_ladders import mount_notes
from ullage.analysis.verdicts.physics import with_thread_flags
from ullage.model.acceptance import Floor
from ullage.model.machine import MachineFile
from ullage.model.request import Request, read_option
from ullage.model.summary import Summary
from ullage.model.system import SystemFacts
from ullage.results.events import failed_cases, failed_launches, summarise_events
from ullage.results.folder import ResultFolder
from ullage.results.records import RecordFile
from ullage.results.rows import DEFAULT_METRICS, RowContext, TargetFacts, build_rows, with_peers
from ullage.runs.composite.summarise import is_made_of_parts, summary_of_parts
from ullage.runs.explained import explained
from ullage.runs.no_device import under_names
from ullage.runs.nodes import is_of_each_node, judged_by_floors, summary_of_nodes, with_floors
from ullage.runs.suite import SuiteSummary, Summarising, all_suites, settable_of
from ullage.uri import DEVDAX, MEMORY, target_path, target_scheme

LEVEL = 0.95


def build_summary(result: ResultFolder, floors: Sequence[Floor] = ()) -> Summary:
    """Build rows, findings, events and ladders of ``result``. ``floors``: in the place of those of the run, if any.

    Raise ``UserError`` when a document it stands on is missing or damaged. Of the request's options it reads those that
    every suite names alike: ``access`` (list of phases), ``metrics`` (list), ``ceilings`` (bytes/s by ``TARGET`` or
    ``TARGET:ACCESS``), ``machine`` (a machine file), ``interval`` (relative width asked for) and ``max_repetitions``.
    """
    from ullage.importers import imported_summary, with_beside
    from ullage.importers.rows import IMPORT_SUITE

    asked = result.read_request()
    request = with_floors(asked, floors) if floors else asked
    if request.suite == IMPORT_SUITE:
        return judged_by_floors(imported_summary(result, request), request)
    if is_of_each_node(request):
        return with_beside(summary_of_nodes(result, request, build_summary), result)
    return with_beside(judged_by_floors(explained(_as_suites_say(result)), request), result)


def _as_suites_say(result: ResultFolder) -> Summary:
    """Return the summary without measured bounds and ladders: the rows of all parts of a result bound each other."""
    request = result.read_request()
    if is_made_of_parts(request):
        return summary_of_parts(result, request, _as_suites_say)
    system, files = result.read_system(), result.read_records()
    said = _summarise(result, request, row_context(request, system), files)
    rows = [row if row.suite else row.model_copy(update={"suite": request.suite}) for row in said.rows]
    rows = with_peers(rows, result.read_peers())
    names = [target.name for target in request.targets]
    told = [*said.findings, *find_better_targets(rows, said.findings, names, LEVEL)]
    return Summary(
        suite=request.suite,
        run_id=request.run_id,
        created=request.created,
        command=request.command,
        versions=_versions(request, files),
        rows=rows,
        findings=[*([] if said.uses_disturbed else contamination_findings(rows)), *told],
        scores=said.scores,
        events=[*summarise_events(files), *failed_launches(result, files)],
        system={} if system is None else {**system.model_dump(mode="json"), **_measured_on(files)},
        tune=said.tune,
    )


def _summarise(
    result: ResultFolder, request: Request, context: RowContext, files: Sequence[RecordFile]
) -> SuiteSummary:
    """Summarise by the suite itself where it has a way of its own, else every phase of every case as rows."""
    suite = all_suites().get(request.suite)
    if isinstance(suite, Summarising):
        return suite.summarise(result, request, context)
    launches = [file.records for file in files]
    rows = under_names(with_thread_flags(build_rows(launches, context)), result, context)
    return SuiteSummary(rows, find_all(rows, failed_cases(launches), LEVEL, context.settable))


def row_context(request: Request, system: SystemFacts | None) -> RowContext:
    """Return what rows need to know besides the records."""
    ceilings, interval = _numbers(request.options.get("ceilings")), request.options.get("interval")
    most, suite = request.options.get("max_repetitions"), all_suites().get(request.suite)
    asked = request.options.get("access")
    accesses = cast("list[object]", asked) if isinstance(asked, list) else []
    places = {place.target: place for place in (system.places if system is not None else [])}
    machine = read_option(MachineFile, request, "machine")
    targets = {
        target.name: TargetFacts(
            holds_data=target_path(target) is not None or target_scheme(target) in (MEMORY, DEVDAX),
            is_memory=bool((place := places.get(target.name)) and place.is_memory),
            is_remote=bool(place and place.is_remote),
            ceilings=ceilings_for(target, system, ceilings, machine),
            limits=place.device.limits if place and place.device else (),
            notes=mount_notes(place.file_system, place.options) if place else (),
        )
        for target in request.targets
    }
    return RowContext(
        accesses=tuple(item for item in accesses if isinstance(item, str)),
        metrics=tuple(suite.options.metrics.split() if suite is not None else ()) or DEFAULT_METRICS,
        targets=targets,
        level=LEVEL,
        wanted_width=float(interval) if isinstance(interval, (int, float)) else None,
        most_repetitions=most if isinstance(most, int) else None,
        settable=replace(settable_of(request), cores=(system.cpu.usable_cores or 0) if system is not None else 0),
    )


def _numbers(value: object) -> dict[str, float]:
    if not isinstance(value, dict):
        return {}
    items = cast("dict[str, object]", value).items()
    return {key: float(item) for key, item in items if isinstance(item, (int, float))}


def _measured_on(files: Sequence[RecordFile]) -> dict[str, object]:
    """Return how many nodes and ranks the largest launch had, where it had several nodes: each writes a probe."""
    nodes = [len({one.node for one in file.probes if one.probe == "node"}) for file in files]
    ranks = [file.run.layout.ranks for file in files if file.run is not None]
    if max(nodes, default=0) < 2:
        return {}
    return {"measured_on": {"nodes": max(nodes), "ranks": max(ranks)}}


def _versions(request: Request, files: Sequence[RecordFile]) -> dict[str, str]:
    runs = [file.run for file in files if file.run is not None]
    if not runs:
        return request.versions
    engine = runs[-1].engine
    found = {"engine": f"{engine.version} ({engine.git})", "mpi": engine.mpi.library, "compiler": engine.compiler}
    if runs[-1].mpi_io:
        found["mpi_io"] = runs[-1].mpi_io
    return {**request.versions, **found}
