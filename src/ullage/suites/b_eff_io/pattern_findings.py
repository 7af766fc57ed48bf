# SPDX-License-Identifier: Apache-2.0
"""Sentences on what the patterns of a b_eff_io run tell of each other: types, odd sizes, accesses and hints. Pure.

"MPI-I/O is optimal only for one pattern type, but a different one on each platform; non-wellformed data sizes: worse
bandwidth; (re)write bandwidth << read bandwidth" (R. Rabenseifner, 2007): here as sentences on this system.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean
from typing import Final

from ullage.analysis.ceilings.rows import FEWEST_SAMPLES, is_of_device
from ullage.analysis.contests import carries, compare_pairs, compare_rows
from ullage.analysis.findings.hints import not_used, refused_hints
from ullage.analysis.findings.phrasing import capital, columns, finding, gain_of, level_of_part, with_gain
from ullage.analysis.settings import select
from ullage.analysis.statistics.comparison import Comparison, Contest, compare_on_average, level_of_each
from ullage.analysis.verdicts.grades import is_sound
from ullage.grouping import grouped
from ullage.model.flags import TOO_SHORT
from ullage.model.plan import Scalar
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import listing, percent, plural, processes, times
from ullage.suites.b_eff_io.measured import BEffIoRun
from ullage.suites.b_eff_io.patterns import ACCESSES, MISALIGNED, REWRITTEN_TYPE, Access
from ullage.suites.b_eff_io.rows import EARLY, PATTERN, TYPE, SpotScores, best
from ullage.units import format_rate

# Types whose ratio is below this are taken as equal.
_ALIKE: Final = 1.1
_NOTABLE: Final = 1.5
_LONGER: Final[Mapping[str, str]] = {**MISALIGNED}
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
    most = max((len(row.repetitions) for row in select(of_device, TYPE)), default=0)
    if not found and 0 < most < FEWEST_SAMPLES:
        # Why no pattern is compared with another.
        title = f"{label}Pattern types, sizes and accesses are not compared"
        text = f"{title}: each has {plural(most, 'repetition')}. Use --repetitions {FEWEST_SAMPLES} or more."
        found.append(finding("b_eff_io-types", title, text, **one.place, repetitions=most))
    return found


def _types(one: SpotScores, label: str, level: float) -> Iterator[Finding]:
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
    if told:
        title = f"{label}No pattern type is shown to differ"
        if best:
            title = f"{label}Pattern types differ by up to {times(most)}"
        rows = select(one.rows, TYPE)
        yield finding(
            "b_eff_io-types",
            title,
            f"{label}With {processes(one.spot.ranks)}, {'. '.join([told[0], *map(capital, told[1:])])}.",
            "advice" if most > _NOTABLE else "info",
            **one.place,
            access=[row.word("access") for row in rows],
            pattern_type=[_type(row) for row in rows],
            bandwidth=[row.median for row in rows],
            best=[f"{access}: {kind}" for access, kind in best.items()],
        )


def _type(row: Row) -> str:
    return row.word("pattern_type")


def _odd_sizes(one: SpotScores, label: str, level: float) -> Iterator[Finding]:
    """Compare chunks that are 8 bytes longer than a power of two with aligned ones, pattern by pattern.

    Give the geometric mean of the ratios for each access, and the lowest ratio that is proved to be below 1.
    """
    rows = select(one.rows, PATTERN)
    pairs = [
        (other, row)
        for row in rows
        for other in select(
            rows, PATTERN, size=_LONGER.get(row.word("size"), ""), access=row.word("access"), pattern_type=_type(row)
        )
    ]
    if not pairs:
        return
    slower = [
        (found.ratio, even)
        for (_, even), found in zip(pairs, compare_pairs(pairs, level), strict=True)
        if found.verdict == "slower"
    ]
    ratios = [odd.median / even.median for odd, even in pairs]
    by_access = grouped((even.word("access"), ratio) for ratio, (_, even) in zip(ratios, pairs, strict=True))
    said = listing([f"{a} {times(geometric_mean(by_access[a]))}" for a in ACCESSES if a in by_access])
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
    yield finding(
        "b_eff_io-odd-sizes",
        title,
        text,
        "advice" if worst < 1 / _NOTABLE else "info",
        **one.place,
        access=[even.word("access") for _, even in pairs],
        pattern_type=[_type(even) for _, even in pairs],
        size=[even.word("size") for _, even in pairs],
        ratio=ratios,
        slower=len(slower),
    )


def _read_write(one: SpotScores, label: str, level: float) -> Iterator[Finding]:
    """Compare reads and rewrites with first writes over the types that both have; say what all types together prove."""
    accesses: tuple[Access, ...] = ("read", "rewrite")
    written = {_type(row): row for row in select(one.rows, TYPE, access="write")}
    found: dict[Access, Comparison] = {}
    for access in accesses:
        pairs = [(row, written[_type(row)]) for row in select(one.rows, TYPE, access=access) if _type(row) in written]
        contests = [Contest(row.repetitions, other.repetitions) for row, other in pairs]
        over = compare_on_average(contests, level_of_part(level, len(accesses))) if contests else None
        if over is not None and over.verdict != "cannot tell":
            found[access] = over
    if not found:
        return
    kinds = {row.params["pattern_type"] for row in select(one.rows, TYPE, access="rewrite")}
    where = {"read": "", "rewrite": f" in type {REWRITTEN_TYPE}" if kinds == {REWRITTEN_TYPE} else ""}
    said = [f"{access}s{where[access]} reach {times(over.ratio)}" for access, over in found.items()]
    first = next(iter(found))
    title = f"{label}{capital(first)}s reach {times(found[first].ratio)} the bandwidth of first writes"
    text = f"{label}With {processes(one.spot.ranks)}, {listing(said)} the bandwidth of first writes (mean over types)."
    numbers = {f"{access}_over_write": over.ratio for access, over in found.items()}
    yield finding("b_eff_io-read-write", title, text, **one.place, **numbers)


_SET = "hint_set"


@dataclass(frozen=True, slots=True)
class HintRatio:
    """One pattern with a set of hints against the same with the base. ``ratio`` > 1: the set is faster."""

    row: Row
    base: Row

    @property
    def ratio(self) -> float:
        """The ratio of the medians."""
        return self.row.median / self.base.median

    @property
    def hint_set(self) -> str:
        """The name of the set."""
        return str(self.row.params[_SET])


def sets_of(rows: Iterable[Row]) -> list[str]:
    """Return the names of the sets of hints that the rows of patterns have, in the order of the rows."""
    return list(dict.fromkeys(str(row.params[_SET]) for row in select(rows, PATTERN)))


def ratios(rows: Iterable[Row], base: str = "") -> list[HintRatio]:
    """Compare each pattern's row with that of the set ``base``; an empty name takes the first set."""
    found = select(rows, PATTERN)
    name = base or next(iter(sets_of(found)), "")
    by_place = {_place(row): row for row in found if row.params[_SET] == name}
    return [
        HintRatio(row, against)
        for row in found
        if row.params[_SET] != name and (against := by_place.get(_place(row))) is not None and against.median > 0
    ]


