# SPDX-License-Identifier: Apache-2.0
"""Suite ``congestion``: its options, its cases; then each test alone and under load, and their ratio, as rows."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Annotated, Final, Literal, TypeAlias

from ullage.analysis.contests import compare_ratios
from ullage.analysis.findings.phrasing import finding
from ullage.analysis.metrics import metric_named
from ullage.analysis.metrics.messages import CONGESTED, ISOLATED, state_of
from ullage.analysis.statistics.comparison import Comparison
from ullage.analysis.verdicts.grades import sound_rows, worst_grade
from ullage.grouping import grouped, nested
from ullage.launch.base import ranks_on_a_node
from ullage.model.flags import OVERSUBSCRIBED
from ullage.model.plan import Layout, Parameters, Scalar
from ullage.model.record import PhaseRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, times
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.rows import Measured, RowContext, RowFrame, join
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import MPI, CaseOptions
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.declared import Change, OfEngine
from ullage.runs.options.groups import BindOptions, RanksOptions
from ullage.runs.options.kinds import Share
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.runs.told import Launches, Source, launches_of, told_rows, usual
from ullage.system.hardware import usable_cores

Load: TypeAlias = Literal["incast", "alltoall"]


class CongestionOptions(BindOptions, RanksOptions, CaseOptions):
    """The options of suite ``congestion``.

    ``share``: of the ranks that are victims. ``test_s``: of each of the three tests, when nothing disturbs it.
    """

    workload = "congestion"
    at = (MPI,)
    changes = {
        "ranks": Change(
            "Start this many ranks, victims and load together.",
            unsaid="the number of usable cores, at least 4",
            least=4,
        ),
        "quick": Change("Take a first look: shorter tests, each 3 times."),
        "seed": Change("Choose the victims, their rings and the order of the cases at random by this seed."),
    }

    loads: Annotated[list[Load], OfEngine("load", usual="incast,alltoall")]
    load_bytes: Annotated[int, OfEngine(name="--load-size")] = 4096
    share: Annotated[float, Share(), OfEngine("victim_share", name="--victims")] = 0.2
    rings: Annotated[int, OfEngine()] = 30
    test_s: Annotated[float, OfEngine(name="--test", usual="200ms", quick="50ms")] = 0.2


WORKLOAD: Final = "congestion"
HEADERS: Final = ("load", "ranks", "victims")
_PHASES: Final = 6
_FEWEST_OF_A_KIND: Final = 2
# Plans allow for a test, and the work around it, to take so many times as long under load.
_STRETCH: Final = 2
_AROUND_S: Final = 0.3


def prepare_congestion(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Plan a case for each load.

    Raise ``UserError`` where the engine lacks the workload, or the ranks do not fill the nodes.
    """
    options = read_options(CongestionOptions, request)
    layout = options.place(options.ranks, usable_cores())
    seconds, victims = _STRETCH * _PHASES * options.test_s + _AROUND_S, str(victims_of(options.ranks, options.share))
    shared: Parameters = {"seed": options.seed, **options.of_engine()}

    def case(load: str) -> KernelCase:
        words, description = (load, str(options.ranks), victims), engine_context.description
        return kernel_case(WORKLOAD, {**shared, "load": load}, MPI, words, description, seconds=seconds, layout=layout)

    cases = [case(load) for load in options.loads]
    return PreparedKernels(request, options, HEADERS, cases, notes=_notes(layout))


def victims_of(ranks: int, share: float) -> int:
    """Return the number of victims among ``ranks`` as the engine computes it: at least 2, and at most all but 2."""
    return min(max(int(share * ranks + 0.5), _FEWEST_OF_A_KIND), ranks - _FEWEST_OF_A_KIND)


def _notes(layout: Layout) -> tuple[Note, ...]:
    cores, on_a_node = usable_cores(), ranks_on_a_node(layout) or 0
    if cores is None or on_a_node <= cores:
        return ()
    text = (
        f"{on_a_node} ranks of a node share {cores} cores: the load then takes the victims' cores, and that is "
        "what is measured instead of the network"
    )
    return (Note("oversubscribed", text, "take fewer ranks, more nodes, or allow more cores"),)


METRICS: Final = ("congestion_time", "congestion_time_p99", "congestion_bandwidth")
IMPACT: Final = "congestion_impact"
IMPACT_P99: Final = "congestion_impact_p99"
IMPACTS: Final = {"congestion_time": IMPACT, "congestion_time_p99": IMPACT_P99}
TESTS: Final = ("latency", "bandwidth", "allreduce")


def _congestion_rows(launches: Launches, context: RowContext) -> list[Row]:
    rows = told_rows(launches, context.without_storage(MPI.name, METRICS, is_place=False), _told)
    ours = (item for item in join(launches) if item.case.workload == WORKLOAD)
    return [*rows, *_impacts(rows, [item for item in ours if "victims" in item.phase.gauges], context.level)]


def _told(row: Row, source: Source) -> dict[str, Scalar] | None:
    victims = source.phases[-1].gauges.get("victims")
    if source.case.workload != WORKLOAD or victims is None:
        return None
    test, _, state = row.word("access").rpartition("-")
    what: dict[str, Scalar] = {**usual(row, "access"), **source.values.some("load"), "test": test, "state": state}
    return {**what, **usual(row, "ranks", "nodes"), "victims": int(victims.most)}


