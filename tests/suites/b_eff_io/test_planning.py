# SPDX-License-Identifier: Apache-2.0
"""From a request to plans: launches in their order, cases with their parameters, refusals, the explanation."""

from pathlib import Path

import pytest

from suites.b_eff_io.conftest import GROUND, IoWorld
from support.simulated_b_eff_io import DESCRIBE
from ullage.errors import UserError
from ullage.launch.base import fewest_nodes
from ullage.model.plan import Case, Plan
from ullage.model.system import Memory, Place
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.room import Machine
from ullage.runs.suite import Quick, Summarising, find_suite
from ullage.suites.b_eff_io.cases import layouts_of, needed_files
from ullage.suites.b_eff_io.options import BEffIoOptions
from ullage.suites.b_eff_io.patterns import MIB, TYPES
from ullage.suites.b_eff_io.planning import with_memory, with_room
from ullage.suites.b_eff_io.prepare import PreparedBEffIo, prepare_b_eff_io


def plans(prepared: PreparedBEffIo) -> list[Plan]:
    return prepared.plans(ResultFolder(Path("/result")))


def words(case: Case) -> dict[str, object]:
    (workload,) = DESCRIBE.workloads
    defaults = {parameter.name: parameter.default for parameter in workload.parameters}
    return {**defaults, **case.workload.parameters}


def test_the_suite_is_found_and_has_a_quick_form(io_world: IoWorld) -> None:
    suite = find_suite("b_eff_io")
    assert suite.doc.startswith("How fast do all processes together use MPI-IO")
    assert isinstance(suite, Quick)
    assert isinstance(suite, Summarising)
    request = io_world.request()
    asked = suite.quick(request.targets)
    assert asked is not None
    quick = request.model_copy(update={"options": asked.options})
    assert len(suite.prepare(quick, GROUND).plans(ResultFolder(Path("/result")))) == 3


def test_everything_is_written_before_anything_is_read_again(io_world: IoWorld) -> None:
    found = plans(io_world.prepare(ranks=4, partitions="1,2,4"))
    assert [plan.layout.ranks for plan in found] == [1, 2, 4] * 3
    assert [words(plan.cases[0])["access"] for plan in found] == ["write"] * 3 + ["rewrite"] * 3 + ["read"] * 3
    assert [[words(case)["type"] for case in plan.cases] for plan in found[2::3]] == [
        list(TYPES), ["scatter"], list(TYPES)
    ]  # fmt: skip
    assert [plan.continues for plan in found] == [False] + [True] * 8
    assert [plan.keep for plan in found] == [True] * 8 + [False]
    assert {plan.order for plan in found} == {"listed"}
    assert {plan.stop_rule.parameters["count"] for plan in found} == {1}
    assert {plan.seed for plan in found} == {1}
    assert [Path(plan.records).name for plan in found] == [f"{n:03}.ndjson" for n in range(1, 10)]
    assert {case.backend.name for plan in found for case in plan.cases} == {"mpiio"}


def test_datasets_are_named_by_hints_partition_and_type(io_world: IoWorld, tmp_path: Path) -> None:
    (tmp_path / "h.txt").write_text("2 write shared 1024 cb_nodes 1\n")
    found = plans(io_world.prepare(ranks=2, partitions="1,2", hints=["default", str(tmp_path / "h.txt")]))
    assert [case.dataset for case in found[1].cases] == [f"h{number}-n2-{kind}" for number in (0, 1) for kind in TYPES]
    assert [words(case)["counts_of"] for case in found[1].cases[3:5]] == ["h0-n2", "h0-n2"]
    assert [words(case)["counts_of"] for case in found[1].cases[8:]] == ["h1-n2", "h1-n2"]
    given = {case.dataset: words(case)["hints"] for plan in found[:2] for case in plan.cases}
    assert given.pop("h1-n2-shared") == {"1024/cb_nodes": "1"}
    assert all(hints == {} for hints in given.values())
    reads = [case for plan in found[4:] for case in plan.cases]
    assert all(words(case)["counts_of"] == "" and "most_bytes" not in case.workload.parameters for case in reads)


