# SPDX-License-Identifier: Apache-2.0
"""The builds of the engine that `make test-all` and CI add to the one in use, one line each."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from steps import engine, front
from steps.counts import Counts
from steps.process import StepError
from steps.schedule import Step


def built_ahead(build: Callable[[str], None], preset: str) -> Counts:
    """Build what a later step tests. What fails here is left to that step, where it fails again and is counted."""
    with contextlib.suppress(StepError):
        build(preset)
    return Counts()


@dataclass(frozen=True)
class Leg:
    """A preset; what is built of it while other legs are tested; what is run on it, which builds what is missing."""

    preset: str
    what: str
    build: Callable[[str], None]
    test: Callable[[str], Counts]

    def steps(self) -> list[Step]:
        """Return the build, aside, and the tests."""
        ahead = f"build of {self.preset}"
        return [
            Step(ahead, partial(built_ahead, self.build, self.preset), "aside"),
            Step(f"{self.what}, {self.preset}", lambda: self.test(self.preset), needs=(ahead,)),
        ]


# The sanitizers' leg has the MPI of the wheel too, so the engine's tests need not be built for both.
LEGS = (
    Leg("mpich", "pytest tests/e2e", engine.build_engine, front.of_another_mpi),
    Leg("asan", "engine tests", engine.build_tests, engine.test),
    Leg("tsan", "engine tests of what is threaded", engine.build_tests, engine.test),
    Leg("apart", "each file compiled by itself", engine.build_engine, engine.compiled),
)

# What CI takes instead: the tests' own code is not checked, so that a compiler cache has its objects from `make test`.
SHORTER = {"asan": Leg("asan-engine", "engine tests", engine.build_tests, engine.test)}


def further() -> list[Leg]:
    """Return the legs but the one that `make test` runs on. Raises StepError when no engine is set up."""
    return [leg for leg in LEGS if leg.preset != engine.linked()]


def shorter() -> list[Leg]:
    """Return the same legs as CI has time for. Raises StepError when no engine is set up."""
    return [SHORTER.get(leg.preset, leg) for leg in further()]
