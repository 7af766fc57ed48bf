# SPDX-License-Identifier: Apache-2.0
"""Rows as sides of a comparison: their repetitions, the launches these are from, and what many rows say of both."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from statistics import median

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES
from ullage.analysis.statistics.comparison import Comparison, Contest, compare_all, compare_on_average, compare_two
from ullage.analysis.statistics.dependence import Dependence
from ullage.analysis.statistics.spread import NOT_KNOWN, Sampled, Spread, pooled_spread
from ullage.model.summary import Row


def launches_of(row: Row) -> Sequence[Hashable]:
    """Return the launch of each repetition; where the row does not say it, one launch for all of its layout.

    What was imported as single values is judged by the noise of its neighbours, each of another launch: that holds it.
    """
    if row.launches:
        return row.launches
    if len(row.repetitions) == 1:
        return [""]
    return [tuple(row.params.get(name, "") for name in ("ranks", "nodes"))] * len(row.repetitions)


def spread_of(rows: Iterable[Row], dependence: Dependence | None = None) -> Spread:
    """Return what ``rows`` with values above 0 say together of the noise of one value and of launches.

    ``dependence``: of repetitions, as more rows than these tell it.
    """
    return pooled_spread((sampled(row) for row in rows), dependence)


def sampled(row: Row, result: str = "") -> Sampled:
    """Return the repetitions of ``row`` with their launches, which no other result has."""
    access = row.params.get("access", row.params.get("phase", ""))
    launches = [(result, one) for one in launches_of(row)]
    return Sampled(row.repetitions, launches, (result, row.target, row.metric, access))


def contest_of(
    first: Row,
    second: Row,
    noise: float | None = None,
    spread: Spread | None = None,
    results: tuple[str, str] = ("", ""),
) -> Contest:
    """Return the comparison of two rows. ``noise`` is used where a row has only one repetition.

    ``spread``: what many rows say; without it these two speak for themselves. ``results``: names of theirs; launches of
    two results are never the same, and what each tells of these has to be known.
    """
    sides = [sampled(row, result) for result, row in zip(results, (first, second), strict=True)]
    known = pooled_spread(sides) if spread is None else spread
    is_apart = results[0] != results[1]
    if is_apart and not all(tells_launches(row) for row in (first, second)):
        known = replace(known, launches=NOT_KNOWN)
    return Contest(
        first.repetitions,
        second.repetitions,
        first.better,
        noise,
        known,
        (sides[0].launches, sides[1].launches),
        is_apart,
    )


def tells_launches(row: Row) -> bool:
    """Tell whether several launches have measured ``row``, so that it shows how much they differ."""
    return len(set(launches_of(row))) > 1


def carries(*rows: Row) -> bool:
    """Tell whether a comparison may rest on ``rows``: none was disturbed, each has 3 samples or more, all above 0."""
    return all(row.grade != "C" and len(row.repetitions) >= FEWEST_SAMPLES and min(row.repetitions) > 0 for row in rows)


def compare_rows(
    first: Row, second: Row, level: float, noise: float | None = None, spread: Spread | None = None
) -> Comparison:
    """Compare the repetitions of two rows; ``noise``: what neighbours in a grid tell of a row with few samples.

    Without neighbours, nothing is told of rows that do not carry it. See ``contest_of``.
    """
    if noise is None and not carries(first, second):
        return _untold(first, second, level)
    return compare_two(contest_of(first, second, noise, spread), level)


def compare_pairs(pairs: Sequence[tuple[Row, Row]], level: float) -> list[Comparison]:
    """Compare the first of each pair with the second so that all verdicts hold together (Holm), as ``compare_all``."""
    known = [pair for pair in pairs if carries(*pair)]
    spread = spread_of({id(row): row for pair in known for row in pair}.values())
    judged = iter(compare_all([contest_of(*pair, spread=spread) for pair in known], level))
    return [next(judged) if carries(*pair) else _untold(*pair, level) for pair in pairs]


def compare_ratios(series: Sequence[Sequence[float]], level: float) -> list[Comparison]:
    """Compare each series of ratios with 1 so that all verdicts hold together (Holm); ``faster`` is above 1.

    A ratio is of two values that were measured side by side, in one repetition or at one cell. Nothing is told of less
    than 3 ratios. All series tell of the noise of each.
    """
    told = [one for one in series if len(one) >= FEWEST_SAMPLES and min(one) > 0]
    spread = pooled_spread(told)
    contests = [Contest(one, [1.0] * len(one), spread=spread) if one in told else None for one in series]
    judged = iter(compare_all([one for one in contests if one is not None], level))
    untold = [Comparison(median(one or [1.0]), None, None, "cannot tell", level) for one in series]
    return [other if one is None else next(judged) for one, other in zip(contests, untold, strict=True)]


def compare_together(pairs: Sequence[tuple[Row, Row]], level: float) -> Comparison:
    """Compare the first of all ``pairs`` with the second: by repetitions where all carry that, else pair by pair."""
    if pairs and all(carries(*pair) for pair in pairs):
        spread = spread_of(row for pair in pairs for row in pair)
        return compare_on_average([contest_of(*pair, spread=spread) for pair in pairs], level)
    return compare_ratios([[row.median / other.median for row, other in pairs]], level)[0]


def _untold(first: Row, second: Row, level: float) -> Comparison:
    ratio = first.median / second.median if second.median else 1.0
    return Comparison(ratio, None, None, "cannot tell", level)
