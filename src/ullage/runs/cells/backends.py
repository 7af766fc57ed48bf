# SPDX-License-Identifier: Apache-2.0
"""The backend of a case on storage. Pure."""

from ullage.engine import find_registered
from ullage.errors import UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Target
from ullage.uri import target_path, target_scheme


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
