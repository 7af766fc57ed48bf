# SPDX-License-Identifier: Apache-2.0
"""A comparison as text: for the terminal, as JSON, Markdown and CSV."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from ullage.analysis.attribution import Attribution, attribution_text
from ullage.analysis.compare import Cell, Comparison, ScorePair
from ullage.analysis.settings import access_of, phase_of
from ullage.errors import one_line
from ullage.grouping import grouped
from ullage.model.summary import Row, Score
from ullage.quantity import DASH, format_param, format_row, listing, param_label, significant, times
from ullage.report.contents import to_csv_text
from ullage.report.headlines import headlines
from ullage.report.texts import escape
from ullage.terminal import make_console, print_fitting

if TYPE_CHECKING:
    from rich.console import Console

_MOST_CELLS: Final = 10
_MOST_MOVERS: Final = 24
_DIGITS: Final = 4
_OUTCOMES: Final = ("faster", "slower", "cannot tell")
_STYLES: Final = {"faster": "green", "slower": "red", "cannot tell": "dim"}


def counts_line(found: Comparison, name: str) -> str:
    """Write ``scratch against nvme: faster in 3, slower in 80, cannot tell in 5 of 88 cells``."""
    counts = found.counts(name)
    parts = [f"{outcome} in {counts[outcome]}" for outcome in _OUTCOMES]
    return f"{name} against {found.base_name}: {', '.join(parts)} of {sum(counts.values())} cells"


def _partnerless_lines(found: Comparison) -> list[str]:
    """Return a line on the names of which no cell can be compared, if there are any."""
    alone = [name for name in found.names if name != found.base_name and not found.counts(name)]
    return [f"nothing of {listing(alone)} can be compared with {found.base_name}"] if alone else []


def _keys(found: Comparison) -> list[str]:
    return list(dict.fromkeys(key for cell in found.cells for key, _ in cell.setting))


def table(found: Comparison, cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a table of cells."""
    keys = _keys(found)
    base = f"{found.base_name} (base)"
    heads = [*map(param_label, keys), "metric", found.by, base, "other", "ratio of geometric means", "outcome", "mind"]
    return heads, [_texts(cell, keys) for cell in cells]


def _texts(cell: Cell, keys: Sequence[str]) -> list[str]:
    setting = dict(cell.setting)
    interval = "" if cell.low is None or cell.high is None else f" [{significant(cell.low)}, {significant(cell.high)}]"
    return [
        *(format_param(key, setting[key]) if key in setting else DASH for key in keys),
        *(cell.metric, cell.other_name, format_row(cell.base), format_row(cell.other)),
        *(f"{significant(cell.ratio)}{interval}", cell.outcome, "; ".join(cell.notes)),
    ]


def difference_texts(found: Comparison) -> list[str]:
    """Write ``504x2 and 160x16 also differ in nodes (504, 160) and ranks (1008, 2560).``, for each that does."""
    return [
        f"{name} and {found.base_name} also differ in "
        + listing(
            [f"{param_label(key)} ({format_param(key, other)}, {format_param(key, base)})" for key, base, other in each]
        )
        + "."
        for name, each in found.differing.items()
    ]


