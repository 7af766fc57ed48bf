# SPDX-License-Identifier: Apache-2.0
"""System facts, whatever their shape, as groups of label and text; the words of a page, and what they mean."""

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias, cast

from ullage.grouping import grouped
from ullage.model.summary import Summary
from ullage.quantity import param_label, plural
from ullage.reading import child
from ullage.report.verdicts import present
from ullage.units import format_volume

Pair = tuple[str, str]
Facts: TypeAlias = Mapping[str, object]
_DEEPEST: Final = 4
_LONGEST_LIST: Final = 24
_HEADINGS: Final = {"cpu": "CPU", "numa": "NUMA node", "mpi": "MPI"}


def nodes_text(system: Facts) -> str:
    """Return ``4 nodes with 8 ranks`` where a run used several nodes, else an empty text."""
    used = child(system, "measured_on")
    nodes, ranks = number_of(used, "nodes"), int(number_of(used, "ranks") or 0)
    return "" if nodes is None else f"{plural(int(nodes), 'node')} with {plural(ranks, 'rank')}"


def text_of(facts: Facts, key: str) -> str:
    """Return a fact that is a text; empty where it is not known."""
    found = facts.get(key)
    return found if isinstance(found, str) else ""


def number_of(facts: Facts, key: str) -> float | None:
    """Return a fact that is a number; None where it is not known."""
    found = facts.get(key)
    return float(found) if isinstance(found, (int, float)) else None


def flatten(system: Facts) -> list[tuple[str, list[Pair]]]:
    """Return a group for each top-level key, after plain values in ``machine``; what is null or empty is left out."""
    machine = [
        pair
        for key, value in system.items()
        if not isinstance(value, (Mapping, list))
        for pair in _pairs(key, value, 0)
    ]
    groups = [("machine", machine)]
    for key, value in system.items():
        if isinstance(value, Mapping):
            inner = _items(cast("object", value))
            groups.append((_heading(key), [pair for name, item in inner for pair in _pairs(name, item, 1)]))
        elif isinstance(value, list):
            groups.extend(_list_groups(key, cast("list[object]", value)))
    return [(name, pairs) for name, pairs in groups if pairs]


def _heading(key: str) -> str:
    return _HEADINGS.get(key, param_label(key))


def _list_groups(key: str, values: list[object]) -> Iterator[tuple[str, list[Pair]]]:
    """Yield one group of one pair for plain values; for objects a group each, named after its first fact."""
    if not any(isinstance(value, Mapping) for value in values):
        yield _heading(key), _pairs(key, values, 1)
        return
    for value in values[:_LONGEST_LIST]:
        pairs = [pair for name, item in _items(value) for pair in _pairs(name, item, 1)]
        yield f"{_heading(key).removesuffix('s')} {pairs[0][1]}" if pairs else "", pairs[1:]


def _items(value: object) -> list[tuple[str, object]]:
    return list(cast("Mapping[str, object]", value).items()) if isinstance(value, Mapping) else []


def _pairs(key: str, value: object, depth: int) -> list[Pair]:
    label = param_label(key)
    if value is None or (isinstance(value, (str, list, Mapping)) and not value):
        return []
    if isinstance(value, Mapping):
        if depth >= _DEEPEST:
            return [(label, "…")]
        # Sizes of caches are keyed by their level: the unit stands in the name of the whole.
        suffix = "_bytes" if key == "caches" else ""
        items = _items(cast("object", value))
        inner = [pair for name, item in items for pair in _pairs(f"{name}{suffix}", item, depth + 1)]
        return [(f"{label}: {name}", text) for name, text in inner]
    if isinstance(value, list):
        items = cast("list[object]", value)
        shown = [_text(key, item) for item in items[:_LONGEST_LIST]]
        more = [f"and {len(items) - _LONGEST_LIST} more"] if len(items) > _LONGEST_LIST else []
        return [(label, ", ".join([*shown, *more]))]
    return [(label, _text(key, value))]


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)) and key.endswith("_bytes"):
        return format_volume(value)
    if isinstance(value, int) and value >= 10000:
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


_WORDS: Final = (
    ("Ullage", "The empty part of a vessel: 100 % less the share of its ceiling that a part reaches."),
    (
        "Ceiling",
        (
            "The most that a part could do. Declared: you state it. Detected: the hardware states it. Empirical: the "
            "best that anything has reached here; the hardware may do more."
        ),
    ),
    ("Share", "The median divided by its ceiling. For a time, the ceiling divided by the median."),
    ("Interval", "It contains the true median in 95 of 100 runs. With fewer than 6 repetitions a range replaces it."),
    ("Range", "The least and the greatest of too few repetitions. No level of confidence belongs to it."),
    ("Verdict", "What was really measured: whether bytes moved between the ranks and the target, or a cache answered."),
    (
        "Grade",
        (
            "How much other programs used the machine while a number was measured. A: below 1 % of the cores' time. "
            "B: below 5 %. C: more, and no finding rests on such numbers. ?: the time was too short to know."
        ),
    ),
    ("A look", "The score of a run that was made shorter on purpose than its rules require. Nothing went wrong."),
    ("Gain", "How many times better a number becomes with a change, and the interval of that factor."),
)


def glossary(summary: Summary) -> list[tuple[str, str]]:
    """Return terms and their meanings. A flag is explained by the first reason that a row gives for it."""
    verdicts = [
        (f"Verdict “{one.label}”", f"{one.meaning[:1].upper()}{one.meaning[1:]}.") for one in present(summary.rows)
    ]
    reasons = grouped((flag.kind, flag.reason) for row in summary.rows for flag in row.flags if flag.reason)
    flags = [(f"Flag {kind}", f"For example: {found[0]}") for kind, found in reasons.items()]
    return [*_WORDS, *verdicts, *flags]
