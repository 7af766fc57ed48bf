# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from steps import packages
from steps.packages import Package
from steps.process import StepError
from support.fake_program import FakeProgram

NEEDED = Package("needed", "test", required=True, why="nothing goes without it")
NICE = Package("nice", "test", required=False, why="a chapter of the report")


@pytest.fixture
def apt(fake_program: FakeProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in for apt-get and dpkg; return the folder whose file names are the packages that can be installed."""
    offered, installed = tmp_path / "offered", tmp_path / "installed"
    offered.mkdir()
    installed.mkdir()
    (installed / "there").touch()
    fake_program(
        "dpkg-query", f'for i in "{installed}"/*; do echo "${{i##*/}} installed"; done; echo "gone config-files"'
    )
    fake_program(
        "apt-get",
        'for word; do case "$word" in -*|install|update|DPkg*) ;; *) names="$names $word";; esac; done\n'
        f'for n in $names; do [ -e "{offered}/$n" ] || exit 100; done\n'
        f'for n in $names; do : > "{installed}/$n"; done',
    )
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr("steps.process.LOGS", tmp_path / "logs")
    return offered


def offer(monkeypatch: pytest.MonkeyPatch, *listed: Package) -> None:
    monkeypatch.setattr(packages, "listed", lambda when: [package for package in listed if package.when == when])


def test_the_list_of_this_project_is_well_formed() -> None:
    listed = packages.parse(packages.PACKAGES.read_text(encoding="utf-8"))
    assert {package.when for package in listed} == {"python", "mpi", "test"}
    assert len({package.name for package in listed}) == len(listed)
    assert not [package for package in listed if package.when == "test" and package.required]


@pytest.mark.parametrize(
    "line", ["fio test optional", "fio test # why", "fio sometimes optional # why", "fio test may # why"]
)
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(StepError, match=r"packages\.txt:2: .*required\|optional # why"):
        packages.parse(f"# a comment\n{line}\n")


@pytest.mark.usefixtures("apt")
def test_a_package_whose_files_are_removed_counts_as_missing() -> None:
    there, gone = (Package(name, "test", required=True, why="-") for name in ("there", "gone"))
    assert packages.missing([there, gone, NEEDED]) == [gone, NEEDED]


def test_what_is_missing_is_installed_together(apt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, NEEDED, NICE)
    (apt / "needed").touch()
    (apt / "nice").touch()
    packages.ensure("test")
    assert packages.missing([NEEDED, NICE]) == []


def test_an_optional_package_that_fails_costs_only_itself(
    apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(monkeypatch, NICE, NEEDED)
    (apt / "needed").touch()
    packages.ensure("test")
    assert packages.missing([NEEDED, NICE]) == [NICE]
    assert "apt-get cannot install nice: a chapter of the report" in capsys.readouterr().out


@pytest.mark.usefixtures("apt")
def test_a_required_package_that_fails_ends_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, NEEDED)
    with pytest.raises(StepError, match=r"cannot install needed \(nothing goes without it\)"):
        packages.ensure("test")


def test_without_root_nothing_is_installed_and_the_loss_is_said(
    apt: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    offer(monkeypatch, NICE)
    (apt / "nice").touch()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    packages.ensure("test")
    assert packages.missing([NICE]) == [NICE]
    assert "not installed (nice): a chapter of the report" in capsys.readouterr().out
