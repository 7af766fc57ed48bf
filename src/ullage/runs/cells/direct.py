# SPDX-License-Identifier: Apache-2.0
"""Whether a folder's file system lets the page cache be bypassed, and in which units. Nothing is left behind."""

import errno
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ullage.model.describe import Describe
from ullage.model.plan import Parameters, Target
from ullage.runs.cells.planning import Way, way_of
from ullage.runs.session import Note
from ullage.system.storage import direct_alignment
from ullage.units import format_bytes
from ullage.uri import target_folder

_PAGE_BYTES: Final = 4096


@dataclass(frozen=True, slots=True)
class DirectIo:
    """Says whether a target serves direct I/O, and with which sizes.

    ``served``: files open with O_DIRECT. ``alignment_bytes``: of offsets, sizes and buffers then.
    """

    served: bool
    alignment_bytes: int = 1

    def fits(self, size: int) -> int:
        """Return ``size``, rounded up to what direct I/O serves."""
        return -(-size // self.alignment_bytes) * self.alignment_bytes

    def notes(self, target: str, sizes: Sequence[int]) -> list[Note]:
        """Return notes on how direct I/O changes a measurement with ``sizes`` at a target of that name."""
        if not self.served:
            text = f"target '{target}' refuses direct I/O (O_DIRECT): it is measured through the page cache"
            return [Note("page-cache", text, "take a volume larger than memory, or read the verdict of each row")]
        odd = [size for size in sizes if self.fits(size) != size]
        if not odd:
            return []
        unit = format_bytes(self.alignment_bytes)
        changed = ", ".join(f"{format_bytes(size)} became {format_bytes(self.fits(size))}" for size in odd)
        text = f"direct I/O at target '{target}' moves multiples of {unit} only: {changed}"
        return [Note("size-aligned", text, f"name sizes that are multiples of {unit}")]


def way_of_own_files(
    target: Target, backend: str, description: Describe, more: Parameters, *, direct: bool, cached: bool
) -> Way:
    """Return the way of ranks that write a file of their own each, and read it again.

    ``direct``: past the page cache. Where they are ``cached``, data is dropped before reads. ``more``: of the workload.
    """
    cache = "advise" if cached and not direct else "none"
    workload: Parameters = {"phases": ["write", "read"], "file_mode": "per-process", "cache": cache, **more}
    return way_of(target, (backend, {"direct": True} if direct else {}), workload, description)


def direct_at(target: Target) -> DirectIo:
    """See ``direct_io``; a target without a path serves none."""
    place = target_folder(target)
    return DirectIo(served=False) if place is None else direct_io(place)


def direct_io(folder: Path) -> DirectIo:
    """Return what files in ``folder`` would allow, by a file without a name, which is gone when it is closed.

    Where such a file cannot be made, direct I/O is taken to be served: the engine, which asks again, then says why not.
    """
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        is_refused = error.errno == errno.EINVAL
        return DirectIo(served=not is_refused, alignment_bytes=1 if is_refused else _assumed(folder))
    try:
        return DirectIo(served=True, alignment_bytes=direct_alignment(handle) or _assumed(folder))
    finally:
        os.close(handle)


def _assumed(folder: Path) -> int:
    """Return the file system's block where that is a sector to a page, else a page: the engine has the same rule."""
    try:
        block = os.statvfs(folder).f_bsize
    except OSError:
        return _PAGE_BYTES
    return block if block in (512, 1024, 2048, _PAGE_BYTES) else _PAGE_BYTES
