# SPDX-License-Identifier: Apache-2.0
"""From the records of a stepfile to its rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, cast

from ullage.analysis.verdicts.grades import sound_rows
from ullage.grouping import grouped
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, join
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Source, launches_of, told_rows, usual
from ullage.suites.stepfile.cached import cache_findings, measured_shares
from ullage.suites.stepfile.findings import Demand, findings_of, spill_findings
from ullage.suites.stepfile.options import LAYOUTS, ORDERS, StepfileOptions

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

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
