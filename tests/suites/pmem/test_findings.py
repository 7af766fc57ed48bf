# SPDX-License-Identifier: Apache-2.0
"""What a pmem run says: from which size on system calls stop mattering, how many ranks, and what is persistent."""

import random
from dataclasses import replace

import pytest

from suites.pmem.conftest import World
from support.make_records import plain_row
from support.suite_words import options_of
from ullage.analysis.findings.enough import ENOUGH
from ullage.analysis.findings.study import Settable
from ullage.model.record import Gauge
from ullage.model.summary import Row
from ullage.report.data import ReportData, load
from ullage.results.rows import join
from ullage.suites.pmem.findings import WITHOUT_SYNC, findings_of, persistence_findings, with_placement
from ullage.suites.pmem.options import PmemOptions, region_of
from ullage.suites.pmem.report import figures, tables

MIB = 1 << 20
SIZES = (64, 4096, 256 << 10, MIB)


def options() -> PmemOptions:
    return options_of(PmemOptions, target=["pm=/a"], transfer="64,4K,256K,1M", volume="8M", ranks="1,2,4")


def row(interface: str, block: int, rates: "list[float]", ranks: int = 1) -> Row:
    params = {"access": "write", "ranks": ranks, "block_bytes": block, "region_bytes": region_of(block, 8 * MIB)}
    launches = [100 * ranks + (index + block.bit_length()) % 3 for index in range(len(rates))]
    own = {"target": "pm", "verdict": "memory", "case": "", "launches": launches}
    return plain_row(sorted(rates), {**params, "interface": interface}, **own)


def near(rate: float) -> "list[float]":
    return [rate * factor for factor in (0.99, 0.995, 1.0, 1.0, 1.005, 1.01, 1.0, 0.998)]


def test_it_is_said_from_which_size_on_system_calls_stop_mattering() -> None:
    posix = [row("posix", size, near(rate)) for size, rate in zip(SIZES, (1e8, 2e9, 4e9, 5e9), strict=True)]
    mmap = [row("mmap", size, near(rate)) for size, rate in zip(SIZES, (8e8, 4e9, 4.1e9, 5e9), strict=True)]
    (found,) = findings_of([*posix, *mmap], options(), 0.95)
    assert found.title == "System calls stop mattering to pm writes from 256K on, compared with mmap"
    assert found.text == (
        "posix pm writes reach at least 90 % of mmap in transfers of 256K and more. "
        "At 64 a transfer takes 640 ns by posix and 80.0 ns by mmap (8.00 x)."
    )
    assert found.numbers["enough"] == 256 << 10


def test_a_size_at_which_nothing_is_proved_is_not_called_one_at_which_system_calls_matter() -> None:
    """posix has the higher median, and too wide a range to be proved faster or slower."""
    wide = [0.4e9, 0.5e9, 2e9, 2.1e9, 2.2e9, 2.3e9, 2.4e9]
    rows = [
        row("posix", MIB, wide),
        row("posix", 4096, wide),
        row("mmap", MIB, near(1e9)),
        row("mmap", 4096, near(1e9)),
    ]
    (found,) = findings_of(rows, options(), 0.95)
    assert found.title == "Whether system calls matter to pm writes of 1M, compared with mmap, cannot be told"
    assert found.text.endswith("Repeat more often on an idle machine (--min-repetitions).")


def test_where_system_calls_matter_at_every_size_it_is_said() -> None:
    posix = [row("posix", size, near(1e9)) for size in SIZES]
    mmap = [row("mmap", size, near(2e9)) for size in SIZES]
    (found,) = findings_of([*posix, *mmap], options(), 0.95)
    assert found.text.startswith(
        "posix pm writes are not proved to reach 90 % of mmap at 1M. They reach 50 % of it. At 64 a transfer takes"
    )
    assert found.numbers["enough"] is None


