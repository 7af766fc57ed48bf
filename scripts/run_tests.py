# SPDX-License-Identifier: Apache-2.0
"""Test runs, any of them in a row: ``check`` while writing, ``test`` on one MPI, ``others`` on the other legs.

``ci`` is what CI has time for of the others.
"""

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial

import lint
from steps import engine, front, legs, packages, wheel
from steps.checks import CHECKS, SLOW_CHECKS
from steps.counts import Counts, keep
from steps.process import say
from steps.schedule import Step, carry_out


def lints() -> list[Step]:
    """Return style, types and house rules: what is slow as a step each, then all else."""
    parts = [({name}, f"lint, {name}") for name in sorted(SLOW_CHECKS)]
    parts.append((CHECKS.keys() - SLOW_CHECKS, "lint"))
    return [Step(said, partial(lint.at_once, names), "aside") for names, said in parts]


def check(preset: str) -> list[Step]:
    """Return the unit tests, style and types."""
    return [
        *lints(),
        Step("pytest, unit tests", partial(front.unit_while_writing, preset)),
        Step(f"engine tests on one process, {preset}", partial(engine.test_on_one_process, preset)),
    ]


def test(preset: str) -> list[Step]:
    """Return all tests on the MPI in use.

    End-to-end tests wait most of their time, and timed ones nearly all of it: what needs processors is aside.
    """
    how_timed = "in turn" if front.has_real_time() else "alone"
    return [
        Step("pytest, what is timed", partial(front.timed, preset), how_timed),
        Step("pytest, unit tests", partial(front.unit, preset), "aside"),
        lints()[-1],
        Step(f"pytest tests/e2e, {preset}", partial(front.end_to_end, preset)),
        Step(f"engine tests, {preset}", partial(engine.test, preset)),
    ]


def others(preset: str) -> list[Step]:
    """Return what is tested on other builds of the engine, random damage and kills, slow checks."""
    users = Step("pytest, the wheel as its users have it", partial(front.of_the_wheel, preset))
    tests = Step("engine tests, the wheel's compiler", partial(engine.test, wheel.PRESET))
    return [*_beside(legs.further(), preset), users, tests]


def ci(preset: str) -> list[Step]:
    """Return as much of the others as CI has time for."""
    return _beside(legs.shorter(), preset)


def _beside(chosen: Sequence[legs.Leg], preset: str) -> list[Step]:
    damage = Step("pytest, random damage and kills", partial(front.random_damage, preset))
    return [*(step for leg in chosen for step in leg.steps()), damage, *lints()[:-1]]


RUNS: dict[str, Callable[[str], list[Step]]] = {"check": check, "test": test, "others": others, "ci": ci}


def main(names: Sequence[str]) -> Counts:
    """Run what is named and return the sum."""
    total = Counts()
    for name in names:
        counted = carry_out(RUNS[name](engine.linked()))
        keep(name, counted)
        total += counted
    return total


def say_what_is_missing() -> None:
    """Name the engine tests that could not be compiled and the programs whose tests skip themselves."""
    for file in engine.left_out(engine.linked()):
        say(f"left out, for want of GoogleTest or rapidcheck: {file}")
    for package in packages.missing(packages.listed("test")):
        say(f"{package.name} is not installed: {package.why}")


if __name__ == "__main__":
    began = time.monotonic()
    result = main(sys.argv[1:])
    say_what_is_missing()
    print(*result.named(), f"===== {result} in {time.monotonic() - began:.1f} s =====", sep="\n")
    sys.exit(result.failed > 0)
