# SPDX-License-Identifier: Apache-2.0
"""What is read back from plans and records: cells, rounds, and which attempt of a cell counts."""

from pathlib import Path

import pytest

from support.b_eff_io_world import AROUND_S, FOLDER, LAUNCH_S, PAYLOAD_S, SYNC_S, At, World, flat, usual_options
from ullage.model.plan import Target
from ullage.report.data import load
from ullage.runs.summary import build_summary
from ullage.suites.b_eff_io.hints import HintLine, HintSet
from ullage.suites.b_eff_io.measured import PARTS, BEffIoRun, by_round, end_of, fact, overheads, read_run
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import ACCESSES, PATTERNS, TYPES, patterns_of
from ullage.suites.b_eff_io.values import PartitionRound, Spot, is_given_up, lost_patterns, spots_of

SPOT = Spot("disk", 0, 4)


def course_of(folder: Path, world: World) -> BEffIoRun:
    return read_run(world.write(folder / "result"), world.options)


def test_every_cell_of_every_round_is_told_by_its_plan(tmp_path: Path) -> None:
    two = [HintSet(name="default"), HintSet(name="frost", lines=[HintLine(key="k", value="v")])]
    io_run = course_of(tmp_path, World(usual_options(hint_sets=two, repetitions=2)))
    assert io_run.rounds == [0, 1]
    assert len(io_run.launches) == 2 * 3 * 2
    assert [launch.accesses for launch in io_run.launches[:6]] == [(access,) for access in ACCESSES for _ in range(2)]
    assert len(io_run.keys) == 2 * 2 * 3 * 5
    assert spots_of(io_run) == [Spot("disk", hints, ranks) for hints in range(2) for ranks in (2, 4)]
    for key in io_run.keys:
        assert [one.round for one in io_run.attempts(key)] == [0, 1]
        assert [one.number for one in patterns_of(key.type)] == list(io_run.attempts(key)[0].good)
    assert [io_run.hint_set(number) for number in range(2)] == ["default", "frost"]


def test_without_rewrite_only_scatter_has_one(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, World(usual_options(rewrite=False, partitions=[4])))
    assert [key.type for key in io_run.keys if key.access == "rewrite"] == ["scatter"]
    found = PartitionRound(io_run, SPOT, 0)
    assert found.access("rewrite") == found.type("rewrite", "scatter")
    assert found.b_eff_io is not None


def test_facts_of_a_pattern(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, World(usual_options(partitions=[4])))
    attempt = io_run.attempts(SPOT.key("write", "scatter"))[0]
    pattern = attempt.good[5]
    assert (fact(pattern, "chunk_bytes"), fact(pattern, "call_bytes"), end_of(pattern)) == (1024, 1 << 20, "scheduled")
    assert fact(pattern, "scheduled_s") == pytest.approx(2 * 3600 / 192)
    assert (fact(pattern, "unheard_of"), end_of(attempt.good[0])) == (0, "once")


def test_a_pattern_that_hung_is_left_out_and_the_rest_counts(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4]), hangs=lambda at: at.pattern.number == 12)
    io_run = course_of(tmp_path, world)
    tried = [one for launch in io_run.launches for one in launch.attempts if one.key == SPOT.key("write", "shared")]
    assert [(one.case.status, one.hung, one.skipped) for one in tried] == [("timeout", 12, ()), ("ok", None, (12,))]
    assert io_run.attempt(0, SPOT.key("write", "shared")) is tried[1]
    assert 12 not in tried[1].good
    assert {(one.key.access, one.patterns, one.why) for one in lost_patterns(io_run, SPOT)} == {
        (access, (12,), "timeout") for access in ACCESSES
    }
    assert PartitionRound(io_run, SPOT, 0).b_eff_io is not None


def test_a_pattern_that_was_skipped_has_the_reason_of_its_own_partition(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, World(usual_options(partitions=[2, 4]), hangs=lambda at: at.pattern.number == 12))
    for ranks in (2, 4):
        found = lost_patterns(io_run, Spot("disk", 0, ranks))
        assert [one.key.access for one in found] == list(ACCESSES)
        assert {one.text.split(" made")[0] for one in found} == {f"rank {ranks - 1} on n1"}


