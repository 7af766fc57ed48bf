# SPDX-License-Identifier: Apache-2.0
"""fio beside us: which job of it does the work of a cell."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

from ullage.peers import Installed
from ullage.peers.fio import FioJob, Mode, fio_command, run_fio
from ullage.peers.place import marked_folder
from ullage.runs.cells.planning import Cell
from ullage.runs.peer_runs import PeerJob, PeerNumbers
from ullage.suites.disk.cells import DEEP, concurrency_of, is_random
from ullage.units import format_bytes
from ullage.uri import target_path

if TYPE_CHECKING:
    from pathlib import Path

Phase = Literal["write", "read"]
TOOL: Final = "fio"
PHASES: Final[tuple[Phase, ...]] = ("write", "read")
# Starting and ending fio, once for each phase, is assumed to take this long until it was measured.
START_S: Final = 0.25
_LONGEST_S: Final = 600.0


class RunFioJob(Protocol):
    """Does a job in a folder, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: FioJob, file_folder: "Path", *, limit_s: float) -> dict[str, float]:
        """Run the job and return its values by the name of the metric."""
        ...


def fio_job_of(cell: Cell, phase: Phase) -> FioJob:
    """Translate the work of one phase of ``cell`` into a job of fio."""
    modes: dict[tuple[Phase, bool], Mode] = {
        ("write", False): "write",
        ("read", False): "read",
        ("write", True): "randwrite",
        ("read", True): "randread",
    }
    return FioJob(
        mode=modes[phase, is_random(cell)],
        block_bytes=cell.block_bytes,
        volume_bytes=cell.dataset_bytes,
        jobs=_jobs(cell),
        depth=concurrency_of(cell).depth,
        engine="io_uring" if cell.case.backend.name == DEEP else "psync",
        direct=cell.case.backend.parameters.get("direct") is True,
    )


@dataclass(frozen=True)
class FioJobs:
    """Makes the work of fio for each cell.

    ``own_s``: what a repetition of ours takes, beyond which fio's takes as long as others of it did.
    """

    run_id: str
    program: Installed
    own_s: Callable[[Cell], float]
    do: RunFioJob = run_fio

    def job_of(self, cell: Cell) -> PeerJob | None:
        """Return the peer's job for ``cell``, or None where the target has no place for files."""
        place = target_path(cell.target)
        if place is None:
            return None
        start_s = len(PHASES) * START_S
        return PeerJob(
            TOOL,
            (cell.case.id,),
            lambda limit_s: self._numbers(cell, place, limit_s),
            self.own_s(cell),
            start_s,
            what=f" for {_label(cell)}",
        )

    def _numbers(self, cell: Cell, place: "Path", limit_s: float | None) -> Iterable[PeerNumbers]:
        """Yield the numbers of a write, and of a read of what it has left."""
        with marked_folder(place, self.run_id, cell.case.id, _jobs(cell)) as folder:
            for phase in PHASES:
                job = fio_job_of(cell, phase)
                values = self.do(self.program, job, folder, limit_s=_LONGEST_S if limit_s is None else limit_s)
                command = fio_command(self.program, job)
                yield PeerNumbers(cell.case.id, phase, values, self.program.version, command)


def _jobs(cell: Cell) -> int:
    at_once = concurrency_of(cell)
    return at_once.ranks * at_once.threads


def _label(cell: Cell) -> str:
    order = "random" if is_random(cell) else "sequential"
    threads, depth = _jobs(cell), concurrency_of(cell).depth
    with_what = f"{threads} thread{'s' if threads > 1 else ''}" if depth == 1 else f"depth {depth}"
    return f"{cell.target.name}, {order} {format_bytes(cell.block_bytes)} with {with_what}"
