# SPDX-License-Identifier: Apache-2.0
"""The page of a history: a small picture of each number over time, those that changed first. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final

from ullage.analysis.findings.phrasing import capital
from ullage.analysis.statistics.changes import Change
from ullage.campaign.series import Series, sentences
from ullage.grouping import grouped
from ullage.quantity import change_percent, format_quantity, plural
from ullage.report.html import page_of

_LEFT, _RIGHT, _TOP, _BOTTOM = 62.0, 312.0, 12.0, 88.0
_MARGIN: Final = 0.1  # of the range, above and below
_MOST: Final = 400


def render(campaign: Path, series: Sequence[Series], told: Sequence[tuple[Series, Change, str]]) -> str:
    """Return the page of ``series``, of which ``told`` are the changes; at most 400 are drawn."""
    from markupsafe import Markup

    changes = grouped((id(one), (change, sentence)) for one, change, sentence in told)
    ordered = sorted(series, key=lambda one: id(one) not in changes)[:_MOST]
    cards = [
        {
            "title": one.title,
            "node": one.node,
            "last": format_quantity(one.values[-1], one.unit),
            "runs": len(one.values),
            "unsound": one.unsound,
            # The drawing is safe to mark up: all that it has is numbers and dates of ours.
            "drawing": Markup(_drawing(one, [change for change, _ in changes.get(id(one), ())])),  # noqa: S704
            "told": [capital(line.removeprefix(f"{one.title}, {one.node}: ")) for _, line in changes.get(id(one), ())],
        }
        for one in ordered
    ]
    lines = sentences(series, told)
    return page_of(
        "history.html.j2", {"campaign": str(campaign), "lines": lines, "cards": cards, "left": len(series) - len(cards)}
    )


def _drawing(one: Series, changes: Sequence[Change]) -> str:
    """Return the SVG of a number: values with their intervals, the median of each stretch, and lines at changes."""
    known = [value for value in (*one.values, *one.lows, *one.highs) if value is not None]
    least, most = min(known), max(known)
    room = _MARGIN * ((most - least) or abs(most) or 1.0)
    begin, end = one.times[0], one.times[-1]
    days = (end - begin).total_seconds() or 1.0

    def x(time: datetime) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (time - begin).total_seconds() / days

    def y(value: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (value - least + room) / (most - least + 2 * room)

    ends = {value: y(value) for value in (least, most)}
    marks = [*_axis(one, ends), *_points(one, x, y)]
    for first, last in pairwise([0, *(change.at for change in changes), len(one.values)]):
        level = y(median(one.values[first:last]))
        marks.append(_line(x(one.times[first]), level, x(one.times[last - 1]), level, "var(--accent)", 2))
    for change in changes:
        at = (x(one.times[change.at - 1]) + x(one.times[change.at])) / 2
        marks.append(_line(at, _TOP - 6, at, _BOTTOM, "var(--amber)", 1.5))
        shift, anchor = (4, "start") if at < _RIGHT - 60 else (-4, "end")
        marks.append(_text(at + shift, _TOP, f"{change_percent(change.ratio)} %", anchor))
    values, changed = plural(len(one.values), "value"), plural(len(changes), "change")
    said = f"{values} from {begin:%Y-%m-%d} to {end:%Y-%m-%d}, {changed}"
    return f'<svg viewBox="0 0 320 112" role="img" aria-label="{said}">{"".join(marks)}</svg>'


def _axis(one: Series, ends: Mapping[float, float]) -> Iterator[str]:
    """Yield the axes; ``ends``: the place of the least and of the largest value, which may be one."""
    yield _line(_LEFT, _BOTTOM, _RIGHT, _BOTTOM, "var(--line)", 1)
    for value, place in ends.items():
        yield _text(_LEFT - 6, place + 4, format_quantity(value, one.unit), "end")
    yield _text(_LEFT, _BOTTOM + 16, f"{one.times[0]:%Y-%m-%d}", "start")
    if one.times[-1].date() > one.times[0].date():
        yield _text(_RIGHT, _BOTTOM + 16, f"{one.times[-1]:%Y-%m-%d}", "end")


def _points(one: Series, x: Callable[[datetime], float], y: Callable[[float], float]) -> Iterator[str]:
    for time, value, low, high in zip(one.times, one.values, one.lows, one.highs, strict=True):
        if low is not None and high is not None:
            yield _line(x(time), y(low), x(time), y(high), "var(--muted)", 1)
        yield f'<circle cx="{x(time):.1f}" cy="{y(value):.1f}" r="2.2" fill="var(--ink)"/>'


def _line(x1: float, y1: float, x2: float, y2: float, color: str, width: float) -> str:
    ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
    return f'<line {ends} stroke="{color}" stroke-width="{width:g}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" fill="var(--muted)">{text}</text>'
