# SPDX-License-Identifier: Apache-2.0
"""MPI Tile I/O's words as cases of workload ``tile``."""

import pytest

from ullage.command_lines.translation import Translation, WantedLayout, split_line
from ullage.errors import UserError
from ullage.suites.from_mpi_tile_io.translation import TOOL, translate

DISPLAY = (
    "--nr_tiles_x 3 --nr_tiles_y 2 --sz_tile_x 1024 --sz_tile_y 768 --sz_element 3 --overlap_x 270 --overlap_y 128"
)


def translated(*lines: str, ranks: int | None = None) -> Translation:
    return translate([split_line(line, TOOL) for line in lines], WantedLayout(ranks))


def test_the_display_case() -> None:
    found = translated(f"mpirun -np 6 mpi-tile-io {DISPLAY} --filename /s/tiles --write_file --collective")
    (draft,) = found.drafts
    assert found.ranks == 6
    assert draft.workload.name == "tile"
    assert draft.workload.parameters == {
        "tiles_x": 3,
        "tiles_y": 2,
        "tiles_z": 1,
        "tile_x": 1024,
        "tile_y": 768,
        "tile_z": 1,
        "overlap_x": 270,
        "overlap_y": 128,
        "overlap_z": 0,
        "element_bytes": 3,
        "header_bytes": 0,
        "frames": 1,
        "calls": "collective",
        "phases": ["write", "read"],
    }
    assert (draft.place, draft.leaves) == ("/s", 2532 * 1408 * 3)
    assert any("verifies what was written" in note for note in found.notes)


def test_defaults_are_those_of_the_original() -> None:
    found = translated("mpi-tile-io --filename=/s/f")
    parameters = found.drafts[0].workload.parameters
    assert (parameters["tile_x"], parameters["tile_y"], parameters["element_bytes"]) == (1024, 1024, 3)
    assert (parameters["calls"], found.ranks) == ("independent", 1)
    assert any("only reads: its file is written first" in note for note in found.notes)


def test_the_environment_counts_and_the_line_goes_before() -> None:
    found = translated("NR_TILES_X=2 SZ_ELEMENT=16 mpi-tile-io --sz_element 8 --filename /s/f --nr_files 4")
    parameters = found.drafts[0].workload.parameters
    assert (parameters["tiles_x"], parameters["element_bytes"], found.ranks) == (2, 8, 2)
    assert any("--nr_files" in note for note in found.notes)


def test_three_dimensions_and_surplus_ranks() -> None:
    found = translated(
        "mpirun -np 5 mpi-tile-io --nr_tiles_z 4 --sz_tile_z 8 --overlap_z 2 --sz_tile_x 10 --sz_tile_y 10 "
        "--header_bytes 512 --filename /s/f"
    )
    draft = found.drafts[0]
    assert draft.leaves == 10 * 10 * (4 * 8 - 3 * 2) * 3
    assert draft.workload.parameters["header_bytes"] == 512
    assert any("1 of 5 ranks have no tile and wait" in note for note in found.notes)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"mpirun -np 4 mpi-tile-io {DISPLAY} --filename /s/f", "line 1 has 6 tiles, but there are 4 ranks"),
        ("mpi-tile-io --sz_tile_x 8 --overlap_x 8 --filename /s/f", "--overlap_x 8 is not below --sz_tile_x 8"),
        ("mpi-tile-io --nr_tiles 3", "unknown flag '--nr_tiles'"),
        ("mpi-tile-io --nr_tiles_x many", "'many' is not a value of --nr_tiles_x"),
        ("FOO=1 mpi-tile-io", "FOO before the command is not carried to the ranks"),
    ],
)
def test_what_has_no_equivalent_is_one_line(line: str, expected: str) -> None:
    with pytest.raises(UserError) as caught:
        translated(line)
    assert expected in str(caught.value)
