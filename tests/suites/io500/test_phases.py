# SPDX-License-Identifier: Apache-2.0
"""The table against the list of the rules: order, kinds, and the datasets that phases hand on."""

import pytest

from ullage.suites.io500.phases import BY_NAME, PHASES, find_phase, phases_of, scored_phases

STANDARD = [
    "ior-easy-write",
    "mdtest-easy-write",
    "timestamp",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
    "ior-rnd4K-easy-read",
]
EXTENDED = [
    "ior-easy-write",
    "mdtest-easy-write",
    "mdworkbench-create",
    "timestamp",
    "find-easy",
    "ior-hard-write",
    "mdtest-hard-write",
    "find",
    "find-hard",
    "mdworkbench-bench",
    "ior-easy-read",
    "mdtest-easy-stat",
    "ior-hard-read",
    "mdtest-hard-stat",
    "mdworkbench-delete",
    "mdtest-easy-delete",
    "mdtest-hard-read",
    "mdtest-hard-delete",
    "ior-rnd4K-easy-read",
]


def test_the_phases_stand_in_official_order() -> None:
    assert [phase.name for phase in phases_of("standard")] == STANDARD
    assert [phase.name for phase in phases_of("extended")] == EXTENDED


def test_four_phases_of_bandwidth_and_eight_or_eleven_of_metadata_are_scored() -> None:
    for mode, metadata in (("standard", 8), ("extended", 11)):
        kinds = [phase.kind for phase in scored_phases(mode)]  # type: ignore[arg-type]
        assert (kinds.count("BW"), kinds.count("MD"), len(kinds)) == (4, metadata, 4 + metadata)


def test_only_the_four_writes_need_a_minimum_time() -> None:
    assert [phase.name for phase in PHASES if phase.needs_minimum_time] == [
        "ior-easy-write",
        "mdtest-easy-write",
        "ior-hard-write",
        "mdtest-hard-write",
    ]


def test_the_scored_phase_is_one_of_the_case_and_the_pilot_counts_nowhere() -> None:
    for phase in PHASES:
        assert not phase.scored_phase or phase.scored_phase in phase.engine_phases
        assert not phase.scored or phase.scored_phase
    (pilot,) = [phase for phase in PHASES if phase.pilot]
    assert (pilot.name, pilot.kind, pilot.unit) == ("ior-rnd4K-easy-read", "none", "GiB/s")


def test_a_dataset_is_made_by_a_phase_before_those_that_use_it() -> None:
    made: set[str] = set()
    for phase in PHASES:
        if phase.engine_phases[0] in {"write", "tree-create", "precreate", "timestamp"}:
            made.add(phase.dataset)
        assert not phase.dataset or phase.dataset in made, phase.name
    assert made == {"ior-easy", "ior-hard", "mdtest-easy", "mdtest-hard", "timestamp", "mdworkbench"}


def test_no_phase_uses_a_dataset_that_another_has_removed() -> None:
    gone: set[str] = set()
    for phase in PHASES:
        assert not phase.dataset or phase.dataset not in gone, phase.name
        if phase.engine_phases[-1] in {"tree-remove", "cleanup"}:
            gone.add(phase.dataset)
    assert gone == {"mdtest-easy", "mdtest-hard", "mdworkbench"}


@pytest.mark.parametrize(("name", "unit", "si"), [("ior-hard-read", "GiB/s", "B/s"), ("find", "kIOPS", "op/s")])
def test_units(name: str, unit: str, si: str) -> None:
    phase = BY_NAME[name]
    assert (phase.unit, phase.si_unit) == (unit, si)
    assert phase.factor == (2**30 if unit == "GiB/s" else 1000)


def test_phases_are_found_by_their_first_names_too() -> None:
    assert find_phase("mdtest_hard_delete") is BY_NAME["mdtest-hard-delete"]
    assert find_phase("ior-rnd4K-easy-read") is BY_NAME["ior-rnd4K-easy-read"]
    assert find_phase("ior-easy") is None
