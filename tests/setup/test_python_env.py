# SPDX-License-Identifier: Apache-2.0
import re
import sys
import tomllib
from pathlib import Path

import pytest

from steps import process, python_env
from steps.process import ROOT, StepError

PINS = sorted(ROOT.glob("requirements*.txt"))


@pytest.fixture(autouse=True)
def logs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("steps.process.LOGS", tmp_path / "logs")


def test_an_environment_is_made_once_and_anew_where_it_was_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "a blank" / ".venv"
    python_env.ensure_venv(folder)
    made: list[tuple[object, ...]] = []
    # Making one takes seconds: the second time, only how it is asked for is looked at.
    monkeypatch.setattr(python_env, "logged", lambda _, argv: made.append(tuple(argv)))
    python_env.ensure_venv(folder)
    assert made == []
    moved = tmp_path / "moved"
    folder.rename(moved)
    python_env.ensure_venv(moved)
    assert made == [(sys.executable, "-m", "venv", "--clear", moved)]


@pytest.mark.parametrize("file", PINS, ids=lambda file: file.name)
def test_every_requirement_is_pinned(file: Path) -> None:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    assert lines
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==(?:[0-9]+!)?[0-9][0-9a-z.]*", line)] == []


def test_what_the_package_asks_for_is_among_the_pins() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        asked = [re.split(r"[<>=]", word)[0] for word in tomllib.load(file)["project"]["dependencies"]]
    pinned = {
        line.split("==")[0].lower() for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    }
    assert {name.lower() for name in asked} <= pinned


def test_what_can_be_done_without_is_only_spoken_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def install(folder: Path, *requirements: str) -> None:
        asked.extend((str(folder), *requirements))
        raise StepError("no wheel")

    monkeypatch.setattr(python_env, "install", install)
    python_env.install_optional(tmp_path, "requirements-blas.txt", "no BLAS")
    assert asked == [str(tmp_path), "requirements-blas.txt"]
    assert "no BLAS (no wheel)" in capsys.readouterr().out


def _pip_that_says(text: str, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    asked: list[tuple[str, ...]] = []

    def logged(name: str, argv: list[object], *, show_failure: bool) -> None:
        asked.append(tuple(map(str, argv)))
        assert not show_failure
        process.log_of(name).parent.mkdir(parents=True, exist_ok=True)
        process.log_of(name).write_text(text, encoding="utf-8")
        raise StepError("exit code 1")

    monkeypatch.setattr(python_env, "logged", logged)
    return asked


@pytest.mark.parametrize(
    "said",
    ["NewConnectionError('... [Errno -3] Temporary failure in name resolution')", "No matching distribution found"],
)
def test_without_a_network_one_line_names_what_helps(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(python_env.WHEELHOUSE, raising=False)
    _pip_that_says(f"WARNING: Retrying\n{said}\n" * 30, monkeypatch)
    with pytest.raises(StepError, match=r"PIP_INDEX_URL=.*WHEELHOUSE=DIR.*docs/howto/offline\.md") as caught:
        python_env.install(tmp_path, "requirements.txt")
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_what_else_pip_stumbles_over_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _pip_that_says("ERROR: the disk is full\n", monkeypatch)
    with pytest.raises(StepError, match="exit code 1"):
        python_env.install(tmp_path, "requirements.txt")
    assert "the disk is full" in capfd.readouterr().err


def test_a_folder_of_wheels_takes_the_place_of_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = _pip_that_says("No matching distribution found", monkeypatch)
    monkeypatch.setenv(python_env.WHEELHOUSE, str(tmp_path))
    with pytest.raises(StepError, match=f"{tmp_path} lacks a wheel"):
        python_env.install(tmp_path, "requirements.txt")
    assert {"--no-index", f"--find-links={tmp_path}"} < {*asked[0]}
    monkeypatch.setenv(python_env.WHEELHOUSE, str(tmp_path / "gone"))
    with pytest.raises(StepError, match="no such folder"):
        python_env.install(tmp_path, "requirements.txt")


def test_the_page_on_working_offline_downloads_every_list_of_requirements() -> None:
    page = (ROOT / "docs" / "howto" / "offline.md").read_text(encoding="utf-8")
    assert [file.name for file in PINS if f"-r {file.name}" not in page] == []
