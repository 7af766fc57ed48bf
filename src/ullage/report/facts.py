# SPDX-License-Identifier: Apache-2.0
"""System facts, whatever their shape, as groups of label and text."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from ullage.quantity import param_label
from ullage.units import format_volume

Pair = tuple[str, str]
_DEEPEST: Final = 4
_LONGEST_LIST: Final = 24
_HEADINGS: Final = {"cpu": "CPU", "numa": "NUMA node", "mpi": "MPI"}


def flatten(system: Mapping[str, object]) -> list[tuple[str, list[Pair]]]:
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
