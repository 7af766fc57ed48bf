# SPDX-License-Identifier: Apache-2.0
"""The official parameters of every phase, datasets that fit together, and plans that say the rest."""

from pathlib import Path

import pytest

from support.data import some
from support.simulated_io500 import DESCRIBE
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.model.request import Request
from ullage.runs.execution import LaunchSpec
from ullage.suites.io500.config import parse_config
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.phases import phases_of
from ullage.suites.io500.planning import (
    Step,
    dataset_amounts,
    make_layout,
    make_plan,
    make_steps,
    phase_of_case,
    wear_out_limit_s,
)

TARGET = Target(name="t", uri="posix:/t")
SIZES = Sizes(block_bytes=64 << 20, segments=1000, easy_items=5000, hard_items=3000, workbench_objects=70)


def options(text: str = "", **more: object) -> Io500Options:
    return Io500Options.model_validate({"ranks": 4, "mode": "extended", "config": parse_config(text), **more})


def steps(text: str = "", **more: object) -> dict[str, Step]:
    asked = options(text, **more)
    found = make_steps(asked, TARGET, SIZES, make_layout(asked, 8), DESCRIBE, wear_out_limit_s(asked, 1))
    return {step.phase.name: step for step in found}


def parameters(name: str, text: str = "", **more: object) -> dict[str, object]:
    return dict(steps(text, **more)[name].case.workload.parameters)


WALL = {"stonewall_s": 300.0, "wear_out": True, "wear_out_limit_s": 300.0}
EASY = {"transfer_bytes": 2 << 20, "block_bytes": 64 << 20, "file_mode": "per-process"}
HARD = {"transfer_bytes": 47008, "block_bytes": 47008, "segments": 1000}
OF_OTHERS = {"read_back": "other-node", "verify": "full"}
SMALL = {"items": 3000, "write_bytes": 3901, "read_bytes": 3901, "stride": 1}
OWN_DIRECTORY = {"items": 5000, "unique_directory": True, "leaf_only": True, "stride": 1}
PHASES = {
    "ior-easy-write": {"phases": ["write"], **EASY, **WALL},
    "mdtest-easy-write": {"phases": ["tree-create", "create"], **OWN_DIRECTORY, "sync": "filesystem", **WALL},
    "timestamp": {"phases": ["timestamp"]},
    "ior-hard-write": {"phases": ["write"], **HARD, **WALL},
    "mdtest-hard-write": {"phases": ["tree-create", "create"], **SMALL, "sync": "filesystem", **WALL},
    "find": {"phases": ["find"], "name": "*01*", "newer": True, "size": "3901c"},
    "ior-easy-read": {"phases": ["read"], **EASY, **OF_OTHERS},
    "mdtest-easy-stat": {"phases": ["stat"], **OWN_DIRECTORY},
    "ior-hard-read": {"phases": ["read"], **HARD, **OF_OTHERS},
    "mdtest-hard-stat": {"phases": ["stat"], **SMALL},
    "mdtest-easy-delete": {"phases": ["unlink", "tree-remove"], **OWN_DIRECTORY},
    "mdtest-hard-read": {"phases": ["read"], **SMALL},
    "mdtest-hard-delete": {"phases": ["unlink", "tree-remove"], **SMALL},
    "ior-rnd4K-easy-read": {"operations": 10_000_000, "read_back": "other-node", "read_shift": 2, **WALL},
    "mdworkbench-create": {"phases": ["precreate"], "objects": 70},
    "mdworkbench-bench": {"phases": ["bench"], "objects": 70, "rounds": 70, "stride": 1},
    "mdworkbench-delete": {"phases": ["cleanup"], "objects": 70},
    "find-easy": {"phases": ["find"], "within": "mdtest-easy", "name": "*01*"},
    "find-hard": {"phases": ["find"], "within": "mdtest-hard", "name": "*01*", "newer": True, "size": "3901c"},
}


@pytest.mark.parametrize("name", PHASES)
def test_official_parameters(name: str) -> None:
    assert parameters(name) == PHASES[name]


def test_phases_stand_in_official_order_and_are_known_again() -> None:
    found = steps()
    assert list(found) == [phase.name for phase in phases_of("extended")]
    for step in found.values():
        assert phase_of_case(step.case, phases_of("extended")) == step.phase
    assert len({step.case.id for step in found.values()}) == len(found)


def test_the_workbench_runs_twice_and_the_second_counts() -> None:
    asked = options("[mdworkbench]\nprecreatePerSet = 9\nfilesPerProc = 4\nwaitingTime = 0.5\n")
    found = make_steps(asked, TARGET, SIZES, make_layout(asked, 8), DESCRIBE, 1.0)
    first, second = [step for step in found if step.phase.name == "mdworkbench-bench"]
    assert (first.is_first, second.is_first) == (True, False)
    assert phase_of_case(first.case, phases_of("extended")) is None
    assert phase_of_case(second.case, phases_of("extended")) == second.phase
    assert first.case.id != second.case.id
    assert (second.case.workload.parameters["rounds"], second.case.workload.parameters["waiting_factor"]) == (4, 0.5)


