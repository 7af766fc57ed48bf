# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steps import engine
from steps.process import StepError
from steps.tally import Tally


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


@pytest.mark.parametrize(
    ("preset", "legs"),
    [("openmpi", ["openmpi", "mpich", "asan"]), ("site", ["site", "mpich", "asan"]), ("mpich", ["mpich", "asan"])],
)
def test_each_leg_is_tested_once(preset: str, legs: list[str]) -> None:
    engine.link(preset)
    assert engine.legs() == legs


def test_configured_means_that_there_is_something_to_build(checkout: Path) -> None:
    (checkout / "build" / "mpich").mkdir(parents=True)
    assert not engine.configured(["mpich"])
    (checkout / "build" / "mpich" / "build.ninja").touch()
    assert engine.configured(["mpich"])
    assert not engine.configured(["mpich", "asan"])


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what would be done, in order, instead of doing it."""
    done: list[str] = []

    def configure(preset: str) -> None:
        done.append(f"configure {preset}")
        engine.folder(preset).mkdir(parents=True)
        (engine.folder(preset) / "build.ninja").touch()
        (engine.folder(preset) / "CTestTestfile.cmake").touch()

    def build(preset: str, *targets: str) -> None:
        done.append(f"build {preset} {' '.join(targets)}")

    monkeypatch.setattr(engine, "configure", configure)
    monkeypatch.setattr(engine, "build", build)
    return done


def test_the_files_are_compiled_apart_with_their_tests(ran: list[str]) -> None:
    assert engine.compiled_apart() == Tally(passed=1)
    assert engine.compiled_apart() == Tally(passed=1)
    assert ran == ["configure apart", *["build apart ullage-engine ullage-engine-tests"] * 2]


def test_races_are_looked_for_in_the_tests_alone(ran: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def built(preset: str) -> Tally:
        engine.build(preset, *engine.with_tests(preset))
        return Tally(passed=5)

    monkeypatch.setattr(engine, "test", built)
    assert engine.races() == Tally(passed=5)
    assert ran == ["configure tsan", "build tsan ullage-engine-tests"]
