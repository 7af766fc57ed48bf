# SPDX-License-Identifier: Apache-2.0
"""What is checked before anything is started, and what a plan says to people."""

import os
from pathlib import Path

import pytest

from suites.io500.conftest import GROUND, World
from ullage.errors import UserError
from ullage.model.plan import Limits, Target
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.room import room_at
from ullage.suites.io500.phases import phases_of
from ullage.suites.io500.prepare import prepare_io500


def text(world: World, config: str = "", **words: object) -> str:
    found = world.prepare(config, **words).explain()
    return "\n".join([*found.head, *(" | ".join(row) for row in found.rows), *found.tail])


def test_a_plan_explains_every_phase(world: World) -> None:
    found = world.prepare(mode="extended").explain()
    assert list(dict.fromkeys(row[0] for row in found.rows)) == [phase.name for phase in phases_of("extended")]
    assert "not counted" in next(row for row in found.rows if row[0] == "mdworkbench-bench")[4]
    assert all(len(row) == len(found.headers) for row in found.rows)
    rows = {row[0]: row for row in found.rows}
    assert rows["ior-easy-write"][1] == "bandwidth"
    assert rows["ior-rnd4K-easy-read"][1] == "pilot"
    assert rows["timestamp"][1] == "nothing"
    assert "5m00s and 5m00s of wear-out" in rows["mdtest-hard-write"][7]
    assert "files of 3,901 B, one directory" in rows["mdtest-hard-read"][4]


def test_it_says_what_the_rules_will_say(world: World) -> None:
    said = text(world, stonewall="1")
    assert "INVALID by the rules: the stonewall of 1 s is below the 300 s of the rules." in said
    assert "INVALID" not in text(world)


def test_it_says_when_the_space_is_too_small(world: World) -> None:
    said = text(world, space="1G")
    assert "ior-easy-write has work for about" in said
    assert "needs more space or inodes" in said


def test_it_says_what_of_the_file_has_no_effect(world: World) -> None:
    assert "[global] verbosity has no effect" in text(world, "[global]\nverbosity = 3\n")


def test_a_single_node_reads_its_own_data(world: World) -> None:
    assert "On a single node" in text(world)
    assert "On a single node" not in text(world, nodes=2)


def test_plans_are_those_of_all_rounds_and_targets(world: World) -> None:
    prepared = world.prepare(targets=2, repeat=2, stonewall="1", time="80s")
    plans = prepared.plans(ResultFolder(world.path / "r"))
    assert [(plan.targets[0].name, plan.seed) for plan in plans] == [("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    assert {plan.time_budget_s for plan in plans} == {20.0}
    assert len({plan.records for plan in plans}) == 4


def test_what_a_run_would_measure_first_is_named(world: World) -> None:
    assert "blockSize" in world.prepare().unsettled


def test_targets_must_be_folders(world: World, tmp_path: Path) -> None:
    request = world.request()
    for uri, words in ((f"posix:{tmp_path}/none", "does not exist"), ("null:", "cannot hold files")):
        changed = request.model_copy(update={"targets": [Target(name="a", uri=uri)]})
        with pytest.raises(UserError, match=words):
            prepare_io500(changed, GROUND)
    (tmp_path / "file").write_text("")
    changed = request.model_copy(update={"targets": [Target(name="a", uri=f"posix:{tmp_path}/file")]})
    with pytest.raises(UserError, match="is not a folder"):
        prepare_io500(changed, GROUND)


def test_only_root_drops_all_caches(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="only root may drop all caches"):
        world.prepare(cache="drop")


def test_hints_without_mpi_io_are_refused(world: World) -> None:
    with pytest.raises(UserError, match="MPI hints need API = MPIIO"):
        world.prepare(hint=["cb_nodes=1"])


def test_options_of_a_damaged_request_are_named(world: World) -> None:
    request = world.request()
    changed = request.model_copy(update={"options": {**request.options, "repeat": 0}})
    with pytest.raises(UserError, match=r"request.json /options/repeat: "):
        prepare_io500(changed, GROUND)


def test_room_is_the_engines_less_a_margin() -> None:
    place = Place(target="a", path="/a", exists=True, free_bytes=100 << 30, free_inodes=1000, block_bytes=4096)
    room = room_at(place, Limits(), Memory())
    assert (room.bytes, room.files, room.file_bytes) == (int(0.9 * (50 << 30)), 450, 4096)
    assert room_at(place, Limits(space_bytes=1 << 30), Memory()).bytes == int(0.9 * (1 << 30))
    memory = place.model_copy(update={"is_memory": True})
    assert room_at(memory, Limits(), Memory(available_bytes=10 << 30)).bytes == int(0.9 * (5 << 30))
    unknown = Place(target="a", path="/a", exists=True)
    assert room_at(unknown, Limits(), Memory()).bytes > 1 << 60