def test_all_cases_of_a_dataset_describe_the_same_layout() -> None:
    sizes = "transfer_bytes block_bytes segments items items_per_directory write_bytes objects object_bytes"
    layout = [*sizes.split(), "file_mode", "directory_per_process", "unique_directory", "leaf_only"]
    by_dataset: dict[str, set[str]] = {}
    for step in steps("[ior-easy]\nuniqueDir = TRUE\n[mdtest-hard]\nfiles-per-dir = 100\n").values():
        if step.phase.workload in ("transfer", "metadata", "mixed-metadata"):
            seen = {key: step.case.workload.parameters.get(key) for key in layout}
            by_dataset.setdefault(step.case.dataset, set()).add(str(seen))
    assert {name: len(seen) for name, seen in by_dataset.items()} == dict.fromkeys(by_dataset, 1)
    assert set(by_dataset) == {"ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard", "mdworkbench"}


def test_a_directory_has_no_more_files_than_the_file_says() -> None:
    """mdtest fills one directory of ``-I`` items after the other; the last may have fewer."""
    made = parameters("mdtest-hard-write", "[mdtest-hard]\nfiles-per-dir = 700\n")
    assert (made["items"], made["items_per_directory"], made["depth"], made["branching"]) == (3000, 700, 1, 5)
    assert made["leaf_only"] is True


def test_the_file_changes_what_it_may() -> None:
    text = (
        "[ior-easy]\ntransferSize = 1m\nfilePerProc = FALSE\n[ior-hard]\nAPI = MPIIO\ncollective = TRUE\n"
        "[ior-easy-read]\nAPI = POSIX --posix.odirect\n"
    )
    found = steps(text, hints={"": {"cb_nodes": "2"}, "ior-hard-read": {"cb_nodes": "3"}})
    assert found["ior-easy-write"].case.workload.parameters["transfer_bytes"] == 1 << 20
    assert "file_mode" not in found["ior-easy-write"].case.workload.parameters
    assert found["ior-rnd4K-easy-read"].case.workload.parameters.get("read_shift") is None
    assert found["ior-easy-read"].case.backend.parameters == {"direct": True}
    assert found["ior-hard-write"].case.backend.name == "mpiio"
    assert found["ior-hard-write"].case.backend.parameters == {"collective": True, "hints": {"cb_nodes": "2"}}
    assert found["ior-hard-read"].case.backend.parameters["hints"] == {"cb_nodes": "3"}


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        ("[ior-hard]\nAPI = POSIX --posix.odirect\n", {}, r"O_DIRECT cannot move 47,008 bytes"),
        ("[ior-hard]\ncollective = TRUE\n", {}, "collective operations need API = MPIIO"),
        ("", {"hints": {"ior-hard-write": {"a": "1"}}}, "MPI hints need API = MPIIO"),
        ("", {"nodes": 5}, "4 ranks cannot use 5 nodes"),
        ("", {"nodes": 2, "ranks_per_node": 1}, "4 ranks do not fit on 2 nodes"),
        ("", {"time_s": 1000}, r"the 5 phases that write until the wall alone take 25m00s"),
    ],
)
def test_what_does_not_fit_together_is_refused(text: str, more: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        steps(text, **more)


def test_verification_and_caches_are_the_users_choice() -> None:
    assert parameters("ior-easy-read", verify="none", cache="none")["cache"] == "none"
    assert parameters("mdtest-hard-read", verify="none")["verify"] == "none"
    assert parameters("mdtest-hard-read", cache="drop")["cache"] == "drop"
    assert "cache" not in parameters("mdtest-hard-write", cache="drop")


def test_skipped_phases_are_not_planned() -> None:
    found = steps("[mdtest-easy]\nrun = FALSE\n", mode="standard")
    assert not any(name.startswith("mdtest-easy") for name in some(found))


def test_layouts_fill_their_nodes() -> None:
    assert make_layout(options(nodes=2), 8).ranks_per_node == 2
    assert make_layout(options(ranks_per_node=3), 8).nodes == 2
    alone = make_layout(options(), 2)
    assert (alone.nodes, alone.ranks_per_node, alone.binding) == (None, None, "none")
    assert make_layout(options(), 4).binding == "core"


def test_what_a_phase_takes() -> None:
    found = steps()
    assert dataset_amounts(found["ior-easy-write"], 4)[0] == 4 * (64 << 20)
    assert dataset_amounts(found["ior-hard-write"], 4)[0] == 4 * 1000 * 47008
    assert dataset_amounts(found["mdtest-easy-write"], 4) == (0, 20000)
    assert dataset_amounts(found["mdtest-hard-write"], 4)[0] == 4 * 3000 * 3901
    assert dataset_amounts(found["mdworkbench-create"], 4)[1] == 4 * 10 * 70
    assert (dataset_amounts(found["ior-easy-write"], 4)[1], dataset_amounts(found["ior-hard-write"], 4)[1]) == (4, 1)


def test_a_plan_is_one_round() -> None:
    asked = options(resumable=True, keep=True, repeat=2, space=1 << 40)
    request = Request(run_id="r", suite="io500", created="now", targets=[TARGET])
    found = list(steps().values())
    first, last = (
        make_plan(
            request, asked, found, make_layout(asked, 8), LaunchSpec(number, str(Path("/r")), 50.0, continues=True)
        )
        for number in range(2)
    )
    assert (first.keep, last.keep, first.keep_when_interrupted) == (False, True, True)
    assert (first.continues, first.order, first.time_budget_s) == (True, "listed", 50.0)
    assert (first.seed, last.seed, first.limits.space_bytes) == (1, 2, 1 << 40)
    assert [case.dataset for case in first.cases] == [step.phase.dataset for step in found]
    assert first.watchdog_s == 120.0
