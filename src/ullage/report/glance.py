# SPDX-License-Identifier: Apache-2.0
"""The machine in one picture: for each part of it the one number that stands for it. Pure; pages draw it as vessels,
terminals as bars."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.model.summary import Row, Summary
from ullage.quantity import format_quantity, percent, scale_for, significant
from ullage.report.headlines import IN_MEMORY, headlines_of, standing
from ullage.report.verdicts import is_invalid

PART_ORDER: Final = (
    "cores", "memory", "disk writes", "disk reads", "metadata", "messages", "network", "noise",
)  # fmt: skip
# The option by which a suite is told what datasheets say; empty where it has none.
Declaring: TypeAlias = Literal["machine", "ceiling", ""]
_HOW_TO_DECLARE: Final[Mapping[Declaring, str]] = {
    "machine": "`ullage machine --declare machine.toml` drafts the file. Complete it from the datasheets and run again "
    "with `--machine machine.toml`.",
    "ceiling": "Run again with the rates of the datasheet: `--ceiling TARGET:write=RATE --ceiling TARGET:read=RATE`.",
    "": "",
}
_NONE: Final = "none can be declared: compare runs"
_TO_DECLARE: Final[Mapping[str, str]] = {
    "cores": "declare clock_hz and flops_per_cycle in [cpu]",
    "memory": "declare bandwidth in [memory]",
    "disk writes": "declare write in [[drive]]",
    "disk reads": "declare read in [[drive]]",
    "network": "run between two nodes, declare rate in [[network]]",
}
_TIME_LOST: Final = "of time"
_READING: Final = ("read", "epoch", "adjoint")
"""Words in the names of phases that read."""


@dataclass(frozen=True)
class Vessel:
    """A part of the machine on the first screen.

    ``row`` stands for ``part``; ``what`` says of what it is the number. ``declared_by``: see ``Declaring``.
    """

    part: str
    what: str
    row: Row
    declared_by: Declaring = "machine"

    @property
    def share(self) -> float | None:
        """What is filled of its ceiling; None without one. Of time lost to others: the time that was left."""
        return 1 - self.row.median if self.is_time_lost else self.row.share

    @property
    def value(self) -> str:
        """The number with its unit."""
        median = self.row.median
        return f"{percent(median, 1)} lost" if self.is_time_lost else format_quantity(median, self.row.unit)

    @property
    def interval(self) -> str:
        """``1.19 to 1.27`` in the unit of the value; empty for a single sample."""
        row = self.row
        if row.low is None or row.high is None:
            return ""
        if self.is_time_lost:
            return f"{percent(row.low, 1)} to {percent(row.high, 1)}"
        scale = scale_for([row.median], row.unit)
        low, high = (significant(value / scale.factor) for value in (row.low, row.high))
        return f"{low} to {high} {scale.unit}".strip()

    @property
    def interval_kind(self) -> str:
        """What ``interval`` is: ``95 % interval``, ``range of 3``, ``one sample``, and whether others disturbed it."""
        row, disturbed = self.row, ", disturbed (grade C)" if self.is_disturbed else ""
        if row.low is None:
            return f"one sample{disturbed}"
        return f"{f'range of {len(row.repetitions)}' if row.has_range else '95 % interval'}{disturbed}"

    @property
    def kind(self) -> str:
        """``detected ceiling 117 Gop/s``; empty without a ceiling that has a share."""
        if self.is_time_lost:
            return "ceiling: all of the time"
        ceiling = self.row.ceiling
        if self.share is None or ceiling is None:
            return ""
        return f"{ceiling.kind} ceiling {format_quantity(ceiling.value, self.row.unit)}"

    @property
    def advice(self) -> str:
        """Which ceiling to declare; empty where one is known. ``how_to_declare`` says how."""
        if self.share is not None:
            return ""
        if not self.row.unit.endswith("/s"):
            return _NONE  # what is declared is a rate, and bounds no time and no share
        if self.declared_by == "ceiling" and self.part.startswith("disk"):
            return "declare the rate of the drive"
        return _TO_DECLARE.get(self.part, _NONE) if self.declared_by == "machine" else _NONE

    @property
    def is_invalid(self) -> bool:
        """Whether the number is no speed at all."""
        return is_invalid(self.row)

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs disturbed what does not measure them."""
        return self.row.grade == "C" and not self.is_time_lost

    @property
    def is_time_lost(self) -> bool:
        """Whether the number is a share of time that others took: all of the time is then its ceiling."""
        return self.row.unit == _TIME_LOST and self.row.better == "less"


