# SPDX-License-Identifier: Apache-2.0
"""What findings on grids of ranks by block sizes say together: which target where, what more ranks give, what is odd.

Only numbers that findings carry are used, and a target is named only where its finding was told from a tie.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, cast

from ullage.analysis.findings.phrasing import block, noun, operations, place, setting_text, span
from ullage.analysis.findings.study import Numbers
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Finding
from ullage.quantity import listing, plural, show, times

_KINDS: Final = frozenset({"best", "ratio", "crossover", "scaling", "outlier", "drop", "edge"})
_MOST_ODD: Final = 3
_LONGEST_SETTING: Final = 24
# These numbers of ratios and of best settings are no settings of their grid.
_NO_SETTING: Final = frozenset({
    "settings",
    "target", "access", "metric", "scope", "against", "noise", "block_bytes", "ranks", "against_ranks", "ratio",
    "low", "high", "verdict", "cells", "faster", "slower", "cannot_tell", "case", "value", "unit",
    "rival_ranks", "rival_block_bytes", "rival_case", "axis", "side", "pattern", "before", "after", "undecided",
    "overall", "first_ranks", "last_ranks", "shape", "best_ranks", "change", "growing_block_bytes",
    "growing_ranks", "others", "deviations", "before_ranks", "ratios", "test", "again",
})  # fmt: skip


def is_of_grid(finding: Finding) -> bool:
    """Tell whether ``grid_lines`` covers ``finding``: suites may have findings of their own under the same names."""
    return finding.kind in _KINDS and {"target", "access", "metric"} <= finding.numbers.keys()


def grid_lines(findings: Sequence[Finding], caveats: Sequence[str] = ()) -> list[str]:
    """Return the sentences on grids, decisions first; none where no finding is about a grid.

    ``caveats``: what to know of a comparison of targets; they follow its decisions, and are left out without one.
    """
    by_kind = grouped(
        (finding.kind, finding) for finding in _without_constants([one for one in findings if is_of_grid(one)])
    )
    pairs = _pairs([*by_kind.get("ratio", []), *by_kind.get("crossover", [])])
    bests = by_kind.get("best", [])
    # Where targets are compared, the decision is which of them to take; else it is which setting.
    decisions = _decisions(pairs) or [_best(finding) for finding in bests]
    outliers, drops = by_kind.get("outlier", []), by_kind.get("drop", [])
    edges, growth = map(_edge, by_kind.get("edge", [])), _scaling(by_kind.get("scaling", []))
    decisions += caveats if pairs else []
    return [*decisions, *_outliers(outliers), *edges, *_by_ranks(pairs), *growth, *_drops(drops, outliers)]


def _without_constants(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings without settings that are the same in all of them, since those tell nothing apart."""
    values = grouped((name, finding.numbers[name]) for finding in findings for name in _settings(finding.numbers))
    alike = {name for name, found in values.items() if len(found) == len(findings) and len(set(map(str, found))) == 1}
    return [
        finding.model_copy(update={"numbers": {n: v for n, v in finding.numbers.items() if n not in alike}})
        for finding in findings
    ]


# -- reading the numbers of findings -----------------------------------------------------------------------------------


def _list(numbers: Numbers, name: str) -> list[Scalar]:
    found = numbers.get(name)
    return found if isinstance(found, list) else []


def _counts(numbers: Numbers, name: str) -> list[int]:
    return [int(value) for value in _list(numbers, name)]


def _number(numbers: Numbers, name: str) -> float:
    found = numbers.get(name)
    return float(found) if isinstance(found, (int, float)) else 0.0


def _word(numbers: Numbers, name: str) -> str:
    return str(numbers.get(name) or "")


def _setting(numbers: Numbers) -> str:
    """Write the settings as text to append, such as ``, order random``."""
    return setting_text(tuple((name, cast("Scalar", numbers[name])) for name in _settings(numbers)))


def _settings(numbers: Numbers) -> list[str]:
    """Return the names of the settings that are short enough to be read beside the others; a row has all of them."""
    return [name for name, value in numbers.items() if name not in _NO_SETTING and len(str(value)) <= _LONGEST_SETTING]


def _subject(numbers: Numbers) -> str:
    return f"{_word(numbers, 'target')} {operations(_word(numbers, 'access'))}{_setting(numbers)}"


# -- which target ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Pair:
    """All that is said of two targets, one access and setting; empty numbers where a thing is not said."""

    first: str
    second: str
    what: str
    best: Numbers
    by_block: Numbers
    cells: Numbers
    by_ranks: Numbers


def _pairs(findings: Iterable[Finding]) -> list[_Pair]:
    groups: dict[tuple[str, str, str, str], dict[str, Numbers]] = {}
    for finding in findings:
        numbers = finding.numbers
        scope = _word(numbers, "scope") or f"along {_word(numbers, 'axis')}"
        access = noun(_word(numbers, "access"))
        key = _word(numbers, "target"), _word(numbers, "against"), access, _setting(numbers)
        groups.setdefault(key, {})[scope] = numbers
    return [
        _Pair(
            first,
            second,
            f"{access.capitalize()}{setting}",
            said.get("best", {}),
            said.get("best-by-block", {}),
            said.get("cells", {}),
            said.get("along block_bytes", {}),
        )
        for (first, second, access, setting), said in groups.items()
        if second
    ]


