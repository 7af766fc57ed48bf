# SPDX-License-Identifier: Apache-2.0
"""The options, cases and rows of suite ``overlap``."""

from pathlib import Path

import pytest

from support.make_records import MIB, make_launch, make_phase, make_repetition, make_run
from support.simulated_engine import DESCRIBE, as_of_engine, built_engine, cells_of
from support.suite_words import options_of, request_of
from ullage.analysis.metrics.programs import share_that_overlaps
from ullage.errors import UserError
from ullage.model.describe import Describe, Registered
from ullage.model.plan import Layout
from ullage.model.record import Gauge
from ullage.results.rows import RowContext
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.told import told_rows
from ullage.suites.overlap.suite import OverlapOptions, stretch_bytes, tell
from ullage.suites.overlap.suite import prepare as prepare_overlap

METRICS = tuple(OverlapOptions.metrics.split())

BACKENDS = [
    as_of_engine("posix", "path", "data", "threads=1024", "file_threads=1024"),
    Registered(name="mpiio", doc="files", available=True, capabilities=["path", "data", "nonblocking=8"]),
    Registered(name="uring", doc="files", available=False, reason="this kernel has no io_uring"),
    Registered(
        name="stays", doc="files of threads", available=True, capabilities=["path", "file_threads=8", "thread_files"]
    ),
    Registered(name="hdf5", doc="arrays", available=True, capabilities=["path", "data"]),
    Registered(name="model", doc="simulated", available=True, capabilities=["file_threads=1", "nonblocking=4096"]),
]


def describe() -> Describe:
    return DESCRIBE.model_copy(update={"workloads": [as_of_engine("overlap")], "backends": BACKENDS})


