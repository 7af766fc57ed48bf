# SPDX-License-Identifier: Apache-2.0
"""Cell by cell: is one target, result, backend, block, rank count or access faster than another?

Two rows are compared when they differ in that one thing only, and sometimes one cannot tell. Rows of different units
are refused, never converted or pooled.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, cast

from ullage.analysis.settings import access_of, separating_keys, sort_key
from ullage.errors import UserError
from ullage.model.plan import Scalar
from ullage.model.summary import Row, Summary

if TYPE_CHECKING:
    from ullage.analysis.statistics import ComparisonVerdict

By = Literal["target", "result", "backend", "block", "ranks", "access"]
DIMENSIONS: Final[tuple[By, ...]] = ("target", "result", "backend", "block", "ranks", "access")
_ACCESS: Final = frozenset({"access", "phase"})
# Facts that change results by themselves: where, and what to call them.
_SURROUNDINGS: Final = (
    ("machine", ("host",)),
    ("CPU", ("cpu", "model")),
    ("kernel", ("kernel", "release")),
    ("MPI library", ("mpi", "library")),
)


@dataclass(frozen=True)
class Sample:
    """A row and the name of the result it is from."""

    row: Row
    result: str


@dataclass(frozen=True)
class Cell:
    """``other`` against ``base`` in one setting. ``ratio`` is other over base in plain numbers, with its interval where
    one is known; ``outcome`` says what that means for ``other``, whichever direction is better."""

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
class Comparison:
    """All cells in the order of the base's rows. ``unmatched`` rows of ``base`` or the others found no partner."""

    by: By
    base_name: str
    names: tuple[str, ...]
    cells: tuple[Cell, ...]
    unmatched: int
    warnings: tuple[str, ...] = ()

    def counts(self, other_name: str) -> "Counter[ComparisonVerdict]":
        """How often ``other_name`` is faster, slower or neither for sure."""
        return Counter(cell.outcome for cell in self.cells if cell.other_name == other_name)


def compare_summaries(
    summaries: Mapping[str, Summary], by: By, base: str | None = None, metric: str | None = None
) -> Comparison:
    """Compare rows of named results, of one ``metric`` or all. ``UserError`` when there are none, or units differ."""
    if by == "result" and len(summaries) < 2:
        raise UserError(
            "one result cannot be compared with itself", "--by result", "name two or more results, or take --by target"
        )
    rows = [Sample(row, name) for name, summary in summaries.items() for row in summary.rows]
    samples = [sample for sample in rows if metric is None or sample.row.metric == metric]
    if not samples:
        known = ", ".join(dict.fromkeys(sample.row.metric for sample in rows)) or "none in these results"
        raise UserError(
            f"no row has the metric '{metric}'" if metric else "there are no rows", "--metric", f"one of {known}"
        )
    compared = compare_samples(samples, by, base)
    return Comparison(
        by, compared.base_name, compared.names, compared.cells, compared.unmatched, tuple(differences(summaries))
    )


def compare_samples(samples: Sequence[Sample], by: By, base: str | None = None) -> Comparison:
    """As ``compare_summaries``, without a look at the machines the results are from."""
    _check_units(samples)
    labelled = [(str(value), sample) for sample in samples if (value := _value(sample, by)) is not None]
    names = _names(samples, by)
    if len(names) < 2:
        only = f"only '{names[0]}'" if names else "none"
        raise UserError(
            f"two or more are needed, there is {only}", f"--by {by}", f"take another of {', '.join(DIMENSIONS)}"
        )
    base_name = names[0] if base is None else base
    if base_name not in names:
        raise UserError(f"no row has '{base_name}'", "--base", f"one of {', '.join(names)}")
    places = _group(labelled, _place_of(samples, by))
    cells, unmatched = _cells(places, base_name, names, _noises(samples))
    return Comparison(by, base_name, names, tuple(cells), unmatched)


def _check_units(samples: Iterable[Sample]) -> None:
    units: dict[str, str] = {}
    for sample in samples:
        first = units.setdefault(sample.row.metric, sample.row.unit)
        if first != sample.row.unit:
            what = f"rows of '{sample.row.metric}' have different units, {first} and {sample.row.unit}"
            raise UserError(what, sample.result, "compare results of one suite and version")


def _value(sample: Sample, by: By) -> Scalar | None:
    """What ``sample`` has in the compared dimension; None when it has no such thing."""
    match by:
        case "target":
            return sample.row.target
        case "result":
            return sample.result
        case "access":
            return access_of(sample.row) or None
        case "block":
            return sample.row.params.get("block_bytes")
        case "backend" | "ranks":
            return sample.row.params.get(by)


def _names(samples: Iterable[Sample], by: By) -> tuple[str, ...]:
    """Compared values: numbers rising, words in the order in which they come first."""
    values = {value: None for sample in samples if (value := _value(sample, by)) is not None}
    numeric = all(isinstance(value, (int, float)) for value in values)
    return tuple(str(value) for value in (sorted(values, key=sort_key) if numeric else values))


