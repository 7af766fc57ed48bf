# SPDX-License-Identifier: Apache-2.0
"""Lines of a screen of limited width and height: text with a style, folded at words, never wider than the screen.

A number has a line: a bar of what is reached of its ceiling, the share, and the value with its interval.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.errors import one_line
from ullage.model.summary import Row, Score, Summary
from ullage.quantity import format_bounds, format_quantity, format_share, plural, significant
from ullage.reading import child
from ullage.report.data import ReportData
from ullage.report.facts import Facts, nodes_text, number_of, text_of
from ullage.report.headlines import Vessel, headlines, how_to_declare, vessels
from ullage.report.soundness import soundness
from ullage.report.verdicts import classify, headword
from ullage.report.view import make_view
from ullage.units import format_volume

WIDTH: Final = 100
_LONGEST: Final = 4000
_OF_BOX: Final = "yellow"
_MOST_OF_CAUSE: Final = 3
# A command is never folded, so that it can be copied.
_GO_ON: Final = "| Continue with: "


@dataclass(frozen=True)
class Line:
    """One row of a screen. ``style`` is rich's."""

    text: str = ""
    style: str = ""


def cut(text: str, width: int) -> str:
    """Write ``text`` on one harmless line of at most ``width`` columns; what is cut off ends in dots."""
    known = one_line(text, _LONGEST)
    return known if columns(known) <= width else _head(known, width - 3) + "..."


def _head(text: str, width: int) -> str:
    """Return the longest beginning of ``text`` of at most ``width`` columns."""
    lengths = range(len(text) + 1)
    return text[: max(0, bisect_right(lengths, width, key=lambda length: columns(text[:length])) - 1)]


