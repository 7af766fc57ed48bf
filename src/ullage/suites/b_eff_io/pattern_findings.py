# SPDX-License-Identifier: Apache-2.0
"""Sentences on what the patterns of a b_eff_io run tell of each other: types, odd sizes and accesses. Pure.

"MPI-I/O is optimal only for one pattern type, but a different one on each platform; non-wellformed data sizes: worse
bandwidth; (re)write bandwidth << read bandwidth" (R. Rabenseifner, 2007): here as sentences on this system.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import geometric_mean
from typing import Final

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, is_of_device
from ullage.analysis.contests import carries, compare_pairs, compare_rows
from ullage.analysis.findings.phrasing import capital, finding, level_of_part
from ullage.analysis.statistics import Comparison, Contest, compare_on_average, level_of_each
from ullage.analysis.verdicts.grades import is_sound
from ullage.model.flags import TOO_SHORT
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, percent, plural, processes, times
from ullage.suites.b_eff_io.findings import place
from ullage.suites.b_eff_io.patterns import ACCESSES, MISALIGNED, REWRITTEN_TYPE, Access
from ullage.suites.b_eff_io.rows import EARLY, PATTERN, TYPE, select
from ullage.suites.b_eff_io.scores import SpotScores
from ullage.units import format_rate

# Types whose ratio is below this are taken as equal.
_ALIKE: Final = 1.1
_NOTABLE: Final = 1.5
# Patterns with one of these flags moved too little to be compared.
_NOT_COMPARED: Final = frozenset({TOO_SHORT, f"{EARLY}:overtime"})
# Kinds of sentences that compare: types, odd sizes, accesses, and sets of hints.
COMPARING: Final = 4
_TYPE_NAMES: Final = {
    "scatter": "scatter (strided, collective)",
    "shared": "shared (one pointer for all)",
    "separated": "separated (a file for each process)",
    "segmented": "segmented (a part for each process)",
    "seg_coll": "seg_coll (the same, collective)",
}


def pattern_findings(one: SpotScores, label: str, level: float) -> list[Finding]:
    """Collect the findings on pattern types, odd sizes and accesses of one partition, each kind at ``level``.

    They rest on rows that carry a comparison and that no cache answered.
    """
    of_device = [row for row in one.rows if is_sound(row) and is_of_device(row)]
    rows = [row for row in of_device if carries(row) and not _NOT_COMPARED & set(row.flag_codes)]
    known = replace(one, rows=rows)
    found = [*_types(known, label, level), *_odd_sizes(known, label, level), *_read_write(known, label, level)]
    return found or _nothing_told(one, of_device, label)


def _nothing_told(one: SpotScores, of_device: Sequence[Row], label: str) -> list[Finding]:
    """Say why no pattern is compared with another, where it has few repetitions; nothing where no pattern has any."""
    most = max((len(row.repetitions) for row in select(of_device, TYPE)), default=0)
    if not 0 < most < FEWEST_SAMPLES:
        return []
    title = f"{label}Pattern types, sizes and accesses are not compared"
    text = f"{title}: each has {plural(most, 'repetition')}. Use --repetitions {FEWEST_SAMPLES} or more."
    return [finding("b_eff_io-types", title, text, **place(one), repetitions=most)]


def _types(one: SpotScores, label: str, level: float) -> list[Finding]:
    """Say for each access which type has the highest rate where it is proved to be faster than the slowest one."""
    lines: dict[Access, list[Row]] = {access: select(one.rows, TYPE, access=access) for access in ACCESSES}
    own = level_of_each(level, map(len, lines.values()))
    told: list[str] = []
    best: dict[Access, str] = {}
    most = 1.0
    for access, rows in lines.items():
        if len(rows) < 2:
            continue
        fast, slow = max(rows, key=lambda row: row.median), min(rows, key=lambda row: row.median)
        ratio = fast.median / slow.median
        if ratio <= _ALIKE or compare_rows(fast, slow, own, None).verdict != "faster":
            told.append(f"no type of {access} is shown to differ from another by {percent(_ALIKE - 1)}")
            continue
        most, best[access] = max(most, ratio), _type(fast)
        told.append(
            f"{access} has its highest median in {_TYPE_NAMES[_type(fast)]} with {format_rate(fast.median)}, "
            f"{times(ratio)} the rate of {_TYPE_NAMES[_type(slow)]}"
        )
    if not told:
        return []
    text = f"{label}With {processes(one.spot.ranks)}, {'. '.join([told[0], *map(capital, told[1:])])}."
    title = (
        f"{label}Pattern types differ by up to {times(most)}" if best else f"{label}No pattern type is shown to differ"
    )
    rows = select(one.rows, TYPE)
    severity = "advice" if most > _NOTABLE else "info"
    return [
        finding(
            "b_eff_io-types",
            title,
            text,
            severity,
            **place(one),
            access=[str(row.params["access"]) for row in rows],
            pattern_type=[_type(row) for row in rows],
            bandwidth=[row.median for row in rows],
            best=[f"{access}: {kind}" for access, kind in best.items()],
        )
    ]


def _type(row: Row) -> str:
    return str(row.params["pattern_type"])


def _odd_sizes(one: SpotScores, label: str, level: float) -> list[Finding]:
    """Compare chunks that are 8 bytes longer than a power of two with aligned ones, pattern by pattern.

    Give the geometric mean of the ratios for each access, and the lowest ratio that is proved to be below 1.
    """
    pairs: list[tuple[Row, Row]] = []
    rows = select(one.rows, PATTERN)
    for row in rows:
        odd = next((odd for size, odd in MISALIGNED.items() if size == row.params["size"]), None)
        if odd is not None:
            params = {name: row.params[name] for name in ("access", "pattern_type")}
            pairs += [(other, row) for other in select(rows, PATTERN, size=odd, **params)]
    if not pairs:
        return []
    judged = list(zip(pairs, compare_pairs(pairs, level), strict=True))
    slower = [(found.ratio, even) for (_, even), found in judged if found.verdict == "slower"]
    ratios = [odd.median / even.median for odd, even in pairs]
    means = {
        access: geometric_mean(found)
        for access in ACCESSES
        if (found := [ratio for ratio, (_, even) in zip(ratios, pairs, strict=True) if even.params["access"] == access])
    }
    said = listing([f"{access} {times(mean)}" for access, mean in means.items()])
    title = f"{label}Unaligned chunks are not shown to be slower than aligned ones"
    text = f"{title} in any of {plural(len(pairs), 'pattern')}."
    worst, at = min(slower, key=lambda item: item[0], default=(1.0, None))
    if at is not None:
        title = f"{label}Unaligned chunks reach {times(worst)} the bandwidth of aligned ones at worst"
        text = (
            f"{label}With {processes(one.spot.ranks)}, chunks of a power of two plus 8 bytes are slower than aligned "
            f"ones in {len(slower)} of {plural(len(pairs), 'pattern')}. The mean ratios are {said}. The lowest is "
            f"{at.params['access']} of {at.params['size']} + 8 B in {_type(at)} ({times(worst)})."
        )
    severity = "advice" if worst < 1 / _NOTABLE else "info"
    return [
        finding(
            "b_eff_io-odd-sizes",
            title,
            text,
            severity,
            **place(one),
            access=[str(even.params["access"]) for _, even in pairs],
            pattern_type=[_type(even) for _, even in pairs],
            size=[str(even.params["size"]) for _, even in pairs],
            ratio=ratios,
            slower=len(slower),
        )
    ]


def _read_write(one: SpotScores, label: str, level: float) -> list[Finding]:
    """Compare reads and rewrites with first writes over the types that both have; say what all types together prove."""
    accesses: tuple[Access, ...] = ("read", "rewrite")
    own = level_of_part(level, len(accesses))
    found = {access: over for access in accesses if (over := _over_write(one, access, own)) is not None}
    if not found:
        return []
    kinds = {row.params["pattern_type"] for row in select(one.rows, TYPE, access="rewrite")}
    where = {"read": "", "rewrite": f" in type {REWRITTEN_TYPE}" if kinds == {REWRITTEN_TYPE} else ""}
    said = [f"{access}s{where[access]} reach {times(over.ratio)}" for access, over in found.items()]
    first = next(iter(found))
    title = f"{label}{capital(first)}s reach {times(found[first].ratio)} the bandwidth of first writes"
    text = f"{label}With {processes(one.spot.ranks)}, {listing(said)} the bandwidth of first writes (mean over types)."
    numbers = {f"{access}_over_write": over.ratio for access, over in found.items()}
    return [finding("b_eff_io-read-write", title, text, **place(one), **numbers)]


def _over_write(one: SpotScores, access: Access, level: float) -> Comparison | None:
    """Compare ``access`` with first writes; None where nothing is told."""
    written = {_type(row): row for row in select(one.rows, TYPE, access="write")}
    pairs = [(row, written[_type(row)]) for row in select(one.rows, TYPE, access=access) if _type(row) in written]
    contests = [Contest(row.repetitions, other.repetitions) for row, other in pairs]
    found = compare_on_average(contests, level) if contests else None
    return None if found is None or found.verdict == "cannot tell" else found
