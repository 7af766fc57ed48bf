# SPDX-License-Identifier: Apache-2.0
"""Scores, large, and whether they count; rows under the floors that were declared; the tables of a course report."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.grouping import grouped
from ullage.model.acceptance import Judged
from ullage.model.flags import interval_below
from ullage.model.summary import Row, Score
from ullage.quantity import DASH, format_param, format_quantity, format_share, param_label, percent, significant
from ullage.report.contents import LEAD, Card, Cards, Content, Grid, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, ceiling_text, grid_of, peer_share_text, peer_text, share_text, value_text

_DIGITS: Final = 4


def score_cards(data: ReportData) -> Content | None:
    """Return the scores as cards, or None without scores."""
    groups: list[list[Score]] = []
    for score in data.summary.scores:
        if groups and score.unit and _part(score, groups[-1][0]):
            groups[-1].append(score)
        else:
            groups.append([score])
    told = {(group[0].value, group[0].unit, group[0].suite) for group in groups if len(group) > 1}
    groups = [
        group for group in groups if len(group) > 1 or (group[0].value, group[0].unit, group[0].suite) not in told
    ]
    return Content(cards=[_cards(scores) for scores in groups]) if groups else None


def _part(score: Score, total: Score) -> str:
    """Return the name of a part within its total; empty when it is no part.

    This is ``bandwidth`` of ``IO500 bandwidth of nvme`` where the total is ``IO500 of nvme``, and ``W'`` of
    ``W' of 4 processes`` where the total is ``b_eff_io of 4 processes``.
    """
    name, _, subject = score.name.partition(" of ")
    whole, _, subject_of_whole = total.name.partition(" of ")
    if subject != subject_of_whole:
        return ""
    if name.startswith(f"{whole} "):
        return name.removeprefix(f"{whole} ")
    return name if subject and name != whole else ""


def _cards(scores: Sequence[Score]) -> Cards:
    total, *parts = scores
    # With a unit a total is one number among its parts.
    name = "score" if not parts else total.name.partition(" of ")[0] if total.unit else "total"
    cards = [_card(name, total), *(_card(_part(part, total), part) for part in parts)]
    reasons = list(dict.fromkeys(reason for score in scores for reason in score.reasons))
    look = not all(score.valid for score in scores) and all(score.valid or score.look for score in scores)
    return Cards(total.name, cards, reasons, look=look, suite=total.suite)


def _card(name: str, score: Score) -> Card:
    interval = ""
    if score.low is not None and score.high is not None:
        interval = f"[{significant(score.low, _DIGITS)}, {significant(score.high, _DIGITS)}]"
    value = f"{significant(score.value, _DIGITS)} {score.unit}".strip()
    return Card(name, value, interval, score.valid)


SCORES: Final = Section(
    name="scores",
    title="Scores",
    doc="The score is computed from the phases with the formula of the published list. It has an "
    "interval if the whole run was repeated.",
    order=LEAD,
    build=score_cards,
)


_ORDER_OF_VERDICTS: Final = {"fail": 0, "cannot tell": 1, "pass": 2}


def what_was_required(data: ReportData) -> Content | None:
    """Return the table, what fails first; None where nothing was required."""
    judged = data.summary.judged
    if not judged:
        return None
    counts = Counter(one.verdict for one in judged)
    said = ", ".join(f"{verdict}: {counts[verdict]}" for verdict in ("pass", "fail", "cannot tell"))
    ordered = sorted(judged, key=lambda one: _ORDER_OF_VERDICTS[one.verdict])
    return Content(notes=[f"{said}."], grids=grid_of("", _COLUMNS, ordered))


def required_number(one: Judged) -> str:
    """Name the number of which something was required: suite, target and what tells it from others."""
    told = [f"{param_label(key)} {format_param(key, value)}" for key, value in one.params.items() if key != "access"]
    head = [one.suite, one.target, str(one.params.get("access", "")), param_label(one.metric)]
    return ", ".join([" ".join(dict.fromkeys(filter(None, head))), *told])


def _value(value: float | None, one: Judged) -> str:
    return DASH if value is None else format_quantity(value, one.unit)


def _needed(one: Judged) -> str:
    sign = "at least" if one.better == "more" else "at most"
    return DASH if one.needed is None else f"{sign} {_value(one.needed, one)}"


def _shown(one: Judged) -> str:
    """Say what the repetitions show: for a pass that it is reached, for a fail that it is not exceeded."""
    if one.shown is None:
        return DASH
    is_least = (one.better == "more") == (one.verdict != "fail")
    return f"{'at least' if is_least else 'at most'} {_value(one.shown, one)}"


def required_text(one: Judged) -> str:
    """Write what was required and what came of it, with its confidence."""
    return (
        f"required: {_needed(one)}; median {_value(one.median, one)}; shown: {_shown(one)} "
        f"({percent(one.confidence, 1)})"
    )


_COLUMNS: Final[Sequence[Column[Judged]]] = (
    Column("verdict", lambda one: one.verdict, is_number=False),
    Column("node", lambda one: one.node, is_number=False),
    Column("number", required_number, is_number=False),
    Column("required", _needed),
    Column("median", lambda one: _value(one.median, one)),
    Column("shown", _shown),
    Column("of the ceiling", lambda one: format_share(one.share)),
    Column("confidence", lambda one: percent(one.confidence, 1)),
    Column("why", lambda one: one.reason, is_number=False),
)
REQUIRED: Final = Section(
    name="required",
    title="What was required",
    doc="A row passes if its repetitions show the required value with the stated confidence. It fails if they show "
    "that the value is missed. Otherwise it cannot be told, and more repetitions help.",
    order=LEAD,
    build=what_was_required,
)


_TABLE: Final = "table"
_BLOCK: Final = "block_bytes"
_NO_FLAG: Final = interval_below()


def published_tables(data: ReportData) -> Content | None:
    """Return a grid for each table, or None for results that came without."""
    tables = grouped(
        (str(row.params[_TABLE]), row) for row in data.summary.rows if _TABLE in row.params and "workload" in row.params
    )
    return Content(grids=[grid for name, rows in tables.items() for grid in _grid(name, rows)]) if tables else None


def _grid(name: str, rows: list[Row]) -> list[Grid]:
    tools = sorted({row.peer.tool for row in rows if row.peer is not None})
    title = f"{name}, beside {' and '.join(tools)}" if tools else name
    has_block = any(_BLOCK in row.params for row in rows)
    return grid_of(title, [one for one in _OF_PUBLISHED if has_block or one.heading != "block"], rows, whole=True)


def _flags(row: Row) -> str:
    return ", ".join(code for code in row.flag_codes if code != _NO_FLAG) or DASH


_OF_PUBLISHED: Final[Sequence[Column[Row]]] = (
    Column("workload", lambda row: str(row.params["workload"]), is_number=False),
    Column("threads", lambda row: str(row.params.get("threads", ""))),
    Column("block", lambda row: format_param(_BLOCK, row.params[_BLOCK]) if _BLOCK in row.params else DASH),
    Column("measured", value_text),
    Column("peer", peer_text),
    Column("ceiling", ceiling_text),
    Column("efficiency", share_text),
    Column("peer's efficiency", peer_share_text),
    Column("cannot be", _flags, is_number=False, hint=lambda row: "; ".join(row.reasons)),
)
PUBLISHED: Final = Section(
    name="published",
    title="The published tables",
    doc="The numbers are as published, with three corrections. Every row has the ceiling of the device "
    "itself, whatever the threads. The efficiency of a time is its least possible value divided by "
    "the measured one. The last column names rows that cannot be right.",
    order=1,
    build=published_tables,
)
SECTIONS: Final = (REQUIRED, SCORES, PUBLISHED)
