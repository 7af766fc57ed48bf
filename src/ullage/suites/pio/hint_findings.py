# SPDX-License-Identifier: Apache-2.0
"""Hints that the MPI library was given and does not name afterwards. Pure."""

from collections.abc import Iterable

from ullage.analysis.findings.phrasing import finding
from ullage.model.summary import Finding
from ullage.results.records import AnyRecord
from ullage.results.rows import join


def ignored_hints(launches: Iterable[Iterable[AnyRecord]]) -> list[Finding]:
    """Return one finding for each hint that was not taken, or was taken with another value."""
    granted: dict[tuple[str, str], set[str]] = {}
    for item in join(launches):
        for key, value in item.phase.hints_given.items():
            found = item.phase.hints_granted.get(key, "")
            if found != value:
                granted.setdefault((key, value), set()).add(found)
    return [_ignored(key, value, sorted(filter(None, found))) for (key, value), found in granted.items()]


def _ignored(key: str, value: str, granted: list[str]) -> Finding:
    did = f"used {' and '.join(granted)} instead" if granted else "did not use it"
    text = f"The MPI library was given the hint {key} = {value} and {did}."
    title = f"The MPI library did not use the hint {key} = {value}"
    return finding("pio-hints-ignored", title, text, "advice", key=key, given=value, granted=granted)
