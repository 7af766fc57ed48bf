# SPDX-License-Identifier: Apache-2.0
"""Suite ``b_eff``: its cases; then the value, its parts by size, method and pattern, the single pair, and sentences.

A row's repetitions are what each repetition of the run gives by itself, with the method that was best in it; its median
is that of those. The headline, which takes the maximum, is a score.
"""

from collections.abc import Iterator, Sequence
from operator import methodcaller
from typing import Final, Literal

from ullage.errors import UserError
from ullage.launch.base import ranks_on_a_node
from ullage.model.flags import Flag
from ullage.model.plan import Layout, Parameters, Scalar
from ullage.model.request import Request
from ullage.model.summary import Row, Score
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.row_checks import check_launch
from ullage.results.rows import RowContext, RowFrame, join, nodes_of
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.message_pages import with_pages
from ullage.runs.kernels.options import MPI
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.runs.suite import SuiteSummary
from ullage.suites.b_eff.findings import NOT_VALID, Of, findings_of, reasons_against
from ullage.suites.b_eff.formula import METHODS, PING_PONG, BEffRun, Values, latency_s, median_b_eff, read_runs
from ullage.suites.b_eff.options import SMALLEST_LMAX, WARMED_SIZES, BEffOptions, lmax_of, message_sizes
from ullage.system.hardware import read_memory, usable_cores
from ullage.units import format_bytes, format_volume

WORKLOAD: Final = "b-eff"
HEADERS: Final = ("workload", "processes", "messages", "patterns")
_METHODS: Final = 3
_ADDITIONAL: Final = 13
_RINGS: Final = 6
# Bytes/s of a process that only copies: a size takes at least that time, however short the budget.
_SLOW_RATE: Final = 1e9
_AROUND_S: Final = 0.5
_LAST_TWO: Final = 2


