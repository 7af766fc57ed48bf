# SPDX-License-Identifier: Apache-2.0
"""Suite ``checkpoint`` on real files with the real engine: all layouts, faults, a kill in mid-run, and mistakes."""

from pathlib import Path

import pytest
from tests.e2e import launching
from tests.e2e.commands import command, run
from tests.e2e.launching import MIB, Document, plan, untouched

from support.data import some
from support.simulated_engine import cells_of
from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.runs.cells.planning import Cell
from ullage.runs.options.reading import parse_options
from ullage.suites.checkpoint.options import LAYOUTS, CheckpointOptions
from ullage.suites.checkpoint.suite import layout_of, prepare

RANKS = (1, 2, 3, 8)
# 105 GiB x SCALE are 2.15 MiB.
SCALE = "0.00002"
TENSORS = 5
SMALL = ["--scale", SCALE, "--tensors", str(TENSORS), "--block", "64K"]


@pytest.fixture(scope="module")
def measured(engine: Path, here: Path) -> ResultFolder:
    """All layouts on 1 to 8 ranks, verified as a whole, each once."""
    result = here.parent / "result"
    words = ["run", "checkpoint", "--target", f"here={here}", "--ranks", ",".join(map(str, RANKS)), *SMALL]
    words += ["--verify", "full", "--max-repetitions", "1", "--time", "120s"]
    code, _, err = run(command(engine, *words, "--result", str(result)))
    assert code == 0, err
    return ResultFolder.open(result)


