# SPDX-License-Identifier: Apache-2.0
"""Runs pytest with the engine of a preset."""

import os
from collections.abc import Mapping
from pathlib import Path

from steps import engine, python_env
from steps.process import LOGS, shown
from steps.tally import Tally, read

LIMIT_S = 900
END_TO_END = "tests/e2e"
FAULTS = "faults"
# An ordinary test run has no time for these amounts: only `random_damage` has them, unless somebody asks for others.
_RANDOM = ("tests/fuzz", "tests/e2e/test_fault_resume.py")
_THOROUGH = {"ULLAGE_FUZZ_S": "4", "ULLAGE_KILLS": "20"}
UNIT = (f"--ignore={END_TO_END}",)
# More processes take longer to find their tests than they save.
MOST_AT_ONCE = 8
# End-to-end tests start ranks of their own and wait for them half of the time.
MORE_THAN_CORES = 1


def report_of(preset: str, name: str) -> Path:
    """Return where a run of tests leaves its report."""
    return LOGS / f"pytest-{preset}-{name}.xml"


def _run(preset: str, name: str, *chosen: str, at_once: int, extra: Mapping[str, str] | None = None) -> Tally:
    """Run the tests that the words ``chosen`` choose, ``at_once`` files at a time (0: in one process)."""
    report = report_of(preset, name)
    report.unlink(missing_ok=True)
    words = ["-q", "--tb=short", f"--numprocesses={at_once}", "--dist=loadfile", f"--junit-xml={report}"]
    argv = [python_env.VENV / "bin" / "python", "-m", "pytest", *words, *chosen]
    code = shown(
        argv, {"ULLAGE_ENGINE": str(engine.folder(preset) / "ullage-engine"), **(extra or {})}, limit_s=LIMIT_S
    )
    counted = read(report)
    return counted + Tally(failed=int(code != 0 and counted.failed == 0))


def _cores() -> int:
    return min(MOST_AT_ONCE, len(os.sched_getaffinity(0)))


def unit(preset: str) -> Tally:
    """Run what starts no run of its own."""
    return _run(preset, "unit", *UNIT, at_once=_cores())


def timed(preset: str) -> Tally:
    """Run what holds a time against another."""
    return _run(preset, "timed", END_TO_END, "-m", "undisturbed", at_once=0)


def end_to_end(preset: str) -> Tally:
    """Run the end-to-end tests but those that are timed."""
    return _run(preset, "e2e", END_TO_END, "-m", "not undisturbed", at_once=_cores() + MORE_THAN_CORES)


def faults(preset: str) -> Tally:
    """Run every test that provokes a fault, with more random damage and kills than in other runs."""
    return _run(preset, FAULTS, "tests", "-m", "fault", at_once=_cores() + MORE_THAN_CORES, extra=_thorough())


def random_damage(preset: str) -> Tally:
    """Run the tests of random damage and kills, as many as ``faults`` does: the others do the same in every run."""
    return _run(preset, "damage", *_RANDOM, "-m", "fault", at_once=_cores() + MORE_THAN_CORES, extra=_thorough())


def _thorough() -> dict[str, str]:
    return {name: os.environ.get(name, value) for name, value in _THOROUGH.items()}


def of_another_mpi(preset: str) -> Tally:
    """Run the end-to-end tests that may end otherwise on another MPI than the one in use."""
    engine.build_engine(preset)
    chosen = (END_TO_END, "-m", "not any_mpi and not undisturbed")
    return _run(preset, "e2e", *chosen, at_once=_cores() + MORE_THAN_CORES)
