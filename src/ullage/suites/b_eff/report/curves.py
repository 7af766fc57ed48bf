# SPDX-License-Identifier: Apache-2.0
"""Runs of b_eff behind a report, and the curves of its figures: MB/s of a process over bytes of a message. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Final

from ullage.report.data import ReportData
from ullage.report.vega import INK, ordered_colors
from ullage.suites.b_eff.formula import Values
from ullage.suites.b_eff.measured import METHODS, RING_COUNT, WORKLOAD, BEffRun, read_runs
from ullage.suites.b_eff.rows import B_EFF

BEST: Final = "best"
TITLES: Final = {
    "sendrecv": "Sendrecv",
    "alltoallv": "Alltoallv",
    "nonblocking": "nonblocking",
    BEST: "the best method",
}
_SOLID: Final = (1, 0)
_DASHED: Final = (6, 4)
_DOTTED: Final = (2, 3)
_RANDOM: Final = "#d9742b"
_METHOD_COLORS: Final = ("#1f5f8b", "#d9742b", "#6b7a3a")
# One for each of thirteen lines; those of one kind have a hue.
_ADDITIONAL: Final = (
    *("#7b241c", "#1f5f8b", "#5fa8d3", INK, "#2e7d32", "#81c784"),
    *("#d9742b", "#e9a15b", "#8c4a14", "#7a4f9a", "#9f7fc0", "#c9b6dc", "#4a235a"),
)


@dataclass(frozen=True)
class Curve:
    """``points``: bytes and MB/s, by rising bytes. ``dash``: lengths of strokes and gaps."""

    name: str
    points: Sequence[tuple[int, float]]
    color: str
    dash: tuple[int, int] = _SOLID


def values_by(run: BEffRun, method: str) -> Values:
    """The maximum of the repetitions; of one method, or of all with ``best``."""
    return Values(run, methods=METHODS if method == BEST else [method])


def ring_curves(run: BEffRun, method: str) -> list[Curve]:
    """Six rings, and the worst, the mean and the best of the random ones."""
    values, colors = values_by(run, method), ordered_colors(RING_COUNT)
    rings = [
        _curve(run, name, lambda size, name=name: values.at(name, size), colors[index % RING_COUNT])
        for index, name in enumerate(run.rings)
    ]
    return _drawn([*rings, *_spread(run, run.random, values, "random", _RANDOM)])


def additional_curves(run: BEffRun, method: str) -> list[Curve]:
    """Patterns that are no part of b_eff."""
    values = values_by(run, method)
    return _drawn(
        [
            _curve(run, name, lambda size, name=name: values.at(name, size), _ADDITIONAL[index % len(_ADDITIONAL)])
            for index, name in enumerate(run.additional)
        ]
    )


def method_curves(run: BEffRun) -> list[Curve]:
    """b_eff of each size, by method, and with the best one."""
    found = [
        _curve(run, TITLES[method], values_by(run, method).b_eff_at, color)
        for method, color in zip(METHODS, _METHOD_COLORS, strict=True)
    ]
    return _drawn([*found, _curve(run, TITLES[BEST], values_by(run, BEST).b_eff_at, INK, _DASHED)])


def group_curves(run: BEffRun) -> list[Curve]:
    """Rings and random rings, the worst, the mean and the best of each, and what b_eff takes of both."""
    values = values_by(run, BEST)
    return _drawn(
        [
            *_spread(run, run.rings, values, "rings", _METHOD_COLORS[0]),
            *_spread(run, run.random, values, "random", _RANDOM),
            _curve(run, "average of both", values.b_eff_at, INK),
        ]
    )


def _spread(run: BEffRun, names: Sequence[str], values: Values, what: str, color: str) -> list[Curve]:
    def of(choose: Callable[[Sequence[float]], float]) -> Callable[[int], float | None]:
        return lambda size: choose(found) if (found := values.at_all(names, size)) else None

    return [
        _curve(run, f"{what}, best", of(max), color, _DOTTED),
        _curve(run, f"{what}, mean", of(geometric_mean), color),
        _curve(run, f"{what}, worst", of(min), color, _DASHED),
    ]


def _curve(
    run: BEffRun, name: str, of: Callable[[int], float | None], color: str, dash: tuple[int, int] = _SOLID
) -> Curve:
    found = [(bytes_, of(size)) for size, bytes_ in enumerate(run.sizes)]
    return Curve(name, [(x, y / run.ranks / 1e6) for x, y in found if y is not None and y > 0], color, dash)


def _drawn(curves: Sequence[Curve]) -> list[Curve]:
    return [curve for curve in curves if curve.points]


SUITE: Final = "b_eff"
MEGA: Final = 1e6


def runs_of(data: ReportData) -> list[BEffRun]:
    """With as many repetitions as the rows were made of; none for other suites."""
    counted = [len(row.repetitions) for row in data.rows_of(SUITE) if row.metric == B_EFF]
    if not counted:
        return []
    return read_runs((item for item in data.measured if item.case.workload == WORKLOAD), max(counted))
