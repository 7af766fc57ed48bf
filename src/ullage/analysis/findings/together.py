# SPDX-License-Identifier: Apache-2.0
"""What findings on the grids of a study say together: which target where, what more ranks give, what is odd.

Only numbers that findings carry are used, and a target is named only where its finding was told from a tie.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.findings.phrasing import (
    LONGEST_SETTING,
    block,
    capital,
    noun,
    on_axis,
    operations,
    place,
    setting_of,
    setting_text,
    span,
)
from ullage.analysis.findings.study import Cell, Numbers
from ullage.grouping import grouped, nested
from ullage.model.plan import Scalar
from ullage.model.summary import Finding
from ullage.quantity import listing, plural, show, times

_KINDS: Final = frozenset({"best", "ratio", "crossover", "scaling", "outlier", "drop", "edge"})
_MOST_NAMED: Final = 3


@dataclass(frozen=True)
class _Said:
    """The numbers of a finding, and as text the setting that tells its grid apart from those of the others."""

    numbers: Numbers
    setting: str

    def word(self, name: str) -> str:
        return str(self.numbers.get(name) or "")

    def number(self, name: str) -> float:
        found = self.numbers.get(name)
        return float(found) if isinstance(found, (int, float)) else 0.0

    def count(self, name: str) -> int:
        return int(self.number(name))

    def listed(self, name: str) -> list[Scalar]:
        found = self.numbers.get(name)
        return found if isinstance(found, list) else []

    def counts(self, name: str) -> list[int]:
        return [int(value) for value in self.listed(name)]

    @property
    def what(self) -> str:
        return f"{noun(self.word('access'))}{self.setting}"

    @property
    def subject(self) -> str:
        return f"{self.word('target')} {operations(self.word('access'))}{self.setting}"


_NOTHING: Final = _Said({}, "")


def is_of_grid(finding: Finding) -> bool:
    """Tell whether ``grid_lines`` covers ``finding``: suites may have findings of their own under the same names."""
    return finding.kind in _KINDS and {"target", "access", "metric"} <= finding.numbers.keys()


def grid_lines(findings: Sequence[Finding], caveats: Sequence[str] = ()) -> list[str]:
    """Return the sentences on grids, decisions first; none where no finding is about a grid.

    ``caveats``: what to know of a comparison of targets; they follow its decisions, and are left out without one.
    """
    by_kind = grouped(_read([finding for finding in findings if is_of_grid(finding)]))
    compared = nested(
        ((said.word("target"), said.word("against"), said.what), said.word("scope") or said.word("axis"), said)
        for said in [*by_kind.get("ratio", []), *by_kind.get("crossover", [])]
    )
    pairs = [_Pair(first, second, capital(what), said) for (first, second, what), said in compared.items() if second]
    # Where targets are compared, the decision is which of them to take; else it is which setting.
    decisions = _decisions(pairs) or [_best(said) for said in by_kind.get("best", [])]
    outliers, drops = by_kind.get("outlier", []), by_kind.get("drop", [])
    edges, growth = map(_edge, by_kind.get("edge", [])), _scaling(by_kind.get("scaling", []))
    decisions += caveats if pairs else []
    return [*decisions, *_outliers(outliers), *edges, *_by_ranks(pairs), *growth, *_drops(drops, outliers)]


def _read(findings: Sequence[Finding]) -> Iterator[tuple[str, _Said]]:
    """Yield kind and numbers of each finding; a setting that is the same in all of them tells nothing apart."""
    settings = [setting_of(finding.numbers, LONGEST_SETTING) for finding in findings]
    values = grouped((name, str(value)) for setting in settings for name, value in setting)
    alike = {name for name, found in values.items() if len(found) == len(findings) and len(set(found)) == 1}
    for finding, setting in zip(findings, settings, strict=True):
        own = tuple((name, value) for name, value in setting if name not in alike)
        yield finding.kind, _Said(finding.numbers, setting_text(own))


@dataclass(frozen=True)
class _Pair:
    """What is said of two targets, one access and setting, by its scope: ``best``, ``cells``, ``block_bytes`` ..."""

    first: str
    second: str
    what: str
    said: Mapping[str, _Said]

    def of(self, scope: str) -> _Said:
        return self.said.get(scope, _NOTHING)


def _decisions(pairs: Sequence[_Pair]) -> list[str]:
    """Say which target to take; what is said in the same words of several accesses and settings is said once.

    For example ``Writes, best against best: nvme for blocks up to 512K (4.4 to 8.0 x, 64 ranks); scratch for 16M (6.2
    x, 2 ranks).``
    """
    groups = grouped(
        (f"{'; '.join(clauses)}.{_cells(pair)}", pair.what)
        for pair in pairs
        if (clauses := (list(_by_block(pair)) or list(_best_against_best(pair))))
    )
    return [f"{_whats(whats)}, best against best: {said}" for said, whats in groups.items()]


def _whats(whats: Sequence[str]) -> str:
    if len(whats) > _MOST_NAMED:
        return f"In {len(whats)} of the comparisons ({whats[0].lower()} and others)"
    return listing([whats[0], *map(str.lower, whats[1:])])


def _by_block(pair: _Pair) -> Iterator[str]:
    """Yield a clause for each winner, that of the smallest blocks first, then one on blocks that cannot be told."""
    said = pair.of("best-by-block")
    sizes, verdicts = said.counts("block_bytes"), said.listed("verdict")
    ratios = [float(ratio) for ratio in said.listed("ratio")]
    sides = {"faster": (pair.first, said.counts("ranks")), "slower": (pair.second, said.counts("against_ranks"))}
    word = "blocks "
    for verdict in dict.fromkeys(str(found) for found in verdicts if found in sides):
        name, ranks = sides[verdict]
        won = [index for index, found in enumerate(verdicts) if found == verdict]
        gains = [ratios[index] if verdict == "faster" else 1 / ratios[index] for index in won]
        where = _blocks([sizes[index] for index in won], sizes, word)
        yield f"{name} {where} ({_range(gains)}, {_ranks([ranks[index] for index in won])})"
        word = ""
    open_ = [size for size, verdict in zip(sizes, verdicts, strict=True) if verdict == "cannot tell"]
    if open_ and len(open_) == len(sizes):
        yield f"{_undecided(pair)} at any block size"
    elif open_:
        yield f"{span(open_, sizes)} cannot be told"


def _undecided(pair: _Pair) -> str:
    return f"which of {listing(sorted([pair.first, pair.second]))} is faster cannot be told"


def _blocks(values: Sequence[int], every: Sequence[int], word: str) -> str:
    """Name block sizes: ``for blocks up to 512K``, ``for 16M``, ``at every block size``."""
    if len(values) == len(every) > 1:
        return "at every block size"
    if len(values) > 1 and list(values) == list(every[: len(values)]):
        return f"for {word}up to {block(values[-1])}"
    return f"for {word}{'of ' if word else ''}{span(values, every)}"


def _range(ratios: Sequence[float]) -> str:
    """Write the range of gains with two digits, since each has an interval of its own that is wider."""
    return f"{' to '.join(dict.fromkeys(map(_gain, (min(ratios), max(ratios)))))} x"


def _gain(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 1.095 else f"{ratio:.2f}"


def _ranks(values: Sequence[int]) -> str:
    """Name rank counts: ``64 ranks``, ``1 or 4 ranks``, ``1 to 64 ranks``."""
    known = sorted(set(values))
    if len(known) == 1:
        return plural(known[0], "rank")
    return f"{known[0]} {'or' if len(known) == 2 else 'to'} {known[-1]} ranks"


def _best_against_best(pair: _Pair) -> Iterator[str]:
    """Yield which target wins best against best, for pairs that have no blocks to be told apart by."""
    ratio, verdict = pair.of("best").number("ratio"), pair.of("best").word("verdict")
    if verdict == "cannot tell":
        yield f"{_undecided(pair)} ({times(ratio)})"
    elif verdict:
        winner, gain = (pair.first, ratio) if verdict == "faster" else (pair.second, 1 / ratio)
        yield f"{winner} ({_range([gain])})"


def _cells(pair: _Pair) -> str:
    """Say so where one target wins every cell, and not with its best ranks alone; return an empty text otherwise."""
    total, won, lost = map(pair.of("cells").count, ("cells", "faster", "slower"))
    return f" It is faster in all {total} cells." if total and total in (won, lost) else ""


_DEPENDS: Final = frozenset({"gains", "loses", "mixed"})


def _by_ranks(pairs: Sequence[_Pair]) -> list[str]:
    """Say at which rank counts a target wins wherever it can be told; skip pairs where the same one wins at each."""
    texts = [text for pair in pairs if (text := _ranks_of(pair))]
    return [f"By ranks, where it can be told: {'; '.join(texts)}."] if texts else []


def _ranks_of(pair: _Pair) -> str:
    """Say at which rank counts each target wins, or nothing where the same one wins wherever it can be told.

    For example ``writes nvme at 16, 32 and 64, scratch at 2, by block size at 4 and 8``.
    """
    lines = list(zip(pair.of("block_bytes").counts("ranks"), pair.of("block_bytes").listed("pattern"), strict=True))
    told = {pattern for _, pattern in lines} - {"undecided"}
    if len(told) < 2 and not told & _DEPENDS:
        return ""
    groups = ((pair.first, {"first"}), (pair.second, {"second"}), ("by block size", _DEPENDS))
    found = [(name, [str(count) for count, pattern in lines if pattern in wanted]) for name, wanted in groups]
    return f"{pair.what.lower()} {', '.join(f'{name} at {listing(counts)}' for name, counts in found if counts)}"


def _best(said: _Said) -> str:
    """Name the best setting, and how many others cannot be told from it.

    For example ``disk writes have the best median with 1 rank and 10M blocks (3.17 GB/s); 3 other settings ...``.
    """
    ranks, size = said.count("ranks"), said.count("block_bytes")
    rivals = list(zip(said.counts("rival_ranks"), said.counts("rival_block_bytes"), strict=True))
    which = f"{said.word('target')} {operations(said.word('access'))}"
    what = f"{which} have the best median with {place(ranks, size)}{said.setting}"
    text = f"{what} ({show(said.number('value'), said.word('unit'))})"
    if not rivals:
        return f"{text}."
    fewer = f", one with only {place(*min(rivals))}" if min(rivals)[0] < ranks else ""
    return f"{text}; {plural(len(rivals), 'other setting')} cannot be told apart from it{fewer}."


_FLAT: Final = "are not shown to change"
_VERBS: Final = {
    "rises": "rise",
    "falls": "fall",
    "peaks": "peak in between",
    "flat": _FLAT,
    "dips": "are lowest in between",
    "unknown": "may differ by their launches alone (one each)",
}


def _scaling(findings: Sequence[_Said]) -> list[str]:
    groups: dict[str, dict[str, list[str]]] = {}
    for said in findings:
        verb = _VERBS.get(said.word("overall"), "do not go one way")
        groups.setdefault(verb, {}).setdefault(said.word("target"), []).append(f"{said.what}{_change(said)}")
    if not groups:
        return []
    first = min(said.count("first_ranks") for said in findings)
    last = max(said.count("last_ranks") for said in findings)
    start = f"From {first} to {plural(last, 'rank')}"
    flat = groups.pop(_FLAT, {})
    told = [f"{_who(by_target)} {verb}" for verb, by_target in groups.items()]
    if not told:
        return [f"{start} nothing is shown to change."]
    if count := sum(map(len, flat.values())):
        told.append(f"{_who(flat) if count <= _MOST_NAMED else 'the others'} {_FLAT}")
    return [f"{start}: {'; '.join(told)}."]


def _who(by_target: Mapping[str, list[str]]) -> str:
    return listing([f"{target} {listing(whats, _MOST_NAMED)}" for target, whats in by_target.items()], _MOST_NAMED)


def _change(said: _Said) -> str:
    """Write the factor as `` (18.3 x)``, the middle of all block sizes; return an empty text where it is flat.

    Where not all block sizes go that way, it says how many do.
    """
    overall, shapes = said.word("overall"), said.listed("shape")
    if overall in ("flat", "unknown"):
        return ""
    agreeing = shapes.count(overall)
    where = "" if agreeing == len(shapes) or overall not in _VERBS else f", {agreeing} of {len(shapes)} block sizes"
    return f" ({times(said.number('ratio'))}{where})"


def _edge(said: _Said) -> str:
    """Write ``nvme writes still rise at 64 ranks, the last tried: test 128 ranks (--extend ranks).``"""
    test = f": test {said.word('test')}" if said.word("test") else ""
    return f"{said.subject} still rise at {on_axis(said.word('axis'), said.count('value'))}, the last tried{test}."


def _outliers(findings: Sequence[_Said]) -> list[str]:
    if not findings:
        return []
    texts = [_outlier(said, "" if place else " what its neighbours say") for place, said in enumerate(findings)]
    count = "One outlier" if len(texts) == 1 else f"{len(texts)} outliers"
    option = findings[0].word("again")
    return [f"{count}: {_some(texts)}. Repeat before use{f' ({option})' if option else ''}."]


def _outlier(said: _Said, than: str) -> str:
    is_line = said.word("scope") == "line"
    where = on_axis(said.word("axis"), said.count("value")) if is_line else place(*next(_cells_of(said))[2])
    return f"{said.subject} with {where} ({times(said.number('ratio'))}{than})"


def _drops(findings: Sequence[_Said], outliers: Sequence[_Said]) -> list[str]:
    """Name in one sentence the steps unlike those of other block sizes, without those that are outliers too."""
    seen = {cell for said in outliers for cell in _cells_of(said)}
    texts = [_drop(said) for said in findings if not seen & {*_cells_of(said)}]
    count = "One step" if len(texts) == 1 else f"{len(texts)} steps"
    return [f"{count} unlike other block sizes': {_some(texts)}."] if texts else []


def _drop(said: _Said) -> str:
    size, before, ranks = block(said.count("block_bytes")), said.count("before_ranks"), said.count("ranks")
    factor, others = times(said.number("ratio")), times(said.number("others"))
    return f"{said.subject} of {size} from {before} to {plural(ranks, 'rank')} ({factor}, others {others})"


def _cells_of(said: _Said) -> Iterator[tuple[str, str, Cell]]:
    """Yield the cells that a finding names, be it one or a list of them."""
    ranks, sizes = (said.counts(axis) or [said.count(axis)] for axis in ("ranks", "block_bytes"))
    return ((said.word("target"), said.word("access"), cell) for cell in zip(ranks, sizes, strict=True))


def _some(texts: Sequence[str]) -> str:
    more = [f"{len(texts) - _MOST_NAMED} more"] if len(texts) > _MOST_NAMED else []
    return "; ".join([*texts[:_MOST_NAMED], *more])
