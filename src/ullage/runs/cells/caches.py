# SPDX-License-Identifier: Apache-2.0
"""What a backend leaves of the options on caches and verification. Pure."""

from typing import Final

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.model.describe import Registered
from ullage.model.plan import Parameters

DIRECT: Final = "direct"


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
