# SPDX-License-Identifier: Apache-2.0
"""Rows of a b_eff run: the value, its parts by size, method and pattern, and the single pair. Pure.

A row's repetitions are what each repetition of the run gives by itself, with the method that was best in it; its median
is that of those. The headline, which takes the maximum, is a score.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal

from ullage.analysis.statistics import median_interval
from ullage.model.flags import Flag, each_once
from ullage.model.plan import Scalar
from ullage.model.summary import Row
from ullage.results.row_checks import check_launch, check_values
from ullage.suites.b_eff.formula import Values, latency_s, ping_pongs
from ullage.suites.b_eff.measured import METHODS, PING_PONG, BEffRun
from ullage.suites.b_eff.validity import NOT_VALID

BOTH: Final = "rings and random"
B_EFF: Final = "b_eff"
AT_SIZE: Final = "exchange_bandwidth"
PATTERN: Final = "pattern_bandwidth"
PATTERN_AVERAGE: Final = "pattern_average"
LATENCY: Final = "exchange_latency"
PAIR_LATENCY: Final = "one_pair_latency"
PAIR_BANDWIDTH: Final = "one_pair_bandwidth"
_DEGENERATE: Final = Flag(code="degenerate", reason="the same as another pattern with so few processes")
_LATENCY_GROUPS: Final = (BOTH, "rings")
Of = Callable[[Values], float | None]


class Rows:
    """Makes all rows of one run."""

    def __init__(self, run: BEffRun, reasons: Sequence[str], level: float) -> None:
        self._run = run
        self._level = level
        self._alone = [Values(run, repetitions=[repetition]) for repetition in run.repetitions]
        self._launch = check_launch(run.run)
        layout = run.run.layout
        nodes = layout.nodes or -(-layout.ranks // max(1, run.run.pinning.most_ranks_on_a_node))
        self._place: dict[str, Scalar] = {"ranks": layout.ranks, "nodes": nodes, "lmax_bytes": max(run.sizes)}
        self._reasons = list(reasons)

    def all(self) -> list[Row]:
        """In the order of the report: the value first, single patterns last."""
        found = [*self._values(), *self._sizes(), *self._latencies(), *self._pair(), *self._patterns()]
        return [row for row in found if row is not None]

    def _values(self) -> Iterator[Row | None]:
        yield self._bandwidth(B_EFF, {"patterns": BOTH}, lambda values: values.b_eff)
        for method in METHODS:
            by_method = [Values(self._run, methods=[method], repetitions=[one]) for one in self._run.repetitions]
            samples = [value for values in by_method if (value := values.b_eff) is not None]
            yield self._row(B_EFF, {"patterns": BOTH, "method": method}, samples)

    def _sizes(self) -> Iterator[Row | None]:
        groups: Mapping[str, Callable[[int], Of]] = {
            BOTH: lambda size: lambda values: values.b_eff_at(size),
            "rings": lambda size: lambda values: values.rings_at(size),
            "random": lambda size: lambda values: values.random_at(size),
        }
        for group, of in groups.items():
            for size, bytes_ in enumerate(self._run.sizes):
                yield self._bandwidth(AT_SIZE, {"patterns": group, "message_bytes": bytes_}, of(size))

    def _latencies(self) -> Iterator[Row | None]:
        for group in _LATENCY_GROUPS:
            one_byte = (values.b_eff_at(0) if group == BOTH else values.rings_at(0) for values in self._alone)
            samples = [latency_s(self._run.ranks, value) for value in one_byte if value]
            yield self._row(LATENCY, {"patterns": group, "message_bytes": 1}, samples, "s")

    def _pair(self) -> Iterator[Row | None]:
        first, last = ping_pongs(self._run, 0), ping_pongs(self._run, len(self._run.sizes) - 1)
        yield self._row(
            PAIR_LATENCY, {"patterns": PING_PONG, "message_bytes": 1}, [loop.one_way_s for loop in first], "s"
        )
        rates = [loop.message_bytes / loop.one_way_s for loop in last]
        yield self._row(PAIR_BANDWIDTH, {"patterns": PING_PONG, "message_bytes": self._run.sizes[-1]}, rates)

    def _patterns(self) -> Iterator[Row | None]:
        for name, facts in self._run.patterns.items():
            flags = [_DEGENERATE] if facts.degenerate else []

            def mean(values: Values, name: str = name) -> float | None:
                return values.pattern(name)

            yield self._bandwidth(PATTERN_AVERAGE, {"patterns": name}, mean, flags)
            for size, bytes_ in enumerate(self._run.sizes):

                def single(values: Values, name: str = name, size: int = size) -> float | None:
                    return values.at(name, size)

                yield self._bandwidth(PATTERN, {"patterns": name, "message_bytes": bytes_}, single, flags)

    def _bandwidth(self, metric: str, params: dict[str, Scalar], of: Of, flags: Sequence[Flag] = ()) -> Row | None:
        samples = [value for values in self._alone if (value := of(values)) is not None]
        return self._row(metric, params, samples, flags=flags)

    def _row(
        self,
        metric: str,
        params: dict[str, Scalar],
        samples: Sequence[float],
        unit: Literal["B/s", "s"] = "B/s",
        flags: Sequence[Flag] = (),
    ) -> Row | None:
        if not samples:
            return None
        interval = median_interval(samples, self._level)
        is_void = metric == B_EFF and self._reasons
        voids = [Flag(code=NOT_VALID, reason="; ".join(self._reasons))] if is_void else []
        own = check_values(samples, interval, None, None)
        several = len(samples) > 1
        return Row(
            metric=metric,
            unit=unit,
            better="less" if unit == "s" else "more",
            target=self._run.case.target,
            params={**params, **self._place},
            case=self._run.case.case,
            median=interval.median,
            low=interval.low if several else None,
            high=interval.high if several else None,
            repetitions=list(samples),
            verdict="none",
            grade=max((one.grade for one in self._run.repetitions), key="ABC".index),
            flags=each_once([*voids, *flags, *own, *self._launch]),
        )
