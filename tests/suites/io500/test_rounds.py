# SPDX-License-Identifier: Apache-2.0
"""What is left of a round, from what is done and what is there."""

import pytest

from suites.io500.conftest import World
from ullage.suites.io500.phases import phases_of
from ullage.suites.io500.planning import Step
from ullage.suites.io500.rounds import rest_of

STANDARD = [phase.name for phase in phases_of("standard")]
ALL = {"ior-easy", "mdtest-easy", "timestamp", "ior-hard", "mdtest-hard"}


@pytest.fixture
def steps(world: World) -> list[Step]:
    prepared = world.prepare()
    return prepared.steps(prepared.request.targets[0])


def rest(steps: list[Step], done: int, there: set[str]) -> tuple[list[str], list[str]]:
    found = rest_of(steps, set(STANDARD[:done]), there)
    return [step.phase.name for step in found.steps], found.again


def test_nothing_done_is_everything_left(steps: list[Step]) -> None:
    assert rest(steps, 0, set()) == (STANDARD, [])


def test_everything_done_is_nothing_left(steps: list[Step]) -> None:
    assert rest(steps, len(STANDARD), set()) == ([], [])


@pytest.mark.parametrize("done", range(1, 10))
def test_with_all_data_there_only_the_rest_is_run(steps: list[Step], done: int) -> None:
    assert rest(steps, done, ALL) == (STANDARD[done:], [])


def test_a_removal_that_was_cut_short_needs_its_files_again(steps: list[Step]) -> None:
    left, again = rest(steps, 10, ALL - {"mdtest-easy"})
    assert again == ["mdtest-easy-write"]
    assert left == ["mdtest-easy-write", *STANDARD[10:]]


def test_files_to_find_must_be_newer_than_the_timestamp(steps: list[Step]) -> None:
    left, again = rest(steps, 5, ALL - {"timestamp"})
    assert again == ["timestamp", "mdtest-hard-write"]
    assert left[:3] == ["timestamp", "mdtest-hard-write", "find"]


def test_only_what_later_phases_need_is_made_again(steps: list[Step]) -> None:
    left, again = rest(steps, len(STANDARD) - 1, set())
    assert again == ["ior-easy-write"]
    assert left == ["ior-easy-write", "ior-rnd4K-easy-read"]
