# SPDX-License-Identifier: Apache-2.0
"""The words of ``ullage run collectives``, and the cases they become."""

from pathlib import Path

import pytest

from support.collective_world import describe_calls
from support.simulated_engine import DESCRIBE
from support.suite_words import options_of
from ullage.errors import UserError
from ullage.model.describe import MpiAbilities
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.report.points import spread_out
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import ParsedOptions
from ullage.suites.collectives.suite import (
    OPERATIONS,
    CollectivesOptions,
    Planner,
    crowded,
    prepare_collectives,
    sizes_of,
)


def engine_of_an_mpi(*, large_counts: bool) -> EngineContext:
    mpi = MpiAbilities(large_counts=large_counts)
    return EngineContext(Path("/engine"), describe_calls().model_copy(update={"mpi": mpi}))


GROUND = engine_of_an_mpi(large_counts=True)


def options(**words: object) -> CollectivesOptions:
    return options_of(CollectivesOptions, **words)


def request(asked: ParsedOptions) -> Request:
    return Request(run_id="r1", suite="collectives", created="now", targets=asked.targets, options=asked.options)


def given(workload: str, **words: object) -> list[Parameters]:
    asked = parse_options(CollectivesOptions, **words)  # type: ignore[arg-type]
    named = (case.case.workload for case in prepare_collectives(request(asked), GROUND).cases)
    return [one.parameters for one in named if one.name == workload]


def test_by_default_all_operations_are_blocking_and_nothing_else() -> None:
    asked = options(ranks="2,4")
    assert asked.operations == list(OPERATIONS)
    assert asked.sizes == [8, 64, 512, 4096, 32768, 262144]
    assert (asked.overlap, asked.one_sided, asked.ranks) == ([], [], [2, 4])
    assert options().ranks[0] == 2


