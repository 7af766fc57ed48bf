# SPDX-License-Identifier: Apache-2.0
"""The options of a suite of command lines, as they stand in request.json."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Annotated, ClassVar, Final

from pydantic import Field

from ullage.command_lines.translation import Draft, Translation, Translator, WantedLayout, split_line
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.runs.options.declared import PLACES, RANKS, Change, Option
from ullage.runs.options.groups import LayoutOptions, SpaceOptions, WatchdogOptions
from ullage.runs.options.kinds import Converted, Repeated
from ullage.runs.options.model import COMMAND_LINE_ONLY
from ullage.uri import parse_target, parse_targets

# mdtest makes the folder that it is given; the others need it.
_MAKES_ITS_FOLDER: Final = ("mdtest",)


class LineOptions(LayoutOptions, SpaceOptions, WatchdogOptions):
    """The options of a suite that measures command lines.

    ``lines`` as typed. ``places``: name of the target that stands for each folder the lines name. ``rooms``: bytes that
    might be taken of each target when the run began, which volumes behind a wall are cut to. A suite says of which
    ``tool`` its lines are, and how to ``translate`` them.
    """

    tool: ClassVar[str]
    translate: ClassVar[Translator]
    changes = {"keep": Change("Do not remove the datasets.")}

    lines: Annotated[list[str], Field(min_length=1), Repeated(metavar="LINE"), Option("", argument=True, required=True)]
    target: Annotated[
        Target | None,
        Converted(parse_target, metavar="[NAME=]PATH"),
        Option("Measure this place.", unsaid="the path in the command lines", order=PLACES),
        COMMAND_LINE_ONLY,
    ] = None
    ranks: Annotated[
        int | None,
        Field(ge=1),
        Option(
            "Start this many ranks (MPI processes).",
            unsaid="the number in the command lines, otherwise 1",
            order=RANKS - 1,
        ),
    ] = None
    targets: Annotated[list[Target], COMMAND_LINE_ONLY] = []
    places: dict[str, str] = {}
    rooms: dict[str, int] | None = None

    @classmethod
    def settle(cls, said: Mapping[str, object]) -> dict[str, object]:
        """Add the targets and places that the lines name to what was ``said``."""
        values = super().settle(said)
        options = cls.model_validate(values)
        targets, places = _targets(cls.tool, options.target, options.translation().drafts)
        return {**values, "targets": targets, "places": places}

    def translation(self) -> Translation:
        """Translate the lines; raise ``UserError`` for what has no equivalent."""
        wanted = WantedLayout(self.ranks, self.nodes, self.ranks_per_node)
        return type(self).translate([split_line(text, self.tool) for text in self.lines], wanted)

    @property
    def measured(self) -> list[Target]:
        return self.targets


def _targets(tool: str, asked: Target | None, drafts: tuple[Draft, ...]) -> tuple[list[Target], dict[str, str]]:
    on_paths = list(dict.fromkeys(draft.place for draft in drafts if draft.needs_path))
    without = [] if on_paths and all(draft.needs_path for draft in drafts) else [Target(name="null", uri="null:")]
    if asked is not None:
        return [asked, *without] if on_paths else without, dict.fromkeys(on_paths, asked.name)
    places: dict[str, str] = {}
    folders: dict[str, str] = {}
    for place in on_paths:
        if not place:
            right = f"add --target NAME=PATH, or the path in the words of {tool}"
            raise UserError("the command line names no place to measure", tool, right)
        stem = (PurePath(place).name or "target").replace("=", "-")
        folder = str(existing(place)) if tool in _MAKES_ITS_FOLDER else place
        if folder not in folders:
            folders[folder] = stem if stem not in folders.values() else f"{stem}-{len(folders) + 1}"
        places[place] = folders[folder]
    return [*parse_targets(f"{name}=posix:{folder}" for folder, name in folders.items()), *without], places


def existing(place: str) -> Path:
    """Return the folder ``place``, or its parent where the tool would make it there."""
    folder = Path(place).expanduser()
    return folder.parent if not os.path.lexists(folder) and folder.parent.is_dir() else folder
