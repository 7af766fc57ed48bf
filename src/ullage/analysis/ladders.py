# SPDX-License-Identifier: Apache-2.0
"""Where the rest goes: from the ceiling of a row down to its value, by rungs that were measured. Pure.

A rung is the same work with one thing changed. A suite's ``report`` sets ``LADDERS``, a tuple of ``LadderRule``. All
rungs of a summary are judged together (Holm); docs/statistics.md has how often equal things are told apart.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES
from ullage.analysis.contests import contest_of, launches_of, spread_of
from ullage.analysis.statistics.comparison import Comparison, Contest, compare_all
from ullage.analysis.statistics.dependence import pooled_dependence
from ullage.analysis.statistics.spread import pooled_spread
from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped
from ullage.model.summary import Ladder, Row, Rung
from ullage.quantity import percent

LEVEL: Final = 0.95
NOT_EXPLAINED: Final = "not explained"
VARIATION: Final = "variation"
"""The kind of the rung from the best repetition of a row, where that is its ceiling, to the median."""
_VARIES: Final = "The repetitions vary: the ceiling is the best of these {}, and the number is their median"

Picks: TypeAlias = Callable[[Row, Row], bool]
"""Tells of a known row and another whether the other is the one that is looked for."""
Words: TypeAlias = str | Callable[[Row, Row], str]
"""A text, or what makes it of the two rows of a step, that of the ceiling's side first."""


def itself(line: Row, row: Row) -> bool:
    """Tell whether ``row`` is the row of the ladder."""
    return row is line


def alike_but(row: Row, other: Row, *names: str) -> bool:
    """Tell whether ``other`` is the same work as ``row`` with other values of all parameters ``names``."""
    kept = [{key: value for key, value in one.params.items() if key not in names} for one in (row, other)]
    same = (row.suite, row.target, row.metric) == (other.suite, other.target, other.metric) and kept[0] == kept[1]
    return same and all(row.params.get(name) != other.params.get(name) for name in names)


def the_ceiling(_below: Row, _row: Row) -> bool:
    """Stand for the ceiling of the ladder, in the place of a row above: ``Step.above`` alone knows it."""
    return False


def as_much(_above: Row, _below: Row) -> float:
    """Say that a change without a cost leaves the number as it is."""
    return 1.0


@dataclass(frozen=True)
class Step:
    """One change of the same work: from the row of the ceiling's side to that of the value's side.

    ``below``: picks the row of the value's side, given the row of the ladder. ``above``: picks that of the ceiling's
    side, given the row of the value's side; None where the row below is itself the share that is left, or, where less
    of it is better, that is lost. Of several rows the best is taken. ``expects``: how many times the upper number the
    lower one would be without a cost (2 for twice the threads). ``follows``: it goes on from where the steps below it
    that do so have come to, in the place of the row of the ladder, so that their factors make one way.

    ``may_rank``: it is a change of the user's machine or program, and no option of our own test. ``of_others``: it is
    the disturbance itself that is measured, so disturbed rows count.
    """

    kind: str
    what: Words
    above: Picks | None
    below: Picks = itself
    advice: Words = ""
    command: Words = ""
    may_rank: bool = False
    expects: Callable[[Row, Row], float] = as_much
    of_others: bool = False
    follows: bool = False


@dataclass(frozen=True)
class LadderRule:
    """The steps from the ceiling down to the value of rows that stand for ``part`` (``cores``, ``disk writes``).

    ``stands``: for which of these rows the steps are meant; of the rules of a part the first that fits is taken.
    """

    part: str
    steps: Sequence[Step]
    stands: Callable[[Row], bool] = lambda _row: True


def _of_case(metric: str) -> Picks:
    return lambda line, row: row.metric == metric and row.case == line.case and row.suite == line.suite


WAITED: Final = "waited_share"
STOLEN: Final = "stolen_share"
TAKEN_BY_OTHERS: Final = (
    Step(
        "waited",
        lambda _, row: f"Threads waited for a CPU {percent(row.median)} of the time",
        None,
        _of_case(WAITED),
        lambda _, row: row.notes[0] if row.notes else "Stop other programs, or measure on an exclusive node.",
        may_rank=True,
        of_others=True,
    ),
    Step(
        "stolen",
        lambda _, row: f"The hypervisor gave {percent(row.median)} of the time to others",
        None,
        _of_case(STOLEN),
        "Ask for dedicated cores.",
        may_rank=True,
        of_others=True,
    ),
)
"""Steps of any row whose case has rows of these two metrics: what others took of its time."""


