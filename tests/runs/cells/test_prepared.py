# SPDX-License-Identifier: Apache-2.0
"""The columns of a plan: words of any cell, of a suite's own, and of parameters."""

from support.simulated_engine import DESCRIBE
from ullage.model.plan import Target
from ullage.runs.cells.prepared import plan_columns
from ullage.suites.sweep.cells import SweepOptions, make_cells

MIB = 1 << 20


def test_a_word_of_a_plan_is_the_suites_own_or_of_any_cell_or_a_parameter() -> None:
    options = SweepOptions(ranks=[4], blocks=[MIB], access=["write"])
    cell = make_cells(options, [Target(name="disk", uri="posix:/d")], DESCRIBE, 64 * MIB, 8)[0]
    columns = plan_columns(
        "target a_call ranks file_mode whose", whose=lambda cell: cell.case.target, ranks=lambda _: "many"
    )
    assert list(columns) == ["target", "a call", "ranks", "file mode", "whose"]
    assert [show(cell) for show in columns.values()] == ["disk", "1M", "many", cell.values.word("file_mode"), "disk"]
