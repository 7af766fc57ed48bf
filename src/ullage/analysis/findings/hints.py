# SPDX-License-Identifier: Apache-2.0
"""Hints that the MPI library was given and did not use, by what it names afterwards."""

from collections.abc import Iterable
from typing import TypeVar

from ullage.analysis.findings.phrasing import finding
from ullage.grouping import grouped
from ullage.model.plan import Scalar
from ullage.model.summary import Finding
from ullage.quantity import plural

Place = TypeVar("Place")


def refused_hints(uses: Iterable[tuple[Place, str, str, str]]) -> dict[tuple[Place, str, str], list[str]]:
    """Return what was in use, each time that a hint was given, of hints that were not used as given at least once.

    ``uses``: where, key, value, and the value in use; empty for a hint that was not named.
    """
    given = grouped(((place, key, value), used) for place, key, value, used in uses)
    return {hint: used for hint, used in given.items() if any(one != hint[2] for one in used)}


def not_used(
    kind: str, hint: tuple[str, str], used: Iterable[str], noun: str, where: str = "", label: str = "", **place: Scalar
) -> Finding:
    """Say that a ``hint`` was not used, of how many times that it was given, each in a ``noun``, and what was instead.

    ``where`` and ``label`` stand behind the hint and before the sentence; ``place``: numbers that say where it was.
    """
    (key, value), every = hint, list(used)
    refused = [one for one in every if one != value]
    granted = next((one for one in refused if one), "")
    did = f"used {granted} instead" if granted else "did not use it"
    often = "" if len(refused) == len(every) else f" in {len(refused):,} of {plural(len(every), noun)}"
    return finding(
        kind,
        f"{label}The MPI library did not use the hint {key} = {value}",
        f"{label}The MPI library was given the hint {key} = {value}{where} and {did}{often}.",
        "advice",
        **place,
        key=key,
        given=value,
        granted=granted,
        **{f"{noun}s": len(refused), "of": len(every)},
    )