def _decisions(pairs: Sequence[_Pair]) -> list[str]:
    """Say which target to take; what is said in the same words of several accesses and settings is said once.

    For example ``Writes: nvme for blocks up to 512K (4.4 to 8.0 x, 64 ranks); scratch for 16M (6.2 x, 2 ranks).``
    """
    groups = grouped(
        (f"{'; '.join(clauses)}.{_cells(pair)}", pair.what)
        for pair in pairs
        if (clauses := (list(_by_block(pair)) or list(_best_against_best(pair))))
    )
    return [f"{_whats(whats)}: {said}" for said, whats in groups.items()]


def _whats(whats: Sequence[str]) -> str:
    if len(whats) > _MOST_ODD:
        return f"In {len(whats)} of the comparisons ({whats[0].lower()} and others)"
    return listing([what if not index else what.lower() for index, what in enumerate(whats)])


def _by_block(pair: _Pair) -> Iterator[str]:
    """Yield a clause for each winner, that of the smallest blocks first, then one on blocks that cannot be told."""
    numbers = pair.by_block
    sizes, verdicts = _counts(numbers, "block_bytes"), _list(numbers, "verdict")
    ratios = [float(ratio) for ratio in _list(numbers, "ratio")]
    sides = {
        "faster": (pair.first, _counts(numbers, "ranks")),
        "slower": (pair.second, _counts(numbers, "against_ranks")),
    }
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
    low, high = _gain(min(ratios)), _gain(max(ratios))
    return f"{high} x" if low == high else f"{low} to {high} x"


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
    ratio, verdict = _number(pair.best, "ratio"), _word(pair.best, "verdict")
    if not verdict:
        return
    if verdict == "cannot tell":
        yield f"{_undecided(pair)} ({times(ratio)})"
    else:
        winner = pair.first if verdict == "faster" else pair.second
        yield f"{winner} ({_range([ratio if verdict == 'faster' else 1 / ratio])}, best against best)"


def _cells(pair: _Pair) -> str:
    """Say so where one target wins every cell, and not with its best ranks alone; return an empty text otherwise."""
    total, won, lost = (int(_number(pair.cells, name)) for name in ("cells", "faster", "slower"))
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
    ranks, patterns = _counts(pair.by_ranks, "ranks"), [str(one) for one in _list(pair.by_ranks, "pattern")]
    told = set(patterns) - {"undecided"}
    if len(told) < 2 and not told & _DEPENDS:
        return ""
    groups = ((pair.first, {"first"}), (pair.second, {"second"}), ("by block size", _DEPENDS))
    found = [
        (name, [str(count) for count, pattern in zip(ranks, patterns, strict=True) if pattern in wanted])
        for name, wanted in groups
    ]
    return f"{pair.what.lower()} {', '.join(f'{name} at {listing(counts)}' for name, counts in found if counts)}"


# -- which setting -----------------------------------------------------------------------------------------------------


def _best(finding: Finding) -> str:
    """Name the best setting, and how many others cannot be told from it.

    For example ``disk writes have the best median with 1 rank and 10M blocks (3.17 GB/s); 3 other settings ...``.
    """
    numbers = finding.numbers
    ranks, sizes = _counts(numbers, "rival_ranks"), _counts(numbers, "rival_block_bytes")
    what = f"{_word(numbers, 'target')} {operations(_word(numbers, 'access'))}"
    is_alone = numbers.get("settings") == 1
    verb = "were measured" if is_alone else "have the best median"
    value = show(_number(numbers, "value"), _word(numbers, "unit"))
    text = f"{what} {verb} with {_best_place(numbers)}{_setting(numbers)} ({value})"
    if is_alone:
        return f"{text}; no other setting was compared with it."
    if not ranks:
        return f"{text}."
    others = f"{plural(len(ranks), 'other setting')} cannot be told apart from it"
    fewest, size = min(zip(ranks, sizes, strict=True))
    fewer = f", one with only {place(fewest, size)}" if fewest < _number(numbers, "ranks") else ""
    return f"{text}; {others}{fewer}."


def _best_place(numbers: Numbers) -> str:
    return place(int(_number(numbers, "ranks")), int(_number(numbers, "block_bytes")))


# -- what more ranks give ----------------------------------------------------------------------------------------------

_VERBS: Final = {
    "rises": "rise",
    "falls": "fall",
    "peaks": "peak in between",
    "flat": "are not shown to change",
    "dips": "are lowest in between",
    "unknown": "may differ by their launches alone (one each)",
}


