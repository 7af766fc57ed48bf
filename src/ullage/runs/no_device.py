# SPDX-License-Identifier: Apache-2.0
"""A file system in memory, on which the same calls show what the kernel does without a device.

It is used for a bound and never as a target: few names, little data, in a marked folder that is removed.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ullage.model.plan import Limits, Target
from ullage.model.system import Memory, Place
from ullage.runs.room import Room, room_at

NAME: Final = "no-device"
"""The name of that target in plans and records."""
_TMPFS: Final = "tmpfs"
# What is made there takes no more than this part of the room.
_SHARE: Final = 0.05


def find_tmpfs(memory: Memory, needed: Room) -> Place | str:
    """Return a tmpfs of this node with room for ``needed``, or why there is none."""
    from ullage.system.storage import read_places

    said: list[str] = []
    for path in _candidates():
        (place,) = read_places([Target(name=NAME, uri=f"posix:{path}")])
        why = _why_not(place, memory, needed)
        if not why:
            return place
        said.append(f"{path} {why}")
    return "; ".join(said)


def _candidates() -> Iterable[str]:
    """Return where tmpfs is for everybody's use; other mounts of it belong to somebody."""
    found = ["/dev/shm", os.environ.get("XDG_RUNTIME_DIR", ""), "/tmp"]  # noqa: S108 - looked at, and used if it is tmpfs
    return dict.fromkeys(path for path in found if path.startswith("/"))


def _why_not(place: Place, memory: Memory, needed: Room) -> str:
    if not place.exists:
        return "does not exist"
    if place.file_system != _TMPFS or not place.is_memory:
        return "is no tmpfs"
    if not os.access(place.path, os.W_OK | os.X_OK) or not Path(place.path).is_dir():
        return "cannot be written to"
    room = room_at(place, Limits(), memory)
    has_room = needed.bytes <= _SHARE * room.bytes and needed.files <= _SHARE * room.files
    return "" if has_room else "has too little room"
