# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``cpu``, as they stand in request.json."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, cast

from pydantic import Field

from ullage.errors import UserError
from ullage.runs.kernels.options import CPU, KernelOptions
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.each_node import EachNodeOptions
from ullage.runs.options.groups import MachineOptions, PeerOptions
from ullage.runs.options.kinds import Count, FilePath, Names, RawValue

METRICS = ("compute_rate", "best_compute_rate", "clock", "instructions_per_cycle", "waited_share", "stolen_share")
# A widespread course calls them by their width: quarter, half, single and double precision.
SEED_TYPES: Final = {"QP": "int8", "HP": "int16", "SP": "fp32", "DP": "fp64"}
# Beside single precision stand the integers of its width.
_BESIDE: Final = {"SP": ("fp32", "int32")}


@dataclass(frozen=True)
class TypeNames(Names):
    """Types by the engine's names, or by those of the course; what the engine does not know is found later."""

    def parse(self, raw: RawValue) -> object:
        """Return the engine's names of the types, each once."""
        found: dict[str, None] = {}
        for name in cast("list[str]", super().parse(raw)):
            seed = name.upper()
            found.update(dict.fromkeys(_BESIDE.get(seed, (SEED_TYPES.get(seed, name),))))
        return list(found)


def find_library(path: Path) -> str:
    """Return ``path`` as an absolute one; raise ``UserError`` where no file is."""
    if not path.is_file():
        raise UserError("no such file", str(path), "name a shared library such as libopenblas.so.0")
    return str(path.absolute())


class CpuOptions(EachNodeOptions, PeerOptions, MachineOptions, KernelOptions):
    """The options of suite ``cpu``.

    ``types`` and ``isas``: those to measure, by the engine's names; empty: all that run here.

    ``every_count``: all kernels with every thread count; else between 1 and all only the best kernel of each type.
    ``blas``: path of the library for gemm and solve; null: the site's and the package's. ``size``: n of the solve;
    null: chosen by time and memory. ``missing``: instruction sets that do not run here, with the reason; ``libraries``:
    labels of those that were found, by path.
    """

    at = (CPU,)
    changes = {
        "time_s": Change(
            "Limit the time of all measurements, other tools included.", usual="6m", quick="50s", unsaid=""
        ),
        "repetitions": Change(quick=""),
        "quick": Change("Take a first look: the best kernel of each type with 1 and with all threads."),
        "peer": Change("Do not run hpcc for comparison, even if it is installed."),
    }

    types: Annotated[
        list[str],
        TypeNames(),
        Option("Measure these number types: QP,HP,SP,DP, or int8,fp16,fp64 and so on.", name="--type", unsaid="all"),
    ] = []
    isas: Annotated[
        list[str],
        Names(),
        Option(
            "Measure these instruction sets, for example scalar,avx2,avx512.",
            name="--isa",
            unsaid="all that this CPU supports",
        ),
    ] = []
    every_count: bool = False
    blas: Annotated[
        str | None,
        FilePath(find_library, metavar="PATH"),
        Option(
            "Use this BLAS library for DGEMM and the linear solve.", unsaid="the site's library and that of the package"
        ),
    ] = None
    size: Annotated[
        int | None,
        Field(ge=8, le=1 << 20),
        Count(metavar="N"),
        Option("Solve a matrix with this many rows.", unsaid="the largest that time and memory allow"),
    ] = None
    missing: dict[str, str] = {}
    libraries: dict[str, str] = {}

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Set ``every_count`` where thread counts were named: then every kernel runs with each of them."""
        return super().settle({"every_count": "threads" in said, **said})
