# SPDX-License-Identifier: Apache-2.0
"""Peers beside us: after our own work each does that of the cases it can do, once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ullage.engine import find_registered
from ullage.model.describe import Describe
from ullage.model.peer import PeerRecord
from ullage.model.plan import Case, Parameters
from ullage.peers import Installed, PeerError
from ullage.peers.mbw import MbwJob, mbw_command, run_mbw
from ullage.peers.sysbench import SysbenchJob, run_sysbench, sysbench_command
from ullage.runs.kernels.cases import KernelCase
from ullage.runs.session import Session
from ullage.suites.memory.caches import Cache
from ullage.suites.memory.hpcc_runs import StreamCases, has_kernel, job_for, measure_hpcc

Job = MbwJob | SysbenchJob
_PHASE: Final = "stream"
# After so many failures of a tool with no success it would only take time.
_MOST_FAILURES: Final = 3
_ARRAYS_OF_A_COPY: Final = 2
# Sets of whole blocks are a little smaller than the others.
_ALMOST: Final = 7 / 8
# What a tool takes for all it can do, about.
_EACH_S: Final = 4.0


@dataclass(frozen=True, slots=True)
class Tool:
    """A peer and how it does a job; ``run`` gives values by metric, or ``PeerError``."""

    name: str
    installed: Callable[[], Installed | None]
    command: Callable[[Installed, Job], list[str]]
    run: Callable[[Installed, Job], dict[str, float]]


def job_of(tool: str, parameters: Parameters, smallest: int) -> Job | None:
    """The work of a case with these (complete) parameters in the words of ``tool``; None where it does other work.

    ``smallest``: sets below stay without a peer, which is not made to time them. ``PeerError`` where sizes do not fit.
    """
    size, threads = _count(parameters, "working_set_bytes"), _count(parameters, "threads")
    kernel, block = parameters.get("kernel"), _count(parameters, "block_bytes")
    if size < smallest or not _is_plain(parameters):
        return None
    if tool == "mbw" and kernel == "copy" and threads == 1 and parameters.get("order") == "sequential":
        return MbwJob("blocks" if block else "loop", size // _ARRAYS_OF_A_COPY, block)
    if tool == "sysbench" and kernel in ("read", "write") and not block:
        # It takes powers of two alone: the next one is beyond the caches all the more.
        each = 1 << (size // threads - 1).bit_length()
        return SysbenchJob("write" if kernel == "write" else "read", each, threads)
    return None


def _is_plain(parameters: Parameters) -> bool:
    """Stores, pages and nodes as a program has them that says nothing of them."""
    return (
        parameters.get("stores") == "ordinary"
        and parameters.get("pages") == "default"
        and max(_count(parameters, "cpu_node"), _count(parameters, "memory_node")) < 0
    )


def _count(parameters: Parameters, name: str) -> int:
    value = parameters.get(name)
    return value if isinstance(value, int) else 0


def tools() -> list[Tool]:
    """Those this suite can run."""
    from ullage.peers import mbw, sysbench

    def run(program: Installed, job: Job) -> dict[str, float]:
        return run_mbw(program, job) if isinstance(job, MbwJob) else run_sysbench(program, job)

    def command(program: Installed, job: Job) -> list[str]:
        return mbw_command(program, job) if isinstance(job, MbwJob) else sysbench_command(program, job)

    return [Tool(peer.name, peer.installed, command, run) for peer in (mbw.PEER, sysbench.PEER)]


@dataclass(frozen=True, slots=True)
class Scene:
    """What peers stand beside. ``beyond``: bytes of the largest set; ``threads``: at most; ``quick``: no hpcc."""

    cases: Sequence[KernelCase]
    description: Describe
    caches: Sequence[Cache]
    beyond: int
    threads: int
    quick: bool

    def streams(self) -> list[tuple[Case, Parameters]]:
        """Cases of workload ``stream`` with all their parameters."""
        registered = find_registered(self.description, "workload", _PHASE)
        defaults = {parameter.name: parameter.default for parameter in registered.parameters}
        found = [case.case for case in self.cases if case.case.workload.name == _PHASE]
        return [(case, {**defaults, **case.workload.parameters}) for case in found]

    def kernels(self) -> StreamCases:
        """Those that STREAM does too, by one thread and by all."""
        found: dict[tuple[str, int], Case] = {}
        for case, parameters in self.streams():
            threads = _count(parameters, "threads")
            is_whole = _count(parameters, "working_set_bytes") == self.beyond and not _count(parameters, "block_bytes")
            is_theirs = has_kernel(parameters.get("kernel")) and threads in (1, self.threads)
            if is_whole and is_theirs and _is_plain(parameters):
                found[str(parameters["kernel"]), threads] = case
        return StreamCases(found)


def measure_peers(session: Session, scene: Scene, known: Sequence[Tool] | None = None) -> None:
    """Each installed tool once for every case it can do and has no number of yet."""
    done = {(record.case, record.tool) for record in session.result.read_peers()}
    for tool in tools() if known is None else known:
        program = tool.installed()
        if program is None:
            continue
        todo = [(case, parameters) for case, parameters in scene.streams() if (case.id, tool.name) not in done]
        session.progress.stage(f"{tool.name} beside", 0, _EACH_S)
        _measure(session, tool, program, todo, int(_ALMOST * scene.beyond))
    if not scene.quick and not scene.kernels().is_empty:
        job = job_for(scene.caches, scene.threads, scene.beyond)
        measure_hpcc(session, scene.kernels(), job, lambda text: _note(session, text))


def _measure(
    session: Session, tool: Tool, program: Installed, cases: Sequence[tuple[Case, Parameters]], smallest: int
) -> None:
    failures = successes = 0
    for case, parameters in cases:
        if failures >= _MOST_FAILURES and not successes:
            return
        try:
            job = job_of(tool.name, parameters, smallest)
            if job is None:
                continue
            values = tool.run(program, job)
        except PeerError as error:
            failures += 1
            _note(session, f"{tool.name} gave no number: {error}")
            continue
        successes += 1
        session.result.append_peer(
            PeerRecord(
                case=case.id,
                phase=_PHASE,
                tool=tool.name,
                version=program.version,
                repetition=0,
                values=values,
                command=tool.command(program, job),
            )
        )


def _note(session: Session, text: str) -> None:
    launches = session.result.launches()
    if launches:
        session.note(launches[-1], "warning", "peer-failed", text)