def _place(row: Row) -> tuple[Scalar, ...]:
    return row.target, row.params["ranks"], row.params["access"], row.params["pattern"]


def ignored(io_run: BEffIoRun, target: str, label: str) -> list[Finding]:
    """Report each hint that the MPI did not name afterwards, or named with another value."""
    uses = (
        (io_run.hint_set(cell.hints), key, value, phase.hints_granted.get(key, ""))
        for cell in io_run.keys
        if cell.target == target
        for attempt in io_run.attempts(cell)
        for phase in attempt.good.values()
        for key, value in phase.hints_given.items()
    )
    kind, place = "b_eff_io-hints-ignored", {"target": target}
    return [
        not_used(kind, (key, value), used, "pattern", f" (set {name})", label, **place, hint_set=name)
        for (name, key, value), used in refused_hints(uses).items()
    ]


def sets_compared(found: Sequence[SpotScores], label: str, level: float) -> list[Finding]:
    """Compare the sets of each partition that has more than one: which is best, and in how many patterns.

    ``found``: all partitions on one target.
    """
    by_ranks = grouped((one.spot.ranks, one) for one in found)
    own = level_of_each(level, map(len, by_ranks.values()))
    return [_compared(sets, label, own) for sets in by_ranks.values() if len(sets) > 1]


