# SPDX-License-Identifier: Apache-2.0
"""Cells and plans are pure: they cover the question, once each, with ids that mean what they do."""

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suites.sweep.conftest import World
from support.simulated_engine import DESCRIBE
from support.suite_words import options_of
from ullage.errors import UserError
from ullage.model.plan import Layout, Plan, Target
from ullage.model.request import Request
from ullage.runs.cells.planning import Cell, by_layout, make_plan, shuffled_layouts
from ullage.runs.cells.volume import Shape, choose_volume, share_bytes
from ullage.runs.execution import LaunchSpec
from ullage.suites.sweep.cells import SweepOptions, make_cells

TARGETS = [Target(name="a", uri="posix:/a"), Target(name="b", uri="posix:/b")]
MIB = 1 << 20


def options(**words: object) -> SweepOptions:
    return options_of(SweepOptions, **{"target": ["a=/a"], "ranks": "1,2,4", "block": "1M,4M", **words})


def cells(volume: int = 64 * MIB, targets: list[Target] | None = None, **words: object) -> list[Cell]:
    return make_cells(options(**words), targets or TARGETS, DESCRIBE, volume, cores=8)


def plan_of(some: list[Cell], **words: object) -> Plan:
    request = Request(run_id="r1", suite="sweep", created="now")
    return make_plan(request, options(**words), some, LaunchSpec(1, "/r/001.ndjson", 10.0, (3, 3)))


def test_every_combination_is_there_once() -> None:
    found = cells(backend="posix,mpiio")
    places = {(c.target.name, c.case.backend.name, c.layout.ranks, c.block_bytes) for c in found}
    assert places == set(itertools.product("ab", ("posix", "mpiio"), (1, 2, 4), (MIB, 4 * MIB)))
    assert len(found) == len(places) == len({c.case.id for c in found})


def test_parameters_are_those_that_were_asked_for() -> None:
    (cell,) = cells(ranks="2", block="1M", targets=TARGETS[:1], file="shared", order="random", cache="none")
    assert cell.case.workload.parameters == {
        "transfer_bytes": MIB,
        "block_bytes": 32 * MIB,
        "order": "random",
        "cache": "none",
    }
    assert (cell.dataset_bytes, cell.files, cell.phases) == (64 * MIB, 1, ["write", "read"])


def test_buffers_in_turn_are_a_parameter_of_the_case() -> None:
    (cell,) = cells(ranks="1", block="1M", targets=TARGETS[:1], buffers="cold")
    assert cell.case.workload.parameters["buffers"] == 16 << 20
    with pytest.raises(UserError, match="use --buffers"):
        cells(param=["transfer.buffers=2M"])


def test_direct_is_a_matter_of_the_backend() -> None:
    (cell,) = cells(ranks="1", block="1M", targets=TARGETS[:1], cache="direct")
    assert cell.case.backend.parameters == {"direct": True}
    assert cell.case.workload.parameters["cache"] == "none"
    with pytest.raises(UserError, match="backend 'mpiio' has no direct I/O"):
        cells(backend="mpiio", cache="direct")


def test_where_no_data_is_held_nothing_is_dropped_or_verified() -> None:
    (cell,) = cells(ranks="1", block="1M", targets=[Target(name="m", uri="model:")])
    assert cell.case.workload.parameters["verify"] == "none"
    assert cell.case.workload.parameters["cache"] == "none"
    with pytest.raises(UserError, match="stores no data to verify"):
        cells(targets=[Target(name="m", uri="model:")], verify="kept")


def test_a_varied_parameter_is_a_further_axis_of_its_backend_only() -> None:
    found = cells(ranks="1", block="1M", backend="posix,mpiio", vary=["posix.advice=none,sequential,random"])
    advice = [c.case.backend.parameters.get("advice", "none") for c in found if c.place == ("a", "posix")]
    assert advice == ["none", "sequential", "random"]
    assert len([c for c in found if c.place == ("a", "mpiio")]) == 1


