# SPDX-License-Identifier: Apache-2.0
"""Cell by cell: is one target, result, backend, block, rank count, access or other setting faster than another?

Two rows are compared when they differ in that one thing only, and sometimes one cannot tell. Of equals nothing is said
of any cell, in 19 of 20 comparisons (Holm over all cells). Rows of different units are refused, never converted or
pooled.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from ullage.analysis.matching import DIMENSIONS, Matching, Places, Sample, names_of, results_by_name
from ullage.analysis.settings import access_of, phase_of
from ullage.errors import UserError
from ullage.grouping import grouped, nested
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Score, Summary

if TYPE_CHECKING:
    from ullage.analysis.statistics import Comparison as Judgement
    from ullage.analysis.statistics import ComparisonVerdict, Contest, Spread

MAIN: Final = "main"
"""Stands in the place of a metric for the metric of each phase, or for the first one of the suite."""
# These parameters may differ between two cells besides what is compared, when they follow from that.
_TOLD: Final = ("ranks", "nodes", "threads")
# At most 5 % of comparisons of equals may say something false; what is left of that is the cost of a stop rule, which
# ends cells where their samples happen to lie close together (docs/statistics.md).
_LEVEL: Final = 0.98
# These facts change results by themselves: what to call each, and where it stands.
_SURROUNDINGS: Final = (
    ("machine", ("host",)),
    ("CPU", ("cpu", "model")),
    ("kernel", ("kernel", "release")),
    ("MPI library", ("mpi", "library")),
)


@dataclass(frozen=True)
class Cell:
    """Compares a number of one result with that of another in one setting.

    ``other`` against ``base`` in one setting. ``ratio`` is other over base, of geometric means, with its interval where
    one is known (all intervals hold together); ``outcome`` says what that means for ``other``, whichever direction is
    better.
    """

    setting: tuple[tuple[str, Scalar], ...]
    metric: str
    unit: str
    base_name: str
    other_name: str
    base: Row
    other: Row
    ratio: float
    low: float | None
    high: float | None
    outcome: "ComparisonVerdict"
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScorePair:
    """A score of two results that are compared as wholes."""

    base_name: str
    other_name: str
    base: Score
    other: Score

    @property
    def ratio(self) -> float | None:
        """Other over base."""
        return self.other.value / self.base.value if self.base.value else None


@dataclass(frozen=True)
class Comparison:
    """All cells in the order of the base's rows. ``unmatched`` rows of ``base`` or the others found no partner.

    ``scores``: where results are compared as wholes. ``results``: by name, which result a name stands for there.
    ``attribution``: sentences on what moved the scores.
    """

    by: str
    base_name: str
    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    unmatched: int
    warnings: tuple[str, ...] = ()
    scores: tuple[ScorePair, ...] = ()
    results: Mapping[str, str] = field(default_factory=dict[str, str])
    attribution: tuple[str, ...] = ()

    def counts(self, other_name: str) -> "Counter[ComparisonVerdict]":
        """Count how often ``other_name`` is faster, is slower and cannot be told apart."""
        return Counter(cell.outcome for cell in self.cells if cell.other_name == other_name)


def compare_summaries(
    summaries: Mapping[str, Summary], by: str, base: str | None = None, metric: str | None = None
) -> Comparison:
    """Compare rows of named results: of one ``metric``, of the main ones (``MAIN``), or of all.

    Raise UserError when there are none, when units differ, or when a result is compared with itself.
    """
    if by == "result" and len(summaries) < 2:
        raise UserError(
            "a result cannot be compared with itself", "--by result", "name two or more results, or take --by target"
        )
    rows = [Sample(row, name) for name, summary in summaries.items() for row in summary.rows]
    if metric == MAIN:
        samples = _main(rows)
    else:
        samples = rows if metric is None else [sample for sample in rows if sample.row.metric == metric]
    if not samples:
        known = ", ".join(dict.fromkeys(sample.row.metric for sample in rows)) or "none in these results"
        raise UserError(
            f"no row has the metric '{metric}'" if metric else "there are no rows", "--metric", f"one of {known}"
        )
    compared = compare_samples(samples, by, base)
    results = results_by_name(samples, by)
    return replace(
        compared,
        warnings=tuple(differences(summaries)),
        results=results,
        scores=tuple(_scores(summaries, compared, results)),
    )


def _main(samples: Sequence[Sample]) -> list[Sample]:
    """Keep of each named phase the metric that comes first, and so for all rows without a phase together."""
    first: dict[str, str] = {}
    for sample in samples:
        first.setdefault(phase_of(sample.row), sample.row.metric)
    return [sample for sample in samples if sample.row.metric == first[phase_of(sample.row)]]


def _scores(summaries: Mapping[str, Summary], compared: Comparison, results: Mapping[str, str]) -> list[ScorePair]:
    """Pair scores of the same name; return none where the compared names do not stand for whole results."""
    if not results:
        return []
    scores = {name: {score.name: score for score in summaries[result].scores} for name, result in results.items()}
    base = scores[compared.base_name]
    return [
        ScorePair(compared.base_name, name, score, scores[name][title])
        for name in compared.names
        if name != compared.base_name
        for title, score in base.items()
        if title in scores[name]
    ]


def compare_samples(samples: Sequence[Sample], by: str, base: str | None = None) -> Comparison:
    """Compare samples as ``compare_summaries`` does, without looking at the machines that the results are from."""
    _check_units(samples)
    names = names_of(samples, by)
    if len(names) < 2:
        only = f"only '{names[0]}'" if names else "none"
        raise UserError(
            f"at least two are needed, but there is only {only}",
            f"--by {by}",
            f"take another of {', '.join(DIMENSIONS)}",
        )
    base_name = names[0] if base is None else base
    if base_name not in names:
        raise UserError(f"no row has '{base_name}'", "--base", f"one of {', '.join(names)}")
    cells, unmatched = _cells(Matching(samples, by).places(), base_name, names, _noises(samples))
    return Comparison(by, base_name, names, tuple(cells), unmatched)


def _check_units(samples: Iterable[Sample]) -> None:
    units: dict[str, str] = {}
    for sample in samples:
        first = units.setdefault(sample.row.metric, sample.row.unit)
        if first != sample.row.unit:
            what = f"rows of '{sample.row.metric}' have different units, {first} and {sample.row.unit}"
            raise UserError(what, sample.result, "compare results of one suite and version")


def _noises(samples: Iterable[Sample]) -> dict[int, float]:
    """Return by ``id`` of a row the noise (a deviation of logs) of one value that its neighbours tell.

    Only rows of one sample are in it, since these tell no noise of their own.
    """
    from ullage.analysis.findings import make_study

    by_result = grouped((sample.result, sample.row) for sample in samples if len(sample.row.repetitions) == 1)
    grids = [grid for rows in by_result.values() for grid in make_study(rows).grids]
    return {id(row): grid.noise for grid in grids if grid.noise is not None for row in grid.cells.values()}


Found = tuple[tuple[tuple[str, Scalar], ...], tuple[str, Row], tuple[str, Row]]


def _cells(places: Places, base_name: str, names: Sequence[str], noises: Mapping[int, float]) -> tuple[list[Cell], int]:
    """Judge all cells together; return them with the number of rows that have no partner."""
    from ullage.analysis.statistics import compare_all

    pairs: list[Found] = []
    unmatched = 0
    for (setting, _), found in places.items():
        base = found.get(base_name)
        others = [
            name for name in names if name != base_name and name in found and base and _comparable(base, found[name])
        ]
        if base is None or not others:
            unmatched += len(found)
            continue
        pairs.extend((setting, (base_name, base.row), (name, found[name].row)) for name in others)
    spreads = _spreads(row for _, (_, base), (_, other) in pairs for row in (base, other))
    judged = compare_all([_contest(base, other, noises, spreads) for _, (_, base), (_, other) in pairs], _LEVEL)
    return [_cell(pair, judgement) for pair, judgement in zip(pairs, judged, strict=True)], unmatched


def _spreads(rows: Iterable[Row]) -> "dict[tuple[str, str], Spread]":
    """Pool what the rows of each metric and access tell of the noise of one value; a row counts once."""
    from ullage.analysis.statistics import pooled_spread

    alike = nested((_kind(row), id(row), row) for row in rows)
    return {kind: pooled_spread(row.repetitions for row in found.values()) for kind, found in alike.items()}


def _kind(row: Row) -> tuple[str, str]:
    return row.metric, access_of(row)


def _contest(
    base: Row, other: Row, noises: Mapping[int, float], spreads: "Mapping[tuple[str, str], Spread]"
) -> "Contest":
    from ullage.analysis.statistics import Contest

    known = [noises[id(row)] for row in (base, other) if id(row) in noises]
    noise = math.sqrt(sum(value * value for value in known) / len(known)) if known else None
    return Contest(other.repetitions, base.repetitions, base.better, noise, spreads[_kind(base)])


def _comparable(base: Sample, other: Sample) -> bool:
    """Tell whether both sides have values and all are above 0, as a ratio needs."""
    return all(sample.row.repetitions and min(sample.row.repetitions) > 0 for sample in (base, other))


def _cell(pair: Found, judged: "Judgement") -> Cell:
    setting, (base_name, base), (other_name, other) = pair
    return Cell(
        setting=tuple(pair for pair in setting if pair[0] != "result"),
        metric=base.metric,
        unit=base.unit,
        base_name=base_name,
        other_name=other_name,
        base=base,
        other=other,
        ratio=judged.ratio,
        low=judged.low,
        high=judged.high,
        outcome=judged.verdict,
        notes=tuple(_notes(base, other)),
    )


def _notes(base: Row, other: Row) -> list[str]:
    """List the reasons why the two numbers may not mean the same: verdicts, parameters, grade C."""
    notes = [f"{base.verdict} against {other.verdict}"] if base.verdict != other.verdict else []
    notes += [
        f"{key} {base.params[key]} against {other.params[key]}"
        for key in _TOLD
        if key in base.params and key in other.params and base.params[key] != other.params[key]
    ]
    grades = sorted({row.grade for row in (base, other) if row.grade == "C"})
    return [*notes, *(f"grade {grade}" for grade in grades)]


def differences(summaries: Mapping[str, Summary]) -> list[str]:
    """Return a sentence for every fact of the surroundings that differs: the ratio may come from that fact."""
    found: list[str] = []
    for label, path in _SURROUNDINGS:
        values = {name: fact for name, summary in summaries.items() if (fact := _fact(summary, path))}
        if len(set(values.values())) > 1:
            list_ = ", ".join(f"{value} ({name})" for name, value in values.items())
            found.append(f"The {label} differs: {list_}. What is faster may be that, and not what is compared.")
    return found


def _fact(summary: Summary, path: Sequence[str]) -> str:
    value: object = summary.system
    for key in path:
        value = cast("Mapping[str, object]", value).get(key) if isinstance(value, Mapping) else None
    if isinstance(value, str):
        return value
    return summary.versions.get("mpi", "") if path[0] == "mpi" else ""
