# SPDX-License-Identifier: Apache-2.0
"""Suite ``rings``: its options, its six cases, and hpcc in turn with them.

Two rings and the pairs, each with the small and the large message of HPC Challenge; one run of hpcc gives its rings and
ping-pongs, of as many processes as ours.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias

from ullage.launch.base import Launcher, is_one_node
from ullage.launch.hosts import NO_HOSTS, Hosts
from ullage.launch.open_mpi import spread_over
from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.peers import PeerError, hpcc
from ullage.peers.hpcc import HpccAnswer, HpccJob, grid
from ullage.peers.served import is_own
from ullage.quantity import plural
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.bounds import bound_cases
from ullage.runs.kernels.options import MPI, CaseOptions, MessagePagesOptions
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.groups import BindOptions, PeerOptions, RanksOptions
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import Hpcc, KernelPeers, PeerJob, RunHpcc, hpcc_job
from ullage.runs.session import Note, Session
from ullage.system.hardware import usable_cores
from ullage.units import format_bytes

if TYPE_CHECKING:
    from ullage.analysis.ceilings.messages import Copiers


class RingsOptions(PeerOptions, BindOptions, RanksOptions, MessagePagesOptions, CaseOptions):
    """The options of suite ``rings``.

    ``faithful``: random orders as HPC Challenge draws them, which are not uniform.
    """

    at = (MPI,)
    changes = {
        "ranks": Change(unsaid="the number of usable cores, at least 2", least=2),
        "repetitions": Change("Repeat every ring and pair this often."),
        "time_s": Change("Limit the time of all measurements, other tools included."),
        "quick": Change("Take a first look: 3 repetitions, and fewer pairs if there are many processes."),
        "peer": Change("Do not run hpcc for comparison, even if it is installed."),
        "seed": Change("Choose the random rings. The same seed gives the same rings."),
    }

    faithful: Annotated[bool, Option("Draw random orders as HPC Challenge does. They are not uniform.")] = False


RING: Final = "ring"
PING_PONG: Final = "ping-pong"
SMALL_BYTES: Final = 8
LARGE_BYTES: Final = 2_000_000
HEADERS: Final = ("what", "message", "measured")
What: TypeAlias = Literal["natural", "random", "ping-pong"]
PHASES: Final[Mapping[What, str]] = {"natural": "ring", "random": "ring", "ping-pong": "pairs"}
ORDERS: Final[tuple[What, ...]] = ("natural", "random")
# A quick run uses this share of the budget, which limits the pairs of many processes.
_QUICK_SHARE: Final = 0.1
_AROUND_S: Final = 0.1
# One message takes this long on a slow machine.
_SMALL_S: Final = 5e-6
_LARGE_S: Final = 2e-3


@dataclass(frozen=True, slots=True)
class Size:
    """How often HPC Challenge sends a message of that size. ``budget_s``: for all pairs."""

    bytes: int
    ring_loops: int
    ring_measurements: int
    rings: int
    pair_loops: int
    pair_measurements: int
    budget_s: float
    message_s: float


SIZES: Final = (Size(SMALL_BYTES, 8, 5, 30, 8, 5, 10.0, _SMALL_S), Size(LARGE_BYTES, 3, 2, 10, 1, 2, 30.0, _LARGE_S))


RingsCases: TypeAlias = Mapping[tuple[What, int], KernelCase]
"""The six cases by what they measure and by bytes: what equals the engine's defaults is not in their parameters."""


def make_cases(options: RingsOptions, layout: Layout, description: Describe) -> RingsCases:
    """Plan rings and pairs of both sizes.

    Raise ``UserError`` where the engine lacks a workload, or would refuse its parameters.
    """

    def case(workload: str, parameters: Parameters, words: tuple[str, str], size: Size, seconds: float) -> KernelCase:
        given: Parameters = {**parameters, "message_bytes": size.bytes, "pages": options.pages}
        shown = (words[0], format_bytes(size.bytes), words[1])
        return kernel_case(workload, given, MPI, shown, description, seconds=_AROUND_S + seconds, layout=layout)

    def ring(order: What, size: Size) -> KernelCase:
        rings, times, loops = 1 if order == "natural" else size.rings, size.ring_measurements, size.ring_loops
        parameters: Parameters = {
            "order": order,
            "rings": rings,
            "loops": loops,
            "measurements": times,
            "grow": True,
            "seed": options.seed,
            "permutation": "slot-probe" if options.faithful else "uniform",
        }
        words = f"{order} ring", f"{plural(rings, 'ring')}, {times} x {loops} loops"
        # Each of the two methods sends two messages.
        return case(RING, parameters, words, size, rings * times * (loops + 1) * 4 * size.message_s)

    def pairs(size: Size) -> KernelCase:
        budget_s = size.budget_s * (_QUICK_SHARE if options.quick else 1.0)
        times, loops = size.pair_measurements, size.pair_loops
        parameters: Parameters = {"pairs": "sampled", "loops": loops, "measurements": times, "budget_s": budget_s}
        each_s = times * (loops + 1) * 2 * size.message_s
        words = PING_PONG, f"pairs, {times} x {loops} loops"
        return case(PING_PONG, parameters, words, size, min(budget_s, options.ranks * (options.ranks - 1) * each_s))

    found: dict[tuple[What, int], KernelCase] = {}
    for size in SIZES:
        found |= {(order, size.bytes): ring(order, size) for order in ORDERS}
        found[PING_PONG, size.bytes] = pairs(size)
    return found


