# SPDX-License-Identifier: Apache-2.0
"""How far the numbers of a run were disturbed by others, said once and before all else, for every suite alike."""

from collections.abc import Sequence

from ullage.analysis.findings.phrasing import columns
from ullage.analysis.verdicts.physics import MOST_OF_EACH
from ullage.model.flags import ABOVE_THREADS
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import plural

KIND = "contamination"
UNKNOWN = "contamination-unknown"


def contamination_findings(rows: Sequence[Row]) -> list[Finding]:
    """Tell of rows on which no finding rests, and of rows that are not known to be undisturbed."""
    return [*_dirty(rows), *_unknown(rows), *_above_threads(rows)]


def _dirty(rows: Sequence[Row]) -> list[Finding]:
    dirty = sum(row.grade == "C" for row in rows)
    return [_of_dirty(dirty, len(rows))] if dirty else []


def _of_dirty(dirty: int, rows: int) -> Finding:
    text = (
        f"Other programs used this machine while {dirty:,} of {plural(rows, 'number')} {_were(dirty)} measured "
        f"(grade C). No finding rests on {_them(dirty)}. Run again when the machine is idle."
    )
    title = "Other programs disturbed the measurement"
    severity = "warning" if 2 * dirty > rows else "info"
    return Finding(kind=KIND, title=title, text=text, severity=severity, numbers=columns(dirty=dirty, rows=rows))


def _unknown(rows: Sequence[Row]) -> list[Finding]:
    unknown = sum(row.grade == "?" for row in rows)
    return [_of_unknown(unknown, len(rows))] if unknown else []


def _of_unknown(unknown: int, rows: int) -> Finding:
    text = (
        f"For {unknown:,} of {plural(rows, 'number')} it is not known whether other programs used the machine "
        "(grade ?). The phases were too short for the kernel's CPU accounts, or these could not be read. Longer phases "
        "tell more."
    )
    title = "Other load is not known for some numbers"
    return Finding(kind=UNKNOWN, title=title, text=text, numbers=columns(unknown=unknown, rows=rows))


def said_once(findings: Sequence[Finding], rows: Sequence[Row]) -> list[Finding]:
    """Say how many of all ``rows`` of a run of suites were disturbed, or may be, in place of each suite's own count.

    A suite that measures others has no such finding: its disturbed rows are not left out.
    """
    dirty = sum(count_of(one.numbers, "dirty") for one in findings if one.kind == KIND)
    whole = {UNKNOWN: _unknown(rows), KIND: [_of_dirty(dirty, len(rows))] if dirty else []}
    first = {one.kind: index for index, one in reversed([*enumerate(findings)]) if one.kind in whole}
    return [
        said
        for index, one in enumerate(findings)
        for said in (whole[one.kind] if first.get(one.kind) == index else [one] if one.kind not in whole else [])
    ]


def _above_threads(rows: Sequence[Row]) -> list[Finding]:
    above = sum(row.has_flag(ABOVE_THREADS) for row in rows)
    if not above:
        return []
    text = (
        f"{plural(above, 'rate')} of several threads {_were(above)} more than {MOST_OF_EACH} x threads x the rate of "
        "one thread. Other load during one of the two, or more cache, can explain it. No finding rests on "
        f"{_them(above)}."
    )
    title = "Some rates exceed what their threads can do"
    return [Finding(kind=ABOVE_THREADS, title=title, text=text, numbers=columns(rows=above))]


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