def _place_of(samples: Sequence[Sample], by: By) -> Callable[[Sample], tuple[tuple[str, Scalar], ...]]:
    """What two rows must share beside the metric. A parameter that follows from the compared one need not be shared."""

    # Two suites of one result may have done the same thing in different ways.
    has_several = len({(sample.result, sample.row.suite) for sample in samples}) > len({one.result for one in samples})

    def common(sample: Sample) -> tuple[tuple[str, Scalar], ...]:
        row = sample.row
        pairs: list[tuple[str, Scalar | None]] = [
            ("result", sample.result),
            ("suite", row.suite if has_several else None),
            ("target", row.target),
            ("access", access_of(row)),
        ]
        pairs += [("ranks", row.params.get("ranks")), ("block_bytes", row.params.get("block_bytes"))]
        own = "block_bytes" if by == "block" else by
        return tuple((key, value) for key, value in pairs if key != own and value is not None and value != "")

    of_row = {id(sample.row): (*common(sample), _value(sample, by), sample.row.metric) for sample in samples}
    extra = separating_keys((sample.row for sample in samples), lambda row: of_row[id(row)])
    kept = [key for key in extra if key != by and key not in _ACCESS]

    def place(sample: Sample) -> tuple[tuple[str, Scalar], ...]:
        return (*common(sample), *((key, sample.row.params[key]) for key in kept if key in sample.row.params))

    return place


Places = dict[tuple[tuple[tuple[str, Scalar], ...], str], dict[str, Sample]]


def _group(labelled: Iterable[tuple[str, Sample]], place: Callable[[Sample], tuple[tuple[str, Scalar], ...]]) -> Places:
    places: Places = {}
    for name, sample in labelled:
        found = places.setdefault((place(sample), sample.row.metric), {})
        if name in found:
            what = f"two rows of '{sample.row.metric}' stand for the same case of '{name}'"
            raise UserError(what, sample.result, "a damaged or joined summary; make it again with `ullage report`")
        found[name] = sample
    return places


def _noises(samples: Iterable[Sample]) -> dict[int, float]:
    """By row (``id``), the noise of one value as its neighbours tell it: what a row of one sample is judged by."""
    from ullage.analysis.findings import make_study

    by_result: dict[str, list[Row]] = {}
    for sample in samples:
        if len(sample.row.repetitions) == 1:
            by_result.setdefault(sample.result, []).append(sample.row)
    grids = [grid for rows in by_result.values() for grid in make_study(rows).grids]
    return {id(row): grid.noise for grid in grids if grid.noise is not None for row in grid.cells.values()}


def _cells(places: Places, base_name: str, names: Sequence[str], noises: Mapping[int, float]) -> tuple[list[Cell], int]:
    cells: list[Cell] = []
    unmatched = 0
    for (setting, _), found in places.items():
        base = found.get(base_name)
        others = [
            name for name in names if name != base_name and name in found and base and _comparable(base, found[name])
        ]
        if base is None or not others:
            unmatched += len(found)
            continue
        cells.extend(_cell(setting, (base_name, base.row), (name, found[name].row), noises) for name in others)
    return cells, unmatched


def _comparable(base: Sample, other: Sample) -> bool:
    """A ratio needs values above 0 on both sides."""
    return all(sample.row.repetitions and min(sample.row.repetitions) > 0 for sample in (base, other))


def _cell(
    setting: tuple[tuple[str, Scalar], ...], base: tuple[str, Row], other: tuple[str, Row], noises: Mapping[int, float]
) -> Cell:
    from ullage.analysis.statistics import compare

    (base_name, base_row), (other_name, other_row) = base, other
    known = [noises[id(row)] for row in (base_row, other_row) if id(row) in noises]
    noise = math.sqrt(sum(value * value for value in known) / len(known)) if known else None
    found = compare(other_row.repetitions, base_row.repetitions, better=base_row.better, noise=noise)
    return Cell(
        setting=tuple(pair for pair in setting if pair[0] != "result"),
        metric=base_row.metric,
        unit=base_row.unit,
        base_name=base_name,
        other_name=other_name,
        base=base_row,
        other=other_row,
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        outcome=found.verdict,
        notes=tuple(_notes(base_row, other_row)),
    )


def _notes(base: Row, other: Row) -> list[str]:
    """Why the two numbers may not mean the same."""
    notes = [f"{base.verdict} against {other.verdict}"] if base.verdict != other.verdict else []
    grades = sorted({row.grade for row in (base, other) if row.grade == "C"})
    return [*notes, *(f"grade {grade}" for grade in grades)]


def differences(summaries: Mapping[str, Summary]) -> list[str]:
    """A sentence for every fact of the surroundings in which results differ: their ratio may be that of the fact."""
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
