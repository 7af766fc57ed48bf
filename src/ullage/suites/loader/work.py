# SPDX-License-Identifier: Apache-2.0
"""What a run of suite ``loader`` measures: a training set on each target, read by numbers of accelerators."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Plan
from ullage.model.request import Request
from ullage.runs.execution import LaunchSpec
from ullage.runs.listed import listed_plan
from ullage.runs.room import Machine
from ullage.runs.session import Note
from ullage.suites.loader.cases import CellMaker, LoaderCell, most_that_fit
from ullage.suites.loader.options import LoaderOptions
from ullage.suites.loader.search import Search

# A launch without progress for so long is a timeout; the engine allows more for what is read at once.
_PATIENCE_S: Final = 120.0


@dataclass(frozen=True)
class LoaderWork:
    """What is measured, and the plan of each launch."""

    request: Request
    options: LoaderOptions
    machine: Machine
    cells: CellMaker
    notes: Sequence[Note]

    @property
    def most(self) -> int:
        """The largest number of accelerators that is measured: there are two steps for each."""
        return min(self.options.most_accelerators, most_that_fit(self.options, self.cells.samples))

    def search(self) -> Search:
        """Return the search on one target."""
        options = self.options
        return Search(self.cells.unit, self.most, options.least_use, options.repetitions)

    def numbers(self) -> list[int]:
        """Return the numbers that are measured for certain: the listed ones, or the first of a search."""
        if self.options.accelerators is not None:
            return [n for n in self.options.accelerators if n <= self.most]
        return [self.cells.unit]

    def plan(self, cell: LoaderCell, spec: LaunchSpec) -> Plan:
        """Return the plan of a launch of one case."""
        options = self.options
        return listed_plan(
            self.request,
            spec,
            cell.layout,
            cell.target,
            [cell.case],
            watchdog_s=options.watchdog_s or _PATIENCE_S,
            space=options.space,
            resumable=options.resumable,
        )
