# SPDX-License-Identifier: Apache-2.0
"""How many times as fast one target or access is as another, and what more ranks give."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.findings.study import Grid, Numbers, Pair, Study, compare_rows
from ullage.analysis.findings.words import (
    block,
    cell_of,
    columns,
    most_common,
    noun,
    numbers_of,
    place,
    setting_text,
    subject,
)
from ullage.analysis.statistics import Comparison, median
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, show, times

_RATIO_ORDER: Final = 20


def find_ratios(study: Study) -> list[Finding]:
    """Up to three findings for each two targets and access; ``scope`` in their numbers tells them apart."""
    return [finding for pair in study.pairs for finding in _of_pair(pair)]


def _of_pair(pair: Pair) -> Iterable[Finding]:
    first, second = pair.first.best(), pair.second.best()
    if first is not None and second is not None:
        yield _best(pair, first, second)
    shared_blocks = [b for b in pair.first.blocks if b in set(pair.second.blocks)]
    if len(shared_blocks) > 1:
        yield _best_by_block(pair, shared_blocks)
    if len(pair.shared) > 1:
        yield _cells(pair)


def _start(pair: Pair) -> str:
    return f"{noun(pair.first.access).capitalize()}{setting_text(pair.first.setting)}"


def _identity(pair: Pair, scope: str) -> Numbers:
    return numbers_of(pair.first, scope=scope, against=pair.second.target, noise=pair.noise)


def _interval(found: Comparison) -> str:
    if found.low is None or found.high is None:
        return ""
    return f" [{times(found.low)}, {times(found.high)}]"


def _says(found: Comparison, name: str) -> str:
    return "which is faster cannot be told" if found.verdict == "cannot tell" else f"{name} is {found.verdict}"


def _best(pair: Pair, first: Row, second: Row) -> Finding:
    found = pair.compare(first, second)
    a, b = cell_of(first), cell_of(second)
    text = (
        f"{_start(pair)}, best against best: {pair.first.target} has {show(first.median, first.unit)} ({place(*a)}), "
        f"{times(found.ratio)} the {show(second.median, second.unit)} of {pair.second.target} ({place(*b)})"
        f"{_interval(found)}: {_says(found, pair.first.target)}.{_caveat([(first, second)])}{_noise_note(pair)}"
    )
    numbers = columns(
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        verdict=found.verdict,
        ranks=[a[0], b[0]],
        block_bytes=[a[1], b[1]],
    )
    return Finding(kind="ratio", text=text, numbers=_identity(pair, "best") | numbers)


def _best_by_block(pair: Pair, blocks: list[int]) -> Finding:
    rows = [
        (size, first, second)
        for size in blocks
        if (first := pair.first.best_of_block(size)) and (second := pair.second.best_of_block(size))
    ]
    found = [pair.compare(first, second) for _, first, second in rows]
    parts = [
        f"{times(one.ratio)} with {block(size)}{' (cannot tell)' if one.verdict == 'cannot tell' else ''}"
        for (size, _, _), one in zip(rows, found, strict=True)
    ]
    text = (
        f"{_start(pair)}, the best of {pair.first.target} over the best of {pair.second.target} for each block size: "
        f"{', '.join(parts)}.{_caveat([(a, b) for _, a, b in rows])}"
    )
    numbers = columns(
        block_bytes=[size for size, _, _ in rows],
        ranks=[cell_of(first)[0] for _, first, _ in rows],
        against_ranks=[cell_of(second)[0] for _, _, second in rows],
    )
    return Finding(kind="ratio", text=text, numbers=_identity(pair, "best-by-block") | numbers | _columns(found))


def _columns(found: list[Comparison]) -> Numbers:
    return columns(
        ratio=[one.ratio for one in found],
        low=[_number(one.low) for one in found],
        high=[_number(one.high) for one in found],
        verdict=[one.verdict for one in found],
    )


def _number(bound: float | None) -> float | str:
    """Lists of numbers hold no null: an unknown bound is an empty word."""
    return "" if bound is None else bound


def _cells(pair: Pair) -> Finding:
    found = pair.comparisons
    rows = [(pair.first.cells[cell], pair.second.cells[cell]) for cell in found]
    counts = Counter(one.verdict for one in found.values())
    low = min(found, key=lambda cell: found[cell].ratio)
    high = max(found, key=lambda cell: found[cell].ratio)
    verdicts = f"faster in {counts['faster']}, slower in {counts['slower']}, cannot tell in {counts['cannot tell']}"
    text = (
        f"{_start(pair)}, cell by cell: {pair.first.target} against {pair.second.target} is {verdicts} of "
        f"{plural(len(found), 'cell')}; from {times(found[low].ratio)} ({place(*low)}) to {times(found[high].ratio)} "
        f"({place(*high)}), each at {pair.level:.0%}.{_caveat(rows)}"
    )
    numbers = columns(
        cells=len(found),
        faster=counts["faster"],
        slower=counts["slower"],
        cannot_tell=counts["cannot tell"],
        ranks=[cell[0] for cell in found],
        block_bytes=[cell[1] for cell in found],
    )
    return Finding(kind="ratio", text=text, numbers=_identity(pair, "cells") | numbers | _columns([*found.values()]))


def _caveat(rows: list[tuple[Row, Row]]) -> str:
    """Rows whose bytes came from different places do not compare the targets."""
    unlike = [(a, b) for a, b in rows if _kind(a) != _kind(b)]
    if not unlike:
        return ""
    met = Counter(f"{_kind(a)} against {_kind(b)}" for a, b in unlike).most_common(1)[0][0]
    where = "" if len(rows) == 1 else f" in {len(unlike)} of {plural(len(rows), 'place')}"
    return f" What was measured differs{where} ({met})."


def _kind(row: Row) -> str:
    return "mixed" if row.verdict.startswith("mixed") else row.verdict


def _noise_note(pair: Pair) -> str:
    single = any(len(row.repetitions) == 1 for grid in (pair.first, pair.second) for row in grid.cells.values())
    if not single:
        return ""
    if pair.noise is None:
        return " With one sample a cell and no neighbours nothing can be told."
    spread = f"{pair.noise:.0%}"
    return f" With one sample a cell its noise is taken from neighbouring cells: {spread} (standard deviation)."


# -- what more ranks give ----------------------------------------------------------------------------------------------


_SCALING_ORDER: Final = 40
Shape: TypeAlias = Literal["rises", "falls", "peaks", "flat", "dips"]
_VERBS: Final[dict[str, str]] = {
    "rises": "rise with ranks",
    "falls": "fall with ranks",
    "peaks": "peak in between",
    "flat": "do not change beyond the noise",
    "dips": "are lowest in between",
}
_MOST: Final = 0.75


@dataclass(frozen=True, slots=True)
class Curve:
    """One block size along ranks. ``change``: last rank count over first, above 1 is better."""

    block: int
    shape: Shape
    best_ranks: int
    first_ranks: int
    last_ranks: int
    change: float


def find_scaling(study: Study) -> list[Finding]:
    """One finding for each grid with more than one rank count."""
    return [found for grid in study.grids if (found := _scaling(grid, study.level)) is not None]


def curves(grid: Grid, level: float) -> list[Curve]:
    """All block sizes of ``grid`` that have at least two rank counts."""
    lines = [(size, grid.along_ranks(size)) for size in grid.blocks]
    return [_curve(grid, size, line, level) for size, line in lines if len(line) > 1]


def _curve(grid: Grid, size: int, line: Sequence[tuple[int, Row]], level: float) -> Curve:
    (first_ranks, first), (last_ranks, last) = line[0], line[-1]
    best_ranks, best = max(line, key=lambda item: grid.scores[item[0], size])
    worst = min(line, key=lambda item: grid.scores[item[0], size])[1]

    def better(a: Row, b: Row) -> bool:
        return compare_rows(a, b, level, grid.noise).verdict == "faster"

    ratio = last.median / first.median
    change = ratio if grid.better == "more" else 1 / ratio
    shape = _shape(
        better(best, first), better(best, last), better(first, worst), better(last, worst), better(best, worst)
    )
    if shape == "dips":
        # Both ends beat the middle: the ends tell which way it goes as a whole.
        shape = "rises" if better(last, first) else "falls" if better(first, last) else "dips"
    return Curve(size, shape, best_ranks, first_ranks, last_ranks, change)


def _shape(over_first: bool, over_last: bool, first_over: bool, last_over: bool, any_change: bool) -> Shape:  # noqa: FBT001
    """From what can be told: the best over first and last, first and last over the worst, the best over the worst."""
    if not any_change:
        return "flat"
    if over_first and over_last:
        return "peaks"
    if over_first:
        return "rises"
    if over_last:
        return "falls"
    return "dips" if first_over or last_over else "flat"


def _overall(found: Sequence[Curve]) -> str:
    """The shape of three quarters of the block sizes; else the direction from first to last that so many share."""
    shape, count = Counter(curve.shape for curve in found).most_common(1)[0]
    if count >= _MOST * len(found):
        return shape
    if sum(curve.change > 1 for curve in found) >= _MOST * len(found):
        return "rises"
    if sum(curve.change < 1 for curve in found) >= _MOST * len(found):
        return "falls"
    return "mixed"


def _scaling(grid: Grid, level: float) -> Finding | None:
    found = curves(grid, level)
    if not found:
        return None
    overall = _overall(found)
    first, last = min(c.first_ranks for c in found), max(c.last_ranks for c in found)
    typical = median([curve.change for curve in found])
    low, high = min(c.change for c in found), max(c.change for c in found)
    verb = _VERBS.get(overall, "do not go one way with ranks")
    spread = f" ({times(low)} to {times(high)})" if len(found) > 1 else ""
    text = (
        f"{subject(grid)} {verb}{_exceptions(found, overall)}: {last} ranks give {times(typical)} what {first} give"
        f"{spread}. {_best_ranks(found)}."
    )
    return Finding(kind="scaling", text=text, numbers=_numbers(grid, found, overall, typical))


def _exceptions(found: Sequence[Curve], overall: str) -> str:
    """How many block sizes agree, where not all do."""
    if len(found) == 1:
        return ""
    others = Counter(_VERBS[curve.shape] for curve in found if curve.shape != overall)
    if not others:
        return f" at all {plural(len(found), 'block size')}"
    parts = [f"at {count} of {len(found)} block sizes they {verb}" for verb, count in others.items()]
    return f" ({', '.join(parts)})"


def _best_ranks(found: Sequence[Curve]) -> str:
    usual = most_common(curve.best_ranks for curve in found)
    if len(found) == 1:
        return f"Best at {plural(usual, 'rank')}"
    odd = [f"{block(curve.block)} ({curve.best_ranks})" for curve in found if curve.best_ranks != usual]
    if not odd:
        return f"Best at {plural(usual, 'rank')} for every block size"
    if len(odd) > len(found) / 2:
        return "Best at: " + listing([f"{plural(c.best_ranks, 'rank')} with {block(c.block)}" for c in found], most=12)
    return f"Best at {plural(usual, 'rank')} for every block size except {listing(odd)}"


def _numbers(grid: Grid, found: Sequence[Curve], overall: str, typical: float) -> Numbers:
    return numbers_of(
        grid,
        overall=overall,
        ratio=typical,
        first_ranks=min(c.first_ranks for c in found),
        last_ranks=max(c.last_ranks for c in found),
        block_bytes=[curve.block for curve in found],
        shape=[curve.shape for curve in found],
        best_ranks=[curve.best_ranks for curve in found],
        change=[curve.change for curve in found],
    )


FINDERS: Final = ((_RATIO_ORDER, find_ratios), (_SCALING_ORDER, find_scaling))
