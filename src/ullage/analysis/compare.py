# SPDX-License-Identifier: Apache-2.0
"""Cell by cell: is one target, result, backend, block, rank count, access or other setting faster than another?

Two rows are compared when they differ in that one thing and in what follows from it, and sometimes one cannot tell. Of
equals nothing is said of any cell, in 19 of 20 comparisons (Holm over all cells). Rows of different units are refused,
never converted or pooled.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from ullage.analysis.attribution import Attribution
from ullage.analysis.contests import compare_rows, contest_of, sampled, tells_launches
from ullage.analysis.findings import make_study
from ullage.analysis.matching import Matching, Places, Sample, dimensions_of, names_of, value_of
from ullage.analysis.settings import ACCESS_KEYS, access_of, phase_of
from ullage.analysis.statistics.comparison import Comparison as Judgement
from ullage.analysis.statistics.comparison import ComparisonVerdict, Contest, compare_all
from ullage.analysis.statistics.spread import Spread, dependence_within, pooled_spread
from ullage.analysis.verdicts.grades import is_sound
from ullage.errors import UserError
from ullage.grouping import grouped, nested
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Score, Summary
from ullage.quantity import listing, param_label, plural, processes

MAIN: Final = "main"
"""Stands in the place of a metric for the metric of each phase, or for the first one of the suite."""
# At most 5 % of comparisons of equals may say something false; what is left of that is the cost of a stop rule, which
# ends cells where their samples happen to lie close together (docs/statistics.md).
_LEVEL: Final = 0.98
ONE_LAUNCH: Final = "one launch each: how much launches differ is not known"
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
    outcome: ComparisonVerdict
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ScorePair:
    """A score of two results, or of two parts of one. ``title`` is its name without the part."""

    title: str
    base_name: str
    other_name: str
    base: Score
    other: Score

    @property
    def ratio(self) -> float | None:
        """Other over base."""
        return self.other.value / self.base.value if self.base.value else None


Difference = tuple[str, Scalar, Scalar]


@dataclass(frozen=True)
class Comparison:
    """All cells in the order of the base's rows. ``unmatched`` rows of ``base`` or the others found no partner.

    ``scores``: of what a name stands for, a result or a part of one. ``groups``: all rows of each name; none where
    several results share a name. ``differing``: by name, what differs from the base in all cells beside ``by``, with
    both values. ``attributions``: what moved the scores.
    """

    by: str
    base_name: str
    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    unmatched: int
    warnings: tuple[str, ...] = ()
    scores: tuple[ScorePair, ...] = ()
    groups: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    differing: Mapping[str, Sequence[Difference]] = field(default_factory=dict[str, "Sequence[Difference]"])
    attributions: tuple[Attribution, ...] = ()

    def counts(self, other_name: str) -> Counter[ComparisonVerdict]:
        """Count how often ``other_name`` is faster, is slower and cannot be told apart."""
        return Counter(cell.outcome for cell in self.cells if cell.other_name == other_name)


def compare_summaries(
    summaries: Mapping[str, Summary], by: str, base: str | None = None, metric: str | None = None
) -> Comparison:
    """Compare rows of named results: of one ``metric``, of the main ones (``MAIN``), or of all.

    Raise UserError when no two rows can be compared, with what would work, or when units differ.
    """
    rows = [Sample(row, name) for name, summary in summaries.items() for row in summary.rows if not row.is_bound]
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
    if not compared.cells:
        first, *others = compared.names
        what = f"no number of {listing([repr(name) for name in others])} can be compared with one of '{first}'"
        what += f", they share no {apart}" if (apart := listing(_unshared(samples, by))) else ""
        raise UserError(what, f"--by {by}", what_works(samples, by))
    groups = _groups(rows, by)
    scores = tuple(paired_scores(summaries, compared, groups))
    return replace(compared, warnings=tuple(differences(summaries)), groups=groups, scores=scores)


def _main(samples: Sequence[Sample]) -> list[Sample]:
    """Keep the metric that comes first of each named phase, and of each access of a suite for rows without a phase."""
    places = [("", phase) if (phase := phase_of(one.row)) else (one.row.suite, access_of(one.row)) for one in samples]
    first: dict[tuple[str, str], str] = {}
    for place, sample in zip(places, samples, strict=True):
        first.setdefault(place, sample.row.metric)
    return [one for place, one in zip(places, samples, strict=True) if one.row.metric == first[place]]


def _groups(samples: Iterable[Sample], by: str) -> dict[str, Sequence[Row]]:
    """Return the rows of each compared value; none where a value is in several results, so no rows of one run."""
    found = grouped((str(value), sample) for sample in samples if (value := value_of(sample, by)) is not None)
    if any(len({sample.result for sample in group}) > 1 for group in found.values()):
        return {}
    return {name: [sample.row for sample in group] for name, group in found.items()}


def paired_scores(
    summaries: Mapping[str, Summary], compared: Comparison, groups: Mapping[str, Sequence[Row]]
) -> list[ScorePair]:
    """Pair the scores of what the compared names stand for: results as wholes, or targets and settings of one."""
    known = {name: _scores_of(name, summaries, groups) for name in compared.names}
    base = known[compared.base_name]
    return [
        ScorePair(title, compared.base_name, name, score, known[name][title])
        for name in compared.names
        if name != compared.base_name
        for title, score in base.items()
        if title in known[name]
    ]


def _scores_of(name: str, summaries: Mapping[str, Summary], groups: Mapping[str, Sequence[Row]]) -> dict[str, Score]:
    """Return the scores of the group ``name`` by titles that it shares with other groups.

    A score of a part of a result names the target, or the number of processes, that it is of.
    """
    of_result = {row_id: summary for summary in summaries.values() for row_id in map(id, summary.rows)}
    owner = next((of_result[id(row)] for row in groups.get(name, ())), None)
    if owner is None:
        return {}
    own = _labels(groups[name])
    others = {label for other, rows in groups.items() if other != name for label in _labels(rows)}
    if not any(of_result[id(row)] is owner for other, rows in groups.items() if other != name for row in rows):
        return {score.name: score for score in owner.scores}
    titles = ((score, label) for score in owner.scores for label in own - others if score.name.endswith(label))
    return {score.name.removesuffix(label): score for score, label in titles}


def _labels(rows: Iterable[Row]) -> set[str]:
    targets = {row.target for row in rows}
    counts = {count for row in rows if isinstance(count := row.params.get("ranks"), int)}
    sets = {str(row.params["hint_set"]) for row in rows if "hint_set" in row.params}
    return {
        *(f" {joint} {target}" for target in targets for joint in ("of", "on")),
        *(f" of {processes(count)}" for count in counts),
        *(f" with hints {one}" for one in sets),
    }


def compare_samples(samples: Sequence[Sample], by: str, base: str | None = None) -> Comparison:
    """Compare samples as ``compare_summaries`` does, without looking at the machines that the results are from."""
    _check_units(samples)
    names = names_of(samples, by)
    if len(names) < 2:
        found = f"only '{names[0]}'" if names else "none"
        is_itself = "a result cannot be compared with itself"
        what = is_itself if by == "result" else f"two are needed, and there is {found}"
        raise UserError(what, f"--by {by}", what_works(samples, by))
    places = Matching(samples, by).places()
    # Parts of an overview have targets of their own, which stand beside no other.
    paired = {name for found in places.values() if len(found) > 1 for name in found}
    base_name = next((name for name in names if name in paired), names[0]) if base is None else base
    if base_name not in names:
        raise UserError(f"no row has '{base_name}'", "--base", f"one of {', '.join(names)}")
    # A row of one sample tells no noise of its own: its neighbours do.
    by_result = grouped((sample.result, sample.row) for sample in samples if len(sample.row.repetitions) == 1)
    grids = [grid for rows in by_result.values() for grid in make_study(rows).grids]
    noises = {id(row): grid.noise for grid in grids if grid.noise is not None for row in grid.cells.values()}
    found, unmatched = _cells(places, base_name, names, noises)
    cells, differing = _told_once(found, by)
    return Comparison(by, base_name, names, tuple(cells), unmatched, differing=differing)


def _told_once(cells: Sequence[Cell], by: str) -> tuple[list[Cell], dict[str, Sequence[Difference]]]:
    """Return what differs in all cells of a name, and the cells with notes of what differs in some of them."""
    differing: dict[str, Sequence[Difference]] = {}
    noted: dict[int, Cell] = {}
    for name, of_name in grouped((cell.other_name, cell) for cell in cells).items():
        apart = {id(cell): _apart(cell, by) for cell in of_name}
        keys = dict.fromkeys(key for found in apart.values() for key in found)
        every = {key: [found[key] for found in apart.values() if key in found] for key in keys}
        told = {key: pairs[0] for key, pairs in every.items() if len(set(pairs)) == 1 and pairs[0][0] != pairs[0][1]}
        differing[name] = [(key, *pair) for key, pair in told.items()]
        for cell in of_name:
            left = {key: pair for key, pair in apart[id(cell)].items() if key not in told and pair[0] != pair[1]}
            notes = [f"{param_label(key)} {a} against {b}" for key, (a, b) in left.items()]
            noted[id(cell)] = replace(cell, notes=(*cell.notes, *notes))
    return [noted[id(cell)] for cell in cells], {name: found for name, found in differing.items() if found}


def _apart(cell: Cell, by: str) -> dict[str, tuple[Scalar, Scalar]]:
    """Return the target and the parameters that both sides have, but for what is compared."""
    one, other = ({"target": row.target, **row.params} for row in (cell.base, cell.other))
    left_out = {*ACCESS_KEYS, by, *(["block_bytes"] if by == "block" else [])}
    return {key: (value, other[key]) for key, value in one.items() if key in other and key not in left_out}


def _unshared(samples: Sequence[Sample], by: str) -> list[str]:
    """Return the words for what no two compared values have in common, of what rows must share."""
    known = [(str(value), sample) for sample in samples if (value := value_of(sample, by)) is not None]
    found: list[str] = []
    for word in ("target", "access", "ranks", "block"):
        values = grouped((value_of(sample, word), name) for name, sample in known if word != by)
        if values and all(value is not None and len(set(names)) == 1 for value, names in values.items()):
            found.append(word)
    return found


def what_works(samples: Sequence[Sample], by: str) -> str:
    """Say by which dimensions some of ``samples`` can be compared, and how many pairs there are."""
    pairs: dict[str, int] = {}
    for dimension in dimensions_of(sample.row for sample in samples):
        # Block and access are words for these.
        if dimension not in (by, "block_bytes", "phase") and len(names_of(samples, dimension)) > 1:
            places = Matching(samples, dimension).places().values()
            pairs[dimension] = sum(len(found) - 1 for found in places if len(found) > 1)
    if best := [name for name, count in pairs.items() if count][:3]:
        return "take " + " or ".join(f"--by {name} ({plural(pairs[name], 'pair')})" for name in best)
    return "name results, or targets of one, that measured the same kind of number"


def _check_units(samples: Iterable[Sample]) -> None:
    units: dict[str, str] = {}
    for sample in samples:
        first = units.setdefault(sample.row.metric, sample.row.unit)
        if first != sample.row.unit:
            what = f"rows of '{sample.row.metric}' have different units, {first} and {sample.row.unit}"
            raise UserError(what, sample.result, "compare results of one suite and version")


Found = tuple[tuple[tuple[str, Scalar], ...], tuple[str, Sample], tuple[str, Sample]]


def _cells(places: Places, base_name: str, names: Sequence[str], noises: Mapping[int, float]) -> tuple[list[Cell], int]:
    """Judge all cells together; return them with the number of rows that have no partner."""
    pairs: list[Found] = []
    unmatched = 0
    for (setting, _), found in places.items():
        base = found.get(base_name)
        others = [
            name
            for name in names
            if base and name != base_name and name in found and _has_logs(base.row) and _has_logs(found[name].row)
        ]
        if base is None or not others:
            unmatched += len(found)
            continue
        pairs.extend((setting, (base_name, base), (name, found[name])) for name in others)
    sound = [pair for pair in pairs if all(is_sound(sample.row) for _, sample in pair[1:])]
    spreads = _spreads([sample for pair in sound for _, sample in pair[1:]])
    contests = [_contest(base, other, noises, spreads) for _, (_, base), (_, other) in sound]
    judged = dict(zip(map(id, sound), compare_all(contests, _LEVEL), strict=True))
    return [_cell(pair, judged.get(id(pair)) or _unjudged(pair)) for pair in pairs], unmatched


def _unjudged(pair: Found) -> Judgement:
    """Return the ratio of two rows of which one was disturbed or is no speed at all: that tells nothing."""
    _, (_, base), (_, other) = pair
    return replace(compare_rows(other.row, base.row, _LEVEL), low=None, high=None, verdict="cannot tell")


def _spreads(samples: Sequence[Sample]) -> dict[tuple[str, str], Spread]:
    """Pool what the rows of each metric and access tell of one value's noise and of launches; a row counts once."""
    alike = nested((_kind(one.row), id(one.row), sampled(one.row, one.result)) for one in samples)
    dependence = dependence_within([cell for found in alike.values() for cell in found.values()])
    return {kind: pooled_spread(found.values(), dependence) for kind, found in alike.items()}


