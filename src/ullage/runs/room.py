# SPDX-License-Identifier: Apache-2.0
"""The machine that we are on: its facts, whether targets can be used, and how much of them a run may take."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.model.plan import Limits, Target
from ullage.model.request import Request
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.uri import target_path, target_scheme

NO_LIMIT: Final = 1 << 62
# Free space shrinks by what else goes on at the target, and file systems need some for themselves.
_SHARE: Final = 0.9
_FILE_SYSTEM_BLOCK: Final = 4096
# O_DIRECT moves whole sectors only; devices with larger sectors refuse more sizes, which only the run can tell.
SECTOR_BYTES: Final = 512


@dataclass(frozen=True)
class Room:
    """Limits what all datasets together take of a target.

    Bytes and files that all datasets together may take; ``file_bytes``: what a small file takes at least.
    """

    bytes: int
    files: int
    file_bytes: int = _FILE_SYSTEM_BLOCK


def room_at(place: Place, limits: Limits, memory: Memory, nodes: int | None = 1) -> Room:
    """Return the room at ``place`` by the engine's own rule, less a margin; ``nodes``: as in ``most_bytes``."""
    most = most_files(place, limits, nodes)
    inodes = most if most == NO_LIMIT else int(most * _SHARE)
    most = most_bytes(place, limits, memory, nodes)
    return Room(int(most * _SHARE), inodes, place.block_bytes or _FILE_SYSTEM_BLOCK)


def disks_of(place: Place, nodes: int | None) -> int:
    """Return how many file systems like this one ``nodes`` write to: each node its own, or all the same."""
    return (nodes or 1) if place.is_remote is False else 1


def most_bytes(place: Place, limits: Limits, memory: Memory, nodes: int | None = 1) -> int:
    """Return the bytes that the engine lets a run take at ``place``.

    Where the free space is not known, that is the limit that people set, or ``NO_LIMIT``. ``nodes``: how many share the
    place evenly, None when not known. Where each has a file system of its own there, they are taken to be alike, and
    the engine judges each of them; a limit that people set is of each, too.
    """
    free = place.free_bytes
    if free is None:
        return NO_LIMIT if limits.space_bytes is None else limits.space_bytes
    if place.is_memory and memory.available_bytes is not None:
        free = min(free, memory.available_bytes)
    allowed = min(int(free * limits.space_fraction), max(0, free - limits.reserve_bytes))
    return disks_of(place, nodes) * (allowed if limits.space_bytes is None else min(allowed, limits.space_bytes))


def most_files(place: Place, limits: Limits, nodes: int | None = 1) -> int:
    """Return the files that the engine lets a run make at ``place``; ``NO_LIMIT`` where free inodes are not known."""
    free = place.free_inodes
    return NO_LIMIT if free is None else disks_of(place, nodes) * int(free * limits.space_fraction)


def check_paths(targets: Iterable[Target]) -> None:
    """Raise ``UserError`` for a target without a place for files."""
    for target in targets:
        if target_path(target) is None:
            what = f"target '{target.name}' has no place for files ({target_scheme(target)}:)"
            raise UserError(what, "--target", "write NAME=PATH", EXIT_BAD_INPUT)


def check_places(places: Iterable[Place]) -> None:
    """Raise ``UserError`` (exit code 3) for a target that is missing, no folder, or not to be written to."""
    for place in places:
        where, right = f"target '{place.target}' ({place.path})", "name a folder that you may write to"
        if not place.exists:
            raise UserError("does not exist", where, "make the folder, or correct the path", EXIT_ENVIRONMENT)
        if Path(place.path).is_char_device() and Path(place.path).name.startswith("dax"):
            right = "name a folder, or measure an empty device by suite sweep with --target NAME=devdax:"
            raise UserError("is a devdax device, which has no files", where, right, EXIT_ENVIRONMENT)
        if not Path(place.path).is_dir():
            raise UserError("is not a folder", where, right, EXIT_ENVIRONMENT)
        if not os.access(place.path, os.W_OK | os.X_OK):
            read_only = "ro" in place.options
            what = "lies on a file system that is mounted read-only" if read_only else "cannot be written to"
            raise UserError(what, where, right, EXIT_ENVIRONMENT)


@dataclass(frozen=True)
class Machine:
    """What a suite knows of the machine before it runs.

    ``cores``: usable ones of a node, None when not known; ``places``: of the targets that have a path.
    """

    cores: int | None
    places: Sequence[Place]
    memory: Memory


def this_machine(targets: list[Target]) -> Machine:
    """Read cores, places and memory of this node; where a run has several nodes, they are taken to be as this one."""
    from ullage.system.hardware import read_memory, usable_cores
    from ullage.system.storage import read_places

    return Machine(usable_cores(), read_places(targets), read_memory())


def checked_machine(targets: list[Target]) -> Machine:
    """Return ``this_machine``, whose places were checked as by ``check_places``."""
    machine = this_machine(targets)
    check_places(machine.places)
    return machine


def freeze_system(folder: ResultFolder, request: Request, engine_context: EngineContext) -> None:
    """Write the facts of this machine, once for a result; a later job adds the switches of its own nodes."""
    from ullage.system import facts
    from ullage.system.switches import merged, read_switches

    if not folder.system_path.exists():
        folder.write_system(facts(request.targets, engine_context.description))
    elif (found := read_switches()) and (known := folder.read_system()) is not None:
        folder.write_system(known.model_copy(update={"switches": merged(known.switches, found)}))
