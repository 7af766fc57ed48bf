# SPDX-License-Identifier: Apache-2.0
"""The backend of a case on storage, what it leaves of options on caches, and which write several formats. Pure."""

from collections.abc import Iterable
from typing import Final

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Parameters, Target
from ullage.runs.session import Note
from ullage.uri import target_path, target_scheme

DIRECT: Final = "direct"
BACKENDS: Final = {"raw": "mpiio", "hdf5": "hdf5"}
"""What writes files in each format at a path."""


def storage_backend(target: Target, asked: str, description: Describe) -> Registered:
    """Return the backend ``asked`` for, or that of the scheme of a target without a path.

    Raise ``UserError`` for one that uses no storage where a path is.
    """
    has_path = target_path(target) is not None
    found = find_registered(description, "backend", asked if has_path else target_scheme(target))
    if has_path and "path" not in found.capabilities:
        what = f"backend '{asked}' uses no storage, so it cannot measure target '{target.name}'"
        raise UserError(what, "--backend", f"give it a target of its own: --target NAME={asked}:")
    return found


def storage_backends(target: Target, asked: list[str], description: Describe) -> list[Registered]:
    """Return the ``storage_backend`` of each name; without names, and without a path, that of the target's scheme."""
    names = asked if target_path(target) is not None and asked else [target_scheme(target)]
    return [storage_backend(target, name, description) for name in names]


def direct_of(backend: Registered, cache: str) -> Parameters:
    """Return the parameter of direct I/O where option ``cache`` asks for it and data is held; raise without it."""
    if cache != DIRECT or "data" not in backend.capabilities:
        return {}
    if not backend.takes(DIRECT):
        what, right = f"backend '{backend.name}' has no direct I/O", "use --cache advise, or another --backend"
        raise UserError(what, "--cache direct", right, EXIT_BAD_INPUT)
    return {DIRECT: True}


def cache_and_verify(backend: Registered, cache: str, verify: str | None, usual: str) -> Parameters:
    """Return parameters ``cache`` and ``verify`` of a workload; ``usual``: the verification if none was asked for.

    What holds no data has no cache to drop and nothing to verify: raise ``UserError`` where that was asked for.
    """
    holds_data = "data" in backend.capabilities
    if not holds_data and verify not in (None, "none"):
        raise UserError(f"backend '{backend.name}' stores no data to verify", "--verify", "use --verify none")
    return {
        "cache": cache if holds_data and cache != DIRECT else "none",
        "verify": (verify or usual) if holds_data else "none",
    }


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
