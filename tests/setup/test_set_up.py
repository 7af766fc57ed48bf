# SPDX-License-Identifier: Apache-2.0
"""What a set-up does for each profile, with its parts noted instead of carried out."""

from pathlib import Path

import pytest

import setup as set_up
from steps import engine, prebuilt, python_env
from steps.process import StepError


@pytest.fixture
def done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The parts in order, in a checkout where nothing is set up."""
    noted: list[str] = []
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    monkeypatch.setattr(engine, "ROOT", tmp_path)
    monkeypatch.setattr(engine, "LINK", tmp_path / ".venv" / "bin" / "ullage-engine")
    monkeypatch.setattr(python_env, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(prebuilt, "find", lambda: None)
    monkeypatch.setattr(engine, "build_engine", noted.append)
    monkeypatch.setattr(engine, "build_tests", lambda preset: noted.append(f"tests of {preset}"))
    for name, (_, presets) in set_up.PROFILES.items():

        def prepare(name: str = name) -> None:
            noted.append(name)
            if name == "run":
                engine.link("openmpi")
            for preset in set_up.PROFILES[name][1]():
                engine.folder(preset).mkdir(parents=True, exist_ok=True)
                (engine.folder(preset) / "build.ninja").touch()

        monkeypatch.setitem(set_up.PROFILES, name, (prepare, presets))
    return noted


def test_the_tests_on_one_mpi_need_no_second_one(done: list[str]) -> None:
    set_up.main("test")
    assert done == ["run", "lint", "test", "tests of openmpi"]
    set_up.main("test")
    assert done == ["run", "lint", "test", *2 * ["tests of openmpi"]]


def test_style_is_checked_without_building_tests(done: list[str]) -> None:
    set_up.main("lint")
    assert done == ["run", "lint", "openmpi"]


def test_a_larger_profile_only_adds_to_what_is_there(done: list[str]) -> None:
    for profile in ("run", "all", "run", "test"):
        set_up.main(profile)
    tests = "tests of openmpi"
    assert done == ["run", "openmpi", "lint", "test", "ci", "all", tests, "openmpi", tests]


def test_what_has_changed_is_set_up_anew_with_all_that_stands_on_it(
    done: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_up.main("all")
    monkeypatch.setenv("CXX", "another")
    set_up.main("test")
    set_up.main("all")
    first, further = ["run", "lint", "test"], ["ci", "all"]
    tests = "tests of openmpi"
    assert done == [*first, *further, tests, *first, tests, *further, tests]


def test_without_a_compiler_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_words: object) -> None:
        raise AssertionError("something was installed")

    monkeypatch.setattr(python_env, "ensure_venv", refuse)
    monkeypatch.setenv("CXX", "/nonexistent/compiler")
    with pytest.raises(StepError, match="no C\\+\\+23 compiler"):
        set_up.prepare_run()


def test_a_checkout_that_may_only_be_read_is_taken_as_it_is(done: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    set_up.main("run")
    monkeypatch.setattr(set_up, "may_write", lambda: False)
    set_up.main("run")
    assert done == ["run", "openmpi"]


def test_what_the_system_refuses_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(_profile: str) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path))

    monkeypatch.setattr(set_up, "main", refuse)
    with pytest.raises(
        SystemExit, match=f"ullage set-up: {tmp_path}: Permission denied; a checkout is set up by"
    ) as end:
        set_up.command(["run"])
    assert "\n" not in str(end.value)
