# SPDX-License-Identifier: Apache-2.0
"""The course of a disk run on a simulated engine with a simulated fio: who is measured how often, and when it ends."""

import pytest

from suites.disk.conftest import World
from ullage.model.plan import Case, Plan
from ullage.peers.fio import FioJob
from ullage.runs.cells.prepared import planned_cells

MIB = 1 << 20


def test_a_quiet_machine_ends_early_with_every_cell_at_its_minimum_and_a_peer(world: World) -> None:
    code, session = world.run(world.prepare(volume="64M"))
    assert (code, session.messages) == (0, [])
    assert world.counts() == [6] * 10
    peers = world.result.read_peers()
    assert len(peers) == 20
    assert {(peer.case, peer.phase) for peer in peers} == {
        (cell.case.id, phase) for cell in planned_cells(world.result) for phase in ("write", "read")
    }
    assert {(peer.tool, peer.version, peer.repetition) for peer in peers} == {("fio", "3.33", 0)}
    assert all(peer.command[0] == "/usr/bin/fio" for peer in peers)
    assert world.events() == []
    assert list(world.target.iterdir()) == []


def test_fio_does_the_same_job(world: World) -> None:
    world.run(world.prepare(volume="64M", small_volume="2M", depth="1,8"))
    jobs = set(world.fio.jobs)
    blocks = {
        FioJob(mode, block, 64 * MIB, jobs_, 1, "psync", True)
        for mode in ("write", "read", "randwrite", "randread")
        for block in (MIB, 4 * MIB)
        for jobs_ in (1, 2)
    }
    smalls = {
        FioJob(mode, 4096, 2 * MIB, 1, depth, "io_uring", True)
        for mode in ("randwrite", "randread")
        for depth in (1, 8)
    }
    assert jobs == blocks | smalls
    reads = [found for job, found in zip(world.fio.jobs, world.fio.found, strict=True) if job.direction == "read"]
    assert all(found for found in reads), "a read finds what the write of its own has left"


def test_without_a_peer_there_is_none(world: World) -> None:
    world.run(world.prepare(volume="64M", no_peer=True))
    assert world.fio.jobs == []
    assert not world.result.peers_path.exists()


@pytest.mark.parametrize("seconds", [30, 90])
@pytest.mark.parametrize("volume", ["64M", None])
def test_the_time_is_kept_with_fio_in_it(world: World, seconds: int, volume: str | None) -> None:
    def cost(case: Case, plan: Plan) -> float:
        share = case.workload.parameters["block_bytes"]
        assert isinstance(share, int)
        return 0.005 + share * plan.layout.ranks / 1e9

    world.engine.cost, world.engine.spread = cost, 0.2
    code, _ = world.run(world.prepare(volume=volume, time=f"{seconds}s"))
    assert code == 0
    assert world.clock.at - 1000 <= 1.1 * seconds
    assert min(world.counts()) >= 3
    assert len({peer.case for peer in world.result.read_peers()}) == 10


def test_our_own_minimum_comes_before_fio_when_time_is_short(world: World) -> None:
    world.fio.seconds = 5.0
    code, _ = world.run(world.prepare(volume="64M", time="20s", min_repetitions=3))
    assert code == 0
    assert min(world.counts()) >= 3
    assert world.clock.at - 1000 <= 22 + world.fio.seconds
    assert 0 < len(world.fio.jobs) < 20


def test_fio_goes_on_in_turn_with_later_launches(world: World) -> None:
    world.engine.spread = 0.4
    world.run(world.prepare(volume="64M", time="120s"))
    assert max(peer.repetition for peer in world.result.read_peers()) >= 1


def test_the_volumes_a_probe_chose_stand_in_the_request(world: World) -> None:
    world.run(world.prepare(time="60s"))
    options = world.result.read_request().options
    volume, small = options["volume"], options["small_volume"]
    assert isinstance(volume, int)
    assert isinstance(small, int)
    assert volume % (8 * MIB) == 0
    assert small % 4096 == 0
    assert [plan.run_id for plan in world.engine.plans[:2]] == ["r1-probe", "r1"]
    assert "with small requests" in world.progress.said[0]


def test_a_failing_fio_is_said_and_does_no_harm(world: World) -> None:
    world.fio.fails = lambda _job: "fio failed (exit code 1)"
    code, _ = world.run(world.prepare(volume="64M"))
    assert code == 0
    assert world.counts() == [6] * 10
    assert world.events() == ["peer-failed"] * 3, "after three it is not tried again"
    assert len(world.fio.jobs) == 3
    assert list(world.target.iterdir()) == []


def test_one_case_that_fio_cannot_do_leaves_it_the_others(world: World) -> None:
    world.fio.fails = lambda job: "too short a time" if job.block_bytes == 4096 else ""
    world.run(world.prepare(volume="64M"))
    assert len({peer.case for peer in world.result.read_peers()}) == 8
    assert world.events() == ["peer-failed"] * 2


def test_what_is_not_as_expected_is_an_event_once(world: World) -> None:
    world.without_uring(None)
    world.run(world.prepare(volume="64M"))
    assert world.events() == ["no-queue-depth"]
    assert world.resume()[0] == 0
    assert world.events() == ["no-queue-depth"]


def test_resume_finishes_what_a_dead_rank_left_and_starts_nothing_when_all_is_there(world: World) -> None:
    world.engine.ends[1] = "die"
    assert world.run(world.prepare(volume="64M"))[0] == 5
    assert world.fio.jobs == []
    assert world.resume()[0] == 0
    assert world.counts() == [6] * 10
    assert len({peer.case for peer in world.result.read_peers()}) == 10
    done, jobs = len(world.engine.plans), len(world.fio.jobs)
    assert world.resume()[0] == 0
    assert (len(world.engine.plans), len(world.fio.jobs)) == (done, jobs)


def test_resume_gives_fio_what_it_lacks(world: World) -> None:
    world.run(world.prepare(volume="64M"))
    lines = world.result.peers_path.read_text().splitlines(keepends=True)
    world.result.peers_path.write_text("".join(lines[:6]))
    done = len(world.engine.plans)
    assert world.resume(seconds=30)[0] == 0
    assert len(world.engine.plans) == done
    assert len({peer.case for peer in world.result.read_peers()}) == 10


def test_plans_need_no_probe_where_a_volume_is_given(world: World) -> None:
    prepared = world.prepare(volume="640M")
    assert prepared.unsettled == ""
    assert world.prepare().unsettled == "--volume"
    from ullage.results.folder import ResultFolder

    plans = prepared.plans(ResultFolder(world.path / "result"))
    assert [plan.layout.ranks for plan in plans] == [1, 2, 1]
    assert [len(plan.cases) for plan in plans] == [4, 4, 2]
    smalls = [case for plan in plans for case in plan.cases if case.workload.parameters["transfer_bytes"] == 4096]
    assert {case.workload.parameters["block_bytes"] for case in smalls} == {10 * MIB}


def test_an_explanation_says_everything_and_touches_nothing(world: World) -> None:
    explanation = world.prepare(volume="10M", small_volume="1M").explain()
    text = "\n".join([*explanation.head, *explanation.tail])
    assert "Cases: 10, in 3 launches at least; 10.0 MiB for each with blocks, 1.00 MiB with small requests" in text
    assert "4 cases move another volume" in text
    assert "fio 3.33 does the same work, in turn with the engine." in text
    assert list(world.target.iterdir()) == []
    assert "No other tool is run for comparison, as asked." in world.prepare(no_peer=True, volume="64M").explain().head
