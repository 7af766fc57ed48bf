# SPDX-License-Identifier: Apache-2.0
"""Operations held against others of the same library that do their work, and more. Pure.

Self-consistent performance guidelines (Traeff, Gropp, Thakur, IEEE TPDS 21, 2010; tested by Hunold and Carpen-Amarie in
PGMPI): nobody should be able to write a faster allreduce out of the library's own reduce and bcast. Sides are taken
where they were measured; a side whose size was not is represented by the next larger one, which can only excuse.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ullage.analysis.contests import compare_pairs
from ullage.analysis.findings.phrasing import finding
from ullage.grouping import grouped, nested
from ullage.model.summary import Finding, Row
from ullage.quantity import listing, plural, times
from ullage.suites.collectives.prepare import blocking, is_crowded, operation_of, ranks_of, size_of
from ullage.units import format_bytes, format_time

SizeRule: TypeAlias = Callable[[int, int], int]
# A smaller factor is the noise of a timer, or nothing anybody would change a program for.
_MATTERS: Final = 1.1


def _same(size: int, _ranks: int) -> int:
    return size


def _all(size: int, ranks: int) -> int:
    return size * ranks


def _share(size: int, ranks: int) -> int:
    return -(-size // ranks)


@dataclass(frozen=True)
class Guideline:
    """A rule that a good library keeps.

    ``operation`` shall not take longer than ``parts`` one after the other, each with the size its rule makes.
    """

    operation: str
    parts: tuple[tuple[str, SizeRule], ...]

    @property
    def text(self) -> str:
        """``allreduce <= reduce + bcast``."""
        return f"{self.operation} <= {self.other}"

    @property
    def other(self) -> str:
        """``reduce + bcast``."""
        return " + ".join(name for name, _ in self.parts)


GUIDELINES: Final = (
    Guideline("allreduce", (("reduce", _same), ("bcast", _same))),
    Guideline("allreduce", (("reduce_scatter", _same), ("allgather", _share))),
    Guideline("allgather", (("gather", _same), ("bcast", _all))),
    Guideline("allgather", (("alltoall", _same),)),
    Guideline("allgather", (("allgatherv", _same),)),
    Guideline("alltoall", (("alltoallv", _same),)),
    Guideline("bcast", (("scatter", _share), ("allgather", _share))),
    Guideline("reduce", (("allreduce", _same),)),
    Guideline("gather", (("allgather", _same),)),
    Guideline("scatter", (("bcast", _all),)),
    Guideline("reduce_scatter", (("reduce", _same), ("scatter", _share))),
    Guideline("reduce_scatter", (("allreduce", _same),)),
)


@dataclass(frozen=True)
class Verdict:
    """One guideline at one place. ``others_s``: the sum of its parts."""

    guideline: Guideline
    own: Row
    others_s: float
    broken: bool

    @property
    def factor(self) -> float:
        """The ratio of the operation's time to that of its parts; above 1 is too slow."""
        return self.own.median / self.others_s


Curves: TypeAlias = Mapping[tuple[str, int], Mapping[int, Row]]


def verdicts(rows: Iterable[Row], level: float) -> list[Verdict]:
    """Judge every guideline wherever both its sides were measured; ranks that shared cores are left out."""
    known = [row for row in blocking(rows) if not is_crowded(row) and operation_of(row) != "barrier"]
    curves = nested(((operation_of(row), ranks_of(row)), size_of(row), row) for row in known)
    found = [
        (guideline, own, parts)
        for guideline in GUIDELINES
        for (operation, ranks), curve in sorted(curves.items())
        if operation == guideline.operation
        for size, own in sorted(curve.items())
        if (parts := _parts(guideline, ranks, size, curves))
    ]
    pairs = [(own, _sum_of(parts)) for _, own, parts in found]
    return [
        Verdict(guideline, own, others.median, one.verdict == "slower" and own.median > _MATTERS * others.median)
        for (guideline, _, _), (own, others), one in zip(found, pairs, compare_pairs(pairs, level), strict=True)
    ]


def _parts(guideline: Guideline, ranks: int, size: int, curves: Curves) -> list[Row]:
    """Return the row of each part, or nothing where one was not measured."""
    needs = [(curves.get((name, ranks), {}), rule(size, ranks)) for name, rule in guideline.parts]
    if not all(any(have >= needed for have in curve) for curve, needed in needs):
        return []
    return [curve[min(have for have in curve if have >= needed)] for curve, needed in needs]


def _sum_of(parts: Sequence[Row]) -> Row:
    """Return the first part with the sums of all: the times of a repetition of each are a sample of their sum."""
    sums = [sum(each) for each in zip(*(row.repetitions for row in parts), strict=False)]
    return parts[0].model_copy(
        update={
            "median": sum(row.median for row in parts),
            "repetitions": sums,
            "launches": parts[0].launches[: len(sums)],
            "grade": "C" if any(row.grade == "C" for row in parts) else parts[0].grade,
        }
    )


def guideline_findings(rows: Sequence[Row], level: float) -> list[Finding]:
    """Return a finding for each guideline that is broken, at its worst place, and one for all that hold."""
    by_guideline = grouped((verdict.guideline, verdict) for verdict in verdicts(rows, level))
    broken = {guideline: [one for one in all_ if one.broken] for guideline, all_ in by_guideline.items()}
    findings = [_broken(guideline, bad, by_guideline[guideline]) for guideline, bad in broken.items() if bad]
    held = [guideline.text for guideline, bad in broken.items() if not bad]
    if held:
        text = (
            f"No violation of {plural(len(held), 'performance guideline')} was found where both sides were measured: "
            f"{listing(held, 12)}."
        )
        findings.append(
            finding(
                "guidelines-held",
                f"No violation of {plural(len(held), 'performance guideline')} was found",
                text,
                guidelines=held,
                comparisons=sum(len(by_guideline[g]) for g in by_guideline if not broken[g]),
            )
        )
    return findings


def _broken(guideline: Guideline, bad: Sequence[Verdict], all_: Sequence[Verdict]) -> Finding:
    worst = max(bad, key=lambda one: one.factor)
    where = f"This holds in {len(bad)} of {len(all_)} cases. " if len(all_) > 1 else ""
    text = (
        f"{guideline.operation} of {format_bytes(size_of(worst.own))} with {ranks_of(worst.own)} ranks takes "
        f"{format_time(worst.own.median)}, {times(worst.factor)} the time of {guideline.other} of the same library "
        f"({format_time(worst.others_s)}). {where}Select another algorithm in the settings of the library."
    )
    return finding(
        "guideline",
        f"{guideline.operation} is slower than {guideline.other}",
        text,
        "advice",
        guideline=guideline.text,
        ranks=ranks_of(worst.own),
        message_bytes=size_of(worst.own),
        operation_s=worst.own.median,
        parts_s=worst.others_s,
        factor=worst.factor,
        broken=len(bad),
        compared=len(all_),
    )