def test_a_case_says_all_that_was_asked_for(io_world: IoWorld) -> None:
    asked = io_world.prepare(
        time="61s", lmax="4M", rule="1.0", overtime=1.5, no_shared=True, no_unique=True, cache="advise", verify="none",
        rewrite=True, space="10G",
    )  # fmt: skip
    write, rewrite, read = ([words(case) for case in plan.cases] for plan in plans(asked))
    assert len(rewrite) == 5
    assert [case["cache"] for case in (write[0], rewrite[0], read[0])] == ["none", "none", "advise"]
    for case in (*write, *rewrite, *read):
        assert case["unit_s"] == pytest.approx(61 / 192)
        assert (case["lmax_bytes"], case["rule"], case["overtime"]) == (4 * MIB, "elapsed", 1.5)
        assert (case["shared_pointer"], case["unique_open"], case["verify"]) == (False, False, "none")
    most = [case["most_bytes"] for case in write]
    assert most[2] == most[3] == most[4]
    assert 0 < sum(int(str(size)) for size in most) < 0.9 * (10 << 30)
    assert plans(asked)[0].limits.space_bytes == 10 << 30


def test_rounds_have_seeds_of_their_own_and_leave_nothing(io_world: IoWorld) -> None:
    found = plans(io_world.prepare(repetitions=2))
    assert [plan.seed for plan in found] == [1, 1, 1, 2, 2, 2]
    assert [plan.continues for plan in found] == [False, True, True] * 2
    assert [plan.keep for plan in found] == [True, True, False] * 2
    assert all(plan.keep for plan in plans(io_world.prepare(keep=True)))
    assert all(plan.keep_when_interrupted for plan in plans(io_world.prepare(resumable=True)))
    assert not any(plan.keep_when_interrupted for plan in found)


def test_without_files_all_accesses_are_in_one_launch_and_nothing_is_verified(io_world: IoWorld) -> None:
    found = plans(io_world.prepare(target=["n=null:"], partitions="1,2"))
    assert [plan.layout.ranks for plan in found] == [1, 2]
    assert [words(case)["access"] for case in found[0].cases] == ["write"] * 5 + ["rewrite"] + ["read"] * 5
    assert {words(case)["verify"] for case in found[0].cases} == {"none"}
    assert {case.backend.name for case in found[0].cases} == {"null"}


def test_partitions_fill_nodes_as_the_whole_run_does() -> None:
    options = BEffIoOptions(ranks=8, partitions=[1, 3, 8], ranks_per_node=4)
    found = layouts_of(options, 4)
    assert {ranks: (layout.nodes, layout.ranks_per_node) for ranks, layout in found.items()} == {
        1: (1, 1), 3: (1, 3), 8: (2, 4)
    }  # fmt: skip
    assert [layout.binding for layout in found.values()] == ["core"] * 3
    spread = layouts_of(BEffIoOptions(ranks=6, partitions=[2, 6], nodes=4), None)
    assert (spread[6].nodes, spread[2].nodes, spread[2].ranks_per_node) == (4, 1, 2)


def test_memory_decides_the_largest_chunk_and_what_volumes_are_held_against(io_world: IoWorld) -> None:
    found = io_world.prepare(ranks=4, partitions="4").options
    assert (found.memory, found.lmax, found.memory_total) == (16 << 30, 128 * MIB, 64 << 30)
    found = io_world.prepare(ranks=4, partitions="4", memory="1G").options
    assert (found.memory, found.lmax, found.memory_total) == (1 << 30, 8 * MIB, 4 << 30)
    found = io_world.prepare(lmax="2M", memory_total="5G").options
    assert (found.memory, found.lmax, found.memory_total) == (None, 2 * MIB, 5 << 30)
    assert found.is_lmax_given


def test_where_the_memory_is_not_known_it_must_be_said() -> None:
    options = BEffIoOptions(ranks=2, partitions=[2])
    layouts = layouts_of(options, 2)
    with pytest.raises(UserError, match="give --memory or --lmax"):
        with_memory(options, layouts, None)
    assert with_memory(options.model_copy(update={"lmax": 2 * MIB}), layouts, None).memory_total is None


