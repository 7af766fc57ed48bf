# SPDX-License-Identifier: Apache-2.0
"""Run rings, or go on with them: in turn with hpcc where that is, so that both see the machine in the same state."""

import time
from collections.abc import Callable
from dataclasses import replace

from ullage.errors import EXIT_CASE_FAILED, EXIT_OK
from ullage.peers import Installed
from ullage.peers.hpcc import PEER, run_hpcc
from ullage.runs.case_progress import RunProgress
from ullage.runs.kernels.execution import execute as execute_kernels
from ullage.runs.session import Session
from ullage.suites.rings.peer_runs import Do, HpccInTurn
from ullage.suites.rings.prepare import PreparedRings


def execute(
    prepared: PreparedRings,
    session: Session,
    now: Callable[[], float] = time.monotonic,
    run: Do = run_hpcc,
    installed: Callable[[], Installed | None] = PEER.installed,
) -> int:
    """The exit code. ``now``: a clock in s; ``run`` and ``installed`` stand in for the real hpcc."""
    program = installed() if prepared.may_have_peer else None
    if program is None:
        return execute_kernels(prepared.kernels, session, now)
    peer = HpccInTurn(session, program, prepared.cases, prepared.layout, run)
    code = EXIT_OK
    for count in range(1, prepared.options.repetitions + 1):
        options = prepared.options.model_copy(update={"repetitions": count})
        code = max(code, execute_kernels(replace(prepared.kernels, options=options), session, now))
        if code not in (EXIT_OK, EXIT_CASE_FAILED) or not _has_all(prepared, session, count):
            return code
        peer.measure(count)
    return code


def _has_all(prepared: PreparedRings, session: Session, count: int) -> bool:
    """False once the time was too short for a repetition of some case, which is noted; what failed does not count."""
    tally = RunProgress(file.records for file in session.result.read_records())
    found = [tally.of(case.kernel.case.id) for case in prepared.cases]
    return all(case.has_failed or len(case.samples) >= count for case in found)
