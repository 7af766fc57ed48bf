# SPDX-License-Identifier: Apache-2.0
"""The options of an IO500 run in their own types, as they stand in request.json."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict
from ullage.model.plan import Parameters
from ullage.suites.io500.phases import Mode
from ullage.suites.io500.validity import COMPETITION_STONEWALL_S, STONEWALL_S, Conditions

CacheControl: TypeAlias = Literal["none", "advise", "drop"]
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


class Sizes(Strict):
    """How much work a rank has at most in each writing phase: the stonewall ends a phase before it runs out of it.

    ``short``: writing phases for which the space is too small to last until the wall; ``basis`` says where the sizes
    come from.
    """

    block_bytes: Positive
    segments: Positive
    easy_items: Positive
    hard_items: Positive
    workbench_objects: Positive = 2
    short: list[str] = []
    basis: str = ""


class Io500Options(Strict):
    """Sizes in bytes, times in s. ``sizes`` by target, as far as they are settled."""

    ranks: Positive
    nodes: Positive | None = None
    ranks_per_node: Positive | None = None
    mode: Mode = "standard"
    stonewall_s: Annotated[float, Field(gt=0)] = STONEWALL_S
    repeat: Positive = 1
    time_s: Annotated[float, Field(gt=0)] | None = None
    verify: Literal["none", "full"] = "full"
    cache: CacheControl = "advise"
    hints: Annotated[dict[str, dict[str, str]], Field(description="MPI hints by official phase")] = {}
    space: Annotated[int, Field(ge=0)] | None = None
    watchdog_s: Annotated[float, Field(gt=0)] | None = None
    keep: bool = False
    resumable: bool = False
    config: OfficialConfig = OfficialConfig()
    sizes: dict[str, Sizes] = {}

    @property
    def conditions(self) -> Conditions:
        """As the rules look at them."""
        config = self.config
        return Conditions(
            stonewall_s=self.stonewall_s,
            competition=config.competition,
            pause_folder=config.pause_folder,
            files_per_directory=config.files_per_directory,
        )


def default_stonewall_s(config: OfficialConfig) -> float:
    """That of the file, else that of the rules."""
    if config.stonewall_s is not None:
        return config.stonewall_s
    return COMPETITION_STONEWALL_S if config.competition else STONEWALL_S
