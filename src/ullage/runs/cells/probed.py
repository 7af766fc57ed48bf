# SPDX-License-Identifier: Apache-2.0
"""A run of cells whose volumes people give, or else a probe chooses."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Self, TypeVar

from ullage.model.plan import Limits, Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Basis, Costs, ProbeError, assumed, run_probe
from ullage.runs.cells.passes import CellExecution
from ullage.runs.cells.planning import Cell, by_layout, each_once
from ullage.runs.cells.prepared import planned_cells, plans_of_layouts, work_of
from ullage.runs.execution import Deadline, read_progress
from ullage.runs.inputs import EngineContext
from ullage.runs.jobtime import Work
from ullage.runs.options.groups import RunOptions
from ullage.runs.room import Machine
from ullage.runs.session import Session

OptionsT = TypeVar("OptionsT", bound=RunOptions)


@dataclass(frozen=True)
class ProbedCells(ABC, Generic[OptionsT]):
    """See ``Prepared``."""

    request: Request
    options: OptionsT
    engine_context: EngineContext
    machine: Machine

    # -- what a suite says ---------------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def unsettled(self) -> str:
        """See ``Prepared``: a probe is made unless this is empty."""

    @abstractmethod
    def stated_cells(self) -> list[Cell]:
        """Return every case with the volumes that the options state, or else the least that it can move."""

    @abstractmethod
    def probe_cells(self) -> list[Cell]:
        """Return small cases that show what each kind costs."""

    @abstractmethod
    def settled(self, basis: Basis) -> Self:
        """Return the same with volumes, so that by ``basis`` the minimum fits into its share of the time."""

    @abstractmethod
    def choice_text(self, basis: Basis) -> str:
        """Say in one line which volumes were chosen, and how."""

    @abstractmethod
    def check(self, cells: Sequence[Cell]) -> None:
        """Raise ``UserError`` where the engine would refuse ``cells``."""

    @abstractmethod
    def follow(self, run: CellExecution, deadline: Deadline) -> None:
        """Spend the time of ``run``."""

    def with_kinds(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return cells that were read back from plans with the kinds that the suite has for them."""
        return list(cells)

    def beside_peer(self) -> Self:
        """Return the same with the time that a peer takes beside a run; itself without one."""
        return self

    def assumed(self, cells: Sequence[Cell]) -> Basis:
        """Return the costs before anything was measured."""
        return assumed(cells, self.machine.places)

    # -- what follows --------------------------------------------------------------------------------------------------

    @property
    def limits(self) -> Limits:
        """The limits that the plans state."""
        return Limits(space_bytes=self.options.space)

    def with_options(self, **changes: object) -> Self:
        """Return the same with other values of some options; request.json then states them."""
        options = self.options.model_copy(update=changes)
        request = self.request.model_copy(update={"options": options.model_dump(mode="json")})
        return replace(self, options=options, request=request)

    def estimated(self) -> tuple[Self, Costs]:
        """Return the same with the volumes that the assumed costs ask for, and these; nothing is measured."""
        basis = self.assumed(self.stated_cells())
        return self.settled(basis), Costs(basis)

    def minimum_s(self, cells: Sequence[Cell], costs: Costs, launches: int) -> float:
        """Return the seconds of the fewest repetitions of ``cells``, with so many ``launches`` of each layout."""
        launches_s = launches * sum(costs.launch_s(layout.ranks) for layout in by_layout(cells))
        return launches_s + self.options.min_repetitions * sum(costs.repetition_s(cell) for cell in cells)

    def work(self) -> Work:
        settled, costs = self.estimated()
        return work_of(self.options, settled.stated_cells(), costs)

    def plans(self, result: ResultFolder) -> list[Plan]:
        settled, costs = self.estimated()
        return plans_of_layouts(self.request, self.options, settled.stated_cells(), costs, result)

    def run(self, session: Session, now: Callable[[], float] = time.monotonic) -> int:
        """See ``Prepared``. ``now``: a clock in s."""
        began, progress = Deadline(now(), now), read_progress(session)
        try:
            settled, basis = self.beside_peer().probed(session)
        except ProbeError as error:
            session.messages.append(error.ended.message)
            return error.ended.code
        cells = each_once([*settled.stated_cells(), *settled.with_kinds(planned_cells(session.result))])
        settled.check(cells)
        # Places that an earlier part of the run had and this probe lacks get assumed costs again.
        costs = Costs(replace(basis, places={**settled.assumed(cells).places, **basis.places}), progress)
        run = CellExecution(session, progress, settled.request, settled.options, costs, cells)
        settled.follow(run, run.begin(began))
        return run.code

    def probed(self, session: Session) -> tuple[Self, Basis]:
        """Settle the volumes, by a probe where none was given, and return the costs that they rest on."""
        basis = self.assumed(self.stated_cells())
        if self.unsettled:
            session.progress.stage("probe", 0, self.options.time_s)
            cells = self.probe_cells()
            known = self.assumed([*cells, *self.stated_cells()])
            basis = run_probe(session, self.request, self.options, cells, known)
        settled = self.settled(basis)
        if settled.options != self.options:
            session.result.write_request(settled.request)
            session.progress.say(settled.choice_text(basis))
        return settled, basis
