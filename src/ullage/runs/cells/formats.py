# SPDX-License-Identifier: Apache-2.0
"""Which backends write files in several formats, and how they transfer. Pure."""

from collections.abc import Iterable
from typing import Final

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Target
from ullage.runs.session import Note
from ullage.uri import target_path, target_scheme

BACKENDS: Final = {"raw": "mpiio", "hdf5": "hdf5"}
"""What writes files in each format at a path."""


def ways_of_formats(
    target: Target, formats: Iterable[str], transfers: Iterable[str], description: Describe
) -> list[tuple[Registered, bool]]:
    """Return backends and whether they transfer collectively; a target without a path has its own backend alone."""
    scheme, asked = target_scheme(target), list(transfers)
    if target_path(target) is None:
        return [(find_registered(description, "backend", scheme), False)]
    is_usual = scheme in ("posix", "mpiio", "hdf5")
    names = dict.fromkeys(BACKENDS[one] if is_usual else scheme for one in formats)
    backends = [find_registered(description, "backend", name) for name in names]
    ways = [
        (backend, access == "collective")
        for backend in backends
        for access in dict.fromkeys(asked)
        if access != "collective" or backend.takes("collective")
    ]
    if not ways:
        raise UserError(f"target '{target.name}' has no collective transfers", "--access", "add independent")
    return ways


def hdf5_left_out(formats: Iterable[str], description: Describe) -> list[Note]:
    """Return a note where HDF5 is there and not among ``formats``."""
    is_there = any(one.name == "hdf5" and one.available for one in description.backends)
    if "hdf5" in formats or not is_there:
        return []
    return [Note("hdf5-left-out", "HDF5 is there and was not measured", "add --format raw,hdf5")]
