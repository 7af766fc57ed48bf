# SPDX-License-Identifier: Apache-2.0
"""What a probe is, and what it makes of its records."""

import pytest

from suites.io500.conftest import GROUND, World
from ullage.model.plan import Case, Plan
from ullage.runs.room import Room
from ullage.suites.io500.options import Sizes
from ullage.suites.io500.rounds import read_rounds
from ullage.suites.io500.sizing import probe_options, probe_sizes, probe_steps, read_rates

WRITING = ["ior-easy-write", "mdtest-easy-write", "ior-hard-write", "mdtest-hard-write"]


def test_a_probe_writes_a_little_with_all_ranks_and_a_near_wall(world: World) -> None:
    prepared = world.prepare(ranks=8, keep=True, resumable=True, mode="extended")
    reduced = probe_options(prepared.options)
    target = prepared.request.targets[0]
    found = probe_steps(reduced, target, prepared.layout, prepared.room(target), GROUND.description)
    assert [step.phase.name for step in found] == WRITING
    assert all(step.case.workload.parameters["stonewall_s"] == 1.0 for step in found)
    world.run(prepared)
    (probe,) = world.engine.probes
    assert probe.layout.ranks == 8
    assert probe.run_id == "r1-probe"
    assert not probe.keep
    assert not probe.keep_when_interrupted


def test_phases_that_are_not_run_are_not_probed(world: World) -> None:
    world.run(world.prepare("[ior-hard]\nrun = FALSE\n"))
    assert len(world.engine.probes[0].cases) == 3


def test_a_probe_takes_a_small_part_of_the_room(world: World) -> None:
    asked = world.prepare(ranks=4).options
    room = Room(10 << 30, 100_000)
    found = probe_sizes(asked, room)
    assert 4 * found.block_bytes <= 0.05 * room.bytes
    assert 4 * found.segments * 47008 <= 0.05 * room.bytes
    assert 4 * found.hard_items <= 0.05 * room.files
    least = probe_sizes(asked, Room(1, 1))
    assert (least.segments, least.easy_items) == (1, 1)


def test_a_probe_has_enough_for_every_rank_of_many(world: World) -> None:
    asked = world.prepare(ranks=512, nodes=256).options
    found = probe_sizes(asked, Room(1 << 50, 1 << 40))
    assert found.block_bytes // asked.config.transfer_bytes >= 32
    assert min(found.easy_items, found.hard_items) == 500
    assert 2 * probe_sizes(world.prepare(ranks=2).options, Room(1 << 50, 1 << 40)).block_bytes <= 1 << 30


@pytest.mark.parametrize("ranks", [1, 2, 16, 40])
def test_a_probe_makes_few_names(world: World, ranks: int) -> None:
    """What it removes lies before the measured creates, which some file systems look past."""
    found = probe_sizes(world.prepare(ranks=ranks).options, Room(1 << 50, 1 << 40))
    assert found.easy_items == found.hard_items == 20_000 // ranks


def test_a_probe_uses_no_more_than_the_sizes_that_are_given(world: World) -> None:
    asked = world.prepare("[mdtest-hard]\nn = 7\n[ior-easy]\nblockSize = 4m\n").options
    found = probe_sizes(asked, Room(1 << 50, 1 << 40))
    assert (found.hard_items, found.block_bytes) == (7, 4 << 20)


def test_rates_are_those_until_the_wall_or_of_the_transfers(world: World) -> None:
    """In the simulation half of all is done at the wall, the other half in the tenth of the time that follows."""
    world.engine.bytes_per_s, world.engine.creates_per_s = 2e9, 5e3
    world.run(world.prepare())
    sizes = Sizes.model_validate(world.result.read_request().options["sizes"]["a"])  # type: ignore[index]
    assert "ior-easy-write 2.00 GB/s" in sizes.basis
    assert "mdtest-hard-write 5.00 kop/s" in sizes.basis


def test_a_phase_that_fails_in_the_probe_keeps_what_was_assumed(world: World) -> None:
    def spoil(plan: Plan, case: Case, record: dict[str, object]) -> None:
        if plan.run_id.endswith("-probe") and case.dataset == "ior-easy":
            record["status"] = "failed"

    world.engine.spoil = spoil
    world.run(world.prepare())
    sizes = Sizes.model_validate(world.result.read_request().options["sizes"]["a"])  # type: ignore[index]
    assert "ior-easy-write" not in sizes.basis
    assert "ior-hard-write" in sizes.basis
    for found in read_rounds(world.result):
        whole = [attempt.phase.name for attempt in found.attempts if attempt.is_whole]
        assert len(whole) == len(set(whole)) > 0


def test_no_records_leave_all_assumed(world: World) -> None:
    prepared = world.prepare()
    steps = prepared.steps(prepared.request.targets[0])
    assert read_rates(steps, [], 2).basis.startswith("assumed")
