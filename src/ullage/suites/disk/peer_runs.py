# SPDX-License-Identifier: Apache-2.0
"""fio beside us: after each launch it does the work of the launch's cells, as long as there is time."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Final, Literal, Protocol

from ullage.model.peer import PeerRecord
from ullage.peers import Installed, PeerError
from ullage.peers.fio import FioJob, Mode, fio_command, run_fio
from ullage.peers.place import marked_folder
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.deadline import Deadline
from ullage.runs.cells.passes import launches_with_records
from ullage.runs.cells.planning import Cell
from ullage.runs.session import Session
from ullage.suites.disk.cells import DEEP, concurrency_of, is_random
from ullage.units import format_bytes
from ullage.uri import target_path

if TYPE_CHECKING:
    from pathlib import Path

Phase = Literal["write", "read"]
TOOL: Final = "fio"
PHASES: Final[tuple[Phase, ...]] = ("write", "read")
# Starting it, and ending it, once for each phase; until it was seen.
START_S: Final = 0.25
# After so many failures with no success it would only take time.
_MOST_FAILURES: Final = 3
# However little time is left, for a run that was begun.
_LEAST_LIMIT_S: Final = 2.0


class Do(Protocol):
    """Does a job in a folder, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: FioJob, file_folder: "Path", *, limit_s: float) -> dict[str, float]:
        """Values by the name of the metric."""
        ...


def job_of(cell: Cell, phase: Phase) -> FioJob:
    """The work of one phase of ``cell`` in fio's words."""
    modes: dict[tuple[Phase, bool], Mode] = {
        ("write", False): "write",
        ("read", False): "read",
        ("write", True): "randwrite",
        ("read", True): "randread",
    }
    at_once = concurrency_of(cell)
    return FioJob(
        mode=modes[phase, is_random(cell)],
        block_bytes=cell.block_bytes,
        volume_bytes=cell.dataset_bytes,
        jobs=_jobs(cell),
        depth=at_once.depth,
        engine="io_uring" if cell.case.backend.name == DEEP else "psync",
        direct=cell.case.backend.parameters.get("direct") is True,
    )


@dataclass
class FioBeside:
    """See ``Beside``. ``costs``: what our own repetitions take, beyond which fio's take as long as they did so far."""

    session: Session
    run_id: str
    installed: Installed
    costs: Callable[[], Costs]
    run: Do = run_fio
    now: Callable[[], float] = time.monotonic
    _counts: dict[str, int] = field(default_factory=dict[str, int])
    _seconds: dict[str, float] = field(default_factory=dict[str, float])
    _longer: list[float] = field(default_factory=list[float])
    _failed: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        """Go on counting where an earlier part of the run has ended."""
        for record in self.session.result.read_peers():
            self._counts[record.case] = max(self._counts.get(record.case, 0), record.repetition + 1)

    def lacking(self, cells: Iterable[Cell]) -> list[Cell]:
        """Cells of which fio has no number yet."""
        return [cell for cell in cells if self._can(cell) and not self._count(cell)]

    def seconds(self, cells: Iterable[Cell]) -> float:
        """See ``Beside``."""
        return sum(self._expected(cell) for cell in cells if self._can(cell))

    def measure(self, cells: Sequence[Cell], deadline: Deadline) -> None:
        """See ``Beside``. Cells without a number come first."""
        ordered = sorted(filter(self._can, cells), key=self._count)
        if ordered and deadline.left_s > 0:
            self.session.progress.stage(f"{TOOL} beside: {len(ordered)} cases", 0, deadline.left_s)
        for cell in ordered:
            if self._can(cell) and deadline.left_s >= self._expected(cell):
                self._measure(cell, deadline)

    def _can(self, cell: Cell) -> bool:
        """What failed once is not tried again, and nothing after it failed at the first cases in a row."""
        has_given_up = len(self._failed) >= _MOST_FAILURES and not self._counts
        return not has_given_up and cell.case.id not in self._failed and target_path(cell.target) is not None

    def _count(self, cell: Cell) -> int:
        return self._counts.get(cell.case.id, 0)

    def _expected(self, cell: Cell) -> float:
        known = self._seconds.get(cell.case.id)
        longer_s = median(self._longer) if self._longer else len(PHASES) * START_S
        return known if known is not None else self.costs().repetition_s(cell) + longer_s

    def _measure(self, cell: Cell, deadline: Deadline) -> None:
        place, began = target_path(cell.target), self.now()
        if place is None:
            return
        limit_s = max(_LEAST_LIMIT_S, deadline.left_s)
        try:
            with marked_folder(place, self.run_id, cell.case.id, _jobs(cell)) as folder:
                for phase in PHASES:
                    self._measure_phase(cell, phase, folder, limit_s)
        except PeerError as error:
            self._failed.add(cell.case.id)
            self._note(f"{TOOL} gave no number for {_label(cell)}: {error}")
            return
        took_s = self.now() - began
        self._counts[cell.case.id] = self._count(cell) + 1
        self._seconds[cell.case.id] = took_s
        self._longer.append(max(0.0, took_s - self.costs().repetition_s(cell)))

    def _measure_phase(self, cell: Cell, phase: Phase, folder: "Path", limit_s: float) -> None:
        job = job_of(cell, phase)
        values = self.run(self.installed, job, folder, limit_s=limit_s)
        self.session.result.append_peer(
            PeerRecord(
                case=cell.case.id,
                phase=phase,
                tool=TOOL,
                version=self.installed.version,
                repetition=self._count(cell),
                values=values,
                command=fio_command(self.installed, job),
            )
        )

    def _note(self, text: str) -> None:
        launches = launches_with_records(self.session.result)
        if launches:
            self.session.note(launches[-1], "warning", "peer-failed", text)


def _jobs(cell: Cell) -> int:
    at_once = concurrency_of(cell)
    return at_once.ranks * at_once.threads


def _label(cell: Cell) -> str:
    order = "random" if is_random(cell) else "sequential"
    threads, depth = _jobs(cell), concurrency_of(cell).depth
    with_what = f"{threads} thread{'s' if threads > 1 else ''}" if depth == 1 else f"depth {depth}"
    return f"{cell.target.name}, {order} {format_bytes(cell.block_bytes)} with {with_what}"
