# SPDX-License-Identifier: Apache-2.0
"""The sizes, options, cases, sentences and pictures of suite ``tile``."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.make_records import plain_row
from support.simulated_engine import DESCRIBE, as_of_engine, built_engine
from support.suite_words import options_of, request_of
from ullage.errors import UserError
from ullage.model.describe import Describe
from ullage.model.summary import Row
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.inputs import EngineContext
from ullage.runs.options.engine import values_of
from ullage.suites.tile.options import (
    TileOptions,
    Tiling,
    grid_of,
    read_hints,
    read_overlap,
    read_sizes,
    text_of,
    tiling_of,
)
from ullage.suites.tile.report import picture, strip, tilings_of
from ullage.suites.tile.suite import HintUses, findings_of, value_in_use
from ullage.suites.tile.suite import prepare as prepare_tile

MIB = 1 << 20
DISPLAY = Tiling((3, 2, 1), (1024, 768, 1), (270, 128, 0), 3)


def describe() -> Describe:
    """The simulated engine with workload ``tile``, and views in its MPI-IO."""
    backends = [
        one.model_copy(update={"capabilities": [*one.capabilities, "views"]}) if one.name == "mpiio" else one
        for one in DESCRIBE.backends
    ]
    backends.append(as_of_engine("hdf5", "path", "data", "arrays"))
    workloads = [*DESCRIBE.workloads, as_of_engine("tile")]
    return DESCRIBE.model_copy(update={"workloads": workloads, "backends": backends})


def options(**words: object) -> TileOptions:
    return options_of(TileOptions, **{"target": ["a=/a"], **words})


def prepare(tmp_path: Path, **words: object) -> PreparedCells:
    usual = {"target": [f"here={tmp_path}"], "tiles": "2x1", "tile": "64x32", "frames": 2}
    return prepare_tile(
        request_of("tile", TileOptions, **{**usual, **words}), EngineContext(built_engine(), describe())
    )


def test_sizes_are_those_of_the_original() -> None:
    assert DISPLAY.data_set == (2532, 1408, 1)
    assert DISPLAY.frame_bytes == 2532 * 1408 * 3
    large = Tiling((2, 2, 1), (1024, 1024, 1), (16, 8, 0), 16)
    assert large.file_bytes == 66_324_480
    assert DISPLAY.begin_of(4) == (754, 640, 0)
    assert tiling_of(values_of("tile", DISPLAY.parameters)) == DISPLAY
    assert tiling_of(values_of("tile", {})) == Tiling((1, 1, 1), (1024, 1024, 1), (0, 0, 0), 3)


@given(st.integers(1, 4000), st.integers(2, 3))
def test_a_grid_has_all_ranks_and_is_as_square_as_can_be(ranks: int, dimensions: int) -> None:
    grid = grid_of(ranks, dimensions)
    assert math.prod(grid) == ranks
    assert grid[0] >= grid[1] >= grid[2] >= 1
    if dimensions == 2:
        better = [n for n in range(grid[1] + 1, math.isqrt(ranks) + 1) if ranks % n == 0]
        assert better == []


@pytest.mark.parametrize("text", ["3", "3x", "0x2", "2x2x2x2", "ax2", "3 x 2", "-1x2"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        read_sizes(text)


def test_sizes_are_read_as_they_are_written() -> None:
    assert read_sizes("4x3x2") == [4, 3, 2]
    assert read_overlap("270/128") == read_overlap("270x128") == [270, 128]
    assert read_overlap("8") == [8]
    assert text_of((3, 2, 1)) == "3x2"
    assert text_of((3, 2, 4)) == "3x2x4"


def test_the_preset_is_the_display() -> None:
    found = options(preset="display")
    assert found.ranks == [6]
    assert found.tiling(6) == Tiling((3, 2, 1), (1024, 768, 1), (270, 128, 0), 3, 0, 8)
    assert options(preset="display", element="4").element_bytes == 4
    assert options(preset="large").tiling(4).frame_bytes == 66_324_480
    assert options(quick=True).frames == 2
    assert TileOptions.model_validate_json(found.model_dump_json()) == found


def test_without_tiles_every_rank_has_one() -> None:
    found = options(ranks="1,2,6,8", overlap="8")
    assert [found.tiling(ranks).tiles for ranks in found.ranks] == [(1, 1, 1), (2, 1, 1), (3, 2, 1), (4, 2, 1)]
    deep = options(ranks="8", tile="32x32x32", overlap="4")
    assert deep.tiling(8).tiles == (2, 2, 2)
    assert deep.tiling(8).overlap == (4, 4, 4)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"tiles": "3x2", "ranks": "4"}, "--ranks 4: 3x2 tiles need 6 ranks"),
        ({"tile": "64x64", "overlap": "64"}, "--overlap 64: an overlap of 64 elements in a tile of 64"),
        ({"tiles": "3"}, "--tiles 3: is not two or three sizes"),
        ({"hints": ["fast"]}, "is not a set of hints"),
        ({"hints": ["default", "default"]}, "two sets of hints are called 'default'"),
        ({"hints": ["a:cb_nodes"]}, "'cb_nodes' is not a hint"),
        ({"access": "read"}, "--access read: reads need what was written"),
        ({"calls": "both"}, "--calls: unknown word 'both'"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)


def test_sets_of_hints_are_known_or_written_out() -> None:
    default, two, own = read_hints(["default", "two-phase", "wide:cb_nodes=4,cb_buffer_size=1048576"])
    assert default.hints == {}
    assert two.hints["romio_cb_write"] == "enable"
    assert own.hints == {"cb_nodes": "4", "cb_buffer_size": "1048576"}


def test_calls_and_hints_are_measured_side_by_side(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, hints=["default", "wide:cb_nodes=2"])
    cells = prepared.cells
    found = {
        (cell.case.workload.parameters.get("calls", "independent"), bool(cell.case.backend.parameters))
        for cell in cells
    }
    assert found == {(calls, given) for calls in ("independent", "collective") for given in (False, True)}
    assert {cell.dataset_bytes for cell in cells} == {2 * 128 * 32 * 3}
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in prepared.cells]
    assert prepared.kinds(bare) == prepared.cells


def test_an_explanation_shows_the_file_and_who_waits(tmp_path: Path) -> None:
    explained = prepare(tmp_path, ranks="4", header="1K").explain()
    text = " ".join([*explained.head, *explained.tail])
    assert "2x1 tiles with overlap 0x0 make a data set of 128x32 elements." in text
    assert f"A frame has 12,288 bytes, the file {1024 + 2 * 12288:,}." in text
    assert "ranks 2 to 3 of 4 have no tile and wait" in text
    assert explained.rows[0][3] == "2x1"
    assert "rank 2 of 3 has no tile and waits" in " ".join(prepare(tmp_path, ranks="3").explain().head)


def test_hdf5_transfers_as_the_calls_say_and_has_its_parameters(tmp_path: Path) -> None:
    prepared = prepare(tmp_path, backend="hdf5", hints=["default", "wide:cb_nodes=2"], param=["hdf5.chunk_bytes=4K"])
    found = [(one.case.workload.parameters.get("calls", "independent"), one.case.backend) for one in prepared.cells]
    assert {backend.name for _, backend in found} == {"hdf5"}
    assert all(backend.parameters["chunk_bytes"] == 4096 for _, backend in found)
    assert sorted((calls, len(backend.parameters)) for calls, backend in found) == [
        ("collective", 2),
        ("collective", 3),
        ("independent", 1),
        ("independent", 2),
    ]
    assert all(backend.parameters.get("collective", False) == (calls == "collective") for calls, backend in found)
    assert "HDF5 adds its own data" in " ".join(prepared.explain().head + prepared.explain().tail)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"backend": "posix"}, "has neither views of files nor arrays; use mpiio or hdf5"),
        ({"backend": "hdf5", "header": "8"}, "--header: backend 'hdf5' places the data itself"),
        ({"param": ["hdf5.chunk_bytes=4K"]}, "hdf5.chunk_bytes: this run uses no backend or workload 'hdf5'"),
        ({"backend": "hdf5", "param": ["hdf5.chunk=4K"]}, "hdf5.chunk: 'hdf5' has no parameter 'chunk'"),
        ({"backend": "hdf5", "param": ["hdf5.collective=true"]}, "has an option of its own; use --calls"),
    ],
)
def test_what_a_backend_does_not_have_is_refused(tmp_path: Path, words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        prepare(tmp_path, **words)
    assert expected in str(caught.value)


def test_a_file_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--frames"):
        prepare(tmp_path, tile="4096x4096", frames=100, space="1M")


def row(samples: list[float], calls: str = "collective", hint_set: str = "default", metric: str = "bandwidth") -> Row:
    params = {"access": "write", "ranks": 6, "nodes": 1, "block_bytes": DISPLAY.tile_bytes, "backend": "mpiio"}
    params |= {"tiles": "3x2", "tile": "1024x768", "overlap": "270x128", "element_bytes": 3, "header_bytes": 0}
    params |= {"frames": 1, "calls": calls, "hint_set": hint_set}
    unit = "B/s" if metric == "bandwidth" else "frame/s"
    return plain_row(samples, params, metric=metric, unit=unit, case=f"{calls}-{hint_set}")


CLEAR = [1.0e9, 1.01e9, 0.99e9, 1.0e9, 1.02e9, 0.98e9, 1.0e9, 1.01e9]
HALF = [value / 2 for value in CLEAR]
WIDE = [1.0e9, 3.0e9, 2.0e9, 1.5e9, 2.5e9, 1.2e9]


def test_calls_are_faster_only_where_the_comparison_holds() -> None:
    (found,) = findings_of([row(CLEAR), row(HALF, "independent")], [], 0.95)
    assert (found.kind, found.change, found.severity) == ("tile-calls", "--calls collective", "advice")
    assert found.gain is not None
    assert found.gain.factor == pytest.approx(2, rel=0.02)
    (other,) = findings_of([row(HALF), row(CLEAR, "independent")], [], 0.95)
    assert other.change == "--calls independent"
    (open_,) = findings_of([row(WIDE), row(WIDE, "independent")], [], 0.95)
    assert open_.gain is None
    assert "Whether collective or independent calls are faster cannot be told on disk in 1 of 1 setting" in open_.text


def test_a_set_of_hints_is_compared_with_none() -> None:
    (found,) = findings_of([row(HALF), row(CLEAR, hint_set="wide")], [], 0.95)
    assert (found.kind, found.change) == ("tile-hints", "--hints wide")
    (nothing,) = findings_of([row(CLEAR), row(HALF, hint_set="wide")], [], 0.95)
    assert nothing.gain is None
    assert "That a set of hints is faster than default is not shown on disk in 1 of 1 setting" in nothing.text


def test_hints_that_the_library_did_not_use_are_named() -> None:
    wide = "disk", "wide"
    uses: HintUses = [
        (wide, "cb_nodes", "4", "2"),
        (wide, "x", "1", ""),
        (wide, "cb_nodes", "4", ""),
        (wide, "x", "1", "1"),
    ]
    first, second = findings_of([], uses, 0.95)
    assert first.kind == second.kind == "tile-hints-ignored"
    assert "was given the hint cb_nodes = 4 (set wide) on disk and used 2 instead." in first.text
    assert "did not use it in 1 of 2 phases." in second.text


def test_a_hint_of_another_library_is_not_used_though_it_is_repeated() -> None:
    hints = {"romio_cb_write": "enable", "cb_nodes": "1"}

    def uses(component: str) -> HintUses:
        return [
            (("disk", "two-phase"), key, value, value_in_use(key, hints, component)) for key, value in hints.items()
        ]

    (found,) = findings_of([], uses("ompio"), 0.95)
    assert found.numbers["key"] == "romio_cb_write"
    assert "did not use it" in found.text
    assert findings_of([], uses("romio321"), 0.95) == []


def test_frames_a_second_are_stated() -> None:
    (found,) = findings_of(
        [row([120.0] * 6, metric="frame_rate"), row([60.0] * 6, "independent", "default", "frame_rate")], [], 0.95
    )
    assert found.kind == "tile-frames"
    assert "120 frame/s" in found.text


def test_a_picture_has_each_tile_at_its_place() -> None:
    (tiling,) = tilings_of([row(CLEAR)])
    assert tiling == DISPLAY
    values = picture(tiling)["data"]["values"]
    assert [value["rank"] for value in values] == ["0", "1", "2", "3", "4", "5"]
    assert (values[4]["x"], values[4]["x2"], values[4]["y"], values[4]["y2"]) == (754, 1778, 640, 1408)
    first, second, third = strip(tiling)["data"]["values"]
    assert (first["x"], first["x2"], second["x"]) == (0, 3072, 754 * 3)
    assert third["x2"] == 2532 * 3
