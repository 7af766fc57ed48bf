# SPDX-License-Identifier: Apache-2.0
"""The picture that gives the tool its name: a vessel for each part of the machine, filled to the share of its ceiling.

The page draws every vessel by itself, so that they wrap on a narrow screen, and takes its colours from the page. As a
picture for slides they stand in one row with the machine's name, the judgement and what to change first.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from ullage.errors import one_line
from ullage.quantity import format_known, percent
from ullage.report.bars import Bar, Bars
from ullage.report.headlines import Vessel
from ullage.report.soundness import Soundness
from ullage.report.vega import ACCENT, FONT, INK, MUTED

WIDTH: Final = 1400
_RED: Final = "#b3261e"
_AMBER: Final = "#955400"
_PALE: Final = "#dde2e7"
_GLASS: Final = "M14 6 L18 102 Q18.4 110 26 110 L74 110 Q81.6 110 82 102 L86 6"
_TOP, _BOTTOM = 6.0, 110.0
_STRAIGHT_TO: Final = 102.0
MARGIN: Final = 40
_LONGEST_NAME: Final = 60


@dataclass(frozen=True)
class Colors:
    """The colours of a vessel. ``on_fill``: that of text on what is filled. ``paper``: that of the page."""

    ink: str
    muted: str
    fill: str
    wrong: str
    on_fill: str
    paper: str


ON_PAPER: Final = Colors(INK, MUTED, ACCENT, _RED, "#ffffff", "#ffffff")
OF_PAGE: Final = Colors("var(--ink)", "var(--muted)", "var(--fill)", "var(--red)", "var(--on-fill)", "var(--paper)")


@dataclass(frozen=True)
class Front:
    """What stands in the picture beside the vessels, or ``bars`` in their place.

    ``lines``: the answer to ``question``, or the judgement of the machine. ``changes``: a line each, under ``heading``.
    """

    host: str
    machine: str
    lines: Sequence[str]
    changes: Sequence[str]
    heading: str = "Change first"
    soundness: Soundness | None = None
    question: str = ""
    bars: Sequence[Bars] = ()

    @property
    def said(self) -> str:
        """All that it begins with, in one line."""
        return " ".join(self.lines)


def vessel_svg(vessel: Vessel, name: str) -> str:
    """Draw one vessel for the page. ``name`` begins the ids of its title and description."""
    described = escape(one_line(description(vessel)))
    return (
        f'<svg class="vessel" viewBox="0 0 100 116" role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(vessel.title)}: {escape(vessel.value)}</title>'
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
        return (
            _hatched(vessel.part, share, colors) + glass + _label("grade C", 68, colors.ink, size=13, halo=colors.paper)
        )
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


def _label(text: str, y: float, color: str, size: float, halo: str = "") -> str:
    """Return centred text; ``halo``: the colour around its letters, where it stands on stripes."""
    around = f' stroke="{halo}" stroke-width="5" stroke-linejoin="round" paint-order="stroke"' if halo else ""
    return (
        f'<text x="50" y="{y}" text-anchor="middle" font-size="{size}" font-weight="700" fill="{color}"{around}>'
        f"{escape(text)}</text>"
    )


def front_svg(
    front: Front, vessels: Sequence[Vessel], below: Callable[[float], tuple[str, float]] = lambda _y: ("", 0.0)
) -> str:
    """Draw a picture of its own, on white; everything from a machine is escaped and cut to its place.

    ``below``: draws what stands under it from a height on, and returns that with its own height.
    """
    lines: list[str] = []
    y = MARGIN + 30
    host = one_line(front.host, _LONGEST_NAME)
    lines.append(text_at(host, MARGIN, y, 34, INK, 700))
    box, height = _box(front.soundness, y + 18)
    lines.append(box)
    y += height
    for text in textwrap.wrap(one_line(front.machine, 300), 150)[:2]:
        y += 28
        lines.append(text_at(text, MARGIN, y, 17, MUTED))
    y += 12
    if front.question:
        y += 28
        lines.append(text_at(one_line(front.question, 150), MARGIN, y, 18, MUTED, 700))
    for text in [row for line in front.lines for row in textwrap.wrap(one_line(line, 600), 118)[:3]]:
        y += 28
        lines.append(text_at(text, MARGIN, y, 21, INK))
    y += 36
    row, height = _bars(front.bars, y) if front.bars else _row(vessels, y)
    lines.append(row)
    y += height
    if front.changes:
        y += 40
        lines.append(text_at(front.heading, MARGIN, y, 21, INK, 700))
        for index, change in enumerate(front.changes, start=1):
            y += 30
            lines.append(text_at(f"{index}. {one_line(change, 140)}", MARGIN, y, 17, INK))
    drawn, height = below(y + MARGIN)
    lines.append(drawn)
    total = y + height + MARGIN
    lines.append(text_at("Ullage is the empty part.", WIDTH - MARGIN, total - 14, 13, MUTED, anchor="end"))
    title = f"{escape(host)}: the machine at a glance"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{total:.0f}" '
        f'viewBox="0 0 {WIDTH} {total:.0f}" role="img" aria-labelledby="front-title front-desc" '
        f'font-family="{escape(FONT)}">'
        f'<title id="front-title">{title}</title><desc id="front-desc">{escape(one_line(front.said, 600))}</desc>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(lines)}</svg>\n'
    )


def _box(found: Soundness | None, y: float) -> tuple[str, float]:
    """Draw whether the result may be believed, in a box where it may not; return the drawing and its height."""
    if found is None:
        return "", 0.0
    if not found.title:
        return text_at(one_line(" ".join(found.lines), 150), MARGIN, y + 10, 16, MUTED), 24.0
    said = [*found.lines, *([f"Continue with: {found.command}"] if found.command else [])]
    rows = [row for line in said for row in textwrap.wrap(one_line(line, 400), 150)]
    height = 44.0 + 24 * len(rows)
    frame = (
        f'<rect x="{MARGIN}" y="{y:.0f}" width="{WIDTH - 2 * MARGIN}" height="{height:.0f}" rx="6" fill="none" '
        f'stroke="{_AMBER}" stroke-width="2.5"/>'
    )
    texts = [text_at(found.title, MARGIN + 16, y + 28, 19, _AMBER, 700)]
    texts += [text_at(row, MARGIN + 16, y + 28 + 24 * at, 16, INK) for at, row in enumerate(rows, start=1)]
    return frame + "".join(texts), height + 18


def _bars(groups: Sequence[Bars], y: float) -> tuple[str, float]:
    """Draw the bars below each other with their words; return the drawing and its height."""
    drawn: list[str] = []
    at = y
    for group in groups:
        drawn.append(text_at(one_line(group.title, 140), MARGIN, at + 16, 18, INK, 700))
        at += 30
        for bar in group.bars:
            drawn.append(_bar(bar, at))
            at += 30
        at += 14
    return "".join(drawn), at - y


_BAR_LEFT: Final = 560
_BAR_WIDTH: Final = 380


def _bar(bar: Bar, y: float) -> str:
    color = _RED if bar.row.is_invalid else MUTED if bar.remark else ACCENT
    share = "" if bar.row.share is None else f"{percent(bar.row.share)} of its ceiling"
    words = ", ".join(filter(None, [bar.value, format_known(bar.row), share, bar.remark]))
    return (
        f"{text_at(textwrap.shorten(one_line(bar.label), 64, placeholder=' ...'), MARGIN, y + 16, 16, INK)}"
        f'<rect x="{_BAR_LEFT}" y="{y + 2:.0f}" width="{_BAR_WIDTH}" height="17" fill="{_PALE}"/>'
        f'<rect x="{_BAR_LEFT}" y="{y + 2:.0f}" width="{_BAR_WIDTH * bar.length:.1f}" height="17" fill="{color}"/>'
        f"{text_at(words, _BAR_LEFT + _BAR_WIDTH + 14, y + 16, 16, INK)}"
    )


def _row(vessels: Sequence[Vessel], y: float) -> tuple[str, float]:
    """Draw the vessels side by side with their words; return the drawing and its height."""
    if not vessels:
        return "", 0.0
    step = (WIDTH - 2 * MARGIN) / max(len(vessels), 4)
    drawn: list[str] = []
    height = 0.0
    for index, vessel in enumerate(vessels):
        x = MARGIN + step * index
        texts = list(_words(vessel, x + step / 2, y + 184, step))
        scale = 1.35
        place = f'transform="translate({x + step / 2 - 50 * scale:.1f} {y:.1f}) scale({scale})"'
        drawn.append(f"<g {place}>{_drawing(vessel, ON_PAPER)}</g>{''.join(text for text, _ in texts)}")
        height = max(height, 184 + texts[-1][1])
    return "".join(drawn), height


def _words(vessel: Vessel, x: float, y: float, width: float) -> Iterator[tuple[str, float]]:
    """Yield part, value, interval, ceiling and ``what`` below a vessel, each with how far below ``y`` it stands."""
    most = max(int(width / 7.4), 12)
    lines = [(vessel.title, 17, INK, 700), (vessel.value, 20, INK, 700)]
    known = vessel.interval if vessel.interval and not vessel.is_disturbed else vessel.interval_kind
    lines += [(text, 13, MUTED, 400) for text in textwrap.wrap(known, most)[:2]]
    below = vessel.kind or f"no ceiling: {vessel.advice}"
    lines += [(text, 13, MUTED, 400) for text in textwrap.wrap(below, most)[:4]]
    lines += [(text, 13, MUTED, 400) for text in textwrap.wrap(one_line(vessel.what, 80), most)[:3]]
    offset = 0.0
    for text, size, color, weight in lines:
        yield text_at(text, x, y + offset, size, color, weight, anchor="middle"), offset
        offset += size + 6


def text_at(text: str, x: float, y: float, size: float, color: str, weight: int = 400, anchor: str = "start") -> str:
    """Write text of one line; what a machine may have chosen keeps its own direction."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" fill="{color}" '
        f'text-anchor="{anchor}" direction="ltr" unicode-bidi="isolate">{escape(text)}</text>'
    )