def _scaling(findings: Sequence[Finding]) -> list[str]:
    """Say in one sentence what all grids do with more ranks, grouped by what they do."""
    groups: dict[str, dict[str, list[str]]] = {}
    for finding in findings:
        verb = _VERBS.get(_word(finding.numbers, "overall"), "do not go one way")
        what = f"{noun(_word(finding.numbers, 'access'))}{_setting(finding.numbers)}{_change(finding.numbers)}"
        groups.setdefault(verb, {}).setdefault(_word(finding.numbers, "target"), []).append(what)
    if not groups:
        return []
    first = min(int(_number(finding.numbers, "first_ranks")) for finding in findings)
    last = max(int(_number(finding.numbers, "last_ranks")) for finding in findings)
    start = f"From {first} to {plural(last, 'rank')}"
    flat = groups.pop(_VERBS["flat"], {})
    said = [f"{_who(by_target)} {verb}" for verb, by_target in groups.items()]
    if not said:
        return [f"{start} nothing is shown to change."]
    if count := sum(map(len, flat.values())):
        said.append(f"{_who(flat) if count <= _MOST_ODD else 'the others'} {_VERBS['flat']}")
    return [f"{start}: {'; '.join(said)}."]


def _who(by_target: dict[str, list[str]]) -> str:
    return listing([f"{target} {listing(whats, _MOST_ODD)}" for target, whats in by_target.items()], _MOST_ODD)


def _change(numbers: Numbers) -> str:
    """Write the factor as `` (18.3 x)``, the middle of all block sizes; return an empty text where it is flat.

    Where not all block sizes go that way, it says how many do.
    """
    overall, shapes = _word(numbers, "overall"), _list(numbers, "shape")
    if overall in ("flat", "unknown"):
        return ""
    agreeing = sum(shape == overall for shape in shapes)
    where = "" if agreeing == len(shapes) or overall not in _VERBS else f", {agreeing} of {len(shapes)} block sizes"
    return f" ({times(_number(numbers, 'ratio'))}{where})"


def _edge(finding: Finding) -> str:
    """Write ``nvme writes still rise at 64 ranks, the last tried: test 128 ranks (--extend ranks).``"""
    numbers, subject = finding.numbers, _subject(finding.numbers)
    value, is_ranks = int(_number(numbers, "value")), _word(numbers, "axis") == "ranks"
    where = plural(value, "rank") if is_ranks else f"{block(value)} blocks"
    test = _word(numbers, "test")
    return f"{subject} still rise at {where}, the last tried{f': test {test}' if test else ''}."


# -- what is odd -------------------------------------------------------------------------------------------------------


def _outliers(findings: Sequence[Finding]) -> list[str]:
    """Name the outliers in one sentence, at most ``_MOST_ODD`` of them."""
    if not findings:
        return []
    texts = [_outlier(one.numbers, " what its neighbours say" * (not i)) for i, one in enumerate(findings)]
    count = "One outlier" if len(texts) == 1 else f"{len(texts)} outliers"
    option = _word(findings[0].numbers, "again")
    return [f"{count}: {_some(texts)}. Repeat before use{f' ({option})' if option else ''}."]


def _drops(findings: Sequence[Finding], outliers: Sequence[Finding]) -> list[str]:
    """Name in one sentence the steps unlike those of other block sizes, without those that are outliers too."""
    seen = {cell for finding in outliers for cell in _cells_of(finding.numbers)}
    texts = [_drop(finding.numbers) for finding in findings if not set(_cell_of(finding.numbers)) & seen]
    count = "One step" if len(texts) == 1 else f"{len(texts)} steps"
    return [f"{count} unlike other block sizes': {_some(texts)}."] if texts else []


def _some(texts: Sequence[str]) -> str:
    more = [f"{len(texts) - _MOST_ODD} more"] if len(texts) > _MOST_ODD else []
    return "; ".join([*texts[:_MOST_ODD], *more])


def _cells_of(numbers: Numbers) -> list[tuple[str, str, int, int]]:
    cells = zip(_counts(numbers, "ranks"), _counts(numbers, "block_bytes"), strict=True)
    return [(_word(numbers, "target"), _word(numbers, "access"), ranks, size) for ranks, size in cells]


def _cell_of(numbers: Numbers) -> list[tuple[str, str, int, int]]:
    ranks, size = int(_number(numbers, "ranks")), int(_number(numbers, "block_bytes"))
    return [(_word(numbers, "target"), _word(numbers, "access"), ranks, size)]


def _outlier(numbers: Numbers, than: str) -> str:
    value = int(_number(numbers, "value"))
    if _word(numbers, "scope") == "line":
        where = f"{block(value)} blocks" if _word(numbers, "axis") == "block_bytes" else plural(value, "rank")
    else:
        ranks, size = _counts(numbers, "ranks"), _counts(numbers, "block_bytes")
        where = place(ranks[0], size[0])
    return f"{_subject(numbers)} with {where} ({times(_number(numbers, 'ratio'))}{than})"


def _drop(numbers: Numbers) -> str:
    before, ranks = int(_number(numbers, "before_ranks")), int(_number(numbers, "ranks"))
    size = block(int(_number(numbers, "block_bytes")))
    factor, others = times(_number(numbers, "ratio")), times(_number(numbers, "others"))
    return f"{_subject(numbers)} of {size} from {before} to {plural(ranks, 'rank')} ({factor}, others {others})"
