# SPDX-License-Identifier: Apache-2.0
"""What makes numbers doubtful: cases that failed, caches that answered, and others that were at work."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from ullage.analysis.contests import compare_together
from ullage.analysis.findings.phrasing import finding, noun, numbers_of, setting_text
from ullage.analysis.findings.study import Failed, Study
from ullage.analysis.verdicts.physics import MOST_OF_EACH
from ullage.grouping import grouped
from ullage.model.flags import ABOVE_THREADS, Flag
from ullage.model.summary import Finding, Row
from ullage.parameters import count_of
from ullage.quantity import listing, plural, times


def find_failures(study: Study) -> list[Finding]:
    """Make one finding for each target and error, and one for each target and INVALID flag."""
    failed = grouped(((case.target, case.text), case) for case in study.failed)
    invalid = grouped(
        ((row.target, flag.code), row) for row in study.main_rows for flag in row.flags if flag.is_invalid
    )
    return [
        *(_failed(target, text, cases) for (target, text), cases in failed.items()),
        *(_invalid(target, Flag(code=code), rows) for (target, code), rows in invalid.items()),
    ]


def _failed(target: str, text: str, cases: list[Failed]) -> Finding:
    lost = sum(case.repetitions_failed == case.repetitions for case in cases)
    kept = "" if lost == len(cases) else f", {lost} of them in every repetition"
    first = f" (first: {cases[0].where})" if cases[0].where else ""
    title = f"{plural(len(cases), 'case')} failed on {target}"
    return finding(
        "failure",
        title,
        f"{title}{kept}: {text}{first}.",
        "warning",
        target=target,
        cases=len(cases),
        without_rows=lost,
        case=[case.case for case in cases],
        repetitions_failed=sum(case.repetitions_failed for case in cases),
        repetitions=sum(case.repetitions for case in cases),
    )


def _invalid(target: str, flag: Flag, rows: list[Row]) -> Finding:
    accesses = Counter(row.access for row in rows)
    where = listing([f"{count} {access}" for access, count in accesses.items()])
    text = (
        f"{plural(len(rows), 'row')} of {target} ({where}) cannot be right: {flag.detail.replace('-', ' ')}. "
        "No finding and no score uses them."
    )
    title, cases = f"{plural(len(rows), 'row')} of {target} cannot be right", [row.case for row in rows]
    return finding("invalid", title, text, "warning", target=target, flag=flag.code, rows=len(rows), case=cases)


_MEANINGS: Final = {
    "cold": "the bytes came from the device",
    "mixed": "part of the bytes came from memory of this machine",
    "warm": "memory of this machine answered, not the target",
    "synced": "the bytes reached the device before the clock stopped",
    "partly synced": "only part of the bytes is known to have reached the device",
    "direct": "the bytes went past the page cache, without a sync",
    "cached": "bytes may still have been in memory when the clock stopped",
    "memory": "the target is memory, no storage was measured",
    "none": "no storage is behind the target",
    "unknown": "no counter tells where the bytes came from or went to",
    "unknown(server)": "this client moved them; what the server had in memory cannot be seen",
    "unknown(imported)": "the table came without counters, so a cache may have answered",
}
# Numbers with these verdicts are not those of the target.
_DOUBTFUL: Final = frozenset({"mixed", "warm", "cached", "partly synced"})


def find_cached(study: Study) -> list[Finding]:
    """Make one finding for each target and access; merge those of which the same is true."""
    groups = grouped(((row.target, row.access), row) for row in study.main_rows)
    # First the accesses of a target, then the targets that have the same accesses: what is named together is all true.
    by_target = grouped(((target, _alike(rows) or access), access) for (target, access), rows in groups.items())
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (target, word), accesses in by_target.items():
        same = word if _alike(groups[target, accesses[0]]) else target
        together.setdefault((same, tuple(accesses)), []).append(target)
    return [
        _finding(targets, list(accesses), [row for t in targets for a in accesses for row in groups[t, a]])
        for (_, accesses), targets in together.items()
    ]


def _alike(rows: list[Row]) -> str:
    """Return the verdict that all rows share, or an empty text where they differ; no access is named like a verdict."""
    words = {verdict_word(row) for row in rows}
    return words.pop() if len(words) == 1 else ""


def verdict_word(row: Row) -> str:
    """Return the verdict of a row without its percentage."""
    return {"mixed": "mixed", "partly": "partly synced"}.get(row.verdict.partition(" ")[0], row.verdict)


def _finding(targets: list[str], accesses: list[str], rows: list[Row]) -> Finding:
    counts = Counter(verdict_word(row) for row in rows)
    doubtful = sum(count for word, count in counts.items() if word in _DOUBTFUL)
    who = f"{listing(targets)} {listing([noun(access) for access in accesses])}"
    return finding(
        "cache",
        f"{who}: {listing([word for word, _ in counts.most_common()])}",
        f"{who}: {_met(counts)}.",
        "warning" if doubtful else "info",
        target=targets if len(targets) > 1 else targets[0],
        access=accesses if len(accesses) > 1 else accesses[0],
        rows=len(rows),
        verdict=list(counts),
        count=list(counts.values()),
        doubtful=doubtful,
    )


def _met(counts: Counter[str]) -> str:
    meanings = {word: _MEANINGS.get(word, "see the reasons of the rows") for word in counts}
    if len(counts) == 1:
        word, count = next(iter(counts.items()))
        rows = f"all {count:,} rows have" if count > 1 else "the row has"
        return f"{rows} the verdict {word} ({meanings[word]})"
    return listing([f"{count:,} {word} ({meanings[word]})" for word, count in counts.most_common()])


_WORTH_SAYING = 1.5
NO_STORAGE = frozenset({"none", "memory"})


def find_cache_effects(study: Study) -> list[Finding]:
    """Report rereads that are proved to differ from the reads before them, over all cells that carry a comparison."""
    made: list[Finding] = []
    grids = {(grid.target, grid.access, grid.setting): grid for grid in study.grids}
    for (target, access, setting), first in grids.items():
        again = grids.get((target, "reread", setting))
        if access != "read" or again is None:
            continue
        cells = [cell for cell, row in first.cells.items() if cell in again.cells and row.verdict not in NO_STORAGE]
        pairs = [(again.cells[cell], first.cells[cell]) for cell in cells]
        found = compare_together(pairs, study.level_of_lines(again))
        if found.verdict == "cannot tell":
            continue
        title = f"Rereads on {target}{setting_text(setting)} run at {times(found.ratio)} the first read"
        text = f"{title} (geometric mean of {plural(len(cells), 'cell')})."
        text += " Memory of this machine serves them." if found.ratio >= _WORTH_SAYING else ""
        numbers = numbers_of(again, ratio=found.ratio, low=found.low, high=found.high, cells=len(cells))
        made.append(Finding(kind="cache-effect", title=title, text=text, numbers=numbers))
    return made


FINDERS: Final = ((5, find_failures), (80, find_cached), (90, find_cache_effects))


CONTAMINATION = "contamination"
CONTAMINATION_UNKNOWN = "contamination-unknown"


def contamination_findings(rows: Sequence[Row]) -> list[Finding]:
    """Tell of rows on which no finding rests, and of rows that are not known to be undisturbed."""
    dirty, unknown = (sum(row.grade == grade for row in rows) for grade in ("C", "?"))
    return [*_disturbed(dirty, len(rows)), *_not_known(unknown, len(rows)), *_above_threads(rows)]


def _disturbed(dirty: int, rows: int) -> list[Finding]:
    if not dirty:
        return []
    text = (
        f"Other programs used this machine while {dirty:,} of {plural(rows, 'row')} {_were(dirty)} measured "
        f"(grade C). No finding rests on {_them(dirty)}. Run again when the machine is idle."
    )
    severity = "warning" if 2 * dirty > rows else "info"
    return [finding(CONTAMINATION, "Other programs disturbed the measurement", text, severity, dirty=dirty, rows=rows)]


def _not_known(unknown: int, rows: int) -> list[Finding]:
    if not unknown:
        return []
    text = (
        f"For {unknown:,} of {plural(rows, 'row')} it is not known whether other programs used the machine "
        "(grade ?). The phases were too short for the kernel's CPU accounts, or these could not be read. Longer phases "
        "tell more."
    )
    title = "Other load is not known for some numbers"
    return [finding(CONTAMINATION_UNKNOWN, title, text, unknown=unknown, rows=rows)]


def disturbed_once(findings: Sequence[Finding], rows: Sequence[Row]) -> list[Finding]:
    """Say how many of all ``rows`` of a run of suites were disturbed, or may be, in place of each suite's own count.

    A suite that measures others has no such finding: its disturbed rows are not left out.
    """
    dirty = sum(count_of(one.numbers, "dirty") for one in findings if one.kind == CONTAMINATION)
    unknown = sum(row.grade == "?" for row in rows)
    whole = {CONTAMINATION_UNKNOWN: _not_known(unknown, len(rows)), CONTAMINATION: _disturbed(dirty, len(rows))}
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
    return [finding(ABOVE_THREADS, title, text, rows=above)]


def _them(count: int) -> str:
    return "it" if count == 1 else "them"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
