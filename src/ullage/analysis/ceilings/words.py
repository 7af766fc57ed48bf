# SPDX-License-Identifier: Apache-2.0
"""``--machine FILE`` for the suites. Imported for every command: nothing heavy up here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ullage.model.machine import MachineFile

MachineOption = Annotated[
    Path | None,
    typer.Option(
        "--machine",
        metavar="FILE",
        help="Datasheet values (machine.toml): they are the ceilings. `ullage machine --declare FILE` drafts it.",
        show_default=False,
    ),
]
"""Annotation of a suite's parameter ``machine: MachineOption = None``."""


def machine_option(path: Path | None) -> "MachineFile | None":
    """What the file declares, to be kept among the options of the request; ``UserError`` for each mistake in it."""
    from ullage.analysis.ceilings.machine_file import read_machine

    return None if path is None else read_machine(path)
