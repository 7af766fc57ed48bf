# SPDX-License-Identifier: Apache-2.0
"""From the records of a stepfile to its rows, its sentences and rates that are known.

Sentences say what is exposed, what the computation demands of the storage, which layout is faster, and what a cache
answered of the adjoint.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Final, Literal, cast

from ullage.analysis.findings.alike import Faster
from ullage.analysis.findings.phrasing import finding, level_of_part
from ullage.analysis.metrics.programs import exposed_s, io_seconds_of_a_state
from ullage.analysis.statistics.intervals import median_interval
from ullage.analysis.stepmodel import cached_share, reading_order
from ullage.analysis.verdicts.cache import cache_verdict
from ullage.analysis.verdicts.grades import is_sound
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.record import CaseRecord, PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import format_quantity, percent, plural, times
from ullage.results.folder import ResultFolder
from ullage.results.rows import RowContext, TargetFacts, join
from ullage.runs.options.engine import Values
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.runs.summary import row_context
from ullage.runs.told import Launches, Source, launches_of, summary_of, told_rows, usual
from ullage.suites.stepfile.options import LAYOUTS, ORDERS, KnownRate, StepfileOptions
from ullage.suites.stepfile.suite import recomputations
from ullage.units import format_operations, format_rate, format_volume

_FAMILIES: Final = 2
_FORWARD: Final = "forward"
_NOUNS: Final[Mapping[str, str]] = {_FORWARD: "forward phase", "adjoint": "adjoint phase"}


@dataclass(frozen=True)
class Demand:
    """One repetition of a phase. ``io_s``: the mean time of a rank for one state, over all its calls."""

    ranks: int
    elapsed_s: float
    exposed_s: float
    io_s: float
    state_bytes: float

    @staticmethod
    def of(phase: PhaseRecord) -> "Demand | None":
        """Return what ``phase`` did; None where it moved no state."""
        exposed, io_s, states = exposed_s(phase), io_seconds_of_a_state(phase), phase.counters.get("states", 0)
        if exposed is None or not io_s or not states:
            return None
        return Demand(phase.ranks, phase.elapsed_ns / 1e9, exposed, io_s, phase.bytes / states)


def findings_of(
    rows: Sequence[Row], demands: Mapping[tuple[str, str], Sequence[Demand]], compute_s: float, level: float
) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones."""
    walls = [row for row in rows if row.metric == "phase_time"]
    measured = [(row, demands[row.case, row.access]) for row in walls if (row.case, row.access) in demands]
    own = level_of_part(level, _FAMILIES)
    exposed = [row for row in rows if row.metric == "exposed_io" and not row.is_invalid]
    asked = [one for one in measured if compute_s > 0 and one[0].access == _FORWARD]
    orders = {(row.word("order"), row.count("steps")) for row in walls if row.word("order").startswith("revolve:")}
    return [
        *(_exposed(row, found) for row, found in measured),
        *(_demand(row, found, compute_s, level_of_part(own, len(asked))) for row, found in asked),
        *[_recomputed(order, steps, compute_s) for order, steps in sorted(orders)],
        *_LEAST_EXPOSED.findings(exposed, own, lambda row: {"noun": _NOUNS[row.access], "who": who_of(row)}),
    ]


def who_of(row: Row) -> str:
    """Return where, how and by how many ranks the states of ``row`` were kept."""
    return f"{row.target}, {row.params['layout']}, {row.params['order']}, {plural(row.ranks, 'rank')}"


def _exposed(row: Row, found: Sequence[Demand]) -> Finding:
    share = median(one.exposed_s / one.elapsed_s for one in found)
    exposed, io_s = median(one.exposed_s for one in found), median(one.io_s for one in found)
    noun = _NOUNS[row.access]
    text = (
        f"The {noun} ({who_of(row)}) takes {format_quantity(row.median, 's')}. Of that, "
        f"{format_quantity(exposed, 's')} ({percent(share, 1)}) is I/O that the ranks wait for. The calls for one "
        f"state take {format_quantity(io_s, 's')} on average."
    )
    title = f"{percent(share)} of the {noun} is exposed I/O on {row.target}"
    return finding(
        "stepfile-exposed",
        title,
        text,
        case=row.case,
        phase=row.access,
        phase_s=row.median,
        exposed_s=exposed,
        share=share,
        state_s=io_s,
    )


