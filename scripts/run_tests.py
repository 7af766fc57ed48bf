# SPDX-License-Identifier: Apache-2.0
"""Every test: the engine's on both MPIs (one under the sanitizers), the front's on both engines, lint; sums up."""

import sys
import time
from collections.abc import Callable
from functools import partial

import lint
from steps import engine, packages, python_env
from steps.ahead import BuildsAhead
from steps.process import LOGS, StepError, say, shown
from steps.tally import Tally, read

PYTEST_LIMIT_S = 900
AT_ONCE = "3"  # files of tests: they start ranks of their own and wait for them half of the time


def pytest(preset: str, *chosen: str, at_once: str = AT_ONCE) -> Tally:
    """Run pytest with a leg's engine: what the words ``chosen`` choose. ``at_once``: 0 is one file after the other."""
    report = LOGS / f"pytest-{preset}.xml"
    report.unlink(missing_ok=True)
    words = ["-q", "--tb=short", "--numprocesses", at_once, "--dist", "loadfile", f"--junit-xml={report}"]
    argv = [python_env.VENV / "bin" / "python", "-m", "pytest", *words, *chosen]
    code = shown(argv, {"ULLAGE_ENGINE": str(engine.folder(preset) / "ullage-engine")}, limit_s=PYTEST_LIMIT_S)
    counted = read(report)
    return counted + Tally(failed=int(code != 0 and counted.failed == 0))


def front(preset: str, ahead: BuildsAhead) -> Tally:
    """Run pytest, without what is timed. It waits half of the time: the other legs are built meanwhile."""
    ahead.start()
    return pytest(preset, "-m", "not undisturbed")


def engine_of(preset: str, ahead: BuildsAhead) -> Tally:
    """Run the engine's tests on a leg that was built ahead."""
    ahead.wait_for(preset)
    return engine.test(preset)


def front_of(preset: str, ahead: BuildsAhead) -> Tally:
    """Run with a leg's engine, that was built ahead, the tests that start one and may end otherwise on another MPI."""
    ahead.wait_for(preset)
    engine.build(preset, "ullage-engine")
    return pytest(preset, "tests/e2e", "-m", "not any_mpi and not undisturbed")


def steps(first: str, others: list[str], ahead: BuildsAhead) -> list[tuple[str, Callable[[], Tally]]]:
    """Return the steps in order: what finds most in the least time first."""
    return [
        (f"engine tests, {first}", partial(engine.test, first)),
        ("pytest, what is timed", partial(pytest, first, "tests/e2e", "-m", "undisturbed", at_once="0")),
        (f"pytest, engine of {first}", partial(front, first, ahead)),
        ("lint", lint.main),
        *(
            (f"engine tests, {leg}", partial(engine_of, leg, ahead))
            if leg == engine.SANITIZED
            else (f"pytest tests/e2e, engine of {leg}", partial(front_of, leg, ahead))
            for leg in others
        ),
    ]


def build(preset: str) -> None:
    """Build what is run of a later leg, with what the steps before it leave of the processors.

    The sanitizers' leg has the MPI of the wheel, as `mpich` has: the engine's tests need not be built for both.
    """
    targets = engine.with_tests(preset) if preset == engine.SANITIZED else ["ullage-engine"]
    engine.build(preset, *targets, yielding=True)


def main() -> Tally:
    """Run every step, whatever became of the others, and return the sum."""
    first, *others = engine.legs()
    total = Tally()
    with BuildsAhead(others, build) as ahead:
        for name, step in steps(first, others, ahead):
            say(f"{name} ...")
            started = time.monotonic()
            try:
                counted = step()
            except StepError as failure:
                say(str(failure))
                counted = Tally(failed=1)
            say(f"{name}: {counted} ({time.monotonic() - started:.1f} s)")
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
    result = main()
    say_what_is_missing()
    print(f"===== {result} in {time.monotonic() - began:.1f} s =====")
    sys.exit(result.failed > 0)
