# SPDX-License-Identifier: Apache-2.0
"""From the records of a stepfile to its rows, to what a cache answered of the adjoint, and to rates that are known."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

from ullage.analysis.findings.phrasing import finding
from ullage.analysis.statistics import median
from ullage.analysis.stepmodel import cached_share, reading_order
from ullage.analysis.verdicts.cache import cache_verdict, combine_verdicts
from ullage.analysis.verdicts.grades import is_sound, sound_rows
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import percent
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import Measured, RowContext, TargetFacts, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.summary import row_context
from ullage.runs.told import Source, launches_of, told_rows, usual
from ullage.suites.stepfile.findings import Demand, findings_of, spill_findings, who_of
from ullage.suites.stepfile.known import KnownRate
from ullage.suites.stepfile.options import LAYOUTS, ORDERS, StepfileOptions
from ullage.units import format_volume

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_ADJOINT: Final = "adjoint"
# From this share on, all reads count as served by the cache, and nothing is said.
_WHOLE: Final = 0.95


def measured_shares(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> dict[str, float]:
    """Return the share of the reads that did not come from the storage, by case, where counters tell.

    It is the median over the repetitions.
    """
    cases = grouped((item.case.case, item) for item in join(launches) if item.phase.phase == _ADJOINT)
    shares = {case: _shares(items, context) for case, items in cases.items()}
    return {case: median(known) for case, known in shares.items() if known}


def _shares(measured: Iterable[Measured], context: RowContext) -> list[float]:
    found: list[float] = []
    for item in measured:
        facts = context.targets.get(item.case.target, TargetFacts())
        if not facts.holds_data or facts.is_memory:
            continue
        share = combine_verdicts([cache_verdict(item.phase, remote_target=facts.is_remote)]).share
        if share is not None:
            found.append(1 - min(1.0, share))
    return found


def cache_findings(
    rows: Iterable[Row], cases: Mapping[str, CaseRecord], measured: Mapping[str, float], held_bytes: int | None
) -> list[Finding]:
    """State both shares for each case whose reads the page cache served in part, or should have.

    ``rows``: sound ones. ``held_bytes``: that the page cache of a node can hold; None where that is not known.
    """
    found: list[Finding] = []
    for row in rows:
        case = cases[row.case]
        is_asked = row.metric == "phase_time" and row.access == _ADJOINT and row.case in measured
        if not is_asked or case.workload_parameters.get("cache") == "drop" or held_bytes is None:
            continue
        expected = expected_share(row, held_bytes, removes=case.workload_parameters.get("remove_read") is True)
        if expected is not None and min(expected, measured[row.case]) < _WHOLE:
            found.append(_cached(row, expected, measured[row.case], held_bytes))
    return found


def expected_share(row: Row, held_bytes: int, *, removes: bool) -> float | None:
    """Return the share that a page cache of ``held_bytes`` on each node serves; None for an order that computes again.

    See ``cached_share``.
    """
    order, steps = row.word("order"), row.count("steps")
    if order.startswith("revolve"):
        return None
    of_a_step = row.ranks * row.count("block_bytes")
    held = held_bytes * row.count("nodes") // of_a_step
    return cached_share(reading_order(order, steps), held, removes=removes)


def _cached(row: Row, expected: float, measured: float, held_bytes: int) -> Finding:
    held = format_volume(held_bytes)
    text = (
        f"{percent(measured)} of the reads in the adjoint phase ({who_of(row)}) did not come from the storage. A page "
        f"cache of {held} on a node serves {percent(expected)}, if it drops the oldest states first."
    )
    title = f"{percent(measured)} of the adjoint's reads on {row.target} come from the page cache"
    numbers = {"predicted": expected, "measured": measured, "page_cache_bytes": held_bytes}
    return finding("stepfile-cache", title, text, "info", case=row.case, **numbers)


# -- rows --------------------------------------------------------------------------------------------------------------

WORKLOAD: Final = "stepfile"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
    options = read_options(StepfileOptions, request)
    launches = launches_of(result)
    rows = stepfile_rows(launches, context)
    demands = demands_of(launches)
    sound = sound_rows(rows)
    found = findings_of(sound, demands, options.compute_s, context.level)
    spills = spills_of(launches)
    alone = [row for row in sound if row.case not in spills]  # counters are of the first target alone
    cases = {item.case.case: item.case for item in join(launches)}
    system = result.read_system()
    held = None if system is None else system.memory.available_bytes
    cached = cache_findings(alone, cases, measured_shares(launches, context), held)
    spilled = spill_findings(spills, rows)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *found, *cached, *spilled])


def stepfile_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext) -> list[Row]:
    """Return the rows of both phases, with their layout and order as people type them."""
    records = [list(launch) for launch in launches]
    spills = spills_of(records)
    rows = told_rows(records, context, _tell)
    return [_at_several(row, spills[row.case]) if row.case in spills else row for row in rows]


def states_at(phase: PhaseRecord) -> dict[str, int]:
    """Return how many states lie at which target; empty where the case has one target."""
    tiers = phase.facts.get("tiers")
    found = cast("list[dict[str, object]]", tiers) if isinstance(tiers, list) else []
    return {str(one["target"]): states for one in found if isinstance(states := one.get("states"), int)}


def spills_of(launches: Iterable[Iterable[AnyRecord]]) -> dict[str, dict[str, int]]:
    """Return where the states of each case were in its last repetition, for cases with several targets."""
    found = {item.case.case: states_at(item.phase) for item in join([list(launch) for launch in launches])}
    return {case: tiers for case, tiers in found.items() if tiers}


def _at_several(row: Row, tiers: Mapping[str, int]) -> Row:
    """Name all targets in a row. Counters are of the first, so nothing is known of what came from where."""
    params: dict[str, Scalar] = {**row.params, "targets": " ".join(tiers)}
    reason = "the states are at several targets, and counters were read of the first alone"
    verdict = {"verdict": "unknown", "verdict_reasons": [reason]}
    return row.model_copy(update={"params": params, **(verdict if sum(tiers.values()) > max(tiers.values()) else {})})


def _tell(row: Row, source: Source) -> Mapping[str, "Scalar"]:
    parameters = source.workload
    return {
        **usual(row, "access", "ranks", "nodes"),
        "block_bytes": count_of(parameters, "state_bytes", 4 << 20),
        "steps": count_of(parameters, "steps", 100),
        "backend": row.params["backend"],
        "layout": typed("layout", parameters, LAYOUTS, "dir-per-rank"),
        "order": typed("order", parameters, ORDERS, "reverse"),
    }


_NUMBERS: Final[Mapping[str, int]] = {"stride": 2, "checkpoints": 10, "hash_levels": 2}


def typed(name: str, parameters: Mapping[str, object], forms: Mapping[str, str], usual: str) -> str:
    """Return a parameter as the option's word; records hold what differs from the engine's defaults, or all."""
    word = str(parameters.get(name, usual))
    own = forms.get(word, "")
    return f"{word}:{count_of(parameters, own, _NUMBERS[own])}" if own else word


def demands_of(launches: Iterable[Iterable[AnyRecord]]) -> dict[tuple[str, str], list[Demand]]:
    """Return, for each case and phase, what the repetitions did."""
    measured = grouped(((item.case.case, item.phase.phase), item) for item in join([list(one) for one in launches]))
    found = {key: [Demand.of(item.phase) for item in items] for key, items in measured.items()}
    told = {key: [demand for demand in demands if demand is not None] for key, demands in found.items()}
    return {key: demands for key, demands in told.items() if demands}


# -- known rates -------------------------------------------------------------------------------------------------------

_DEPTHS: Final[Mapping[str, str]] = {"forward": "write_behind", "adjoint": "prefetch"}


def computes(case: CaseRecord) -> bool:
    """Tell whether the ranks of ``case`` computed, so that its phases are no rates of calls alone."""
    found = case.workload_parameters.get("compute_s", 0.0)
    return isinstance(found, (int, float)) and found > 0


def rates_of(launches: Sequence[Iterable[AnyRecord]], rows: Sequence[Row], run_id: str) -> list[KnownRate]:
    """Return the rates that cases without computation tell. ``rows``: made of the records ``launches``."""
    records = [list(launch) for launch in launches]
    cases = {item.case.case: item.case for item in join(records)}
    demands = demands_of(records)
    walls = [row for row in rows if row.metric == "phase_time" and not computes(cases[row.case])]
    return [
        _rate(row, cases[row.case], demands[row.case, row.access], run_id)
        for row in walls
        if (row.case, row.access) in demands
    ]


def _rate(row: Row, case: CaseRecord, demands: Sequence[Demand], run_id: str) -> KnownRate:
    phase = cast("Literal['forward', 'adjoint']", row.access)
    return KnownRate(
        run_id=run_id,
        phase=phase,
        target=row.target,
        backend=row.word("backend"),
        layout=row.word("layout"),
        order=row.word("order"),
        cache="drop" if case.workload_parameters.get("cache") == "drop" else "none",
        ranks=row.ranks,
        steps=row.count("steps"),
        state_bytes=row.count("block_bytes"),
        depth=count_of(case.workload_parameters, _DEPTHS[phase], 0),
        walls_s=list(row.repetitions),
        state_s=median(one.io_s for one in demands),
        sound=is_sound(row),
    )


def read_rates(path: Path) -> list[KnownRate]:
    """Return the rates in the result at ``path``; raise ``UserError`` where it has none."""
    result = ResultFolder.open(path)
    request = result.read_request()
    launches = [file.records for file in result.read_records()]
    context = replace(row_context(request, result.read_system()), metrics=("phase_time",), accesses=())
    found = rates_of(launches, stepfile_rows(launches, context), request.run_id)
    if not found:
        what = "has no states that were written and read without computation"
        raise UserError(what, f"{path}", "name a result of `ullage predict stepfile`, or of a run without --compute")
    return found
