# SPDX-License-Identifier: Apache-2.0
"""Make rows of the records of particle files, and name the parameters of a row in words."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.flags import IDLE_RANKS
from ullage.model.summary import Row
from ullage.parameters import count_of
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.runs.particles.cells import layout_name
from ullage.runs.told import Source, told_rows, usual

if TYPE_CHECKING:
    from ullage.model.plan import Scalar

RAW: Final = "raw_bandwidth"
OBSERVED: Final = "observed_bandwidth"
_READ: Final = "read"
_ORDERS: Final[Mapping[str, str]] = {"C": "contiguous", "I": "interleaved"}
_READS: Final[Mapping[str, str]] = {
    "full": "all particles",
    "partial": "the first particles of each rank",
    "strided": "runs of particles",
}


def particle_rows(launches: Sequence[Iterable[AnyRecord]], context: RowContext, access: str) -> list[Row]:
    """Return the rows of phase ``access`` with layout, format and transfers; what only makes the file is left out."""
    rows = told_rows(
        launches, context, lambda row, source: _tell(row, source) if row.params["access"] == access else None
    )
    return list(map(_as_asked, rows))


def _tell(row: Row, source: Source) -> Mapping[str, "Scalar"]:
    parameters = source.workload
    compute_s = parameters.get("compute_s", 0.0)
    params: dict[str, Scalar] = {
        **usual(row, "access", "ranks", "nodes", "backend"),
        "particles": count_of(parameters, "particles", 8 << 20),
        "steps": count_of(parameters, "steps", 5),
        "layout": layout_name(parameters),
        "format": "raw" if parameters.get("format", "raw") == "raw" else str(row.params["backend"]),
        "transfers": "collective" if source.case.backend_parameters.get("collective") else "independent",
        "compute_s": float(compute_s) if isinstance(compute_s, (int, float)) else 0.0,
    }
    if row.params["access"] == _READ:
        params |= {"read": str(parameters.get("read", "full")), "data_of": source.phases[-1].data_of}
    return params


def _as_asked(row: Row) -> Row:
    """Drop the flag of ranks that have nothing to move between steps, as was asked for, and a ceiling that is none.

    The calls of a write end before the sync, and memory may answer a read: a device's ceiling does not bound them.
    """
    flags = [flag for flag in row.flags if flag.code != IDLE_RANKS or not row.params["compute_s"]]
    told = row.model_copy(update={"flags": flags})
    return with_ceiling(told, None) if row.metric == RAW and row.verdict != "cold" else told


def orders_of(layout: str) -> tuple[str, str]:
    """Return the order in memory and in the file of a layout as it is typed: ``CI``."""
    memory, file = layout
    return _ORDERS[memory], _ORDERS[file]


def layout_text(row: Row) -> str:
    """Write ``contiguous``; where memory and file have different orders ``contiguous to interleaved``.

    A write goes from memory to the file, a read from the file to memory.
    """
    memory, file = orders_of(str(row.params["layout"]))
    if memory == file:
        return memory
    return f"{file} to {memory}" if row.params["access"] == "read" else f"{memory} to {file}"


def particles_read(row: Row) -> str:
    """Name the particles that a row reads; return ``particles`` for a row that writes them."""
    return _READS.get(str(row.params.get("read", "")), "particles")
