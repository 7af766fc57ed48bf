# SPDX-License-Identifier: Apache-2.0
"""Targets for the real engine, and ranks that leave their cores to others while they wait."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.launching import code_of

from ullage.engine import describe

_HERE = Path(__file__).parent
_WAITING_RANK = _HERE.parent / "support" / "waiting_rank.c"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the tests of a file together where they share what the file makes once, and begin with what takes longest.

    All others are given out one by one, so that none waits for its file (``--dist=loadgroup``).
    """
    for item in items:
        if item.path.is_relative_to(_HERE) and isinstance(item, pytest.Function) and _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def _shares(item: pytest.Function) -> bool:
    """Tell whether a test uses something that its file has once, as an emulated machine."""
    fixtures = item._fixtureinfo.name2fixturedefs
    return any(definition.scope == "module" for name in item.fixturenames for definition in fixtures.get(name, ()))


@pytest.fixture(scope="session")
def waiting_rank(engine: Path) -> str:
    """waiting_rank.c, compiled; empty where there is no compiler of C, and for MPICH.

    MPICH sleeps by itself (``MPIR_CVAR_ENABLE_HEAVY_YIELD``). With more sleep a message over TCP takes it seconds.
    """
    if describe(engine).engine.mpi.family != "openmpi":
        return ""
    library = _HERE.parents[1] / "build" / "waiting_rank.so"
    made = library.with_suffix(f".{os.getpid()}")
    made.parent.mkdir(exist_ok=True)
    if shutil.which("cc") is None or code_of(["cc", "-O2", "-shared", "-fPIC", "-o", str(made), str(_WAITING_RANK)]):
        return ""
    made.rename(library)  # at once, since other processes make it too
    return str(library)


@pytest.fixture(autouse=True)
def patient_ranks(request: pytest.FixtureRequest, waiting_rank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ranks that wait leave their cores to others, but where times are compared."""
    if waiting_rank and request.node.get_closest_marker("undisturbed") is None:
        monkeypatch.setenv("LD_PRELOAD", waiting_rank)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder with one foreign file in it, which must still be there afterwards."""
    folder = tmp_path / "target"
    folder.mkdir()
    (folder / "precious").write_text("do not touch")
    return folder


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for a run that several tests of a file look at; its result is beside it."""
    folder = tmp_path_factory.mktemp("run") / "here"
    folder.mkdir()
    (folder / "precious").write_text("not ours")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A memory file system of 16 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", "size=16m", "none", str(folder)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
