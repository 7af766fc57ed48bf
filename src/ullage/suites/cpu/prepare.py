# SPDX-License-Identifier: Apache-2.0
"""A cpu run that was checked against engine and machine: which kernel with how many threads, which library."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from ullage.errors import UserError
from ullage.grouping import grouped
from ullage.model.describe import Describe
from ullage.model.plan import Case, Parameters
from ullage.model.request import Request
from ullage.parameters import count_of
from ullage.peers.hpcc import HpccAnswer, HpccJob, grid
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import CPU
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.kernels.resources import read_resources
from ullage.runs.options.reading import read_options
from ullage.runs.peer_runs import Hpcc, KernelPeers, PeerJob, hpcc_job
from ullage.runs.session import Note, Session
from ullage.suites.cpu.libraries import (
    DISTRIBUTED,
    GEMM,
    MEMORY_SHARE,
    SOLVE,
    WORKLOAD,
    BlasPlanner,
    Kernel,
    Library,
    Product,
    best_of_types,
    chosen,
    cores_to_try,
    find_libraries,
    find_scalapack,
    kernels_of,
    missing_of,
    narrow_of,
)
from ullage.suites.cpu.options import CpuOptions
from ullage.system.hardware import read_memory
from ullage.units import format_volume

HEADERS: Final = ("workload", "kernel", "threads", "size")
# A first look has shorter windows, and trusts that clocks have settled sooner.
_QUICK: Final[Parameters] = {"windows": 5, "warm_up_s": 0.05}


def compute_cases(options: CpuOptions, description: Describe) -> list[KernelCase]:
    """Make every kernel with the fewest and the most threads, and the best of each type with all counts between.

    Thread counts that were asked for hold for every kernel.

    ``quick`` keeps the best kernel of each type, and a scalar one as the reference of the clock.
    """
    kernels = chosen(description, options.types, options.isas)
    best = best_of_types(kernels)
    wanted = list(dict.fromkeys([*best, *narrow_of(kernels)])) if options.quick else kernels
    ends = {options.threads[0], options.threads[-1]}

    def case(kernel: Kernel, count: int) -> KernelCase:
        what: Parameters = {"isa": kernel.isa, "type": kernel.type, "operation": kernel.operation, "threads": count}
        words = (WORKLOAD, kernel.name, str(count), "")
        return kernel_case(WORKLOAD, {**what, **(_QUICK if options.quick else {})}, CPU, words, description)

    return [
        case(kernel, count)
        for kernel in wanted
        for count in options.threads
        if options.every_count or count in ends or kernel in best
    ]


# So much is assumed where memory cannot be read.
_ASSUMED_MEMORY: Final = 1 << 30
_NO_BLAS: Final = Note(
    "no-blas",
    "no BLAS was found: there is no matrix product and no linear solve",
    "install OpenBLAS or the package scipy-openblas32, or name a library with --blas",
)


def prepare_cpu(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Check everything that can be checked without starting anything."""
    options, resources = read_options(CpuOptions, request), read_resources()
    resources.check(options.threads)
    cases = compute_cases(options, engine_context.description)
    available = read_memory().available_bytes
    memory_bytes = int(MEMORY_SHARE * (_ASSUMED_MEMORY if available is None else available))
    planner = BlasPlanner(options, engine_context.description, memory_bytes)
    libraries = find_libraries(options.blas) if not options.types or "fp64" in options.types else []
    n = planner.options.size
    if n is not None and 16 * n * n > planner.memory_bytes:
        most = format_volume(planner.memory_bytes)
        what = f"a solve of {n} rows needs {format_volume(16 * n * n)}, but only {most} may be used"
        raise UserError(what, "--size", "take fewer rows")
    scalapack = find_scalapack(engine_context.description.engine.mpi.family) if libraries else None
    distributed = [] if scalapack is None else planner.distributed_cases(scalapack)
    cases += [case for library in libraries for case in planner.cases(library)] + distributed
    options = options.model_copy(
        update={
            "missing": _missing(engine_context),
            "libraries": {
                **{library.path: library.label for library in libraries},
                **{str(case.case.workload.parameters["library"]): "ScaLAPACK" for case in distributed},
            },
        }
    )
    request = request.model_copy(update={"options": options.model_dump(mode="json")})
    notes = resources.notes() + (() if libraries or options.types else (_NO_BLAS,))
    peers = KernelPeers(partial(_jobs_beside, planner, libraries, distributed, options))
    more = partial(_with_other_kernels, planner, libraries, options)
    return PreparedKernels(request, options, HEADERS, cases, peers, notes, more)