def how_to_declare(found: Sequence[Vessel]) -> str:
    """Say how to declare a ceiling; return an empty text where every ceiling is known, or none can be declared."""
    lacking = [vessel for vessel in found if "declare " in vessel.advice]
    return _HOW_TO_DECLARE[lacking[0].declared_by] if lacking else ""


def vessels(summary: Summary, declared_by: Declaring = "machine") -> list[Vessel]:
    """Return a vessel for each part of the machine that was measured, in a fixed order, unknown parts last.

    A number with the better ``standing`` goes first, then the kind of number that people quote of the part, of these
    the best, then one with a share of a ceiling, of times lost the longest, then the first. A file system in memory is
    no part of a machine whose disk was measured.
    """
    chosen: dict[str, Vessel] = {}
    for vessel in _candidates(summary, declared_by):
        known = chosen.get(vessel.part)
        if known is None or _rank(vessel) < _rank(known):
            chosen[vessel.part] = vessel
    if any(part.startswith("disk") for part in chosen):
        chosen.pop(IN_MEMORY, None)
    names = list(dict.fromkeys([*PART_ORDER, *chosen]))
    return [chosen[name] for name in names if name in chosen]


def _candidates(summary: Summary, by: Declaring) -> Sequence[Vessel]:
    found = headlines_of(summary)
    rows = [summary.rows[line.row] for line in found]
    known = [Vessel(_part(line.part, row), line.what, row, by) for line, row in zip(found, rows, strict=True)]
    # People know the rates of a disk: nothing can be declared that a time or a share would fill.
    return [one for one in known if one.row.unit.endswith("/s") or not one.part.startswith("disk")]


def _part(part: str, row: Row) -> str:
    """Return the part of the machine; writes and reads of a disk are two parts."""
    if part != "disk":
        return part
    access = str(row.params.get("access", row.params.get("phase", "")))
    return "disk reads" if any(word in access for word in _READING) else "disk writes"


def _rank(vessel: Vessel) -> tuple[list[bool], int, float, bool, float]:
    usual = _USUAL.get(vessel.part, ())
    place = next((index for index, is_it in enumerate(usual) if is_it(vessel.row)), len(usual))
    lost = vessel.row.median if vessel.row.unit == _TIME_LOST else 0.0
    # Numbers of one kind have one unit; those of no usual kind may have others.
    best = -vessel.row.median if place < len(usual) else 0.0
    return [not known for known in standing(vessel.row)], place, best, vessel.share is None, -lost


def _has(metric: str, **params: object) -> Callable[[Row], bool]:
    """Return a test of whether a row is of ``metric`` and has these parameters, without those that are None."""
    return lambda row: row.metric == metric and all(row.params.get(key) == value for key, value in params.items())


def _creates(row: Row) -> bool:
    return row.metric == "operation_rate" and row.params.get("access") == "create"


# People quote these kinds of number of a part, the most usual first.
_USUAL: Final[Mapping[str, Sequence[Callable[[Row], bool]]]] = {
    "cores": (_has("compute_rate", type="fp64", operation="fma"), _has("compute_rate")),
    "memory": (
        _has("memory_bandwidth", kernel="triad"), _has("memory_bandwidth", kernel="copy"), _has("memory_bandwidth"),
    ),
    "disk writes": (_has("bandwidth", order="sequential", phase=None), _has("bandwidth", phase=None)),
    "disk reads": (_has("bandwidth", order="sequential", phase=None), _has("bandwidth", phase=None)),
    "metadata": (_creates, _has("operation_rate")),
    "messages": (_has("ring_bandwidth"), _has("b_eff")),
    "network": (_has("network_bandwidth", protocol="tcp"), _has("network_bandwidth")),
}  # fmt: skip
