# SPDX-License-Identifier: Apache-2.0
"""Which cells a disk run has, and what of them is as the target and the engine allow it."""

import itertools
from pathlib import Path

import pytest

from suites.disk.conftest import URING, World
from ullage.errors import UserError
from ullage.runs.cells.direct import DirectIo, direct_io
from ullage.suites.disk.cells import Concurrency, concurrency_of, is_random, with_kinds

MIB = 1 << 20


def test_every_block_is_there_once_with_all_threads_and_both_orders(world: World) -> None:
    cells = world.prepare().planner.blocks(64 * MIB)
    places = [(cell.layout.ranks, is_random(cell), cell.block_bytes) for cell in cells]
    assert sorted(places) == sorted(itertools.product((1, 2), (False, True), (MIB, 4 * MIB)))
    assert {cell.dataset_bytes for cell in cells} == {64 * MIB}, "threads share the volume"
    assert {cell.case.backend.name for cell in cells} == {"posix"}
    assert all(cell.case.backend.parameters == {"direct": True} for cell in cells)
    assert all(cell.case.workload.parameters["cache"] == "none" for cell in cells)
    assert {cell.files for cell in cells} == {1, 2}


def test_small_requests_are_kept_in_flight_by_the_backend_that_can(world: World) -> None:
    cells = world.prepare(depth="1,8,128").planner.smalls(MIB)
    assert {cell.case.backend.name for cell in cells} == {"uring"}
    assert [concurrency_of(cell) for cell in cells] == [Concurrency(depth=depth) for depth in (1, 8, 128)]
    assert all(is_random(cell) and cell.block_bytes == 4096 for cell in cells)
    assert {cell.layout.binding for cell in cells} == {"none"}, "as the peer's"
    assert len({cell.place for cell in cells}) == 3


def test_mappings_have_no_direct_io_and_no_tool_beside(world: World) -> None:
    world.with_mmap()
    prepared = world.prepare(backend="mmap", depth="1,8")
    cells = [*prepared.planner.blocks(64 * MIB), *prepared.planner.smalls(MIB)]
    assert {cell.case.backend.name for cell in cells} == {"mmap"}
    assert {cell.case.workload.parameters.get("cache", "advise") for cell in cells} == {"advise"}
    assert all("direct" not in cell.case.backend.parameters for cell in cells)
    assert prepared.peer() is None
    assert "No other tool is run for comparison with mmap." in str(prepared.explain())
    assert [note.code for note in prepared.notes()] == ["no-queue-depth"]


def test_a_depth_that_no_backend_serves_is_refused(world: World) -> None:
    with pytest.raises(
        UserError, match="--depth: backend 'uring' keeps at most 4096 requests in flight; give a smaller depth"
    ):
        world.prepare(depth="1,8192")


@pytest.mark.parametrize(
    ("uring", "reason"),
    [
        (None, "this engine has no backend 'uring'"),
        (URING.model_copy(update={"available": False, "reason": "io_uring_setup: not permitted"}), "not permitted"),
    ],
)
def test_without_it_threads_stand_in_up_to_four_a_core_and_it_is_said(world: World, uring: None, reason: str) -> None:
    world.without_uring(uring)
    prepared = world.prepare(depth="1,8,128")
    cells = prepared.planner.smalls(MIB)
    assert {cell.case.backend.name for cell in cells} == {"posix"}
    assert [concurrency_of(cell) for cell in cells] == [Concurrency(1), Concurrency(8), Concurrency(16)]
    (note,) = prepared.notes()
    assert note.code == "no-queue-depth"
    assert "1 to 16 threads" in note.text
    assert reason in note.text
    with pytest.raises(UserError, match="uring"):
        world.prepare(backend="uring")


def test_where_a_rank_may_have_threads_they_stand_in_for_depths(world: World) -> None:
    world.without_uring(None)
    world.with_threads()
    prepared = world.prepare(depth="1,8,128")
    cells = prepared.planner.smalls(MIB)
    assert [concurrency_of(cell) for cell in cells] == [Concurrency(threads=threads) for threads in (1, 8, 128)]
    assert {cell.layout.binding for cell in cells} == {"none"}
    assert {cell.dataset_bytes for cell in cells} == {MIB}
    assert "1 to 128 threads" in prepared.notes()[0].text
    with pytest.raises(UserError, match="--depth: backend 'posix' keeps at most 1024 requests in flight"):
        world.prepare(depth="1,2048")
    assert {cell.place for cell in prepared.planner.probes(1 << 40)} == {c.place for c in prepared.cells(64 * MIB, MIB)}


