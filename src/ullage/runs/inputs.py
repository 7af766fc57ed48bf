# SPDX-License-Identifier: Apache-2.0
"""What a suite is given: its options as they were read, and the engine that it runs on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ullage.model.describe import Describe
    from ullage.model.plan import Target


@dataclass(frozen=True)
class ParsedOptions:
    """What a suite makes of the words on its command line; ``options`` is JSON, its own."""

    targets: "list[Target]"
    options: dict[str, object]


@dataclass(frozen=True)
class EngineContext:
    """What a suite stands on: an engine, and what that says of itself."""

    engine: "Path"
    description: "Describe"

    @classmethod
    def of(cls, explicit: "Path | None" = None) -> "EngineContext":
        """Return the engine to use, as ``find_engine`` finds it, with what it says of itself."""
        from ullage.engine import describe, find_engine

        engine = find_engine(explicit)
        return cls(engine, describe(engine))
