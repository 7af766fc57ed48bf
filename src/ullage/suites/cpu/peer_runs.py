# SPDX-License-Identifier: Apache-2.0
"""hpcc beside us: once with each number of ranks that our solves have threads, with the kernels that did best here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ullage.model.plan import Case
from ullage.parameters import count_of
from ullage.peers.hpcc import HpccAnswer, HpccJob, expected_s, grid
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.peer_runs import Hpcc, PeerJob, hpcc_job
from ullage.suites.cpu.rows import DISTRIBUTED, GEMM, SOLVE

# How many times its expected time hpcc may take: that was estimated for another core.
_PATIENCE: Final = 5.0
_LEAST_LIMIT_S: Final = 60.0


@dataclass(frozen=True)
class HpccBeside:
    """``cases``: our products and solves. ``every_count``: with each thread count, else with the most only."""

    cases: Sequence[KernelCase]
    core: str
    every_count: bool

    def runs(self) -> list[tuple[HpccJob, int]]:
        """HPL of the size of our solves, with a rank for each of their threads; and those threads."""
        solves = [case for case in self.cases if case.case.workload.name == SOLVE]
        orders = {_threads(case): count_of(case.case.workload.parameters, "n", 1) for case in solves}
        counts = sorted(orders) if self.every_count else sorted(orders)[-1:]
        return [(HpccJob(orders[count], *grid(count), core=self.core), count) for count in counts]

    def jobs(self, hpcc: Hpcc) -> list[PeerJob]:
        """One for each number of ranks."""
        found: list[PeerJob] = []
        for job, threads in self.runs():
            same = [case.case for case in self.cases if _threads(case) == threads]
            limit_s = max(_LEAST_LIMIT_S, _PATIENCE * expected_s(job))
            made = hpcc_job(hpcc, job, [case.id for case in same], _values(same, job), limit_s)
            stage = f"hpcc beside: N = {job.order} on {job.ranks}"
            found.append(replace(made, what=f" with {job.ranks}", stage=stage))
        return found


def _values(cases: Sequence[Case], job: HpccJob) -> Callable[[HpccAnswer], list[tuple[str, str, dict[str, float]]]]:
    def values(answer: HpccAnswer) -> list[tuple[str, str, dict[str, float]]]:
        rates = [(case, rate_for(case, answer, job)) for case in cases]
        return [(case.id, case.workload.name, {"compute_rate": rate}) for case, rate in rates if rate is not None]

    return values


def rate_for(case: Case, answer: HpccAnswer, job: HpccJob) -> float | None:
    """What stands beside ``case``: HPL at equal N; of products those of all ranks, each with matrices of its own."""
    if case.workload.name in (SOLVE, DISTRIBUTED):
        return answer.solve if count_of(case.workload.parameters, "n", 1) == job.order else None
    if case.workload.name == GEMM:
        return answer.product_alone if job.ranks == 1 else answer.products
    return None


def _threads(case: KernelCase) -> int:
    """At work together, on all ranks."""
    return case.layout.ranks * count_of(case.case.workload.parameters, "threads", 1)
