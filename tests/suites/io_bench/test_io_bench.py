# SPDX-License-Identifier: Apache-2.0
"""The six streams of an io_bench: its words, its cells, its course, and its sentences."""

import pytest

from suites.matrix.conftest import World, world
from support.make_records import plain_row
from support.suite_words import options_of, request_of
from ullage.errors import UserError
from ullage.model.summary import Ceiling, Row
from ullage.results.folder import ResultFolder
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.summary import build_summary
from ullage.suites.io_bench.suite import IoBenchOptions, enough, file_bytes, prepare_io_bench, with_kinds

__all__ = ["world"]
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def options(**words: object) -> IoBenchOptions:
    return options_of(IoBenchOptions, **{"target": ["a=/a"], **words})


def prepare(world: World, **words: object) -> PreparedCells:
    usual = {"target": [f"here={world.target}"], "record": "64K,1M", "volume": "16M"}
    return prepare_io_bench(request_of("io_bench", IoBenchOptions, **{**usual, **words}), world.engine_context)


def run(world: World, prepared: PreparedCells) -> ResultFolder:
    assert world.run(prepared)[0] == 0
    return world.result


def test_records_go_up_to_128_mib_by_default() -> None:
    found = options()
    assert found.records == [4 * KIB << step for step in range(16)]
    assert (found.volume, found.backend, found.time_s) == (256 * MIB, "posix", 300)
    assert IoBenchOptions.model_validate_json(found.model_dump_json()) == found


def test_a_quick_look_is_smaller() -> None:
    found = options(quick=True)
    assert (max(found.records), found.volume, found.time_s) == (16 * MIB, 32 * MIB, 20)


def test_a_file_holds_8_records_at_least_and_2048_at_most() -> None:
    asked = options(volume="256M")
    assert file_bytes(asked, 4 * KIB) == 8 * MIB
    assert file_bytes(asked, MIB) == 256 * MIB
    assert file_bytes(asked, 128 * MIB) == GIB
    assert file_bytes(asked, 3 * MIB) == 255 * MIB


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"record": "12"}, "--record 12: 12 bytes are not a multiple of 8"),
        ({"backend": "mmap"}, "--backend: unknown word 'mmap'"),
        ({"volume": "much"}, "'much': not a size"),
        ({"time": "0s"}, "--time 0s: is not above 0"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


def test_three_orders_by_records_past_the_page_cache(world: World) -> None:
    prepared = prepare(world)
    found = {
        (cell.case.workload.parameters.get("order", "sequential"), cell.block_bytes, cell.dataset_bytes)
        for cell in prepared.cells
    }
    assert found == {
        (order, record, 16 * MIB) for order in ("sequential", "random", "backward") for record in (64 * KIB, MIB)
    }
    assert all(cell.case.backend.parameters["direct"] is True for cell in prepared.cells)
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in prepared.cells]
    assert with_kinds(bare) == list(prepared.cells)


def test_a_target_without_direct_io_is_measured_through_the_cache_and_it_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(served=False))
    prepared = prepare(world)
    assert not any("direct" in cell.case.backend.parameters for cell in prepared.cells)
    assert [note.code for note in prepared.notes] == ["page-cache"]


def test_records_that_direct_io_cannot_move_are_raised_and_it_is_said(world: World) -> None:
    prepared = prepare(world, record="1K,8K")
    assert {cell.block_bytes for cell in prepared.cells} == {4 * KIB, 8 * KIB}
    assert [note.code for note in prepared.notes] == ["size-aligned"]


def test_a_target_without_a_place_is_refused(world: World) -> None:
    with pytest.raises(UserError, match="target 'n' has no place for files"):
        prepare(world, target=["n=null:"])


def test_without_a_known_peak_the_best_of_the_run_is_the_peak_and_called_so(world: World) -> None:
    world.engine.cost = lambda case, _plan: 0.2 if case.workload.parameters.get("order") else 0.1
    summary = build_summary(run(world, prepare(world)))
    rows = [row for row in summary.rows if row.metric == "bandwidth"]
    assert len(rows) == 12
    assert {row.ceiling.kind for row in rows if row.ceiling} == {"measured"}
    assert all(row.ceiling and "the best transfer of this run" in row.ceiling.source for row in rows)
    assert not {one.kind for one in summary.findings} & {"edge", "scaling", "best"}


def test_a_declared_peak_is_the_one(world: World) -> None:
    summary = build_summary(run(world, prepare(world, ceiling=["here=100GB/s"])))
    rows = [row for row in summary.rows if row.metric == "bandwidth"]
    assert {(row.ceiling.kind, row.ceiling.value) for row in rows if row.ceiling} == {("declared", 1e11)}


def stream(record: int, rate: float, samples: int = 5) -> Row:
    params = {"access": "read", "order": "random", "ranks": 1, "block_bytes": record}
    ceiling = Ceiling(value=2e9, kind="declared", source="x")
    near = [rate * (1 + step / 1000) for step in range(-2, 3)][:samples]
    return plain_row(near, params, target="here", median=rate, low=rate, high=rate, ceiling=ceiling, case="")


def test_it_is_said_from_which_record_on_a_stream_has_its_best() -> None:
    rows = [stream(4 * MIB, 1.0e9), stream(MIB, 0.95e9), stream(64 * KIB, 0.3e9)]
    (found,) = enough(rows, 0.95)
    assert found.text == (
        "here: random reads reach 950 MB/s with records of 1M, 3.17 x the rate of records of 64K. That is at least 90 % "
        "of the highest median, 1.00 GB/s with records of 4M. The highest median is 50 % of the peak."
    )
    assert found.title == "here: random reads need records of 1M"
    assert found.numbers["record_bytes"] == [64 * KIB, MIB, 4 * MIB]
    assert enough(rows[:1], 0.95) == []


def test_single_samples_do_not_tell_which_record_is_enough() -> None:
    (found,) = enough([stream(4 * MIB, 1.0e9, 1), stream(MIB, 0.95e9, 1), stream(64 * KIB, 0.3e9, 1)], 0.95)
    assert found.numbers["enough"] is None
    assert "Which is enough cannot be told." in found.text