def _attribution_table(change: Attribution) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines: each part with both values and what it does to the score, the strongest of many."""
    shown = change.movers
    if len(shown) > _MOST_MOVERS:
        strongest = sorted(shown, key=lambda one: -abs(one.moved))[:_MOST_MOVERS]
        shown = tuple(one for one in shown if one in strongest)
    heads = [f"part of {change.score}", change.base_name, change.other_name, "ratio", "changes the score by", "share"]
    lines = [
        [
            f"{one.name} (doubtful)" if one.is_doubtful else one.name,
            *(f"{significant(value, _DIGITS)} {one.unit}" for value in (one.first, one.second)),
            times(one.ratio),
            times(one.factor),
            DASH if (share := change.share(one)) is None else f"{round(100 * share):+d} %",
        ]
        for one in shown
    ]
    return heads, lines


def score_texts(found: Comparison) -> list[str]:
    """Write ``IO500: 4.10 (a), 5.20 (b), 1.27 x``, for each score that both have."""
    return [
        f"{pair.title}: {_score(pair.base)} ({pair.base_name}), {_score(pair.other)} ({pair.other_name})"
        + ("" if pair.ratio is None else f", {times(pair.ratio)}")
        for pair in found.scores
    ]


def _score(score: Score) -> str:
    return " ".join(filter(None, (significant(score.value), score.unit, "" if score.valid else "INVALID")))


def print_comparison(found: Comparison, *, everything: bool = False) -> None:
    """Print counts and where each is ahead, scores and what moved them, then the largest differences.

    ``everything``: a line for every cell, by a pager.
    """
    from ullage.terminal import paged

    if everything:
        with paged() as console:
            _print_head(console, found)
            _print_cells(console, found, found.cells)
        return
    console, shown = make_console(), largest(found)
    _print_head(console, found)
    _print_cells(console, found, shown)
    if len(shown) < len(found.cells):
        is_told = any(cell.outcome != "cannot tell" for cell in shown)
        of = f"of {len(found.cells)} cells"
        which = f"The {len(shown)} largest {of}" if is_told else f"None {of} is faster or slower"
        _print_lines(console, [f"{which}; --all shows every cell."])


def _print_head(console: "Console", found: Comparison) -> None:
    _print_lines(console, [*_decisions(found), *difference_texts(found), *score_texts(found)])
    for change in found.attributions:
        heads, lines = _attribution_table(change)
        print_fitting(console, [(head, at > 0) for at, head in enumerate(heads)], lines)
        _print_lines(console, [attribution_text(change)])


def _decisions(found: Comparison) -> list[str]:
    lines: list[str] = []
    for name in found.names:
        if name != found.base_name and found.counts(name):
            lines += [counts_line(found, name), *_by_access(found, name)]
    lines += _partnerless_lines(found)
    if found.unmatched:
        lines.append(f"{found.unmatched} rows have no partner: no row differs from them in {found.by} alone.")
    return lines


def _by_access(found: Comparison, name: str) -> list[str]:
    """Count the outcomes of each access, with the range of their ratios; none where each has one cell.

    For example ``  write: faster in 22 (1.8 to 9.1 x), slower in 13 (0.04 to 0.3 x), cannot tell in 5 (0.9 to 1.1 x)``.
    """
    groups = grouped((access_of(cell.other), cell) for cell in found.cells if cell.other_name == name)
    if all(len(cells) == 1 for cells in groups.values()):
        return []
    return [f"  {access or 'other'}: {', '.join(_outcomes(cells))}" for access, cells in groups.items()]


def _outcomes(cells: Sequence[Cell]) -> Iterator[str]:
    for outcome in _OUTCOMES:
        ratios = [cell.ratio for cell in cells if cell.outcome == outcome]
        if ratios:
            ends = " to ".join(dict.fromkeys(times(ratio).removesuffix(" x") for ratio in (min(ratios), max(ratios))))
            yield f"{outcome} in {len(ratios)} ({ends} x)"


def largest(found: Comparison) -> list[Cell]:
    """Return the cells where it is told which is faster, the largest ratios either way first; of few cells all.

    Where nothing is told of many cells, and no score has parts to show, they are those of the headlines.
    """
    if len(found.cells) <= _MOST_CELLS:
        return list(found.cells)
    told = [cell for cell in found.cells if cell.outcome != "cannot tell" and cell.ratio > 0]
    if not told and not found.attributions:
        return [found.cells[line.row] for line in headlines([cell.base for cell in found.cells])][:_MOST_CELLS]
    return sorted(told, key=lambda cell: -abs(math.log(cell.ratio)))[:_MOST_CELLS]


def _print_lines(console: "Console", lines: Iterable[str]) -> None:
    from rich.text import Text

    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        console.print(Text(indent + one_line(line)))


def _print_cells(console: "Console", found: Comparison, cells: Sequence[Cell]) -> None:
    if cells:
        heads, lines = table(found, cells)
        print_fitting(console, [(head, False) for head in heads], lines, _STYLES)


def to_markdown(found: Comparison) -> str:
    """Write warnings, counts, scores and table as Markdown."""
    others = [name for name in found.names if name != found.base_name]
    parts = [f"# {escape(f'{listing(others)} against {found.base_name}')}"]
    parts += [f"**Warning:** {escape(warning)}" for warning in found.warnings]
    decided = [counts_line(found, name) for name in others if found.counts(name)]
    parts += ["\n".join(f"- {escape(line)}" for line in [*decided, *_partnerless_lines(found)])]
    told = [*difference_texts(found), *score_texts(found), *map(attribution_text, found.attributions)]
    parts += ["\n".join(f"- {escape(line)}" for line in told)] if told else []
    for change in found.attributions:
        parts.append(_markdown_table(*_attribution_table(change)))
    parts.append(_markdown_table(*table(found, found.cells)))
    return "\n\n".join(parts) + "\n"


def _markdown_table(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    head, *body = (f"| {' | '.join(map(escape, line))} |" for line in (heads, *lines))
    return "\n".join([head, f"|{' --- |' * len(heads)}", *body])


def to_csv(found: Comparison) -> str:
    """Write one line a cell as CSV, in plain SI numbers, with what it does to a score; the rest is in other forms."""
    keys = _keys(found)
    plain = [{**_plain(cell), **_moved(found, cell)} for cell in found.cells]
    settings = [dict(cell.setting) for cell in found.cells]
    cells = ([*(one.get(key, "") for key in keys), *rest.values()] for one, rest in zip(settings, plain, strict=True))
    return to_csv_text([[*keys, *plain[0]], *cells])


def _moved(found: Comparison, cell: Cell) -> dict[str, Any]:
    """Return the factor of the score and the share of its change that are those of the cell's phase, if any are."""
    if not found.attributions:
        return {}
    known = [
        (mover.factor, change.share(mover))
        for change in found.attributions
        for mover in change.movers
        if change.other_name == cell.other_name and mover.name == phase_of(cell.other)
    ]
    factor, share = known[0] if known else ("", "")
    return {"score_factor": factor, "score_share": share}