def _impacts(rows: Sequence[Row], measured: Sequence[Measured], level: float) -> list[Row]:
    """Return the ratios of congested to isolated, repetition by repetition, as rows."""
    # Results of earlier versions number the repetitions of each launch from 0.
    repetitions = nested(
        ((item.case.case, state[0], id(item.run), item.phase.repetition), state[1], item.phase)
        for item in measured
        if (state := state_of(item.phase)) is not None
    )
    both = (one for one in repetitions.items() if len(one[1]) == len((ISOLATED, CONGESTED)))
    pairs = grouped(((case, test), phases) for (case, test, _, _), phases in both)
    states = {(row.case, row.word("test"), row.metric, row.word("state")): row for row in rows}
    found: list[Row] = []
    for (place, phases), metric in product(pairs.items(), IMPACTS):
        alone, beside = (states.get((*place, metric, state)) for state in (ISOLATED, CONGESTED))
        if alone is not None and beside is not None and (values := _ratios(phases, metric)):
            found.append(_impact(alone, beside, values, level))
    return found


def _ratios(both: Iterable[Mapping[str, PhaseRecord]], metric: str) -> list[float]:
    sample = metric_named(metric).sample
    pairs = [(sample(phases[ISOLATED]), sample(phases[CONGESTED])) for phases in both]
    return [beside / alone for alone, beside in pairs if alone and beside]


def _impact(alone: Row, beside: Row, values: Sequence[float], level: float) -> Row:
    """Return the row of one impact; its flags are those of the launch, and those of its own samples."""
    frame = RowFrame(
        metric=IMPACTS[beside.metric],
        unit="x",
        target=beside.target,
        params={key: value for key, value in beside.params.items() if key != "state"},
        case=beside.case,
        better=beside.better,
        grade=worst_grade((alone.grade, beside.grade)),
        flags=[flag for flag in beside.flags if alone.has_flag(flag.code) and not flag.is_of_repetitions],
        notes=beside.notes,
    )
    kept = {"verdict": beside.verdict, "verdict_reasons": beside.verdict_reasons, "launches": beside.launches}
    return frame.row(values, level).model_copy(update=kept)


# Below the first factor the victims hardly notice the load; above the second, programs do.
LITTLE: Final = 1.5
MUCH: Final = 5.0
Severity = Literal["info", "advice", "warning"]


def findings_of(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return a finding for each load, preceded by those on all of them, which disturbed rows have, too."""
    impacts = [row for row in rows if row.metric in (IMPACT, IMPACT_P99)]
    sound = sound_rows(impacts)
    found = compare_ratios([row.repetitions for row in sound], level)
    loads = grouped((row.word("load"), (row, one)) for row, one in zip(sound, found, strict=True))
    return [*_crowded(impacts), *(_of_load(load, some) for load, some in loads.items())]


def _crowded(rows: Sequence[Row]) -> list[Finding]:
    if not any(row.has_flag(OVERSUBSCRIBED) for row in rows):
        return []
    text = (
        "There were fewer cores than ranks, so the load used the victims' cores. The impacts show how the kernel "
        "shares cores and do not describe a network."
    )
    return [finding("oversubscribed", "More ranks than cores", text, "warning")]


def _of_load(load: str, judged: Sequence[tuple[Row, Comparison]]) -> Finding:
    """State what the load does to each test; that it makes messages slower, of what is proved to take longer."""
    tail = {row.word("test"): row for row, _ in judged if row.metric == IMPACT_P99}
    mean = {row.word("test"): row for row, _ in judged if row.metric == IMPACT}
    longest = {test: times(row.median) for test, row in tail.items()}
    words = [f"{test} {times(row.median)} (p99 {longest.get(test, 'unknown')})" for test, row in mean.items()]
    first = judged[0][0]
    victims, ranks = first.count("victims"), first.count("ranks")
    slower = [row.median for row, found in judged if found.verdict == "faster"]
    worst = max(slower, default=1.0)
    text = (
        f"Under an {load} of {ranks - victims} ranks, {victims} victims take {listing(words)} of the time without load."
    )
    title = f"An {load} makes messages take up to {times(worst)} the time"
    if not slower:
        title = f"Whether an {load} makes messages slower cannot be told"
        text += f" {title}."
    crowded = any(row.has_flag(OVERSUBSCRIBED) for row, _ in judged)
    severity: Severity = "info" if worst < LITTLE or crowded else "advice" if worst < MUCH else "warning"
    if severity == "warning":
        text += " Separate jobs with such patterns, or enable congestion control of the network."
    means, tails = [row.median for row in mean.values()], [row.median for row in tail.values()]
    numbers = {"load": load, "ranks": ranks, "victims": victims, "test": list(mean)}
    return finding("congestion", title, text, severity, **numbers, impact=means, impact_p99=tails)


def summarise(result: ResultFolder, _request: Request, context: RowContext) -> SuiteSummary:
    launches = launches_of(result)
    rows = _congestion_rows(launches, context)
    return SuiteSummary(rows, [*failures_of(launches, context.level, rows), *findings_of(rows, context.level)])