def test_of_a_case_that_failed_what_went_well_counts_and_the_rest_is_lost(tmp_path: Path) -> None:
    def fails(at: At) -> bool:
        return at.access == "read" and at.pattern.number == 20

    io_run = course_of(tmp_path, World(usual_options(partitions=[4]), fails=fails))
    attempt = io_run.attempts(SPOT.key("read", "separated"))[0]
    assert (attempt.case.status, list(attempt.good), attempt.bad_blocks) == ("failed", [17, 18, 19], 3)
    assert {(one.patterns, one.why) for one in lost_patterns(io_run, SPOT)} == {
        ((20,), "failed"),
        ((21, 22, 23, 24), "missing"),
    }
    assert PartitionRound(io_run, SPOT, 0).type("read", "separated") == pytest.approx(1e8, rel=0.01)


def test_a_type_of_which_nothing_went_well_counts_nothing(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4]), fails=lambda at: at.pattern.number == 9)
    found = PartitionRound(course_of(tmp_path, world), SPOT, 0)
    assert found.type("write", "shared") == 0
    assert found.access("write") == pytest.approx(5 / 6 * 1e8, rel=0.01)


def test_what_somebody_stopped_has_no_value(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, World(usual_options(partitions=[4]), stop_after=2))
    found = PartitionRound(io_run, SPOT, 0)
    assert found.access("rewrite") is not None
    assert found.access("read") is None
    assert found.b_eff_io is None
    assert lost_patterns(io_run, SPOT) == []


def test_two_patterns_that_hung_are_enough_to_give_a_type_up(tmp_path: Path) -> None:
    def hangs(at: At) -> bool:
        return at.access == "rewrite" and at.pattern.number in {10, 12}

    one = course_of(tmp_path / "one", World(usual_options(partitions=[4]), hangs=hangs, stop_after=2))
    two = course_of(tmp_path / "two", World(usual_options(partitions=[4]), hangs=hangs, stop_after=3))
    key = SPOT.key("read", "shared")
    assert not is_given_up(one, 0, key)
    assert is_given_up(two, 0, key)
    assert not is_given_up(two, 0, SPOT.key("read", "scatter"))


def test_what_has_no_data_counts_nothing_and_says_so(tmp_path: Path) -> None:
    io_run = course_of(tmp_path, World(usual_options(partitions=[4]), stop_after=1))
    wrong = World(usual_options(partitions=[4]), fails=lambda at: at.pattern.number == 10, stop_after=1)
    failed = course_of(tmp_path / "failed", wrong)
    key = SPOT.key("read", "shared")
    assert not is_given_up(io_run, 0, key)
    assert is_given_up(failed, 0, key)
    assert PartitionRound(failed, SPOT, 0).type("read", "shared") == 0
    assert {(one.key.access, one.why) for one in lost_patterns(failed, SPOT) if one.why == "given up"} == {
        ("rewrite", "given up"),
        ("read", "given up"),
    }


def test_data_that_was_made_again_does_not_count_twice(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4]))
    result = world.write(tmp_path / "result")
    # As when a run was stopped before its reads, and goes on on a target whose data is gone.
    again = World(usual_options(partitions=[4]), bandwidth=lambda at: 2 * flat(at), stop_after=1).write(tmp_path / "x")
    result.prepare_launch(9, again.read_plan(1))
    result.records_path(9).write_bytes(again.records_path(1).read_bytes())
    io_run = read_run(result, world.options)
    assert [one.launch for one in io_run.attempts(SPOT.key("write", "scatter"))] == [1]
    assert PartitionRound(io_run, SPOT, 0).type("write", "scatter") == pytest.approx(1e8, rel=0.01)


def test_several_targets_are_apart(tmp_path: Path) -> None:
    both = [FOLDER, Target(name="other", uri="posix:/other")]
    world = World(
        usual_options(partitions=[4]), bandwidth=lambda at: 2e8 if at.target == "other" else 1e8, targets=both
    )
    io_run = course_of(tmp_path, world)
    values = [PartitionRound(io_run, spot, 0).b_eff_io for spot in spots_of(io_run)]
    assert values == pytest.approx([1e8, 2e8], rel=0.01)


