# SPDX-License-Identifier: Apache-2.0
"""What a round still lacks, and what must be written again because the data of an earlier launch is gone. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ullage.suites.b_eff_io.cases import dataset_of
from ullage.suites.b_eff_io.measured import CellKey
from ullage.suites.b_eff_io.patterns import SEGMENTED_TYPES, TIMED_TYPES, PatternType


@dataclass(frozen=True)
class Rest:
    """What is left of a round; of ``wanted`` those in ``again`` went well before, and only make their data anew."""

    wanted: frozenset[CellKey]
    again: tuple[CellKey, ...]


def rest_of(
    keys: Sequence[CellKey], done: Collection[CellKey], given_up: Collection[CellKey], there: Collection[str]
) -> Rest:
    """Of all ``keys`` of a round. ``there``: datasets that are still in place."""
    wanted = {key: None for key in keys if key not in done and key not in given_up}
    to_look_at = list(wanted)
    again: list[CellKey] = []
    while to_look_at:
        for maker in _makers(to_look_at.pop()):
            if dataset_of(maker) not in there and maker not in wanted and maker not in given_up:
                wanted[maker] = None
                again.append(maker)
                to_look_at.append(maker)
    return Rest(frozenset(wanted), tuple(key for key in keys if key in again))


def runnable(keys: Sequence[CellKey], there: Collection[str]) -> list[CellKey]:
    """Those of a launch that find what they need: a dataset that is ``there``, or made before them in the launch.

    Segments take their counts from the datasets of other types, as far as there are any.
    """
    made = set(there)
    found: list[CellKey] = []
    for key in keys:
        makers = _makers(key)
        if makers and not any(dataset_of(maker) in made for maker in makers):
            continue
        if key.access == "write":
            made.add(dataset_of(key))
        found.append(key)
    return found


def _makers(key: CellKey) -> list[CellKey]:
    """Cells that make what ``key`` uses."""
    if key.access != "write":
        return [_writer(key, key.type)]
    return [_writer(key, kind) for kind in TIMED_TYPES] if key.type in SEGMENTED_TYPES else []


def _writer(key: CellKey, kind: PatternType) -> CellKey:
    return replace(key, access="write", type=kind)
