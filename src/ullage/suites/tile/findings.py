# SPDX-License-Identifier: Apache-2.0
"""Sentences on tiles: frames a second, collective against independent calls, sets of hints, and hints not used."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.contests import compare_rows
from ullage.analysis.findings.alike import best_of_alike, differing_in
from ullage.analysis.findings.phrasing import finding, gain_of, level_of_part, noun, with_gain
from ullage.analysis.statistics import level_of_each
from ullage.grouping import grouped
from ullage.model.summary import Finding, Gain, Row
from ullage.quantity import format_quantity, plural, times
from ullage.suites.tile.hints import DEFAULT
from ullage.units import format_rate

_FAMILIES: Final = 2
_COLLECTIVE: Final = "collective"
_OF_ROMIO: Final = "romio_"


@dataclass(frozen=True)
class HintUse:
    """Hints of one phase: as given, and as the MPI library said afterwards that it uses them.

    ``component``: what serves its files, as ``ompio``; empty: not known. OMPIO repeats whatever it is given.
    """

    given: Mapping[str, str]
    granted: Mapping[str, str]
    component: str = ""

    def used(self, key: str) -> str:
        """Return the value in use as far as that can be known; empty where the hint is not used."""
        is_foreign = key.startswith(_OF_ROMIO) and bool(self.component) and not self.component.startswith("romio")
        return "" if is_foreign else self.granted.get(key, "")


def findings_of(rows: Sequence[Row], hints: Mapping[tuple[str, str], Sequence[HintUse]], level: float) -> list[Finding]:
    """Return all findings; ``rows`` are sound ones."""
    rates = [row for row in rows if row.metric == "bandwidth" and not row.is_invalid]
    own = level_of_part(level, _FAMILIES)
    return [
        *_calls(rates, own),
        *_hint_sets(rates, own),
        *_ignored(hints),
        *_frames([row for row in rows if row.metric == "frame_rate" and not row.is_invalid]),
    ]


def _who(row: Row) -> str:
    return f"{row.target}, {row.params['tiles']} tiles of {row.params['tile']}"


def _frames(rows: Sequence[Row]) -> list[Finding]:
    """State the highest median of each access on each target; which setting is best is not said."""
    by_place = grouped(((row.target, str(row.params["access"])), row) for row in rows)
    return [_stream(max(some, key=lambda row: row.median)) for some in by_place.values()]


def _stream(row: Row) -> Finding:
    access = str(row.params["access"])
    text = (
        f"With {row.params['calls']} calls and hints {row.params['hint_set']}, {noun(access)} ({_who(row)}) reach "
        f"{format_quantity(row.median, 'frame/s')}, the highest median of all settings."
    )
    title = f"{row.target} {noun(access)} up to {format_quantity(row.median, 'frame/s')}"
    return finding("tile-frames", title, text, case=row.case, access=access, frame_rate=row.median)


def _calls(rows: Sequence[Row], level: float) -> list[Finding]:
    """Compare collective with independent calls wherever nothing else differs."""
    alike = best_of_alike(rows, level, "calls")
    pairs, found = [some for some, _ in alike], [_better_calls(some, gain) for some, gain in alike]
    title = "Collective and independent calls cannot be told apart"
    text = "Whether collective or independent calls are faster cannot be told"
    return [*_decided(found), *_undecided(pairs, found, "tile-calls", title, text, "access, ranks and hints")]


def _decided(found: Iterable[Finding | None]) -> list[Finding]:
    return [one for one in found if one is not None]


def _better_calls(pair: Sequence[Row], gain: Gain | None) -> Finding | None:
    top, other = pair
    if gain is None:
        return None
    collective, independent = pair if top.params["calls"] == _COLLECTIVE else (other, top)
    access, best = str(top.params["access"]), str(top.params["calls"])
    where = f"{_who(top)}, {plural(int(top.params['ranks']), 'rank')}, hints {top.params['hint_set']}"
    text = (
        f"For {noun(access)} ({where}), collective calls reach {format_rate(collective.median)} and independent calls "
        f"{format_rate(independent.median)}. {best.capitalize()} calls are faster, {times(gain.factor)}. "
        f"Use --calls {best}."
    )
    title = f"{best.capitalize()} {noun(access)} are faster on {top.target}"
    ratio = collective.median / independent.median
    told = finding("tile-calls", title, text, "advice", case=top.case, other=other.case, ratio=ratio)
    return with_gain(told, gain, f"--calls {best}")


def _undecided(
    groups: Sequence[Sequence[Row]], found: Sequence[Finding | None], kind: str, title: str, text: str, axes: str
) -> list[Finding]:
    """State once for each target in how many settings of ``axes`` nothing is told."""
    by_target = grouped((rows[0].target, one is None) for rows, one in zip(groups, found, strict=True))
    return [
        finding(
            kind,
            f"{title} on {target}",
            f"{text} on {target} in {sum(open_)} of {plural(len(open_), 'setting')} of {axes}.",
            target=target,
            undecided=sum(open_),
            of=len(open_),
        )
        for target, open_ in by_target.items()
        if any(open_)
    ]


def _hint_sets(rows: Sequence[Row], level: float) -> list[Finding]:
    """Compare the set with the highest median with the set of no hints, or else the first one."""
    # Where no set is the default one, the first one that was asked for is what others are compared with.
    several = [sorted(some, key=rows.index) for some in differing_in(rows, "hint_set")]
    own = level_of_each(level, map(len, several))
    found = [_best_set(some, own) for some in several]
    base = str(_base_of(several[0]).params["hint_set"]) if several else DEFAULT
    title, text = "Gains from hints are not shown everywhere", f"That a set of hints is faster than {base} is not shown"
    return [*_decided(found), *_undecided(several, found, "tile-hints", title, text, "access, ranks and calls")]


def _base_of(rows: Sequence[Row]) -> Row:
    return next((row for row in rows if row.params["hint_set"] == DEFAULT), rows[0])


def _best_set(rows: Sequence[Row], level: float) -> Finding | None:
    base = _base_of(rows)
    top = max(rows, key=lambda row: row.median)
    gain = None if top is base else gain_of(compare_rows(top, base, level, None))
    if gain is None:
        return None
    access, name, first = str(top.params["access"]), str(top.params["hint_set"]), str(base.params["hint_set"])
    where = f"{_who(top)}, {plural(int(top.params['ranks']), 'rank')}, {top.params['calls']}"
    listed = ", ".join(f"{row.params['hint_set']} {format_rate(row.median)}" for row in rows)
    text = (
        f"Sets of hints for {noun(access)} ({where}) reach: {listed}. Set {name} is faster than {first}, "
        f"{times(gain.factor)}. Use --hints {name}."
    )
    title = f"Hints {name} are faster for {top.params['calls']} {noun(access)}"
    ratio = top.median / base.median
    told = finding("tile-hints", title, text, "advice", case=top.case, base=base.case, hint_set=name, ratio=ratio)
    return with_gain(told, gain, f"--hints {name}")


def _ignored(hints: Mapping[tuple[str, str], Sequence[HintUse]]) -> list[Finding]:
    """Report each hint that the MPI library did not name afterwards, or named otherwise, or that is not of its kind."""
    found: list[Finding] = []
    for (target, hint_set), phases in hints.items():
        for key, value in _given_of(phases):
            used = [phase.used(key) for phase in phases]
            refused = [one for one in used if one != value]
            if refused:
                found.append(_not_used(target, hint_set, key, value, refused, len(phases)))
    return found


def _given_of(phases: Iterable[HintUse]) -> list[tuple[str, str]]:
    return list(dict.fromkeys(item for phase in phases for item in phase.given.items()))


def _not_used(target: str, hint_set: str, key: str, value: str, refused: Sequence[str], phases: int) -> Finding:
    granted = next((one for one in refused if one), "")
    what = f"used {granted} instead" if granted else "did not use it"
    many = "" if len(refused) == phases else f" in {len(refused)} of {plural(phases, 'phase')}"
    text = f"The MPI library was given the hint {key} = {value} (set {hint_set}) on {target} and {what}{many}."
    title = f"The MPI library did not use the hint {key} = {value}"
    return finding(
        "tile-hints-ignored",
        title,
        text,
        "advice",
        target=target,
        hint_set=hint_set,
        key=key,
        given=value,
        granted=granted,
        phases=len(refused),
        of=phases,
    )
