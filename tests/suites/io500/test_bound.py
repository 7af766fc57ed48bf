# SPDX-License-Identifier: Apache-2.0
"""Names without a device: the same calls on tmpfs bound the phases of a target, and are no result themselves."""

from pathlib import Path

import pytest

from suites.io500.conftest import World
from support.data import some
from ullage.model.plan import Case, Plan
from ullage.model.system import Memory, Place
from ullage.runs.no_device import NAME, SAMPLES, find_tmpfs
from ullage.runs.room import Room
from ullage.suites.io500.phases import BY_NAME, phases_of

NAMES = [phase for phase in phases_of("standard") if phase.workload in ("metadata", "find") and phase.scored]


@pytest.fixture
def long(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Rounds of a minute, and a folder that passes for a tmpfs."""
    place = Place(target=NAME, path=str(world.path / "shm"), exists=True, file_system="tmpfs", is_memory=True)
    Path(place.path).mkdir()
    monkeypatch.setattr("ullage.suites.io500.summarise.find_tmpfs", lambda _memory, _needed: place)
    world.engine.elapsed_s = 60.0
    return world


def bounds(world: World) -> list[Plan]:
    return [plan for plan in world.engine.probes if plan.targets[0].name == NAME]


def test_the_same_calls_by_the_same_ranks_work_on_names_alone(long: World) -> None:
    long.run(long.prepare(ranks=4, keep=True))
    plans = bounds(long)
    assert len(plans) == 2, "of 60 s two launches of a second are less than a tenth"
    for plan in plans:
        assert plan.targets[0].uri == f"posix:{long.path / 'shm'}"
        assert (plan.layout.ranks, plan.keep, plan.run_id) == (4, False, "r1-probe")
        assert {case.workload.name for case in plan.cases} == {"metadata", "find"}
        assert len({case.id for case in plan.cases}) == len(plan.cases)
        assert {case.dataset for case in plan.cases} >= {f"mdtest-hard-{number}" for number in range(1, SAMPLES + 1)}
    names = sum(
        int(str(case.workload.parameters["items"])) * 4
        for case in plans[0].cases
        if "create" in str(case.workload.parameters.get("phases"))
    )
    assert names <= 2 * SAMPLES * 3_000


def test_each_phase_on_names_is_bounded_and_the_bound_is_no_row(long: World) -> None:
    long.engine.creates_per_s = 1e4

    def faster(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del case
        if plan.targets[0].name == NAME:
            record["file_system"] = "tmpfs"
            record["elapsed_ns"] = int(str(record["elapsed_ns"])) // 4

    long.engine.spoil = faster
    long.run(long.prepare())
    rows = long.summary().rows
    assert {row.target for row in rows} == {"a"}
    bounded = {row.word("phase"): row for row in rows if row.metric == "operation_rate" and row.ceiling is not None}
    assert bounded.keys() <= {phase.name for phase in NAMES}
    assert {"mdtest-easy-write", "mdtest-hard-write"} <= bounded.keys()
    others = [row for row in rows if row.metric == "operation_rate" and row.ceiling is None]
    said = [note for row in others for note in row.notes]
    assert any("was below this number: measure it again" in note for note in said), "looks at names were slower there"
    for row in bounded.values():
        assert row.ceiling is not None
        assert (row.ceiling.kind, row.ceiling.source) == ("measured", "the same calls by 2 ranks on tmpfs")
        assert row.ceiling.at
        assert not row.is_invalid
    bandwidths = [row for row in rows if row.metric == "bandwidth"]
    assert not any("tmpfs" in row.ceiling.source for row in bandwidths if row.ceiling)


def test_a_short_round_a_target_in_memory_and_several_nodes_have_no_bound(long: World) -> None:
    long.engine.elapsed_s = 5.0
    long.run(long.prepare())
    assert bounds(long) == []


@pytest.mark.parametrize("words", [{"nodes": 2, "ranks": 4}])
def test_where_it_is_not_available_the_run_says_why(long: World, words: dict[str, int]) -> None:
    code, _ = long.run(long.prepare(**words))
    assert (code, bounds(long)) == (0, [])
    (said,) = [event.text for event in long.summary().events if "bound of work on names" in event.text]
    assert "ranks on several nodes have no file system in memory in common" in said


def test_a_bound_that_fails_fails_nothing(long: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        del case
        if plan.targets[0].name == NAME and record["phase"] == "create":
            record["status"] = "failed"

    long.engine.spoil = spoil
    code, session = long.run(long.prepare())
    assert (code, session.messages) == (0, [])
    assert long.summary().rows


def test_what_a_killed_launch_left_there_is_removed_with_the_rest(long: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from ullage.runs.remains import remove_earlier

    seen: list[str] = []
    long.run(long.prepare())
    monkeypatch.setattr(
        "ullage.runs.remains.remove_remains",
        lambda targets, is_one, _engine: seen.extend(one.uri for one in targets if is_one("r1-probe")) or [],
    )
    _, session = long.resume()
    remove_earlier(session)
    assert f"posix:{long.path / 'shm'}" in seen


def test_only_a_tmpfs_with_room_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def places(**fields: object) -> None:
        usual = {"exists": True, "path": str(tmp_path), "file_system": "tmpfs", "is_memory": True,
                 "free_bytes": 8 << 30, "free_inodes": 1 << 20}  # fmt: skip
        made = Place.model_validate({"target": NAME, **usual, **fields})
        monkeypatch.setattr("ullage.system.storage.read_places", lambda _targets: [made])

    needed = Room(1 << 20, 10_000)
    places()
    assert not isinstance(find_tmpfs(Memory(), needed), str)
    for wrong, why in (
        ({"file_system": "ext4", "is_memory": False}, "is no tmpfs"),
        ({"free_bytes": 1 << 30, "free_inodes": 9_999}, "has too little room"),
        ({"exists": False}, "does not exist"),
    ):
        places(**wrong)
        assert why in str(find_tmpfs(Memory(), needed))


def test_every_phase_that_is_bounded_is_an_official_one() -> None:
    assert all(BY_NAME[phase.name] is phase for phase in some(NAMES))


def test_the_hard_phases_are_explained_by_the_easy_ones(world: World) -> None:
    def slower(_plan: Plan, case: Case, record: dict[str, object]) -> None:
        # All rounds differ a little: an interval needs noise.
        factor = (4.0 if case.dataset == "ior-hard" else 1.0) * (1 + 0.01 * (len(world.engine.plans) % 3))
        record["elapsed_ns"] = int(int(str(record["elapsed_ns"])) * factor)

    world.engine.spoil = slower
    world.run(world.prepare(repeat=6))
    ladders = {ladder.part: ladder for ladder in world.summary().ladders}
    assert {"ior-hard-write", "ior-hard-read"} <= ladders.keys()
    ladder = ladders["ior-hard-write"]
    (rung,) = ladder.rungs
    assert (rung.kind, rung.is_sure, rung.may_rank) == ("pattern", True, False)
    assert rung.factor == pytest.approx(0.25, rel=0.02)
    assert ladder.ceiling.kind == "measured"
    assert "ior-easy-write" in ladder.ceiling.source
