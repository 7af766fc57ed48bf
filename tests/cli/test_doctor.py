# SPDX-License-Identifier: Apache-2.0
"""One screen that says what works here, and what brings the rest."""

import json
from pathlib import Path

import pytest

from support.devices import device
from ullage import engine as engine_module
from ullage.cli import doctor
from ullage.cli.app import run
from ullage.errors import EXIT_ENVIRONMENT, EXIT_OK
from ullage.model.describe import Devices

SUPPORT = Path(__file__).parent.parent / "support"
Capture = pytest.CaptureFixture[str]


def rows(capsys: Capture) -> dict[str, dict[str, str]]:
    return {row["part"]: row for row in json.loads(capsys.readouterr().out)}


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULLAGE_ENGINE", str(SUPPORT / "fake_engine.py"))
    monkeypatch.setenv("FAKE_MPI", "mpich")
    monkeypatch.setenv("FAKE_MPIEXEC", str(SUPPORT / "fake_mpiexec.py"))
    engine_module._describe.cache_clear()


def test_all_that_is_needed_is_here(capsys: Capture) -> None:
    assert run(["doctor", "--json"]) == EXIT_OK
    found = rows(capsys)
    assert found["engine"]["state"] == found["MPI"]["state"] == found["launcher"]["state"] == "ok"
    assert found["pmem"]["found"] == "libpmem not found"
    assert "libpmem" in found["pmem"]["right"]
    assert {"BLAS", "GPU", "perf", "other tools"} <= found.keys()
    assert found["accelerator"]["found"] == "no accelerator: libcuda.so.1 is not there"


def test_accelerators_are_named(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Devices(devices=[device("cuda:0", pci="0000:17:00.0", name="H100")], missing=[])
    monkeypatch.setattr(engine_module, "devices_of", lambda _engine: found)
    assert run(["doctor", "--json"]) == EXIT_OK
    assert rows(capsys)["accelerator"]["found"] == "cuda:0 H100"


def test_a_library_that_is_here_is_named(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_BRINGS", {"posix": "a library"})
    assert run(["doctor", "--json"]) == EXIT_OK
    assert rows(capsys)["posix"] == {"part": "posix", "state": "ok", "found": "can be used", "right": ""}


def test_an_engine_without_mpi_says_what_brings_one(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_MPI", "single")
    assert run(["doctor", "--json"]) == EXIT_OK
    found = rows(capsys)
    assert found["MPI"]["state"] == "not here"
    assert "module load" in found["MPI"]["right"]
    assert "one process" in found["launcher"]["found"]


def test_what_is_needed_and_missing_is_the_exit_code(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ULLAGE_ENGINE", str(tmp_path / "none"))
    assert run(["doctor"]) == EXIT_ENVIRONMENT
    assert "make setup" in capsys.readouterr().out
