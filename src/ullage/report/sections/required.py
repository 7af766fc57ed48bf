# SPDX-License-Identifier: Apache-2.0
"""The rows under the floors that were declared: pass, fail, or cannot tell."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.model.acceptance import Judged
from ullage.quantity import DASH, format_param, format_quantity, format_share, param_label, percent
from ullage.report.contents import LEAD, Content, Section
from ullage.report.data import ReportData
from ullage.report.grids import Column, grid_of

_ORDER: Final = {"fail": 0, "cannot tell": 1, "pass": 2}


def build(data: ReportData) -> Content | None:
    """Return the table, what fails first; None where nothing was required."""
    judged = data.summary.judged
    if not judged:
        return None
    counts = Counter(one.verdict for one in judged)
    said = ", ".join(f"{verdict}: {counts[verdict]}" for verdict in ("pass", "fail", "cannot tell"))
    ordered = sorted(judged, key=lambda one: _ORDER[one.verdict])
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
SECTIONS: Final = (
    Section(
        name="required",
        title="What was required",
        doc="A row passes if its repetitions show the required value with the stated confidence. It fails if they show "
        "that the value is missed. Otherwise it cannot be told, and more repetitions help.",
        order=LEAD,
        build=build,
    ),
)
