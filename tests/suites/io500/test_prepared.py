# SPDX-License-Identifier: Apache-2.0
"""Folders that were prepared at a target: found, told to the engine, and refused where rules or safety forbid them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from suites.io500.conftest import World
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.suites.io500.prepare import FOLDERS, prepared_folders

INI = "[global]\ntimestamp-datadir = FALSE\n"


def place(path: Path) -> Target:
    return Target(name="a", uri=f"posix:{path}")


def test_the_folders_of_the_official_tool_are_found_and_others_are_not(tmp_path: Path) -> None:
    assert prepared_folders(place(tmp_path)) == []
    for name in ("mdtest-hard", "ior-easy", "mine"):
        (tmp_path / name).mkdir()
    assert prepared_folders(place(tmp_path)) == ["ior-easy", "mdtest-hard"]
    assert prepared_folders(Target(name="a", uri="null:")) == []


def test_every_launch_of_a_run_is_told_which_were_prepared(world: World) -> None:
    (world.path / "a" / "ior-hard").mkdir(parents=True)
    (world.path / "b").mkdir()
    prepared = world.prepare(INI, targets=2, stonewall="1")
    assert prepared.folders == {"a": ["ior-hard"], "b": []}
    assert (
        "Prepared on a: ior-hard. The datasets of these names get the layout of the folder." in prepared.explain().head
    )
    world.run(prepared)
    plans = {plan.targets[0].name: plan.prepared for plan in world.engine.plans}
    assert plans == {"a": ["ior-hard"], "b": []}
    assert [plan.prepared for plan in world.engine.probes] == [["ior-hard"], []]


def link(path: Path) -> None:
    (path.parent / "elsewhere").mkdir()
    path.symlink_to(path.parent / "elsewhere")


def full(path: Path) -> None:
    path.mkdir()
    (path / "precious").write_text("mine")


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (link, "is a symbolic link, which is not followed"),
        (lambda path: path.write_text("mine"), "is not a folder"),
        (full, "is not empty: it holds precious; empty it, or give it another name"),
    ],
)
def test_what_is_no_empty_folder_is_refused_by_plan_and_run(
    world: World, name: str, make: Callable[[Path], object], words: str
) -> None:
    folder = world.path / "a" / name
    folder.parent.mkdir()
    make(folder)
    with pytest.raises(UserError, match=words) as caught:
        world.prepare(INI)
    assert str(folder) in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    (tmp_path / "ior-easy").mkdir(mode=0o555)
    with pytest.raises(UserError, match="is not writable for this user"):
        prepared_folders(place(tmp_path))


def test_what_a_killed_launch_of_the_same_run_left_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "ior-easy" / "ullage-r1").mkdir(parents=True)
    (tmp_path / "ior-easy" / "ullage-r1-probe").mkdir()
    assert prepared_folders(place(tmp_path), "r1") == ["ior-easy"]
    with pytest.raises(
        UserError, match=r"it holds ullage-r1; `ullage clean .*/ior-easy` removes what a killed run left"
    ):
        prepared_folders(place(tmp_path), "r2")
    (tmp_path / "ior-easy" / "mine").touch()
    with pytest.raises(UserError, match="is not empty: it holds mine; empty it"):
        prepared_folders(place(tmp_path), "r1")
