# SPDX-License-Identifier: Apache-2.0
"""Matrix products and linear solves by the libraries of this machine: sizes, cases, and what to try instead."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING, Final, Literal

from ullage.launch.base import layout_here
from ullage.model.describe import Describe
from ullage.peers.hpcc import thrifty_order
from ullage.runs.kernels.cases import KernelCase, kernel_case
from ullage.runs.kernels.options import CPU
from ullage.suites.cpu.kernels import kernels_of
from ullage.suites.cpu.libraries import Library
from ullage.suites.cpu.options import CpuOptions
from ullage.suites.cpu.rows import DISTRIBUTED, GEMM, SOLVE

if TYPE_CHECKING:
    from ullage.model.plan import Parameters

Product = Literal["gemm", "solve"]
# How long a call should take, where the library reaches what is assumed.
_SECONDS: Final[dict[Product, float]] = {"gemm": 0.8, "solve": 2.0}
_QUICK_SECONDS: Final[dict[Product, float]] = {"gemm": 0.15, "solve": 0.3}
# Assumed of a core: so many of its widest instructions a second. Only sizes follow from it.
_ASSUMED_INSTRUCTIONS: Final = 2.5e9
# Matrices of n x n doubles that a case holds.
_MATRICES: Final[dict[Product, int]] = {"gemm": 3, "solve": 2}
# A product of whole tiles; libraries are at their best there.
_STEP: Final = 64
_LEAST: Final = 256
_LARGEST: Final = 60_000
MEMORY_SHARE: Final = 0.25
# Making and checking the matrices, and the library's warm-up.
_AROUND_S: Final = 0.25


@dataclass(frozen=True)
class BlasPlanner:
    """``memory_bytes``: what the matrices of a case may take together."""

    options: CpuOptions
    description: Describe
    memory_bytes: int

    def cases(
        self, library: Library, core: str = "", products: Sequence[Product] = ("gemm", "solve")
    ) -> list[KernelCase]:
        """Each product with 1 thread and with all, in a launch of this library and these kernels alone.

        ``core``: a word of OPENBLAS_CORETYPE; empty: the library's own choice.
        """
        counts = sorted({self.options.threads[0], self.options.threads[-1]})
        return [self._case(product, threads, library, core) for product in products for threads in counts]

    def distributed_cases(self, library: str) -> list[KernelCase]:
        """The solve of all cores again, by a rank on each and the ScaLAPACK of path ``library``; a try.

        None where there is one core, as nothing is distributed then, and none in a first look.
        """
        ranks = self.options.threads[-1]
        if ranks < 2 or self.options.quick:
            return []
        n = self.size("solve", ranks)
        made = kernel_case(
            DISTRIBUTED,
            {"n": n, "library": library},
            CPU,
            (DISTRIBUTED, "ScaLAPACK", str(ranks), str(n)),
            self.description,
            seconds=2 / 3 * n**3 / (ranks * self.assumed_rate) + _AROUND_S,
            launch="ScaLAPACK",
            layout=layout_here(ranks, 1, ranks),
        )
        return [replace(made, optional=True)]

    def size(self, product: Product, threads: int) -> int:
        """Rows: what was asked for, else by the time a call should take, and by memory."""
        fits = isqrt(self.memory_bytes // (8 * _MATRICES[product]))
        if product == SOLVE and self.options.size is not None:
            return self.options.size
        seconds = (_QUICK_SECONDS if self.options.quick else _SECONDS)[product]
        operations = seconds * threads * self.assumed_rate
        cubed = operations / 2 if product == GEMM else 1.5 * operations
        wanted = min(round(cubed ** (1 / 3)), fits, _LARGEST)
        if product == SOLVE:
            # So that the peer, which does much else of sizes that follow, takes no longer than it must.
            wanted = thrifty_order(wanted, threads)
        return max(_LEAST, wanted // _STEP * _STEP)

    @property
    def assumed_rate(self) -> float:
        """Operations/s of a core in double precision, before anything was measured."""
        widest = max((one.operations for one in kernels_of(self.description) if one.type == "fp64"), default=2)
        return widest * _ASSUMED_INSTRUCTIONS

    def _case(self, product: Product, threads: int, library: Library, core: str) -> KernelCase:
        n = self.size(product, threads)
        parameters: Parameters = {"n": n, "threads": threads, "library": library.path, "core": core}
        operations = 2 * n**3 if product == GEMM else 2 / 3 * n**3
        words = (product, f"{library.label}{f' as {core}' if core else ''}", str(threads), str(n))
        return kernel_case(
            product,
            parameters,
            CPU,
            words,
            self.description,
            seconds=operations / (threads * self.assumed_rate) + _AROUND_S,
            launch=f"BLAS {words[1]}",
        )
