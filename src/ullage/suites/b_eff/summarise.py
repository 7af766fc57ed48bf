# SPDX-License-Identifier: Apache-2.0
"""From the records of a b_eff run to the value, its parts by size, method and pattern, the single pair, and sentences.

A row's repetitions are what each repetition of the run gives by itself, with the method that was best in it; its median
is that of those. The headline, which takes the maximum, is a score.
"""

from collections.abc import Iterator, Sequence
from operator import methodcaller
from typing import Final, Literal

from ullage.model.flags import Flag
from ullage.model.plan import Scalar
from ullage.model.request import Request
from ullage.model.summary import Row, Score
from ullage.results.events import failures_of
from ullage.results.folder import ResultFolder
from ullage.results.row_checks import check_launch
from ullage.results.rows import RowContext, RowFrame, join, nodes_of
from ullage.runs.kernels.message_pages import with_pages
from ullage.runs.options.reading import read_options
from ullage.runs.suite import SuiteSummary
from ullage.suites.b_eff.findings import NOT_VALID, Of, findings_of, reasons_against
from ullage.suites.b_eff.formula import (
    METHODS,
    PING_PONG,
    BEffRun,
    Values,
    latency_s,
    median_b_eff,
    per_process,
    ping_pongs,
    read_runs,
)
from ullage.suites.b_eff.options import BEffOptions

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
        first, last = ping_pongs(self._run, 0), ping_pongs(self._run, len(self._run.sizes) - 1)
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


# -- the summary -------------------------------------------------------------------------------------------------------


# The original counts in 10^6 bytes.
MEGA: Final = 1e6
UNIT: Final = "MB/s"


def summarise(result: ResultFolder, request: Request, context: RowContext) -> SuiteSummary:
    """See ``Summarising``."""
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
        _score("b_eff per process", per_process(run, value), reasons),
        _score("b_eff at Lmax", at_last, reasons),
    ]
    if known is not None:
        middle = _score("b_eff by medians", known.median, reasons)
        bounds = {} if known.below_level else {"low": known.low / MEGA, "high": known.high / MEGA}
        found.append(middle.model_copy(update=bounds))
    return found


def _score(name: str, value: float, reasons: Sequence[str]) -> Score:
    return Score(name=name, unit=UNIT, value=value / MEGA, valid=not reasons, reasons=list(reasons))
