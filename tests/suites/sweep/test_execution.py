# SPDX-License-Identifier: Apache-2.0
"""The course of a sweep on a simulated engine: who gets how many repetitions, when it ends, and how it goes on."""

from collections import Counter
from pathlib import Path

import pytest

from suites.sweep.conftest import GROUND, World
from support.data import some
from support.simulated_engine import Clock, Cost, SimulatedEngine
from ullage.errors import UserError
from ullage.launch.mpich import Mpich
from ullage.model.plan import Case, Plan
from ullage.results.folder import ResultFolder
from ullage.runs.case_progress import RunProgress
from ullage.runs.cells.costs import Costs
from ullage.runs.cells.passes import CellExecution
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import planned_cells
from ullage.runs.execution import Deadline
from ullage.runs.jobtime import JobTime
from ullage.runs.session import Session
from ullage.suites.sweep.prepare import PreparedSweep


def cells(world: World) -> list[Cell]:
    return planned_cells(world.result)


def test_a_quiet_machine_ends_early_with_every_cell_at_its_minimum(world: World) -> None:
    code, session = world.run(world.prepare(volume="64M", time="2m"))
    assert code == 0
    assert session.messages == []
    assert world.counts() == [6] * 8
    # A launch of one rank count takes turns with one of the other: neither has minutes of its own.
    turns = [plan.layout.ranks for plan in world.engine.plans]
    assert len(turns) >= 6
    assert all({*turn} == {1, 2} for turn in zip(turns[::2], turns[1::2], strict=True))
    assert world.clock.at - 1000 < 20


def test_a_row_says_which_launches_took_its_repetitions(world: World) -> None:
    world.run(world.prepare(volume="64M", time="2m"))
    for row in some(world.summary().rows):
        assert len(row.launches) == len(row.repetitions) == 6
        assert len(set(row.launches)) >= 3


def test_where_starts_take_the_time_a_layout_is_measured_at_once(world: World) -> None:
    world.engine.launch_s = 9.0
    world.run(world.prepare(volume="64M", time="30s"))
    assert len(world.engine.plans) == 2
    assert min(world.counts()) >= 1


def test_a_batch_job_that_cannot_finish_all_gives_each_layout_to_one_job(world: World) -> None:
    run = world.prepare(volume="64M", time="2m")
    assert launches_in_a_job(world, run, left_s=1000.0) >= 3
    assert launches_in_a_job(world, run, left_s=3.0) == 1


def launches_in_a_job(world: World, prepared: PreparedSweep, left_s: float) -> int:
    found, result = prepared.cells(64 << 20), ResultFolder.create(world.path / f"job-{left_s}", prepared.request)
    session = Session(result, GROUND, Mpich(Path("/mpiexec")), world.progress, None, world.engine.start)
    session.job_time = JobTime(world.clock.at + left_s, 3600.0, world.clock.now)
    run = CellExecution(
        session, RunProgress(), prepared.request, prepared.options, Costs(prepared.assumed(found)), found
    )
    return run._launches_left(found, 0, Deadline(world.clock.at + 120, world.clock.now))


def test_wide_intervals_get_the_rest_of_the_time(world: World) -> None:
    world.engine.spread = 0.0
    noisy = {"a"}
    original = world.engine.draw
    current: dict[str, str] = {}

    def draw(seconds: float) -> float:
        return original(seconds) * (1 + 0.3 * world.engine._rng.random()) if current.get("target") in noisy else seconds

    def watching(case: Case, plan: Plan) -> float:
        del plan
        current["target"] = case.target
        return 0.1

    world.engine.cost, world.engine.draw = watching, draw  # type: ignore[method-assign]
    world.run(world.prepare(volume="64M", time="60s"))
    by_target: dict[str, list[int]] = {}
    for cell, count in zip(cells(world), world.counts(), strict=True):
        by_target.setdefault(cell.target.name, []).append(count)
    assert set(by_target["b"]) == {6}
    assert min(by_target["a"]) > 6
    assert max(by_target["a"]) <= 15


def test_prior_times_are_handed_to_later_launches(world: World) -> None:
    world.engine.spread = 0.3
    world.run(world.prepare(volume="64M", time="60s"))
    last = world.engine.plans[-1]
    assert all(len(case.prior_elapsed_ns["write"]) >= 3 for case in last.cases)
    assert {len(values) for case in world.engine.plans[0].cases for values in case.prior_elapsed_ns.values()} == set()


@pytest.mark.parametrize("seconds", [20, 60, 200])
@pytest.mark.parametrize("volume", ["64M", None])
def test_the_time_is_kept(world: World, seconds: int, volume: str | None) -> None:
    rates = {"a": 5e8, "b": 2e9}

    def cost(case: Case, plan: Plan) -> float:
        share = case.workload.parameters["block_bytes"]
        assert isinstance(share, int)
        return 0.005 + share * plan.layout.ranks / rates[case.target]

    world.engine.cost, world.engine.spread = cost, 0.2
    code, _ = world.run(world.prepare(volume=volume, time=f"{seconds}s"))
    assert code == 0
    assert world.clock.at - 1000 <= 1.1 * seconds
    assert min(world.counts()) >= 3