def why_waited(foreign: float, waited: float, quota: float | None) -> str:
    """Say why threads waited, and what to do. ``foreign``: what other programs had of the node's CPU time.

    ``quota``: CPUs' worth of time that a control group allows; None: all.
    """
    if quota is not None:
        return f"A control group allows {quota:g} CPUs' worth of time. Ask for a larger quota (cpu.max)."
    if foreign >= waited / 4:
        return f"Other programs had {percent(foreign)} of the CPUs' time. Stop them, or measure on an exclusive node."
    return "No other program was seen. Threads may share a CPU: bind each to a CPU of its own."


@dataclass(frozen=True)
class _Pair:
    """The rows of a step that were found; ``above`` is None where ``below`` states a share, or one of ``ceiling``.

    ``others``: rows that were no better than ``above``, but might have been taken.
    """

    step: Step
    above: Row | None
    below: Row
    others: Sequence[Row] = ()
    ceiling: float | None = None

    @property
    def both(self) -> tuple[Row, Row]:
        return self.above or self.below, self.below


def ladders_of(rows: Sequence[Row], lines: Iterable[tuple[str, int]], rules: Sequence[LadderRule]) -> list[Ladder]:
    """Return a ladder for each part that has a rule and a ceiling with a share.

    ``lines``: parts, and the places of the rows that stand for them. The intervals of all rungs hold together at
    ``LEVEL``, with those of all rows that might have stood in one: the best of many is an exception.
    """
    found = [
        (part, index, _pairs(rule, rows[index], rows))
        for part, index in lines
        if rows[index].share is not None and (rule := _rule(rules, part, rows[index])) is not None
    ]
    pairs = [pair for _, _, some in found for pair in some]
    rest = [replace(pair, above=other, others=()) for pair in pairs for other in pair.others]
    judged = iter(compare_all(_contests([*pairs, *rest]), LEVEL))
    places = {id(row): index for index, row in enumerate(rows)}
    ladders: list[Ladder] = []
    for part, index, some in found:
        rungs = [_rung(pair, next(judged), places) for pair in some]
        ladders.append(_ladder(part, index, rows[index], rungs))
    return ladders


def _rule(rules: Iterable[LadderRule], part: str, row: Row) -> LadderRule | None:
    return next((rule for rule in rules if rule.part == part and rule.stands(row)), None)


def _pairs(rule: LadderRule, line: Row, rows: Sequence[Row]) -> list[_Pair]:
    found: list[_Pair] = []
    at = line
    for step in reversed(rule.steps):
        pair = _pair(step, at if step.follows else line, rows, line)
        if pair is not None:
            found.insert(0, pair)
            at = pair.above if step.follows and pair.above is not None else at
    return found


def _pair(step: Step, at: Row, rows: Sequence[Row], line: Row) -> _Pair | None:
    """Return the rows of ``step``; None where one is not there, was disturbed, or has too few samples."""
    below = _best(row for row in rows if step.below(at, row) and _counts(row, step))
    if below is None:
        return None
    if step.above is the_ceiling:
        return None if line.ceiling is None else _Pair(step, None, below, ceiling=line.ceiling.value)
    if step.above is None:
        return _Pair(step, None, below)
    picks = step.above
    picked = [row for row in rows if row is not below and picks(below, row) and _counts(row, step)]
    above = _best(picked)
    return None if above is None else _Pair(step, above, below, [row for row in picked if row is not above])


def _counts(row: Row, step: Step) -> bool:
    enough = len(row.repetitions) >= FEWEST_SAMPLES and not row.is_invalid
    return enough and (step.of_others or (is_sound(row) and min(row.repetitions) > 0))


def _best(rows: Iterable[Row]) -> Row | None:
    return max(rows, key=lambda row: row.median if row.better == "more" else -row.median, default=None)


