# SPDX-License-Identifier: Apache-2.0
"""Which rows stand beside each other: those that are alike in all but the compared thing, and in what follows from it.

What each compared value has one of, for rows of a kind, follows from it: runs on 160 nodes with 16 ranks each and on
504 nodes with 2 stand side by side by target, nodes or ranks. What some compared value has several of is a setting, and
must be shared. Of whole results what is left over is compared at the largest count of each: all cores with all cores.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.analysis.settings import access_of, separating_keys, sort_key
from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Row

# These dimensions have a word of their own; any parameter of the rows is a dimension, too.
DIMENSIONS: Final = ("target", "result", "backend", "block", "ranks", "nodes", "ppn", "access")
_ACCESS: Final = frozenset({"access", "phase"})
_BLOCK: Final = "block_bytes"
# These parameters say how much was at work, or in which pieces. They, and a target, may follow from what is compared.
_SIZES: Final = ("ranks", "nodes", _BLOCK)
Setting = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True)
class Sample:
    """A row and the name of the result it is from."""

    row: Row
    result: str


Place = tuple[Setting, str]
Places = dict[Place, dict[str, Sample]]
_Kind = tuple[str, str, str]
_COUNTS: Final = ("nodes", "ranks", "threads")


def value_of(sample: Sample, by: str) -> Scalar | None:
    """Return what ``sample`` has in the compared dimension ``by``; None when it has no such thing."""
    params = sample.row.params
    match by:
        case "target":
            return sample.row.target
        case "result":
            return sample.result
        case "access":
            return access_of(sample.row) or None
        case "block":
            return params.get(_BLOCK)
        case "ppn":
            ranks, nodes = params.get("ranks"), params.get("nodes")
            known = isinstance(ranks, int) and isinstance(nodes, int) and nodes > 0 and ranks % nodes == 0
            return int(ranks) // int(nodes) if known and ranks is not None and nodes is not None else None
        case _:
            return params.get(by)


def names_of(samples: Iterable[Sample], by: str) -> tuple[str, ...]:
    """Return the compared values as texts: numbers rising, words in the order in which they come first."""
    values = {value: None for sample in samples if (value := value_of(sample, by)) is not None}
    numeric = all(isinstance(value, (int, float)) for value in values)
    return tuple(str(value) for value in (sorted(values, key=sort_key) if numeric else values))


def results_by_name(samples: Iterable[Sample], by: str) -> dict[str, str]:
    """Return the one result that has each compared value.

    Return none where a value is in several results, or where there is one result only.
    """
    found: dict[str, set[str]] = {}
    for sample in samples:
        if (value := value_of(sample, by)) is not None:
            found.setdefault(str(value), set()).add(sample.result)
    results = [result for each in found.values() for result in each]
    is_one_each = len(results) == len(found) == len(set(results)) and len(found) > 1
    return {name: next(iter(each)) for name, each in found.items()} if is_one_each else {}


def dimensions_of(rows: Iterable[Row]) -> list[str]:
    """Return everything that rows can be compared by."""
    return list(dict.fromkeys([*DIMENSIONS, *(name for row in rows for name in row.params)]))


@dataclass(frozen=True)
class Matching:
    """How samples are put side by side by ``by``."""

    samples: Sequence[Sample]
    by: str

    def places(self) -> Places:
        """Arrange samples by setting and metric, then by compared value; raise UserError for two in the same place."""
        place = self._place()
        places: Places = {}
        for sample in self.samples:
            value = value_of(sample, self.by)
            if value is None:
                continue
            found = places.setdefault((place(sample), sample.row.metric), {})
            if str(value) in found:
                what = f"two rows of '{sample.row.metric}' stand for the same case of '{value}'"
                raise UserError(what, sample.result, "the summary is damaged; make it again with `ullage report`")
            found[str(value)] = sample
        return _with_largest(places) if results_by_name(self.samples, self.by) else places

    def _place(self) -> Callable[[Sample], Setting]:
        """Return a function from a sample to the setting that it must share with another, beside the metric."""
        common = self._common()
        by = self.by
        of_row = {id(one.row): (*common(one), value_of(one, by), one.row.metric) for one in self.samples}
        rows = [sample.row for sample in self.samples]
        extra = separating_keys(rows, lambda row: of_row[id(row)])
        kept = [key for key in extra if key != by and key not in _ACCESS]
        # Of rows still alike some have a parameter that others lack, as those of one NUMA node have its number.
        alike = grouped(((of_row[id(row)], *(row.params.get(key) for key in kept)), row) for row in rows)
        for found in alike.values():
            counts = Counter(key for row in found for key in row.params)
            kept += [key for key, count in counts.items() if count < len(found) and key not in kept]

        def place(sample: Sample) -> Setting:
            return (*common(sample), *((key, sample.row.params[key]) for key in kept if key in sample.row.params))

        return place

    def _common(self) -> Callable[[Sample], Setting]:
        samples, own = self.samples, {_BLOCK if self.by == "block" else "access" if self.by in _ACCESS else self.by}
        # Two suites of one result may have done the same thing in different ways.
        has_several = len({(one.result, one.row.suite) for one in samples}) > len({one.result for one in samples})
        is_apart = not results_by_name(samples, self.by)
        following = following_keys(samples, self.by, has_several=has_several)

        def common(sample: Sample) -> Setting:
            row = sample.row
            pairs: list[tuple[str, Scalar | None]] = [
                ("result", sample.result if is_apart else None),
                ("suite", row.suite if has_several else None),
                ("target", row.target),
                ("access", access_of(row)),
                ("ranks", row.params.get("ranks")),
                (_BLOCK, row.params.get(_BLOCK)),
            ]
            left_out = own | following.get(_kind(sample, self.by, has_several=has_several), set())
            return tuple(
                (key, value) for key, value in pairs if key not in left_out and value is not None and value != ""
            )

        return common


def following_keys(samples: Sequence[Sample], by: str, *, has_several: bool = False) -> dict[_Kind, set[str]]:
    """Return the keys, for each kind of row, that follow from the compared value and differ between values.

    A target follows only where each value has one of its own. A key that a row lacks is a value, too: tables of others
    state less than our rows do.
    """
    found: dict[tuple[_Kind, str], dict[Scalar, set[Scalar | None]]] = {}
    for sample in samples:
        value = value_of(sample, by)
        for key in (*_SIZES, "target") if value is not None else ():
            has = sample.row.target if key == "target" else sample.row.params.get(key)
            of_kind = found.setdefault((_kind(sample, by, has_several=has_several), key), {})
            of_kind.setdefault(value or "", set()).add(has)
    following: dict[_Kind, set[str]] = {}
    for (kind, key), values in found.items():
        if _follows(values, len(values) if key == "target" else 2):
            following.setdefault(kind, set()).add(key)
    return following


def _follows(values: dict[Scalar, set[Scalar | None]], fewest: int) -> bool:
    distinct = {each for found in values.values() for each in found}
    return all(len(found) == 1 for found in values.values()) and len(distinct) >= max(fewest, 2)


def _kind(sample: Sample, by: str, *, has_several: bool) -> _Kind:
    return sample.row.suite if has_several else "", "" if by in _ACCESS else access_of(sample.row), sample.row.metric


def _with_largest(places: Places) -> Places:
    """Put what found no partner beside each other, of each compared value what has the largest count of its places."""
    of_rest: dict[Place, dict[str, list[tuple[list[float], Place]]]] = {}
    for place, found in places.items():
        rest = tuple(pair for pair in place[0] if pair[0] not in _COUNTS), place[1]
        for name, sample in found.items():
            counts = [float(sample.row.params.get(key, 0)) for key in _COUNTS]
            of_rest.setdefault(rest, {}).setdefault(name, []).append((counts, place))
    made = dict(places)
    for rest, by_name in of_rest.items():
        most = {name: max(counted, key=lambda one: one[0])[1] for name, counted in by_name.items()}
        alone = {name: place for name, place in most.items() if len(places[place]) == 1}
        if len(alone) > 1 and rest not in places:
            made[rest] = {name: places[place][name] for name, place in alone.items()}
            for place in alone.values():
                del made[place]
    return made
