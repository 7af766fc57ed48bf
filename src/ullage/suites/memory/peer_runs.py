# SPDX-License-Identifier: Apache-2.0
"""Peers beside us: which job of mbw, sysbench and hpcc does the work of a case; after our own, once."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from ullage.engine import find_registered
from ullage.model.describe import Describe
from ullage.model.plan import Case, Parameters
from ullage.parameters import count_of
from ullage.peers import Installed, PeerError, ToolJob
from ullage.peers.hpcc import STREAM_KERNELS, HpccAnswer, HpccJob, grid
from ullage.peers.memory import PEERS, MbwJob, SysbenchJob
from ullage.peers.served import run_job
from ullage.runs.kernels.prepared import KernelCase
from ullage.runs.peer_runs import Hpcc, PeerJob, PeerNumbers, hpcc_job
from ullage.suites.memory.options import BEYOND, Cache, last_bytes


class Do(Protocol):
    """Does a job, in ``limit_s`` at most; ``PeerError`` when it gives no number."""

    def __call__(self, program: Installed, job: ToolJob, *, limit_s: float) -> dict[str, float]:
        """Run ``job`` and return what it says."""
        ...


_LONGEST_S: Final = 60.0
_PHASE: Final = "stream"
_ARRAYS_OF_A_COPY: Final = 2
# Sets of whole blocks are a little smaller than the others.
_ALMOST: Final = 7 / 8
# A tool takes about this long for a case.
_EACH_S: Final = 1.0
# hpcc's arrays lie in the room of HPL's matrix, each a third of a rank's share.
_DOUBLE: Final = 8


def job_of(tool: str, parameters: Parameters, smallest: int) -> ToolJob | None:
    """Return a case's work in the words of ``tool``, given all parameters; None where the tool does other work.

    Sets below ``smallest`` get no peer, as the tools are not made to time them. Raise ``PeerError`` where sizes do not
    fit.
    """
    size, threads = count_of(parameters, "working_set_bytes"), count_of(parameters, "threads")
    kernel, block = parameters.get("kernel"), count_of(parameters, "block_bytes")
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
    """Tell whether stores, pages and nodes are those of a program that asks for none in particular."""
    return (
        parameters.get("stores") == "ordinary"
        and parameters.get("pages") == "default"
        and max(count_of(parameters, "cpu_node"), count_of(parameters, "memory_node")) < 0
    )


@dataclass(frozen=True, slots=True)
class PeerScope:
    """What peers stand beside. ``beyond``: bytes of the largest set; ``threads``: at most; ``quick``: no hpcc."""

    cases: Sequence[KernelCase]
    description: Describe
    caches: Sequence[Cache]
    beyond: int
    threads: int
    quick: bool

    def streams(self) -> list[tuple[Case, Parameters]]:
        """Return the cases of workload ``stream`` with all their parameters, defaults included."""
        registered = find_registered(self.description, "workload", _PHASE)
        defaults = {parameter.name: parameter.default for parameter in registered.parameters}
        found = [case.case for case in self.cases if case.case.workload.name == _PHASE]
        return [(case, {**defaults, **case.workload.parameters}) for case in found]

    def kernels(self) -> dict[tuple[str, int], Case]:
        """Return by kernel and thread count the cases that STREAM does too, by one thread and by all."""
        found: dict[tuple[str, int], Case] = {}
        for case, parameters in self.streams():
            threads = count_of(parameters, "threads")
            is_blocks, size = count_of(parameters, "block_bytes"), count_of(parameters, "working_set_bytes")
            is_whole = size == self.beyond and not is_blocks
            is_theirs = parameters.get("kernel") in STREAM_KERNELS and threads in (1, self.threads)
            if is_whole and is_theirs and _is_plain(parameters):
                found[str(parameters["kernel"]), threads] = case
        return found


def peer_jobs(
    beside: PeerScope,
    installed: Mapping[str, Installed | None] | None = None,
    do: Do = run_job,
    hpcc: Hpcc | None = None,
) -> list[PeerJob]:
    """Return jobs of each installed tool for every case it can do, then one of ``hpcc``, which tells all kernels.

    ``do`` stands in for the real programs.
    """
    found: list[PeerJob] = []
    smallest, streams = int(_ALMOST * beside.beyond), beside.streams()
    programs = {peer.name: peer.installed() for peer in PEERS} if installed is None else installed
    for tool, program in programs.items():
        if program is not None:
            made = [(case, partial(job_of, tool, given, smallest)) for case, given in streams]
            found += [_tool_job(tool, program, case, make, do) for case, make in made if _may_do(make)]
    if hpcc is not None and not beside.quick and beside.kernels():
        job = job_for(beside.caches, beside.threads, beside.beyond)
        found.append(stream_job(hpcc, job, beside.kernels()))
    return found


def _may_do(made: Callable[[], ToolJob | None]) -> bool:
    """Tell whether the tool does such work. Sizes that do not fit are found when the job runs, and noted."""
    try:
        return made() is not None
    except PeerError:
        return True


def _tool_job(tool: str, program: Installed, case: Case, made: Callable[[], ToolJob | None], do: Do) -> PeerJob:
    def run(limit_s: float | None) -> Iterable[PeerNumbers]:
        if (job := made()) is not None:
            values = do(program, job, limit_s=_LONGEST_S if limit_s is None else min(limit_s, _LONGEST_S))
            yield PeerNumbers(case.id, _PHASE, values, program.version, job.command(program, 0))

    return PeerJob(tool, (case.id,), run, stage=f"{tool} beside", expected_s=_EACH_S)


def job_for(caches: Sequence[Cache], ranks: int, beyond: int) -> HpccJob:
    """Make a job with a matrix at least as large as our set, each rank's share of it beyond one thread's caches."""
    share = max(BEYOND * last_bytes(caches, 1), beyond // ranks)
    rows, columns = grid(ranks)
    return HpccJob(order=math.isqrt(share * ranks // _DOUBLE), rows=rows, columns=columns)


def stream_job(hpcc: Hpcc, job: HpccJob, cases: Mapping[tuple[str, int], Case]) -> PeerJob:
    """Make the job of STREAM by hpcc: one run of it tells all four kernels, by one rank and by all at once."""

    def values(answer: HpccAnswer) -> Iterable[tuple[str, str, dict[str, float]]]:
        for (kernel, threads), case in cases.items():
            rates = answer.stream if threads == job.ranks else answer.stream_alone
            yield case.id, case.workload.name, {"memory_bandwidth": rates[kernel]}

    return hpcc_job(hpcc, job, [case.id for case in cases.values()], values, "STREAM by hpcc beside")
