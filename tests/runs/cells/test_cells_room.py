# SPDX-License-Identifier: Apache-2.0
"""Room at the targets, and targets that are none."""

from pathlib import Path

import pytest

from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.model.plan import Limits, Target
from ullage.model.system import Memory, Place
from ullage.runs.cells.volume import check_room, most_to_choose, needed_bytes
from ullage.runs.room import NO_LIMIT, check_places, most_bytes, room_at
from ullage.suites.sweep.cells import SweepOptions, make_cells

GIB = 1 << 30
MEMORY = Memory(available_bytes=8 * GIB)


def place(free: int | None, *, memory: bool = False) -> Place:
    return Place(target="a", path="/a", exists=True, free_bytes=free, is_memory=memory)


@pytest.mark.parametrize(
    ("found", "limits", "expected"),
    [
        (place(100 * GIB), Limits(), 50 * GIB),
        (place(3 * GIB // 2), Limits(), GIB // 2),
        (place(GIB // 2), Limits(), 0),
        (place(100 * GIB), Limits(space_bytes=GIB), GIB),
        (place(100 * GIB, memory=True), Limits(), 4 * GIB),
        (place(None), Limits(), NO_LIMIT),
    ],
)
def test_what_may_be_taken(found: Place, limits: Limits, expected: int) -> None:
    assert most_bytes(found, limits, MEMORY) == expected


def test_of_memory_we_choose_a_quarter_at_most() -> None:
    assert most_to_choose([place(100 * GIB, memory=True), place(100 * GIB)], Limits(), MEMORY) == 2 * GIB
    assert most_to_choose([], Limits(), MEMORY) == NO_LIMIT


def test_the_largest_case_counts_and_with_keep_all_of_a_launch() -> None:
    options = SweepOptions(ranks=[1, 2], blocks=[1 << 20, 2 << 20], access=["write"])
    cells = make_cells(options, [Target(name="a", uri="posix:/a")], DESCRIBE, GIB, 4)
    assert needed_bytes(cells, "a", keep=False) == GIB
    assert needed_bytes(cells, "a", keep=True) == 2 * GIB
    assert needed_bytes(cells, "b", keep=True) == 0
    kept = options.model_copy(update={"keep": True})
    check_room(cells, [place(4 * GIB)], Limits(), MEMORY, kept)
    with pytest.raises(
        UserError, match=r"target 'a' \(/a\): needs 2.00 GiB, but only 1.95 GiB of 3.90 GiB free"
    ) as caught:
        check_room(cells, [place(int(3.9 * GIB))], Limits(), MEMORY, kept)
    assert caught.value.code == 3
    assert caught.value.right == "a smaller --volume fits"
    for free in (0, 2 << 20):
        with pytest.raises(UserError, match=r"not even a smaller --volume fits: give more --space, or another target"):
            check_room(cells, [place(free)], Limits(), MEMORY, kept)


def test_targets_that_are_none(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path, exists, what in ((tmp_path / "gone", False, "does not exist"), (file, True, "is not a folder")):
        with pytest.raises(UserError, match=what) as caught:
            check_places([Place(target="x", path=str(path), exists=exists)])
        assert caught.value.code == 3
    check_places([Place(target="x", path=str(tmp_path), exists=True)])


def test_file_systems_of_nodes_are_judged_node_by_node() -> None:
    local, shared = (place(4 * GIB).model_copy(update={"is_remote": far, "free_inodes": 100}) for far in (False, True))
    assert most_bytes(local, Limits(), MEMORY, 4) == 4 * most_bytes(local, Limits(), MEMORY)
    assert most_bytes(shared, Limits(), MEMORY, 4) == most_bytes(shared, Limits(), MEMORY)
    assert room_at(local, Limits(), MEMORY, 4).files == int(0.9 * 4 * 50)
    assert room_at(shared, Limits(), MEMORY, 4).files == int(0.9 * 50)


def test_a_volume_that_we_choose_counts_the_disk_of_every_node() -> None:
    local = place(100 * GIB).model_copy(update={"is_remote": False})
    shared = local.model_copy(update={"is_remote": True})
    assert [most_to_choose([local], Limits(), MEMORY, nodes) for nodes in (1, 4, None)] == [
        *(50 * GIB, 200 * GIB, 50 * GIB)
    ]
    assert most_to_choose([local, shared], Limits(), MEMORY, 4) == 50 * GIB
    memory = place(100 * GIB, memory=True).model_copy(update={"is_remote": False})
    assert most_to_choose([memory], Limits(), MEMORY, 4) == 8 * GIB