def _kind(row: Row) -> tuple[str, str]:
    return row.metric, access_of(row)


def _contest(
    base: Sample, other: Sample, noises: Mapping[int, float], spreads: Mapping[tuple[str, str], Spread]
) -> Contest:
    known = [noises[id(sample.row)] for sample in (base, other) if id(sample.row) in noises]
    noise = math.sqrt(sum(value * value for value in known) / len(known)) if known else None
    return contest_of(other.row, base.row, noise, spreads[_kind(base.row)], (other.result, base.result))


def _has_logs(row: Row) -> bool:
    """Tell whether a row has values and all are above 0, as a ratio needs."""
    return bool(row.repetitions) and min(row.repetitions) > 0


def _cell(pair: Found, judged: Judgement) -> Cell:
    setting, (base_name, one), (other_name, two) = pair
    base, other = one.row, two.row
    unlike = [f"{base.verdict} against {other.verdict}"] if base.verdict != other.verdict else []
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
        notes=(*unlike, *_why_untold(one, two, judged)),
    )


def _why_untold(base: Sample, other: Sample, judged: Judgement) -> list[str]:
    rows = base.row, other.row
    if not all(is_sound(row) for row in rows):
        return ["not judged: grade C" if any(row.grade == "C" for row in rows) else "not judged: INVALID"]
    is_known = base.result == other.result or all(tells_launches(row) for row in rows)
    return [] if judged.low is not None or is_known else [ONE_LAUNCH]


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
    value = fact(summary.system, *path)
    if isinstance(value, str):
        return value
    return summary.versions.get("mpi", "") if path[0] == "mpi" else ""


def fact(system: Mapping[str, object], *path: str) -> object:
    """Return what the facts of a machine have at that place; None where there is nothing."""
    *groups, name = path
    for group in groups:
        system = cast("Mapping[str, object]", system.get(group) or {})
    return system.get(name)