def test_what_was_found_is_kept_so_that_a_resumed_run_makes_the_same_cases(
    io_world: IoWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = io_world.prepare()
    assert set(first.options.room) == {"t"}
    assert first.request.options["lmax"] == first.options.lmax
    monkeypatch.setattr("ullage.system.hardware.read_memory", lambda: Memory(total_bytes=1 << 30))
    again = prepare_b_eff_io(first.request, EngineContext(Path("/engine"), DESCRIBE))
    assert again.options == first.options
    assert [case.id for plan in plans(again) for case in plan.cases] == [
        case.id for plan in plans(first) for case in plan.cases
    ]


def test_refusals(io_world: IoWorld) -> None:
    with pytest.raises(
        UserError, match=r"target 't' .*: needs .* but only 45.0 MiB may be used; a smaller --lmax, fewer"
    ) as room:
        io_world.prepare(space="50M", lmax="2M")
    assert room.value.code == 3
    with pytest.raises(UserError, match=r"does not exist"):
        io_world.prepare(target=["t=/no/such/folder"])
    engine_context = EngineContext(Path("/engine"), DESCRIBE.model_copy(update={"workloads": []}))
    with pytest.raises(UserError, match="unknown workload 'b-eff-io'"):
        prepare_b_eff_io(io_world.request(), engine_context)
    old = [
        backend.model_copy(update={"capabilities": [word for word in backend.capabilities if word != "views"]})
        for backend in DESCRIBE.backends
    ]
    engine_context = EngineContext(Path("/engine"), DESCRIBE.model_copy(update={"backends": old}))
    with pytest.raises(UserError, match="backend 'mpiio' has no views of files"):
        prepare_b_eff_io(io_world.request(), engine_context)


def test_the_explanation_has_every_case_and_pattern_and_what_will_not_count(io_world: IoWorld) -> None:
    found = io_world.prepare(ranks=8, partitions="2,8", lmax="2M", time="120s").explain()
    cases, patterns = (part for _, part in found.parts)
    assert len(cases.rows) == 2 * 11
    assert [row[0] for row in cases.rows[:6]] == ["1"] * 5 + ["2"]
    assert len(patterns.rows) == 43
    assert patterns.rows[7][2:] == ["1032", "1032K", "2", "800 ms"]
    text = " ".join([*found.head, *found.tail])
    for sentence in (
        "T = 2m00s for each target, set of hints and repetition: 60.0 s for each partition, 400 ms for each unit.",
        "NOT VALID: the scheduled time is 60.0 s for each partition, below 30 min.",
        "NOT VALID: oversubscribed: 8 processes on a node share 4 cores.",
        "A valid result takes --time 1h00m00s.",
        "Scheduled: 2m00s in 6 launches.",
        "1.1 times their schedule at most",
        "Largest chunk: 2M, as given.",
        "Space on t: ",
        "held against 64.0 GiB of memory",
    ):
        assert sentence in text
    valid = io_world.prepare(time="30m").explain()
    assert not any("NOT VALID" in line for line in valid.head)
    odd = io_world.prepare(time="30m", rule="1.0", no_shared=True, verify="none", lmax="1M").explain()
    assert sum("NOT VALID" in line for line in odd.head) == 4


def test_hints_for_a_rewrite_that_is_not_there_are_told(io_world: IoWorld, tmp_path: Path) -> None:
    (tmp_path / "h.txt").write_text("all rewrite shared all k v\nall rewrite scatter all k v\n")
    hints = [str(tmp_path / "h.txt")]
    assert any("1 times what is for a rewrite" in line for line in io_world.prepare(hints=hints).explain().tail)
    assert not any("rewrite that" in line for line in io_world.prepare(hints=hints, rewrite=True).explain().tail)


@pytest.mark.parametrize("is_remote", [True, False])
def test_room_is_judged_node_by_node(io_world: IoWorld, is_remote: bool) -> None:
    """Space and inodes of four disks, where each node has its own; those of the smallest partition count."""
    options = io_world.options(ranks=8, partitions="8", nodes=4, lmax="2M")
    free = Place(
        target="t",
        path="/t",
        exists=True,
        free_bytes=8 << 30,
        free_inodes=1 << 20,
        is_memory=False,
        is_remote=is_remote,
    )
    machine = Machine(2, [free], Memory())
    alone = with_room(options, machine).room["t"]
    assert with_room(options, machine, 4).room["t"] == pytest.approx(alone if is_remote else 4 * alone, abs=4)
    assert fewest_nodes(layouts_of(options, 2).values()) == 4

    few = Machine(2, [free.model_copy(update={"free_inodes": needed_files(options)})], Memory())
    if is_remote:
        with pytest.raises(UserError, match=r"needs 12 files, but only 5 may be made; fewer --partitions") as refused:
            with_room(options, few, 4)
        assert refused.value.code == 3
    else:
        assert with_room(options, few, 4).room["t"] == pytest.approx(4 * alone, abs=4)
