# SPDX-License-Identifier: Apache-2.0
"""Sentences on FLASH files: collective against independent transfers, and HDF5 against a plain file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.findings.alike import best_of_alike
from ullage.analysis.findings.phrasing import capital, finding, level_of_part, noun, with_gain
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_quantity, plural, times

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

_FAMILIES: Final = 2
_METRIC: Final = "bandwidth"
_QUESTIONS: Final[Mapping[str, str]] = {"transfers": "flash-access", "format": "flash-format"}


def findings_of(rows: Iterable[Row], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones. Each question has its part of the error of a report."""
    walls = [row for row in rows if row.metric == _METRIC and not row.is_invalid]
    own = level_of_part(level, _FAMILIES)
    return [found for name in _QUESTIONS for found in _question(walls, name, own)]


def _question(rows: Sequence[Row], asked: str, level: float) -> list[Finding]:
    """Compare rows that differ in ``asked`` alone (and in the backend, which goes with the format)."""
    alike = best_of_alike(rows, level, *((asked, "backend") if asked == "format" else (asked,)))
    return [_compared(some[0], some[1], asked, gain) for some, gain in alike]


def _compared(best: Row, other: Row, asked: str, gain: Gain | None) -> Finding:
    kind = _QUESTIONS[asked]
    words: dict[str, Scalar] = {"case": best.case, "other": other.case, "access": best.params["access"]}
    way, another, what = _way(best, asked), _way(other, asked), _what(best, asked)
    text = (
        f"With {plural(int(best.params['ranks']), 'rank')} ({best.target}, {what}), {way} reach "
        f"{format_quantity(best.median, 'B/s')}, and {another} reach {format_quantity(other.median, 'B/s')}."
    )
    if gain is None:
        title = f"{best.target}: no gain of {way} is shown ({what})"
        return finding(kind, title, f"{text} Which is faster cannot be told.", **words)
    title = f"{best.target}: {what} are faster with {way}"
    change = f"--access {best.params[asked]}" if asked == "transfers" else f"--format {best.params[asked]}"
    text += f" {capital(way)} reach {times(gain.factor)} the rate of {another}."
    return with_gain(finding(kind, title, text, "advice", **words), gain, change)


def _what(row: Row, asked: str) -> str:
    """Name what is the same in both rows: ``collective checkpoint writes of 8^3 cells``."""
    other = row.params["format" if asked == "transfers" else "transfers"]
    return f"{other} {row.params['file']} {noun(str(row.params['access']))} of {row.params['cells']}^3 cells"


def _way(row: Row, asked: str) -> str:
    return f"{row.params['transfers']} transfers" if asked == "transfers" else f"{row.params['format']} files"