def test_launches_that_did_something_else_or_never_began_are_no_part_of_it(tmp_path: Path) -> None:
    world = World(usual_options(partitions=[4]))
    result = world.write(tmp_path / "result")
    result.records_path(2).unlink()
    io_run = read_run(result, world.options)
    assert [launch.number for launch in io_run.launches] == [1, 3]


class TestOverheads:
    def options(self, **more: object) -> BEffIoOptions:
        return usual_options(partitions=[4], time_s=192.0, **more)

    def test_parts_add_up_to_the_wall(self, tmp_path: Path) -> None:
        io_run = course_of(tmp_path, World(self.options()))
        spent = by_round(io_run, "disk")[0]
        first, last = io_run.launches[0], io_run.launches[-1]
        wall = (last.run.origin_ns - first.run.origin_ns) / 1e9 + last.elapsed_s
        assert spent.total == pytest.approx(wall)
        assert list(spent.parts) == [*PARTS]
        assert spent.scheduled == pytest.approx(192)

    def test_each_part_is_told_from_the_records(self, tmp_path: Path) -> None:
        io_run = course_of(tmp_path, World(self.options()))
        spent = by_round(io_run, "disk")[0]
        patterns = len(PATTERNS)
        assert spent.parts["payload"] == pytest.approx(3 * patterns * PAYLOAD_S)
        assert spent.parts["open"] == pytest.approx(3 * len(TYPES) * 0.02)
        assert spent.parts["close"] == pytest.approx(3 * len(TYPES) * 0.01)
        # It is half the time of the shortest patterns.
        assert 0 < spent.parts["sync"] <= 2 * patterns * SYNC_S
        assert spent.parts["between"] == pytest.approx(3 * AROUND_S)
        # Before the first launch nothing is known.
        assert spent.parts["launch"] == pytest.approx(2 * LAUNCH_S)

    def test_a_launch_with_all_accesses_is_told_by_access(self, tmp_path: Path) -> None:
        io_run = course_of(tmp_path, World(self.options(), together=True))
        found = {place.access: spent for place, spent in overheads(io_run).items()}
        assert len(io_run.launches) == 1
        assert set(found) == set(ACCESSES)
        assert found["write"].parts["between"] == pytest.approx(AROUND_S)
        assert "between" not in found["read"].parts
        assert sum(spent.total for spent in found.values()) == pytest.approx(io_run.launches[0].elapsed_s)

    def test_a_hang_costs_and_is_counted(self, tmp_path: Path) -> None:
        quiet = by_round(course_of(tmp_path / "a", World(self.options())), "disk")[0]
        world = World(self.options(), hangs=lambda at: at.pattern.number == 24)
        hung = by_round(course_of(tmp_path / "b", world), "disk")[0]
        assert hung.parts["between"] - quiet.parts["between"] > 29
        assert hung.loops < quiet.loops

    def test_a_pause_between_launches_is_no_overhead(self, tmp_path: Path) -> None:
        io_run = course_of(tmp_path, World(self.options(), stop_after=1))
        late = World(self.options(), _clock_s=5000.0, stop_after=1)
        after = course_of(tmp_path / "late", late)
        both = BEffIoRun(io_run.options, io_run.targets, (*io_run.launches, *after.launches))
        assert "launch" not in by_round(both, "disk")[0].parts


def test_the_page_finds_the_records_behind_a_row(tmp_path: Path) -> None:
    from ullage.analysis.settings import select
    from ullage.suites.b_eff_io.rows import PATTERN, TYPE
    from ullage.suites.b_eff_io.sheets import phases_of

    result = World(usual_options(partitions=[4], repetitions=2)).write(tmp_path / "result")
    data = load(result, build_summary(result))
    (row,) = select(data.summary.rows, PATTERN, access="read", pattern=18)
    assert [phase.phase for phase in phases_of(data, row)] == ["pattern-18"] * 2
    assert phases_of(data, select(data.summary.rows, TYPE)[0]) == []
