# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a b_eff run: the original's ten figures, and tables of all that they and the value rest on."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from typing import Final

from ullage.quantity import DASH, percent, rounded, significant
from ullage.report.answers import AnswerRule
from ullage.report.contents import Content, Figure, Grid
from ullage.report.data import ReportData
from ullage.report.declared import PartOfReport
from ullage.report.grids import texts_grid, time_text
from ullage.report.headlines import Rule, ranks_key
from ullage.report.plots import log_axis, nominal, plot
from ullage.report.switches import switch_notes
from ullage.report.vega import INK, Spec, ordered_colors, tooltip
from ullage.runs.kernels.message_pages import MessagePages
from ullage.suites.b_eff.formula import METHODS, RING_COUNT, BEffRun, Values, latency_s, read_runs, self_check
from ullage.suites.b_eff.suite import B_EFF, MEGA
from ullage.units import format_bytes, format_time

SUITE: Final = "b_eff"
BEST: Final = "best"
TITLES: Final = {
    "sendrecv": "Sendrecv",
    "alltoallv": "Alltoallv",
    "nonblocking": "nonblocking",
    BEST: "the best method",
}
_SPREAD: Final[dict[str, Callable[[Sequence[float]], float]]] = {"worst": min, "mean": geometric_mean, "best": max}
_SOLID: Final = (1, 0)
_DASHED: Final = (6, 4)
_DOTTED: Final = (2, 3)
_RANDOM: Final = "#d9742b"
_METHOD_COLORS: Final = ("#1f5f8b", "#d9742b", "#6b7a3a")
# Each of the thirteen lines has a color; those of one kind share a hue.
_ADDITIONAL: Final = (
    *("#7b241c", "#1f5f8b", "#5fa8d3", INK, "#2e7d32", "#81c784"),
    *("#d9742b", "#e9a15b", "#8c4a14", "#7a4f9a", "#9f7fc0", "#c9b6dc", "#4a235a"),
)


@dataclass(frozen=True)
class Curve:
    """A line of a chart. ``points``: bytes and MB/s, by rising bytes. ``dash``: lengths of strokes and gaps."""

    name: str
    points: Sequence[tuple[int, float]]
    color: str
    dash: tuple[int, int] = _SOLID


def _curve(
    run: BEffRun, name: str, of: Callable[[int], float | None], color: str, dash: tuple[int, int] = _SOLID
) -> Curve:
    found = [(bytes_, of(size)) for size, bytes_ in enumerate(run.sizes)]
    return Curve(name, [(x, y / run.ranks / MEGA) for x, y in found if y is not None and y > 0], color, dash)


def _patterns_of(run: BEffRun, names: Sequence[str], values: Values, colors: Sequence[str]) -> list[Curve]:
    return [
        _curve(run, name, partial(values.at, name), colors[index % len(colors)]) for index, name in enumerate(names)
    ]


def _spread(run: BEffRun, names: Sequence[str], values: Values, what: str, color: str) -> list[Curve]:
    """Draw the worst, the mean and the best of many patterns."""

    def of(word: str, size: int) -> float | None:
        return _SPREAD[word](found) if (found := values.at_all(names, size)) else None

    dashes = {"best": _DOTTED, "mean": _SOLID, "worst": _DASHED}
    return [_curve(run, f"{what}, {word}", partial(of, word), color, dash) for word, dash in dashes.items()]


def runs_of(data: ReportData) -> list[BEffRun]:
    """Read the runs with as many repetitions as the rows were made of; none for other suites."""
    counted = [len(row.repetitions) for row in data.rows_of(SUITE) if row.metric == B_EFF]
    return read_runs(data.measured, max(counted)) if counted else []


_WIDTH: Final = 330
_HEIGHT: Final = 300
_FEWEST: Final = 3
_TOOLTIP: Final = tooltip("name=pattern size=message text=MB/s_of_a_process")
_BYTES: Final = (
    "datum.value >= 1048576 ? datum.value / 1048576 + 'M'"
    " : datum.value >= 1024 ? datum.value / 1024 + 'K' : datum.value"
)
_RINGS: Final = (
    "Six sets of rings in rank order. Of the random rings, the worst, the geometric mean and the best are shown."
)


