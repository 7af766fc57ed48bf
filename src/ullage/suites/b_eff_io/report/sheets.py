# SPDX-License-Identifier: Apache-2.0
"""The rows of a b_eff_io run by what one page of the original shows: a partition with a set of hints on a target."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ullage.analysis.settings import first
from ullage.errors import UserError
from ullage.model.plan import Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import Row
from ullage.quantity import processes
from ullage.report.data import ReportData
from ullage.runs.options.reading import read_options
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, Access, Pattern, PatternType, Size
from ullage.suites.b_eff_io.rows import ALL_SETS, B_EFF_IO, CALLS, PATTERN, SUITE
from ullage.suites.b_eff_io.validity import NOT_VALID
from ullage.units import format_time

MEGA: Final = 1e6
"""The original counts these bytes as 1 MB."""
_LOST: Final = "b_eff_io-lost"
_BY_NUMBER: Final = {pattern.number: pattern for pattern in PATTERNS}
_OF: Final[dict[tuple[PatternType, Size], Pattern]] = {(one.type, one.size): one for one in PATTERNS}


@dataclass(frozen=True)
class Sheet:
    """One partition with one set of hints on one target. ``lost``: why a pattern has no row, by access and number."""

    target: str
    hint_set: str
    ranks: int
    rows: Sequence[Row]
    lost: dict[tuple[str, int], str]

    def one(self, metric: str, **params: str) -> Row | None:
        """Return the first row of that metric with these parameters, or None without any."""
        return first(self.rows, metric, **params)

    def pattern(self, access: Access, pattern: Pattern) -> Row | None:
        """Return the row of what a pattern reached, or None."""
        return self._patterns.get((PATTERN, access, pattern.number))

    def calls(self, access: Access, pattern: Pattern) -> Row | None:
        """Return the row of what a pattern reached without the sync after its loop, or None."""
        return self._patterns.get((CALLS, access, pattern.number))

    def cell(self, access: Access, kind: PatternType, size: Size) -> Row | None:
        """Return the row of a pattern by its type and size; None where the type has no such pattern, or no value."""
        pattern = _OF.get((kind, size))
        return None if pattern is None else self.pattern(access, pattern)

    def why_lost(self, access: Access, kind: PatternType, size: Size) -> str:
        """Return why a pattern is lost (``timeout``, ``failed`` ...); empty where no finding says so."""
        pattern = _OF.get((kind, size))
        return "" if pattern is None else self.lost.get((access, pattern.number), "")

    @property
    def accesses(self) -> list[Access]:
        """Those with any pattern, in their order."""
        known = {access for _, access, _ in self._patterns}
        return [access for access in ACCESSES if access in known]

    @property
    def value(self) -> Row | None:
        """b_eff_io."""
        return self.one(B_EFF_IO)

    @property
    def lmax_bytes(self) -> int:
        """The largest chunk; 0: not known."""
        found = next((row.params["lmax_bytes"] for row in self.rows if "lmax_bytes" in row.params), 0)
        return int(found)

    @property
    def why_not_valid(self) -> str:
        """Every reason; empty: it counts, or there is no value."""
        return "" if self.value is None else self.value.reason_of(NOT_VALID)

    @cached_property
    def _patterns(self) -> dict[tuple[str, str, int], Row]:
        rows = (row for row in self.rows if row.metric in (PATTERN, CALLS) and "pattern" in row.params)
        return {(row.metric, row.word("access"), row.count("pattern")): row for row in rows}


def sheets_of(data: ReportData) -> list[Sheet]:
    """Collect the sheets in the order of the rows; none for other suites."""
    rows: dict[tuple[str, str, int], list[Row]] = {}
    for row in data.rows_of(SUITE):
        hint_set = row.word("hint_set")
        if hint_set != ALL_SETS and "ranks" in row.params:
            rows.setdefault((row.target, hint_set, row.count("ranks")), []).append(row)
    lost = _lost(data)
    return [Sheet(*key, found, lost.get(key, {})) for key, found in rows.items()]


def _lost(data: ReportData) -> dict[tuple[str, str, int], dict[tuple[str, int], str]]:
    """Return why patterns are lost: by target, set of hints and ranks, then by access and number.

    A finding speaks of several partitions and accesses; where one of them has a row, that is shown.
    """
    found: dict[tuple[str, str, int], dict[tuple[str, int], str]] = {}
    for finding in data.summary.findings:
        numbers = finding.numbers
        if finding.kind != _LOST:
            continue
        target, hint_set, why = (str(numbers.get(name) or "") for name in ("target", "hint_set", "why"))
        for ranks in _each(numbers.get("ranks")):
            of = found.setdefault((target, hint_set, int(ranks)), {})
            for access in _each(numbers.get("access")):
                of.update({(str(access), int(number)): why for number in _each(numbers.get("patterns"))})
    return found


def _each(value: Scalar | list[Scalar] | None) -> list[Scalar]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def best_sheets(sheets: Sequence[Sheet], most: int) -> list[Sheet]:
    """Return at most ``most`` sheets, those with the highest values, in their own order."""
    if len(sheets) <= most:
        return list(sheets)
    ranked = sorted(sheets, key=lambda sheet: -(sheet.value.median if sheet.value else 0.0))[:most]
    return [sheet for sheet in sheets if sheet in ranked]


def title_of(sheet: Sheet, sheets: Iterable[Sheet]) -> str:
    """Return what sets a sheet apart from the others, such as ``16 processes, hints large``."""
    others = list(sheets)
    several_sets = len({one.hint_set for one in others}) > 1
    several_targets = len({one.target for one in others}) > 1
    words = [
        sheet.target if several_targets else "",
        processes(sheet.ranks),
        f"hints {sheet.hint_set}" if several_sets else "",
    ]
    return ", ".join(filter(None, words))


def phases_of(data: ReportData, row: Row) -> list[PhaseRecord]:
    """Return the repetitions behind the row of a pattern, as far as its last case has them."""
    pattern = _BY_NUMBER.get(row.count("pattern", -1))
    return [] if pattern is None else data.phases.get((row.case, pattern.phase), [])


# -- what the corners of the original's plots say ----------------------------------------------------------------------


SCHEDULED: Final = "scheduled_s"
NO_SHARED: Final = "no_shared_pointer"
"""Marks the value of an imported run, whose request does not say so."""


@dataclass(frozen=True)
class Schedule:
    """Says how the time of a run was scheduled.

    ``release``: of the program or of the rule. ``partition_s``: T of each partition; None: not known.
    """

    release: str = ""
    partition_s: float | None = None
    shared_pointer: bool = True


def schedule_of(data: ReportData, sheet: Sheet) -> Schedule:
    """Read the schedule from the request of a run, or from what an imported summary printed."""
    request = data.request
    if request is not None and request.suite == SUITE:
        try:
            options = read_options(BEffIoOptions, request)
        except UserError:
            return Schedule()
        return Schedule(f"rule of rel. {options.rule}", options.partition_s, options.shared_pointer)
    params = sheet.value.params if sheet.value is not None else {}
    seconds = params.get(SCHEDULED)
    release = data.summary.versions.get(SUITE, "")
    return Schedule(
        f"rel. {release}" if release else "",
        float(seconds) if isinstance(seconds, (int, float)) else None,
        not params.get(NO_SHARED, False),
    )


def corner_lines(schedule: Schedule, sheet: Sheet) -> list[str]:
    """Return the lines of the corner: ``b_eff_io``, release, T and n, as far as they are known."""
    time = f"T={format_time(schedule.partition_s)}" if schedule.partition_s is not None else ""
    return [line for line in (SUITE, schedule.release, time, f"n={sheet.ranks}") if line]
