# SPDX-License-Identifier: Apache-2.0
"""The transfers that a log has traced, as lists for workload ``pio``: exactly these, in their order on each rank."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from ullage.grouping import grouped
from ullage.importers.darshan.job import Facts
from ullage.importers.darshan.log import Traced
from ullage.model.plan import Named, Parameters
from ullage.quantity import percent, plural

# A list stands in the plan and in the record of each repetition; the engine takes no longer transfer.
_MOST_RUNS: Final = 4000
_MOST_LISTS: Final = 32
_NO_MATTER: Final = 1e-3
_LONGEST: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Listed:
    """Transfers of one file, or of one file of each rank: ``runs`` as the engine has them, with their sums."""

    access: str
    pattern: str
    runs: str
    amount: int
    operations: int
    ranks: int

    def work(self, verify: str) -> Named:
        """Return what does it. What is read is written before in the same way."""
        phases = ["write", "read"] if self.access == "read" else ["write"]
        found: Parameters = {"phases": phases, "pattern": self.pattern, "list": self.runs}
        return Named(name="pio", parameters={**found, "sync": False, "verify": verify})


def listed_of(traces: Iterable[Traced]) -> list[Listed]:
    """Return the lists of what was traced, those with most bytes. What is too long or does not matter is left out."""
    made: list[Listed] = []
    alone: dict[tuple[str, int], list[Traced]] = {}
    for (access, _), found in grouped(((one.access, one.file), one) for one in traces).items():
        if len({one.rank for one in found}) > 1:
            made += _list_of(access, "listed", found)
        else:
            alone.setdefault((access, found[0].rank), []).extend(found)
    for access in ("write", "read"):
        of_ranks = [found for (of, _), found in alone.items() if of == access]
        for index in range(max(map(len, of_ranks), default=0)):
            made += _list_of(access, "listed-own", [found[index] for found in of_ranks if index < len(found)])
    least, fewest = _NO_MATTER * sum(one.amount for one in made), 10 * _NO_MATTER * sum(one.operations for one in made)
    made = [one for one in made if one.amount >= least or one.operations >= fewest]
    return sorted(made, key=lambda one: -one.amount)[:_MOST_LISTS]


def _list_of(access: str, pattern: str, found: Sequence[Traced]) -> list[Listed]:
    runs = list(islice((run for one in found for run in _runs(one)), _MOST_RUNS + 1))
    amount = sum(int(one.lengths.sum()) for one in found)
    is_known = all(one.offsets.min() >= 0 and one.lengths.min() >= 0 and one.lengths.max() <= _LONGEST for one in found)
    if not is_known or not runs or len(runs) > _MOST_RUNS:
        return []
    operations = sum(int((one.lengths > 0).sum()) for one in found)
    return [Listed(access, pattern, " ".join(runs), amount, operations, 1 + max(one.rank for one in found))]


def _runs(one: Traced) -> Iterator[str]:
    """Yield RANK:OFFSET:LENGTH:COUNT:STRIDE of transfers of one size that begin at equal distances."""
    moves = one.lengths > 0
    offsets, lengths = one.offsets[moves].tolist(), one.lengths[moves].tolist()
    first = 0
    while first < len(offsets):
        end, stride = first + 1, 0
        while end < len(offsets) and lengths[end] == lengths[first]:
            apart = offsets[end] - offsets[end - 1]
            stride = apart if end == first + 1 else stride
            if apart != stride:
                break
            end += 1
        yield f"{one.rank}:{offsets[first]}:{lengths[first]}:{end - first}:{stride if end > first + 1 else 0}"
        first = end


def replayed(facts: Facts, listed: Sequence[Listed]) -> Iterator[str]:
    """Say how much of the log is replayed exactly, if any of it is."""
    if not listed:
        return
    moved, operations = sum(one.moved() for one in facts.lowest), sum(one.operations() for one in facts.lowest)
    parts = (
        sum(one.amount for one in listed) / max(1, moved),
        sum(one.operations for one in listed) / max(1, operations),
    )
    shares = [percent(min(1.0, part)) for part in parts]
    yield (
        f"{plural(len(listed), 'case')} of the transfers that the log has traced: {shares[0]} of its bytes and "
        f"{shares[1]} of its operations, each at its place, in the order of its rank; the others are for the rates of "
        "the same work by size and order"
    )