def figures(data: ReportData) -> list[Figure]:
    """Draw all ten figures, less those whose patterns were not measured."""
    return [figure for run in runs_of(data) for figure in _figures(run)]


def _figures(run: BEffRun) -> list[Figure]:
    by = {method: Values(run, methods=METHODS if method == BEST else [method]) for method in TITLES}
    found: list[tuple[str, str, Sequence[Curve]]] = []
    for method, of in TITLES.items():
        rings = _patterns_of(run, run.rings, by[method], ordered_colors(RING_COUNT))
        rings += _spread(run, run.random, by[method], "random", _RANDOM)
        others = _patterns_of(run, run.additional, by[method], _ADDITIONAL)
        found += [
            (f"rings and random rings, {of}", _RINGS, rings),
            (f"additional patterns, {of}", "These patterns are not part of the value of b_eff.", others),
        ]
    colors = (*_METHOD_COLORS, INK)
    methods = [
        _curve(run, of, by[method].b_eff_at, color, _DASHED if method == BEST else _SOLID)
        for (method, of), color in zip(TITLES.items(), colors, strict=True)
    ]
    groups = [
        *_spread(run, run.rings, by[BEST], "rings", _METHOD_COLORS[0]),
        *_spread(run, run.random, by[BEST], "random", _RANDOM),
        _curve(run, "average of both", by[BEST].b_eff_at, INK),
    ]
    far = "The further the lines are apart, the more distance between ranks costs."
    found += [
        ("methods", "The value of each size over rings and random rings, averaged as for b_eff.", methods),
        ("rings against random rings", far, groups),
    ]
    return [
        Figure(title, caption, _spec([curve for curve in curves if curve.points]))
        for title, caption, curves in found
        if any(len(curve.points) >= _FEWEST for curve in curves)
    ]


def _spec(curves: Sequence[Curve]) -> Spec:
    values: list[Spec] = [
        {"x": x, "y": rounded(y), "name": curve.name, "size": format_bytes(x), "text": f"{y:.4g}"}
        for curve in curves
        for x, y in curve.points
    ]
    names = [curve.name for curve in curves]
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2, "labelLimit": 160}
    color = nominal("name", names, [curve.color for curve in curves], legend)
    dash = nominal("name", names, [list(curve.dash) for curve in curves], legend)
    x, y = _axis("x", values, "message"), _axis("y", values, "MB/s of a process", grid=True)
    largest = max(value["x"] for value in values)
    powers = [16**power for power in range(math.floor(math.log(largest, 16)) + 1)]
    x["axis"] |= {"labelExpr": _BYTES, "values": powers}
    encoding = {"x": x, "y": y, "color": color, "strokeDash": dash, "tooltip": _TOOLTIP}
    mark = {"type": "line", "strokeWidth": 1.6, "point": {"size": 12}}
    return plot(_WIDTH, _HEIGHT, values, mark, encoding)


def _axis(field: str, values: Sequence[Spec], title: str, *, grid: bool = False) -> Spec:
    found = [value[field] for value in values]
    return log_axis(field, (min(found) / 1.2, max(found) * 1.2), title, grid=grid)


_DIGITS: Final = 4
_MIDDLE: Final = 12
Line = tuple[str, ...]


def tables(data: ReportData) -> Content | None:
    """Make the tables of a b_eff run; None for other suites, and where no repetition came to its end."""
    runs = runs_of(data)
    if not runs:
        return None
    notes = switch_notes(data, SUITE)
    grids: list[Grid] = []
    for run in runs:
        notes += notes_on(run)
        grids += [*_summary(run), *_methods(run), *_sizes(run), *_patterns(run), *_repetitions(run), *_check(run)]
    return Content(notes=[*notes, RESOLVED], grids=grids)


def _mega(value: float | None) -> str:
    return DASH if value is None else significant(value / MEGA, _DIGITS)


