# SPDX-License-Identifier: Apache-2.0
"""The options of the suite ``from-mpi-tile-io``, as they stand in request.json."""

from collections.abc import Mapping
from typing import ClassVar

from ullage.command_lines.options import LineOptions
from ullage.command_lines.translation import Translator
from ullage.runs.options.declared import Change
from ullage.suites.from_mpi_tile_io.translation import translate


class FromMpiTileIoOptions(LineOptions):
    """The options of all suites that measure command lines."""

    tool = "mpi-tile-io"
    shown = ("bandwidth", "tile_bandwidth", "frame_rate", "open_time", "sync_time", "close_time")
    changes: ClassVar[Mapping[str, Change]] = {
        "lines": Change(
            'Measure what these command lines do. Put each in quotes: "mpi-tile-io ..." or "mpirun -np 6 mpi-tile-io '
            '...".'
        ),
        "ranks": Change(unsaid="the number in the command lines, otherwise one for each tile"),
    }

    @classmethod
    def translator(cls) -> Translator:
        """See ``LineOptions``."""
        return translate