@pytest.mark.parametrize(("enough", "least"), [(1, 1), (None, 6)])
def test_a_trial_whose_setting_is_slow_takes_a_repetition_of_each_cell_and_not_the_time_of_others(
    world: World, enough: int | None, least: int
) -> None:
    """Slower by twenty than the volume was chosen for; six repetitions of all would take 16 times the time."""
    world.engine.cost = lambda _case, _plan: 1.0
    prepared = world.prepare(volume="64M", time="6s")
    world.kept = ResultFolder.create(world.path / "result", prepared.request)
    session = world.session()
    session.needed, session.enough = lambda _case, _layout: True, enough
    assert prepared.run(session, world.clock.now) == 0
    assert min(world.counts()) == least
    took = world.clock.at - 1000
    assert took < 30 if enough else took > 90


def test_a_chosen_volume_leaves_time_for_the_minimum_and_is_kept_in_the_request(world: World) -> None:
    def cost(case: Case, plan: Plan) -> float:
        share = case.workload.parameters["block_bytes"]
        assert isinstance(share, int)
        return share * plan.layout.ranks / 1e9

    world.engine.cost, world.engine.spread = cost, 0.0
    world.run(world.prepare(time="60s"))
    volume = world.result.read_request().options["volume"]
    assert isinstance(volume, int)
    assert volume % (8 << 20) == 0
    # 8 cells, 6 repetitions, 2 phases at 1 GB/s in 60 % of a minute, less the starts of the launches.
    assert 0.25e9 < volume < 36e9 / 96
    assert [plan.run_id for plan in world.engine.plans[:2]] == ["r1-probe", "r1"]
    assert world.result.path.joinpath("probe", "plan.json").is_file()
    assert "volume" in world.progress.said[0]
    assert min(world.counts()) == 6


def test_too_little_time_is_shared_fairly_and_said(world: World) -> None:
    world.engine.cost = lambda _case, _plan: 2.0
    code, _ = world.run(world.prepare(volume="64M", time="30s"))
    assert code == 0
    # The last repetition that is begun in time takes 4 s.
    assert world.clock.at - 1000 <= 34
    got = world.counts()
    assert max(got) - min(got) <= 2
    assert min(got) >= 0
    assert world.events() == ["time-too-short"]


def test_a_failed_case_does_not_keep_the_others_from_going_on(world: World) -> None:
    prepared = world.prepare(volume="64M")
    bad = prepared.cells(64 << 20)[0].case.id
    world.engine.bad.add(bad)
    code, _ = world.run(prepared)
    assert code == 4
    assert sorted(world.counts()) == [0] + [6] * 7
    tries = Counter(case.id for plan in world.engine.plans for case in plan.cases)
    assert tries[bad] == 1


def test_a_refusal_ends_the_run_with_the_engines_line(world: World) -> None:
    world.engine.ends[1] = "refuse"
    code, session = world.run(world.prepare(volume="64M"))
    assert code == 3
    assert session.messages == ["target 'a': is full"]
    assert len(world.engine.plans) == 1


def test_a_dead_rank_ends_the_run_and_resume_finishes_it(world: World) -> None:
    world.engine.ends[1] = "die"
    code, session = world.run(world.prepare(volume="64M"))
    assert code == 5
    assert "rank 1 on node7 died (signal 9 (Killed))" in session.messages[0]
    assert world.events() == ["launch-ended"]
    before = world.counts()
    assert sorted(before)[-2:] == [1, 1]
    assert len(before) == 8, "the cells of launches that never came are known"
    done = len(world.engine.plans)
    code, _ = world.resume()
    assert code == 0
    assert world.counts() == [6] * 8
    assert all(
        case.id in {cell.case.id for cell in cells(world)} for plan in world.engine.plans[done:] for case in plan.cases
    )
    assert {plan.layout.ranks for plan in world.engine.plans[done:]} == {1, 2}


def test_resume_of_a_complete_run_starts_nothing(world: World) -> None:
    world.run(world.prepare(volume="64M"))
    done = len(world.engine.plans)
    assert world.resume()[0] == 0
    assert len(world.engine.plans) == done


def test_an_interruption_stops_at_once_and_is_no_fault(world: World) -> None:
    world.engine.ends[2] = "interrupt"
    code, session = world.run(world.prepare(volume="64M"))
    assert code == 5
    assert session.messages == ["interrupted"]
    assert len(world.engine.plans) == 2
    assert world.events() == []
    assert world.resume()[0] == 0
    assert world.counts() == [6] * 8


def test_resume_after_the_probe_was_interrupted_probes_again(world: World) -> None:
    world.engine.ends[1] = "interrupt"
    assert world.run(world.prepare(time="20s"))[0] == 5
    assert world.resume()[0] == 0
    assert min(world.counts()) >= 3


