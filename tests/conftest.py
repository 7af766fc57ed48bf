# SPDX-License-Identifier: Apache-2.0
"""What every test stands on: no test reads or writes the home folder of the person who runs it."""

import gc
import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from support.fake_program import FakeProgram
from support.simulated_engine import built_engine

# Two shared cores make deadlines lie; the same examples on every machine make a failure one that can be repeated.
settings.register_profile("ullage", deadline=None, derandomize=True, database=None)
settings.load_profile("ullage")


# As for the engine's tests (cmake/Tests.cmake): a rank that waits leaves its core, also one that is bound to it, since
# several tests are at work; and nothing looks for Omni-Path.
_FOR_MPI = {
    "MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "10",
    "MPIR_CVAR_POSIX_POLL_FREQUENCY": "10",
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_pml": "ob1",
}
for _name, _value in _FOR_MPI.items():
    os.environ.setdefault(_name, _value)

# Under nohup and in the background of a script these are ignored, by us and all that is started from here: tests of a
# hang-up and of Ctrl-C would wait for ever.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


# As the console script sets it: a tenth of the processor time of tests that read results is the collector's else.
gc.set_threshold(100_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Hand what a test says of its fault to the report, from which `make faults` makes its table."""
    for item in items:
        if (fault := item.get_closest_marker("fault")) is not None:
            what, afterwards = fault.args
            item.user_properties += [("fault", what), ("afterwards", afterwards)]


@pytest.fixture(scope="session", autouse=True)
def python_itself(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Let `python3`, which runs programs that only pretend, be this interpreter.

    A version manager has a script there instead, which takes eight times as long to find an interpreter.
    """
    folder = tmp_path_factory.mktemp("python")
    (folder / "python3").symlink_to(sys.executable)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(folder), prepend=os.pathsep)
        yield


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Names of home folders. They lie in one folder, because pytest reads its own anew for each number it gives."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def empty_home(
    homes: Iterator[Path], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Point HOME at a fresh folder and drop the XDG folders, the colours and the width of this terminal.

    The cache alone is one for all tests, as a user's is for all runs.
    """
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in [name for name in os.environ if name.startswith("XDG_")] + ["NO_COLOR", "FORCE_COLOR", "COLUMNS"]:
        monkeypatch.delenv(name, raising=False)
    of_all_workers = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else None
    monkeypatch.setenv("XDG_CACHE_HOME", str((of_all_workers or tmp_path_factory.getbasetemp()) / "cache"))
    return home


@pytest.fixture(scope="session")
def engine() -> Path:
    """Return the engine under test."""
    path = built_engine()
    if not path.is_file():
        pytest.fail(f"no engine at {path}: run `make setup`")
    return path


@pytest.fixture
def fake_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProgram:
    """Return a function that puts a shell script under a name on a PATH that holds nothing else."""
    folder = tmp_path / "fake bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def make(name: str, body: str) -> Path:
        program = folder / name
        program.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        program.chmod(0o755)
        return program

    return make
