# SPDX-License-Identifier: Apache-2.0
"""Values put together by a key that they share. Keys and values stay in the order in which they come."""

from collections.abc import Iterable
from typing import TypeVar

KeyT = TypeVar("KeyT")
InnerT = TypeVar("InnerT")
ValueT = TypeVar("ValueT")


def grouped(pairs: Iterable[tuple[KeyT, ValueT]]) -> dict[KeyT, list[ValueT]]:
    """Return all values of each key."""
    found: dict[KeyT, list[ValueT]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def nested(triples: Iterable[tuple[KeyT, InnerT, ValueT]]) -> dict[KeyT, dict[InnerT, ValueT]]:
    """Return for each outer key a mapping of the inner ones; of equal keys the last value stays."""
    found: dict[KeyT, dict[InnerT, ValueT]] = {}
    for key, inner, value in triples:
        found.setdefault(key, {})[inner] = value
    return found
