# SPDX-License-Identifier: Apache-2.0
"""The options, sizes, cases and rows of suite ``sar``."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.make_records import SECOND_NS, make_case, make_latency, make_launch, make_phase, make_run
from support.simulated_engine import DESCRIBE, as_of_engine, built_engine
from support.suite_words import options_of, put_on, request_of
from ullage.analysis.metrics import metric_named
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.record import Grade
from ullage.model.summary import Row
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.engine import values_of
from ullage.suites.sar.suite import KERNELS, PHASES, SarOptions, image_bytes, sar_rows, scaled
from ullage.suites.sar.suite import prepare as prepare_sar

METRICS = tuple(SarOptions.metrics.split())

GIB = 1 << 30


def describe() -> Describe:
    """The simulated engine, whose backend ``posix`` works on names, with workload ``sar`` alone."""
    backends = [
        one.model_copy(update={"capabilities": [*one.capabilities, "metadata"]}) if one.name == "posix" else one
        for one in DESCRIBE.backends
    ]
    return DESCRIBE.model_copy(update={"workloads": [as_of_engine("sar")], "backends": backends})


def options(**words: object) -> SarOptions:
    return options_of(SarOptions, **{"target": ["a=/a"], "ranks": "2", **words})


def prepare(tmp_path: Path, **words: object) -> PreparedCells:
    usual = {"target": [f"here={tmp_path}"], "ranks": "2", "scale": 0.1}
    return prepare_sar(request_of("sar", SarOptions, **{**usual, **words}), EngineContext(built_engine(), describe()))


def test_defaults_are_the_published_images_in_both_layouts() -> None:
    found = options()
    assert (found.scale, found.grid, found.depth, found.layouts) == (1.0, 4, 4, ["files", "containers"])
    assert (found.sync, found.cache, found.read_back, found.raw) == ("close", "drop", "other-node", "shared")
    assert SarOptions.model_validate_json(found.model_dump_json()) == found
    quick = options(quick=True)
    assert (quick.scale, quick.grid, quick.depth, quick.time_s) == (0.25, 3, 2, 30)
    assert options(quick=True, grid=5).grid == 5


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"layout": "files,tree"}, "--layout: unknown word 'tree'"),
        ({"raw": "none"}, "--raw"),
        ({"sync": "always"}, "--sync"),
        ({"scale": 0.0}, "--scale"),
        ({"scale": 15.0}, "--scale"),
        ({"depth": 1}, "--depth"),
        ({"grid": 0}, "--grid"),
        ({"scale": 0.05}, "an image of 38 columns has no room for sub-images of 64 pixels"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.floats(0.1, 14))
def test_bytes_grow_with_the_square_of_the_scale(scale: float) -> None:
    assert scaled(1) == {"rows": 1144, "columns": 756, "raw_columns": 1072}, "those of the public sample"
    assert image_bytes(values_of("sar", {**scaled(scale)})) == pytest.approx(3_459_456 * scale**2, rel=0.02)


def test_a_case_for_each_layout_and_number_of_ranks(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, ranks="1,3", raw="own")
    cells = prepared.cells
    layouts = [(cell.layout.ranks, cell.values.word("layout")) for cell in cells]
    assert layouts == [(1, "files"), (1, "containers"), (3, "files"), (3, "containers")]
    assert [cell.files for cell in cells] == [1 + 40 + 64 + 2 + 16, 1 + 40 + 16 + 2, 3 + 40 + 64 + 6 + 16, 3 + 62]
    assert {cell.values.count("rows") for cell in cells} == {114}
    # The engine keeps whole blocks: 1 raw file, 40 templates, 64 images, the detections and records of a rank.
    raw, image = 28 * 4096, -(-114 * 76 * 4 // 4096) * 4096
    assert cells[0].dataset_bytes > raw + 40 * 4096 + 64 * image
    assert cells[0].phases == list(PHASES)
    assert {str(cell.parameters["cache"]) for cell in cells} == {"drop"}
    assert prepared.kinds([Cell(cell.case, cell.target, cell.layout) for cell in cells]) == cells
    lines = prepared.explain().rows
    assert [line[3] for line in lines] == ["files", "containers"] * 2


def test_a_target_without_data_has_nothing_to_drop_or_verify(tmp_path: Path) -> None:
    parameters = prepare(tmp_path, target=["slow=model:"]).cells[0].case.workload.parameters
    assert (parameters["sync"], parameters["verify"]) == ("none", "none")
    assert parameters.get("cache", "none") == "none"
    with pytest.raises(UserError, match="stores no data to verify"):
        prepare(tmp_path, target=["slow=model:"], verify="full")
    with pytest.raises(UserError, match="uses no storage"):
        prepare(tmp_path, backend="model")


def test_want_of_room_and_of_inodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UserError, match=r"give more --space, a smaller --scale, or") as caught:
        prepare(tmp_path, space="1M")
    assert caught.value.code == 3
    put_on(monkeypatch, tmp_path, free_bytes=900 * GIB, free_inodes=200)
    with pytest.raises(UserError, match=r"needs 125 files, but only 100 may be made.*--layout containers") as caught:
        prepare(tmp_path)
    assert caught.value.code == 3
    notes = prepare(tmp_path, layout="containers").notes
    assert [note.code for note in notes] == ["volume-below-memory"]


# Seconds of each phase for 32 images.
SECONDS = {"sdg": 0.1, "k1": 0.8, "k2": 1.6, "k3": 3.2, "k4": 0.4}


def repetition(index: int, grade: Grade = "A", slower: float = 1.0) -> list[AnyRecord]:
    records: list[AnyRecord] = [
        make_phase(
            "c1",
            index,
            phase=name,
            access="write" if name in ("sdg", "k2") else "read",
            elapsed_ns=round(slower * seconds * SECOND_NS),
            counters={"images": 64 if name == "k3" else 32, "files": 80},
            latency_parts={"open": make_latency(32, 2_000), "subimages": make_latency(32, 5_000)},
            grade=grade,
        )
        for name, seconds in SECONDS.items()
    ]
    return [*records, make_case("c1", index, workload="sar", workload_parameters={"layout": "containers"})]


def rows_of(*repetitions: list[AnyRecord]) -> dict[tuple[object, str], Row]:
    records = [record for one in repetitions for record in one]
    rows = sar_rows([make_launch(records, run=make_run(ranks=2))], RowContext(metrics=METRICS))
    return {(row.params["access"], row.metric): row for row in rows}


def test_every_kernel_has_its_rates_and_the_pipeline_that_of_the_slowest() -> None:
    rows = rows_of(*(repetition(index) for index in range(6)))
    assert {access for access, _ in rows} == {*PHASES, "pipeline"}
    for kernel in KERNELS:
        assert rows[kernel, "phase_time"].median == pytest.approx(SECONDS[kernel])
        assert rows[kernel, "file_rate"].median == pytest.approx(80 / SECONDS[kernel])
    assert rows["k2", "image_rate"].median == pytest.approx(20)
    assert rows["k3", "image_rate"].median == pytest.approx(20), "two images of each pair"
    pipeline = rows["pipeline", "pipeline_rate"]
    assert pipeline.median == pytest.approx(32 / 3.2)
    assert (pipeline.unit, pipeline.params["layout"], pipeline.params["image_bytes"]) == (
        "image/s",
        "containers",
        3_459_456,
    )
    assert len(pipeline.repetitions) == 6
    assert pipeline.low is not None


def test_disturbed_repetitions_count_in_the_rate_of_the_pipeline() -> None:
    rows = rows_of(*(repetition(index) for index in range(3)), repetition(3, "C", 9))
    assert rows["pipeline", "pipeline_rate"].repetitions == pytest.approx([*[10.0] * 3, 10.0 / 9])
    alone = rows_of(repetition(0, "C", 2))
    assert alone["pipeline", "pipeline_rate"].repetitions == pytest.approx([5.0])
    assert alone["pipeline", "pipeline_rate"].grade == "C"


def test_metrics_of_calls_are_medians_of_an_operation() -> None:
    phase = make_phase(latency_parts={"open": make_latency(4, 2_000), "subimages": make_latency(4, 5_000)})
    assert metric_named("image_open").sample(phase) == pytest.approx(2e-6)
    assert metric_named("subimage_read").sample(phase) == pytest.approx(5e-6)
    assert metric_named("image_close").sample(phase) is None
    assert metric_named("image_rate").sample(phase) is None
