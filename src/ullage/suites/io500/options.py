# SPDX-License-Identifier: Apache-2.0
"""The options of an IO500 run, as they stand in request.json."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeAlias, cast

from pydantic import Field

from ullage.errors import UserError
from ullage.model.base import Strict
from ullage.parameters import suggest
from ullage.runs.options import groups
from ullage.runs.options.declared import Change, Option
from ullage.runs.options.kinds import ConvertedList, Duration, FilePath
from ullage.runs.options.model import OptionError
from ullage.suites.io500.config import OfficialConfig, check_against, default_stonewall_s, read_config
from ullage.suites.io500.phases import BY_NAME, Mode, phases_of
from ullage.suites.io500.validity import STONEWALL_S, Conditions
from ullage.units import format_duration
from ullage.uri import parse_targets

if TYPE_CHECKING:
    from ullage.model.plan import Target

CacheControl: TypeAlias = Literal["none", "advise", "drop"]
# A short run has walls of one part in so many; walls that would be shorter than a second are left as they are.
_SHORTER: Final = 5
_LEAST_FULL_WALL_S: Final = 5.0
# All else of a run, such as the phases that read, takes about as long as its walls.
_PER_WALL: Final = 2
_HINT: Final = re.compile(r"(?:(?P<phase>[\w-]+):)?(?P<key>\w+)=(?P<value>\S+)", re.ASCII)


def _walls(said: Mapping[str, object], official: OfficialConfig) -> int:
    """Return how many phases of a run with the words ``said`` go on until a wall."""
    mode: Mode = "extended" if said.get("mode") == "extended" else "standard"
    walls = sum(phase.has_wall for phase in phases_of(mode) if phase.name not in official.skipped)
    targets, repeat = said.get("target"), said.get("repeat")
    places = len(cast("list[object]", targets)) if isinstance(targets, list) and targets else 1
    return max(1, walls) * places * int(repeat if isinstance(repeat, (int, str)) else 1)


def hints_by_phase(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Parse hints by phase, those for all MPI-IO phases under an empty name; raise ``UserError`` for other words."""
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        match = _HINT.fullmatch(text)
        if match is None:
            raise UserError("not a hint", text, "write KEY=VALUE or PHASE:KEY=VALUE")
        phase = match["phase"] or ""
        if phase and phase not in BY_NAME:
            raise UserError(f"unknown phase '{phase}'", text, suggest(phase, BY_NAME))
        found.setdefault(phase, {})[match["key"]] = match["value"]
    return found


class Sizes(Strict):
    """How much work a rank has at most in each writing phase: the stonewall ends a phase before it runs out of it.

    ``short``: writing phases that have too little to do until the wall, and ``short_s`` how long each lasts, by the
    rates that ``basis`` names.
    """

    block_bytes: groups.Positive
    segments: groups.Positive
    easy_items: groups.Positive
    hard_items: groups.Positive
    workbench_objects: groups.Positive = 2
    short: list[str] = []
    short_s: list[float] = []
    basis: str = ""


class Io500Options(
    groups.TargetsOptions,
    groups.BindOptions,
    groups.RanksOptions,
    groups.TimeOptions,
    groups.SpaceOptions,
    groups.WatchdogOptions,
    groups.ResumableOptions,
):
    """The options of suite ``io500``. Sizes in bytes, times in s. ``sizes`` by target, as far as they are settled."""

    changes = {
        "targets": Change(required=False, unsaid="the datadir of --config"),
        "time_s": Change(
            "Limit the time of all measurements. Time that the stonewalls leave may be used for wear-out.",
            unsaid="no limit",
        ),
        "keep": Change("Do not remove the datasets of the last round."),
    }

    mode: Annotated[
        Mode, Option("Run the standard or the extended phases. Extended adds md-workbench, find-easy and find-hard.")
    ] = "standard"
    stonewall_s: Annotated[
        groups.Seconds,
        Duration(),
        Option(
            "Write for this long in each writing phase. The rules require 300 s.",
            name="--stonewall",
            unsaid="the value of --config, otherwise 300 s",
        ),
    ] = STONEWALL_S
    config: Annotated[OfficialConfig, FilePath(read_config), Option("Read this INI file of the official tool.")] = (
        OfficialConfig()
    )
    hints: Annotated[
        dict[str, dict[str, str]],
        Field(description="MPI hints by official phase"),
        ConvertedList(hints_by_phase, metavar="[PHASE:]KEY=VALUE"),
        Option("Set an MPI-IO hint for all MPIIO phases or for one. Repeat the option for more hints.", name="--hint"),
    ] = {}
    repeat: Annotated[groups.Positive, Option("Run this many rounds. The score has an interval from 6 rounds on.")] = 1
    cache: Annotated[
        CacheControl,
        Option(
            "Treat the page cache before reads: none, advise (fsync, then drop the data), or drop "
            "(all caches, root only)."
        ),
    ] = "advise"
    verify: Annotated[
        Literal["full", "none"], Option("Check the data that is read, outside the timer: full or none.")
    ] = "full"
    sizes: dict[str, Sizes] = {}

    @classmethod
    def writes_within(cls, said: Mapping[str, object]) -> int | None:
        """See ``SuiteOptions``: probe and run each make their data once, but md-workbench writes again and again."""
        return None if said.get("mode") == "extended" else 2

    @classmethod
    def within(cls, said: Mapping[str, object], seconds: float) -> dict[str, str]:
        """See ``SuiteOptions``: the walls become shorter than the rules ask for, by whole seconds."""
        if "stonewall" in said or "time" in said:
            return {}
        path = said.get("config")
        official = read_config(Path(path)) if isinstance(path, str) else OfficialConfig()
        usual = default_stonewall_s(official)
        wall = math.floor(seconds / (_PER_WALL * _walls(said, official)))
        return {} if official.stonewall_s is not None or wall >= usual else {"stonewall": f"{max(1, wall)}s"}

    @classmethod
    def shorter(cls, options: Mapping[str, object]) -> dict[str, str]:
        """See ``SuiteOptions``: the walls are a fifth, and the phases that follow have a fifth of the files."""
        wall = options.get("stonewall_s")
        if not isinstance(wall, (int, float)) or wall < _LEAST_FULL_WALL_S:
            return {}
        return {"stonewall": format_duration(wall / _SHORTER)}

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Add what the official configuration file says besides; check its places and ranks against the options."""
        official = cast("OfficialConfig", said.get("config", OfficialConfig()))
        folder = official.data_folder
        places = said.get("targets") or (parse_targets([f"data={folder}"]) if folder else [])
        if not places:
            raise OptionError(
                "targets", "names no place to measure", "write --target NAME=PATH, or datadir in --config"
            )
        values = {"stonewall_s": default_stonewall_s(official), **super().settle({**said, "targets": places})}
        check_against(official, cast("list[Target]", values["targets"]), cast("int", values["ranks"]))
        # drop-caches of the file is that of the command line, said in other words.
        return {**values, "cache": "drop"} if official.drop_caches else values

    @property
    def conditions(self) -> Conditions:
        """The conditions of the run, as the rules look at them."""
        config = self.config
        return Conditions(
            stonewall_s=self.stonewall_s,
            competition=config.competition,
            pause_folder=config.pause_folder,
            files_per_directory=config.files_per_directory,
        )
