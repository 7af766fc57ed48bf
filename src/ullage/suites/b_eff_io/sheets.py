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
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, Access, Pattern
from ullage.suites.b_eff_io.rows import ALL_SETS, B_EFF_IO, CALLS, PATTERN, SUITE
from ullage.suites.b_eff_io.values import NOT_VALID
from ullage.units import format_time

# So many sheets, those with the highest values, get tables and a page of plots; the rows of all are in tables/rows.csv.
MOST_SHEETS: Final = 4
_PHASES: Final = {pattern.number: pattern.phase for pattern in PATTERNS}


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

    def pattern(self, access: Access, pattern: Pattern, metric: str = PATTERN) -> Row | None:
        """Return the row of what a pattern reached, or None. ``CALLS``: without the sync after its loop."""
        return self._patterns.get((metric, access, pattern.number))

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
        return next((row.count("lmax_bytes") for row in self.rows if "lmax_bytes" in row.params), 0)

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
    for numbers in (finding.numbers for finding in data.summary.findings if finding.kind == "b_eff_io-lost"):
        target, hint_set, why = (str(numbers.get(name) or "") for name in ("target", "hint_set", "why"))
        for ranks in _each(numbers.get("ranks")):
            of = found.setdefault((target, hint_set, int(ranks)), {})
            for access in _each(numbers.get("access")):
                of.update({(str(access), int(number)): why for number in _each(numbers.get("patterns"))})
    return found


def _each(value: Scalar | list[Scalar] | None) -> list[Scalar]:
    return value if isinstance(value, list) else [] if value is None else [value]


def best_sheets(sheets: Sequence[Sheet], most: int) -> list[Sheet]:
    """Return at most ``most`` sheets, those with the highest values, in their own order."""
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
    return data.phases.get((row.case, _PHASES.get(row.count("pattern", -1), "")), [])


def corner_of(data: ReportData, sheet: Sheet) -> tuple[list[str], bool]:
    """Return the lines in the corner of the original's plots, and whether shared file pointers were used.

    The lines are ``b_eff_io``, release or rule, T of each partition and n, as far as they are known: from the request
    of a run, or from what an imported summary printed.
    """
    release, seconds, shared = "", None, True
    if data.request is not None and data.request.suite == SUITE:
        try:
            options = read_options(BEffIoOptions, data.request)
        except UserError:
            pass
        else:
            release, seconds, shared = f"rule of rel. {options.rule}", options.partition_s, options.shared_pointer
    else:
        params = sheet.value.params if sheet.value is not None else {}
        release = f"rel. {version}" if (version := data.summary.versions.get(SUITE, "")) else ""
        scheduled = params.get("scheduled_s")
        seconds = float(scheduled) if isinstance(scheduled, (int, float)) else None
        shared = not params.get("no_shared_pointer", False)
    time = f"T={format_time(seconds)}" if seconds is not None else ""
    return [line for line in (SUITE, release, time, f"n={sheet.ranks}") if line], shared
