# SPDX-License-Identifier: Apache-2.0
"""In one line: what was not measured, what does not count, and what numbers of this run may not be compared with."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from ullage.model.summary import Summary
from ullage.quantity import listing, plural
from ullage.results.event_titles import title_of

_MOST_CODES: Final = 3


def caution(summary: Summary) -> str:
    """Empty where all was measured, all counts, and the run had no warning."""
    return "; ".join(_clauses(summary))


def _clauses(summary: Summary) -> Iterator[str]:
    if not summary.rows:
        yield "no number was measured"
    missing = [f"{part.suite} ({part.status})" for part in summary.parts if part.status != "complete"]
    if missing:
        yield f"not measured whole: {listing(missing)}"
    if invalid := sum(row.is_invalid for row in summary.rows):
        yield f"{plural(invalid, 'number')} INVALID"
    dirty, unknown = (sum(row.grade == grade for row in summary.rows) for grade in ("C", "?"))
    count = len(summary.rows)
    if dirty:
        yield f"{dirty:,} of {plural(count, 'number')} disturbed by other programs (grade C), no finding rests on them"
    if unknown:
        yield f"{unknown:,} for which other load is not known (grade ?)"
    single = sum(row.low is None for row in summary.rows)
    if single:
        yield f"{single:,} of one sample, without an interval"
    codes = Counter(event.kind for event in summary.events if event.severity == "warning")
    if codes:
        yield f"warnings of the run: {listing([_lowered(title_of(code)) for code in codes], _MOST_CODES)}"


def _lowered(title: str) -> str:
    """A title within a sentence; names and abbreviations keep their letters."""
    return title[:1].lower() + title[1:] if title[1:2].islower() or title[1:2] == " " else title
