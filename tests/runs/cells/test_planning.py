# SPDX-License-Identifier: Apache-2.0
"""Sizes that cells have by what the engine says they need."""

from pathlib import Path
from typing import Literal

import pytest

from support.simulated_engine import DESCRIBE, as_of_engine, built_engine
from ullage.errors import UserError
from ullage.model.plan import Layout, Parameters, Target
from ullage.runs.cells.planning import Cell, Sizing, cell_of, check_one_folder, has_several_folders
from ullage.suites.sweep.cells import SweepOptions, make_cells

SIZING = Sizing("order layout", lambda values: values.count("state_bytes"), lambda _values: ("forward", "adjoint"))


def cell(ranks: int, backend: Parameters | None = None, **given: int | str) -> Cell:
    target = Target(name="a", uri="posix:/a")
    description = DESCRIBE.model_copy(update={"workloads": [as_of_engine("stepfile")]})
    return cell_of(target, Layout(ranks=ranks), ("posix", backend or {}), ("stepfile", {**given}), description)


def test_sizes_are_what_the_engine_needs_and_what_the_suite_says() -> None:
    given = {"steps": 5, "state_bytes": 5000, "layout": "flat"}
    one, three = SIZING.by(built_engine())([cell(1, **given), cell(3, **given)])
    assert (one.block_bytes, one.phases, one.needs_one_folder) == (5000, ["forward", "adjoint"], False)
    assert (one.dataset_bytes, one.files) == (5 * 8192, 5), "in whole blocks of 4 KiB"
    assert (three.dataset_bytes, three.files) == (3 * one.dataset_bytes, 3 * one.files)


def test_cells_are_of_one_kind_where_nothing_that_is_named_differs() -> None:
    made = SIZING.by(built_engine())([
        cell(2, steps=5),
        cell(2, steps=9),
        cell(2, order="forward"),
        cell(3),
        cell(2, {"direct": True}),
    ])  # fmt: skip
    kinds = [one.kind for one in made]
    assert kinds[0] == kinds[1]
    assert len({*kinds}) == 4


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
