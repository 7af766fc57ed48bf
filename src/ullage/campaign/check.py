# SPDX-License-Identifier: Apache-2.0
"""Is a result better, the same or worse than what the campaign knows? A verdict for each row, all of them together.

How much runs differ is learnt from the campaign, for each row, moderated by all others. A row is worse if that is
proved and it is worse by more than the margin; the same if it is proved to differ by less than that.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Final, Literal, TypeAlias

from ullage.analysis.statistics.changes import FEWEST, find_changes
from ullage.analysis.statistics.comparison import Comparison, Contest, compare_all
from ullage.analysis.statistics.spread import Sampled, Spread, log_mean, pooled_spread
from ullage.campaign.rows import kept_rows
from ullage.campaign.store import query, results_in
from ullage.grouping import grouped
from ullage.quantity import plural
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary

CLASS: Final = "class"
"""Compares with other nodes of the same kind."""
AGAINST: Final = ("campaign", "last", "baseline", CLASS)
# Below 5 %, since noise may have heavy tails (docs/statistics.md).
LEVEL: Final = 0.97
"""All verdicts of a check hold together with more than this."""
MARGIN: Final = 0.05
"""Smaller differences are the same."""
_MOST_RUNS: Final = 99
_UNSOUND: Final = "disturbed, or not of the target itself"
_ONE_RUN: Final = "one run does not tell how much runs differ"
_NO_PAST: Final = "it has no past: keep more results"
# The newest values: older ones of a large campaign tell no more.
_PAST: Final = """SELECT id, {0}, list_reverse(max_by(median, time, 200)) FROM {1} WHERE sound
    AND id IN (SELECT unnest(?)) AND {0} IN (SELECT unnest(?)) AND run NOT IN (SELECT unnest(?))
    AND node NOT IN (SELECT unnest(?)) GROUP BY id, {0}"""
_RUN: Final = "regexp_replace({}, '[.]n[0-9]+$', '')"
Word: TypeAlias = Literal["better", "same", "worse", "cannot tell"]
Kept: TypeAlias = Mapping[str, Any]
Pasts: TypeAlias = dict[tuple[str, str], list[float]]


@dataclass(frozen=True)
class Checked:
    """A row under comparison. ``ratio`` of now to the past, with its interval; ``past``: runs that it rests on."""

    row: Kept
    word: Word
    reason: str = ""
    ratio: float | None = None
    low: float = 0.0
    high: float = 0.0
    past: int = 0


def rows_of(results: Sequence[ResultFolder]) -> list[Kept]:
    """Return the rows of results as a campaign would keep them."""
    parts = [(part, node) for result in results for part, node in results_in(result)]
    return [row for part, node in parts for _, row in kept_rows(build_summary(part), part.read_request(), node)]


def last_rows(campaign: Path) -> list[Kept]:
    """Return the rows of the run that was kept last, of all its nodes."""
    sql = f"SELECT * FROM rows WHERE {_RUN.format('run')} = (SELECT {_RUN.format('max_by(run, time)')} FROM rows)"
    names, lines = query(campaign, sql, (), lambda found: ([one[0] for one in found.description], found.fetchall()))
    return [dict(zip(names, line, strict=True)) for line in lines]


def check(now: Sequence[Kept], campaign: Path, against: str, margin: float, level: float = LEVEL) -> list[Checked]:
    """Compare ``now`` with what the campaign knows, its last run, its baseline, or another result."""
    other = [] if against in AGAINST else rows_of([ResultFolder.open(Path(against))])
    runs = {row["run"] for row in (*now, *other)}
    source = "baseline" if against == "baseline" else "rows"
    own = [row["node"] for row in now] if against == CLASS else [""]
    of_class = _pasts(campaign, "node_class", source, now, runs, own)
    of_node = {} if against in (CLASS, "baseline") else _pasts(campaign, "node", source, now, runs)
    fixed = grouped((row["id"], row["median"]) for row in other if row["sound"])
    chosen: Pasts = {}
    for row in now:
        past = of_node.get((row["id"], row["node"]), [])
        usual = past if len(past) >= FEWEST else of_class.get((row["id"], row["node_class"]), [])
        last = past[-1:] or usual[-1:]
        chosen[row["id"], row["node"]] = fixed.get(row["id"], []) if other else last if against == "last" else usual
    return judge(now, chosen, pooled_spread(map(Sampled, (of_node or of_class).values())), margin, level)


def _pasts(
    campaign: Path, key: str, source: str, now: Sequence[Kept], runs: Collection[str], nodes: Sequence[str] = ("",)
) -> Pasts:
    """Return the sound values of the rows of ``now`` since their last change, without ``runs`` and ``nodes``."""
    given = [list({row["id"] for row in now}), list({row[key] for row in now}), list(runs), list(nodes)]
    found = query(campaign, _PAST.format(key, source), given, lambda answer: answer.fetchall())
    changes = find_changes([values for *_, values in found])
    starts = (told[-1].at if told else 0 for told in changes)
    return {(name, of): values[start:] for (name, of, values), start in zip(found, starts, strict=True)}


def judge(now: Sequence[Kept], pasts: Pasts, spread: Spread, margin: float, level: float = LEVEL) -> list[Checked]:
    """Judge all rows so that all verdicts hold together at ``level``. ``pasts``: of each row and node, maybe empty."""
    rows: dict[tuple[str, str], Kept] = {(row["id"], row["node"]): row for row in now}
    values = grouped(((row["id"], row["node"]), row["median"]) for row in now if row["sound"])
    made = {key: _contest(row, values.get(key, []), pasts[key], spread) for key, row in rows.items()}
    contests = {key: one for key, one in made.items() if one is not None}
    judged = dict(zip(contests, compare_all(list(contests.values()), level), strict=True))
    # Where noise has heavy tails, single values of the past lie as far out as a new one that seems to be worse.
    seen = sorted((_far(one, value, -1) for one in contests.values() for value in one.second), reverse=True)
    usual = seen[int((1 - level) * len(seen) / max(1, len(contests)))] if seen else 0.0
    return [
        _verdict(row, contests[key], judged[key], margin, usual)
        if key in contests
        else Checked(row, "cannot tell", _UNSOUND if key not in values else _ONE_RUN if pasts[key] else _NO_PAST)
        for key, row in rows.items()
    ]


def _contest(row: Kept, values: Sequence[float], past: Sequence[float], spread: Spread) -> Contest | None:
    """Return None where nothing tells how much runs differ."""
    known = log_mean(past, spread) if past and values else None
    if known is None:
        return None
    deviation = math.sqrt(known.variance * len(past) / spread.inflation)
    return Contest(values, past, row["better"], deviation, spread, freedom=known.freedom)


def _far(contest: Contest, value: float, side: int) -> float:
    """Return how far out a value is, by the scatter of the others: of the past (``side`` -1), or a new one (1)."""
    off = abs(math.log(value) - fmean(map(math.log, contest.second))) / (contest.noise or 1.0)
    found = off / math.sqrt(max(0.1, 1 + side / len(contest.second)))
    left = max(0.1, contest.freedom - found**2) if side < 0 else contest.freedom
    return found * math.sqrt(max(1.0, contest.freedom) / left)


def _verdict(row: Kept, contest: Contest, judged: Comparison, margin: float, usual: float) -> Checked:
    low, high, most = judged.low or judged.ratio, judged.high or judged.ratio, math.log1p(margin)
    word: Word = "same" if -most <= math.log(low) and math.log(high) <= most else "cannot tell"
    is_far = len(contest.first) > 1 or _far(contest, contest.first[0], 1) > usual
    if judged.verdict != "cannot tell" and is_far and abs(math.log(judged.ratio)) > most:
        word = "better" if judged.verdict == "faster" else "worse"
    runs, before = len(contest.first), len(contest.second)
    # Of both sides the scatter of a mean falls with its runs: what the past leaves of the margin is for the new ones.
    whole = (math.log(high / low) / 2 / most) ** 2 / (1 / runs + contest.spread.inflation / before)
    left = 1 / whole - contest.spread.inflation / before
    more = "keep more results of it"
    if left > 1 / _MOST_RUNS:
        more = f"measure it {plural(max(runs, math.ceil(1 / left) - runs), 'more time')}"
    return Checked(row, word, more if word == "cannot tell" else "", judged.ratio, low, high, before)
