# SPDX-License-Identifier: Apache-2.0
"""Whole runs on simulated storage: order, hangs, failures, resuming, what is left behind, exit codes."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from suites.b_eff_io.conftest import IoWorld
from ullage.cleaning import RunFolder
from ullage.model.plan import Plan
from ullage.suites.b_eff_io.cases import launches_of
from ullage.suites.b_eff_io.measured import CellKey, read_run
from ullage.suites.b_eff_io.patterns import TYPES, Access, PatternType
from ullage.suites.b_eff_io.prepare import rest_of, runnable


def cells(plan: Plan) -> list[str]:
    """As ``write shared``."""
    found = [case.workload.parameters for case in plan.cases]
    return [f"{words.get('access', 'write')} {words.get('type', 'scatter')}" for words in found]


def skipped(plan: Plan, kind: str) -> list[object]:
    return [
        case.workload.parameters.get("skip", [])
        for case in plan.cases
        if case.workload.parameters.get("type", "scatter") == kind
    ]


def all_of(access: str, kinds: Sequence[str] = TYPES) -> list[str]:
    return [f"{access} {kind}" for kind in kinds]


def leftovers(world: IoWorld) -> list[str]:
    return [path.name for path in (world.path / "t").iterdir()]


def test_a_run_is_a_launch_for_each_access_and_partition(io_world: IoWorld) -> None:
    code, session = io_world.run(io_world.prepare(partitions="1,2"))
    assert (code, session.messages, io_world.events()) == (0, [], [])
    assert [cells(plan) for plan in io_world.engine.plans] == [
        *[all_of("write")] * 2, *[["rewrite scatter"]] * 2, *[all_of("read")] * 2
    ]  # fmt: skip
    assert leftovers(io_world) == []
    assert (io_world.result.path / "b_eff_io.sum.txt").is_file()
    assert (io_world.result.path / "b_eff_io.prot.txt").is_file()


def test_what_is_complete_is_left_alone(io_world: IoWorld) -> None:
    io_world.run(io_world.prepare(repetitions=2))
    assert len(io_world.engine.plans) == 6
    assert io_world.resume()[0] == 0
    assert len(io_world.engine.plans) == 6


def test_rounds_and_targets_have_data_of_their_own(io_world: IoWorld) -> None:
    assert io_world.run(io_world.prepare(targets="ab", repetitions=2))[0] == 0
    assert [(plan.seed, plan.targets[0].name) for plan in io_world.engine.plans] == [
        (number, name) for number in (1, 2) for name in "ab" for _ in range(3)
    ]
    assert [plan.continues for plan in io_world.engine.plans] == [False, True, True] * 4


def test_kept_data_of_a_round_is_not_taken_for_that_of_the_next(io_world: IoWorld) -> None:
    assert io_world.run(io_world.prepare(repetitions=2, keep=True))[0] == 0
    assert [plan.continues for plan in io_world.engine.plans] == [False, True, True] * 2
    assert leftovers(io_world) == ["ullage-r1"]


def test_a_pattern_that_hangs_is_left_out_and_everything_else_is_run(io_world: IoWorld) -> None:
    io_world.engine.hangs = {"shared/write/2/pattern-12"}
    code, session = io_world.run(io_world.prepare(partitions="1,2", repetitions=2))
    assert (code, session.messages) == (4, [])
    found = io_world.engine.plans
    assert cells(found[1]) == all_of("write")
    assert cells(found[2]) == all_of("write", TYPES[1:])
    assert (found[2].continues, found[2].keep) == (True, True)
    with_two = [skips for plan in found[2:] if plan.layout.ranks == 2 and (skips := skipped(plan, "shared"))]
    # Written and read in this round and in the next.
    assert with_two == [[["12"]]] * 4
    assert all(skips in ([], [[]]) for plan in found if plan.layout.ranks == 1 for skips in [skipped(plan, "shared")])
    assert all(skips in ([], [[]]) for plan in found for skips in [skipped(plan, "scatter")])
    assert io_world.events() == ["launch-ended", "pattern-timeout"]
    assert any("pattern 12 (32k) made no progress" in line for line in io_world.progress.said)
    assert leftovers(io_world) == []
    assert io_world.resume()[0] == 0
    assert len(io_world.engine.plans) == len(found)


def test_a_pattern_that_hangs_when_it_is_read_is_left_out_of_later_rounds_too(io_world: IoWorld) -> None:
    io_world.engine.hangs = {"seg_coll/read/2/pattern-41"}
    assert io_world.run(io_world.prepare(repetitions=2))[0] == 4
    found = io_world.engine.plans
    assert [cells(plan) for plan in found[2:4]] == [all_of("read"), ["read seg_coll"]]
    assert (found[3].continues, found[3].keep) == (True, False)
    assert [skipped(plan, "seg_coll") for plan in found[3:]] == [[["41"]], [["41"]], [], [["41"]]]


def test_a_type_in_which_two_patterns_hang_is_given_up(io_world: IoWorld) -> None:
    io_world.engine.hangs = {f"shared/write/2/pattern-{number:02}" for number in range(9, 17)}
    code, _ = io_world.run(io_world.prepare(partitions="1,2"))
    assert code == 4
    found = io_world.engine.plans
    assert [cells(plan) for plan in found if plan.layout.ranks == 2] == [
        all_of("write"),
        all_of("write", TYPES[1:]),
        all_of("write", TYPES[2:]),
        ["rewrite scatter"],
        [cell for cell in all_of("read") if cell != "read shared"],
    ]
    assert all_of("read") in [cells(plan) for plan in found if plan.layout.ranks == 1]
    assert io_world.events() == ["launch-ended", "pattern-timeout", "launch-ended", "pattern-timeout", "type-given-up"]
    assert io_world.resume()[0] == 0
    assert len(io_world.engine.plans) == len(found)


def test_a_case_that_fails_leaves_the_others_and_nothing_reads_what_is_not_there(io_world: IoWorld) -> None:
    io_world.engine.fails = {"shared/write/2"}
    code, session = io_world.run(io_world.prepare(rewrite=True))
    assert (code, session.messages) == (4, [])
    rest = [kind for kind in TYPES if kind != "shared"]
    assert [cells(plan) for plan in io_world.engine.plans] == [
        all_of("write"), all_of("rewrite", rest), all_of("read", rest)
    ]  # fmt: skip
    assert leftovers(io_world) == []
    # Whoever resumes has had the chance to cure what failed; all of its data has to be made again for its segments.
    io_world.engine.fails = set()
    assert io_world.resume()[0] == 0
    assert [cells(plan) for plan in io_world.engine.plans[3:]] == [
        ["write shared"],
        ["rewrite shared"],
        ["read shared"],
    ]
    assert [plan.continues for plan in io_world.engine.plans[3:]] == [False, True, True]


def test_when_every_case_of_the_last_launch_is_lost_the_data_goes_all_the_same(io_world: IoWorld) -> None:
    io_world.engine.fails = {f"{kind}/rewrite/2" for kind in TYPES}
    io_world.engine.hangs = {f"{kind}/read/2/pattern-{n:02}" for kind in TYPES for n in range(43)}
    assert io_world.run(io_world.prepare(rewrite=True))[0] == 4
    assert leftovers(io_world) == []
    assert io_world.engine.removed == ["r1"]


@pytest.mark.parametrize("resumable", [True, False])
def test_an_interrupted_run_goes_on_where_it_was(io_world: IoWorld, resumable: bool) -> None:
    io_world.engine.interrupt_at = (4, 2)
    code, session = io_world.run(io_world.prepare(partitions="1,2", resumable=resumable))
    assert code == 5
    assert session.was_stopped
    assert leftovers(io_world) == (["ullage-r1"] if resumable else [])
    io_world.engine.interrupt_at = None
    assert io_world.resume()[0] == 0
    again = [] if resumable else [all_of("write"), all_of("write")]
    # In the fourth launch scatter is rewritten with two processes: it was through.
    assert [cells(plan) for plan in io_world.engine.plans[4:]] == [*again, all_of("read"), all_of("read")]
    assert io_world.engine.plans[4].continues == resumable
    assert any("run again for the data that is gone" in line for line in io_world.progress.said) != resumable
    assert leftovers(io_world) == []
    io_run = read_run(io_world.result, io_world.options(partitions="1,2"))
    assert io_run.attempts(CellKey("t", 0, 2, "write", "shared"))[0].launch == 2


def test_an_interrupted_read_needs_only_its_own_data_again(io_world: IoWorld) -> None:
    io_world.engine.interrupt_at = (3, 3)
    assert io_world.run(io_world.prepare())[0] == 5
    io_world.engine.interrupt_at = None
    assert io_world.resume()[0] == 0
    # Segments take their counts from the other types, so those are needed too.
    assert [cells(plan) for plan in io_world.engine.plans[3:]] == [
        all_of("write"), ["read segmented", "read seg_coll"]
    ]  # fmt: skip


def test_a_launch_that_dies_ends_the_run_and_leaves_no_data(io_world: IoWorld) -> None:
    io_world.engine.dies_at = 2
    code, session = io_world.run(io_world.prepare())
    assert code == 5
    assert session.messages
    assert io_world.events() == ["launch-ended"]
    assert len(io_world.engine.plans) == 2
    assert leftovers(io_world) == []
    assert io_world.resume()[0] == 0


def test_a_refusal_of_the_engine_is_the_runs(io_world: IoWorld) -> None:
    io_world.engine.refuses_at = 1
    code, session = io_world.run(io_world.prepare())
    assert (code, session.messages) == (3, ["target 't': is full"])


def test_data_that_cannot_be_removed_is_told(io_world: IoWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(engine: Path, folder: RunFolder) -> str:
        del engine
        return f"{folder.run_id} is in use"

    monkeypatch.setattr("ullage.runs.remains.remove", refuse)
    io_world.engine.dies_at = 1
    _, session = io_world.run(io_world.prepare())
    assert session.messages[-1].endswith("ullage-r1: r1 is in use")


def test_more_time_changes_nothing(io_world: IoWorld) -> None:
    assert io_world.run(io_world.prepare(), seconds=7.0)[0] == 0
    assert "--time changes nothing" in io_world.progress.said[0]
    assert len(io_world.engine.plans) == 3


def test_without_files_a_launch_does_everything(io_world: IoWorld) -> None:
    assert io_world.run(io_world.prepare(target=["n=null:"], partitions="1,2"))[0] == 0
    everything = [*all_of("write"), "rewrite scatter", *all_of("read")]
    assert [cells(plan) for plan in io_world.engine.plans] == [everything, everything]


def key(access: Access, kind: PatternType) -> CellKey:
    return CellKey("t", 0, 2, access, kind)


def test_segments_need_any_of_the_counts() -> None:
    found = runnable([key("write", "segmented"), key("read", "scatter")], {"h0-n2-shared"})
    assert found == [key("write", "segmented")]
    assert runnable([key("write", "segmented")], {"h0-n2-seg_coll", "h0-n1-scatter"}) == []
    assert runnable([key("write", "separated"), key("write", "seg_coll")], ()) == [
        key("write", "separated"), key("write", "seg_coll")
    ]  # fmt: skip


def test_what_was_given_up_is_not_made_again(io_world: IoWorld) -> None:
    prepared = io_world.prepare()
    target = prepared.request.targets[0]
    keys = [k for keys in launches_of(prepared.options, target) for k in keys]
    given_up = {k for k in keys if k.type == "shared"}
    done = {k for k in keys if k not in given_up and k != key("read", "seg_coll")}
    wanted, again = rest_of(keys, done, given_up, set())
    assert [k.type for k in again] == ["scatter", "separated", "seg_coll"]
    assert wanted == {*again, key("read", "seg_coll")}
    assert rest_of(keys, done, given_up, {"h0-n2-seg_coll"})[1] == []
