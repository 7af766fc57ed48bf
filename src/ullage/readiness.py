# SPDX-License-Identifier: Apache-2.0
"""How a part of Ullage stands on this machine. Imports nothing, since `ullage --help` reads it."""

from typing import Literal, NamedTuple, TypeAlias

State: TypeAlias = Literal["ok", "limited", "not here", "needed"]


class Readiness(NamedTuple):
    """A part, how it stands, what was found, and the one command or module that brings what is missing."""

    part: str
    state: State
    found: str
    right: str = ""
