# SPDX-License-Identifier: Apache-2.0
"""What was really measured: where the bytes of each target and access moved."""

from collections import Counter
from typing import Final

from ullage.analysis.findings.study import Study, access_of
from ullage.analysis.findings.words import columns, noun
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural

ORDER = 80
_MEANINGS: Final = {
    "cold": "the bytes came from the device",
    "mixed": "part of the bytes came from memory of this machine",
    "warm": "memory of this machine answered, not the target",
    "synced": "the bytes reached the device before the clock stopped",
    "partly synced": "only part of the bytes is known to have reached the device",
    "direct": "past the page cache, without a sync",
    "cached": "bytes may still have been in memory when the clock stopped",
    "memory": "the target is memory, no storage was measured",
    "none": "no storage is behind the target",
    "unknown": "no counter tells where the bytes came from or went to",
    "unknown(server)": "this client moved them, what the server had in memory cannot be seen",
    "unknown(imported)": "the table came without counters, so a cache may have answered",
}
# Numbers of these are not those of the target.
_DOUBTFUL: Final = frozenset({"mixed", "warm", "cached", "partly synced"})


def find(study: Study) -> list[Finding]:
    """One finding for each target and access; those of which one and the same thing is true are told together."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in study.main_rows:
        groups.setdefault((row.target, access_of(row)), []).append(row)
    # First the accesses of a target, then the targets that have the same accesses: what is named together is all true.
    by_target: dict[tuple[str, str], list[str]] = {}
    for (target, access), rows in groups.items():
        by_target.setdefault((target, _alike(rows) or access), []).append(access)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (target, word), accesses in by_target.items():
        same = word if _alike(groups[target, accesses[0]]) else target
        together.setdefault((same, tuple(accesses)), []).append(target)
    return [
        _finding(targets, list(accesses), [row for t in targets for a in accesses for row in groups[t, a]])
        for (_, accesses), targets in together.items()
    ]


def _alike(rows: list[Row]) -> str:
    """The verdict that all rows share; empty when they differ. No access is named like a verdict."""
    words = {verdict_word(row) for row in rows}
    return words.pop() if len(words) == 1 else ""


def verdict_word(row: Row) -> str:
    """The verdict without its percentage."""
    return row.verdict.partition(" ")[0] if row.verdict.startswith("mixed") else _without_share(row.verdict)


def _without_share(verdict: str) -> str:
    return "partly synced" if verdict.startswith("partly synced") else verdict


def _finding(targets: list[str], accesses: list[str], rows: list[Row]) -> Finding:
    counts = Counter(verdict_word(row) for row in rows)
    doubtful = sum(count for word, count in counts.items() if word in _DOUBTFUL)
    subject = f"{listing(targets)} {listing([noun(access) for access in accesses])}"
    numbers = columns(
        target=targets if len(targets) > 1 else targets[0],
        access=accesses if len(accesses) > 1 else accesses[0],
        rows=len(rows),
        verdict=list(counts),
        count=list(counts.values()),
        doubtful=doubtful,
    )
    text = f"{subject}, what was measured: {_met(counts)}."
    return Finding(kind="cache", text=text, severity="warning" if doubtful else "info", numbers=numbers)


def _met(counts: Counter[str]) -> str:
    meanings = {word: _MEANINGS.get(word, "see the reasons of the rows") for word in counts}
    if len(counts) == 1:
        word, count = next(iter(counts.items()))
        return f"{'all ' if count > 1 else ''}{plural(count, 'row')} {word}: {meanings[word]}"
    return listing([f"{count:,} {word} ({meanings[word]})" for word, count in counts.most_common()])
