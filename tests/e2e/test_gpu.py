# SPDX-License-Identifier: Apache-2.0
"""Suite ``gpu`` on what OpenCL shows here: pocl's device is this machine's CPU."""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run

from ullage.engine import devices_of
from ullage.results.folder import ResultFolder

WORDS = ["--working-set", "1M", "--repetitions", "2"]


def test_each_kernel_is_measured_and_verified(engine: Path, tmp_path: Path) -> None:
    found = devices_of(engine)
    if not found.devices:
        pytest.skip("; ".join(found.missing))
    result, device = tmp_path / "result", found.devices[0]
    code, out, err = run(command(engine, "run", "gpu", "--device", device.id, *WORDS, "--result", str(result)))
    assert code == 0, err
    rows = [row for row in ResultFolder.open(result).read_summary().rows if row.metric == "device_bandwidth"]
    assert {row.params["kernel"] for row in rows} == {"read", "write", "copy", "triad"}
    assert {row.params["device"] for row in rows} == {device.name}
    assert min(row.median for row in rows) > 0
    assert "How fast is the memory of each accelerator?" in out


def test_another_device_is_refused(engine: Path) -> None:
    if not devices_of(engine).devices:
        pytest.skip("no accelerator")
    code, _, err = run(command(engine, "run", "gpu", "--device", "opencl:999"))
    assert code == 3
    assert "'opencl:999': there is no such accelerator" in err


def test_without_a_device_the_reason_is_one_line(engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OCL_ICD_VENDORS", str(tmp_path))
    if devices_of(engine).devices:
        pytest.skip("a device is there without OpenCL's list of vendors")
    code, _, err = run(command(engine, "run", "gpu"))
    assert code == 3
    assert err.startswith("ullage: no accelerator: libOpenCL.so.1 ")
    assert len(err.splitlines()) == 1