def _demand(row: Row, found: Sequence[Demand], compute_s: float, level: float) -> Finding:
    """State what hides the writes behind the computation of all ranks, and what the calls reached here.

    Whether that is enough is said where the interval of a state's time, at ``level``, lies on one side of the time
    there is for it.
    """
    first = found[0]
    needed_files = first.ranks / compute_s
    needed_bytes = needed_files * first.state_bytes
    reached_files = first.ranks / median(one.io_s for one in found)
    reached_bytes = reached_files * first.state_bytes
    state_s = median_interval([one.io_s for one in found], level)
    short = not state_s.below_level and state_s.low > compute_s
    enough = not state_s.below_level and state_s.high <= compute_s
    ratio = reached_files / needed_files
    text = (
        f"Writes need {format_rate(needed_bytes)} and {format_operations(needed_files)} to overlap with the "
        f"computation. The calls reach {format_rate(reached_bytes)} and {format_operations(reached_files)} "
        f"({who_of(row)}, verdict {row.verdict}), {times(ratio)} of that."
    )
    if row.params["layout"] != "log":
        text += " With layout log, no file is made at a step."
    if not enough and not short:
        text += " Whether that is enough cannot be told from these repetitions."
    judged = "is fast enough" if enough else "is too slow" if short else "may be too slow"
    title = f"{row.target} {judged} to overlap the writes with layout {row.params['layout']}"
    return finding(
        "stepfile-demand",
        title,
        text,
        "advice" if short else "info",
        case=row.case,
        needed_bytes_per_s=needed_bytes,
        needed_files_per_s=needed_files,
        reached_bytes_per_s=reached_bytes,
        reached_files_per_s=reached_files,
    )


def _recomputed(order: str, steps: int, compute_s: float) -> Finding:
    kept = min(int(order.partition(":")[2]), steps)
    again = recomputations(steps, kept)
    text = f"{order} keeps {kept} of {steps} states of a rank and computes {plural(again, 'step')} again."
    if compute_s > 0:
        text += f" That takes {format_quantity(again * compute_s, 's')} of computation on each rank."
    title = f"{order} computes {again / steps:.2g} x the steps again"
    return finding("stepfile-revolve", title, text, steps=steps, kept=kept, recomputed=again)


def spill_findings(tiers: Mapping[str, Mapping[str, int]], rows: Sequence[Row]) -> list[Finding]:
    """Say where the states of cases with several targets were. ``tiers``: states by target, by case."""
    by_case = {row.case: row for row in rows if row.metric == "phase_time"}
    return [_spilled(row, tiers[case]) for case, row in by_case.items() if case in tiers]


def _spilled(row: Row, states: Mapping[str, int]) -> Finding:
    whole = sum(states.values())
    first = next(iter(states))
    held = ", ".join(f"{target} {count}" for target, count in states.items())
    text = f"The targets held these numbers of states ({who_of(row)}): {held}."
    left = whole - states[first]
    text += " The run writes to a target up to its limit of space, or until the target is full." if left else ""
    title = f"{left} of {plural(whole, 'state')} found no room on {first}" if left else f"All states are on {first}"
    numbers = {"targets": list(states), "states": list(states.values())}
    return finding("stepfile-spill", title, text, "info", case=row.case, **numbers)


_LEAST_EXPOSED: Final = Faster(
    "stepfile-layout",
    "layout",
    "--layout",
    title="Layout {layout} exposes less I/O in the {noun}",
    text="In the {noun} ({who}), {value} of I/O is exposed. With layout {other_layout} it is {other_value}, {factor} "
    "as much.",
)


_ADJOINT: Final = "adjoint"
# From this share on, all reads count as served by the cache, and nothing is said.
_WHOLE: Final = 0.95


def measured_shares(launches: Launches, context: RowContext) -> dict[str, float]:
    """Return the share of the reads that did not come from the storage, by case, where counters tell.

    It is the median over the repetitions.
    """
    known: list[tuple[str, float]] = []
    for item in join(launches):
        facts = context.targets.get(item.case.target, TargetFacts())
        if item.phase.phase == _ADJOINT and facts.holds_data and not facts.is_memory:
            share = cache_verdict(item.phase, remote_target=facts.is_remote).share
            known += [] if share is None else [(item.case.case, 1 - min(1.0, share))]
    return {case: median(shares) for case, shares in grouped(known).items()}


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