def _summary(run: BEffRun) -> list[Grid]:
    """Make the original's table: accumulated over all processes, and of each process."""
    values, last = Values(run), len(run.sizes) - 1
    one_byte, rings_byte = values.b_eff_at(0), values.rings_at(0)
    first, large = run.ping_pongs(0), run.ping_pongs(last)
    pair_s = min((loop.one_way_s for loop in first), default=None)
    pair_rate = max((loop.message_bytes / loop.one_way_s for loop in large), default=None)
    together = (values.b_eff, values.b_eff_at(last), values.rings_at(last))
    lines = [
        ("all", *map(_mega, together), "", "", "", ""),
        (
            "each process",
            *(_mega(value / run.ranks if value else None) for value in together),
            *(time_text(latency_s(run.ranks, value) if value else None) for value in (one_byte, rings_byte)),
            time_text(pair_s),
            _mega(pair_rate),
        ),
    ]
    size = format_bytes(run.sizes[-1])
    heads = (
        *("of", "b_eff MB/s", f"at Lmax {size}", "at Lmax, rings only", "latency", "latency, rings only"),
        *("ping-pong latency", "ping-pong at Lmax"),
    )
    return texts_grid(f"{run.ranks} processes, Lmax {size}", heads, lines, words=("of",))


def _some_sizes(run: BEffRun) -> tuple[int, int, int]:
    """Return the numbers of the smallest, a middle and the largest size."""
    return 0, _MIDDLE, len(run.sizes) - 1


def _methods(run: BEffRun) -> list[Grid]:
    """Make a table of the same formula with one method alone, which is information, not b_eff."""
    by = {method: Values(run, methods=[method]) for method in METHODS}
    lines = [
        (TITLES[method], *map(_mega, (values.b_eff, *map(values.b_eff_at, _some_sizes(run)))))
        for method, values in by.items()
    ]
    heads = ("method alone", "b_eff MB/s", "at 1 B", "at 4K", "at Lmax")
    return texts_grid("By method, all processes", heads, lines, words=("method alone",))


def _sizes(run: BEffRun) -> list[Grid]:
    values = Values(run)
    by_method = [Values(run, methods=[method]) for method in METHODS]
    lines = [
        (
            format_bytes(bytes_),
            *map(_mega, (values.b_eff_at(size), values.rings_at(size), values.random_at(size))),
            *(_mega(one.b_eff_at(size)) for one in by_method),
        )
        for size, bytes_ in enumerate(run.sizes)
    ]
    heads = ("message", "rings and random MB/s", "rings", "random", *(TITLES[method] for method in METHODS))
    return texts_grid("By message size, all processes", heads, lines, words=("message",))


def _patterns(run: BEffRun) -> list[Grid]:
    """Make a table of every pattern, with the random rings as worst, mean and best."""
    values = Values(run)
    lines = [_pattern(run, values, name) for name in run.rings]
    random = [values.patterns(run.random), *(values.at_all(run.random, size) for size in _some_sizes(run))]
    for word, choose in _SPREAD.items():
        lines.append(
            (
                f"{len(run.random)} random rings, {word}",
                f"1 of {run.ranks}",
                str(max((run.messages[name] for name in run.random), default=0)),
                *(_mega(choose(found) if found else None) for found in random),
                "",
            )
        )
    lines += [_pattern(run, values, name) for name in run.additional]
    heads = ("pattern", "what", "messages", "average MB/s", "at 1 B", "at 4K", "at Lmax", "")
    title = "Patterns, all processes (every size of each is in tables/rows.csv)"
    return texts_grid(title, heads, lines, words=("pattern", "what", ""))


def _pattern(run: BEffRun, values: Values, name: str) -> Line:
    facts = run.patterns[name]
    # Rings are counted by their size: ``6 of 2, 1 of 3``.
    rings = ", ".join(f"{facts.rings.count(size)} of {size}" for size in dict.fromkeys(facts.rings))
    return (
        name,
        rings or " x ".join(map(str, facts.dims)),
        str(run.messages[name]),
        _mega(values.pattern(name)),
        *(_mega(values.at(name, size)) for size in _some_sizes(run)),
        "degenerate" if facts.degenerate else "",
    )