def test_resume_with_more_time_narrows_what_is_wide(world: World) -> None:
    world.engine.spread = 0.2
    world.run(world.prepare(volume="64M", time="10s"))
    before = sum(world.counts())
    world.resume(seconds=30)
    assert sum(world.counts()) > before


def device(peak: int) -> Cost:
    """Seconds of a phase on something that is fastest with ``peak`` ranks."""

    def cost(case: Case, plan: Plan) -> float:
        del case
        ranks = plan.layout.ranks
        return 0.2 / min(ranks, peak) * (1 if ranks <= peak else 1.5)

    return cost


def test_extend_goes_on_until_the_peak_is_inside(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 16)
    world.engine.cost, world.engine.spread = device(peak=8), 0.005
    code, _ = world.run(world.prepare(volume="64M", block="1M", extend="ranks", time="2m"))
    assert code == 0
    assert sorted({cell.layout.ranks for cell in cells(world)}) == [1, 2, 4, 8, 16]
    assert min(world.counts()) >= 3


def test_without_extend_the_table_stays_as_it_is(world: World) -> None:
    world.engine.cost, world.engine.spread = device(peak=8), 0.005
    world.run(world.prepare(volume="64M", block="1M", time="2m"))
    assert sorted({cell.layout.ranks for cell in cells(world)}) == [1, 2]


def test_extend_ends_at_eight_ranks_a_core(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 1)
    world.engine.cost, world.engine.spread = device(peak=1 << 20), 0.005
    world.run(world.prepare(volume="64M", block="1M", extend="ranks", time="4m"))
    assert max(cell.layout.ranks for cell in cells(world)) == 8


def test_extend_of_one_value_adds_the_next(world: World) -> None:
    prepared = world.prepare(volume="64M", ranks="2", block="1M", extend="ranks,block")
    assert (prepared.options.ranks, prepared.options.blocks) == ([2, 4], [1 << 20, 2 << 20])


def test_extend_of_blocks_stops_where_a_rank_has_one_block(world: World) -> None:
    def cost(case: Case, plan: Plan) -> float:
        del plan
        block = case.workload.parameters["transfer_bytes"]
        assert isinstance(block, int)
        return 1e6 / block

    world.engine.cost, world.engine.spread = cost, 0.005
    world.run(world.prepare(volume="32M", ranks="2", block="1M,2M", extend="block", time="4m"))
    assert max(cell.block_bytes for cell in cells(world)) == 16 << 20


def test_extend_stops_where_there_is_no_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 16)
    # Each rank brings its own volume, and as much of the device.
    world.engine.cost, world.engine.spread = lambda _case, _plan: 0.2, 0.005
    words = {"volume": "16M", "weak": True, "space": "70M", "block": "1M", "extend": "ranks", "time": "2m"}
    assert world.run(world.prepare(**words))[0] == 0
    assert max(cell.layout.ranks for cell in cells(world)) == 4


def test_recheck_repeats_what_looks_odd(world: World) -> None:
    ranks, blocks = "1,2,4,8", "128K:4M:x2"
    prepared = world.prepare(volume="64M", ranks=ranks, block=blocks, recheck=True, time="4m")
    odd = next(cell for cell in prepared.cells(64 << 20) if cell.layout.ranks == 4 and cell.block_bytes == 1 << 20)

    def cost(case: Case, plan: Plan) -> float:
        del plan
        return 0.1 * (6 if case.id == odd.case.id else 1)

    world.engine.cost, world.engine.spread = cost, 0.005
    world.run(prepared)
    known = {cell.case.id: count for cell, count in zip(cells(world), world.counts(), strict=True)}
    assert known[odd.case.id] == 10
    assert Counter(known.values())[6] == len(known) - 1


def test_every_launch_leaves_its_plan_and_records(world: World) -> None:
    world.engine.spread = 0.2
    world.run(world.prepare(volume="64M", time="20s"))
    numbers = world.result.launches()
    assert numbers == list(range(1, len(world.engine.plans) + 1))
    for number in numbers:
        plan = world.result.read_plan(number)
        assert Path(plan.records) == world.result.records_path(number)
        assert world.result.records_path(number).is_file()


def test_the_same_seed_makes_the_same_course(tmp_path: Path) -> None:
    courses: list[list[Plan]] = []
    for name in ("one", "two"):
        folder = tmp_path / name
        for target in ("a", "b"):
            (folder / target).mkdir(parents=True)
        other = World(folder, SimulatedEngine(Clock(), cost=lambda _case, _plan: 0.1))
        other.run(other.prepare(volume="64M"))
        courses.append(other.engine.plans)
    one, two = ([(plan.seed, plan.layout, len(plan.cases)) for plan in course] for course in courses)
    assert one == two


def test_a_volume_is_not_chosen_where_a_block_for_every_rank_has_no_room(world: World) -> None:
    with pytest.raises(UserError, match=r"needs 1.00 GiB, but only|a block for every rank") as caught:
        world.prepare(ranks="1024", block="1M", space="512M", oversubscribe=True)
    assert caught.value.code == 3
