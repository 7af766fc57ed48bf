# SPDX-License-Identifier: Apache-2.0
"""The picture that gives the tool its name: a vessel for each part of the machine, filled to the share of its ceiling.

The page draws every vessel by itself, so that they wrap on a narrow screen, and takes its colours from the page. As a
picture for slides they stand in one row with the machine's name, the judgement and what to change first.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from ullage.errors import one_line
from ullage.quantity import percent
from ullage.report.headlines import Vessel
from ullage.report.vega import ACCENT, FONT, INK, MUTED

WIDTH: Final = 1400
_RED: Final = "#b3261e"
_GLASS: Final = "M14 6 L18 102 Q18.4 110 26 110 L74 110 Q81.6 110 82 102 L86 6"
_TOP, _BOTTOM = 6.0, 110.0
_STRAIGHT_TO: Final = 102.0
_MARGIN: Final = 40
_LONGEST_NAME: Final = 60


@dataclass(frozen=True)
class Colors:
    """The colours of a vessel. ``on_fill``: that of text on what is filled."""

    ink: str
    muted: str
    fill: str
    wrong: str
    on_fill: str


ON_PAPER: Final = Colors(INK, MUTED, ACCENT, _RED, "#ffffff")
OF_PAGE: Final = Colors("var(--ink)", "var(--muted)", "var(--fill)", "var(--red)", "var(--on-fill)")


@dataclass(frozen=True)
class Front:
    """What stands in the picture beside the vessels. ``changes``: a line each, under ``heading``."""

    host: str
    machine: str
    judgement: str
    changes: Sequence[str]
    heading: str = "Change first"


def vessel_svg(vessel: Vessel, name: str) -> str:
    """Draw one vessel for the page. ``name`` begins the ids of its title and description."""
    described = escape(one_line(description(vessel)))
    return (
        f'<svg class="vessel" viewBox="0 0 100 116" role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(vessel.part)}: {escape(vessel.value)}</title>'
        f'<desc id="{name}-desc">{described}</desc>{_drawing(vessel, OF_PAGE)}</svg>'
    )


def description(vessel: Vessel) -> str:
    """Say in words what the drawing shows."""
    share = vessel.share
    known = f"{vessel.what}: {vessel.value}" + (
        f", {vessel.interval} ({vessel.interval_kind})" if vessel.interval else ""
    )
    if share is None:
        return f"{known}. Empty: no ceiling is known; {vessel.advice}."
    wrong = " It does not count: it is INVALID." if vessel.is_invalid else ""
    return f"{known}. Filled to {percent(share)} of {vessel.kind}.{wrong}"


def _drawing(vessel: Vessel, colors: Colors) -> str:
    share = vessel.share
    if share is None:
        glass = f'<path d="{_GLASS}" fill="none" stroke="{colors.muted}" stroke-width="2.5" stroke-dasharray="5 4"/>'
        lines = (("no", 54), ("ceiling", 70))
        return glass + "".join(_label(text, y, colors.muted, size=13) for text, y in lines)
    glass = f'<path d="{_GLASS}" fill="none" stroke="{colors.ink}" stroke-width="2.5"/>'
    if vessel.is_disturbed and not vessel.is_invalid:
        return _hatched(vessel.part, share, colors) + glass + _label("grade C", 36, colors.muted, size=13)
    fill = colors.wrong if vessel.is_invalid else colors.fill
    # The label stands on what is filled or above it, never across the line between.
    on_fill = share >= 0.6
    label = _label(share_text(share), 68 if on_fill else 36, colors.on_fill if on_fill else colors.ink, size=21)
    return f'<path d="{_filled(share)}" fill="{fill}"/>{glass}{label}'


def _hatched(part: str, share: float, colors: Colors) -> str:
    """Return what is filled of a disturbed part, hatched: it is no share to quote."""
    name = f"hatch-{re.sub('[^a-z0-9]', '-', part.lower())}"
    stripe = f'<rect width="3" height="7" fill="{colors.muted}"/>'
    turned = 'width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"'
    return f'<pattern id="{name}" {turned}>{stripe}</pattern><path d="{_filled(share)}" fill="url(#{name})"/>'


def share_text(share: float) -> str:
    """Write ``97 %``; above 105 % of the ceiling ``1.3 x``."""
    return f"{share:.1f} x" if share > 1.05 else f"{100 * share:.0f} %"


def _filled(share: float) -> str:
    """Return the outline of what is filled; the bottom of the glass is round."""
    y = _BOTTOM - (_BOTTOM - _TOP) * min(max(share, 0.0), 1.0)
    if y >= _STRAIGHT_TO:
        return f"M19 {y:.1f} L81 {y:.1f} L74 110 L26 110 Z"
    aside = 4 * (y - _TOP) / (_STRAIGHT_TO - _TOP)
    return f"M{14 + aside:.1f} {y:.1f} L18 102 Q18.4 110 26 110 L74 110 Q81.6 110 82 102 L{86 - aside:.1f} {y:.1f} Z"


def _label(text: str, y: float, color: str, size: float) -> str:
    return (
        f'<text x="50" y="{y}" text-anchor="middle" font-size="{size}" font-weight="700" fill="{color}">'
        f"{escape(text)}</text>"
    )


# -- the picture for slides --------------------------------------------------------------------------------------------


def front_svg(front: Front, vessels: Sequence[Vessel]) -> str:
    """Draw a picture of its own, on white; everything from a machine is escaped and cut to its place."""
    lines: list[str] = []
    y = _MARGIN + 30
    lines.append(_text(_name(front.host), _MARGIN, y, 34, INK, 700))
    for text in textwrap.wrap(one_line(front.machine, 300), 150)[:2]:
        y += 28
        lines.append(_text(text, _MARGIN, y, 17, MUTED))
    y += 12
    for text in textwrap.wrap(one_line(front.judgement, 600), 118)[:3]:
        y += 28
        lines.append(_text(text, _MARGIN, y, 21, INK))
    y += 36
    row, height = _row(vessels, y)
    lines.append(row)
    y += height
    if front.changes:
        y += 40
        lines.append(_text(front.heading, _MARGIN, y, 21, INK, 700))
        for index, change in enumerate(front.changes, start=1):
            y += 30
            lines.append(_text(f"{index}. {one_line(change, 140)}", _MARGIN, y, 17, INK))
    total = y + _MARGIN
    lines.append(_text("Ullage is the empty part.", WIDTH - _MARGIN, total - 14, 13, MUTED, anchor="end"))
    title = f"{escape(_name(front.host))}: the machine at a glance"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{total:.0f}" '
        f'viewBox="0 0 {WIDTH} {total:.0f}" role="img" aria-labelledby="front-title front-desc" '
        f'font-family="{escape(FONT)}">'
        f'<title id="front-title">{title}</title><desc id="front-desc">{escape(one_line(front.judgement, 600))}</desc>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(lines)}</svg>\n'
    )


def _name(host: str) -> str:
    return one_line(host, _LONGEST_NAME)


def _row(vessels: Sequence[Vessel], y: float) -> tuple[str, float]:
    """Draw the vessels side by side with their words; return the drawing and its height."""
    if not vessels:
        return "", 0.0
    step = (WIDTH - 2 * _MARGIN) / max(len(vessels), 4)
    drawn: list[str] = []
    height = 0.0
    for index, vessel in enumerate(vessels):
        x = _MARGIN + step * index
        texts = list(_words(vessel, x + step / 2, y + 184, step))
        scale = 1.35
        place = f'transform="translate({x + step / 2 - 50 * scale:.1f} {y:.1f}) scale({scale})"'
        drawn.append(f"<g {place}>{_drawing(vessel, ON_PAPER)}</g>{''.join(text for text, _ in texts)}")
        height = max(height, 184 + texts[-1][1])
    return "".join(drawn), height


def _words(vessel: Vessel, x: float, y: float, width: float) -> Iterator[tuple[str, float]]:
    """Yield part, value, interval, ceiling and ``what`` below a vessel, each with how far below ``y`` it stands."""
    most = max(int(width / 7.4), 12)
    lines = [(vessel.part, 17, INK, 700), (vessel.value, 20, INK, 700)]
    known = vessel.interval if vessel.interval and not vessel.is_disturbed else vessel.interval_kind
    lines += [(text, 13, MUTED, 400) for text in textwrap.wrap(known, most)[:2]]
    below = vessel.kind or f"no ceiling: {vessel.advice}"
    lines += [(text, 13, MUTED, 400) for text in textwrap.wrap(below, most)[:4]]
    lines += [(text, 13, MUTED, 400) for text in textwrap.wrap(one_line(vessel.what, 80), most)[:3]]
    offset = 0.0
    for text, size, color, weight in lines:
        yield _text(text, x, y + offset, size, color, weight, anchor="middle"), offset
        offset += size + 6


def _text(text: str, x: float, y: float, size: float, color: str, weight: int = 400, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{color}" '
        f'text-anchor="{anchor}" direction="ltr" unicode-bidi="isolate">{escape(text)}</text>'
    )
