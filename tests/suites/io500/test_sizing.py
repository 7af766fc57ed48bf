# SPDX-License-Identifier: Apache-2.0
"""Sizes that last until the wall, within the space, and what the user gives is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import UserError
from ullage.runs.room import Room
from ullage.suites.io500.config import parse_config
from ullage.suites.io500.options import Io500Options, Sizes
from ullage.suites.io500.planning import HARD_BYTES
from ullage.suites.io500.sizing import FEWEST_ITEMS, SAFETY, SAFETY_OF_FILES, Rates, assumed_rates, choose_sizes

ENDLESS = Room(1 << 60, 1 << 50)
NAMES = ("ior-easy-write", "ior-hard-write", "mdtest-easy-write", "mdtest-hard-write")


def options(text: str = "", **more: object) -> Io500Options:
    return Io500Options.model_validate({"ranks": 4, "config": parse_config(text), **more})


def rates(easy: float = 1e9, hard: float = 1e8, creates: float = 8000, small: float = 4000) -> Rates:
    return Rates(dict(zip(NAMES, (easy, hard, creates, small), strict=True)), "probed")


def taken(sizes: Sizes, ranks: int, room: Room) -> tuple[int, int]:
    bytes_ = ranks * (sizes.block_bytes + sizes.segments * HARD_BYTES + sizes.hard_items * room.file_bytes)
    return bytes_, ranks * (sizes.easy_items + sizes.hard_items)


def test_every_phase_could_go_on_well_beyond_its_wall() -> None:
    found = choose_sizes(options(), rates(), ENDLESS)
    assert 4 * found.block_bytes == pytest.approx(SAFETY * 300 * 1e9, rel=0.01)
    assert 4 * found.segments * HARD_BYTES == pytest.approx(SAFETY * 300 * 1e8, rel=0.01)
    assert 4 * found.easy_items == pytest.approx(SAFETY_OF_FILES * 300 * 8000, rel=0.01)
    assert 4 * found.hard_items == pytest.approx(SAFETY_OF_FILES * 300 * 4000, rel=0.01)
    assert found.block_bytes % (2 << 20) == 0
    assert found.short == []
    assert found.basis == "probed"


def test_a_probe_that_saw_a_hundredth_of_the_rate_leaves_the_official_number_of_items() -> None:
    found = choose_sizes(options(stonewall_s=5.0), rates(creates=800, small=400), ENDLESS)
    assert (found.easy_items, found.hard_items) == (FEWEST_ITEMS, FEWEST_ITEMS)


def test_scarce_bytes_do_not_cut_empty_files() -> None:
    found = choose_sizes(options(), rates(), Room(1 << 30, 1 << 50))
    assert 4 * found.easy_items == pytest.approx(SAFETY_OF_FILES * 300 * 8000, rel=0.01)
    assert "mdtest-easy-write" not in found.short


def test_inodes_that_scarce_bytes_deny_small_files_go_to_empty_ones() -> None:
    """Both metadata phases ask for 1.2 million files; bytes let the small ones have few."""
    room = Room(8 << 30, 1_800_000)
    found = choose_sizes(options(), rates(easy=1e8, hard=1e7, creates=4000, small=4000), room)
    assert "mdtest-hard-write" in found.short
    assert "mdtest-easy-write" not in found.short
    assert taken(found, 4, room)[1] <= room.files


def test_where_all_fit_with_little_to_spare_the_least_get_their_whole_safety() -> None:
    room = Room(int(1.5 * 300 * (1e9 + 1e8 + 4000 * 4096)), 1 << 50)
    found = choose_sizes(options(), rates(), room)
    assert taken(found, 4, room)[0] <= room.bytes
    assert found.short == []
    assert 4 * found.block_bytes > 1.2 * 300 * 1e9
    assert 4 * found.segments * HARD_BYTES > 2 * 300 * 1e8


def test_in_little_space_all_are_cut_alike_and_it_is_said() -> None:
    room = Room(100 << 30, 1 << 50)
    found = choose_sizes(options(), rates(), room)
    assert taken(found, 4, room)[0] <= room.bytes
    assert taken(found, 4, room)[0] > 0.95 * room.bytes
    assert found.short == [name for name in NAMES if name != "mdtest-easy-write"]
    assert found.short_s == pytest.approx([300 * room.bytes / (300 * (1e9 + 1e8 + 4000 * 4096))] * 3, rel=0.01)
    assert 4 * found.block_bytes / (300 * 1e9) == pytest.approx(4 * found.segments * HARD_BYTES / (300 * 1e8), rel=0.01)


def test_few_inodes_cut_too() -> None:
    room = Room(1 << 60, 100_000)
    found = choose_sizes(options(), rates(), room)
    assert taken(found, 4, room)[1] <= 100_000
    assert found.short


def test_enough_for_the_wall_but_not_for_all_safety_is_enough() -> None:
    needed = 300 * (1e9 + 1e8 + 4000 * 4096)
    assert choose_sizes(options(), rates(), Room(int(1.5 * needed), 1 << 50)).short == []


def test_what_is_given_is_left_alone_and_the_rest_shares_what_is_left() -> None:
    text = "[ior-easy]\nblockSize = 1g\n[mdtest-hard]\nn = 10\n"
    room = Room(10 << 30, 1 << 50)
    found = choose_sizes(options(text), rates(), room)
    assert (found.block_bytes, found.hard_items) == (1 << 30, 10)
    assert found.short == ["ior-easy-write", "ior-hard-write", "mdtest-hard-write"]
    assert dict(zip(found.short, found.short_s, strict=True))["mdtest-hard-write"] == pytest.approx(0.01)
    assert taken(found, 4, room)[0] <= room.bytes


@pytest.mark.parametrize("text", ["[ior-easy]\nblockSize = 20g\n", "[ior-hard]\nsegmentCount = 1000000\n"])
def test_what_is_given_and_does_not_fit_is_cut_to_the_room(text: str) -> None:
    """Behind a wall a volume is a bound that nobody means to reach: `blockSize = 20g` stands in many files."""
    room = Room(1 << 30, 1 << 40)
    found = choose_sizes(options(text), rates(), room)
    assert taken(found, 4, room)[0] <= room.bytes
    assert found.block_bytes > 0
    assert "are cut to the room" in found.basis
    with pytest.raises(UserError, match="too little for any phase") as caught:
        choose_sizes(options(text), rates(), Room(1000, 1000))
    assert caught.value.code == 3


def test_items_beyond_the_files_that_may_be_made_are_cut_too() -> None:
    room = Room(1 << 40, 10_000)
    found = choose_sizes(options("[mdtest-easy]\nn = 900000\n[mdtest-hard]\nn = 10\n"), rates(), room)
    assert taken(found, 4, room)[1] <= 10_000
    assert found.hard_items <= 10


def test_a_block_is_whole_transfers() -> None:
    with pytest.raises(UserError, match=r"blockSize 3,145,728 is not a multiple of transferSize 2,097,152"):
        choose_sizes(options("[ior-easy]\nblockSize = 3m\n"), rates(), ENDLESS)


def test_no_room_for_anything_is_an_error_of_the_surroundings() -> None:
    with pytest.raises(UserError, match="too little for any phase") as caught:
        choose_sizes(options(), rates(), Room(1000, 1000))
    assert caught.value.code == 3


def test_the_workbench_works_on_what_a_minute_makes() -> None:
    found = choose_sizes(options(mode="extended"), rates(creates=8000), ENDLESS)
    assert found.workbench_objects == 8000 * 60 / 4 / 10
    tight = choose_sizes(options(mode="extended"), rates(creates=8000), Room(1 << 40, 100_000))
    assert 4 * 10 * tight.workbench_objects <= 10_000
    given_ = choose_sizes(options("[mdworkbench]\nprecreatePerSet=5\nfilesPerProc=6\n"), rates(), ENDLESS)
    assert given_.workbench_objects == 5


@given(
    st.integers(1, 512),
    st.tuples(*[st.floats(1, 1e12)] * 2, *[st.floats(1, 1e7)] * 2),
    st.floats(0.1, 600),
    st.integers(1 << 36, 1 << 60),
    st.integers(1 << 20, 1 << 50),
)
def test_sizes_never_exceed_the_room(
    ranks: int, speeds: tuple[float, ...], wall_s: float, bytes_: int, files: int
) -> None:
    room = Room(bytes_, files)
    found = choose_sizes(
        options(ranks=ranks, stonewall_s=wall_s), Rates(dict(zip(NAMES, speeds, strict=True)), ""), room
    )
    assert taken(found, ranks, room)[0] <= bytes_ + ranks * (2 << 20) + ranks * HARD_BYTES + ranks * 4096
    assert taken(found, ranks, room)[1] <= files + 2 * ranks


def test_something_is_assumed_for_every_phase() -> None:
    assert set(assumed_rates(8).by_phase) == set(NAMES)
