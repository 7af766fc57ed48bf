# SPDX-License-Identifier: Apache-2.0
"""Words in braces in a target's path: which launches have several folders, and which cases are refused for it."""

from pathlib import Path
from typing import Literal

import pytest

from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.model.plan import Layout, Target
from ullage.runs.cells.one_folder import check_one_folder, has_several_folders
from ullage.runs.cells.planning import Cell
from ullage.suites.sweep.cells import SweepOptions, make_cells


@pytest.mark.parametrize(
    ("path", "layout", "expected"),
    [
        ("/a", Layout(ranks=8, nodes=2), False),
        ("/a/{rank}", Layout(ranks=1), False),
        ("/a/{rank}", Layout(ranks=2), True),
        ("/a/{local_rank}", Layout(ranks=2, nodes=2, ranks_per_node=1), False),
        ("/a/{local_rank}", Layout(ranks=4, nodes=2, ranks_per_node=2), True),
        ("/a/{local_rank}", Layout(ranks=3, nodes=2), True),
        ("/a/{local_rank}", Layout(ranks=2, nodes=1), True),
        ("/a/{node}", Layout(ranks=2, nodes=1), False),
        ("/{host}/x", Layout(ranks=2, nodes=2), True),
        ("/{host}/x", Layout(ranks=2), False),
        ("/pmem{socket}/{numa}", Layout(ranks=2, nodes=2), False),
    ],
)
def test_only_what_is_certain_counts(path: str, layout: Layout, expected: bool) -> None:
    assert has_several_folders(Target(name="a", uri=f"posix:{path}"), layout) is expected


def cells(tmp_path: Path, file_mode: Literal["shared", "per-process"]) -> list[Cell]:
    options = SweepOptions(ranks=[2], blocks=[1 << 20], access=["write"], file_mode=file_mode)
    return make_cells(options, [Target(name="a", uri=f"posix:{tmp_path}/{{rank}}")], DESCRIBE, 4 << 20, 4)


def test_ranks_that_share_a_file_need_one_folder(tmp_path: Path) -> None:
    check_one_folder(cells(tmp_path, "per-process"), "")
    with pytest.raises(UserError, match="each rank or node, but the ranks share files") as caught:
        check_one_folder(cells(tmp_path, "shared"), "use --file per-process")
    assert caught.value.code == 2
    assert caught.value.right.startswith("use --file per-process, or use a path")


def test_ranks_that_read_files_of_others_need_one_folder(tmp_path: Path) -> None:
    (cell,) = cells(tmp_path, "per-process")
    workload = cell.case.workload
    reading = workload.model_copy(update={"parameters": {**workload.parameters, "read_back": "other-node"}})
    other = Cell(cell.case.model_copy(update={"workload": reading}), cell.target, cell.layout)
    with pytest.raises(UserError, match="share files"):
        check_one_folder([other], "")
