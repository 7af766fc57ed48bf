# SPDX-License-Identifier: Apache-2.0
"""What the official tool's configuration file says, in our words. ``config`` reads the file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.model.plan import Parameters, Target
from ullage.suites.io500.validity import COMPETITION_STONEWALL_S, STONEWALL_S
from ullage.uri import target_path

Positive: TypeAlias = Annotated[int, Field(ge=1)]


class Api(Strict):
    """Through which backend a phase goes, and the parameters that its words set."""

    backend: Literal["posix", "mpiio"] = "posix"
    parameters: Parameters = {}


class OfficialConfig(Strict):
    """What the official configuration file says, in SI units. Null: not said, so a probe or a default decides.

    ``apis``, ``collective`` and ``skipped`` go by official phase; ``notes``: what the file says and this suite does
    otherwise, in sentences.
    """

    file: str = ""
    apis: dict[str, Api] = {}
    collective: list[str] = []
    skipped: list[str] = []
    transfer_bytes: Annotated[int, Field(ge=8)] = 2 << 20
    block_bytes: Positive | None = None
    file_per_process: bool = True
    directory_per_process: bool = False
    segments: Positive | None = None
    easy_items: Positive | None = None
    hard_items: Positive | None = None
    files_per_directory: Annotated[int, Field(ge=0)] = 0
    waiting_factor: Annotated[float, Field(ge=0)] = 0.0
    workbench_objects: Positive | None = None
    workbench_rounds: Positive | None = None
    stonewall_s: Annotated[float, Field(gt=0)] | None = None
    competition: bool = False
    drop_caches: bool = False
    pause_folder: str = ""
    data_folder: str = ""
    find_ranks: dict[str, int] = {}
    notes: list[str] = []

    @property
    def sizes_are_given(self) -> bool:
        """Whether nothing is left for a probe to choose."""
        return None not in (self.block_bytes, self.segments, self.easy_items, self.hard_items)


def default_stonewall_s(config: OfficialConfig) -> float:
    """That of the file, else that of the rules."""
    if config.stonewall_s is not None:
        return config.stonewall_s
    return COMPETITION_STONEWALL_S if config.competition else STONEWALL_S


def check_data_folder(official: OfficialConfig, targets: Sequence[Target]) -> None:
    """A file that names another place than the targets was made for another run."""
    if not official.data_folder:
        return
    asked = Path(official.data_folder).expanduser().absolute()
    if all(target_path(target) != asked for target in targets):
        right = f"write --target NAME={official.data_folder}, or leave datadir out"
        raise UserError(f"datadir {official.data_folder} is not among the targets", official.file, right)


def check_find_ranks(official: OfficialConfig, ranks: int) -> None:
    """Find runs on every rank of the run."""
    for section, count in official.find_ranks.items():
        if count != ranks:
            what = f"[{section}] nproc {count}: find runs on all {ranks} ranks"
            raise UserError(what, official.file, f"leave it out, or run with --ranks {count}")
