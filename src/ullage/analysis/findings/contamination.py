# SPDX-License-Identifier: Apache-2.0
"""How far the numbers of a run were disturbed by others, said once and before all else, for every suite alike."""

from collections.abc import Sequence

from ullage.analysis.findings.words import columns
from ullage.analysis.verdicts.threads import MOST_OF_EACH
from ullage.model.flags import ABOVE_THREADS
from ullage.model.summary import Finding, Row
from ullage.quantity import plural

KIND = "contamination"


def contamination_findings(rows: Sequence[Row]) -> list[Finding]:
    """What nothing is concluded from, and what is not known to be clean."""
    return [*_dirty(rows), *_unknown(rows), *_above_threads(rows)]


def _dirty(rows: Sequence[Row]) -> list[Finding]:
    dirty = sum(row.grade == "C" for row in rows)
    if not dirty:
        return []
    text = (
        f"{dirty} of {plural(len(rows), 'number')} {_were(dirty)} taken while others used this machine (grade C): "
        "nothing is concluded from them. Run again when it is idle."
    )
    severity = "warning" if 2 * dirty > len(rows) else "info"
    return [Finding(kind=KIND, text=text, severity=severity, numbers=columns(dirty=dirty, rows=len(rows)))]


def _unknown(rows: Sequence[Row]) -> list[Finding]:
    unknown = sum(row.grade == "?" for row in rows)
    if not unknown:
        return []
    text = (
        f"{unknown} of {plural(len(rows), 'number')} {_were(unknown)} too short for the kernel's accounts: whether "
        "others used this machine meanwhile is not known (grade ?). What noise there was is in their intervals."
    )
    return [Finding(kind="contamination-unknown", text=text, numbers=columns(unknown=unknown, rows=len(rows)))]


def _above_threads(rows: Sequence[Row]) -> list[Finding]:
    above = sum(row.has_flag(ABOVE_THREADS) for row in rows)
    if not above:
        return []
    text = (
        f"{plural(above, 'rate')} of several threads {_were(above)} more than {MOST_OF_EACH} x threads x one thread's: "
        "one of the two was disturbed, or more caches explain it. Nothing is concluded from them."
    )
    return [Finding(kind=ABOVE_THREADS, text=text, numbers=columns(rows=above))]


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
