# SPDX-License-Identifier: Apache-2.0
"""A comparison as text: for the terminal, as JSON, Markdown and CSV."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ullage.analysis.compare import Cell, Comparison, ScorePair
from ullage.analysis.settings import access_of
from ullage.errors import one_line
from ullage.grouping import grouped
from ullage.model.summary import Score
from ullage.quantity import DASH, format_param, format_row, listing, param_label, significant, times
from ullage.report.table import to_csv_text
from ullage.report.texts import escape
from ullage.terminal import make_console, text_table

if TYPE_CHECKING:
    from rich.console import Console

_MOST_CELLS: Final = 10
_OUTCOMES: Final = ("faster", "slower", "cannot tell")
_STYLES: Final = {"faster": "green", "slower": "red", "cannot tell": "dim"}


def counts_line(found: Comparison, name: str) -> str:
    """Write ``scratch against nvme: faster in 3, slower in 80, cannot tell in 5 of 88 cells``."""
    counts = found.counts(name)
    parts = [f"{outcome} in {counts[outcome]}" for outcome in _OUTCOMES]
    total = sum(counts.values())
    return f"{name} against {found.base_name}: {', '.join(parts)} of {total} cells"


def _heads(found: Comparison) -> list[str]:
    keys = {key: None for cell in found.cells for key, _ in cell.setting}
    return list(keys)


def _texts(cell: Cell, keys: list[str]) -> list[str]:
    setting = dict(cell.setting)
    interval = "" if cell.low is None or cell.high is None else f" [{significant(cell.low)}, {significant(cell.high)}]"
    return [
        *(format_param(key, setting[key]) if key in setting else DASH for key in keys),
        cell.metric,
        cell.other_name,
        format_row(cell.base),
        format_row(cell.other),
        f"{significant(cell.ratio)}{interval}",
        cell.outcome,
        "; ".join(cell.notes),
    ]


def _columns(found: Comparison, keys: list[str]) -> list[str]:
    return [
        *map(param_label, keys),
        "metric",
        found.by,
        f"{found.base_name} (base)",
        "other",
        "ratio of geometric means",
        "outcome",
        "mind",
    ]


def score_texts(found: Comparison) -> list[str]:
    """Write ``IO500: 4.10 (a), 5.20 (b), 1.27 x``, for each score that both have."""
    return [
        f"{pair.base.name}: {_score(pair.base)} ({pair.base_name}), {_score(pair.other)} ({pair.other_name})"
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

    lines = [*_decisions(found), *score_texts(found), *found.attribution]
    if everything:
        with paged() as console:
            _print_lines(console, lines)
            _print_cells(console, found, found.cells)
        return
    console, shown = make_console(), largest(found)
    _print_lines(console, lines)
    _print_cells(console, found, shown)
    if len(shown) < len(found.cells):
        _print_lines(console, [f"The {len(shown)} largest of {len(found.cells)} cells; --all shows every cell."])


def _decisions(found: Comparison) -> list[str]:
    lines: list[str] = []
    for name in found.names:
        if name != found.base_name:
            lines += [counts_line(found, name), *_by_access(found, name)]
    if found.unmatched:
        lines.append(f"{found.unmatched} rows have no partner that differs in {found.by} only.")
    return lines


def _by_access(found: Comparison, name: str) -> list[str]:
    """Count the outcomes of each access, with the range of their ratios.

    For example ``  write: faster in 22 (1.8 to 9.1 x), slower in 13 (0.04 to 0.3 x), cannot tell in 5 (0.9 to 1.1 x)``.
    """
    groups = grouped((access_of(cell.other), cell) for cell in found.cells if cell.other_name == name)
    return [f"  {access or 'other'}: {', '.join(_outcomes(cells))}" for access, cells in groups.items()]


def _outcomes(cells: Sequence[Cell]) -> Iterator[str]:
    for outcome in _OUTCOMES:
        ratios = [cell.ratio for cell in cells if cell.outcome == outcome]
        if ratios:
            ends = " to ".join(dict.fromkeys(times(ratio).removesuffix(" x") for ratio in (min(ratios), max(ratios))))
            yield f"{outcome} in {len(ratios)} ({ends} x)"


def largest(found: Comparison) -> list[Cell]:
    """Return the cells where it is told which is faster, the largest ratios either way first; of few cells all."""
    if len(found.cells) <= _MOST_CELLS:
        return list(found.cells)
    told = [cell for cell in found.cells if cell.outcome != "cannot tell" and cell.ratio > 0]
    return sorted(told, key=lambda cell: -abs(math.log(cell.ratio)))[:_MOST_CELLS]


def _print_lines(console: "Console", lines: Iterable[str]) -> None:
    from rich.text import Text

    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()))
        console.print(Text(indent + one_line(line)))


def _print_cells(console: "Console", found: Comparison, cells: Sequence[Cell]) -> None:
    if cells:
        keys = _heads(found)
        heads = [(head, False) for head in _columns(found, keys)]
        console.print(text_table(heads, [_texts(cell, keys) for cell in cells], _STYLES))


def to_markdown(found: Comparison) -> str:
    """Write warnings, counts, scores and table as Markdown."""
    keys = _heads(found)
    head = [escape(text) for text in _columns(found, keys)]
    lines = [head, ["---"] * len(head), *([escape(text) for text in _texts(cell, keys)] for cell in found.cells)]
    others = [name for name in found.names if name != found.base_name]
    parts = [f"# {escape(f'{listing(others)} against {found.base_name}')}"]
    parts += [f"**Warning:** {escape(warning)}" for warning in found.warnings]
    parts += ["\n".join(f"- {escape(counts_line(found, name))}" for name in others)]
    told = [*score_texts(found), *found.attribution]
    parts += ["\n".join(f"- {escape(line)}" for line in told)] if told else []
    parts += ["\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join(parts) + "\n"


def to_csv(found: Comparison) -> str:
    """Write one line a cell as CSV, in plain SI numbers; scores and sentences are in the other forms."""
    keys = _heads(found)
    head = [*keys, *_plain(found.cells[0])] if found.cells else keys
    settings = [(cell, dict(cell.setting)) for cell in found.cells]
    cells = ([*(setting.get(key, "") for key in keys), *_plain(cell).values()] for cell, setting in settings)
    return to_csv_text([head, *cells])


def _plain(cell: Cell) -> dict[str, Any]:
    sides = {
        f"{side}_{name}": getattr(row, name)
        for side, row in (("base", cell.base), ("other", cell.other))
        for name in ("median", "low", "high", "verdict", "grade")
    }
    head = {"metric": cell.metric, "unit": cell.unit, "base": cell.base_name, "other": cell.other_name}
    ratio = {
        "ratio": cell.ratio,
        "ratio_low": cell.low,
        "ratio_high": cell.high,
        "outcome": cell.outcome,
        "notes": "; ".join(cell.notes),
    }
    return {**head, **sides, **ratio}


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
        "attribution": found.attribution,
    }
    return json.dumps({**whole, "cells": cells}, indent=1) + "\n"


def _score_pair(pair: ScorePair) -> dict[str, Any]:
    sides = {
        f"{side}_{name}": getattr(score, name)
        for side, score in (("base", pair.base), ("other", pair.other))
        for name in ("value", "low", "high", "valid")
    }
    head = {"name": pair.base.name, "unit": pair.base.unit, "base": pair.base_name, "other": pair.other_name}
    return {**head, **sides, "ratio": pair.ratio}


FORMS: Final[Mapping[str, Callable[[Comparison], str]]] = {
    "json": to_json,
    "md": to_markdown,
    "csv": to_csv,
}