def test_a_first_look_has_a_bit_of_everything() -> None:
    quick = options(quick=True)
    assert quick.operations == ["barrier", "bcast", "allreduce", "allgather", "alltoall"]
    assert (quick.overlap, quick.one_sided, quick.syncs) == (["allreduce"], ["put", "get"], ["flush"])
    assert quick.repetitions == 3
    total_s = sum(
        case.seconds
        for case in prepare_collectives(request(parse_options(CollectivesOptions, quick=True)), GROUND).cases
    )
    assert 3 * total_s < 10


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"ranks": "1"}, "--ranks 1: 1 is too few; at least 2"),
        ({"ranks": "0"}, "--ranks"),
        ({"operations": "allreduce,alreduce"}, "did you mean"),
        ({"operations": "bcast,bcast"}, "repeated"),
        ({"sizes": "0"}, "--sizes"),
        ({"sizes": "2T"}, "sizes"),
        ({"time": "0"}, "--time"),
    ],
)
def test_bad_words_are_refused(words: dict[str, str], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        parse_options(CollectivesOptions, **words)  # type: ignore[arg-type]


def test_operations_have_the_sizes_they_can() -> None:
    sizes = [1, 8, 6, 1 << 20, 1 << 26]
    assert sizes_of("barrier", 4, sizes, 1 << 26, None) == [0]
    assert sizes_of("allreduce", 4, sizes, 1 << 26, None) == [8, 1 << 20, 1 << 26]
    assert sizes_of("bcast", 4, sizes, 1 << 26, None) == sizes
    assert sizes_of("alltoall", 4, sizes, 1 << 26, None) == [1, 8, 6, 1 << 20]
    assert sizes_of("alltoall", 4, sizes, 1 << 28, None) == sizes
    assert spread_out([1, 2, 3, 4, 5], 3) == [1, 3, 5]
    assert spread_out([1, 2], 3) == [1, 2]
    assert spread_out([1, 2, 3], 1) == [1]


def test_an_int_counts_the_blocks_of_all_ranks_together_but_in_alltoall() -> None:
    sizes, most, room = [4, 1 << 29, 1 << 30, 1 << 31, 1 << 33], 2**31 - 1, 1 << 40
    assert sizes_of("gather", 2, sizes, room, most) == [4, 1 << 29]
    assert sizes_of("alltoall", 2, sizes, room, most) == [4, 1 << 29, 1 << 30]
    assert sizes_of("bcast", 2, sizes, room, most) == [4, 1 << 29, 1 << 30]
    assert sizes_of("allreduce", 2, sizes, room, most) == [4, 1 << 29, 1 << 30, 1 << 31]
    assert sizes_of("gather", 2, sizes, room, None) == sizes


@pytest.mark.parametrize(("large_counts", "kept"), [(False, {64}), (True, {64, 1 << 30})])
def test_what_this_mpi_cannot_count_is_left_out_by_plan_already(large_counts: bool, kept: set[int]) -> None:
    here = engine_of_an_mpi(large_counts=large_counts)
    words = {"ranks": "2", "operations": "gather", "sizes": "64,1G", "room": "8G"}
    prepared = prepare_collectives(request(parse_options(CollectivesOptions, **words)), here)
    workloads = (case.case.workload for case in prepared.cases)
    assert {one.parameters["message_bytes"] for one in workloads if one.name == "collective"} == kept
    said = [note.text for note in prepared.notes if note.code == "sizes-left-out"]
    assert ["at most 2147483647 elements" in text for text in said] == [True] * (not large_counts)


def test_sizes_that_leave_no_case_are_refused() -> None:
    words = {"ranks": "2", "operations": "gather", "sizes": "2G"}
    with pytest.raises(UserError, match="left out: 2G of gather") as refused:
        prepare_collectives(request(parse_options(CollectivesOptions, **words)), GROUND)
    assert (refused.value.where, refused.value.code) == ("--sizes", 2)


def test_sizes_that_are_left_out_are_named() -> None:
    prepared = prepare_collectives(
        request(parse_options(CollectivesOptions, ranks="2", operations="allreduce,bcast", sizes="6,8")), GROUND
    )
    left_out = next(note for note in prepared.notes if note.code == "sizes-left-out")
    assert "6 of allreduce" in left_out.text
    assert "bcast" not in left_out.text


def test_any_size_is_measured_for_which_ranks_are_given_room() -> None:
    words = {"ranks": "2", "operations": "allreduce,alltoall", "sizes": "4G", "room": "8G"}
    assert [case["message_bytes"] for case in given("collective", **words)] == [4 << 30, 4 << 30]
    usual = prepare_collectives(
        request(parse_options(CollectivesOptions, ranks="2", operations="allreduce,barrier", sizes="128M")), GROUND
    )
    assert any("128M of allreduce" in note.text and "--room" in note.advice for note in usual.notes)


def test_every_case_is_one_that_the_engine_takes() -> None:
    words = {"ranks": "2", "operations": "barrier,alltoall", "sizes": "8,64", "nonblocking": True, "one_sided": True}
    cases = given("collective", **words)
    blocking = [case for case in cases if "mode" not in case]
    overlap = [case for case in cases if case.get("mode") == "overlap"]
    # What equals the engine's default does not stand in a plan.
    assert [case.get("message_bytes", 8) for case in blocking] == [0, 8, 64]
    assert [case.get("tests", 0) for case in overlap] == [0, 8] * 3
    assert len(cases) == len(blocking) + len(overlap)
    # Three operations, two sizes, three ways of ending one, and one bandwidth.
    assert len(given("one-sided", **words)) == 3 * 2 * 4


def test_ranks_of_one_count_share_a_launch(tmp_path: Path) -> None:
    prepared = prepare_collectives(
        request(parse_options(CollectivesOptions, ranks="2,3", operations="bcast", sizes="8")), GROUND
    )
    plans = prepared.plans(ResultFolder(tmp_path))
    assert [plan.layout.ranks for plan in plans] == [2, 3]
    assert {case.case.target for case in prepared.cases} == {"mpi"}


def test_an_engine_without_the_workload_is_refused() -> None:
    with pytest.raises(UserError, match="collective"):
        prepare_collectives(
            request(parse_options(CollectivesOptions, ranks="2")), EngineContext(Path("/engine"), DESCRIBE)
        )


def test_ranks_that_share_cores_are_known_before() -> None:
    (note,) = crowded([Layout(ranks=2), Layout(ranks=8)], 4)
    assert note.text.startswith("8 ranks share 4 cores")
    assert crowded([Layout(ranks=8, nodes=4, ranks_per_node=2)], 4) == []
    assert crowded([Layout(ranks=8)], None) == []


def test_planner_gives_the_same_ids_again() -> None:
    layouts = [Layout(ranks=2)]
    ids = [
        [case.case.id for case in Planner(options(ranks="2", quick=True), layouts, GROUND.description).cases()]
        for _ in range(2)
    ]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == len(ids[0])
