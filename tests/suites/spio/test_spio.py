# SPDX-License-Identifier: Apache-2.0
"""The options, volume, cases, rows, sentences and pictures of suite ``spio``."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.make_records import MIB, SECOND_NS, make_case, make_launch, make_phase, make_run
from support.simulated_engine import DESCRIBE, built_engine
from support.suite_words import options_of, put_on, request_of
from ullage.errors import UserError
from ullage.model.record import Moved, Ranks, RankTime
from ullage.model.summary import Ceiling, Row
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, TargetFacts
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.suites.spio.findings import CACHED, FASTEST, RATE, SLOWEST
from ullage.suites.spio.suite import SpioOptions, fitted_volume, spio_rows, usual_volume
from ullage.suites.spio.suite import prepare as prepare_spio

METRICS = tuple(SpioOptions.metrics.split())

GIB = 1 << 30


def options(**words: object) -> SpioOptions:
    return options_of(SpioOptions, **{"target": ["a=/a"], "ranks": "1,2,4", **words})


def prepare(tmp_path: Path, **words: object) -> PreparedCells:
    usual = {"target": [f"here={tmp_path}"], "ranks": "1,2", "volume": "8M"}
    return prepare_spio(request_of("spio", SpioOptions, **{**usual, **words}), EngineContext(built_engine(), DESCRIBE))


def test_defaults_measure_every_operation() -> None:
    found = options()
    assert found.operations == ["write", "read", "neighbour", "reread"]
    assert (found.volume, found.block, found.cache, found.time_s) == (None, MIB, "advise", 4 * 3600)
    quick = options(quick=True)
    assert (quick.volume, quick.time_s) == (128 * MIB, 30)
    assert options(quick=True, volume="1M").volume == MIB
    assert SpioOptions.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"operation": "append"}, "--operation: unknown word 'append'"),
        ({"operation": "neighbour", "ranks": "1"}, "--ranks 1: a single rank has no neighbour"),
        ({"block": "12"}, "--block"),
        ({"cache": "cold"}, "--cache"),
        ({"volume": "4"}, "--volume"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("memory_bytes", "nodes", "cache", "expected"),
    [
        (None, 1, "advise", 128 * 10**9),
        (16 * GIB, 1, "advise", 128 * 10**9),
        (64 * GIB, 1, "advise", 192 * GIB),
        (64 * GIB, 4, "drop", 768 * GIB),
        (64 * GIB, 4, "direct", 4 * GIB),
    ],
)
def test_the_volume_is_the_published_one_or_three_memories(
    memory_bytes: int | None, nodes: int, cache: str, expected: int
) -> None:
    assert usual_volume(options(cache=cache), memory_bytes, nodes) == expected


@given(
    st.lists(st.integers(1, 24), min_size=1, max_size=5, unique=True), st.integers(8, 1 << 40), st.integers(1, 1 << 42)
)
def test_every_number_of_ranks_moves_the_same_whole_blocks_where_there_is_room(
    ranks: list[int], wanted: int, most: int
) -> None:
    asked = options(ranks=",".join(map(str, sorted(ranks))))
    found = fitted_volume(wanted, asked, most)
    unit, least = math.lcm(*ranks) * MIB, max(ranks) * MIB
    assert found >= least
    assert found <= max(most, least)
    if unit <= min(wanted, most):
        assert found % unit == 0
        assert found > min(wanted, most) - unit


def test_the_room_bounds_the_volume_and_the_request_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on(monkeypatch, tmp_path, free_bytes=20 * GIB, free_inodes=1000)
    prepared = prepare(tmp_path, volume=None)
    assert prepared.request.options["volume"] == 10 * GIB
    assert {cell.dataset_bytes for cell in prepared.cells} == {10 * GIB}
    text = " ".join(prepared.explain().head)
    assert "volume 10.0 GiB for every number of ranks (128 GB or 3 x memory, as far as there is room)" in text
    (note,) = prepared.notes
    assert note.code == "volume-below-memory"
    assert "10.0 GiB is less than 3 times the memory of 1 node (8.00 GiB each)" in note.text
    # A resumed run has the volume of the request, whatever room there is by then.
    again = prepare_spio(prepared.request, EngineContext(built_engine(), DESCRIBE))
    assert [cell.case.id for cell in again.cells] == [cell.case.id for cell in prepared.cells]


def test_a_volume_beyond_all_memory_or_past_the_cache_needs_no_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_on(monkeypatch, tmp_path, free_bytes=900 * GIB, free_inodes=1000)
    assert prepare(tmp_path, volume=None).notes == []
    assert prepare(tmp_path, volume="1M", block="64K", cache="direct").notes == []


def test_the_memory_of_all_nodes_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on(monkeypatch, tmp_path, 64 * GIB, free_bytes=9000 * GIB, free_inodes=1000)
    prepared = prepare(tmp_path, volume=None, ranks="2,4", nodes="2")
    assert prepared.request.options["volume"] == 3 * 2 * 64 * GIB
    assert prepared.notes == []
    (note,) = prepare(tmp_path, volume="256G", ranks="2,4", nodes="2").notes
    assert "3 times the memory of 2 nodes (64.0 GiB each)" in note.text


def test_only_root_may_drop_all_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(UserError, match="only root may drop all caches"):
        prepare(tmp_path, cache="drop")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    (cell, *_) = prepare(tmp_path, cache="drop").cells
    assert cell.case.workload.parameters["cache"] == "drop"


def test_want_of_room_and_of_inodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"a smaller --volume fits") as caught:
        prepare(tmp_path, volume="1G", space="1M")
    assert caught.value.code == 3
    put_on(monkeypatch, tmp_path, free_bytes=900 * GIB, free_inodes=6)
    with pytest.raises(UserError, match=r"needs 4 files, but only 3 may be made.*fewer --ranks fit") as caught:
        prepare(tmp_path, ranks="1,2,4")
    assert caught.value.code == 3


def what(cell: Cell) -> tuple[int | None, str, tuple[str, ...]]:
    return cell.layout.ranks, str(cell.case.workload.parameters.get("read_back", "own")), tuple(cell.phases)


def test_own_files_and_those_of_neighbours_are_two_cases(tmp_path: Path) -> None:
    prepared = prepare(tmp_path)
    cells = prepared.cells
    assert [what(cell) for cell in cells] == [
        (1, "own", ("write", "read", "reread")),
        (2, "own", ("write", "read", "reread")),
        (2, "other-node", ("write", "read")),
    ]
    assert {cell.dataset_bytes for cell in cells} == {8 * MIB}
    assert [cell.files for cell in cells] == [1, 2, 2]
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in cells]
    assert prepared.kinds(bare) == cells
    assert [cell.needs_one_folder for cell in cells] == [False, False, True]


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("write", [("own", ("write",))]),
        ("read", [("own", ("write", "read"))]),
        ("reread", [("own", ("write", "read", "reread"))]),
        ("neighbour", [("other-node", ("write", "read"))]),
        ("write,neighbour", [("own", ("write",)), ("other-node", ("write", "read"))]),
    ],
)
def test_a_case_has_the_phases_that_its_operations_need(
    tmp_path: Path, operation: str, expected: list[tuple[str, tuple[str, ...]]]
) -> None:
    found = prepare(tmp_path, ranks="2", operation=operation).cells
    assert [what(cell)[1:] for cell in found] == expected


def test_direct_is_a_parameter_of_the_backend(tmp_path: Path) -> None:
    (cell, *_) = prepare(tmp_path, cache="direct").cells
    assert cell.case.backend.parameters["direct"] is True
    assert cell.case.workload.parameters["cache"] == "none"
    with pytest.raises(UserError, match="backend 'mpiio' has no direct I/O"):
        prepare(tmp_path, cache="direct", backend="mpiio")
    with pytest.raises(UserError, match="uses no storage"):
        prepare(tmp_path, backend="model")
    with pytest.raises(UserError, match="stores no data to verify"):
        prepare(tmp_path, target=["slow=model:"], verify="full")


def test_an_explanation_says_whose_files_are_read(tmp_path: Path) -> None:
    explained = prepare(tmp_path, ranks="1,3").explain()
    text = " ".join(explained.head)
    assert "The time of a write includes an fsync of every file." in text
    assert "A single rank has no neighbour." in text
    assert "2 cases move another volume" in text
    assert [(line[2], line[3], line[6]) for line in explained.rows] == [
        ("1", "its own", "8.00 MiB"),
        ("3", "its own", "6.00 MiB"),
        ("3", "a neighbour", "6.00 MiB"),
    ]
    assert "nothing is compared with 1 rank" in " ".join(prepare(tmp_path, ranks="2").explain().head)


TRANSFER: dict[str, object] = {"file_mode": "per-process", "transfer_bytes": MIB, "block_bytes": 400 * MIB}


def phase(case: str, repetition: int, name: str, seconds: float, from_device: float = 1.0) -> AnyRecord:
    """A phase of two ranks with 400 MiB each, of which so large a part moved on the device."""
    whole, elapsed = 800 * MIB, round(seconds * SECOND_NS)
    moved = round(from_device * whole)
    ranks = Ranks(
        fastest=RankTime(rank=1, node="n", elapsed_ns=elapsed // 2, bytes=whole // 2),
        slowest=[RankTime(rank=0, node="n", elapsed_ns=elapsed, bytes=whole // 2)],
        least_bytes=whole // 2,
        most_bytes=whole // 2,
    )
    return make_phase(
        case,
        repetition,
        phase=name,
        elapsed_ns=elapsed,
        bytes_=whole,
        by_rank=ranks,
        data_of="" if name == "write" else "other-rank" if case == "next" else "own",
        moved=Moved(requested_bytes=whole, process_bytes=moved, device_bytes=moved),
    )


def launch(repetitions: int = 6) -> list[AnyRecord]:
    """Both cases of two ranks: rereads come from memory, and a quarter of what neighbours read."""
    found: list[AnyRecord] = []
    for at in range(repetitions):
        own = [phase("own", at, "write", 2.0), phase("own", at, "read", 1.0), phase("own", at, "reread", 0.1, 0.0)]
        other = [phase("next", at, "write", 3.0), phase("next", at, "read", 1.5, 0.75)]
        found += [*own, make_case("own", at, workload_parameters={**TRANSFER, "read_back": "own"})]
        found += [*other, make_case("next", at, workload_parameters={**TRANSFER, "read_back": "other-node"})]
    return make_launch(found, run=make_run(ranks=2))


def test_a_reread_that_is_cold_is_bounded_too() -> None:
    cold = [
        *[phase("own", 0, "write", 2.0), phase("own", 0, "read", 1.0), phase("own", 0, "reread", 1.0)],
        make_case("own", 0, workload_parameters={**TRANSFER, "read_back": "own"}),
    ]
    ceiling = Ceiling(value=2e9, kind="declared", source="--ceiling")
    context = RowContext(metrics=METRICS, targets={"disk": TargetFacts(ceilings={"read": ceiling})})
    rows = spio_rows([make_launch(cold, run=make_run(ranks=2))], context, ["reread"])
    assert [row.share for row in rows if row.metric == RATE] == pytest.approx([800 * MIB / 2e9])


def rows_of(operations: list[str], ceiling: float | None = None) -> list[Row]:
    known = (
        {}
        if ceiling is None
        else {access: Ceiling(value=ceiling, kind="declared", source="--ceiling") for access in ("write", "read")}
    )
    context = RowContext(metrics=METRICS, targets={"disk": TargetFacts(ceilings=known)})
    return spio_rows([launch()], context, operations)


def values(rows: list[Row], metric: str) -> dict[str, float]:
    return {str(row.params["operation"]): row.median for row in rows if row.metric == metric}


def test_each_operation_has_its_rate_its_ends_and_its_cached_share() -> None:
    rows = rows_of(["write", "read", "neighbour", "reread"])
    whole = 800 * MIB
    assert values(rows, RATE) == pytest.approx(
        {"write": whole / 2, "read": whole, "neighbour": whole / 1.5, "reread": whole / 0.1}
    )
    assert values(rows, FASTEST)["write"] == pytest.approx(1.0)
    assert values(rows, SLOWEST)["write"] == pytest.approx(2.0)
    assert values(rows, CACHED) == pytest.approx({"write": 0.0, "read": 0.0, "neighbour": 0.25, "reread": 1.0})
    assert {row.params["volume_bytes"] for row in rows} == {whole}
    whose = {row.params["operation"]: row.params.get("data_of") for row in rows}
    assert whose == {"write": None, "read": "own", "neighbour": "other-rank", "reread": "own"}
    verdicts = {row.params["operation"]: row.verdict for row in rows}
    assert (verdicts["read"], verdicts["neighbour"], verdicts["reread"]) == ("cold", "mixed 75 %", "warm")


def test_shares_from_memory_are_of_the_repetitions_that_the_rates_count() -> None:
    """Two of six reads were disturbed, and came from memory. All count."""
    found: list[AnyRecord] = []
    for at in range(6):
        read = phase("own", at, "read", 1.0, 0.0 if at < 2 else 1.0)
        read = read.model_copy(update={"grade": "C" if at < 2 else "A"})
        case = make_case("own", at, workload_parameters={**TRANSFER, "read_back": "own"})
        found += [phase("own", at, "write", 2.0), read, case]
    context = RowContext(metrics=METRICS, targets={"disk": TargetFacts()})
    rows = spio_rows([make_launch(found, run=make_run(ranks=2))], context, ["read"])
    (rate,) = [row for row in rows if row.metric == RATE]
    (share,) = [row for row in rows if row.metric == CACHED]
    assert (len(rate.repetitions), share.repetitions) == (6, [1.0] * 2 + [0.0] * 4)


def test_what_was_not_asked_for_is_no_row() -> None:
    assert {row.params["operation"] for row in rows_of(["neighbour"])} == {"neighbour"}
    assert {row.params["operation"] for row in rows_of(["reread"])} == {"reread"}


def test_a_ceiling_bounds_all_but_rereads_from_memory() -> None:
    rows = [row for row in rows_of(["write", "read", "neighbour", "reread"], 600e6) if row.metric == RATE]
    by_name = {str(row.params["operation"]): row for row in rows}
    assert by_name["write"].share == pytest.approx(400 * MIB / 600e6)
    assert by_name["read"].is_invalid
    assert by_name["reread"].share is None
    assert not by_name["reread"].is_invalid