def test_a_default_said_aloud_is_the_same_case() -> None:
    said = cells(param=["posix.direct=false", "transfer.sync=close"])
    assert [c.case.id for c in said] == [c.case.id for c in cells()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"backend": "posx"}, "unknown backend 'posx'; did you mean 'posix'?"),
        ({"backend": "pmem"}, "backend 'pmem' is not available here; libpmem not found"),
        ({"backend": "null"}, "--backend: backend 'null' uses no storage, so it cannot measure target 'a'"),
        ({"param": ["posix.dirct=true"]}, "posix.dirct: 'posix' has no parameter 'dirct'; did you mean 'direct'?"),
        ({"param": ["posix.direct=maybe"]}, "'maybe': not a value of 'direct'"),
        ({"param": ["mpiio.collective=true"]}, "mpiio.collective: this run uses no backend or workload 'mpiio'"),
        ({"param": ["transfer.transfer_bytes=1M"]}, "transfer.transfer_bytes: has an option of its own; use --block"),
        ({"param": ["posix.direct=true"], "vary": ["posix.direct=true,false"]}, "posix.direct: is set twice"),
        ({"order": "sideways"}, "--order: unknown word 'sideways'"),
        ({"verify": "some"}, "workload 'transfer': 'verify': unknown choice 'some'"),
        ({"block": "1001"}, "--block: 1001 bytes are not a multiple of 8"),
        ({"nodes": 4}, "--nodes: 1 ranks cannot use 4 nodes"),
        ({"nodes": 1, "ranks_per_node": 2}, "--ranks-per-node: 4 ranks do not fit on 1 nodes with 2 each"),
    ],
)
def test_what_cannot_be_is_one_line(words: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        cells(**words)
    assert str(caught.value).startswith(expected)


def test_layouts() -> None:
    assert options().place(4, 8) == Layout(ranks=4, binding="core")
    assert options().place(4, 2) == Layout(ranks=4, binding="none")
    assert options().place(4, None).binding == "none"
    spread = options(ranks="4,8", ranks_per_node=4)
    assert spread.place(8, 4) == Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core")
    assert spread.place(2, 4) == Layout(ranks=2, nodes=1, ranks_per_node=2, binding="core")
    assert options(ranks="8", nodes=2).place(8, 4) == Layout(ranks=8, nodes=2, ranks_per_node=4, binding="core")


def test_weak_volume_is_of_each_rank() -> None:
    assert {c.layout.ranks: c.dataset_bytes for c in cells(weak=True)} == {1: 64 * MIB, 2: 128 * MIB, 4: 256 * MIB}


@given(
    volume=st.integers(8, 1 << 34),
    ranks=st.integers(1, 300),
    block=st.integers(1, 1 << 20).map(lambda n: 8 * n),
    segments=st.integers(1, 5),
    weak=st.booleans(),
)
def test_shares_are_whole_blocks_and_cover_the_volume(
    volume: int, ranks: int, block: int, segments: int, weak: bool
) -> None:
    share = share_bytes(volume, ranks, block, segments, weak=weak)
    asked = volume if weak else volume // ranks
    assert share >= block
    assert share % block == 0
    assert share * segments <= max(asked, block * segments)
    assert share * segments > asked - block * segments


@given(
    ranks=st.lists(st.integers(1, 64), min_size=1, max_size=5, unique=True),
    blocks=st.lists(st.sampled_from([4096, 131072, 1 << 20, 3 << 20, 16 << 20]), min_size=1, max_size=4, unique=True),
    weak=st.booleans(),
    room=st.integers(0, 1 << 36),
    rate=st.floats(1e6, 1e11),
    seconds=st.floats(0.01, 1000),
)
def test_a_chosen_volume_fits(
    ranks: list[int], blocks: list[int], weak: bool, room: int, rate: float, seconds: float
) -> None:
    shape = Shape(ranks, blocks, 1, weak, room)
    try:
        volume = choose_volume(shape, lambda bytes_: bytes_ / rate, seconds)
    except UserError:
        assert shape.smallest * shape.widest > room
        return
    assert volume * shape.widest <= room
    assert volume >= shape.smallest
    assert volume % max(blocks) == 0
    at_its_smallest = volume <= max(shape.smallest, 16 * MIB) + shape.unit
    assert volume / rate <= seconds * (1 + 1e-9) or at_its_smallest


def test_a_chosen_volume_is_divided_without_a_rest() -> None:
    shape = Shape([1, 2, 3, 4], [131072, MIB, 8 * MIB], 1, weak=False, most_bytes=1 << 40)
    volume = choose_volume(shape, lambda bytes_: bytes_ / 1e9, 1.0)
    assert 0.8e9 < volume <= 1e9
    assert volume % (math.lcm(1, 2, 3, 4) * 8 * MIB) == 0


def test_ids_do_not_depend_on_order_or_run_and_plans_are_shuffled_by_the_seed() -> None:
    (first, *_) = by_layout(cells()).values()
    assert {c.case.id for c in first} <= {c.case.id for c in cells(ranks="1", seed=99)}
    one, same, other = plan_of(first), plan_of(first), plan_of(first, seed=2)
    assert one == same
    assert sorted(case.id for case in one.cases) == sorted(case.id for case in other.cases)
    assert one.seed != other.seed


def test_the_order_of_layouts_is_another_in_each_turn() -> None:
    some = cells(ranks="1,2,3,4,5,6")
    orders = {tuple(group[0].layout.ranks for group in shuffled_layouts(some, 1, turn)) for turn in range(6)}
    assert len(orders) > 1
    assert all(sorted(order) == [1, 2, 3, 4, 5, 6] for order in orders)


def test_a_plan_names_only_the_targets_it_uses() -> None:
    only_a = [c for c in cells(ranks="1") if c.target.name == "a"]
    assert [target.name for target in plan_of(only_a).targets] == ["a"]


def test_a_volume_of_several_nodes_counts_the_disk_of_each(world: World) -> None:
    def most(*, is_remote: bool, **words: object) -> int:
        prepared = world.prepare(**words)
        free: dict[str, object] = {"free_bytes": 100 << 30, "is_memory": False, "is_remote": is_remote}
        places = [place.model_copy(update=free) for place in prepared.machine.places]
        return replace(prepared, machine=replace(prepared.machine, places=places)).shape().most_bytes

    here = most(is_remote=False, ranks="4", nodes=1)
    assert most(is_remote=False, ranks="4", nodes=4) == 4 * here
    # A case that is on one node has to fit there.
    assert most(is_remote=False, ranks="1,4", ranks_per_node=1) == here
    assert most(is_remote=True, ranks="4", nodes=4) == here
