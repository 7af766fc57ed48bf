# SPDX-License-Identifier: Apache-2.0
"""hpcc beside us: once with each number of ranks that our solves have threads, with the kernels that did best here."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Final, Protocol

from ullage.model.peer import PeerRecord
from ullage.model.plan import Case
from ullage.peers import Installed, PeerError
from ullage.peers.hpcc import HpccAnswer, HpccJob, expected_s, hpcc_command, run_hpcc
from ullage.runs.cells.passes import launches_with_records
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.session import Session
from ullage.suites.cpu.rows import DISTRIBUTED, GEMM, SOLVE

TOOL: Final = "hpcc"
# Of its time, which was estimated for another core.
_PATIENCE: Final = 5.0
_LEAST_LIMIT_S: Final = 60.0


class Do(Protocol):
    """Does a job, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: HpccJob, *, limit_s: float) -> HpccAnswer:
        """Rates by their names."""
        ...


@dataclass(frozen=True)
class HpccBeside:
    """``cases``: our products and solves. ``every_count``: with each thread count, else with the most only."""

    cases: Sequence[KernelCase]
    core: str
    every_count: bool
    run: Do = run_hpcc

    def jobs(self) -> list[tuple[HpccJob, int]]:
        """HPL of the size of our solves, with a rank for each of their threads; and those threads."""
        solves = [case for case in self.cases if case.case.workload.name == SOLVE]
        orders = {_threads(case): _count(case.case, "n") for case in solves}
        counts = sorted(orders) if self.every_count else sorted(orders)[-1:]
        return [(HpccJob(orders[count], *grid(count), core=self.core), count) for count in counts]

    def measure(self, session: Session, program: Installed) -> None:
        """Append what it gives to the peers' numbers, as far as they are not there yet."""
        done = {record.case for record in session.result.read_peers() if record.tool == TOOL}
        for job, threads in self.jobs():
            same = [case.case for case in self.cases if _threads(case) == threads]
            if not {case.id for case in same} <= done:
                self._measure(session, program, job, [case for case in same if case.id not in done])

    def _measure(self, session: Session, program: Installed, job: HpccJob, cases: Sequence[Case]) -> None:
        limit_s = max(_LEAST_LIMIT_S, _PATIENCE * expected_s(job))
        session.progress.stage(f"{TOOL} beside: N = {job.order} on {job.ranks}", 0, expected_s(job))
        try:
            answer = self.run(program, job, limit_s=limit_s)
        except PeerError as error:
            _note(session, f"{TOOL} gave no number with {job.ranks}: {error}")
            return
        for case in cases:
            rate = rate_for(case, answer, job)
            if rate is not None:
                session.result.append_peer(
                    PeerRecord(
                        case=case.id,
                        phase=case.workload.name,
                        tool=TOOL,
                        version=answer.version,
                        repetition=0,
                        values={"compute_rate": rate},
                        command=hpcc_command(program, job),
                    )
                )


def rate_for(case: Case, answer: HpccAnswer, job: HpccJob) -> float | None:
    """What stands beside ``case``: HPL at equal N; of products those of all ranks, each with matrices of its own."""
    if case.workload.name in (SOLVE, DISTRIBUTED):
        return answer.solve if _count(case, "n") == job.order else None
    if case.workload.name == GEMM:
        return answer.product_alone if job.ranks == 1 else answer.products
    return None


def grid(ranks: int) -> tuple[int, int]:
    """Rows and columns of processes, as square as they can be and wider than high, as HPL's guide advises."""
    rows = next(count for count in range(isqrt(ranks), 0, -1) if ranks % count == 0)
    return rows, ranks // rows


def _threads(case: KernelCase) -> int:
    """At work together, on all ranks."""
    return case.layout.ranks * _count(case.case, "threads")


def _count(case: Case, name: str) -> int:
    """A number of the workload; what equals the engine's default is not in a plan, and threads are 1 there."""
    value = case.workload.parameters.get(name, 1)
    return value if isinstance(value, int) else 1


def _note(session: Session, text: str) -> None:
    launches = launches_with_records(session.result)
    if launches:
        session.note(launches[-1], "warning", "peer-failed", text)