def _plain(cell: Cell) -> dict[str, Any]:
    head = {"metric": cell.metric, "unit": cell.unit, "base": cell.base_name, "other": cell.other_name}
    ratio = {"ratio": cell.ratio, "ratio_low": cell.low, "ratio_high": cell.high, "outcome": cell.outcome}
    sides = _sides(cell.base, cell.other, ("median", "low", "high", "verdict", "grade"))
    return {**head, **sides, **ratio, "notes": "; ".join(cell.notes)}


def _sides(base: Row | Score, other: Row | Score, names: Sequence[str]) -> dict[str, Any]:
    return {f"{side}_{name}": getattr(one, name) for side, one in (("base", base), ("other", other)) for name in names}


def to_json(found: Comparison) -> str:
    """Write everything as JSON, in plain SI numbers."""
    cells = [{"setting": dict(cell.setting), **_plain(cell)} for cell in found.cells]
    counts = {name: dict(found.counts(name)) for name in found.names if name != found.base_name}
    whole = {
        "by": found.by,
        "base": found.base_name,
        "warnings": found.warnings,
        "counts": counts,
        "unmatched": found.unmatched,
        "scores": [_score_pair(pair) for pair in found.scores],
        "differing": {name: {key: pair for key, *pair in each} for name, each in found.differing.items()},
        "attributions": [_attribution(change) for change in found.attributions],
    }
    return json.dumps({**whole, "cells": cells}, indent=1) + "\n"


def _attribution(change: Attribution) -> dict[str, Any]:
    movers = [
        {**asdict(mover), "ratio": mover.ratio, "factor": mover.factor, "share": change.share(mover)}
        for mover in change.movers
    ]
    return {**asdict(change), "ratio": change.ratio, "rest": change.rest, "movers": movers}


def _score_pair(pair: ScorePair) -> dict[str, Any]:
    head = {"name": pair.title, "unit": pair.base.unit, "base": pair.base_name, "other": pair.other_name}
    return {**head, **_sides(pair.base, pair.other, ("value", "low", "high", "valid")), "ratio": pair.ratio}


FORMS: Final[Mapping[str, Callable[[Comparison], str]]] = {"json": to_json, "md": to_markdown, "csv": to_csv}