def waits(result: ResultFolder) -> dict[tuple[int, str, str], Row]:
    rows = [row for row in result.read_summary().rows if row.metric == "phase_time"]
    found = {(int(row.params["ranks"]), str(row.params["layout"]), str(row.params["operation"])): row for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_layout_saves_and_restores_the_same_bytes(measured: ResultFolder, here: Path) -> None:
    found = waits(measured)
    assert set(found) == {
        (ranks, name, operation) for ranks in RANKS for name in LAYOUTS for operation in ("save", "restore")
    }
    for ranks in RANKS:
        own = [row for (many, _, _), row in found.items() if many == ranks]
        (volume,) = {int(row.params["volume_bytes"]) for row in own}
        assert 2 * MIB < volume <= 105 * 1024 * MIB * float(SCALE)
        files = {row.params["layout"]: row.params["files"] for row in own}
        assert files == {"rank": ranks, "tensor": ranks * TENSORS, "shared": 1}
    for file in measured.read_records():
        for phase in file.phases:
            assert (phase.status, phase.bad_blocks) == ("ok", 0)
            assert phase.verified_bytes == (phase.bytes if phase.access == "read" else 0)
            syncs = phase.latency_parts["sync"].operations if phase.phase == "forward" else phase.syncs
            each = TENSORS if phase.phase == "forward" else 1
            assert syncs == (each * phase.ranks if phase.access == "write" else 0)
    assert [path.name for path in here.iterdir()] == ["precious"]


def test_the_verdicts_say_synced_and_whose_data_was_read(measured: ResultFolder) -> None:
    for (_, _, operation), row in some(waits(measured).items()):
        if operation == "save":
            assert row.verdict.split()[0] in ("synced", "partly", "memory", "unknown")
            assert "data_of" not in row.params
        else:
            assert row.params["data_of"] == "own"


# MLPerf Storage v2.0 states GiB and ranks. Tensors of a rank: 9 in each layer and 3 more, over the pipeline stages.
PUBLISHED = {"70B": (912, 64, 723), "405B": (5290, 512, 36), "1T": (18000, 1024, 19)}
GIB = 1 << 30


def is_published(bytes_: int, published: float, scale: float) -> bool:
    """Whether bytes are the published ones times the scale, less what equal tensors of whole words leave out."""
    return 0.95 * published * scale < bytes_ <= published * scale


@pytest.fixture(scope="module")
def models(engine: Path, tmp_path_factory: pytest.TempPathFactory) -> launching.Finished:
    """Every model in both modes and two layouts, each saved and restored once by two ranks, in one launch."""
    place = tmp_path_factory.mktemp("models")
    (place / "target").mkdir()
    cases = [
        cell.case.model_copy(update={"target": "t"}).model_dump(mode="json")
        for model in PUBLISHED
        for mode in ("whole", "subset")
        for cell in scaled(engine, model, mode)
    ]
    document = plan(place, cases, f"posix:{place / 'target'}", order="listed")
    done = launching.run(engine, place, document)
    assert done.code == 0, done.stderr
    assert list((place / "target").iterdir()) == []
    return done


def scale_of(model: str, mode: str) -> float:
    """The scale with which two ranks save some MiB; tensors of 70B have less than a page then, those of others many."""
    gib, ranks, _ = PUBLISHED[model]
    size = (2 if model == "70B" else 8) * MIB
    return (size if mode == "whole" else size * 3 / 4) / (gib * GIB * (1 if mode == "whole" else 2 / ranks))


def asked(scale: float, **words: object) -> CheckpointOptions:
    """The options of these words. Words have no scale of so many digits."""
    options = CheckpointOptions.model_validate(parse_options(CheckpointOptions, **words).options)
    return options.model_copy(update={"scale": scale})


def scaled(engine: Path, model: str, mode: str) -> list[Cell]:
    """The cases of a model for two ranks; that with 723 files a rank, of which each is synced, has one layout."""
    layouts = "rank" if model == "70B" else "rank,tensor"
    words = {"target": ["t=/t"], "ranks": "2", "layout": layouts, "model": model, "mode": mode, "verify": "full"}
    return cells_of(prepare, asked(scale_of(model, mode), **words), {"t": "posix:/t"}, describe(engine), None)


@pytest.mark.parametrize("mode", ["whole", "subset"])
@pytest.mark.parametrize("model", list(PUBLISHED))
def test_a_published_model_is_saved_and_restored_with_its_bytes(
    engine: Path, models: launching.Finished, model: str, mode: str
) -> None:
    gib, ranks, tensors = PUBLISHED[model]
    of_two_ranks = gib * GIB * (1 if mode == "whole" else 2 / ranks)
    for cell in some(scaled(engine, model, mode)):
        phases = [phase for phase in models.of("phase") if phase.case == cell.case.id]
        assert [phase.access for phase in phases] == ["write", "read"]
        assert {(phase.status, phase.bad_blocks) for phase in phases} == {("ok", 0)}
        (moved,) = {phase.bytes for phase in phases}
        assert is_published(moved, of_two_ranks, scale_of(model, mode))
        assert phases[1].verified_bytes == moved
        if layout_of(cell.values) == "tensor":
            assert phases[0].operations == 2 * tensors


def test_a_subset_is_measured_as_a_part_of_the_published_run(engine: Path, tmp_path: Path, target: Path) -> None:
    result, scale = tmp_path / "result", 0.0005
    words = ["run", "checkpoint", "--target", f"here={target}", "--ranks", "2", "--model", "405B", "--mode", "subset"]
    words += ["--scale", f"{scale}", "--max-repetitions", "1", "--time", "60s", "--result", str(result)]
    code, _, err = run(command(engine, *words))
    assert code == 0, err
    found = waits(ResultFolder.open(result))
    assert {(name, operation) for _, name, operation in found} == {
        (name, operation) for name in LAYOUTS for operation in ("save", "restore")
    }
    assert {row.params["mode"] for row in found.values()} == {"subset"}
    assert {row.params["files"] for (_, name, _), row in found.items() if name == "tensor"} == {2 * 36}
    (volume,) = {int(row.params["volume_bytes"]) for row in found.values()}
    assert is_published(volume, 2 * 5290 * GIB / 512, scale)
    assert untouched(target)


def faulty(engine: Path, name: str, **fault: object) -> Document:
    """The case of two ranks in a layout, whose calls go wrong as ``fault`` says. A tensor or a call has 64 KiB."""
    words = {"target": ["t=/t"], "ranks": "2", "layout": name, "tensors": 8, "block": "64K", "verify": "full"}
    scale = 2 * 8 * 64 * 1024 / (105 * 1024 * MIB)
    (cell,) = cells_of(prepare, asked(scale, **words), {"t": "posix:/t"}, describe(engine), None)
    assert cell.dataset_bytes == MIB
    wrapped = {"name": "fault", "parameters": {"inner": "posix", **fault}}
    return cell.case.model_dump(mode="json") | {"backend": wrapped}


@pytest.mark.fault("a target that fills up while a checkpoint is saved", "the case failed, nothing of ours is left")
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_target_that_fills_up_meanwhile_ends_the_case(engine: Path, tmp_path: Path, small: Path, name: str) -> None:
    slow = faulty(engine, name, kind="delay", operation="write", count=0, delay_s=0.1)
    sizes = {"steps": 64} if name == "tensor" else {"block_bytes": 4 * MIB}
    slow["workload"]["parameters"] |= sizes
    limits = {"space_fraction": 1.0, "reserve_bytes": 0}
    document = plan(tmp_path, [slow], f"posix:{small}", limits=limits)
    done = launching.run_while_filling(engine, tmp_path, document, small, 16 * MIB)
    assert done.code == 4, done.stderr
    assert 28 in {one.errno for record in done.of("phase") for one in record.failures}
    assert find_run_folders(small) == []
