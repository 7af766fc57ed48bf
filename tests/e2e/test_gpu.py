# SPDX-License-Identifier: Apache-2.0
"""Suite ``gpu`` on what OpenCL shows here (pocl's device is this machine's CPU), and on a library in CUDA's place.

The library is tests/engine/fake_cuda.cpp. It shows the whole way from devices to the page, and no speed of a GPU.
"""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run

from ullage.engine import devices_of
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder

WORDS = ["--working-set", "1M", "--copy", "64K,1M", "--repetitions", "2"]
MEASURES = {"memory", "fp64", "fp32", "link", "launch"}


@pytest.fixture
def fake_cuda(engine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the library of the tests, in which the engine then looks first."""
    folder = engine.resolve().parent / "fake"
    if not (folder / "libcuda.so.1").is_file():
        pytest.skip("the tests of this engine are not built")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(folder))
    return folder


def _rows(result: Path, metric: str) -> list[Row]:
    return [row for row in ResultFolder.open(result).read_summary().rows if row.metric == metric]


def _check(rows: list[Row], name: str) -> None:
    assert {row.params.get("kernel") for row in rows} - {None} == {"read", "write", "copy", "triad"}
    assert {row.params.get("host_memory") for row in rows} - {None} == {"pinned", "pageable"}
    assert {row.params["device"] for row in rows} == {name}
    assert min(row.median for row in rows) > 0


def test_each_workload_is_measured_and_verified(engine: Path, tmp_path: Path) -> None:
    found = devices_of(engine)
    if not found.devices:
        pytest.skip("; ".join(found.missing))
    result, device = tmp_path / "result", found.devices[-1]
    code, out, err = run(command(engine, "run", "gpu", "--device", device.id, *WORDS, "--result", str(result)))
    assert code == 0, err
    _check(_rows(result, "device_bandwidth"), device.name)
    assert "How fast are an accelerator's memory, units and link?" in out


@pytest.mark.usefixtures("fake_cuda")
def test_a_card_of_cuda_is_found_and_has_ceilings(engine: Path, tmp_path: Path) -> None:
    found, result = devices_of(engine), tmp_path / "result"
    assert [device.id for device in found.accelerators] == ["cuda:0"]
    code, out, err = run(command(engine, "run", "gpu", *WORDS, "--result", str(result)))
    assert code == 0, err
    rows = ResultFolder.open(result).read_summary().rows
    _check(_rows(result, "device_bandwidth"), found.accelerators[0].name)
    assert {row.params["measure"] for row in rows} == MEASURES
    detected = {row.params["measure"] for row in rows if row.ceiling is not None and row.ceiling.kind == "detected"}
    assert {"memory", "fp64", "fp32"} <= detected
    assert "cuda:0" in out


def test_another_device_is_refused(engine: Path) -> None:
    code, _, err = run(command(engine, "run", "gpu", "--device", "opencl:999"))
    assert code == 3
    assert "'opencl:999': there is no such accelerator" in err


def test_without_a_device_the_reason_is_one_line(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    if devices_of(engine).devices:
        pytest.skip("a device is there without OpenCL's list of vendors")
    code, _, err = run(command(engine, "run", "gpu"))
    assert code == 3
    assert err.startswith("ullage: no accelerator: libcuda.so.1 is not there; libOpenCL.so.1 ")
    assert len(err.splitlines()) == 1


def _under(fault: str, engine: Path, result: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    monkeypatch.setenv("FAKE_CUDA_FAULT", fault)
    words = ["--device", "cuda:0", *WORDS, "--watchdog", "2s", "--result", str(result)]
    code, out, err = run(command(engine, "run", "gpu", *words))
    return code, out + err


@pytest.mark.fault(
    "an accelerator has no memory left", "each case fails with ENOMEM and the device in one line; exit 4"
)
@pytest.mark.usefixtures("fake_cuda")
def test_memory_that_a_device_has_not_is_enomem(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = _under("memory", engine, tmp_path / "result", monkeypatch)
    assert code == 4, said
    assert "Cannot allocate memory" in said
    assert "cuda:0" in said


@pytest.mark.fault(
    "an accelerator vanishes while its kernels run", "exit 4 and one line with what the driver says; a report"
)
@pytest.mark.usefixtures("fake_cuda")
def test_a_device_that_vanishes_is_one_line(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = _under("lost", engine, tmp_path / "result", monkeypatch)
    assert code == 4, said
    assert "CUDA error 999: unknown error" in said
    assert (tmp_path / "result" / "summary.json").is_file()


@pytest.mark.fault(
    "a kernel of an accelerator never ends", "timeout after --watchdog, exit 5, a report of what was measured"
)
@pytest.mark.usefixtures("fake_cuda")
def test_a_kernel_that_never_ends_is_a_timeout(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, said = _under("hang", engine, tmp_path / "result", monkeypatch)
    assert code == 5, said
    assert (tmp_path / "result" / "summary.json").is_file()


@pytest.mark.long
@pytest.mark.usefixtures("fake_cuda")
def test_a_check_of_health_measures_the_memory_of_a_card(engine: Path, tmp_path: Path) -> None:
    code, out, err = run(command(engine, "health", "--time", "20s", "--campaign", str(tmp_path / "c")))
    assert code == 0, err
    assert "cuda:0 memory " in out
    assert "not measured" not in out
