# SPDX-License-Identifier: Apache-2.0
"""The sizes of FLASH files: the formulas of the FLASH I/O benchmark (M. Zingale) and its port to PnetCDF. Pure."""

from typing import Final, Literal

FlashFile = Literal["checkpoint", "plot-centred", "plot-corner"]
FILES: Final[tuple[FlashFile, ...]] = ("checkpoint", "plot-centred", "plot-corner")
HEADER_BYTES: Final = 4096
"""The header of our own format, before the arrays."""
UNKNOWNS: Final = {"checkpoint": 24, "plot-centred": 4, "plot-corner": 4}
# A block is described by 17 integers of 4 bytes (level, type, 15 relatives) and 12 reals (centre, size, bounds).
_INTEGERS: Final = 17
_REALS: Final = 12


def blocks_of(rank: int, given: int = 0) -> int:
    """Return the blocks of a rank: ``given``, or as the original 80 + (rank mod 3)."""
    return given or 80 + rank % 3


def total_blocks(ranks: int, given: int = 0) -> int:
    """Return the blocks of all ranks."""
    return sum(blocks_of(rank, given) for rank in range(ranks))


def block_bytes(file: FlashFile, cells: int, plot_real_bytes: int = 4) -> int:
    """Return the bytes of a block over all arrays of ``file``, for ``cells`` in each direction."""
    real = 8 if file == "checkpoint" else plot_real_bytes
    points = (cells + (file == "plot-corner")) ** 3
    return 4 * _INTEGERS + real * (_REALS + UNKNOWNS[file] * points)


def data_bytes(file: FlashFile, cells: int, blocks: int, plot_real_bytes: int = 4) -> int:
    """Return the bytes of all arrays of ``blocks`` blocks."""
    return blocks * block_bytes(file, cells, plot_real_bytes)
