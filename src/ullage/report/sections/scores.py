# SPDX-License-Identifier: Apache-2.0
"""Above the findings: scores, large, and whether they count; rows under the floors that were declared."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.model.acceptance import Judged
from ullage.model.summary import Score
from ullage.quantity import DASH, format_param, format_quantity, format_share, param_label, percent, significant
from ullage.report.contents import LEAD, Card, Cards, Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of

_DIGITS: Final = 4


def score_cards(data: ReportData) -> Content | None:
    """Return the scores as cards, or None without scores."""
    groups = _told_once(_grouped(data.summary.scores))
    return Content(cards=[_cards(scores) for scores in groups]) if groups else None


def _grouped(scores: Sequence[Score]) -> list[list[Score]]:
    """Group each total with its parts, which have a unit.

    A part's name begins with its total's, or both have one subject.
    """
    groups: list[list[Score]] = []
    for score in scores:
        if groups and score.unit and _part(score, groups[-1][0]):
            groups[-1].append(score)
        else:
            groups.append([score])
    return groups


def _told_once(groups: Sequence[list[Score]]) -> list[list[Score]]:
    """Leave out a maximum over totals where it was taken of only one, which has the same value."""
    told = {(group[0].value, group[0].unit, group[0].suite) for group in groups if len(group) > 1}
    return [group for group in groups if len(group) > 1 or (group[0].value, group[0].unit, group[0].suite) not in told]


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


# -- what was required -------------------------------------------------------------------------------------------------


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


def _number(one: Judged) -> str:
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


_COLUMNS: Final[Sequence[Column[Judged]]] = (
    Column("verdict", lambda one: one.verdict, is_number=False),
    Column("node", lambda one: one.node, is_number=False),
    Column("number", _number, is_number=False),
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
SECTIONS: Final = (REQUIRED, SCORES)
