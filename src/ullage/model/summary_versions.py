# SPDX-License-Identifier: Apache-2.0
"""Older versions of summary.json, made into today's when one is read.

Version 1 had the flags' codes in one list and all reasons of a row in another: the verdict's, those of the flags in
their order, notes. Which is whose follows from the places, but for two kinds of flags.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final, cast

_FIRST: Final = "ullage.summary/1"
_SECOND: Final = "ullage.summary/2"
# Their reasons, any number of them, stood before those of the verdict: they are left there.
_VOID: Final = frozenset({"INVALID:void", "INVALID:void-phase"})
# Importers said nothing of this flag, and rows of an impact had its reason elsewhere; the words tell it.
_INTERVAL: Final = "interval-below-"
_OF_INTERVAL: Final = re.compile(r"the range of \d+ covers the median with |a single repetition has no |one sample$")
# These stood last, and were neither the verdict's nor a flag's: of memory runs, and of ratios of cpu runs.
_NOTE: Final = re.compile(r"\d+% of the set lay in huge pages$|.*: two medians, bounded by their intervals$")


def upgraded(document: object) -> object:
    """``document`` in the form of today where it is an older summary, else as it is. What is wrong in it stays so."""
    known = _members(document)
    rows = known.get("rows")
    if known.get("schema") != _FIRST or not isinstance(rows, list):
        return document
    return {**known, "schema": _SECOND, "rows": [_row(row) for row in cast("list[object]", rows)]}


def _row(row: object) -> object:
    known = _members(row)
    codes, reasons = known.get("flags", []), known.pop("reasons", [])
    if not known or not _are_texts(codes) or not _are_texts(reasons):
        return row
    left = list(cast("list[str]", reasons))
    notes = [left.pop()] if left and _NOTE.match(left[-1]) else []
    flags = _take_flags(cast("list[str]", codes), left)
    return {**known, "verdict_reasons": left, "flags": flags, "notes": notes}


def _members(value: object) -> dict[str, object]:
    """The members of an object; none of anything else."""
    return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else {}


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[object]", value))


def _take_flags(codes: Sequence[str], reasons: list[str]) -> list[dict[str, str]]:
    """The flags with their reasons, which are taken from the end of ``reasons``; those of the verdict remain."""
    found = dict.fromkeys(codes, "")
    for code in found:
        place = next((i for i in reversed(range(len(reasons))) if _OF_INTERVAL.match(reasons[i])), None)
        if code.startswith(_INTERVAL) and place is not None:
            found[code] = reasons.pop(place)
    for code in reversed([code for code in found if code not in _VOID and not code.startswith(_INTERVAL)]):
        found[code] = reasons.pop() if reasons else ""
    return [{"code": code, "reason": reason} for code, reason in found.items()]
