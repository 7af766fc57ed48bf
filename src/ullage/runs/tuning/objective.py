# SPDX-License-Identifier: Apache-2.0
"""Objectives and rules in people's words, and what a trial's rows and scores say of them."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Final, Literal, TypeAlias

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.summary import Row, Summary
from ullage.model.tuning import TuneObjective
from ullage.results.folder import ResultFolder
from ullage.results.rows import build_rows
from ullage.runs.summary import row_context

Better: TypeAlias = Literal["more", "less"]
_RULE: Final = re.compile(
    r"(?P<words>.+?)\s*(?P<sign>>=|<=)\s*(?P<number>[0-9.]+(?:e[+-]?[0-9]+)?)(?P<times>x?)", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\s_]+")
# People call some metrics by these names; the metrics have others.
_CALLED: Final = {"total": "io500", "iops": "operation rate", "rate": "operation rate"}
# This word stands for a metric also beside others, as in ``write cost``.
_COST: Final = "cost"
_CPU_TIME: Final = frozenset({"cpu", "time"})
_MOST_SHOWN: Final = 12
# The metric: user and system time of all ranks over the operations of a phase, in s/op.
_CPU_TIME_METRIC: Final = "cpu_time"


@dataclass(frozen=True)
class ObjectiveValue:
    """The value of an objective in one trial: the geometric mean of its rows."""

    value: float
    objective: TuneObjective


@dataclass(frozen=True)
class Rule:
    """A rule that a setting must keep.

    ``metric``, as people name it, must not fall below (``>=``) or rise above (``<=``) ``number``. That is times the
    default's where ``times``.
    """

    text: str
    metric: str
    at_least: bool
    number: float
    times: bool

    def breaks(self, value: float) -> bool:
        """Tell whether ``value``, as a multiple of the default's where ``times``, breaks the rule."""
        return value < self.number if self.at_least else value > self.number


def read_rule(text: str) -> Rule:
    """Read ``WORDS>=0.9x`` or ``WORDS<=0.002``; raise ``UserError`` for anything else."""
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise UserError("not a rule", f"--keep '{text}'", "write 'read bandwidth>=0.9x' or 'latency p99<=0.002'")
    try:
        number = float(match["number"])
    except ValueError:
        number = 0.0
    if number <= 0:
        raise UserError("is no number above 0", f"--keep '{text}'", "write 'read bandwidth>=0.9x'")
    return Rule(text, match["words"], match["sign"] == ">=", number, bool(match["times"]))


def read_value(words: str, summary: Summary) -> ObjectiveValue:
    """Read what ``words`` name in ``summary``; raise ``UserError`` where that is nothing, or no speed."""
    wanted = wanted_tokens(words)
    scores = [score for score in summary.scores if wanted <= tokens(score.name)]
    if scores:
        score = min(scores, key=lambda score: len(tokens(score.name)))
        # One that is not valid by its list's rules counts, too: short trials never are valid.
        if score.value <= 0:
            raise UserError(f"score '{score.name}' is 0", "", "; ".join(score.reasons))
        named = TuneObjective(name=words, metric=score.name, unit=score.unit, better="more", rows=1)
        return ObjectiveValue(score.value, named)
    rows = rows_of(words, summary)
    if not rows:
        raise UserError("names nothing that a trial has measured", f"'{words}'", _known(summary))
    void = next((row for row in rows if row.is_invalid), None)
    if void is not None:
        reasons = "; ".join(void.reasons) or ", ".join(void.flag_codes)
        raise UserError(f"a row of '{words}' is no speed: {reasons}", code=EXIT_BAD_INPUT)
    if any(row.median <= 0 for row in rows):
        raise UserError(f"a row of '{words}' is 0, which cannot be compared")
    first = rows[0]
    value = math.exp(fmean(math.log(row.median) for row in rows))
    named = TuneObjective(name=words, metric=first.metric, unit=first.unit, better=first.better, rows=len(rows))
    return ObjectiveValue(value, named)


