# SPDX-License-Identifier: Apache-2.0
"""What `make wheel` puts into the wheel, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest

from steps import wheel, wheel_hook
from steps.process import StepError


def packed(monkeypatch: pytest.MonkeyPatch, folder: Path | None, version: str = "standard") -> dict[str, Any]:
    data: dict[str, Any] = {"force_include": {}}
    monkeypatch.setenv("ULLAGE_WHEEL_PLATFORM", wheel.PLATFORM)
    if folder is None:
        monkeypatch.delenv("ULLAGE_WHEEL_ENGINES", raising=False)
    else:
        monkeypatch.setenv("ULLAGE_WHEEL_ENGINES", str(folder))
    wheel_hook.EngineHook.initialize(object.__new__(wheel_hook.EngineHook), version, data)
    return data


def test_the_engines_go_into_the_wheel_where_they_were_built(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ullage-engine", "ullage-engine-mpich"):
        (tmp_path / name).touch(mode=0o755)
    (tmp_path / "chart-library.txt").touch()
    (tmp_path / "ullage-engine.dwo").touch(mode=0o644)
    (tmp_path / "ullage-engine-tests").touch(mode=0o755)
    data = packed(monkeypatch, tmp_path)
    programs = ["ullage/bin/ullage-engine", "ullage/bin/ullage-engine-mpich"]
    assert sorted(data["force_include"].values()) == [*programs, "ullage/report/chart-library.txt"]
    assert data["tag"] == f"py3-none-{wheel.PLATFORM}"
    assert packed(monkeypatch, tmp_path, "editable") == {"force_include": {}}
    assert packed(monkeypatch, None) == {"force_include": {}}


def test_a_wheel_that_is_too_large_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "ullage-1-py3-none-any.whl"
    with large.open("wb") as stream:
        stream.truncate(wheel.MOST_BYTES + 1)
    with pytest.raises(StepError, match="more than 25"):
        wheel.check(large)