def _compared(sets: Sequence[SpotScores], label: str, level: float) -> Finding:
    rows = [row for one in sets for row in one.rows]
    first, *others = sets_of(rows) or [sets[0].hint_set]
    pairs = ratios(rows, first)
    by_set = {name: [one for one in pairs if one.hint_set == name] for name in others}
    verdicts = [one.verdict for one in compare_pairs([(one.row, one.base) for one in pairs], level)]
    # The patterns in which a set is proved faster than the base, and those in which slower.
    shown = {name: {word: list[HintRatio]() for word in ("faster", "slower", "cannot tell")} for name in others}
    for one, verdict in zip(pairs, verdicts, strict=True):
        shown[one.hint_set][verdict].append(one)
    top = best(sets)
    values = {one.hint_set: one.value for one in sets}
    gain = None if top is None or top.hint_set == first else _gain(top.value, values.get(first), level)
    text = f"{label}With {processes(sets[0].spot.ranks)}, {_winner(top, values, first, is_told=gain is not None)}"
    text += "".join(f" {_against(name, shown[name], len(of), first)}" for name, of in by_set.items() if of)
    title = f"{label}No set of hints is shown to raise b_eff_io above that of {first}"
    if gain is not None and top is not None:
        title = f"{label}b_eff_io is higher with hints {top.hint_set}"
    numbers = columns(
        **sets[0].place,
        b_eff_io=[row.median for row in values.values() if row is not None],
        better=[len(told["faster"]) for told in shown.values()],
        worse=[len(told["slower"]) for told in shown.values()],
        mean=[geometric_mean([one.ratio for one in of]) if of else 1.0 for of in by_set.values()],
    )
    severity, kind = "info" if gain is None else "advice", "b_eff_io-hint-sets"
    said = Finding(kind=kind, title=title, text=text, severity=severity, numbers={**numbers, "hint_set": list(values)})
    return with_gain(said, gain, f"--hints {'' if top is None else top.hint_set}")


def _gain(best_of_all: Row | None, base: Row | None, level: float) -> Gain | None:
    """Return the gain of the best set over the base, or None where either has no value or a repetition of 0."""
    if best_of_all is None or base is None or min(*best_of_all.repetitions, *base.repetitions) <= 0:
        return None
    return gain_of(compare_rows(best_of_all, base, level, None))


def _winner(top: SpotScores | None, values: Mapping[str, Row | None], first: str, *, is_told: bool) -> str:
    if top is None or top.value is None:
        return "no set of hints has a b_eff_io."
    base = values.get(first)
    against = ""
    if base is not None and top.hint_set != first and base.median > 0:
        against = f", {times(top.value.median / base.median)} that of {first}"
        against += "" if is_told else ", which does not show that it is faster"
    return f"b_eff_io has its highest median with hints {top.hint_set}, {format_rate(top.value.median)}{against}."


def _against(name: str, shown: Mapping[str, Sequence[HintRatio]], count: int, first: str) -> str:
    faster, slower = shown["faster"], shown["slower"]
    text = f"{name} is shown to be faster than {first} in {len(faster)} of {plural(count, 'pattern')}"
    text += f" (most: {_named(max(faster, key=lambda one: one.ratio))})" if faster else ""
    text += f" and slower in {len(slower)}"
    text += f" (most: {_named(min(slower, key=lambda one: one.ratio))})" if slower else ""
    return f"{text}."


def _named(one: HintRatio) -> str:
    params = one.row.params
    return f"{params['access']} of {params['size']} in {params['pattern_type']}, {times(one.ratio)}"