def test_one_repetition_proves_nothing() -> None:
    posix, mmap = ([row(name, size, [1e9]) for size in SIZES] for name in ("posix", "mmap"))
    (found,) = findings_of([*posix, *mmap], options(), 0.95)
    assert found.text.startswith("posix pm writes are not proved to reach 90 % of mmap at 1M. Repeat more often")


def test_a_false_claim_of_system_calls_is_rare() -> None:
    """Each size lies just below what is claimed, so any size that is named is an error."""
    draw = random.Random(1)
    wrong = 0
    for _ in range(400):
        posix, mmap = (
            [row(name, size, [rate * draw.lognormvariate(0, 0.03) for _ in range(6)]) for size in SIZES]
            for name, rate in (("posix", ENOUGH * 0.999e9), ("mmap", 1e9))
        )
        (found,) = findings_of([*posix, *mmap], options(), 0.95)
        wrong += found.numbers["enough"] is not None
    assert wrong / 400 < 0.05


def test_it_is_said_with_how_many_ranks_bandwidth_peaks_and_falls() -> None:
    rates = {1: 1e9, 2: 1.9e9, 4: 1.2e9}
    rows = [row("mmap", 256 << 10, near(rate), ranks) for ranks, rate in rates.items()]
    (found,) = findings_of(rows, options(), 0.95)
    assert found.text == (
        "pm mmap writes reach 1.90 GB/s with 2 ranks, 1.90 x the rate of 1 rank. 4 ranks are slower: 1.20 GB/s."
    )
    assert (found.numbers["enough"], found.numbers["falls"]) == (2, True)
    assert found.change == "--ranks 2"


@pytest.mark.parametrize("samples", [1, 2, 6])
def test_ranks_that_cannot_be_told_from_the_best_are_not_enough(samples: int) -> None:
    """Noise hides that one rank reaches a third of the best, and few samples prove nothing of it."""
    wide = [0.4, 0.7, 1.0, 1.3, 2.5, 0.5][:samples] if samples > 2 else [1.0] * samples
    lines = {1: 2.93e9, 2: 5.77e9, 4: 9.51e9}
    rows = [row("mmap", 256 << 10, [rate * factor for factor in wide], ranks) for ranks, rate in lines.items()]
    (found,) = findings_of(rows, options(), 0.95)
    assert found.title.endswith("have their highest median with 4 ranks")
    assert "Which is enough cannot be told. Repeat more often" in found.text
    assert "no gain" not in found.text
    assert "x the rate of" not in found.text
    assert found.numbers["enough"] is None
    assert found.gain is None


def test_more_ranks_than_cores_are_not_advised() -> None:
    rows = [row("mmap", 256 << 10, near(ranks * 1e9), ranks) for ranks in (1, 2)]
    (found,) = findings_of(rows, options(), 0.95)
    assert found.text.endswith("Test more ranks (--ranks).")
    (found,) = findings_of(rows, options(), 0.95, Settable(cores=2))
    assert found.text.endswith("They use all cores.")


def test_ranks_with_a_lower_median_are_enough_where_it_is_proved() -> None:
    rows = [row("mmap", 256 << 10, near(rate), ranks) for ranks, rate in {1: 1e9, 2: 1.9e9, 4: 1.95e9}.items()]
    (found,) = findings_of(rows, options(), 0.95)
    assert found.text == (
        "pm mmap writes reach 1.90 GB/s with 2 ranks, 1.90 x the rate of 1 rank. That is at least 90 % of the highest "
        "median, 1.95 GB/s with 4 ranks."
    )
    assert found.numbers["enough"] == 2


def on_path(path: str, rate: float) -> Row:
    found = row("mmap", 256 << 10, near(rate))
    return found.model_copy(update={"params": {**found.params, "numa_path": path}})


def test_it_is_said_what_the_numa_penalty_is() -> None:
    (found,) = findings_of([on_path("local", 4e9), on_path("remote", 3e9)], options(), 0.95)
    assert found.text.startswith(
        "pm mmap writes reach 3.00 GB/s from remote NUMA nodes, 0.75 x the bandwidth of the local path [0.7"
    )
    assert found.text.endswith("Bind ranks to the node of the device.")
    assert (found.change, found.gain is not None) == ("--numa-path local", True)


