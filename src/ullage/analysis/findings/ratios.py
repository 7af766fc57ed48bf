# SPDX-License-Identifier: Apache-2.0
"""How many times as fast one target is as another, best against best and cell by cell; where another becomes faster."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.findings.doubts import NO_STORAGE
from ullage.analysis.findings.neighbours import AXES, Axis, lines
from ullage.analysis.findings.phrasing import (
    block,
    cell_of,
    columns,
    gain_of,
    numbers_of,
    operations,
    place,
    setting_text,
    span,
    with_gain,
)
from ullage.analysis.findings.study import Cell, Numbers, Pair, Settable, Study
from ullage.analysis.statistics.comparison import Comparison
from ullage.grouping import grouped
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, show, times


def find_ratios(study: Study) -> list[Finding]:
    """Make up to three findings for each two targets and access; ``scope`` in their numbers tells them apart."""
    return [finding for pair in study.pairs for finding in _of_pair(pair, study.settable)]


def _of_pair(pair: Pair, settable: Settable) -> Iterable[Finding]:
    first, second = pair.first.best(), pair.second.best()
    if first is not None and second is not None:
        yield _best(pair, first, second, settable)
    shared_blocks = [b for b in pair.first.blocks if b in set(pair.second.blocks)]
    if len(shared_blocks) > 1:
        yield _best_by_block(pair, shared_blocks)
    if len(pair.shared) > 1:
        yield _cells(pair)


def _start(pair: Pair) -> str:
    return f"{operations(pair.first.access).capitalize()}{setting_text(pair.first.setting)}"


def _identity(pair: Pair, scope: str) -> Numbers:
    return numbers_of(pair.first, scope=scope, against=pair.second.target, noise=pair.noise)


def _means(rows: Iterable[Row]) -> str:
    """Say that a ratio is of geometric means where a row has more than two repetitions: beside it stand medians."""
    return " (geometric means)" if any(len(row.repetitions) > 2 for row in rows) else ""


def _interval(found: Comparison) -> str:
    if found.low is None or found.high is None:
        return ""
    return f" [{times(found.low)}, {times(found.high)}]"


def _best(pair: Pair, first: Row, second: Row, settable: Settable) -> Finding:
    found = pair.compare_bests(first, second)
    a, b = cell_of(first), cell_of(second)
    caveat = _caveat([(first, second)])
    is_told = found.verdict != "cannot tell"
    said = f"{pair.first.target} is {found.verdict}" if is_told else "which is faster cannot be told"
    text = (
        f"{_start(pair)}, best against best: {pair.first.target} reaches {show(first.median, first.unit)} "
        f"({place(*a)}), {pair.second.target} {show(second.median, second.unit)} ({place(*b)}). The ratio is "
        f"{times(found.ratio)}{_interval(found)}{_means([first, second])}: {said}."
        f"{caveat}{_noise_note(pair)}"
    )
    numbers = columns(
        ratio=found.ratio,
        low=found.low,
        high=found.high,
        verdict=found.verdict,
        ranks=[a[0], b[0]],
        block_bytes=[a[1], b[1]],
    )
    title = _title(pair, found, is_alike=not caveat)
    told = Finding(kind="ratio", title=title, text=text, numbers=_identity(pair, "best") | numbers)
    # Nobody moves data to memory for its rate, and rates of unlike origin do not say what moving it brings.
    is_choice = (
        not caveat and not {first.verdict, second.verdict} & NO_STORAGE and all(map(is_of_device, (first, second)))
    )
    ahead = pair.second.target if found.verdict == "slower" else pair.first.target
    return with_gain(told, gain_of(_turned(found)), settable.change({"target": ahead})) if is_choice else told


def _turned(found: Comparison) -> Comparison:
    """Return the same comparison as seen from the faster side."""
    if found.verdict != "slower" or found.low is None or found.high is None:
        return found
    return Comparison(1 / found.ratio, 1 / found.high, 1 / found.low, "faster", found.level)


def _title(pair: Pair, found: Comparison, *, is_alike: bool) -> str:
    names = [pair.first.target, pair.second.target]
    if not is_alike:
        return f"{_start(pair)} on {names[0]} and {names[1]} were not measured alike"
    if found.verdict == "cannot tell":
        return f"{_start(pair)}: which of {names[0]} and {names[1]} is faster cannot be told"
    ahead, behind = names if found.verdict == "faster" else reversed(names)
    factor = max(found.ratio, 1 / found.ratio)
    return f"{_start(pair)} are {times(factor)} as fast on {ahead} as on {behind}"


def _best_by_block(pair: Pair, blocks: list[int]) -> Finding:
    rows = [
        (size, first, second)
        for size in blocks
        if (first := pair.first.best_of_block(size)) and (second := pair.second.best_of_block(size))
    ]
    found = [pair.compare_bests(first, second) for _, first, second in rows]
    parts = [
        f"{times(one.ratio)} with {block(size)}{' (cannot tell)' if one.verdict == 'cannot tell' else ''}"
        for (size, _, _), one in zip(rows, found, strict=True)
    ]
    text = (
        f"{_start(pair)}, best of {pair.first.target} over best of {pair.second.target} by block size"
        f"{_means(row for _, *both in rows for row in both)}: {', '.join(parts)}."
        f"{_caveat([(a, b) for _, a, b in rows])}"
    )
    title = f"{_start(pair)}: {pair.first.target} over {pair.second.target} by block size"
    numbers = columns(
        block_bytes=[size for size, _, _ in rows],
        ranks=[cell_of(first)[0] for _, first, _ in rows],
        against_ranks=[cell_of(second)[0] for _, _, second in rows],
    )
    return Finding(
        kind="ratio", title=title, text=text, numbers=_identity(pair, "best-by-block") | numbers | _columns(found)
    )


def _columns(found: list[Comparison]) -> Numbers:
    """Return what was found, with an empty text for an unknown bound: lists of numbers hold no null."""
    return columns(
        ratio=[one.ratio for one in found],
        low=["" if one.low is None else one.low for one in found],
        high=["" if one.high is None else one.high for one in found],
        verdict=[one.verdict for one in found],
    )


def _cells(pair: Pair) -> Finding:
    found = pair.comparisons
    rows = [(pair.first.cells[cell], pair.second.cells[cell]) for cell in found]
    counts = Counter(one.verdict for one in found.values())
    low = min(found, key=lambda cell: found[cell].ratio)
    high = max(found, key=lambda cell: found[cell].ratio)
    ahead = f"{pair.first.target} is faster than {pair.second.target} in {counts['faster']}"
    text = (
        f"{_start(pair)}, cell by cell: {ahead} of {plural(len(found), 'cell')}, slower in {counts['slower']}, cannot "
        f"tell in {counts['cannot tell']}. The ratio goes from {times(found[low].ratio)} ({place(*low)}) to "
        f"{times(found[high].ratio)} ({place(*high)}){_means(row for both in rows for row in both)}.{_caveat(rows)}"
    )
    title = f"{_start(pair)}: {ahead} of {plural(len(found), 'cell')}"
    numbers = columns(
        cells=len(found),
        faster=counts["faster"],
        slower=counts["slower"],
        cannot_tell=counts["cannot tell"],
        ranks=[cell[0] for cell in found],
        block_bytes=[cell[1] for cell in found],
    )
    told = numbers | _columns([*found.values()])
    return Finding(kind="ratio", title=title, text=text, numbers=_identity(pair, "cells") | told)


def _caveat(rows: list[tuple[Row, Row]]) -> str:
    """Say where the two were not measured alike, which compares no targets; empty where all rows are alike."""
    unlike = [(a, b) for a, b in rows if _kind(a) != _kind(b)]
    if not unlike:
        return ""
    met = Counter(f"{_kind(a)} against {_kind(b)}" for a, b in unlike).most_common(1)[0][0]
    where = "" if len(rows) == 1 else f" in {len(unlike)} of {plural(len(rows), 'place')}"
    return f" The two were not measured alike{where} ({met})."


def _kind(row: Row) -> str:
    return "mixed" if row.verdict.startswith("mixed") else row.verdict


def _noise_note(pair: Pair) -> str:
    single = any(len(row.repetitions) == 1 for grid in (pair.first, pair.second) for row in grid.cells.values())
    if not single:
        return ""
    if pair.noise is None:
        return " With one sample a cell and no neighbours no difference can be told."
    spread = percent(pair.noise)
    return f" There is one sample a cell. Its noise is taken from neighbouring cells: {spread} (standard deviation)."


Winner: TypeAlias = Literal["first", "second"]
_WINNERS: Final[dict[str, Winner]] = {"faster": "first", "slower": "second"}


@dataclass(frozen=True, slots=True)
class Line:
    """Cells along one axis at a fixed other coordinate ``value``; ``winners``: null where it cannot be told."""

    value: int
    cells: tuple[Cell, ...]
    winners: tuple[Winner | None, ...]

    @property
    def decided(self) -> list[tuple[Cell, Winner]]:
        """The cells of which it is told who wins."""
        return [(cell, winner) for cell, winner in zip(self.cells, self.winners, strict=True) if winner is not None]

    @property
    def changes(self) -> list[tuple[Cell, Cell]]:
        """Decided cells of different winners with no decided one between them."""
        told = self.decided
        return [(a, b) for (a, one), (b, other) in pairwise(told) if one != other]

    @property
    def pattern(self) -> str:
        """``first``, ``second``, ``gains`` (second, then first), ``loses``, ``mixed`` or ``undecided``."""
        told = self.decided
        if not told:
            return "undecided"
        if not self.changes:
            return told[0][1]
        if len(self.changes) > 1:
            return "mixed"
        return "gains" if told[-1][1] == "first" else "loses"


def find_crossovers(study: Study) -> list[Finding]:
    """Make one finding for each two targets, access and axis that has lines of at least two cells."""
    return [found for pair in study.pairs for axis in AXES if (found := _along(pair, axis)) is not None]


def _along(pair: Pair, axis: Axis) -> Finding | None:
    found = [
        Line(value, tuple(cells), tuple(_WINNERS.get(pair.comparisons[cell].verdict) for cell in cells))
        for value, cells in sorted(lines(pair.shared, axis).items())
        if len(cells) > 1
    ]
    if not found:
        return None
    undecided = sum(line.winners.count(None) for line in found)
    total = sum(len(line.cells) for line in found)
    what = f"{operations(pair.first.access).capitalize()}{setting_text(pair.first.setting)}"
    names = f"{pair.first.target} and {pair.second.target}"
    tail = f" In {undecided} of {plural(total, 'cell')} no difference can be told." if undecided else ""
    text = f"{what} on {names}: {'. '.join(_sentences(pair, axis, found))}.{tail}"
    by = "rank count" if axis == "ranks" else "block size"
    title = f"{what}: which of {names} is faster, by {by}"
    place = AXES.index(axis)
    # ``before`` and ``after`` are empty texts where the faster target never changes: lists of numbers hold no null.
    return Finding(
        kind="crossover",
        title=title,
        text=text,
        numbers=numbers_of(
            pair.first,
            against=pair.second.target,
            axis=axis,
            **{AXES[1 - place]: [line.value for line in found]},
            pattern=[line.pattern for line in found],
            before=[line.changes[0][0][place] if line.changes else "" for line in found],
            after=[line.changes[0][1][place] if line.changes else "" for line in found],
            undecided=undecided,
        ),
    )


def _sentences(pair: Pair, axis: Axis, found: Sequence[Line]) -> Iterable[str]:
    names: dict[str, str] = {"first": pair.first.target, "second": pair.second.target}
    everywhere = "at every rank count" if axis == "ranks" else "with every block size"
    every = [line.value for line in found]
    both = f"{names['first']} and {names['second']}"
    by = grouped((line.pattern, line) for line in found)
    for winner in ("first", "second"):
        whole = [line.value for line in by.get(winner, []) if None not in line.winners]
        partly = [line.value for line in by.get(winner, []) if None in line.winners]
        if whole:
            yield f"{names[winner]} is faster {everywhere} {_at(axis, whole, every)}".rstrip()
        if partly:
            yield f"{names[winner]} is faster wherever a difference can be told {_at(axis, partly, every)}".rstrip()
    for pattern, winner in (("gains", "first"), ("loses", "second")):
        if group := by.get(pattern):
            yield f"{names[winner]} becomes the faster one: {_starts(axis, group)}"
    if mixed := by.get("mixed"):
        yield f"{both} change places more than once {_at(axis, [line.value for line in mixed], every)}".rstrip()
    if ties := by.get("undecided"):
        yield f"{both} cannot be told apart {_at(axis, [line.value for line in ties], every)}".rstrip()


def _at(axis: Axis, values: list[int], every: Sequence[int]) -> str:
    if axis == "ranks":
        return f"for blocks of {span(values, every)}" if any(values) else ""
    return f"at {listing([str(value) for value in values])}{_ranks_word(values)}"


def _ranks_word(values: Sequence[int]) -> str:
    return " rank" if list(values) == [1] else " ranks"


def _starts(axis: Axis, group: Sequence[Line]) -> str:
    """Name the nearest decided cells around each first change: ``between 4 and 8 ranks with 2M, 16 and 32 with 4M``."""
    along, across = (str, block) if axis == "ranks" else (block, str)
    unit, other = (" ranks with", " with") if axis == "ranks" else (" blocks at", " at")
    place = AXES.index(axis)
    texts: list[str] = []
    for line in group:
        before, after = line.changes[0]
        word = other if texts else unit
        texts.append(f"{along(before[place])} and {along(after[place])}{word} {across(line.value)}")
    ranks = "" if axis == "ranks" else _ranks_word([line.value for line in group])
    return "between " + listing(texts, most=12) + ranks


FINDERS: Final = ((20, find_ratios), (30, find_crossovers))
