# SPDX-License-Identifier: Apache-2.0
"""What the pairs say of switches: whether messages that pass from one to another take longer. Pure.

A link between two switches is held against what its two ends do within their own: its sender to the others there, and
the others there to its receiver, whichever takes longer. So a slow end counts on both sides, and nothing is said of
ends that are alone at their switch. What is said must be so of most links, by a factor that matters, in every
repetition, by many times the scatter of the links, and by the comparison of all claims of a report together.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ullage.analysis.findings.phrasing import capital, finding
from ullage.analysis.statistics.comparison import Comparison, Contest, compare_all
from ullage.analysis.statistics.order import rank_test
from ullage.arrays import np
from ullage.grouping import grouped
from ullage.quantity import listing, times
from ullage.suites.pairs import effects
from ullage.system.switches import nouns_of

if TYPE_CHECKING:
    from ullage.arrays import NDArray
    from ullage.model.summary import Finding

# Sentences on switches are a half of what a report says of its pairs.
_LEVEL: Final = 0.975
_MOST_OF_LINKS: Final = 0.25
"""The quantile of the links that has to be slow, so that three of four are."""
_CHANCE: Final = 0.01
_FEWEST_SWITCHES: Final = 3
"""With two switches all links between them pass both, so neither is named."""


@dataclass(frozen=True)
class SwitchPair:
    """All ordered pairs from one switch to another, or within one. Times in s.

    ``each``: of the median pair in each repetition. ``is_all``: of all switches, in words.
    """

    sender: str
    receiver: str
    pairs: int
    median: float
    worst: float
    each: tuple[float, ...]
    is_all: bool = False


def switch_pairs(matrix: effects.PairMatrix) -> list[SwitchPair]:
    """Return what the pairs of each two switches take; none where all ends are at one, or no switch is known.

    Two lines come first: all pairs within a switch, and all between switches. Pairs within a node pass no switch.
    """
    if len(matrix.switches) < 2:
        return []
    within, across = matrix.within, matrix.across
    leaves = np.array(matrix.leaves)
    first = f"one {matrix.leaf_noun}"
    both = [(first, "the same", within), (first, "another", across)]
    found = [_switch_pair(matrix, *line, is_all=True) for line in both if line[2].any()]
    for one, other in itertools.product(matrix.switches, repeat=2):
        cells = (leaves[:, None] == one) & (leaves[None, :] == other) & (within | across)
        found += [_switch_pair(matrix, one, other, cells)] if cells.any() else []
    return found


def _switch_pair(
    matrix: effects.PairMatrix, sender: str, receiver: str, cells: "NDArray[np.bool_]", *, is_all: bool = False
) -> SwitchPair:
    each = np.median(matrix.times[:, cells], axis=1)
    found = matrix.median[cells]
    middle, worst = _middle(found), float(found.max())
    return SwitchPair(sender, receiver, int(cells.sum()), middle, worst, tuple(each.tolist()), is_all)


@dataclass(frozen=True)
class SlowPassage:
    """Links between switches that are slow. ``switch``: through it; empty: between any two.

    ``seconds``: of the median link; ``usual``: of the same ends within their switches, or through other switches.
    """

    switch: str
    seconds: float
    usual: float
    found: Comparison


@dataclass(frozen=True)
class _Candidate:
    """``seconds`` and ``usual`` by repetition; ``matters``: by all that is asked besides the comparison."""

    switch: str
    seconds: "NDArray[np.float64]"
    usual: "NDArray[np.float64]"
    matters: bool


def slow_passages(matrices: Sequence[effects.PairMatrix]) -> list[list[SlowPassage]]:
    """Return for each matrix which links between switches are slow; of all together at most 1 in 40 reports is wrong.

    All that could be said is compared together (Holm), whether it matters or not.
    """
    tried = [(index, one) for index, matrix in enumerate(matrices) for one in _candidates(matrix)]
    contests = [Contest(one.seconds.tolist(), one.usual.tolist(), better="less") for _, one in tried]
    found: list[list[SlowPassage]] = [[] for _ in matrices]
    for (index, one), comparison in zip(tried, compare_all(contests, _LEVEL), strict=True):
        if one.matters and comparison.verdict == "slower":
            seconds, usual = _middle(one.seconds), _middle(one.usual)
            found[index].append(SlowPassage(one.switch, seconds, usual, comparison))
    return found


def _middle(values: "NDArray[np.float64]") -> float:
    return float(np.median(values))


def _candidates(matrix: effects.PairMatrix) -> Iterator[_Candidate]:
    """Yield all links between switches, then those through each switch that has two nodes and two other switches."""
    if len(matrix.switches) < 2 or len(matrix.times) < effects.FEWEST_REPETITIONS:
        return
    within, each = matrix.within, np.log(matrix.times)
    sends, receives = np.full(each.shape[:2], np.nan), np.full(each.shape[:2], np.nan)
    for end, links in enumerate(within):
        if links.any():
            sends[:, end] = np.median(each[:, end, links], axis=1)
            receives[:, end] = np.median(each[:, links, end], axis=1)
    own = np.maximum(sends[:, :, None], receives[:, None, :])
    cells = matrix.across & ~np.isnan(own[0])
    if not cells.any():
        return
    excess = (each - own)[:, cells]
    seconds, usual = (np.exp(np.median(one[:, cells], axis=1)) for one in (each, own))
    hosts, leaves = np.array(matrix.hosts), np.array(matrix.leaves)
    senders, receivers = np.nonzero(cells)
    nodes = _nodes(hosts, leaves, senders, "")
    matters = _matters(excess, np.zeros(len(excess)), 2 / nodes) and _are_other_cables(matrix, cells, within, 1)
    yield _Candidate("", seconds, usual, matters)
    names = sorted({str(leaf) for leaf in leaves[senders]})
    for name in names if len(names) >= _FEWEST_SWITCHES else []:
        at = (leaves[:, None] == name) | (leaves[None, :] == name)
        through = at[senders, receivers]
        here = _nodes(hosts, leaves, senders, name)
        rest = np.median(excess[:, ~through], axis=1)
        slow = np.exp(np.median(each[:, cells][:, through], axis=1))
        factor = np.exp(np.median(excess[:, through], axis=1) - rest)
        matters = _matters(excess[:, through], rest, 1 / here + 1 / (nodes - here))
        matters = matters and _are_other_cables(matrix, cells & at, cells & ~at, len(names))
        yield _Candidate(name, slow, slow / factor, matters)


def _are_other_cables(
    matrix: effects.PairMatrix, slow: "NDArray[np.bool_]", others: "NDArray[np.bool_]", claims: int
) -> bool:
    """Tell whether the pairs of ``slow`` differ from ``others`` by more than any division of these pairs would.

    So what some cables do by chance is no property of a switch. Both directions of a pair are one cable.
    """
    logs = np.triu(np.log(matrix.median) + np.log(matrix.median).T, 1)
    first, second = (logs[np.triu(cells, 1)].tolist() for cells in (slow, others))
    return rank_test(first, second) <= _CHANCE / claims


def _nodes(hosts: "NDArray[np.str_]", leaves: "NDArray[np.str_]", senders: "NDArray[np.intp]", switch: str) -> int:
    """Count the nodes of links; those at ``switch`` if one is named."""
    return len({str(hosts[end]) for end in senders if not switch or leaves[end] == switch})


def _matters(excess: "NDArray[np.float64]", rest: "NDArray[np.float64]", parts: float) -> bool:
    """Tell whether links exceed ``rest``: most of them, by a factor that matters, in every repetition, beyond noise.

    ``parts``: the variance of their median, in variances of one link. Links that share a node are not independent, so
    nodes count, not links.
    """
    links = np.median(excess - rest[:, None], axis=0)
    middle = float(np.median(links))
    always = float(np.min(np.median(excess, axis=1) - rest))
    noise = max(effects.LEAST_SIGMA, effects.scale(links - middle)) * math.sqrt(parts)
    return (
        middle > max(math.log(effects.SLOW_END), effects.MANY_OF_ENDS * noise)
        and always > math.log(effects.EVERY_TIME)
        and float(np.quantile(links, _MOST_OF_LINKS)) > math.log(effects.EVERY_TIME)
    )


def passage_finding(matrix: effects.PairMatrix, slow: SlowPassage) -> "Finding":
    """Say which links between switches are slow, and by how much."""
    value, usual, found = matrix.shown(slow.seconds), matrix.shown(slow.usual), slow.found
    known = "" if found.low is None or found.high is None else f" [{times(found.low)}, {times(found.high)}]"
    factor, one, several = f"{times(found.ratio)}{known}", matrix.leaf_noun, nouns_of(matrix.leaf_noun)
    numbers = {
        "value": matrix.value(slow.seconds),
        "usual": matrix.value(slow.usual),
        "factor": found.ratio,
        "low": found.low,
        "high": found.high,
    }
    if slow.switch:
        text = (
            f"Between {one} {slow.switch} and the others {matrix.message} {matrix.verb} {value}. {usual} would be "
            f"usual between other {several} ({factor}). Check the links from {slow.switch} to the others."
        )
        title = f"Messages through {one} {slow.switch} are slow"
        return matrix.warning("slow-switch", title, text, **numbers, switch=slow.switch)
    text = (
        f"{capital(matrix.message)} {matrix.verb} {value} between {several}. The same {matrix.noun}s "
        f"{'take' if matrix.is_latency else 'reach'} {usual} within their {one} ({factor}). Place ranks that "
        f"communicate on one {one}."
    )
    title = f"Messages between {several} are slow"
    return finding("between-switches", title, text, "advice", **matrix.place, **numbers)


def slow_together(matrix: effects.PairMatrix) -> dict[str, list[int]]:
    """Return the switches whose ends are all slow, with these ends, where that is so at most once in 100 by chance."""
    slow, every = {one.end for one in matrix.fit.ends}, len(matrix.names)
    return {
        leaf: ends
        for leaf, ends in all_slow(matrix).items()
        if len(matrix.switches) * math.comb(every - len(ends), len(slow) - len(ends))
        <= _CHANCE * math.comb(every, len(slow))
    }


def all_slow(matrix: effects.PairMatrix) -> dict[str, list[int]]:
    """Return the switches whose ends are all slow, with these ends: at two nodes or more, and less than half of all."""
    slow = {one.end for one in matrix.fit.ends}
    ends_of = grouped((leaf, end) for end, leaf in enumerate(matrix.leaves) if leaf)
    return {
        leaf: ends
        for leaf, ends in ends_of.items()
        if slow.issuperset(ends) and len({matrix.hosts[end] for end in ends}) > 1 and 2 * len(ends) < len(matrix.names)
    }


def cause_of(matrix: effects.PairMatrix, end: int) -> str:
    """Say why an end is slow: itself, or its switch where the links to others at that switch do not say otherwise."""
    links_text = f"All links of this {matrix.noun} are slow"
    leaf, noun = matrix.leaves[end] if matrix.leaves else "", matrix.leaf_noun
    if leaf and len(matrix.switches) > 1:
        links = matrix.within[end]
        if not links.any():
            return f"{links_text}. No other node here is at {noun} {leaf}, so the cause is the node or the {noun}."
        if leaf in all_slow(matrix):
            return (
                f"All {matrix.noun}s here at {noun} {leaf} are slow, so the cause is the {matrix.noun} or the {noun}."
            )
        limit = effects.EVERY_TIME * math.exp(matrix.fit.polish.common)
        if max(_middle(matrix.median[end, links]), _middle(matrix.median[links, end])) < limit:
            return f"Its links within {noun} {leaf} are as usual, so the cause is between the {nouns_of(noun)}."
    return f"{links_text}, so the cause is the {matrix.noun} itself."


def together_finding(matrix: effects.PairMatrix, leaf: str, ends: Sequence[int]) -> "Finding":
    """Report once that all ends of a switch are slow, and whether they are so among themselves."""
    here = np.array([end in ends for end in range(len(matrix.names))])
    apart = np.array(matrix.hosts)[:, None] != np.array(matrix.hosts)[None, :]
    out = _middle(matrix.median[here[:, None] != here[None, :]])
    own = _middle(matrix.median[here[:, None] & here[None, :] & apart])
    usual = math.exp(matrix.fit.polish.common)
    names, where = [matrix.names[end] for end in ends], f"{matrix.leaf_noun} {leaf}"
    text = (
        f"All {len(ends)} {matrix.noun}s at {where} are slow: {listing(names)}. {capital(matrix.message)} "
        f"{matrix.verb} {matrix.shown(out)} between them and the others, and {matrix.shown(own)} among themselves. "
        f"{matrix.shown(usual)} is usual. Check {where} and its links."
    )
    numbers = {"value": matrix.value(out), "within": matrix.value(own), "usual": matrix.value(usual)}
    title = f"All {matrix.noun}s at {where} are slow"
    return matrix.warning("slow-switch", title, text, switch=leaf, ends=names, **numbers, factor=out / usual)


def links_by_switch(matrix: effects.PairMatrix) -> "list[Finding]":
    """Say that all slow links are between two switches, or at one; nothing where they may be so by chance."""
    leaf_of = matrix.leaves or [""] * len(matrix.names)
    passed = [{leaf_of[link.sender], leaf_of[link.receiver]} for link in matrix.fit.links]
    if not passed or any("" in pair or len(pair) < 2 for pair in passed):
        return []
    common = sorted(leaf for leaf in passed[0] if all(leaf in pair for pair in passed))
    leaves = np.array(matrix.leaves)
    here = np.isin(leaves, common)
    at = here[:, None] & here[None, :] if len(common) > 1 else here[:, None] | here[None, :]
    count = int((at & matrix.across).sum())
    if not common or _chance(matrix, count // 2) > _CHANCE:
        return []
    one, several = matrix.leaf_noun, nouns_of(matrix.leaf_noun)
    where = f"between {several} {common[0]} and {common[1]}" if len(common) > 1 else f"at {one} {common[0]}"
    text = (
        f"All {len(passed)} slow links with {matrix.message} are {where}. {count} links between {several} were "
        f"measured there."
    )
    return [matrix.warning("switch-links", f"All slow links are {where}", text, switches=common)]


def _chance(matrix: effects.PairMatrix, pairs: int) -> float:
    """Return the chance that all slow pairs of ends are among ``pairs`` of all, at any two switches or any one.

    Both directions of a pair count once, because they have the same cable.
    """
    known = sum(leaf != "" for leaf in matrix.leaves)
    switches = len(matrix.switches)
    groups = 1 if switches == 2 else switches * (switches + 1) // 2
    slow = len({frozenset((link.sender, link.receiver)) for link in matrix.fit.links})
    return min(1.0, groups * math.comb(pairs, slow) / math.comb(known * (known - 1) // 2, slow))