WORKLOAD: Final = "stepfile"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options = read_options(StepfileOptions, request)
    launches = launches_of(result)
    rows, spills = stepfile_rows(launches, context), spills_of(launches)
    system = result.read_system()
    held = None if system is None else system.memory.available_bytes

    def said_of(sound: Sequence[Row], level: float) -> list[Finding]:
        found = findings_of(sound, demands_of(launches), options.compute_s, level)
        alone = [row for row in sound if row.case not in spills]  # counters are of the first target alone
        cached = cache_findings(alone, cases_of(launches), measured_shares(launches, context), held)
        return [*found, *cached, *spill_findings(spills, rows)]

    return summary_of(launches, context, rows, said_of)


def stepfile_rows(launches: Launches, context: RowContext) -> list[Row]:
    """Return the rows of both phases, with their layout and order as people type them."""
    spills = spills_of(launches)
    rows = told_rows(launches, context, _tell)
    return [_at_several(row, spills[row.case]) if row.case in spills else row for row in rows]


def spills_of(launches: Launches) -> dict[str, dict[str, int]]:
    """Return how many states lie at which target, by case, in the last repetition of cases with several targets."""
    tiers = {item.case.case: item.phase.facts.get("tiers") for item in join(launches)}
    held = {case: cast("list[dict[str, object]]", found) for case, found in tiers.items() if isinstance(found, list)}
    states = {
        case: {str(one["target"]): count for one in found if isinstance(count := one.get("states"), int)}
        for case, found in held.items()
    }
    return {case: counts for case, counts in states.items() if counts}


def _at_several(row: Row, tiers: Mapping[str, int]) -> Row:
    """Name all targets in a row. Counters are of the first, so nothing is known of what came from where."""
    params: dict[str, Scalar] = {**row.params, "targets": " ".join(tiers)}
    reason = "the states are at several targets, and counters were read of the first alone"
    verdict = {"verdict": "unknown", "verdict_reasons": [reason]}
    return row.model_copy(update={"params": params, **(verdict if sum(tiers.values()) > max(tiers.values()) else {})})


def _tell(row: Row, source: Source) -> Mapping[str, Scalar]:
    values = source.values
    return {
        **usual(row, "access", "ranks", "nodes"),
        "block_bytes": values.count("state_bytes"),
        **values.some("steps"),
        "backend": row.params["backend"],
        "layout": typed("layout", values, LAYOUTS),
        "order": typed("order", values, ORDERS),
    }


def typed(name: str, values: Values, forms: Mapping[str, str]) -> str:
    """Return a parameter as the option's word."""
    word = values.word(name)
    own = forms.get(word, "")
    return f"{word}:{values.word(own)}" if own else word


def demands_of(launches: Launches) -> dict[tuple[str, str], list[Demand]]:
    """Return, for each case and phase, what the repetitions did that moved a state."""
    measured = join(launches)
    demands = [((item.case.case, item.phase.phase), Demand.of(item.phase)) for item in measured]
    return grouped((place, demand) for place, demand in demands if demand is not None)


def cases_of(launches: Launches) -> dict[str, CaseRecord]:
    """Return each case by its id, as the last launch of it has it."""
    return {item.case.case: item.case for item in join(launches)}


_DEPTHS: Final[Mapping[str, str]] = {"forward": "write_behind", "adjoint": "prefetch"}


def computes(case: CaseRecord) -> bool:
    """Tell whether the ranks of ``case`` computed, so that its phases are no rates of calls alone."""
    found = case.workload_parameters.get("compute_s", 0.0)
    return isinstance(found, (int, float)) and found > 0


def rates_of(launches: Launches, rows: Sequence[Row], run_id: str) -> list[KnownRate]:
    """Return the rates that cases without computation tell. ``rows``: made of the records ``launches``."""
    cases, demands = cases_of(launches), demands_of(launches)
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
    launches = launches_of(result)
    context = replace(row_context(request, result.read_system()), metrics=("phase_time",), accesses=())
    found = rates_of(launches, stepfile_rows(launches, context), request.run_id)
    if not found:
        what = "has no states that were written and read without computation"
        raise UserError(what, f"{path}", "name a result of `ullage predict stepfile`, or of a run without --compute")
    return found
