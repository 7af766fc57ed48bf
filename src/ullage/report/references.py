# SPDX-License-Identifier: Apache-2.0
"""Published runs to hold a result against: every file in ``reference_runs/``, its numbers as they were printed."""

from functools import cache
from pathlib import Path
from typing import Final, Literal

from ullage.model.base import Strict

_FOLDER: Final = Path(__file__).parent / "reference_runs"
_FACTORS: Final = {"GiB/s": float(1 << 30), "kIOPS": 1e3}


class ReferencePhase(Strict):
    """What one phase gave."""

    value: float
    unit: Literal["GiB/s", "kIOPS"]
    time_s: float

    @property
    def rate(self) -> float:
        """Bytes/s or operations/s."""
        return self.value * _FACTORS[self.unit]


class ReferenceRun(Strict):
    """One published run, its phases by the names that rows have as ``phase``."""

    name: str
    phases: dict[str, ReferencePhase]


class Publication(Strict):
    """Where runs were published, and the runs."""

    source: str
    runs: list[ReferenceRun]


@cache
def publications() -> tuple[Publication, ...]:
    """All of them, in the order of their files."""
    files = sorted(_FOLDER.glob("*.json"))
    return tuple(Publication.model_validate_json(file.read_bytes()) for file in files)