def prepare_b_eff(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Prepare the one case of the run.

    ``UserError`` where the engine lacks the workload, or the memory is too small for any message.
    """
    options = read_options(BEffOptions, request)
    layout = options.place(options.ranks, usable_cores())
    if options.lmax is None:
        options = with_lmax(options, layout)
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    return PreparedKernels(request, options, HEADERS, [_case(options, layout, engine_context)], notes=_notes(layout))


def with_lmax(options: BEffOptions, layout: Layout, available: int | None = None) -> BEffOptions:
    """Return ``options`` with the memory of a process and the largest message that it allows.

    ``available``: bytes of this node. Memory that people say counts as the original's constant does; of what is found
    the message is a power of two. ``UserError`` where the memory is not known, or too small for any message.
    """
    memory, is_said = options.memory, options.memory is not None
    if memory is None:
        on_a_node = layout.ranks_per_node or layout.ranks
        free = read_memory().available_bytes if available is None else available
        if not free:
            raise UserError("the kernel does not say how much memory is available", "", "give --memory or --lmax")
        memory = free // on_a_node
    share = lmax_of(memory, options.lmax_cap)
    # Available memory differs from run to run, and without the power of two no two values would compare.
    lmax = share if is_said else 1 << share.bit_length() >> 1
    if lmax < SMALLEST_LMAX:
        what = f"{format_volume(memory)} of memory for each process allow messages of {format_bytes(lmax)} only"
        raise UserError(what, "", f"give more --memory, fewer --ranks, or --lmax {format_bytes(SMALLEST_LMAX)}")
    return options.model_copy(update={"memory": memory, "lmax": lmax})


def _case(options: BEffOptions, layout: Layout, engine_context: EngineContext) -> KernelCase:
    parameters: Parameters = {
        "lmax_bytes": options.lmax or SMALLEST_LMAX,
        "budget_s": options.budget_s,
        "random_rings": options.random_rings,
        "seed": options.seed,
        "permutation": "slot-probe" if options.faithful else "uniform",
        "additional": options.additional,
        "short_last_two": options.short_last_two,
        "timed_check": options.faithful,
        "pages": options.pages,
    }
    patterns = _RINGS + options.random_rings + (_ADDITIONAL if options.additional else 0)
    words = (WORKLOAD, str(options.ranks), f"1 B to {format_bytes(options.lmax or 0)}", f"up to {patterns}")
    seconds = expected_s(options, patterns)
    return kernel_case(WORKLOAD, parameters, MPI, words, engine_context.description, seconds=seconds, layout=layout)


def expected_s(options: BEffOptions, patterns: int) -> float:
    """Estimate the seconds of one repetition: the budget of each size and method, more where one loop takes longer."""
    sizes = message_sizes(options.lmax or SMALLEST_LMAX)
    total_s = _AROUND_S
    for index, size in enumerate(sizes):
        loops = 2 if index < WARMED_SIZES else 1
        single_s = patterns * loops * 2 * size / _SLOW_RATE
        methods = 1 if options.short_last_two and index >= len(sizes) - _LAST_TWO else _METHODS
        total_s += methods * max(options.budget_s, single_s)
    return total_s


def _notes(layout: Layout) -> tuple[Note, ...]:
    """Say before anything is measured that the value will not count, where processes share cores."""
    cores = usable_cores()
    on_a_node = ranks_on_a_node(layout)
    if cores is None or on_a_node is None or on_a_node <= cores:
        return ()
    text = f"{on_a_node} processes share {cores} cores: b_eff will be NOT VALID, and take longer"
    return (Note("oversubscribed", text, f"take --ranks {cores * (layout.nodes or 1)}, or allow more cores"),)


BOTH: Final = "rings and random"
# The score `b_eff` is the maximum over the repetitions, `b_eff by medians` has their medians in its place.
B_EFF: Final = "b_eff_one_repetition"
AT_SIZE: Final = "exchange_bandwidth"
PATTERN: Final = "pattern_bandwidth"
PATTERN_AVERAGE: Final = "pattern_average"
LATENCY: Final = "exchange_latency"
PAIR_LATENCY: Final = "one_pair_latency"
PAIR_BANDWIDTH: Final = "one_pair_bandwidth"
_DEGENERATE: Final = Flag(code="degenerate", reason="the same as another pattern with so few processes")
_LATENCY_GROUPS: Final = (BOTH, "rings")


class Rows:
    """Makes all rows of one run."""

    def __init__(self, run: BEffRun, reasons: Sequence[str], level: float) -> None:
        self._run, self._level, self._reasons, self._launch = run, level, reasons, check_launch(run.run)
        self._alone = [Values(run, repetitions=[repetition]) for repetition in run.repetitions]
        self._place: dict[str, Scalar] = {"ranks": run.ranks, "nodes": nodes_of(run.run), "lmax_bytes": max(run.sizes)}

    def all(self) -> list[Row]:
        """Return all rows in the order of the report: the value first, single patterns last."""
        return [*self._values(), *self._latencies(), *self._pair(), *self._patterns()]

    def _values(self) -> Iterator[Row]:
        yield from self._bandwidth(B_EFF, {"patterns": BOTH}, lambda values: values.b_eff)
        for method in METHODS:
            by_method = [Values(self._run, methods=[method], repetitions=[one]) for one in self._run.repetitions]
            samples = [value for values in by_method if (value := values.b_eff) is not None]
            yield from self._row(B_EFF, {"patterns": BOTH, "method": method}, samples)
        for group, method in {BOTH: "b_eff_at", "rings": "rings_at", "random": "random_at"}.items():
            for size, bytes_ in enumerate(self._run.sizes):
                params: dict[str, Scalar] = {"patterns": group, "message_bytes": bytes_}
                yield from self._bandwidth(AT_SIZE, params, methodcaller(method, size))

    def _latencies(self) -> Iterator[Row]:
        for group in _LATENCY_GROUPS:
            one_byte = (values.b_eff_at(0) if group == BOTH else values.rings_at(0) for values in self._alone)
            samples = [latency_s(self._run.ranks, value) for value in one_byte if value]
            yield from self._row(LATENCY, {"patterns": group, "message_bytes": 1}, samples, "s")

    def _pair(self) -> Iterator[Row]:
        first, last = self._run.ping_pongs(0), self._run.ping_pongs(len(self._run.sizes) - 1)
        times = [loop.one_way_s for loop in first]
        yield from self._row(PAIR_LATENCY, {"patterns": PING_PONG, "message_bytes": 1}, times, "s")
        rates = [loop.message_bytes / loop.one_way_s for loop in last]
        yield from self._row(PAIR_BANDWIDTH, {"patterns": PING_PONG, "message_bytes": self._run.sizes[-1]}, rates)

    def _patterns(self) -> Iterator[Row]:
        for name, facts in self._run.patterns.items():
            flags = [_DEGENERATE] if facts.degenerate else []
            yield from self._bandwidth(PATTERN_AVERAGE, {"patterns": name}, methodcaller("pattern", name), flags)
            for size, bytes_ in enumerate(self._run.sizes):
                params: dict[str, Scalar] = {"patterns": name, "message_bytes": bytes_}
                yield from self._bandwidth(PATTERN, params, methodcaller("at", name, size), flags)

    def _bandwidth(self, metric: str, params: dict[str, Scalar], of: Of, flags: Sequence[Flag] = ()) -> list[Row]:
        samples = [value for values in self._alone if (value := of(values)) is not None]
        return self._row(metric, params, samples, flags=flags)

    def _row(
        self,
        metric: str,
        params: dict[str, Scalar],
        samples: Sequence[float],
        unit: Literal["B/s", "s"] = "B/s",
        flags: Sequence[Flag] = (),
    ) -> list[Row]:
        if not samples:
            return []
        run, is_void = self._run, metric == B_EFF and self._reasons
        voids = [Flag(code=NOT_VALID, reason="; ".join(self._reasons))] if is_void else []
        frame = RowFrame(
            metric,
            unit,
            run.case.target,
            {**params, **self._place},
            run.case.case,
            grade=run.grade,
            flags=[*voids, *flags],
            last_flags=self._launch,
        )
        return [with_pages(frame.row(samples, self._level), run.pages)]


# The original counts in 10^6 bytes.
MEGA: Final = 1e6
UNIT: Final = "MB/s"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    options = read_options(BEffOptions, request)
    launches = [file.records for file in result.read_records()]
    rows: list[Row] = []
    scores: list[Score] = []
    findings = failures_of(launches, context.level)
    for run in read_runs(join(launches), options.repetitions):
        reasons = reasons_against(run)
        rows += Rows(run, reasons, context.level).all()
        scores += b_eff_scores(run, reasons, context.level)
        findings += findings_of(run, options, reasons, context.level)
    return SuiteSummary(rows, findings, scores)


def b_eff_scores(run: BEffRun, reasons: Sequence[str], level: float) -> list[Score]:
    """Return the scores, the accumulated value first; the one by medians has an interval.

    Empty where a group of patterns has no value.
    """
    values, known = Values(run), median_b_eff(run, level)
    value, at_last = values.b_eff, values.b_eff_at(len(run.sizes) - 1)
    if value is None or at_last is None:
        return []
    found = [
        _score("b_eff", value, reasons),
        _score("b_eff per process", value / run.ranks, reasons),
        _score("b_eff at Lmax", at_last, reasons),
    ]
    if known is not None:
        middle = _score("b_eff by medians", known.median, reasons)
        bounds = {} if known.below_level else {"low": known.low / MEGA, "high": known.high / MEGA}
        found.append(middle.model_copy(update=bounds))
    return found


def _score(name: str, value: float, reasons: Sequence[str]) -> Score:
    return Score(name=name, unit=UNIT, value=value / MEGA, valid=not reasons, reasons=list(reasons))
