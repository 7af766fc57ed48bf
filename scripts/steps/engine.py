# SPDX-License-Identifier: Apache-2.0
"""Configures, builds and tests the engine, one folder below build/ a preset."""

import json
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from steps import python_env, tools
from steps.counts import Counts, failure, read_ctest
from steps.mpi import Mpi
from steps.process import ROOT, StepError, logged, say
from steps.stamp import Stamps, digest

LINK = python_env.VENV / "bin" / "ullage-engine"
# A unit with sanitizers takes a good GiB, and two builds may be under way.
BYTES_PER_COMPILER = 2 << 30
RACES = "tsan"
# These tests, by their names in CTest, start one process.
ONE_PROCESS = "^(unit|mpi-1)$"
# Tests of one process wait half of their time, for watchdogs above all: on two cores they run beside those of three
# ranks. More ranks at once, which look for messages all the time, take longer than one test after the other.
MORE_THAN_CORES = 2


def folder(preset: str) -> Path:
    """Return where a preset is built."""
    return ROOT / "build" / preset


def configure(preset: str, mpi: Mpi | None = None) -> None:
    """Run CMake for a preset. Raises StepError."""
    ninja = tools.program("ninja")
    if _belongs_elsewhere(folder(preset) / "CMakeCache.txt"):
        shutil.rmtree(folder(preset))
    argv = [_cmake(), "--preset", preset, f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-DCMAKE_CXX_COMPILER={tools.compiler()}"]
    if ccache := tools.program("ccache"):
        argv.append(f"-DCMAKE_CXX_COMPILER_LAUNCHER={ccache}")
    if mpi is not None and mpi.mpicc is not None:
        argv.append(f"-DMPI_C_COMPILER={mpi.mpicc}")
    logged(f"configure-{preset}", argv)


def _belongs_elsewhere(cache: Path) -> bool:
    """Tell whether a CMake cache was made before this checkout was moved or copied."""
    if not cache.is_file():
        return False
    home = re.search(r"^CMAKE_HOME_DIRECTORY:\w+=(.*)$", cache.read_text(encoding="utf-8"), re.MULTILINE)
    return home is None or Path(home[1]) != ROOT


def build(preset: str, *targets: str) -> None:
    """Build targets of a configured preset; quick when nothing changed. Raises StepError."""
    argv = [_cmake(), "--build", folder(preset), "--parallel", str(jobs()), "--target", *targets]
    logged(f"build-{preset}", argv, caches())


def caches() -> dict[str, str]:
    """Return the variables that make compilers keep below build/ what they may use again."""
    # One cache for all legs, whatever folder they are built in: what does not see mpi.h is the same in both MPIs' legs.
    below = ROOT / "build"
    return {
        "CCACHE_DIR": str(below / "ccache"),
        "CCACHE_BASEDIR": str(below),
        "CCACHE_NOHASHDIR": "1",
        "CCACHE_MAXSIZE": "1G",
        "ZIG_GLOBAL_CACHE_DIR": str(below / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(below / "zig"),
    }


def _cmake() -> Path:
    found = tools.cmake()
    if found is None:
        raise StepError("CMake is missing: run `make setup`")
    return found


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def jobs() -> int:
    """Return how many compilers this machine has cores and memory for."""
    memory_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(_cores(), memory_bytes // BYTES_PER_COMPILER))


def link(preset: str) -> None:
    """Make .venv/bin/ullage-engine the engine of a preset."""
    LINK.unlink(missing_ok=True)
    LINK.symlink_to(os.path.relpath(folder(preset) / "ullage-engine", LINK.parent))


def is_linked() -> bool:
    """Tell whether .venv/bin/ullage-engine was made."""
    return LINK.is_symlink()


def linked() -> str:
    """Return the preset whose engine .venv/bin/ullage-engine is. Raises StepError when there is none."""
    if not is_linked():
        raise StepError("no engine is set up: run `make setup`")
    return LINK.readlink().parent.name


def left_out(preset: str) -> list[str]:
    """Return the engine's test files that this machine cannot compile, for want of GoogleTest or rapidcheck."""
    return (folder(preset) / "left-out.txt").read_text(encoding="utf-8").splitlines()


def _has_tests(preset: str) -> bool:
    return (folder(preset) / "CTestTestfile.cmake").is_file()


def build_engine(preset: str) -> None:
    """Build a leg's engine. Raises StepError."""
    build(preset, "ullage-engine")


def compiled(preset: str) -> Counts:
    """Build a leg whose test is that each file compiles by itself. Raises StepError when one does not.

    It leaves out what the build in use compiles with nothing before it; a file that neither compiles so has failed.
    """
    build_engine(preset)
    begun = begun_with(preset) | begun_with(linked())
    files = (file for file in sorted((ROOT / "engine").rglob("*.cpp")) if not file.stem.endswith("_test"))
    if left := [str(file.relative_to(ROOT)) for file in files if file not in begun]:
        return failure(f"not compiled by themselves: {', '.join(left)}")
    return Counts(passed=1)


def begun_with(preset: str) -> set[Path]:
    """Return the files with which the units of a configured preset begin, where no precompiled header comes before."""
    entries = json.loads((folder(preset) / "compile_commands.json").read_text(encoding="utf-8"))
    units = [Path(entry["file"]) for entry in entries if "cmake_pch" not in entry["command"]]
    return {_first_of(unit) if unit.parent.name == "Unity" else unit for unit in units}


def _first_of(unit: Path) -> Path:
    first = re.search(r'^#include "(.+)"$', unit.read_text(encoding="utf-8"), re.MULTILINE)
    return Path(first[1]) if first else unit


def build_tests(preset: str) -> None:
    """Build a leg's engine, and its tests where they can be built. Raises StepError.

    The leg that looks for races has tests alone, which need a third of the engine.
    """
    tests = ["ullage-engine-tests"] if _has_tests(preset) else []
    build(preset, *(tests if preset == RACES else ["ullage-engine", *tests]))


def test(preset: str) -> Counts:
    """Build a leg's engine and tests, run them with CTest and count them. Raises StepError when they do not build."""
    return _test(preset)


def test_on_one_process(preset: str) -> Counts:
    """Do the same with what needs no second rank, unless it has passed with this very program."""
    build_tests(preset)
    program, corpus = folder(preset) / "ullage-engine-tests", ROOT / "tests" / "fuzz" / "corpus"
    if not program.is_file():
        return _test(preset, "--tests-regex", ONE_PROCESS)
    read = [program, *(path for path in corpus.rglob("*") if path.is_file())]
    current, passed = digest(read, {}), Stamps(ROOT / "build" / "passed.json")
    if passed.matches(preset, current):
        say("the engine's tests on one process: the program is the one with which they passed")
        return Counts()
    counted = _test(preset, "--tests-regex", ONE_PROCESS)
    if not counted.failed:
        passed.finish(current, preset)
    return counted


def _test(preset: str, *chosen: str) -> Counts:
    build_tests(preset)
    skipped = Counts(skipped=len(left_out(preset)))
    if not _has_tests(preset):
        return skipped
    reports = folder(preset) / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir()
    words = ["--test-dir", folder(preset), "--output-on-failure", "--output-junit", reports / "ctest.xml"]
    at_once = str(_cores() + MORE_THAN_CORES)
    try:
        logged(f"ctest-{preset}", [_cmake().with_name("ctest"), *words, *chosen, "--parallel", at_once])
    except StepError as error:
        say(str(error))
    return skipped + read_ctest(reports / "ctest.xml", reports)


def configured(presets: Iterable[str]) -> bool:
    """Tell whether all these presets are configured."""
    return all((folder(preset) / "build.ninja").is_file() for preset in presets)
