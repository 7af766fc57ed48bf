# SPDX-License-Identifier: Apache-2.0
"""hpcc in turn with us: one run of it gives its rings and ping-pongs, of as many processes as ours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from ullage.model.peer import PeerRecord
from ullage.model.plan import Layout
from ullage.peers import Installed, PeerError
from ullage.peers.hpcc import PEER, HpccAnswer, HpccJob, Messages, expected_s, hpcc_command, run_hpcc
from ullage.runs.session import Session
from ullage.suites.rings.cases import PHASES, SMALL_BYTES, RingsCase, What

# As Debian's example runs it on two; all else of it grows with these.
_ORDER_OF_TWO: Final = 400
_BLOCK: Final = 32
# Of its time, which was estimated for another core; its pairs alone may take 40 s.
_PATIENCE: Final = 5.0
_LEAST_LIMIT_S: Final = 120.0
# After so many failures in a row it would only take time.
_MOST_FAILURES: Final = 2
_OPEN_MPI: Final = "open-mpi"


class Do(Protocol):
    """Does a job, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: HpccJob, *, limit_s: float) -> HpccAnswer:
        """What it says."""
        ...


def job_of(layout: Layout, settings: Sequence[tuple[str, str]] = ()) -> HpccJob:
    """The smallest job there is: all that counts here are its messages. The grid is as square as the ranks allow."""
    ranks = layout.ranks
    rows = max(row for row in range(1, math.isqrt(ranks) + 1) if ranks % row == 0)
    order = round(_ORDER_OF_TWO * math.sqrt(ranks / 2))
    binding = ("OMPI_MCA_hwloc_base_binding_policy", layout.binding)
    return HpccJob(order, rows, ranks // rows, block=_BLOCK, settings=(*settings, binding))


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


@dataclass
class HpccInTurn:
    """``cases``: ours, each of which has a number in every run of it."""

    session: Session
    program: Installed
    cases: Sequence[RingsCase]
    layout: Layout
    run: Do = run_hpcc
    _failures: int = field(default=0)

    def measure(self, rounds: int) -> None:
        """Once, unless it has been run ``rounds`` times already, or fails."""
        if self._failures >= _MOST_FAILURES or self._done() >= rounds:
            return
        job = job_of(self.layout, self._settings())
        self.session.progress.stage(f"{PEER.name} beside: {job.ranks} processes", 0, expected_s(job))
        try:
            found = self.run(self.program, job, limit_s=max(_LEAST_LIMIT_S, _PATIENCE * expected_s(job)))
            if found.messages is None:
                raise PeerError("its summary has no rings")  # noqa: TRY301 - as if it had said so itself
        except PeerError as error:
            self._failures += 1
            self._note("peer-failed", f"hpcc gave no number: {error}", "")
            return
        self._failures = 0
        number = self._done()
        for case in self.cases:
            self._append(case, found, found.messages, job, number)
        self._say_which_mpi()

    def _done(self) -> int:
        counted = [record.repetition + 1 for record in self.session.result.read_peers() if record.tool == PEER.name]
        return max(counted, default=0)

    def _settings(self) -> list[tuple[str, str]]:
        """Those that our own ranks have, where its MPI is of the same kind."""
        launcher = self.session.launcher
        return sorted(launcher.environment(self.layout).items()) if launcher.name == _OPEN_MPI else []

    def _append(self, case: RingsCase, found: HpccAnswer, messages: Messages, job: HpccJob, number: int) -> None:
        self.session.result.append_peer(
            PeerRecord(
                case=case.kernel.case.id,
                phase=PHASES[case.what],
                tool=PEER.name,
                version=found.version,
                repetition=number,
                values=values_of(case.what, case.message_bytes, messages),
                command=hpcc_command(self.program, job),
            )
        )

    def _say_which_mpi(self) -> None:
        if self.session.launcher.name != _OPEN_MPI:
            text = f"hpcc runs by its own MPI, ours by that of {self.session.launcher.name}: both are compared here"
            self._note("peer-other-mpi", text, "build the engine with the MPI of hpcc to compare the programs alone")

    def _note(self, code: str, text: str, advice: str) -> None:
        launches = self.session.result.launches()
        known = {event.text for file in self.session.result.read_records() for event in file.events}
        if launches and text not in known:
            self.session.note(launches[-1], "warning", code, text, advice)
