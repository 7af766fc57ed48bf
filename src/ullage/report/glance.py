# SPDX-License-Identifier: Apache-2.0
"""The machine in one picture: for each part of it the one number that stands for it. Pure; pages draw it as vessels,
terminals as bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.summary import Row, Summary
from ullage.report.headlines import headlines

PART_ORDER: Final = (
    "cores", "memory", "disk writes", "disk reads", "metadata", "messages", "network", "noise",
)  # fmt: skip


@dataclass(frozen=True)
class Vessel:
    """``row`` stands for ``part``; ``what`` says of what it is the number."""

    part: str
    what: str
    row: Row

    @property
    def share(self) -> float | None:
        """What is filled of its ceiling; None without one."""
        return self.row.share


def vessels(summary: Summary) -> list[Vessel]:
    """One for each part of the machine that was measured, in a fixed order, unknown parts last.

    Of several numbers of a part the first with a share of a ceiling stands for it, else the first.
    """
    chosen: dict[str, Vessel] = {}
    for vessel in _candidates(summary):
        known = chosen.get(vessel.part)
        if known is None or (known.share is None and vessel.share is not None):
            chosen[vessel.part] = vessel
    names = list(dict.fromkeys([*PART_ORDER, *chosen]))
    return [chosen[name] for name in names if name in chosen]


def _candidates(summary: Summary) -> Sequence[Vessel]:
    found = [line for part in summary.parts for line in part.headlines] or headlines(summary.rows)
    return [Vessel(_part(line.part, summary.rows[line.row]), line.what, summary.rows[line.row]) for line in found]


def _part(part: str, row: Row) -> str:
    """Writes and reads of a disk are two parts."""
    if part != "disk":
        return part
    access = str(row.params.get("access", row.params.get("phase", "")))
    return "disk reads" if "read" in access else "disk writes"
