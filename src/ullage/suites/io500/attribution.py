# SPDX-License-Identifier: Apache-2.0
"""Which phases moved the score from one result to another, by the rows of both. Pure."""

from collections.abc import Iterable, Sequence

from ullage.analysis.verdicts.grades import is_sound
from ullage.model.summary import Row
from ullage.suites.io500.phases import BY_NAME
from ullage.suites.io500.score import score
from ullage.suites.io500.summarise import change_finding


def attributed(first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]) -> list[str]:
    """Say in one sentence which phases moved the score; say nothing where one of the two has no score.

    Phases that were disturbed in either are in doubt.
    """
    one, other = values_of(first), values_of(second)
    if score(one).total is None or score(other).total is None:
        return []
    doubted = {str(row.params["phase"]) for row in (*_rows(first), *_rows(second)) if not is_sound(row)}
    return [change_finding(one, other, names, doubted=doubted).text]


def values_of(rows: Iterable[Row]) -> dict[str, float]:
    """Return the values by official name; none for several targets, as none of these is the result's."""
    found = _rows(rows)
    if len({row.target for row in found}) > 1:
        return {}
    return {str(row.params["phase"]): row.median for row in found}


def _rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that hold the value of a phase."""
    return [
        row
        for row in rows
        if (phase := BY_NAME.get(str(row.params.get("phase", "")))) is not None and row.metric == phase.metric
    ]
