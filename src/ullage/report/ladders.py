# SPDX-License-Identifier: Apache-2.0
"""Where the rest goes, as words and as a picture: each rung from the ceiling down to the value. Pure."""

from dataclasses import dataclass
from html import escape
from typing import Final

from ullage.analysis.ceilings.rows import is_of_device
from ullage.analysis.ladders import NOT_EXPLAINED
from ullage.errors import one_line
from ullage.model.summary import Finding, Gain, Ladder, Row, Rung, Summary
from ullage.quantity import between, format_quantity, percent, times
from ullage.report.headlines import Vessel, vessels

# A change that costs less is none to name.
_LEAST_COST: Final = 0.02
# Rungs that cost more than the whole gap by this factor cost some of it twice.
_OVERLAP: Final = 1.005
KIND: Final = "rung"
"""The kind of findings that rungs become."""


def cost(rung: Rung) -> str:
    """Write ``costs 12 % [10 %, 14 %], 1.14 x``; of what the rungs do not explain there is no interval."""
    lost = percent(1 - rung.factor, 1)
    if rung.what == NOT_EXPLAINED:
        too_much = rung.factor >= _OVERLAP
        return "nothing, since the costs above overlap" if too_much else f"{lost}, {times(1 / rung.factor)}"
    if rung.low is None or rung.high is None:
        return f"costs {lost} (no interval), {times(1 / rung.factor)}"
    least, most = (round(100 * (1 - one), 1) + 0.0 for one in (rung.high, rung.low))
    known = between(f"{least:.1f} %", f"{most:.1f} %")
    if not rung.is_sure:
        word = "gains" if rung.low > 1 else "no cost that can be told"
        return f"{word} {known}"
    return f"costs {lost} {known}, {times(1 / rung.factor)}"


def steps(ladder: Ladder) -> list[tuple[Rung, float]]:
    """Return the rungs in their order, the unexplained last, each with the share that is left below it.

    None costs more than the whole gap, and none leaves less than the value.
    """
    found: list[tuple[Rung, float]] = []
    left = 1.0
    for rung in ladder.rungs:
        known = _within_ceiling(rung, ladder.share)
        left = max(left * known.factor, ladder.share)
        found.append((known, left))
    return [*found, (ladder.unexplained, ladder.share)]


def head(part: str, row: Row) -> str:
    """Write ``cores: 79.4 Gop/s, 62 % of 128 Gop/s``."""
    value = f"{part}: {format_quantity(row.median, row.unit)}"
    if row.ceiling is None or row.share is None:
        return value
    return f"{value}, {percent(row.share)} of {format_quantity(row.ceiling.value, row.unit)}"


def in_one_line(ladder: Ladder, row: Row) -> str:
    """Say the whole ladder in one sentence for a table or a terminal."""
    said = [f"{rung.clause}: {cost(rung)}" for rung, _ in steps(ladder)]
    return f"{head(ladder.part, row)}. {'; '.join(said)}."


def told_ceiling(row: Row, created: str) -> list[str]:
    """Return kind, source, time and reason of the ceiling of ``row``; empty without one. ``created``: of the run."""
    ceiling = row.ceiling
    if ceiling is None:
        return []
    # A datasheet is older than the run, nobody knows by how much.
    at = ceiling.at or ("" if ceiling.kind == "declared" else created)
    return [ceiling.kind, ceiling.source, at[:16].replace("T", " "), ceiling.why]


def largest(ladder: Ladder) -> Rung | None:
    """Return the rung that is proved to cost most; None where none costs anything that is worth a name."""
    return min(filter(_is_cause, ladder.rungs), key=lambda rung: rung.factor, default=None)


def _is_cause(rung: Rung) -> bool:
    return rung.is_sure and rung.factor <= 1 - _LEAST_COST


def rung_findings(summary: Summary) -> list[Finding]:
    """Return a finding for each rung that costs something and is a change of the user's machine or program."""
    return [
        _finding(summary.rows[ladder.row], ladder, rung)
        for ladder in summary.ladders
        for rung in ladder.rungs
        if rung.may_rank
        and _is_cause(rung)
        # What a cache answered says nothing of the part.
        and all(is_of_device(summary.rows[index]) for index in (ladder.row, *rung.rows))
    ]


def _within_ceiling(rung: Rung, share: float | None) -> Rung:
    """Return ``rung`` with no cost beyond what the ceiling leaves: nothing that is changed gains more."""
    known = {"factor": rung.factor, "low": rung.low, "high": rung.high}
    most = {name: max(value, share or 0.0) for name, value in known.items() if value is not None}
    return rung.model_copy(update=most)


def _finding(row: Row, ladder: Ladder, rung: Rung) -> Finding:
    rung = _within_ceiling(rung, row.share)
    low, high = (None if one is None else 1 / one for one in (rung.high, rung.low))
    title = f"{ladder.part[:1].upper()}{ladder.part[1:]}: {rung.clause}"
    return Finding(
        kind=KIND,
        title=title,
        text=f"{title}. This {cost(rung)}. {rung.advice}".rstrip(),
        change=rung.command,
        gain=Gain(factor=1 / rung.factor, low=low, high=high),
        severity="advice",
        numbers={"part": ladder.part, "rung": rung.kind, "factor": rung.factor, "low": rung.low, "high": rung.high},
        suite=row.suite,
    )


@dataclass(frozen=True)
class Explained:
    """A part with its ceiling, and its ladder where there is one. ``row``: that stands for it."""

    vessel: Vessel
    ladder: Ladder | None

    @property
    def row(self) -> Row:
        """The row that stands for the part."""
        return self.vessel.row


def explained_parts(summary: Summary) -> list[Explained]:
    """Return all parts of the machine that a row stands for, with their ladders, then named phases with theirs."""
    ladders, known = {ladder.part: ladder for ladder in summary.ladders}, vessels(summary)
    parts = {vessel.part for vessel in known}
    phases = [Vessel(one.part, one.part, summary.rows[one.row]) for one in summary.ladders if one.part not in parts]
    return [Explained(vessel, ladders.get(vessel.part)) for vessel in [*known, *phases]]


_BAR: Final = 14


def ladder_html(ladder: Ladder) -> str:
    """Draw bars from the ceiling down to the value, each below its words, which are escaped."""
    drawn = [f"<p>the ceiling</p>{_bar(1.0, 1.0, '')}"]
    before = 1.0
    for rung, left in steps(ladder):
        # Red is what is proved; the rest may as well be nothing.
        color = "var(--red)" if rung.is_sure else "var(--button)"
        said = f"{escape(one_line(rung.clause))}: {escape(cost(rung))}".replace(" %", "\u00a0%")
        drawn.append(f"<p>{said}</p>{_bar(before, left, color)}")
        before = left
    return "".join(drawn)


def _bar(before: float, left: float, color: str) -> str:
    most = max(before, left, 1.0)
    kept, upper = (100 * min(before, left) / most, 100 * max(before, left) / most)
    lost = f'<rect x="{kept:.2f}" width="{upper - kept:.2f}" height="{_BAR}" fill="{color}"/>' if color else ""
    kept_bar = f'<rect width="{kept:.2f}" height="{_BAR}" fill="var(--fill)"/>'
    return f'<svg viewBox="0 0 100 {_BAR}" preserveAspectRatio="none" aria-hidden="true">{kept_bar}{lost}</svg>'
