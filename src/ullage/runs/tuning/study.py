# SPDX-License-Identifier: Apache-2.0
"""What settings that others have measured traded for what: a search of which only the numbers are known."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ullage.analysis.tuning.confirmation import changes, sentence
from ullage.errors import UserError
from ullage.model.summary import Row, Summary
from ullage.quantity import times
from ullage.runs.tuning.objective import medians

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

# What a row is of, as opposed to the setting under which it was measured.
_OF_ROWS = frozenset({"phase", "access", "order"})
_TIMES = "phase_time"
_ALL = 100


@dataclass(frozen=True)
class Point:
    """A setting that was measured: its ``values`` and ``scores`` by name."""

    setting: Mapping[str, str]
    values: Mapping[str, float]
    scores: Mapping[str, float]
    doubts: Sequence[str]
    once: bool


def study(summary: Summary) -> list[str]:
    """Say in sentences what each setting changed of the one before it.

    Raise ``UserError`` where fewer than two settings were measured.
    """
    points = points_of(summary)
    if len(points) < 2:
        raise UserError("holds a single setting, so nothing was traded", "", "name a table of two settings or more")
    said: list[str] = []
    for before, after in pairwise(points):
        found = changes(before.values, after.values)
        text = sentence(_shown(after.setting), _shown(before.setting), found, most=_ALL)
        scores = [
            f"{name} changes from {was:.4g} to {value:.4g}, which is {times(value / was)}."
            for name, value in after.scores.items()
            if (was := before.scores.get(name, 0.0)) > 0
        ]
        doubts = [f"{_shown(one.setting)}: {doubt}." for one in (before, after) for doubt in one.doubts]
        said += [text or f"{_shown(after.setting)} changes nothing by 10 % or more.", *scores, *doubts]
    if any(point.once for point in points):
        said.append("Each number was measured once. These ratios have no interval, and noise may be part of them.")
    return said


def points_of(summary: Summary) -> list[Point]:
    """Return the settings of a summary in their order: each target is one, as tables of others have it."""
    names = list(dict.fromkeys(row.target for row in summary.rows))
    rows = {name: [row for row in summary.rows if row.target == name] for name in names}
    settings = {name: _setting(rows[name]) for name in names}
    return [
        Point(
            {key: value for key, value in own.items() if any(one.get(key) != value for one in settings.values())}
            or {"run": name},
            medians([row for row in rows[name] if row.metric != _TIMES]),
            {
                one.name.removesuffix(f" of {name}"): one.value
                for one in summary.scores
                if one.name.endswith(f" of {name}")
            },
            list(dict.fromkeys(reason for one in summary.scores if name in one.name for reason in one.reasons)),
            all(len(row.repetitions) < 2 for row in rows[name]),
        )
        for name, own in settings.items()
    ]


def _setting(rows: Sequence[Row]) -> dict[str, str]:
    """Return the parameters that all rows share, with ranks as those of a node where that is known."""
    shared: dict[str, Scalar] = {
        name: value
        for name, value in rows[0].params.items()
        if name not in _OF_ROWS and all(row.params.get(name) == value for row in rows)
    }
    nodes, ranks = shared.get("nodes"), shared.get("ranks")
    if isinstance(nodes, int) and isinstance(ranks, int) and nodes > 0 and ranks % nodes == 0:
        del shared["ranks"]
        shared["ppn"] = ranks // nodes
    return {name: str(value) for name, value in shared.items()}


def _shown(setting: Mapping[str, str]) -> str:
    return " ".join(f"{name}={value}" for name, value in setting.items())
