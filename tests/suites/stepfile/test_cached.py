# SPDX-License-Identifier: Apache-2.0
"""The share of the adjoint's reads that the page cache served, by counters."""

from typing import TYPE_CHECKING

from support.make_records import MIB, make_case, make_launch, make_phase, make_run
from ullage.model.record import Moved
from ullage.results.rows import RowContext, TargetFacts
from ullage.suites.stepfile.summarise import measured_shares

if TYPE_CHECKING:
    from ullage.results.records import AnyRecord


def test_the_measured_share_is_of_the_repetitions_that_the_rows_count() -> None:
    """Three of six were disturbed, and read from memory. All count."""
    found: list[list[AnyRecord]] = []
    for at in range(6):
        device = 0 if at < 3 else 100 * MIB
        moved = Moved(requested_bytes=100 * MIB, process_bytes=device, device_bytes=device)
        grade = "C" if at < 3 else "A"
        read = make_phase("c1", at, phase="adjoint", access="read", bytes_=100 * MIB, moved=moved, grade=grade)
        found.append([read, make_case("c1", at, workload="stepfile")])
    context = RowContext(metrics=("bandwidth",), targets={"disk": TargetFacts()})
    assert measured_shares([make_launch(*found, run=make_run(2))], context) == {"c1": 0.5}
    assert measured_shares([make_launch(*found[:3], run=make_run(2))], context) == {"c1": 1.0}
