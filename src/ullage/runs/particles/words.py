# SPDX-License-Identifier: Apache-2.0
"""Particles in words of people: the order in memory and file, and what of them is read."""

from collections.abc import Mapping
from typing import Final

from ullage.model.summary import Row

_ORDERS: Final[Mapping[str, str]] = {"C": "contiguous", "I": "interleaved"}
_READS: Final[Mapping[str, str]] = {
    "full": "all particles",
    "partial": "the first particles of each rank",
    "strided": "runs of particles",
}


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
    """Name which particles a row reads, or ``particles`` of one that writes them."""
    return _READS.get(str(row.params.get("read", "")), "particles")
