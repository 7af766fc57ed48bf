# SPDX-License-Identifier: Apache-2.0
"""A run of cells that all are known beforehand, checked against engine and machine; and what such runs share."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.model.plan import Case, Limits, Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.cells.costs import Costs, assumed
from ullage.runs.cells.explain import Outlook, explain
from ullage.runs.cells.passes import CellExecution
from ullage.runs.cells.planning import Cell, by_layout, make_plan
from ullage.runs.cells.volume import check_room
from ullage.runs.execution import Deadline, LaunchSpec, read_progress
from ullage.runs.options.groups import RunOptions
from ullage.runs.room import Machine
from ullage.runs.session import Note, Session, launches_with_records, note_once
from ullage.runs.suite import Explanation

# Share of the time for all cells' minimum when we choose the volume: the rest narrows intervals and covers surprises.
MINIMUM_SHARE: Final = 0.6


@dataclass(frozen=True)
class PreparedCells:
    """See ``Prepared``. ``kinds`` gives cells that were read back from plans the kind they have among ``cells``.

    ``text`` says how the volumes came about, ``lines`` what else a user might not expect of the plan, ``notes`` what
    belongs into the result too.
    """

    request: Request
    options: RunOptions
    machine: Machine
    cells: Sequence[Cell]
    kinds: Callable[[Iterable[Cell]], list[Cell]]
    text: str
    lines: Sequence[str]
    notes: Sequence[Note]

    @property
    def unsettled(self) -> str:
        """See ``Prepared``: nothing is left to a probe."""
        return ""

    def check(self, cells: Sequence[Cell]) -> None:
        """``UserError`` (exit code 3) where the engine would refuse for want of room."""
        limits = Limits(space_bytes=self.options.space)
        check_room(cells, self.machine.places, limits, self.machine.memory, self.options)

    def costs(self, cells: Sequence[Cell]) -> Costs:
        """Before anything was measured."""
        return Costs(assumed(cells, self.machine.places))

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        lines = [*self.lines, *(f"{note.text}; {note.advice}." for note in self.notes)]
        return explain(Outlook(self.options, self.cells, self.costs(self.cells), self.machine, self.text, lines))

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``."""
        return plans_of_layouts(self.request, self.options, self.cells, self.costs(self.cells), result)

    def run(self, session: Session, now: Callable[[], float] = time.monotonic) -> int:
        """See ``Prepared``: the minimum of every cell, then narrowing, within the time. ``now``: a clock in s."""
        began = Deadline(now(), now)
        cells = all_cells(session.result, self.cells, self.kinds)
        self.check(cells)
        costs = Costs(self.costs(cells).basis, read_progress(session))
        run = CellExecution(session, costs.progress, self.request, self.options, costs, cells)
        deadline = run.begin(began)
        run.give_minimum(cells, deadline)
        run.narrow(cells, deadline)
        run.note_lacking()
        note_first(self.notes, session)
        return run.code


def all_cells(result: ResultFolder, cells: Iterable[Cell], kinds: Callable[[Iterable[Cell]], list[Cell]]) -> list[Cell]:
    """Those of the plans that exist, and then those of the request."""
    return list({cell.case.id: cell for cell in [*kinds(planned_cells(result)), *cells]}.values())


def note_first(notes: Iterable[Note], session: Session) -> None:
    """As events of the first launch."""
    launches = launches_with_records(session.result)
    if launches:
        note_once(notes, session, launches[0])


def plans_of_layouts(
    request: Request, options: RunOptions, cells: Sequence[Cell], costs: Costs, result: ResultFolder
) -> list[Plan]:
    """One plan a layout, each with its part of the time by ``costs``."""
    groups = by_layout(cells)
    expected = [sum(costs.repetition_s(cell) for cell in group) for group in groups.values()]
    plans: list[Plan] = []
    for number, (group, share) in enumerate(zip(groups.values(), expected, strict=True), start=1):
        seconds = options.time_s * share / sum(expected)
        repetitions = options.min_repetitions, options.max_repetitions
        spec = LaunchSpec(0, str(result.records_path(number)), seconds, repetitions)
        plans.append(make_plan(request, options, group, spec))
    return plans


def planned_cells(result: ResultFolder) -> list[Cell]:
    """All cells that any plan of ``result`` holds, each once."""
    found: dict[str, Cell] = {}
    for number in result.launches():
        plan = result.read_plan(number)
        targets = {target.name: target for target in plan.targets}
        for case in plan.cases:
            bare: Case = case.model_copy(update={"prior_elapsed_ns": {}})
            found.setdefault(case.id, Cell(bare, targets[case.target], plan.layout))
    return list(found.values())