def _contests(pairs: Sequence[_Pair]) -> list[Contest]:
    spread = spread_of({id(row): row for pair in pairs for row in pair.both if min(row.repetitions) > 0}.values())
    found: list[Contest] = []
    paired = [_ratios(pair) for pair in pairs]
    dependence = pooled_dependence(one for one in paired if one is not None)
    for pair, ratios in zip(pairs, paired, strict=True):
        if ratios is not None:
            found.append(Contest(ratios, [1.0] * len(ratios), spread=pooled_spread([ratios], dependence)))
        else:
            above, below = pair.both
            expected = pair.step.expects(above, below)
            scaled = above.model_copy(update={"repetitions": [value * expected for value in above.repetitions]})
            found.append(contest_of(below, scaled, spread=spread))
    return found


_LEAST_LEFT: Final = 1e-3
"""A share of time is never told to be nothing."""


def _ratios(pair: _Pair) -> list[float] | None:
    """Return what is left in each repetition of a share, or of two rows that were measured in the same rounds.

    None for rows of different launches, whose repetitions have nothing to do with each other.
    """
    below = pair.below
    if pair.ceiling is not None:
        shares = [value / pair.ceiling for value in below.repetitions]
        return shares if below.better == "more" else [1 / share for share in shares]
    if pair.above is None:
        left = below.repetitions if below.better == "more" else [1 - value for value in below.repetitions]
        return [max(value, _LEAST_LEFT) for value in left]
    above, expected = pair.above, pair.step.expects(pair.above, below)
    if above.suite != below.suite:
        return None
    sides = [grouped(zip(launches_of(row), row.repetitions, strict=True)) for row in (above, below)]
    if sides[0].keys() != sides[1].keys():
        return None
    both = [zip(sides[0][launch], sides[1][launch], strict=False) for launch in sides[0]]
    ratios = [low / (high * expected) for some in both for high, low in some]
    if len(ratios) < FEWEST_SAMPLES:
        return None
    return ratios if below.better == "more" else [1 / ratio for ratio in ratios]


def _rung(pair: _Pair, found: Comparison, places: dict[int, int]) -> Rung:
    above, below = pair.both
    factor, low, high = found.ratio, found.low, found.high
    if pair.above is not None and _ratios(pair) is None and below.better == "less":
        factor = 1 / factor
        low, high = (None if high is None else 1 / high), (None if low is None else 1 / low)
    # The ranks have to agree with the interval; where they do not, it tells nothing.
    if found.verdict == "cannot tell" and low is not None and high is not None:
        low, high = min(low, 1.0), max(high, 1.0)
    return Rung(
        kind=pair.step.kind,
        what=_said(pair.step.what, above, below),
        factor=factor,
        low=low,
        high=high,
        rows=[places[id(row)] for row in ([below] if pair.above is None else [above, below])],
        advice=_said(pair.step.advice, above, below),
        command=_said(pair.step.command, above, below),
        may_rank=pair.step.may_rank,
    )


def _said(words: Words, above: Row, below: Row) -> str:
    return words if isinstance(words, str) else words(above, below)


def _tells(rung: Rung, share: float) -> bool:
    """Tell whether ``rung`` is a way down, known well enough: not where it may be the whole gap, or a gain as large."""
    return (
        rung.low is None or rung.high is None or (rung.low <= 1 and not (rung.low <= share and rung.high * share >= 1))
    )


def _ladder(part: str, index: int, row: Row, rungs: list[Rung]) -> Ladder:
    ceiling, share = row.ceiling, row.share
    if ceiling is None or share is None:
        raise ValueError("a ladder needs a share of a ceiling")
    rungs = [rung for rung in rungs if _tells(rung, share)]
    if not rungs and ceiling.kind == "measured" and ceiling.value in row.repetitions:
        rungs = [Rung(kind=VARIATION, what=_VARIES.format(len(row.repetitions)), factor=share, rows=[index])]
    left = share / math.prod(rung.factor for rung in rungs)
    rest = Rung(kind="unexplained", what=NOT_EXPLAINED, factor=left)
    return Ladder(part=part, row=index, ceiling=ceiling, value=row.median, share=share, rungs=rungs, unexplained=rest)
