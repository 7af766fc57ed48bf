# SPDX-License-Identifier: Apache-2.0
"""Which interfaces a target gets, the cells of a run, and what is left out and said."""

import pytest

from suites.pmem.conftest import World
from ullage.errors import UserError
from ullage.model.system import BlockDevice
from ullage.runs.cells.direct import DirectIo
from ullage.runs.cells.planning import Cell
from ullage.runs.cells.prepared import PreparedCells
from ullage.runs.options.reading import parse_options
from ullage.suites.pmem.options import PmemOptions, region_of
from ullage.suites.pmem.suite import interface_of, with_kinds

KIB, MIB = 1 << 10, 1 << 20


def interface(cell: Cell) -> str:
    return interface_of(cell.case.backend.name, cell.case.backend.parameters)


def shapes(cells: "list[Cell]", name: str) -> "set[tuple[int, int, int]]":
    return {
        (cell.layout.ranks, cell.block_bytes, cell.dataset_bytes // cell.layout.ranks)
        for cell in cells
        if interface(cell) == name
    }


def test_defaults_have_the_sizes_of_the_seed() -> None:
    asked = parse_options(PmemOptions, target=["a=/a"])
    found = PmemOptions.model_validate(asked.options)
    assert found.transfers == [64 << 2 * step for step in range(10)]
    assert found.regions == [MIB << 2 * step for step in range(5)]
    assert (found.volume, found.block, found.interfaces) == (64 * MIB, 256 * KIB, [])
    assert PmemOptions.model_validate_json(found.model_dump_json()) == found


def test_a_drive_has_posix_mmap_and_direct_io(world: World) -> None:
    cells = list(world.prepare().cells)
    assert {interface(cell) for cell in cells} == {"posix", "mmap", "direct"}
    by_ranks = {(1, 256 * KIB, 8 * MIB), (2, 256 * KIB, 8 * MIB)}
    by_transfer = {(1, 64, 8 * MIB), (1, 4 * KIB, 8 * MIB), (1, MIB, 8 * MIB)}
    by_region = {(1, 256 * KIB, MIB), (1, 256 * KIB, 8 * MIB)}
    assert shapes(cells, "mmap") == by_ranks | by_transfer | by_region
    assert shapes(cells, "direct") == shapes(cells, "mmap") - {(1, 64, 8 * MIB)}
    bare = [Cell(cell.case, cell.target, cell.layout) for cell in cells]
    assert with_kinds(bare) == cells


def test_persistent_memory_has_posix_mmap_and_pmem_and_no_cache_to_drop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.suites.pmem.suite.is_dax", lambda _path: True)
    world.add_libpmem()
    prepared = world.prepare()
    assert {interface(cell) for cell in prepared.cells} == {"posix", "mmap", "pmem"}
    assert {cell.case.workload.parameters["cache"] for cell in prepared.cells} == {"none"}
    assert "Target here: persistent memory (DAX)." in prepared.lines
    assert list(prepared.notes) == []


def test_without_libpmem_a_note_says_so(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.suites.pmem.suite.is_dax", lambda _path: True)
    prepared = world.prepare()
    assert {interface(cell) for cell in prepared.cells} == {"posix", "mmap"}
    assert [note.text for note in prepared.notes] == [
        "interface pmem was not measured at target 'here': not available: libpmem.so.1 is not installed"
    ]


def test_an_interface_asked_for_by_name_is_an_error_where_it_is_not_there(world: World) -> None:
    with pytest.raises(UserError, match=r"--interface pmem: not available: libpmem.so.1 is not installed") as caught:
        world.prepare(interface="pmem")
    assert caught.value.code == 3


def test_an_interface_asked_for_by_name_is_measured_where_it_is_not_usual(world: World) -> None:
    world.add_libpmem()
    assert {interface(cell) for cell in world.prepare(interface="pmem,posix").cells} == {"posix", "pmem"}


def test_a_drive_without_direct_io_is_measured_without_it_and_it_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.runs.cells.direct.direct_io", lambda _path: DirectIo(served=False))
    prepared = world.prepare()
    assert {interface(cell) for cell in prepared.cells} == {"posix", "mmap"}
    assert [note.code for note in prepared.notes] == ["interface-left-out"]


def test_a_rank_makes_whole_transfers_and_no_more_than_a_limit() -> None:
    assert region_of(64, 64 * MIB) == 16 * MIB
    assert region_of(256, 64 * MIB) == 64 * MIB
    assert region_of(16 * MIB, MIB) == 16 * MIB
    assert region_of(3 * MIB, 64 * MIB) == 63 * MIB


def test_the_room_is_checked_before_anything_is_started(world: World) -> None:
    with pytest.raises(UserError, match="a smaller --volume fits"):
        world.prepare(volume="1024P", region="1M")


def paths(prepared: PreparedCells) -> "list[tuple[str, int, str]]":
    return sorted(
        (str(cell.case.workload.parameters["numa_path"]), cell.layout.ranks, cell.layout.binding)
        for cell in prepared.cells
        if "numa_path" in cell.case.workload.parameters and cell.case.backend.name == "mmap"
    )


def test_on_several_numa_nodes_ranks_are_bound_near_the_device_and_far_from_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ullage.suites.pmem.suite.count_numa_nodes", lambda: 2)
    monkeypatch.setattr("ullage.system.storage.read_device", lambda *_words: BlockDevice(name="pmem0", numa_node=1))
    prepared = world.prepare()
    assert paths(prepared) == [("local", 2, "none"), ("remote", 2, "none")]
    assert "NUMA path at here: local, remote." in prepared.lines


def test_on_one_numa_node_there_is_no_other_path(world: World) -> None:
    prepared = world.prepare()
    assert paths(prepared) == []
    assert "NUMA path at here: not available: one NUMA node." in prepared.lines
    with pytest.raises(UserError, match="--numa-path remote: not available: one NUMA node"):
        world.prepare(numa_path="remote")
    assert paths(world.prepare(numa_path="as-is")) == [("as-is", 2, "none")]
