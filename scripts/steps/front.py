# SPDX-License-Identifier: Apache-2.0
"""Runs pytest with the engine of a preset."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from steps import engine, python_env, wheel
from steps.counts import Counts, failure, read
from steps.process import LOGS, StepError, logged, say, shown

Argv: TypeAlias = Sequence[str | Path]
LIMIT_S = 900
END_TO_END = "tests/e2e"
FAULTS = "faults"
CAUSES = "causes"
# An ordinary test run has no time for these amounts: only `random_damage` has them, unless somebody asks for others.
_RANDOM = ("tests/fuzz", "tests/e2e/test_fault_resume.py")
# Random damage is for `make test-all`; every other run only shows that its tests work.
_LITTLE_DAMAGE = {"ULLAGE_FUZZ_S": "0.25"}
_THOROUGH = {"ULLAGE_FUZZ_S": "4", "ULLAGE_KILLS": "20"}
# After `make test` the same time is for seeds that it has not come to.
_OTHER = {**_THOROUGH, "ULLAGE_FUZZ_S": "2", "ULLAGE_FUZZ_SEED": "1000001"}
UNIT = (f"--ignore={END_TO_END}",)
# Where the environment forbids Python to write bytecode, each of the thousands of processes would compile again.
_KEEPS_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
# More processes take longer to find their tests than they save.
MOST_AT_ONCE = 8
# End-to-end tests wait most of the time: for launchers, for ranks that sleep, for what is meant to hang.
MORE_THAN_CORES = 4
# What is timed sleeps nearly all of its time, as the simulated devices do.
TIMED_AT_ONCE = 2
REAL_TIME = ("chrt", "--fifo", "1")


def report_of(preset: str, name: str) -> Path:
    """Return where a run of tests leaves its report."""
    return LOGS / f"pytest-{preset}-{name}.xml"


def _run(
    preset: str,
    name: str,
    *chosen: str,
    at_once: int,
    extra: Mapping[str, str] | None = None,
    run: Callable[[Argv, Mapping[str, str]], int] | None = None,
    before: Argv = (),
) -> Counts:
    """Run the tests that the words ``chosen`` choose in ``at_once`` processes (0: in one). ``before`` starts pytest.

    Tests are given out one by one, end-to-end tests in the order of their conftest.py: files of which the tests share
    something stay together. Of unit tests, who has finished takes over some of the others.
    """
    report = report_of(preset, name)
    report.unlink(missing_ok=True)
    dist = "worksteal" if chosen == UNIT else "loadgroup"
    words = ["-q", "--tb=short", f"--numprocesses={at_once}", f"--dist={dist}", f"--junit-xml={report}"]
    argv = [*before, python_env.VENV / "bin" / "python", "-m", "pytest", *words, *chosen]
    run = run or partial(shown, limit_s=LIMIT_S)
    of_engine = {"ULLAGE_ENGINE": str(engine.folder(preset) / "ullage-engine")}
    code = run(argv, {**of_engine, **_KEEPS_BYTECODE, **(extra or {})})
    counted = read(report)
    unseen = code != 0 and counted.failed == 0
    return counted + (failure(f"pytest-{preset}-{name}: exit code {code}, no test is named") if unseen else Counts())


def _cores() -> int:
    return min(MOST_AT_ONCE, len(os.sched_getaffinity(0)))


def unit(preset: str) -> Counts:
    """Run what starts no run of its own, and print nothing unless it fails: other tests print beside it."""
    return _unit(preset, _kept)


def _kept(argv: Argv, extra: Mapping[str, str]) -> int:
    try:
        logged("pytest-unit", argv, extra)
    except StepError as failure:
        say(str(failure))
        return 1
    return 0


def unit_while_writing(preset: str) -> Counts:
    """Do the same and print it."""
    return _unit(preset)


def _unit(preset: str, run: Callable[[Argv, Mapping[str, str]], int] | None = None) -> Counts:
    return _run(preset, "unit", *UNIT, at_once=_cores(), extra=_unless_asked(_LITTLE_DAMAGE), run=run)


def timed(preset: str) -> Counts:
    """Run the tests that compare times, with real-time priority where this user may have it."""
    before = REAL_TIME if has_real_time() else ()
    return _run(preset, "timed", END_TO_END, "-m", "undisturbed", at_once=TIMED_AT_ONCE, before=before)


@cache
def has_real_time() -> bool:
    """Tell whether this user may start programs with real-time priority, which wait for no ordinary program."""
    words = [*REAL_TIME, "true"]
    return shutil.which("chrt") is not None and subprocess.run(words, capture_output=True, check=False).returncode == 0


def end_to_end(preset: str) -> Counts:
    """Run the end-to-end tests but those that are timed, and those that need the machine for themselves."""
    return _run(
        preset,
        "e2e",
        END_TO_END,
        "-m",
        "not undisturbed and not cause and not wheel",
        at_once=_cores() + MORE_THAN_CORES,
    )


def faults(preset: str) -> Counts:
    """Run every test that provokes a fault, with more random damage and kills than in other runs."""
    return _run(
        preset, FAULTS, "tests", "-m", "fault", at_once=_cores() + MORE_THAN_CORES, extra=_unless_asked(_THOROUGH)
    )


def causes(preset: str) -> Counts:
    """Plant every cause of slowness, one after the other, and see whether Ullage names it: a wrong answer fails."""
    return _run(preset, CAUSES, END_TO_END, "-m", "cause", at_once=0)


def of_the_wheel(preset: str) -> Counts:
    """Build the wheel, run it as its users do, and let its engine find known answers. Raises StepError."""
    wheel.make()
    as_users = _run(preset, "wheel", END_TO_END, "-m", "wheel", at_once=0)
    return as_users + _run(
        wheel.PRESET, "known", "tests/golden", f"{END_TO_END}/test_known_answer.py", at_once=_cores()
    )


def random_damage(preset: str) -> Counts:
    """Run the tests of random damage on other seeds, and more kills: all others are the same each time."""
    return _run(
        preset, "damage", *_RANDOM, "-m", "fault", at_once=_cores() + MORE_THAN_CORES, extra=_unless_asked(_OTHER)
    )


def _unless_asked(amounts: Mapping[str, str]) -> dict[str, str]:
    """Return ``amounts`` but those that somebody has set otherwise."""
    return {name: os.environ.get(name, value) for name, value in amounts.items()}


def of_another_mpi(preset: str) -> Counts:
    """Run the end-to-end tests of what depends on the MPI."""
    engine.build_engine(preset)
    chosen = (END_TO_END, "-m", "each_mpi and not undisturbed")
    return _run(preset, "e2e", *chosen, at_once=_cores() + MORE_THAN_CORES)