def _missing(engine_context: EngineContext) -> dict[str, str]:
    """Return the instruction sets of which no kernel at all runs here, and why."""
    runs = {kernel.isa for kernel in kernels_of(engine_context.description)}
    # In reverse, the first reason of each is the one that stays.
    return {one.isa: one.reason for one in reversed(missing_of(engine_context.description)) if one.isa not in runs}


def _with_other_kernels(
    planner: BlasPlanner, libraries: Sequence[Library], options: CpuOptions, session: Session
) -> list[KernelCase]:
    """Make further cases for each OpenBLAS that seems to have chosen wrong kernels.

    They are products by the other kernels that this CPU can run, and solves by the best of those.
    """
    from ullage.results.rows import RowContext
    from ullage.suites.cpu.findings import better_core, measured, mismatches
    from ullage.system.hardware import read_cpu

    found, cpu = measured(session.result, options, RowContext()), read_cpu()
    wrong = {one.label: one for one in mismatches(found)}
    cases: list[KernelCase] = []
    for library in libraries:
        if library.label not in wrong or not library.is_openblas:
            continue
        chosen, best = wrong[library.label].fact("core").lower(), better_core(found, library.label)
        for core in cores_to_try(cpu.flags, cpu.vendor):
            products: list[Product] = ["gemm", "solve"] if core == best else ["gemm"]
            cases += planner.cases(library, core, products) if core.lower() != chosen else []
    return [replace(case, optional=True) for case in cases]


def _jobs_beside(
    planner: BlasPlanner,
    libraries: Sequence[Library],
    distributed: Sequence[KernelCase],
    options: CpuOptions,
    session: Session,
) -> list[PeerJob]:
    """Return the runs of hpcc, by the kernels that did best here; none where hpcc or every library is missing."""
    from ullage.peers.hpcc import installed
    from ullage.results.rows import RowContext
    from ullage.suites.cpu.findings import better_core, measured

    program = installed()
    if program is None or not libraries:
        return []
    core = better_core(measured(session.result, options, RowContext()), libraries[0].label)
    cases = [case for library in libraries for name in ("", core) for case in planner.cases(library, name)]
    every = {case.case.id: case for case in (*cases, *distributed)}
    return hpcc_jobs(Hpcc(program), every.values(), core, every_count=not options.quick)


def hpcc_jobs(hpcc: Hpcc, cases: Iterable[KernelCase], core: str, *, every_count: bool) -> list[PeerJob]:
    """Return HPL runs of our solves' sizes, with a rank for each of their threads.

    ``cases``: our products and solves. ``every_count``: with each thread count, else with the most only.
    """
    by_threads = grouped(
        (case.layout.ranks * count_of(case.case.workload.parameters, "threads", 1), case.case) for case in cases
    )
    orders = {
        threads: count_of(case.workload.parameters, "n", 1)
        for threads, some in sorted(by_threads.items())
        for case in some
        if case.workload.name == SOLVE
    }
    found: list[PeerJob] = []
    for threads in orders if every_count else list(orders)[-1:]:
        job, same = HpccJob(orders[threads], *grid(threads), core=core), by_threads[threads]
        stage = f"hpcc beside: N = {job.order} on {job.ranks}"
        made = hpcc_job(hpcc, job, [case.id for case in same], partial(_values, same, job), stage)
        found.append(replace(made, what=f" with {job.ranks}"))
    return found


def _values(cases: Iterable[Case], job: HpccJob, answer: HpccAnswer) -> Iterator[tuple[str, str, dict[str, float]]]:
    """Yield the rate of hpcc that stands beside each case that has its like.

    For a solve this is HPL at equal N, for a product that of all ranks, each with matrices of its own.
    """
    for case in cases:
        is_solve = case.workload.name in (SOLVE, DISTRIBUTED)
        if is_solve and count_of(case.workload.parameters, "n", 1) == job.order:
            yield case.id, case.workload.name, {"compute_rate": answer.solve}
        elif case.workload.name == GEMM:
            rate = answer.product_alone if job.ranks == 1 else answer.products
            yield case.id, case.workload.name, {"compute_rate": rate}
