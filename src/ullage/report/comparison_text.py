# SPDX-License-Identifier: Apache-2.0
"""A comparison as text: for the terminal, as JSON, Markdown and CSV."""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from ullage.analysis.compare import Cell, Comparison, ScorePair
from ullage.errors import one_line
from ullage.model.summary import Score
from ullage.quantity import DASH, format_param, format_row, listing, param_label, significant, times
from ullage.report.csv_text import to_csv_text
from ullage.report.words import escape
from ullage.terminal import make_console, text_table

_OUTCOMES: Final = ("faster", "slower", "cannot tell")
_STYLES: Final = {"faster": "green", "slower": "red", "cannot tell": "dim"}


def counts_line(found: Comparison, name: str) -> str:
    """``scratch against nvme: faster in 3, slower in 80, cannot tell in 5 cells``."""
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
    """``IO500: 4.10 (a), 5.20 (b), 1.27 x``, for each score that both have."""
    return [
        f"{pair.base.name}: {_score(pair.base)} ({pair.base_name}), {_score(pair.other)} ({pair.other_name})"
        + ("" if pair.ratio is None else f", {times(pair.ratio)}")
        for pair in found.scores
    ]


def _score(score: Score) -> str:
    return " ".join(filter(None, (significant(score.value), score.unit, "" if score.valid else "INVALID")))


def print_comparison(found: Comparison) -> None:
    """One line a cell, counts, scores, and what is said of how they came to differ."""
    from rich.text import Text

    console = make_console()
    keys = _heads(found)
    heads = [(head, False) for head in _columns(found, keys)]
    console.print(text_table(heads, [_texts(cell, keys) for cell in found.cells], _STYLES))
    for name in found.names:
        if name != found.base_name:
            console.print(Text(one_line(counts_line(found, name))))
    if found.unmatched:
        console.print(Text(f"{found.unmatched} rows have no partner that differs in {found.by} only."))
    for line in (*score_texts(found), *found.attribution):
        console.print(Text(one_line(line)))


def to_markdown(found: Comparison) -> str:
    """Counts, scores and table."""
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
    """One line a cell, plain SI numbers; scores and sentences are in the other forms."""
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
    """Everything, plain SI numbers."""
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
