# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``cpu`` in their own types, as they stand in request.json."""

from typing import Annotated

from pydantic import Field

from ullage.runs.kernels.options import KernelOptions

METRICS = ("compute_rate", "best_compute_rate", "clock", "instructions_per_cycle")


class CpuOptions(KernelOptions):
    """``types`` and ``isas``: those to measure, by the engine's names; empty: all that run here.

    ``every_count``: all kernels with every thread count; else between 1 and all only the best kernel of each type.
    ``blas``: path of the library for gemm and solve; null: the site's and the package's. ``size``: n of the solve;
    null: chosen by time and memory. ``missing``: instruction sets that do not run here, with the reason;
    ``libraries``: labels of those that were found, by path.
    """

    types: list[str] = []
    isas: list[str] = []
    every_count: bool = False
    blas: str | None = None
    size: Annotated[int, Field(ge=8, le=1 << 20)] | None = None
    missing: dict[str, str] = {}
    libraries: dict[str, str] = {}
