# SPDX-License-Identifier: Apache-2.0
"""Which cases a memory run has."""

from collections import Counter

import pytest

from suites.memory.conftest import CACHES, KIB, MIB, memory_describe, memory_options
from support.data import some
from ullage.model.describe import Describe
from ullage.runs.kernels.prepared import KernelCase
from ullage.suites.memory.options import choose_sizes
from ullage.suites.memory.prepare import Planner


def planner(description: Describe, *, most: int = 1 << 30, **members: object) -> Planner:
    options = memory_options(most=most, **members)
    sizes = choose_sizes(options.caches, options.threads[-1], most, quick=options.quick)
    return Planner(options, sizes, description)


def named(cases: list[KernelCase], workload: str) -> list[dict[str, object]]:
    """All parameters of the cases of a workload, those at their defaults too."""
    (registered,) = [one for one in memory_describe().workloads if one.name == workload]
    defaults = {parameter.name: parameter.default for parameter in registered.parameters}
    return [{**defaults, **case.case.workload.parameters} for case in cases if case.case.workload.name == workload]


def test_every_case_is_there_once(description: Describe) -> None:
    cases = planner(description).cases()
    assert len({case.case.id for case in cases}) == len(cases)
    assert Counter(case.case.workload.name for case in cases).keys() == {
        "stream",
        "chase",
        "core-to-core",
        "loaded-latency",
        "updates",
    }
    assert {case.target.uri for case in cases} == {"mem:"}


def test_the_tables_of_blocks_are_whole(description: Describe) -> None:
    found = [one for one in named(planner(description).cases(), "stream") if one["block_bytes"]]
    table = {(one.get("order", "sequential"), one.get("threads", 1), one["block_bytes"]) for one in found}
    blocks = (KIB, MIB, 10 * MIB)
    assert table == {(order, t, b) for order in ("sequential", "random") for t in (1, 2) for b in blocks}
    for one in found:
        threads, block, size = one.get("threads", 1), one["block_bytes"], one["working_set_bytes"]
        assert isinstance(threads, int)
        assert isinstance(block, int)
        assert isinstance(size, int)
        assert size % (2 * block * threads) == 0, "both arrays of every thread hold whole blocks"
        assert size >= 128 * MIB


def test_streams_have_both_kinds_of_stores_where_they_store(description: Describe) -> None:
    found = [one for one in named(planner(description).cases(), "stream") if one["working_set_bytes"] == 128 * MIB]
    kinds = {(one.get("kernel", "triad"), one.get("stores", "ordinary")) for one in found if not one["block_bytes"]}
    assert ("read", "non-temporal") not in kinds
    assert ("read-write", "non-temporal") not in kinds
    for kernel in ("write", "copy", "scale", "add", "triad"):
        assert {(kernel, "ordinary"), (kernel, "non-temporal")} <= kinds


def test_an_engine_without_non_temporal_stores_is_not_asked_for_them() -> None:
    found = named(planner(memory_describe(non_temporal=False)).cases(), "stream")
    assert not any(one.get("stores") == "non-temporal" for one in some(found))


def test_the_curve_goes_from_4_kib_to_beyond_the_caches_by_one_thread_and_all(description: Describe) -> None:
    cases = list(planner(description).curves())
    reads = [one for one in named(cases, "stream") if one.get("kernel") == "read" and one.get("threads", 1) == 1]
    sizes = [one["working_set_bytes"] for one in reads]
    assert sizes[:3] == [4 * KIB, 6 * KIB, 8 * KIB]
    assert sizes[-1] == 128 * MIB
    assert {one.get("threads", 1) for one in named(cases, "stream")} == {1, 2}


def test_many_threads_get_no_set_too_small_to_share(description: Describe) -> None:
    cases = list(planner(description, threads=[1, 64], most=1 << 34).curves())
    shared = [one["working_set_bytes"] for one in named(cases, "stream") if one.get("threads") == 64]
    assert min(int(str(size)) for size in shared) == 64 * KIB


def test_named_working_sets_take_the_place_of_the_usual_ones(description: Describe) -> None:
    wanted = planner(description, working_sets=[8 * KIB, MIB])
    assert {one["working_set_bytes"] for one in named(list(wanted.curves()), "stream")} == {8 * KIB, MIB}
    chases = named(list(wanted.access_times()), "chase")
    by_pages = {
        pages: {one["working_set_bytes"] for one in chases if one["pages"] == pages}
        for pages in ("small", "huge", "default")
    }
    assert by_pages["small"] == by_pages["huge"] == {8 * KIB, MIB}
    # What a program gets without asking is told for memory itself.
    assert by_pages["default"] == {wanted.sizes.chased}


def test_chases_tell_pages_and_locality(description: Describe) -> None:
    found = named(list(planner(description).access_times()), "chase")
    last = [one for one in found if one["working_set_bytes"] == 256 * MIB]
    assert {(one.get("pages", "default"), one.get("locality_bytes", 0)) for one in last} == {
        ("small", 0),
        ("huge", 0),
        ("default", 0),
        ("small", 256 * KIB),
    }


def test_one_thread_has_nothing_to_load_memory_with(description: Describe) -> None:
    assert list(planner(description, threads=[1], cpus=[0]).loaded()) == []
    assert list(planner(description, threads=[1], cpus=[0]).cores()) == []
    assert len(named(list(planner(description, threads=[1]).cases()), "loaded-latency")) == 0


def test_under_load_chaser_and_injectors_share_what_may_be_taken(description: Describe) -> None:
    cases = list(planner(description, most=200 * MIB).loaded())
    assert {one["working_set_bytes"] for one in named(cases, "loaded-latency")} == {100 * MIB}


@pytest.mark.parametrize(("cpus", "pairs"), [([0], 0), ([0, 1], 1), (list(range(16)), 120)])
def test_every_pair_of_cpus_is_there(description: Describe, cpus: list[int], pairs: int) -> None:
    assert len(list(planner(description, cpus=cpus).cores())) == pairs


def test_every_numa_node_is_seen_from_every_other(description: Describe) -> None:
    cases = list(planner(description, nodes=[0, 1], node_threads={0: 4, 1: 4}, threads=[1, 8]).nodes())
    places = {(one["cpu_node"], one["memory_node"], one["threads"]) for one in named(cases, "stream")}
    assert places == {(a, b, 4) for a in (0, 1) for b in (0, 1)}
    assert len(named(cases, "chase")) == 4


def test_a_first_look_has_fewer_cases(description: Describe) -> None:
    whole, first = planner(description).cases(), planner(description, quick=True).cases()
    assert len(first) < len(whole) / 2
    assert {case.case.workload.name for case in first} == {case.case.workload.name for case in whole}


def test_what_is_expected_of_a_case_grows_with_its_set(description: Describe) -> None:
    by_size = {case.words[3]: case.seconds for case in planner(description).access_times()}
    assert by_size["4K"] < by_size["256M"]
    assert CACHES[2].name == "L3"