def options(**words: object) -> OverlapOptions:
    return options_of(OverlapOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def prepare(tmp_path: Path, **words: object) -> PreparedCells:
    usual = {"target": [f"here={tmp_path}"], "ranks": "1", "quick": True, "cache": "none"}
    return prepare_overlap(
        request_of("overlap", OverlapOptions, **{**usual, **words}), EngineContext(built_engine(), describe())
    )


def test_defaults_compare_all_methods_by_size_and_depth() -> None:
    found = options()
    assert (found.sizes, found.depths) == ([64 << 10, MIB, 8 * MIB], [1, 4, 16])
    assert (found.backends, found.methods, found.cache) == (
        ["posix", "mpiio", "uring"],
        ["threads", "nonblocking"],
        "direct",
    )
    assert OverlapOptions.model_validate_json(found.model_dump_json()) == found
    quick = options(quick=True)
    assert (quick.sizes, quick.depths, quick.stretch_bytes, quick.time_s) == ([64 << 10, MIB], [1, 4], 4 * MIB, 30)


def test_half_of_the_cores_have_a_rank_unless_ranks_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.ranks_by_default", lambda: 6)
    words = {"target": ["a=/a"]}
    assert OverlapOptions.model_validate(parse_options(OverlapOptions, **words).options).ranks == [3]  # type: ignore[arg-type]
    monkeypatch.setattr("ullage.system.hardware.ranks_by_default", lambda: 1)
    assert OverlapOptions.model_validate(parse_options(OverlapOptions, **words).options).ranks == [1]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"method": "hope"}, "--method: unknown word 'hope'"),
        ({"access": "read"}, "--access read: what is read has to be written first"),
        ({"size": "12"}, "--size 12: 12 bytes are not a multiple of 8"),
        ({"size": "512"}, "--size 512: O_DIRECT moves multiples of 4K"),
        ({"depth": "65"}, "--depth"),
        ({"tests": 3, "method": "threads"}, "--tests 3: helper threads are not asked"),
        ({"computation": 0.0}, "--computation"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_each_backend_has_the_methods_that_it_has_and_the_others_are_said(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, backend="posix,mpiio,uring,hdf5", depth="1,4,16")
    ways = {(cell.case.backend.name, cell.values["method"], cell.values["depth"]) for cell in prepared.cells}
    assert ways == {
        *(("posix", "threads", depth) for depth in (1, 4, 16)),
        *(("mpiio", "nonblocking", depth) for depth in (1, 4)),
    }, "16 are more than this mpiio has at once"
    said = " ".join(note.text for note in prepared.notes if note.code == "not-available")
    assert "backend 'uring', because this kernel has no io_uring" in said
    assert "backend 'hdf5' with method threads, nonblocking, because only the thread of the rank" in said
    assert "posix" not in said


def test_nothing_to_measure_is_a_mistake_with_its_reasons(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        prepare(tmp_path, backend="uring,hdf5")
    assert "nothing can be measured (uring: this kernel has no io_uring; hdf5: only" in str(caught.value)
    with pytest.raises(UserError, match="it has no call that only begins a transfer"):
        prepare(tmp_path, backend="posix", method="nonblocking")


def test_a_stretch_has_whole_batches_and_the_file_all_stretches(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, backend="posix", bytes="3M", rounds=2)
    for cell in prepared.cells:
        assert stretch_bytes(cell.values) == max(3 * MIB, cell.block_bytes * cell.values.count("depth"))
        assert cell.dataset_bytes == (2 + 3 * 2) * stretch_bytes(cell.values)
        assert (cell.files, cell.phases, cell.needs_one_folder) == (1, ["write", "read"], False)
    assert prepared.kinds(prepared.cells) == prepared.cells


def test_what_holds_no_data_is_not_verified(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, target=["d=model:"], access="write", depth="1", size="1M")
    methods = {str(cell.case.workload.parameters.get("method", "threads")) for cell in prepared.cells}
    assert methods == {"threads", "nonblocking"}
    for cell in prepared.cells:
        assert cell.case.workload.parameters["verify"] == "none"
        assert cell.phases == ["write"]


@pytest.mark.parametrize(
    ("ranks", "cores", "threads", "binding"), [(1, 2, 2, "core"), (2, 2, 17, "none"), (2, 64, 17, "core")]
)
def test_ranks_are_bound_with_their_helpers_where_they_have_a_second_core(
    ranks: int, cores: int, threads: int, binding: str
) -> None:
    found = options(ranks=str(ranks), cache="none")
    layouts = [cell.layout for cell in cells_of(prepare_overlap, found, {"a": "posix:/a"}, describe(), cores)]
    assert {(layout.threads, layout.binding) for layout in layouts} == {(threads, binding)}, "one launch for all cases"


@pytest.mark.parametrize("served", [True, False])
def test_only_backends_with_direct_io_get_it(served: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.overlap.suite.direct_at", lambda _target: DirectIo(served=served))
    cells = cells_of(prepare_overlap, options(cache="direct", backend="posix,mpiio"), {"a": "posix:/a"}, describe())
    direct = {cell.case.backend.name: cell.case.backend.parameters.get("direct", False) for cell in cells}
    assert direct == {"posix": served, "mpiio": False}


def gauges(**seconds: float) -> dict[str, Gauge]:
    known = {"bytes": 64.0 * MIB, "batches": 16.0, "blocks": 1e6, **seconds}
    return {name: Gauge(sum=2 * value, least=value, most=value) for name, value in known.items()}


def test_the_share_is_between_0_and_1_and_of_the_shorter() -> None:
    assert share_that_overlaps(4, 2, 4) == 1, "the computation is the shorter and does not lengthen the I/O"
    assert share_that_overlaps(2, 4, 5) == 0.5
    assert share_that_overlaps(2, 2, 5) == 0
    assert share_that_overlaps(2, 2, 1.9) == 1


def test_rows_have_shares_costs_gains_and_times_of_a_batch() -> None:
    measured = gauges(io_s=4, compute_s=4, both_s=5, blocking_s=8, start_s=1, beside_s=4.4, wait_s=0.6)
    case: dict[str, object] = {
        "workload": "overlap",
        "parameters": {"method": "nonblocking", "transfer_bytes": MIB, "depth": 2, "tests": 8},
        "backend_parameters": {"direct": True},
    }
    run = make_run().model_copy(update={"layout": Layout(ranks=2, threads=2, binding="core")})
    repetitions = [make_repetition(i, make_phase(repetition=i, gauges=measured), **case) for i in range(3)]
    rows = told_rows([make_launch(*repetitions, run=run)], RowContext(metrics=METRICS), tell)
    found = {row.metric: row.median for row in rows}
    assert found["overlap_share"] == pytest.approx(0.75)
    assert found["compute_slowdown"] == pytest.approx(1.1)
    assert found["overlap_gain"] == pytest.approx(1.6)
    assert found["start_share"] == pytest.approx(0.25)
    assert found["batch_io_time"] == pytest.approx(0.25)
    assert found["batch_both_time"] == pytest.approx(5 / 16)
    assert found["io_alone_rate"] == pytest.approx(2 * 64 * MIB / 4)
    params = rows[0].params
    assert (params["method"], params["depth"], params["tests"], params["cores_of_rank"]) == ("nonblocking", 2, 8, 2)
    assert params["direct"] is True


def test_phases_of_other_work_have_no_such_rows() -> None:
    assert told_rows([make_launch(make_repetition(0, make_phase()))], RowContext(metrics=METRICS), tell) == []
