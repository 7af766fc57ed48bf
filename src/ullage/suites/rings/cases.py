# SPDX-License-Identifier: Apache-2.0
"""The six cases of a rings run: two rings and the pairs, each with the small and the large message of HPC Challenge."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ullage.model.describe import Describe
from ullage.model.plan import Layout, Parameters
from ullage.runs.kernels.cases import KernelCase, kernel_case
from ullage.runs.kernels.places import MPI
from ullage.suites.rings.options import RingsOptions
from ullage.units import format_bytes

RING: Final = "ring"
PING_PONG: Final = "ping-pong"
SMALL_BYTES: Final = 8
LARGE_BYTES: Final = 2_000_000
HEADERS: Final = ("what", "message", "measured")
What: TypeAlias = Literal["natural", "random", "ping-pong"]
PHASES: Final[Mapping[What, str]] = {"natural": "ring", "random": "ring", "ping-pong": "pairs"}
ORDERS: Final[tuple[What, ...]] = ("natural", "random")
# A quick look's share of the budget, for the pairs of many processes.
_QUICK_SHARE: Final = 0.1
_AROUND_S: Final = 0.1
# One message of a slow machine.
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


SIZES: Final = (
    Size(SMALL_BYTES, 8, 5, 30, 8, 5, 10.0, _SMALL_S),
    Size(LARGE_BYTES, 3, 2, 10, 1, 2, 30.0, _LARGE_S),
)


@dataclass(frozen=True, slots=True)
class RingsCase:
    """A case, and which of the six it is: what equals the engine's defaults does not stand in its parameters."""

    kernel: KernelCase
    what: What
    message_bytes: int


def make_cases(options: RingsOptions, layout: Layout, description: Describe) -> list[RingsCase]:
    """``UserError`` where the engine lacks a workload, or would refuse its parameters."""
    found: list[RingsCase] = []
    for size in SIZES:
        kernels: list[tuple[KernelCase, What]] = [
            (_ring(order, size, options, layout, description), order) for order in ORDERS
        ]
        kernels.append((_pairs(size, options, layout, description), PING_PONG))
        found += [RingsCase(kernel, what, size.bytes) for kernel, what in kernels]
    return found


def _ring(order: What, size: Size, options: RingsOptions, layout: Layout, description: Describe) -> KernelCase:
    rings = 1 if order == "natural" else size.rings
    parameters: Parameters = {
        "order": order,
        "rings": rings,
        "message_bytes": size.bytes,
        "loops": size.ring_loops,
        "measurements": size.ring_measurements,
        "grow": True,
        "seed": options.seed,
        "permutation": "slot-probe" if options.faithful else "uniform",
    }
    count = f"{rings} ring{'s' if rings > 1 else ''}, {size.ring_measurements} x {size.ring_loops} loops"
    # Two methods, two messages each way.
    seconds = _AROUND_S + rings * size.ring_measurements * (size.ring_loops + 1) * 4 * size.message_s
    words = (f"{order} ring", format_bytes(size.bytes), count)
    return kernel_case(RING, parameters, MPI, words, description, seconds=seconds, layout=layout)


def _pairs(size: Size, options: RingsOptions, layout: Layout, description: Describe) -> KernelCase:
    budget_s = size.budget_s * (_QUICK_SHARE if options.quick else 1.0)
    parameters: Parameters = {
        "pairs": "sampled",
        "message_bytes": size.bytes,
        "loops": size.pair_loops,
        "measurements": size.pair_measurements,
        "budget_s": budget_s,
    }
    pairs = options.ranks * (options.ranks - 1)
    each_s = size.pair_measurements * (size.pair_loops + 1) * 2 * size.message_s
    words = (PING_PONG, format_bytes(size.bytes), f"pairs, {size.pair_measurements} x {size.pair_loops} loops")
    seconds = _AROUND_S + min(budget_s, pairs * each_s)
    return kernel_case(PING_PONG, parameters, MPI, words, description, seconds=seconds, layout=layout)
