# SPDX-License-Identifier: Apache-2.0
"""Estimates: from nothing, from a probe, from what was measured."""

import pytest

from support.simulated_engine import DESCRIBE
from ullage.model.plan import Target
from ullage.model.record import CaseRecord, EndRecord
from ullage.model.system import Place
from ullage.runs.cells.costs import Basis, Costs, PlaceCost, assumed, from_two_sizes, read_probe
from ullage.runs.cells.planning import Cell
from ullage.runs.execution import Deadline, share_out
from ullage.suites.sweep.cells import SweepOptions, make_cells, probe_cells

MIB = 1 << 20
TARGETS = [Target(name="disk", uri="posix:/d"), Target(name="memory", uri="posix:/m")]
PLACES = [Place(target="disk", path="/d", exists=True), Place(target="memory", path="/m", exists=True, is_memory=True)]


def options(blocks: list[int] | None = None) -> SweepOptions:
    return SweepOptions(ranks=[1, 4], blocks=blocks or [MIB, 4 * MIB, 16 * MIB], access=["write", "read"])


def cells() -> list[Cell]:
    return make_cells(options(), TARGETS, DESCRIBE, 64 * MIB, 8)


def measured(cell: Cell, seconds: float) -> CaseRecord:
    return CaseRecord(
        case=cell.case.id,
        repetition=0,
        status="ok",
        target=cell.target.name,
        backend="posix",
        workload="transfer",
        elapsed_ns=int(seconds * 1e9),
    )


def test_a_line_through_two_sizes() -> None:
    cost = from_two_sizes((10, 1.1), (20, 1.2))
    assert cost.seconds(30) == pytest.approx(1.3)
    assert from_two_sizes((10, 1.2), (20, 1.1)) == PlaceCost(0.0, pytest.approx(0.055))
    assert from_two_sizes((10, 0.1), (20, 0.9)).fixed_s == 0.0


def test_assumptions_are_said_to_be_some() -> None:
    basis = assumed(cells(), PLACES)
    assert basis.text.startswith("assumed, not measured")
    assert basis.places["memory", "posix"].s_per_byte < basis.places["disk", "posix"].s_per_byte


def test_what_was_measured_replaces_estimates_and_corrects_those_of_the_same_target() -> None:
    some = cells()
    costs = Costs(Basis({("disk", "posix"): PlaceCost(0.0, 1e-9), ("memory", "posix"): PlaceCost(0.0, 1e-9)}, 1.0, "x"))
    seen = some[0]
    other = next(cell for cell in some[1:] if cell.place == seen.place)
    elsewhere = next(cell for cell in some if cell.place != seen.place)
    before = costs.repetition_s(other)
    costs.progress.add(measured(seen, 3 * costs.repetition_s(seen)))
    corrected = costs.correct(some)
    assert corrected.repetition_s(seen) == pytest.approx(3 * before, rel=1e-6)
    assert corrected.repetition_s(other) == pytest.approx(3 * before, rel=1e-6)
    assert corrected.repetition_s(elsewhere) == pytest.approx(before)


def test_launches_cost_what_they_did_and_more_with_more_ranks() -> None:
    costs = Costs(Basis({}, 0.5, "x"))
    assert costs.launch_s(64) > costs.launch_s(1) == 0.5
    costs.saw_launch(4, 2.0)
    assert costs.launch_s(4) == 2.0
    assert costs.launch_s(8) > 2.0


def test_a_probe_takes_two_small_sizes_of_each_place_and_reads_the_line_from_them() -> None:
    probes = probe_cells(options(), cells(), 8, 1 << 40)
    assert {cell.place for cell in probes} == {("disk", "posix"), ("memory", "posix")}
    assert {cell.layout.ranks for cell in probes} == {1}
    assert {cell.block_bytes for cell in probes} == {4 * MIB}
    assert sorted({cell.dataset_bytes for cell in probes}) == [8 * MIB, 32 * MIB]
    records = [measured(cell, 0.01 + cell.dataset_bytes / 1e9) for cell in probes if cell.target.name == "disk"]
    end = EndRecord(status="complete", cases_ok=4, cases_failed=0, repetitions=4, elapsed_ns=10**9)
    basis = read_probe(probes, [*records, end], 1.4, assumed(cells(), PLACES))
    assert basis.places["disk", "posix"].s_per_byte == pytest.approx(1e-9, rel=1e-6)
    assert basis.places["disk", "posix"].fixed_s == pytest.approx(0.01, rel=1e-3)
    assert basis.places["memory", "posix"] == assumed(cells(), PLACES).places["memory", "posix"]
    assert basis.launch_s == pytest.approx(0.4)
    assert basis.text == "probed with 1 rank: disk through posix 2.00 GB/s"


def test_a_probe_stays_small_where_there_is_little_room() -> None:
    probes = probe_cells(options([65536]), cells(), 8, 16 * MIB)
    assert max(cell.dataset_bytes for cell in probes) <= 4 * MIB


def test_time_is_shared_in_proportion() -> None:
    assert share_out(10.0, [1.0, 3.0]) == pytest.approx(2.5)
    assert share_out(10.0, [1.0]) == pytest.approx(10.0)
    assert share_out(-1.0, [1.0]) == 0.0
    assert share_out(10.0, [0.0, 0.0]) == pytest.approx(5.0)


def test_a_deadline() -> None:
    deadline = Deadline(10.0, lambda: 4.0)
    assert deadline.left_s == 6.0
    assert deadline.earlier(2.0).left_s == 4.0