def _repetitions(run: BEffRun) -> list[Grid]:
    lines = [
        (str(number), _mega(Values(run, repetitions=[one]).b_eff), format_time(one.elapsed_s), one.grade or DASH)
        for number, one in enumerate(run.repetitions, start=1)
    ]
    heads = ("repetition", "b_eff of this repetition MB/s", "took", "grade")
    return texts_grid("By repetition", heads, lines, words=("repetition", "grade"))


def _check(run: BEffRun) -> list[Grid]:
    check = self_check(run)
    lines = [
        ("passed in the timed parts", format_time(check.elapsed), ""),
        ("spent in loops and their warm-up", format_time(check.accounted), percent(-check.unaccounted, 1)),
        (
            "if every loop took the time of its fastest repetition",
            format_time(check.fastest),
            percent(1 / (1 + check.slower) - 1, 1),
        ),
    ]
    title = "Self-check: on an idle machine all three times are the same"
    return texts_grid(title, ("time", "", "less"), lines, words=("time",))


HEADLINE: Final = Rule(
    "messages",
    "b_eff",
    lambda row: "method" not in row.params,
    ranks_key,
    lambda row: f"b_eff of {row.params['ranks']} processes",
)

_REPORT: Final = PartOfReport(SUITE, "messages", 4)
SECTION: Final = _REPORT.section(
    "b_eff",
    "b_eff is the square root of two geometric means: one over six sets of rings, one over thirty "
    "random rings. Each averages the bandwidth over 21 message sizes, with the best of methods and "
    "repetitions. MB is 10^6 bytes. Every message counts once, at its sender.",
    tables,
)
ANSWER: Final = AnswerRule(
    "b_eff",
    "How much data do all ranks exchange a second?",
    "b_eff b_eff-methods b_eff-latency b_eff-order b_eff-bisection",
    remarks="b_eff-invalid b_eff-self-check b_eff-conditions b_eff-degenerate",
)
CHART: Final = _REPORT.chart(
    "b_eff",
    "b_eff over the message size",
    "The y axis is what a process sends in MB/s. Every message counts once. Each value is the "
    "maximum over the repetitions, as the definition of b_eff requires. Both axes are logarithmic.",
    figures,
    order=5,
)


_SHORT_LAST_TWO: Final = (
    "With the two largest sizes only the method that was best before was used, to save time. So no "
    "value of one method alone exists. --no-short-last-two measures it."
)
RESOLVED: Final = (
    "These differences from b_eff 3.6 are intended. D1: messages are counted on every process, because the count of "
    "rank 0 is wrong for rings of 2 and 3. D2: the latency of rings has the factor of the processes, as in the "
    "original's table. D3: random rings are uniform permutations of a recorded seed; --faithful uses the original's "
    "slot probing, which is not uniform. D4: the median over the repetitions and its interval stand beside the "
    "maximum. D5: patterns that coincide are kept and marked degenerate. D6: the records say which rank is where, and"
    " no rank is renumbered. D7: the memory of a process, of which Lmax is 1/128, is found at run time and recorded."
)


def notes_on(run: BEffRun) -> list[str]:
    """Return sentences on rings, checks, Lmax and pages, and which method was left out."""
    given = run.case.workload_parameters
    order = "by slot probing, as the original" if given.get("permutation") == "slot-probe" else "uniform"
    check = "within the timed loops, as in the original" if given.get("timed_check") else "outside the timed loops"
    told = (
        f"Random rings: {order}, seed {given.get('seed', 1)}. Data was checked {check}. Lmax is "
        f"{format_bytes(run.sizes[-1])}. Values of b_eff with different Lmax are not comparable."
    )
    pages = [] if run.pages is None else [_pages(run.pages)]
    if any(len(Values(run, methods=[method]).patterns(run.rings)) < len(run.rings) for method in METHODS):
        return [told, *pages, _SHORT_LAST_TWO]
    return [told, *pages]


def _pages(pages: MessagePages) -> str:
    text = f"{pages.text[0].upper()}{pages.text[1:]}"
    if pages.asked == "default":
        return f"{text}: none were requested, as in the original (--pages huge requests them)."
    return f"{text}: --pages {pages.asked}. The original requests none, so do not compare such values with its values."
