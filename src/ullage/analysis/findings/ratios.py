# SPDX-License-Identifier: Apache-2.0
"""How many times as fast one target is as another: best against best, and cell by cell."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from ullage.analysis.findings.study import Numbers, Pair, Study
from ullage.analysis.findings.words import block, cell_of, columns, noun, numbers_of, place, setting_text
from ullage.analysis.statistics import Comparison
from ullage.model.summary import Finding, Row
from ullage.quantity import plural, show, times

_ORDER: Final = 20


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


def _means(rows: Iterable[Row]) -> str:
    """Of what a ratio is, where that is not what stands beside it."""
    return " by the geometric means" if any(len(row.repetitions) > 2 for row in rows) else ""


def _interval(found: Comparison) -> str:
    if found.low is None or found.high is None:
        return ""
    return f" [{times(found.low)}, {times(found.high)}]"


def _says(found: Comparison, name: str) -> str:
    return "which is faster cannot be told" if found.verdict == "cannot tell" else f"{name} is {found.verdict}"


def _best(pair: Pair, first: Row, second: Row) -> Finding:
    found = pair.compare_bests(first, second)
    a, b = cell_of(first), cell_of(second)
    text = (
        f"{_start(pair)}, best against best: {pair.first.target} has {show(first.median, first.unit)} ({place(*a)}), "
        f"{pair.second.target} {show(second.median, second.unit)} ({place(*b)}), {times(found.ratio)}"
        f"{_means([first, second])}{_interval(found)}: {_says(found, pair.first.target)}."
        f"{_caveat([(first, second)])}{_noise_note(pair)}"
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
    found = [pair.compare_bests(first, second) for _, first, second in rows]
    parts = [
        f"{times(one.ratio)} with {block(size)}{' (cannot tell)' if one.verdict == 'cannot tell' else ''}"
        for (size, _, _), one in zip(rows, found, strict=True)
    ]
    text = (
        f"{_start(pair)}, the best of {pair.first.target} over the best of {pair.second.target} for each block size"
        f"{_means(row for _, *both in rows for row in both)}: {', '.join(parts)}."
        f"{_caveat([(a, b) for _, a, b in rows])}"
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
        f"{plural(len(found), 'cell')};{_means(row for both in rows for row in both)} from {times(found[low].ratio)} "
        f"({place(*low)}) to {times(found[high].ratio)} ({place(*high)}).{_caveat(rows)}"
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


FINDERS: Final = ((_ORDER, find_ratios),)
