# SPDX-License-Identifier: Apache-2.0
"""A peer in turn with the launches of a run of cells: after each launch it does the work of the launch's cells."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ullage.runs.cells.planning import Cell
from ullage.runs.deadline import Deadline
from ullage.runs.peer_runs import PeerJob, PeerRuns


@dataclass(frozen=True)
class CellPeers:
    """See ``InTurn``. ``job_of``: what the peer does beside a cell; None where it cannot do just that."""

    tool: str
    runs: PeerRuns
    job_of: Callable[[Cell], PeerJob | None]

    def lacking(self, cells: Iterable[Cell]) -> list[Cell]:
        """Cells of which the peer has no number yet."""
        return [cell for cell in cells if (job := self._job(cell)) is not None and not self.runs.count(job)]

    def seconds(self, cells: Iterable[Cell]) -> float:
        """See ``InTurn``."""
        return sum(self.runs.seconds(job) for job in self._jobs(cells))

    def measure(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """See ``InTurn``."""
        jobs = self._jobs(cells)
        stage = f"{self.tool} beside: {len(jobs)} cases"
        self.runs.measure([replace(job, stage=stage) for job in jobs], deadline=deadline)

    def _job(self, cell: Cell) -> PeerJob | None:
        job = self.job_of(cell)
        return job if job is not None and self.runs.may_run(job) else None

    def _jobs(self, cells: Iterable[Cell]) -> list[PeerJob]:
        return [job for cell in cells if (job := self._job(cell)) is not None]
