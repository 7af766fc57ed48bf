# SPDX-License-Identifier: Apache-2.0
"""The cases of a cpu run: which kernel with how many threads. Pure."""

from collections.abc import Sequence
from typing import Final

from ullage.model.describe import Describe
from ullage.model.plan import Parameters
from ullage.runs.kernels.cases import KernelCase, kernel_case
from ullage.runs.kernels.places import CPU
from ullage.suites.cpu.kernels import WORKLOAD, Kernel, best_of_types, chosen, narrow_of
from ullage.suites.cpu.options import CpuOptions

HEADERS: Final = ("workload", "kernel", "threads", "size")
# A first look has shorter windows, and trusts that clocks have settled sooner.
_QUICK: Final[Parameters] = {"windows": 5, "warm_up_s": 0.05}


def compute_cases(options: CpuOptions, description: Describe) -> list[KernelCase]:
    """Every kernel with 1 and with all threads; between them, unless they were asked for, only the best of each type.

    ``quick``: of each type the best kernel, and a scalar one for the clock it leaves.
    """
    kernels = chosen(description, options.types, options.isas)
    best = best_of_types(kernels)
    wanted = list(dict.fromkeys([*best, *narrow_of(kernels)])) if options.quick else kernels
    ends = {options.threads[0], options.threads[-1]}
    return [
        _case(kernel, count, options, description)
        for kernel in wanted
        for count in options.threads
        if options.every_count or count in ends or kernel in best
    ]


def _case(kernel: Kernel, threads: int, options: CpuOptions, description: Describe) -> KernelCase:
    parameters: Parameters = {
        "isa": kernel.isa,
        "type": kernel.type,
        "operation": kernel.operation,
        "threads": threads,
        **(_QUICK if options.quick else {}),
    }
    words = (WORKLOAD, kernel.name, str(threads), "")
    return kernel_case(WORKLOAD, parameters, CPU, words, description)


def counts_of_blas(threads: Sequence[int]) -> list[int]:
    """A matrix product on a part of the cores tells nothing that 1 and all do not."""
    return sorted({threads[0], threads[-1]})
