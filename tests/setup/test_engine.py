# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steps import engine
from steps.process import StepError


@pytest.fixture(autouse=True)
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.setattr(engine, "ROOT", tmp_path)
    monkeypatch.setattr(engine, "LINK", tmp_path / ".venv" / "bin" / "ullage-engine")
    return tmp_path


def test_the_link_tells_the_preset_in_use(checkout: Path) -> None:
    with pytest.raises(StepError, match="run `make setup`"):
        engine.linked()
    for preset in ("openmpi", "mpich"):
        engine.link(preset)
        binary = checkout / "build" / preset / "ullage-engine"
        binary.parent.mkdir(parents=True)
        binary.touch()
        assert engine.LINK.resolve() == binary
        assert engine.linked() == preset


def test_the_link_survives_a_move_of_the_checkout(checkout: Path) -> None:
    engine.link("openmpi")
    assert not engine.LINK.readlink().is_absolute()
    assert checkout.name not in str(engine.LINK.readlink())


def test_configured_means_that_there_is_something_to_build(checkout: Path) -> None:
    (checkout / "build" / "mpich").mkdir(parents=True)
    assert not engine.configured(["mpich"])
    (checkout / "build" / "mpich" / "build.ninja").touch()
    assert engine.configured(["mpich"])
    assert not engine.configured(["mpich", "asan"])
