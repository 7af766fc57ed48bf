# SPDX-License-Identifier: Apache-2.0
"""Translations become one plan that the engine takes, within the room there is."""

from pathlib import Path

import pytest

from support.data import some
from ullage.command_lines.options import LineOptions
from ullage.command_lines.prepared import Bound, bind, fit, make_layout
from ullage.command_lines.translation import Translation, WantedLayout, split_line
from ullage.engine import describe
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.plan import Target
from ullage.parameters import count_of
from ullage.suites.from_ior.translation import translate as from_ior
from ullage.suites.from_mdtest.translation import translate as from_mdtest

TARGETS = [Target(name="t", uri="posix:/scratch/me"), Target(name="null", uri="null:")]
EASY = (
    "ior -w -t 2m -b 9920000m -F -g -G 7 -k -e -C -Q 1 -D 300 -O stoneWallingWearOut=1,stoneWallingStatusFile=s -o x/e"
)
HARD = "ior -w -t 47008 -b 47008 -s 10000000 -C -Q 1 -g -k -e -D 300 -O stoneWallingWearOut=1 -o x/h"
# Lines that people use: the examples of manuals and IO500's own.
IOR_LINES = [
    ["mpirun -np 4 ior -a POSIX -t 1m -b 16m -s 16 -F -C -e -i 3 -o x/f"],
    ["srun -n 2 ior -a MPIIO -c -t 1m -b 64m -s 2 -w -r -o x/f"],
    ["ior -a POSIX --posix.odirect -z -t 4k -b 1g -w -r -o x/f"],
    ["ior -a DUMMY -t 256k -b 1m"],
    [EASY, "ior -r -R -t 2m -b 9920000m -F -C -Q 1 -k -D 300 -o x/e"],
    [HARD, "ior -r -R -t 47008 -b 47008 -s 10000000 -C -Q 1 -D 300 -o x/h"],
]
MD = "-n 1000000 -F -P -N 1 -d x/m"
MDTEST_LINES = [
    ["mpirun -np 2 mdtest -n 1000 -z 2 -b 3 -u -i 3 -d x/m"],
    ["mdtest -I 10 -z 4 -b 2 -L -w 4k -e 4k -R -d x/m"],
    [f"mdtest -C -Y -W 300 -u -L -G 7 -x s {MD}", f"mdtest -T -u -L {MD}", f"mdtest -r -u -L {MD}"],
    [
        f"mdtest -C -Y -W 300 -t -w 3901 -e 3901 {MD}",
        f"mdtest -T -t -w 3901 -e 3901 {MD}",
        f"mdtest -E -X -t -w 3901 -e 3901 {MD}",
        f"mdtest -r -t -w 3901 -e 3901 {MD}",
    ],
]


@pytest.fixture(scope="session")
def description(engine: Path) -> Describe:
    return describe(engine)


def translated(lines: list[str]) -> tuple[LineOptions, Translation]:
    tool, translator = ("ior", from_ior) if "ior" in " ".join(lines) else ("mdtest", from_mdtest)
    options = LineOptions(lines=lines, places={"x": "t", "x/m": "t", "": "t"})
    return options, translator([split_line(text, tool) for text in options.lines], WantedLayout())


def bound(lines: list[str], description: Describe, room: int | None = None) -> list[Bound]:
    options, translation = translated(lines)
    if room is not None:
        translation, _ = fit(translation, {"x": room})
    return bind(translation, make_layout(translation, 8), options, TARGETS, description)


@pytest.mark.parametrize("lines", [*IOR_LINES, *MDTEST_LINES], ids=lambda lines: lines[0][:40])
def test_the_engine_knows_every_parameter_of_common_lines(lines: list[str], description: Describe) -> None:
    cases = bound(lines, description)
    assert len(cases) >= len(lines)
    assert len({item.case.id for item in cases}) == len(cases)


def test_bytes_and_items_in_all(description: Describe) -> None:
    (whole,) = bound(IOR_LINES[0], description)
    assert (whole.dataset_bytes, whole.items) == (4 * 16 * 16 << 20, 4)
    made = bound(MDTEST_LINES[3], description)[0]
    assert (made.dataset_bytes, made.items, made.wall_s) == (3901 * 10**6, 10**6, 300.0)


def test_a_volume_behind_a_wall_is_cut_to_the_room_in_whole_transfers(description: Describe) -> None:
    room = 10 << 30
    for lines in some(IOR_LINES[4:]):
        cases = bound(lines, description, room)
        sizes = {item.dataset_bytes for item in cases}
        assert len(sizes) == 1, "the reading line describes the same layout"
        assert 0.8 * room < sizes.pop() <= 0.9 * room
        for item in cases:
            assert count_of(item.parameters, "block_bytes") % count_of(item.parameters, "transfer_bytes") == 0


def test_two_walled_datasets_share_the_room(description: Describe) -> None:
    cases = bound([EASY, HARD], description, 10 << 30)
    assert sum(item.dataset_bytes for item in cases) <= 0.9 * (10 << 30)


def test_a_volume_without_a_wall_is_left_as_asked(description: Describe) -> None:
    lines = ["ior -t 1m -b 1g -o x/f"]
    assert bound(lines, description, 1 << 20)[0].dataset_bytes == 1 << 30
    _, translation = translated(lines)
    assert fit(translation, {"x": 1 << 20}) == (translation, [])


def test_a_line_twice_is_an_error(description: Describe) -> None:
    with pytest.raises(UserError, match="line 2 does again what line 1 does; request repetitions with -i"):
        bound(["ior -w -o x/f", "ior -w -o x/f"], description)


def test_a_backend_that_the_engine_lacks_is_named(description: Describe) -> None:
    lacking = description.model_copy(
        update={"backends": [backend for backend in description.backends if backend.name != "mpiio"]}
    )
    with pytest.raises(UserError, match=r"backend 'mpiio'"):
        bound(["ior -a MPIIO -o x/f"], lacking)


def test_what_o_direct_cannot_move_is_refused_before_anything_is_started(description: Describe) -> None:
    with pytest.raises(UserError, match=r"line 1: O_DIRECT cannot move 47,008 bytes; only multiples of 512"):
        bound(["ior -t 47008 -b 47008 --posix.odirect -o x/f"], description)
    assert bound(["ior -t 4k -b 8k --posix.odirect -o x/f"], description)