def rows_of(words: str, summary: Summary) -> list[Row]:
    """Return the rows that ``words`` name; none where these name a score or nothing."""
    wanted = wanted_tokens(words)
    rows = [row for row in summary.rows if wanted <= _tokens_of(row) and not row.is_bound]
    # "bandwidth" is not "stonewall bandwidth": of several metrics that has the fewest words besides.
    metric = min({row.metric for row in rows}, key=lambda name: (len(tokens(name) - wanted), name), default="")
    return [row for row in rows if row.metric == metric]


def is_cost(words: str) -> bool:
    """Tell whether ``words`` name the processor time of an operation."""
    return wanted_tokens(words) >= _CPU_TIME


def wanted_tokens(words: str) -> set[str]:
    """Return the words that name a metric, with those for which they stand."""
    found = tokens(_CALLED.get(words.strip().lower(), words))
    return (found - {_COST}) | _CPU_TIME if _COST in found else found


def toward_more(value: float, better: Better) -> float:
    """Return the logarithm of ``value``, turned so that more is better."""
    return math.log(value) if better == "more" else -math.log(value)


def tokens(text: str) -> set[str]:
    """Return the words of ``text`` in small letters."""
    return {word.lower() for word in _WORD.findall(text)}


def _tokens_of(row: Row) -> set[str]:
    texts: Iterable[str] = [row.metric, row.target, *(str(value) for value in row.params.values())]
    return {token for text in texts for token in (*tokens(text), text.lower())}


def _known(summary: Summary) -> str:
    rows = {
        f"{row.params.get('access', row.params.get('phase', ''))} {row.metric.replace('_', ' ')}"
        for row in summary.rows
    }
    names = sorted({name.strip() for name in rows} | {score.name for score in summary.scores})
    more = ", ..." if len(names) > _MOST_SHOWN else ""
    return f"name one of: {', '.join(names[:_MOST_SHOWN])}{more}" if names else "the trial has no row"


def medians(rows: Sequence[Row]) -> dict[str, float]:
    """Return the medians above 0 of rows that count, by what the row is of: its metric, access and target.

    Several of one name give their geometric mean.
    """
    found: dict[str, list[float]] = {}
    for row in rows:
        if not row.is_invalid and row.median > 0:
            phase = str(row.params.get("phase", row.params.get("access", "")))
            found.setdefault(f"{phase} {row.metric.replace('_', ' ')}".strip(), []).append(row.median)
    return {name: math.exp(fmean(map(math.log, values))) for name, values in found.items()}


def failure_of(result: ResultFolder) -> str:
    """Return what is known of the first case that failed, or nothing.

    A case that fails before its first phase has an event, for example where the library refuses a hint.
    """
    files = result.read_records()
    failed = [failure for file in files for phase in file.phases for failure in phase.failures]
    if failed:
        return f"{failed[0].operation} failed: {failed[0].text}"
    return next((event.text for file in files for event in file.events if event.code == "case-failed"), "")


def lacking_in(result: ResultFolder) -> str:
    """Say how many cases lack a number, if any: a mean over some cases is not to be compared with one over all."""
    planned = {case.id for number in result.launches() for case in result.read_plan(number).cases}
    phases = [phase for file in result.read_records() for phase in file.phases]
    lacking = planned - {phase.case for phase in phases if phase.status == "ok" and not phase.warmup}
    if not lacking:
        return ""
    return f"its time was too short for {len(lacking)} of {len(planned)} cases: give a trial more --time"


def with_cost(summary: Summary, result: ResultFolder) -> Summary:
    """Return ``summary`` with a row of the processor time an operation takes, for each phase that states it.

    A summary that has such rows stays as it is.
    """
    if any(row.metric == _CPU_TIME_METRIC for row in summary.rows):
        return summary
    context = replace(row_context(result.read_request(), result.read_system()), metrics=(_CPU_TIME_METRIC,))
    found = build_rows([file.records for file in result.read_records()], context)
    rows = [row.model_copy(update={"suite": summary.suite}) for row in found if row.repetitions]
    return summary.model_copy(update={"rows": [*summary.rows, *rows]})
