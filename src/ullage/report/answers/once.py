# SPDX-License-Identifier: Apache-2.0
"""What holds for many rows alike, said once: what was really measured, and flags as footnotes in words."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.analysis.findings.phrasing import noun
from ullage.grouping import grouped
from ullage.model import flags
from ullage.model.summary import Finding, Row
from ullage.quantity import listing

ONCE: Final = frozenset({"cache", "contamination", "contamination-unknown", flags.ABOVE_THREADS})
_MOST_FLAGS: Final = 3
DIFFERS: Final = "The targets were not measured alike"
_WORDS: Final = {
    flags.IDLE_RANKS: "some ranks had nothing to do",
    flags.PAYLOAD_IN_TIME: "making data is part of the time",
    flags.PREPARATION_IN_TIME: "preparing is part of the time",
    flags.CLOCK_STOPPED: "the clock was stopped while data was made",
    flags.VERIFIED_IN_TIME: "checking data is part of the time",
    flags.BUFFERS_IN_TURN: "several buffers were used in turn",
    flags.TOO_SHORT: "too short to be timed well",
    flags.STAMPED_IN_GROUPS: "latencies are means of several operations",
    flags.NOT_PERSISTENT: "not on persistent memory",
    flags.REMOVED_LATELY: "files that were removed lately slowed creates",
    flags.NO_HUGE_PAGES: "the kernel gave no huge pages",
    flags.ABOVE_THREADS: "more than the threads can do",
    flags.CLOCK_SKEW: "clocks of the nodes differ",
    flags.OVERSUBSCRIBED: "more ranks than cores",
    flags.UNPINNED: "ranks are not bound to cores",
    flags.DIRTY_USED: "disturbed repetitions are counted",
    flags.OUTLIERS: "single repetitions far from the others",
    flags.DRIFTING: "repetitions that rise or fall in turn",
    flags.DEPENDENT: "repetitions that are not independent",
    flags.NOT_CONVERGED: "the interval is wider than was asked",
    flags.INVALID: "INVALID: breaks a limit of physics",
    "interval-below-95": "too few repetitions for a 95 % interval",
}


def flag_words(kind: str) -> str:
    """Say what a flag of ``kind`` means; of a kind that nobody has put into words, return its code."""
    return _WORDS.get(kind, kind.replace("-", " "))


def unanswered(rows: Sequence[Row]) -> str:
    """Say that no finding answers the question of a suite, and why where other programs are the cause."""
    dirty = sum(row.grade == "C" for row in rows)
    if not dirty:
        return "No finding of this run answers the question."
    return (
        f"There is no answer: other programs disturbed {_share(dirty, len(rows))}, and no finding rests on these. Run "
        "again on an idle machine."
    )


def nothing_found(rows: Sequence[Row]) -> str:
    """Say that there is no finding at all, and why where other programs are the cause."""
    return unanswered(rows) if any(row.grade == "C" for row in rows) else "Nothing was found."


def said_once(rows: Sequence[Row], findings: Sequence[Finding]) -> list[str]:
    """Return at most two sentences: what was measured, and the flags."""
    return [*_measured(rows, findings), *_flags(rows)]


def _measured(rows: Sequence[Row], findings: Sequence[Finding]) -> list[str]:
    """Repeat the finding where one says it of all; else name each target with the verdicts of its accesses.

    Return nothing where no finding is about it, or no row is in B/s.
    """
    said = [finding.text for finding in findings if finding.kind == "cache"]
    if len(said) == 1:
        return said
    found: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        if row.unit != "B/s":
            continue
        access = noun(str(row.params.get("access", "")))
        found.setdefault(row.target, {}).setdefault(access, {})[row.verdict.partition(" ")[0]] = None
    if not said or not found:
        return []
    unlike = len({tuple(verdicts for verdicts in target.items()) for target in map(_by_access, found.values())}) > 1
    start = DIFFERS if unlike else "What was measured"
    texts = [f"{target} {_accesses(_by_access(accesses))}" for target, accesses in found.items()]
    return [f"{start}: {'; '.join(texts)}."]


def _by_access(accesses: dict[str, dict[str, None]]) -> dict[str, str]:
    return {access: " or ".join(verdicts) for access, verdicts in accesses.items()}


def _accesses(verdicts: dict[str, str]) -> str:
    groups = grouped((verdict, access) for access, verdict in verdicts.items())
    return ", ".join(f"{listing(names)} {verdict}" for verdict, names in groups.items())


def _flags(rows: Sequence[Row]) -> list[str]:
    counts = Counter(kind for row in rows for kind in dict.fromkeys(flag.kind for flag in row.flags))
    texts = [f"{flag_words(kind)} ({_share(count, len(rows))})" for kind, count in counts.most_common()]
    if not texts:
        return []
    more = [f"{len(texts) - _MOST_FLAGS} more"] if len(texts) > _MOST_FLAGS else []
    return [f"Flags: {'; '.join([*texts[:_MOST_FLAGS], *more])}."]


def _share(count: int, total: int) -> str:
    return f"all {total:,} rows" if count == total else f"{count:,} of {total:,} rows"