def test_threads_of_blocks_are_processes_or_those_of_one(world: World) -> None:
    with pytest.raises(UserError, match="--by threads: backend 'posix' serves at most 1 threads of a process"):
        world.prepare(by="threads")
    world.with_threads()
    cells = world.prepare(by="threads").planner.blocks(64 * MIB)
    assert {concurrency_of(cell) for cell in cells} == {Concurrency(threads=1), Concurrency(threads=2)}
    assert {cell.layout.binding for cell in cells if concurrency_of(cell).threads > 1} == {"none"}
    assert {cell.dataset_bytes for cell in cells} == {64 * MIB}
    assert {cell.files for cell in cells} == {1}
    with pytest.raises(UserError, match="--by"):
        world.prepare(by="cores")


def test_a_backend_that_was_asked_for_does_everything(world: World) -> None:
    uring = world.prepare(backend="uring")
    assert {cell.case.backend.name for cell in uring.cells(64 * MIB, MIB)} == {"uring"}
    posix = world.prepare(backend="posix")
    assert {cell.case.backend.name for cell in posix.cells(64 * MIB, MIB)} == {"posix"}
    assert "posix was asked for" in posix.notes()[0].text


def test_sizes_below_the_alignment_of_direct_io_are_raised_and_it_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(True, 4096))
    prepared = world.prepare(small="1K", block="6000,1M")
    assert {cell.block_bytes for cell in prepared.planner.smalls(MIB)} == {4096}
    assert {cell.block_bytes for cell in prepared.planner.blocks(64 * MIB)} == {8192, MIB}
    (note,) = prepared.notes()
    assert note.code == "size-aligned"
    assert "moves multiples of 4K only: 1K became 4K, 6000 became 8K" in note.text
    assert prepared.request.options["smalls"] == {"here": 4096}


def test_where_direct_io_is_refused_the_page_cache_is_used_and_it_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(False))
    prepared = world.prepare(small="1K")
    cells = prepared.cells(64 * MIB, MIB)
    assert all("direct" not in cell.case.backend.parameters for cell in cells)
    assert all("cache" not in cell.case.workload.parameters for cell in cells), "the default drops pages before reads"
    assert {cell.block_bytes for cell in prepared.planner.smalls(MIB)} == {1024}
    assert [note.code for note in prepared.notes()] == ["page-cache"]


def test_a_target_without_storage_is_measured_as_its_scheme(world: World) -> None:
    prepared = world.prepare(target=["m=model:"])
    cells = prepared.cells(64 * MIB, MIB)
    assert {cell.case.backend.name for cell in cells} == {"model"}
    assert {cell.case.workload.parameters["verify"] for cell in cells} == {"none"}
    assert prepared.peer() is None
    assert prepared.notes() == []


def test_probes_tell_of_every_kind(world: World) -> None:
    prepared = world.prepare(depth="1,8")
    probes = prepared.planner.probes(1 << 40)
    assert len({cell.layout for cell in probes}) == 1, "one launch"
    assert {cell.place for cell in probes} == {cell.place for cell in prepared.cells(64 * MIB, MIB)}


def test_kinds_are_found_again_of_cells_that_come_from_plans(world: World) -> None:
    from dataclasses import replace

    cells = world.prepare().cells(64 * MIB, MIB)
    bare = [replace(cell, kind="") for cell in cells]
    assert bare != cells
    assert with_kinds(bare, {"here": 4096}) == cells


def test_the_direct_io_of_a_folder_is_found_without_leaving_anything(tmp_path: Path) -> None:
    found = direct_io(tmp_path)
    assert list(tmp_path.iterdir()) == []
    if found.served:
        assert found.alignment_bytes in (512, 1024, 2048, 4096)
    else:
        assert found.alignment_bytes == 1


def test_a_file_system_that_refuses_direct_io_says_so_by_einval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import os

    def refuse(code: int) -> DirectIo:
        def opened(*_words: object) -> int:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(os, "open", opened)
        return direct_io(tmp_path)

    assert refuse(errno.EINVAL) == DirectIo(served=False, alignment_bytes=1)
    assert refuse(errno.EOPNOTSUPP).served, "a file without a name is not served: the engine will tell"
