# SPDX-License-Identifier: Apache-2.0
"""Sizes that cells have by what the engine says they need."""

from support.simulated_engine import DESCRIBE, as_of_engine, built_engine
from ullage.model.plan import Layout, Parameters, Target
from ullage.runs.cells.planning import Cell, Sizing, cell_of

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
