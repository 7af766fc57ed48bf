# SPDX-License-Identifier: Apache-2.0
"""The backend of a case on storage, and what it leaves of the options on caches and verification. Pure."""

from typing import Final

from ullage.engine import find_registered
from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Parameters, Target
from ullage.uri import target_path, target_scheme

DIRECT: Final = "direct"


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


def has_parameter(backend: Registered, name: str) -> bool:
    """Tell whether the backend has a parameter of that name."""
    return any(parameter.name == name for parameter in backend.parameters)


def direct_of(backend: Registered, cache: str) -> Parameters:
    """Return the parameter of direct I/O where option ``cache`` asks for it and data is held; raise without it."""
    if cache != DIRECT or "data" not in backend.capabilities:
        return {}
    if not has_parameter(backend, DIRECT):
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