# Debian's example runs hpcc with this order on two processes; its other sizes grow with order and block.
_ORDER_OF_TWO: Final = 400
_BLOCK: Final = 32
# After so many failures in a row hpcc is not tried again.
_MOST_FAILURES: Final = 2
_OPEN_MPI: Final = "open-mpi"


def job_of(layout: Layout, settings: Sequence[tuple[str, str]] = (), hosts: Hosts = NO_HOSTS) -> HpccJob:
    """Return the smallest job there is: only its messages count here.

    ``hosts``: that ours are on, if named. Processes are placed as our own ranks, for Open MPI, which hpcc comes with.
    """
    order = round(_ORDER_OF_TWO * math.sqrt(layout.ranks / 2))
    binding = ("OMPI_MCA_hwloc_base_binding_policy", layout.binding)
    places = () if is_one_node(layout) or not hosts.names else spread_over(hosts, layout)
    return HpccJob(order, *grid(layout.ranks), block=_BLOCK, settings=(*settings, binding), places=places)


def not_available(layout: Layout, hosts: Sequence[str], is_here: Callable[[str], bool] = is_own) -> Note | None:
    """Return a note why hpcc cannot run beside this suite, or None where it can. ``hosts``: those that are named."""
    if is_one_node(layout):
        return None
    what = "not available: hpcc between nodes"
    if not hosts:
        return Note("peer-not-available", f"{what} without names, because it starts on named hosts", "name --hosts a,b")
    if not any(is_here(name) for name in hosts):
        # hpcc's first process reads a file that we write.
        text = f"{what} of which none is this one, because it reads a file that is written here"
        return Note("peer-not-available", text, "start Ullage on one of the hosts")
    return None


def _peer_job(tool: Hpcc, cases: RingsCases, layout: Layout, launcher: Launcher) -> PeerJob:
    is_same_mpi = launcher.name == _OPEN_MPI
    # hpcc gets our own ranks' settings where its MPI is of the same kind, except those that the user has set.
    ours = sorted(launcher.environment(layout).items()) if is_same_mpi else []
    job = job_of(layout, [one for one in ours if one[0] not in os.environ], launcher.hosts)

    def values(answer: HpccAnswer) -> list[tuple[str, str, dict[str, float]]]:
        if answer.messages is None:
            raise PeerError("its summary has no rings")
        said = answer.messages.items()
        return [
            (
                case.case.id,
                PHASES[what],
                {
                    name: value
                    for (of, name), value in said
                    if of == what and name.endswith("latency") == (size == SMALL_BYTES)
                },
            )
            for (what, size), case in cases.items()
        ]

    stage = f"hpcc beside: {job.ranks} processes"
    made = hpcc_job(tool, job, [case.case.id for case in cases.values()], values, stage)
    other = f"hpcc runs by its own MPI, ours by that of {launcher.name}: both are compared here"
    advice = "build the engine with the MPI of hpcc to compare the programs alone"
    note = None if is_same_mpi else Note("peer-other-mpi", other, advice)
    return replace(made, note=note, tries=_MOST_FAILURES, max_failures=_MOST_FAILURES)


def prepare_rings(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Plan the cases and hpcc's runs.

    Raise ``UserError`` where the engine lacks a workload, or the ranks do not fill the nodes.
    """
    options = read_options(RingsOptions, request)
    layout = options.place(options.ranks, usable_cores())
    cases = make_cases(options, layout, engine_context.description)
    missing = not_available(layout, request.hosts) if options.peer and hpcc.installed() is not None else None
    peers = hpcc_in_turn(cases, layout) if options.peer and missing is None else None
    notes = () if missing is None else (missing,)
    # A rank of a ring sends two messages from places of their own.
    jobs: list[tuple[int, Copiers, int]] = [(LARGE_BYTES, "all", 2), (LARGE_BYTES, "one", 1)]
    # Two ranks on a core still show what sharing it costs.
    most = None if (cores := usable_cores()) is None else 2 * cores
    least = bound_cases(jobs, layout, engine_context.description, len(HEADERS), most, options.pages)
    return PreparedKernels(request, options, HEADERS, [*cases.values(), *least], peers, notes)


def hpcc_in_turn(cases: RingsCases, layout: Layout, run: RunHpcc | None = None) -> KernelPeers:
    """Return hpcc's runs in turn with the repetitions; ``run`` stands in for the real program."""

    def jobs(session: Session) -> list[PeerJob]:
        program = hpcc.installed()
        if program is None:
            return []
        return [_peer_job(Hpcc(program, run or hpcc.run_hpcc), cases, layout, session.launcher)]

    line = "Where hpcc is installed it runs after each repetition, with as many processes."
    return KernelPeers(jobs, (line,), in_turn=True)
