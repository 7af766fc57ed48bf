# SPDX-License-Identifier: Apache-2.0
"""HPC Challenge's STREAM beside ours: one run of it tells all four kernels, of one rank and of all at once."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ullage.model.peer import PeerRecord
from ullage.model.plan import Case
from ullage.peers import Installed, PeerError
from ullage.peers.hpcc import PEER, STREAM_KERNELS, HpccAnswer, HpccJob, expected_s, hpcc_command, run_hpcc
from ullage.runs.session import Session
from ullage.suites.memory.caches import BEYOND, Cache, last_bytes

# Its arrays lie in the room of HPL's matrix, each a third of a rank's share.
_DOUBLE = 8
# Beyond what is expected; it may be far slower than elsewhere.
_PATIENCE = 2.5


@dataclass(frozen=True, slots=True)
class StreamCases:
    """The cases that do the same work: by kernel and thread count, ordinary stores over the largest set."""

    by_work: dict[tuple[str, int], Case]

    @property
    def is_empty(self) -> bool:
        """Nothing to stand beside."""
        return not self.by_work


def job_for(caches: Sequence[Cache], ranks: int, beyond: int) -> HpccJob:
    """A matrix whose share of each rank is beyond what one thread finds in caches; of all of them as large as ours.

    The grid is as square as the ranks allow.
    """
    share = max(BEYOND * last_bytes(caches, 1), beyond // ranks)
    order = math.isqrt(share * ranks // _DOUBLE)
    rows = max(row for row in range(1, math.isqrt(ranks) + 1) if ranks % row == 0)
    return HpccJob(order=order, rows=rows, columns=ranks // rows)


def measure_hpcc(
    session: Session,
    cases: StreamCases,
    job: HpccJob,
    note: Callable[[str], None],
    run: Callable[..., HpccAnswer] = run_hpcc,
    installed: Callable[[], Installed | None] = PEER.installed,
) -> None:
    """One run, where it is installed and has not been run yet for this result."""
    done = {record.case for record in session.result.read_peers() if record.tool == PEER.name}
    lacking = {work: case for work, case in cases.by_work.items() if case.id not in done}
    program = installed()
    if program is None or not lacking:
        return
    session.progress.stage("STREAM by hpcc beside", 0, expected_s(job))
    try:
        found = run(program, job, limit_s=_PATIENCE * expected_s(job))
    except PeerError as error:
        note(f"hpcc gave no number: {error}")
        return
    for (kernel, threads), case in lacking.items():
        rates = found.stream if threads == job.ranks else found.stream_alone
        session.result.append_peer(
            PeerRecord(
                case=case.id,
                phase=case.workload.name,
                tool=PEER.name,
                version=found.version,
                repetition=0,
                values={"memory_bandwidth": rates[kernel]},
                command=hpcc_command(program, job),
            )
        )


def has_kernel(kernel: object) -> bool:
    """One that STREAM has."""
    return kernel in STREAM_KERNELS
