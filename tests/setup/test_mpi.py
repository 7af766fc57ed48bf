# SPDX-License-Identifier: Apache-2.0
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from steps import mpi, packages, process
from steps.mpi import SWITCH
from steps.process import StepError
from support.fake_program import FakeProgram

Wrapper = Callable[[str], Path]


@pytest.fixture(autouse=True)
def no_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr(packages, "can_install", lambda: False)


@pytest.fixture
def wheel(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Note each installation of the wheel instead of making it."""
    made: list[str] = []
    monkeypatch.setattr(mpi, "ensure_wheel", lambda: made.append("wheel"))
    return made


@pytest.fixture
def wrapper(fake_program: FakeProgram) -> Wrapper:
    """Return a function that makes an mpicxx whose mpi.h defines one macro."""

    def make(macro: str) -> Path:
        fake_program("mpicc", "exit 0")
        return fake_program("mpicxx", f"echo '#define {macro} 1'")

    return make


@pytest.mark.parametrize(("macro", "preset"), [("OPEN_MPI", "openmpi"), ("MPICH_VERSION", "site"), ("OTHER", "site")])
def test_the_mpicxx_on_the_path_is_taken_and_told_apart(
    wrapper: Wrapper, wheel: list[str], macro: str, preset: str
) -> None:
    mpicxx = wrapper(macro)
    chosen = mpi.choose()
    assert (chosen.preset, chosen.mpicc) == (preset, mpicxx.with_name("mpicc"))
    assert str(mpicxx) in chosen.why
    assert wheel == []


def test_a_wrapper_without_a_header_is_passed_over(
    fake_program: FakeProgram, wheel: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    fake_program("mpicc", "exit 0")
    fake_program("mpicxx", "exit 1")
    assert mpi.choose().preset == "mpich"
    assert wheel == ["wheel"]
    assert "passed over" in capsys.readouterr().out


@pytest.mark.usefixtures("fake_program")
def test_without_any_mpi_and_without_root_it_is_the_wheel(wheel: list[str]) -> None:
    chosen = mpi.choose()
    assert (chosen.preset, chosen.mpicc, wheel) == ("mpich", None, ["wheel"])
    assert "no mpicxx on the PATH" in chosen.why


def test_as_root_it_is_the_distributions(
    fake_program: FakeProgram, wrapper: Wrapper, wheel: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "can_install", lambda: True)
    monkeypatch.setattr(packages, "ensure", lambda when: wrapper("OPEN_MPI") if when == "mpi" else None)
    assert fake_program
    assert mpi.choose().preset == "openmpi"
    assert wheel == []


def test_the_switch_hides_the_mpi_of_the_site(
    wrapper: Wrapper, wheel: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper("OPEN_MPI")
    monkeypatch.setenv(SWITCH, "wheel")
    chosen = mpi.choose()
    assert (chosen.preset, chosen.why, wheel) == ("mpich", f"{SWITCH}=wheel", ["wheel"])


@pytest.mark.usefixtures("fake_program")
@pytest.mark.parametrize(
    ("source", "message"),
    [("site", "no working mpicxx"), ("packages", "needs root"), ("conda", "is none of auto, site")],
)
def test_a_closed_road_is_named(monkeypatch: pytest.MonkeyPatch, source: str, message: str) -> None:
    monkeypatch.setenv(SWITCH, source)
    with pytest.raises(StepError, match=message):
        mpi.choose()


def test_our_own_environments_are_not_the_site(monkeypatch: pytest.MonkeyPatch, wrapper: Wrapper) -> None:
    mpicxx = wrapper("OPEN_MPI")
    assert mpi.mpicxx_on_path() == mpicxx
    monkeypatch.setattr(mpi, "ROOT", mpicxx.parent.parent)
    assert process.ROOT != mpi.ROOT
    monkeypatch.setenv("PATH", str(mpicxx.parent))
    assert mpi.mpicxx_on_path() is None
    assert os.environ["PATH"] == str(mpicxx.parent)