def columns(text: str) -> int:
    """Return how many columns a terminal needs for ``text``: some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def folded(text: str, indent: str = "  ", first: str = "", most: int | None = None, style: str = "") -> list[Line]:
    """Fold ``text`` into rows of ``WIDTH`` columns; the first begins with ``first``, the others with ``indent``.

    Beyond ``most`` rows the last one ends in dots.
    """
    rows = wrapped(one_line(text, _LONGEST), first or indent, indent)
    if most is not None and len(rows) > most:
        rows = [*rows[: most - 1], f"{_head(rows[most - 1], WIDTH - 4).rstrip()} ..."]
    return [Line(row, style) for row in rows]


# What stands in brackets, as an interval does, is one word.
_WORD: Final = re.compile(r"\[[^\[\]]*\]\S*|\S+")


def wrapped(text: str, first: str, indent: str, width: int = WIDTH) -> list[str]:
    """Break at spaces, and within words wider than a row; ``textwrap`` takes all letters for one column wide."""
    rows, row, is_empty = list[str](), first, True
    for word in _WORD.findall(text):
        left = word
        while left:
            room = width - columns(row) - (not is_empty)
            if columns(left) <= room:
                row, is_empty, left = f"{row}{'' if is_empty else ' '}{left}", False, ""
            elif is_empty:
                head = _head(left, room)
                rows.append(row + head)
                row, left = indent, left[len(head) :]
            else:
                rows.append(row)
                row, is_empty = indent, True
    return rows if is_empty and rows else [*rows, row]


def narrowed(line: Line, width: int) -> list[Line]:
    """Fold a line into rows of ``width`` columns, where a terminal is narrower than the screen."""
    if columns(line.text) <= width or line.text.startswith(_GO_ON):
        return [line]
    inner = line.text.lstrip(" |")
    first = line.text[: len(line.text) - len(inner)]
    indent = first if "|" in first else f"{first}  "
    return [Line(row, line.style) for row in wrapped(inner, first, indent, width)]


def rows_of(text: str) -> int:
    """Return how many rows ``folded`` makes of ``text``."""
    return len(folded(text))


def total(groups: Sequence[Sequence[Line]]) -> int:
    """Count the rows of all groups, and the empty ones between them."""
    filled = [group for group in groups if group]
    return sum(map(len, filled)) + max(len(filled) - 1, 0)


def soundness_lines(data: ReportData) -> list[Line]:
    """Return the box that stands before any number of a result that may not be believed as it is; else a line."""
    found = soundness(data)
    if not found.title:
        return [row for line in found.lines for row in folded(line, "", style="dim")]
    texts = [row for line in found.lines for row in folded(line, "| ", most=_MOST_OF_CAUSE, style=_OF_BOX)]
    texts += [Line(f"{_GO_ON}{one_line(found.command, _LONGEST)}", _OF_BOX)] if found.command else []
    return [*folded(found.title, "| ", style=f"bold {_OF_BOX}"), *texts]


# The phases of IO500 that count are as many.
MOST_BARS: Final = 12
_MOST_SCORES: Final = 4
_BAR: Final = 10
_LEAST_NAME: Final = 40
_DIGITS: Final = 4
_STYLES: Final = {"invalid": "red", "sound": ""}
_EMPIRICAL: Final = "*"


@dataclass(frozen=True)
class _Number:
    """A number that has a line with a bar.

    ``name`` is what stands at the left. ``share``: of the ceiling, or None.

    ``value``: the text to show; where it is empty, the median of ``row`` is formatted.
    """

    name: str
    row: Row
    share: float | None
    value: str = ""


def bar_lines(data: ReportData) -> list[Line]:
    """Return a line for each part of the machine of a run of suites; of one suite its headlines, else its best rows.

    Below them stands how to declare the ceilings that are not known.
    """
    parts = vessels(data.summary, data.declared_by)
    found = _numbers(data.summary, parts)
    shown = _number_lines(found[:MOST_BARS])
    if len(found) > MOST_BARS:
        shown.append(Line(f"  {len(found) - MOST_BARS} more numbers: --all", "dim"))
    known = [number.row for number in found[:MOST_BARS] if number.row.low is not None]
    forms = ["[a, b] is the 95 % interval of the median"] if any(not row.has_range for row in known) else []
    forms += ["a to b is the range of too few repetitions"] if any(row.has_range for row in known) else []
    shown += [Line(f"  {', '.join(forms)}", "dim")] if forms else []
    if any(map(_is_empirical, found[:MOST_BARS])):
        shown.append(Line(f"  {_EMPIRICAL} of the best that anything reached here: no other ceiling is known", "dim"))
    if how := how_to_declare(parts):
        shown += folded(how.replace("`", ""), "  ", "  To declare a ceiling: ", style="dim")
    return shown


def score_lines(summary: Summary) -> list[Line]:
    """Return the totals, without the parts they are made of; those that do not count say why."""
    return [_score(score) for score in _totals(summary.scores)[:_MOST_SCORES]]


def _totals(scores: Sequence[Score]) -> list[Score]:
    """Return the scores that are no part of a total.

    A part is named after its total, or has its subject, as ``W' of 4 processes`` has that of a total before it.
    """
    totals: list[Score] = []
    subjects: set[str] = set()
    for score in scores:
        subject = score.name.partition(" of ")[2]
        is_part = subject in subjects or any(score.name.startswith(f"{total.name} ") for total in totals)
        if not is_part:
            totals.append(score)
        if subject:
            subjects.add(subject)
    return totals


def _score(score: Score) -> Line:
    value = f"{significant(score.value, _DIGITS)} {score.unit}".strip()
    if score.valid:
        return Line(cut(f"{score.name}: {value}", WIDTH), "bold")
    said = ": not valid as a result" if score.look else " does not count"
    return Line(cut(f"{score.name}{said}: {value} ({'; '.join(score.reasons)})", WIDTH), "dim")


def _numbers(summary: Summary, parts: Sequence[Vessel]) -> list[_Number]:
    if summary.parts:
        return [_Number(f"{one.part}: {one.what}", one.row, one.share, one.value) for one in parts]
    lines = [(line.what, summary.rows[line.row]) for line in headlines(summary.rows, summary.suites)]
    if not lines:
        panels = make_view(summary).main
        lines = [(panel.title, panel.best) for panel in panels if panel.best is not None]
    return [_Number(what, row, row.share) for what, row in lines]


def _number_lines(numbers: Sequence[_Number]) -> list[Line]:
    """Return a line for each; the names get what the values leave of the width. No bar is drawn where all lack one."""
    has_bars = any(number.share is not None for number in numbers)
    tails = [_tail(number, has_bars=has_bars) for number in numbers]
    longest = max((columns(number.name) for number in numbers), default=0)
    left = WIDTH - max(map(columns, tails), default=0) - 1
    width = max(min(longest, left), _LEAST_NAME)
    lines = [_line(number, tail, width) for number, tail in zip(numbers, tails, strict=True)]
    if numbers and not has_bars:
        lines.append(Line("  no ceiling is known for these numbers", "dim"))
    return lines


def _line(number: _Number, tail: str, width: int) -> Line:
    name = cut(number.name, width)
    padded = name + " " * (width - columns(name))
    return Line(cut(f"{padded} {tail}", WIDTH), _STYLES.get(classify(number.row).name, "yellow"))


def _tail(number: _Number, *, has_bars: bool) -> str:
    """Write what follows the name: bar, share, value with its interval, and what is to be known of the row."""
    row = number.row
    mark = _EMPIRICAL if _is_empirical(number) else " "
    value = number.value or format_quantity(row.median, row.unit)
    # An interval in another unit than its value would be misread.
    known = f"{value} {format_bounds(row)}".rstrip() if value == format_quantity(row.median, row.unit) else value
    said = "" if classify(row).name == "sound" else f"  {headword(row)}"
    said += "  grade C" if row.grade == "C" else ""
    share = "" if number.share is None else format_share(number.share)
    drawn = f"{bar(number.share)} {share:>5}{mark} " if has_bars else ""
    return f"{drawn}{known}{said}"


def _is_empirical(number: _Number) -> bool:
    ceiling = number.row.ceiling
    return number.share is not None and ceiling is not None and ceiling.kind == "empirical"


def bar(share: float | None) -> str:
    """Draw what is reached as ``[######....]``; where no ceiling is known, say so."""
    if share is None:
        return f"[{'no ceiling':^{_BAR}}]"
    filled = min(max(round(share * _BAR), 0), _BAR)
    return f"[{'#' * filled}{'.' * (_BAR - filled)}]"


_UNKNOWN: Final = "machine unknown"


def machine_lines(summary: Summary) -> list[Line]:
    """Return two lines; of a result that came without facts, as an imported one does, one that says so."""
    system = summary.system
    if not system:
        return [Line(f"{_UNKNOWN}: this result came without facts of a machine", "dim")]
    size = number_of(child(system, "memory"), "total_bytes")
    memory = [] if size is None else [f"{format_volume(int(size))} of memory"]
    first = ", ".join(filter(None, [nodes_text(system), *_processor(child(system, "cpu"), summary), *memory]))
    library = summary.versions.get("mpi") or text_of(child(system, "mpi"), "library")
    second = "; ".join([*_places(system), *([library.partition(",")[0]] if library else [])])
    return [Line(cut(text, WIDTH)) for text in (first or _UNKNOWN, second) if text]


def _processor(cpu: Facts, summary: Summary) -> Iterator[str]:
    if model := text_of(cpu, "model"):
        yield model
    cores = number_of(cpu, "usable_cores") or number_of(cpu, "physical_cores")
    if cores is not None:
        yield plural(int(cores), "core")
    measured = [row.median for row in summary.rows if row.metric == "clock" and row.unit == "Hz"]
    base = number_of(cpu, "base_hz")
    if measured:
        yield f"{format_quantity(max(measured), 'Hz')} measured"
    elif base:
        yield format_quantity(base, "Hz")
    else:
        yield "clock unknown"


def _places(system: Facts) -> Iterator[str]:
    places = system.get("places")
    for place in cast("list[object]", places) if isinstance(places, list) else []:
        if isinstance(place, dict):
            yield _place(cast("dict[str, object]", place))


def _place(place: Facts) -> str:
    """Write ``disk: ext4 on vda``, with the device where there is one."""
    device = child(place, "device")
    on = text_of(device, "model") or text_of(device, "name") or text_of(place, "source")
    kind = text_of(place, "file_system") or "file system unknown"
    return f"{text_of(place, 'target')}: {kind}{f' on {on}' if on and on != kind else ''}"
