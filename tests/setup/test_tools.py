# SPDX-License-Identifier: Apache-2.0
import pytest

from steps import python_env, tools
from steps.process import StepError
from support.fake_program import FakeProgram


@pytest.fixture(autouse=True)
def empty_venv(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setattr(python_env, "VENV", tmp_path_factory.mktemp("venv"))
    monkeypatch.delenv("CXX", raising=False)


@pytest.mark.parametrize(
    ("version", "found"), [("3.25.0", True), ("4.0.2", True), ("3.24.9", False), ("broken", False)]
)
def test_a_cmake_has_to_be_new_enough(fake_program: FakeProgram, version: str, found: bool) -> None:
    program = fake_program("cmake", f"echo cmake version {version}")
    assert tools.cmake() == (program if found else None)


def test_the_wheels_cmake_is_taken_where_the_machines_is_old(fake_program: FakeProgram) -> None:
    fake_program("cmake", "echo cmake version 3.10.2")
    ours = python_env.VENV / "bin" / "cmake"
    ours.parent.mkdir()
    fake_program("new", "echo cmake version 4.4.4").rename(ours)
    assert tools.cmake() == ours


def test_the_first_compiler_that_understands_is_taken(fake_program: FakeProgram) -> None:
    fake_program("c++", "exit 1")
    newer = fake_program("g++-13", "exit 0")
    assert tools.compiler() == newer


def test_the_compiler_that_is_asked_for_is_the_only_one_tried(
    fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_program("g++", "exit 0")
    fake_program("mine", "exit 1")
    monkeypatch.setenv("CXX", "mine")
    with pytest.raises(StepError, match=r"\(tried: mine\): install g\+\+ >= 12"):
        tools.compiler()


def test_only_what_is_missing_is_installed(fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_program("c++", "exit 0")
    fake_program("ninja", "exit 0")
    installed: list[str] = []
    monkeypatch.setattr(python_env, "install_wheels", lambda _folder, pins: installed.extend(pins))
    tools.ensure_build_tools()
    assert [pin.split("==")[0] for pin in installed] == ["cmake"]
