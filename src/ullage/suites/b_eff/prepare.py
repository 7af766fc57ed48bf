# SPDX-License-Identifier: Apache-2.0
"""From the options to the one case of a b_eff run. How much memory a process has is found here, once."""

from typing import Final

from ullage.errors import UserError
from ullage.launch.base import ranks_on_a_node
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.options import MPI
from ullage.runs.kernels.prepared import KernelCase, PreparedKernels, kernel_case
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.suites.b_eff.options import (
    SMALLEST_LMAX,
    WARMED_SIZES,
    BEffOptions,
    down_to_power_of_two,
    lmax_of,
    message_sizes,
)
from ullage.system.hardware import read_memory, usable_cores
from ullage.system.limits import read_limits
from ullage.units import format_bytes, format_volume

WORKLOAD: Final = "b-eff"
HEADERS: Final = ("workload", "processes", "messages", "patterns")
_METHODS: Final = 3
_ADDITIONAL: Final = 13
_RINGS: Final = 6
# Bytes/s of a process that only copies: a size takes at least that time, however short the budget.
_SLOW_RATE: Final = 1e9
_AROUND_S: Final = 0.5
_LAST_TWO: Final = 2


def prepare_b_eff(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """Prepare the one case of the run.

    ``UserError`` where the engine lacks the workload, or the memory is too small for any message.
    """
    options = read_options(BEffOptions, request)
    layout = options.place(options.ranks, usable_cores())
    if options.lmax is None:
        options = with_lmax(options, layout)
        request = request.model_copy(update={"options": options.model_dump(mode="json")})
    return PreparedKernels(request, options, HEADERS, [_case(options, layout, engine_context)], notes=_notes(layout))


def with_lmax(options: BEffOptions, layout: Layout, available: int | None = None) -> BEffOptions:
    """Return ``options`` with the memory of a process and the largest message that it allows.

    ``available``: bytes of this node. Memory that people say counts as the original's constant does; of what is found
    the message is a power of two. ``UserError`` where the memory is not known, or too small for any message.
    """
    memory, is_said = options.memory, options.memory is not None
    if memory is None:
        on_a_node = layout.ranks_per_node or layout.ranks
        free = _available() if available is None else available
        if not free:
            raise UserError("the kernel does not say how much memory is available", "", "give --memory or --lmax")
        memory = free // on_a_node
    share = lmax_of(memory, options.lmax_cap)
    lmax = share if is_said else down_to_power_of_two(share)
    if lmax < SMALLEST_LMAX:
        what = f"{format_volume(memory)} of memory for each process allow messages of {format_bytes(lmax)} only"
        raise UserError(what, "", f"give more --memory, fewer --ranks, or --lmax {format_bytes(SMALLEST_LMAX)}")
    return options.model_copy(update={"memory": memory, "lmax": lmax})


def _available() -> int:
    """Return the bytes that this node has left, and no more than the control group allows; 0 when not known."""
    found = [size for size in (read_memory().available_bytes, read_limits().memory_bytes) if size]
    return min(found, default=0)


def _case(options: BEffOptions, layout: Layout, engine_context: EngineContext) -> KernelCase:
    parameters: Parameters = {
        "lmax_bytes": options.lmax or SMALLEST_LMAX,
        "budget_s": options.budget_s,
        "random_rings": options.random_rings,
        "seed": options.seed,
        "permutation": "slot-probe" if options.faithful else "uniform",
        "additional": options.additional,
        "short_last_two": options.short_last_two,
        "timed_check": options.faithful,
        "pages": options.pages,
    }
    patterns = _RINGS + options.random_rings + (_ADDITIONAL if options.additional else 0)
    words = (WORKLOAD, str(options.ranks), f"1 B to {format_bytes(options.lmax or 0)}", f"up to {patterns}")
    seconds = expected_s(options, patterns)
    return kernel_case(WORKLOAD, parameters, MPI, words, engine_context.description, seconds=seconds, layout=layout)


def expected_s(options: BEffOptions, patterns: int) -> float:
    """Estimate the seconds of one repetition.

    It is the budget of each size and method, and more where a single loop takes longer.
    """
    sizes = message_sizes(options.lmax or SMALLEST_LMAX)
    total_s = _AROUND_S
    for index, size in enumerate(sizes):
        loops = 2 if index < WARMED_SIZES else 1
        single_s = patterns * loops * 2 * size / _SLOW_RATE
        methods = 1 if options.short_last_two and index >= len(sizes) - _LAST_TWO else _METHODS
        total_s += methods * max(options.budget_s, single_s)
    return total_s


def _notes(layout: Layout) -> tuple[Note, ...]:
    """Say before anything is measured that the value will not count, where processes share cores."""
    cores = usable_cores()
    on_a_node = ranks_on_a_node(layout)
    if cores is None or on_a_node is None or on_a_node <= cores:
        return ()
    text = f"{on_a_node} processes share {cores} cores: b_eff will be NOT VALID, and take longer"
    return (Note("oversubscribed", text, f"take --ranks {cores * (layout.nodes or 1)}, or allow more cores"),)
