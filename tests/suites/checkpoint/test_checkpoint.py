# SPDX-License-Identifier: Apache-2.0
"""The options, sizes, cases and rows of suite ``checkpoint``."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.make_records import MIB, SECOND_NS, make_case, make_latency, make_launch, make_phase, make_run
from support.simulated_engine import built_engine, with_workloads
from support.suite_words import options_of, put_on, request_of
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.record import Moved, Ranks, RankTime
from ullage.model.summary import Ceiling, Row
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext, TargetFacts
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.suites.checkpoint.findings import LEAST_RATE, WAIT
from ullage.suites.checkpoint.options import GIB, MODELS, CheckpointOptions, Mode, asked_bytes, fitting_scale, sizes_of
from ullage.suites.checkpoint.suite import checkpoint_rows, layout_of
from ullage.suites.checkpoint.suite import prepare as prepare_checkpoint

METRICS = tuple(CheckpointOptions.metrics.split())


def describe() -> Describe:
    """The simulated engine, whose transfers also read the data of other nodes, with workload ``stepfile``."""
    return with_workloads("stepfile")


def options(**words: object) -> CheckpointOptions:
    return options_of(CheckpointOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def prepare(tmp_path: Path, **words: object) -> PreparedCells:
    usual = {"target": [f"here={tmp_path}"], "ranks": "2", "scale": 0.0001, "tensors": 5}
    return prepare_checkpoint(
        request_of("checkpoint", CheckpointOptions, **{**usual, **words}), EngineContext(built_engine(), describe())
    )


def test_defaults_compare_all_layouts_of_the_smallest_model() -> None:
    found = options()
    assert (found.model, found.mode, found.scale) == ("8B", "whole", None)
    assert (found.layouts, found.read_back, found.cache) == (["rank", "tensor", "shared"], "own", "advise")
    assert CheckpointOptions.model_validate_json(found.model_dump_json()) == found
    quick = options(quick=True)
    assert (quick.scale, quick.time_s) == (0.002, 30)
    assert options(quick=True, scale=0.5).scale == 0.5


def test_several_nodes_read_what_another_has_saved() -> None:
    several = options(nodes=2)
    assert (several.read_back, several.layouts) == ("other-node", ["rank", "shared"])
    assert options(ranks="4", ranks_per_node=2).read_back == "other-node"
    own = options(nodes=2, read_back="own")
    assert (own.read_back, own.layouts) == ("own", ["rank", "tensor", "shared"])
    within = options(nodes=2, mode="subset")
    assert (within.read_back, within.layouts) == ("own", ["rank", "tensor", "shared"])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"model": "13B"}, "--model"),
        ({"mode": "part"}, "--mode"),
        ({"layout": "rank,tree"}, "--layout: unknown word 'tree'"),
        ({"scale": 1.5}, "--scale"),
        ({"scale": 0.0}, "--scale"),
        ({"tensors": 0}, "--tensors"),
        ({"block": "12"}, "--block 12: 12 bytes are not a multiple of 8"),
        ({"block": "8", "cache": "direct"}, "--block 8: O_DIRECT moves multiples of 4K"),
        ({"nodes": 2, "layout": "tensor"}, "--layout tensor: each rank reads its own files in layout tensor"),
        ({"ranks": "9", "mode": "subset"}, "--ranks 9: a subset of 8B has at most 8 ranks"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "gib", "ranks", "tensors"),
    [("8B", 105, 8, 291), ("70B", 912, 64, 723), ("405B", 5290, 512, 36), ("1T", 18000, 1024, 19)],
)
def test_published_sizes_and_ranks(name: str, gib: int, ranks: int, tensors: int) -> None:
    model = MODELS[name]
    assert (model.bytes, model.ranks, model.tensors_of_a_rank) == (gib * GIB, ranks, tensors)


def test_a_whole_checkpoint_is_shared_and_a_subset_grows_with_the_ranks() -> None:
    model = MODELS["70B"]
    assert {asked_bytes(model, "whole", 1.0, ranks) for ranks in (1, 8, 64)} == {912 * GIB}
    assert asked_bytes(model, "subset", 1.0, 8) == 912 * GIB // 8
    assert asked_bytes(model, "subset", 1.0, 64) == 912 * GIB
    assert asked_bytes(model, "whole", 0.5, 2) == 456 * GIB


@given(st.integers(1, 1 << 40), st.integers(1, 2000), st.sampled_from([8, 24, 4096, 1 << 20, 16 << 20]), st.booleans())
def test_every_layout_moves_the_same_bytes_in_whole_calls(share: int, tensors: int, block: int, direct: bool) -> None:
    direct = direct and block % 4096 == 0
    found = sizes_of(share, tensors, block, direct=direct)
    assert found.rank_bytes % found.call_bytes == 0
    assert found.call_bytes <= max(block, 4096)
    unit = 4096 if direct else 8
    assert found.tensor_bytes % unit == found.call_bytes % unit == 0
    if share // tensors >= 4096:
        assert share * 31 // 32 - tensors * 4096 <= found.rank_bytes <= share


@given(st.sampled_from(sorted(MODELS)), st.sampled_from(["whole", "subset"]), st.integers(1 << 20, 1 << 45))
def test_the_largest_fitting_scale_is_taken(name: str, mode: Mode, most: int) -> None:
    found = fitting_scale(MODELS[name], mode, [1, 4], most)
    assert 0 < found <= 1
    assert asked_bytes(MODELS[name], mode, found, 4) <= most
    if found < 1:
        assert asked_bytes(MODELS[name], mode, min(1.0, found * 2.6), 4) > most


def cells_of(prepared: PreparedCells) -> dict[str, Cell]:
    return {layout_of(cell.values): cell for cell in prepared.cells}


def test_all_layouts_have_the_same_bytes_and_sync_every_file(tmp_path: Path) -> None:
    prepared = prepare(tmp_path)
    cells = cells_of(prepared)
    # A directory of each rank takes an inode as a file does.
    assert {name: cell.files for name, cell in cells.items()} == {"rank": 2, "tensor": 10 + 2, "shared": 1}
    assert not any(cell.needs_one_folder for cell in cells.values())
    (volume,) = {cell.dataset_bytes for cell in cells.values()}
    assert 0.96 * 105 * GIB / 10000 < volume <= 105 * GIB / 10000
    assert {name: cell.case.workload.name for name, cell in cells.items()} == {
        "rank": "transfer",
        "tensor": "stepfile",
        "shared": "transfer",
    }
    assert cells["tensor"].parameters["sync"] == "fsync"
    assert cells["tensor"].parameters["order"] == "forward"
    assert cells["tensor"].parameters["cache"] == "drop"
    assert {cells[name].parameters.get("sync", "close") for name in ("rank", "shared")} == {"close"}
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in prepared.cells]
    assert prepared.kinds(bare) == prepared.cells


def test_direct_is_a_parameter_of_the_backend_and_pages_are_whole(tmp_path: Path) -> None:
    cells = cells_of(prepare(tmp_path, cache="direct", tensors=7))
    for cell in cells.values():
        assert cell.case.backend.parameters["direct"] is True
        assert cell.parameters.get("cache", "none") == "none"
        assert cell.block_bytes % 4096 == 0
    with pytest.raises(UserError, match="backend 'mpiio' has no direct I/O"):
        prepare(tmp_path, cache="direct", backend="mpiio")
    with pytest.raises(UserError, match="stores no data to verify"):
        prepare(tmp_path, target=["slow=model:"], verify="full")
    with pytest.raises(UserError, match="uses no storage"):
        prepare(tmp_path, backend="model")


def test_another_node_has_to_exist(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="2 ranks are on one node") as caught:
        prepare(tmp_path, read_back="other-node", layout="rank")
    assert caught.value.code == 2
    cells = prepare(tmp_path, nodes=2, ranks="4").cells
    assert {cell.case.workload.parameters["read_back"] for cell in cells} == {"other-node"}


def test_the_room_sets_the_scale_and_the_request_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on(monkeypatch, tmp_path, free_bytes=50 * GIB, free_inodes=10_000)
    prepared = prepare(tmp_path, scale=None)
    assert prepared.request.options["scale"] == 0.2
    text = " ".join(prepared.explain().head)
    assert "8B, published as 105 GiB on 8 ranks, scale 0.2 (the room at the targets)" in text
    assert [note.code for note in prepared.notes] == ["scaled-down", "reads-own-node"]
    put_on(monkeypatch, tmp_path, free_bytes=3 * GIB, free_inodes=10_000)
    again = cells_of(prepare(tmp_path, scale=None))["rank"]
    assert again.dataset_bytes < 2 * GIB
    # A resumed run has the scale of the request, whatever room there is by then.
    put_on(monkeypatch, tmp_path, free_bytes=900 * GIB, free_inodes=10_000)
    resumed = prepare_checkpoint(prepared.request, EngineContext(built_engine(), describe()))
    assert [cell.case.id for cell in resumed.cells] == [cell.case.id for cell in prepared.cells]


def test_want_of_room_and_of_inodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"give more --space, a smaller --scale, or") as caught:
        prepare(tmp_path, space="1M")
    assert caught.value.code == 3
    put_on(monkeypatch, tmp_path, free_bytes=900 * GIB, free_inodes=12)
    with pytest.raises(UserError, match=r"needs 12 files, but only 6 may be made.*fewer --tensors") as caught:
        prepare(tmp_path)
    assert caught.value.code == 3


def test_a_subset_has_the_part_of_a_published_rank(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, mode="subset", model="1T", scale=0.00001, ranks="1,8")
    ranks = {cell.layout.ranks: cell.dataset_bytes for cell in prepared.cells}
    assert ranks[8] == 8 * ranks[1]
    assert 0.96 * 18000 * GIB / 1024 / 100_000 < ranks[1] <= 18000 * GIB / 1024 / 100_000
    assert [note.code for note in prepared.notes] == ["scaled-down"]
    rows = prepared.explain().rows
    assert [line[2] for line in rows] == ["rank", "tensor", "shared"] * 2
    assert {line[8] for line in rows} == {"itself"}


STREAMS: dict[str, object] = {"transfer_bytes": MIB, "block_bytes": 400 * MIB, "file_mode": "per-process"}
TENSORS: dict[str, object] = {"steps": 100, "state_bytes": 4 * MIB, "order": "forward", "sync": "fsync"}


def phase(case: str, repetition: int, name: str, seconds: float, from_device: float = 1.0) -> AnyRecord:
    """A phase of two ranks with 400 MiB each, the slower of which needs all of the time."""
    whole, elapsed, is_read = 800 * MIB, round(seconds * SECOND_NS), name in ("read", "adjoint")
    moved = round(from_device * whole)
    of_files = {} if case != "tensors" or is_read else {"latency_parts": {"sync": make_latency(200, 1000)}, "syncs": 0}
    return make_phase(
        case,
        repetition,
        phase=name,
        access="read" if is_read else "write",
        elapsed_ns=elapsed,
        bytes_=whole,
        by_rank=Ranks(
            fastest=RankTime(rank=1, node="n", elapsed_ns=elapsed // 2, bytes=whole // 2),
            slowest=[RankTime(rank=0, node="n", elapsed_ns=elapsed, bytes=whole // 2)],
            least_bytes=whole // 2,
            most_bytes=whole // 2,
        ),
        counters={"states": 200} if case == "tensors" else {},
        data_of="own" if is_read else "",
        moved=Moved(requested_bytes=whole, process_bytes=moved, device_bytes=moved),
        **{"syncs": 2, **of_files},
    )


def rows_of(ceiling: float | None = None) -> list[Row]:
    records: list[AnyRecord] = []
    for at in range(6):
        records += [phase("streams", at, "write", 2.0), phase("streams", at, "read", 1.0)]
        records += [make_case("streams", at, workload="transfer", workload_parameters=STREAMS)]
        records += [phase("tensors", at, "forward", 4.0), phase("tensors", at, "adjoint", 0.5, 0.25)]
        records += [make_case("tensors", at, workload="stepfile", workload_parameters=TENSORS)]
    known = {} if ceiling is None else {"write": Ceiling(value=ceiling, kind="declared", source="--ceiling")}
    context = RowContext(metrics=METRICS, targets={"disk": TargetFacts(ceilings=known)})
    return checkpoint_rows([make_launch(records, run=make_run(ranks=2))], context, options(scale=0.01))


def by_place(rows: list[Row], metric: str) -> dict[tuple[object, object], Row]:
    return {(row.params["layout"], row.params["operation"]): row for row in rows if row.metric == metric}


def test_both_workloads_have_the_same_words() -> None:
    waits = by_place(rows_of(), WAIT)
    assert {place: row.median for place, row in waits.items()} == pytest.approx(
        {("rank", "save"): 2.0, ("rank", "restore"): 1.0, ("tensor", "save"): 4.0, ("tensor", "restore"): 0.5}
    )
    assert {place: row.verdict for place, row in waits.items()} == {
        ("rank", "save"): "synced",
        ("rank", "restore"): "cold",
        ("tensor", "save"): "synced",
        ("tensor", "restore"): "mixed 25 %",
    }
    saved, restored = waits["tensor", "save"].params, waits["tensor", "restore"].params
    assert (saved["files"], saved["block_bytes"], saved["rank_bytes"]) == (200, 4 * MIB, 400 * MIB)
    assert (saved["access"], restored["access"], restored["data_of"]) == ("write", "read", "own")
    assert "data_of" not in saved
    assert (saved["model"], saved["mode"], saved["scale"], saved["volume_bytes"]) == ("8B", "whole", 0.01, 800 * MIB)
    assert waits["rank", "save"].params["files"] == 2


def test_the_least_rate_of_a_rank_is_not_bounded_by_the_target() -> None:
    rows = rows_of(ceiling=500 * MIB)
    least = by_place(rows, LEAST_RATE)
    assert least["rank", "save"].median == pytest.approx(200 * MIB)
    assert least["rank", "save"].share is None
    assert by_place(rows, "bandwidth")["rank", "save"].share == pytest.approx(0.8)