def test_equal_paths_cannot_be_told_apart() -> None:
    (found,) = findings_of([on_path("local", 4e9), on_path("remote", 4e9)], options(), 0.95)
    assert found.text.endswith("Whether the paths differ cannot be told.")
    assert found.gain is None


def test_ranks_that_the_engine_has_placed_are_flagged_by_where_they_were(world: World) -> None:
    assert world.run(world.prepare(numa_path="as-is"))[0] == 0
    measured = join(file.records for file in world.result.read_records())
    gauges = {"bound_ranks": Gauge(sum=1, least=0, most=1), "buffer_pages_elsewhere": Gauge(sum=7, least=0, most=7)}
    chosen = next(item for item in measured if item.case.workload_parameters.get("numa_path") == "as-is")
    told = replace(chosen, phase=chosen.phase.model_copy(update={"gauges": gauges}))
    rows = [one for one in world.summary().rows if one.case == chosen.case.case]
    assert rows
    for one in with_placement(rows, [told]):
        if one.params["access"] == chosen.phase.phase:
            assert {"unpinned", "buffers-elsewhere"} <= set(one.flag_codes)
            assert one.params["numa_path"] == "as-is"


def test_it_is_said_what_is_persistent() -> None:
    memory, dax, disk = persistence_findings(
        {
            ("m", "mmap"): ("tmpfs", {"map": "MAP_SHARED"}),
            ("pm", "posix"): ("ext4", {}),
            ("pm", "mmap"): ("ext4", {"map": "MAP_SYNC"}),
            ("d", "mmap"): ("xfs", {"map": "MAP_SHARED"}),
        }
    )
    assert memory.text == "m is a tmpfs: a restart loses all of it."
    assert dax.text.startswith("The kernel grants MAP_SYNC to mmap at pm.")
    assert disk.text.endswith("Data is persistent after fsync. The kernel refuses MAP_SYNC to mmap.")


def measured(world: World) -> ReportData:
    """A run, with the rows that need the stages of a phase, which the simulated engine does not have."""
    summary = world.summary()
    again = [row.model_copy(update={"metric": WITHOUT_SYNC}) for row in summary.rows if row.metric == "bandwidth"]
    return load(world.result, summary.model_copy(update={"rows": [*summary.rows, *again]}))


def test_a_run_has_its_rows_its_tables_and_its_charts(world: World) -> None:
    world.engine.cost = lambda case, _plan: 0.2 if case.backend.name == "mmap" else 0.1
    data = measured(world)
    rows = [row for row in data.summary.rows if row.metric == "bandwidth"]
    assert {str(row.params["interface"]) for row in rows} == {"posix", "mmap", "direct"}
    assert {row.params["region_bytes"] for row in rows} == {MIB, 8 * MIB}
    assert {one.kind for one in data.summary.findings} >= {"system-calls", "writers", "persistence"}
    shown = tables(data)
    assert shown is not None
    titles = [grid.title for grid in shown.grids]
    assert "here reads by region: bandwidth" in titles
    assert "here writes by transfer: time of a transfer without open, sync and close" in titles
    assert [figure.title for figure in figures(data)] == [
        "Bandwidth over ranks: writes",
        "Bandwidth over ranks: reads",
        "Bandwidth over transfer size: writes",
        "Bandwidth over transfer size: reads",
        "Time of a transfer: writes",
        "Time of a transfer: reads",
        "Read bandwidth over region",
    ]


def test_256_bytes_are_marked_on_the_charts_over_transfer_size(world: World) -> None:
    charts = {figure.title: str(figure.spec) for figure in figures(measured(world))}
    assert "'name': '256'" in charts["Time of a transfer: reads"]
    assert "'name': '256'" not in charts["Read bandwidth over region"]
