# SPDX-License-Identifier: Apache-2.0
"""The page on paper: the first screen, then the answer and the charts of each part, drawn, as one long sheet."""

import re
import textwrap
from collections.abc import Sequence
from typing import Final

from ullage.errors import one_line
from ullage.report.answers import answers
from ullage.report.contents import Chart, Figure, load_charts
from ullage.report.data import ReportData
from ullage.report.first_screen import front_of
from ullage.report.picture import MARGIN, WIDTH, front_svg, text_at
from ullage.report.tabs import TITLES, Parts
from ullage.report.vega import INK, MUTED, to_svg, with_config

# A sheet has at most 14,400 points, and charts of one kind tell less and less.
_MOST_CHARTS: Final = 24
_COLUMN: Final = (WIDTH - 2 * MARGIN) / 2
_WIDER: Final = 1.35
_ROOT: Final = re.compile(r'<svg [^>]*?width="([\d.]+)"[^>]*?height="([\d.]+)"[^>]*>')
_MOST_LINES: Final = 6


def printed_svg(data: ReportData) -> str:
    """Draw the first screen with answers and charts below it."""
    front, vessels = front_of(data)
    return front_svg(front, vessels, lambda y: _parts(data, y))


def _parts(data: ReportData, y: float) -> tuple[str, float]:
    parts, drawn, at = Parts(data.summary), list[str](), y
    figures = [(parts.of(chart), chart, chart.build(data)) for chart in load_charts(data.summary.suites)]
    said = [(parts.of_suite(answer.suite), answer) for answer in answers(data.summary)]
    left = _MOST_CHARTS
    for part, title in TITLES.items():
        of_part = [(chart, one) for name, chart, found in figures if name == part for one in found]
        lines = [line for name, answer in said if name == part for line in answer.lines][:_MOST_LINES]
        if not of_part[:left] and not lines:
            continue
        drawn.append(text_at(title, MARGIN, at + 40, 24, INK, 700))
        at += 54
        for text in [row for line in lines for row in textwrap.wrap(one_line(line, 600), 150)]:
            drawn.append(text_at(text, MARGIN, at + 18, 16, INK))
            at += 24
        svg, height = _figures(of_part[:left], at + 12, len(drawn))
        left -= min(left, len(of_part))
        drawn.append(svg)
        at += height + 24
    return "".join(drawn), at - y


def _figures(figures: Sequence[tuple[Chart, Figure]], y: float, first: int) -> tuple[str, float]:
    drawn, at = list[str](), y
    for start in range(0, len(figures), 2):
        row = [
            _figure(chart, figure, MARGIN + column * _COLUMN, at, f"f{first}-{start + column}-")
            for column, (chart, figure) in enumerate(figures[start : start + 2])
        ]
        drawn += [svg for svg, _ in row]
        at += max(height for _, height in row) + 18
    return "".join(drawn), at - y


def _figure(chart: Chart, figure: Figure, x: float, y: float, prefix: str) -> tuple[str, float]:
    """Draw one figure under its title and caption; ``prefix`` keeps the ids of different drawings apart."""
    heading = textwrap.wrap(one_line(f"{chart.title}: {figure.title}", 140), 70)[:2]
    words = textwrap.wrap(one_line(figure.caption, 400), 92)[:4]
    lines = [text_at(text, x, y + 18 + 20 * at, 15, INK, 700) for at, text in enumerate(heading)]
    top = y + 20 * len(heading) + 4
    lines += [text_at(text, x, top + 15 + 17 * at, 12.5, MUTED) for at, text in enumerate(words)]
    top += 17 * len(words) + 10
    if not figure.spec:
        return "".join(lines), top - y
    svg = to_svg(with_config(figure.spec, "", ""))
    root = _ROOT.search(svg)
    if root is None:
        return "".join(lines), top - y
    width, height = float(root[1]), float(root[2])
    scale = min(_WIDER, (_COLUMN - 30) / width)
    inner = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}", svg[root.end() :])
    place = f'x="{x:.0f}" y="{top:.0f}" width="{width * scale:.0f}" height="{height * scale:.0f}"'
    lines.append(f'<svg {place} viewBox="0 0 {width:g} {height:g}">{inner}')
    return "".join(lines), top - y + height * scale
