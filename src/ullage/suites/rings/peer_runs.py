# SPDX-License-Identifier: Apache-2.0
"""hpcc in turn with us: one run of it gives its rings and ping-pongs, of as many processes as ours."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ullage.launch.base import Launcher
from ullage.model.plan import Layout
from ullage.peers import PeerError
from ullage.peers.hpcc import HpccAnswer, HpccJob, Messages, expected_s, grid
from ullage.runs.notes import Note
from ullage.runs.peer_runs import Hpcc, PeerJob, hpcc_job
from ullage.suites.rings.cases import PHASES, SMALL_BYTES, RingsCase, What

# As Debian's example runs it on two; all else of it grows with these.
_ORDER_OF_TWO: Final = 400
_BLOCK: Final = 32
# How many times its expected time hpcc may take: that was estimated for another core; its pairs alone may take 40 s.
_PATIENCE: Final = 5.0
_LEAST_LIMIT_S: Final = 120.0
# After so many failures in a row it would only take time.
_MOST_FAILURES: Final = 2
_OPEN_MPI: Final = "open-mpi"


def job_of(layout: Layout, settings: Sequence[tuple[str, str]] = ()) -> HpccJob:
    """The smallest job there is: all that counts here are its messages."""
    order = round(_ORDER_OF_TWO * math.sqrt(layout.ranks / 2))
    binding = ("OMPI_MCA_hwloc_base_binding_policy", layout.binding)
    return HpccJob(order, *grid(layout.ranks), block=_BLOCK, settings=(*settings, binding))


def values_of(what: What, message_bytes: int, found: Messages) -> dict[str, float]:
    """What hpcc says of that case, by the names of our metrics."""
    is_small = message_bytes == SMALL_BYTES
    if what == "natural":
        return {"ring_latency": found.natural_latency} if is_small else {"ring_bandwidth": found.natural_bandwidth}
    if what == "random":
        return {"ring_latency": found.random_latency} if is_small else {"ring_bandwidth": found.random_bandwidth}
    kind, values = ("latency", found.ping_pong_latency) if is_small else ("bandwidth", found.ping_pong_bandwidth)
    least, mean, most = values
    return {f"ping_pong_least_{kind}": least, f"ping_pong_{kind}": mean, f"ping_pong_most_{kind}": most}


def peer_job(hpcc: Hpcc, cases: Sequence[RingsCase], layout: Layout, launcher: Launcher) -> PeerJob:
    """One run of hpcc, of which each of ``cases`` has a number."""
    is_same_mpi = launcher.name == _OPEN_MPI
    # Settings that our own ranks have, where its MPI is of the same kind.
    job = job_of(layout, sorted(launcher.environment(layout).items()) if is_same_mpi else [])

    def values(answer: HpccAnswer) -> list[tuple[str, str, dict[str, float]]]:
        if answer.messages is None:
            raise PeerError("its summary has no rings")
        said = answer.messages
        return [
            (case.kernel.case.id, PHASES[case.what], values_of(case.what, case.message_bytes, said)) for case in cases
        ]

    limit_s = max(_LEAST_LIMIT_S, _PATIENCE * expected_s(job))
    made = hpcc_job(hpcc, job, [case.kernel.case.id for case in cases], values, limit_s)
    stage = f"hpcc beside: {job.ranks} processes"
    note = None if is_same_mpi else _other_mpi(launcher)
    return replace(made, stage=stage, note=note, tries=_MOST_FAILURES, patience=_MOST_FAILURES)


def _other_mpi(launcher: Launcher) -> Note:
    text = f"hpcc runs by its own MPI, ours by that of {launcher.name}: both are compared here"
    return Note("peer-other-mpi", text, "build the engine with the MPI of hpcc to compare the programs alone")
