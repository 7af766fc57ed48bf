# SPDX-License-Identifier: Apache-2.0
"""A verdict and how those of several repetitions become one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.analysis.statistics import median
from ullage.quantity import percent

VerdictKind: TypeAlias = Literal["none", "memory", "cold", "direct", "synced", "mixed", "cached", "warm", "unknown"]

# A share from here on counts as all, one up to its complement as nothing: counters include a little of other work.
WHOLE: Final = 0.95
# The kinds are in order: from what promises most of the storage to what promises least.
_ORDER: Final[tuple[VerdictKind, ...]] = (
    "none",
    "cold",
    "direct",
    "synced",
    "memory",
    "mixed",
    "cached",
    "warm",
    "unknown",
)
_READ_KINDS: Final = frozenset({"cold", "mixed", "warm"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """Says what was really measured.

    ``text`` stands beside the number; ``share``: of the bytes asked for that moved on the storage, if known.
    """

    text: str
    kind: VerdictKind
    share: float | None = None
    reasons: tuple[str, ...] = ()


NOTHING_BEHIND: Final = Verdict("none", "none")


def read_verdict(share: float, reasons: Sequence[str]) -> Verdict:
    """Return ``cold``, ``mixed 37 %`` (the share that came from the storage) or ``warm``."""
    if share >= WHOLE:
        return Verdict("cold", "cold", share, tuple(reasons))
    if share <= 1 - WHOLE:
        return Verdict("warm", "warm", share, tuple(reasons))
    return Verdict(f"mixed {percent(share)}", "mixed", share, tuple(reasons))


def combine_verdicts(verdicts: Sequence[Verdict], *, are_repetitions: bool = True) -> Verdict:
    """Make one verdict of the repetitions behind a row: the median share where all know one, else the weakest.

    Where repetitions differ the first reason says how often each was met. ``are_repetitions``: false where it may be
    something else that differs, of which no reason tells. Raise ValueError without verdicts.
    """
    if not verdicts:
        raise ValueError("no verdicts")
    kinds = Counter(verdict.kind for verdict in verdicts)
    weakest = max(verdicts, key=lambda verdict: _ORDER.index(verdict.kind))
    reasons = list(dict.fromkeys(reason for verdict in verdicts for reason in verdict.reasons))
    if len(kinds) > 1:
        met = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        reasons = [f"repetitions differ: {met}", *reasons] if are_repetitions else reasons
    else:
        # Counters of each repetition would fill the page; the one nearest the median stands for them.
        reasons = list(_typical(verdicts).reasons)
    shares = [verdict.share for verdict in verdicts if verdict.share is not None]
    if kinds.keys() <= _READ_KINDS and len(shares) == len(verdicts):
        return read_verdict(median(shares), reasons)
    chosen = weakest if len(kinds) > 1 else _typical(verdicts)
    return Verdict(chosen.text, chosen.kind, chosen.share, tuple(reasons))


def _typical(verdicts: Sequence[Verdict]) -> Verdict:
    shares = [verdict.share for verdict in verdicts if verdict.share is not None]
    if not shares:
        return verdicts[0]
    middle = median(shares)
    return min((v for v in verdicts if v.share is not None), key=lambda v: abs((v.share or 0.0) - middle))
