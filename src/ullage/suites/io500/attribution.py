# SPDX-License-Identifier: Apache-2.0
"""Which phases moved the score from one run to another, by the rows of both. Pure."""

from collections.abc import Iterable, Sequence
from typing import Final

from ullage.analysis.attribution import Attribution, runs_by
from ullage.analysis.verdicts.grades import is_sound
from ullage.model.summary import Row
from ullage.suites.io500.phases import BY_NAME
from ullage.suites.io500.score import movers, score
from ullage.suites.io500.validity import contradictions, doubted


def attributed(first: Sequence[Row], second: Sequence[Row], names: tuple[str, str]) -> list[Attribution]:
    """Divide the change of the score among the phases, in official order; nothing where one run has no score.

    Phases that were disturbed or contradict others in either are in doubt. Of several targets each is compared with
    that of its name.
    """
    found: list[Attribution] = []
    for label, one, other in runs_by(lambda row: row.target, _rows(first), _rows(second)):
        values, others = values_of(one), values_of(other)
        total, of_other = score(values).total, score(others).total
        if total and of_other:
            unsure = {row.word("phase") for row in (*one, *other) if not is_sound(row)}
            unsure |= _contradicted(first, one) | _contradicted(second, other)
            changed = movers(values, others, doubted=unsure)
            found.append(Attribution(f"IO500{label}", "", *names, total, of_other, changed))
    return found


def values_of(rows: Iterable[Row]) -> dict[str, float]:
    """Return the values of one run by official name."""
    return {row.word("phase"): row.median for row in rows}


def _rows(rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if (phase := BY_NAME.get(row.word("phase"))) is not None and row.metric == phase.metric]


def _contradicted(rows: Iterable[Row], of_run: Sequence[Row]) -> frozenset[str]:
    """Return the phases of an imported run whose rates and times cannot all be right."""
    values, target = values_of(of_run), of_run[0].target
    times = {row.word("phase"): row.median for row in rows if row.metric == "phase_time" and row.target == target}
    return doubted(contradictions({name: (values[name], times[name]) for name in values if name in times}))


ATTRIBUTION: Final = attributed
