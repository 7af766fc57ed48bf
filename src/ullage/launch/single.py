# SPDX-License-Identifier: Apache-2.0
"""No MPI: the engine is one process, which is started without a launcher."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.base import DeadRank, Family, MpiLauncher, ended_ranks, wrapper
from ullage.model.plan import Layout

_WRAPPER: Final = wrapper("0")


@dataclass(frozen=True, slots=True)
class Single(MpiLauncher):
    """Starts one process."""

    NAME: ClassVar[str] = "single"
    FAMILY: ClassVar[Family] = "single"

    def argv(self, engine: Path, plan: Path, layout: Layout) -> list[str]:
        """See ``Launcher``; raise ``UserError`` where more than one rank is asked for."""
        if layout.ranks > 1:
            what = f"{layout.ranks} ranks are asked for, and this engine runs without MPI, which is one process"
            right = "load the module of an MPI, or give --ranks 1; `ullage doctor` says what was looked for"
            raise UserError(what, "--ranks", right, EXIT_ENVIRONMENT)
        return [*_WRAPPER, str(engine), "run", str(plan)]

    def on_host(self, host: str, command: Sequence[str]) -> list[str]:  # noqa: ARG002 - nothing is started
        """See ``Launcher``; raise ``UserError``, since this process is not there."""
        what = f"nothing can be started on {host}, since this engine runs without MPI"
        raise UserError(what, "--hosts", "load the module of an MPI", EXIT_ENVIRONMENT)

    def environment(self, layout: Layout) -> dict[str, str]:  # noqa: ARG002 - the same for all
        return {"ULLAGE_MPI": "single", "ULLAGE_RANK": "0"}

    def dead_ranks(self, stderr: str) -> list[DeadRank]:
        return ended_ranks(stderr)


LAUNCHER: Final = Single
