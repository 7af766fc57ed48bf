# SPDX-License-Identifier: Apache-2.0
"""Rows of a matrix and the sentences over them."""

import pytest

from support.flags import flags_of
from support.make_records import plain_row
from ullage.analysis.metrics import metric_named
from ullage.model.flags import Flag
from ullage.model.record import CaseRecord, Done, PhaseRecord, Stage
from ullage.model.summary import Ceiling, Row
from ullage.model.system import SystemFacts
from ullage.suites.matrix.findings import Level, findings_of, label_rows, levels_in, levels_of
from ullage.suites.matrix.suite import MatrixOptions

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
LEVELS = [Level("L2", MIB), Level("L3", 32 * MIB), Level("RAM", 24 * GIB)]


def row(test: str, rate: float, file: int = MIB, record: int = 64 * KIB, **more: object) -> Row:
    params = {"test": test, "access": "read", "ranks": 1, "file_bytes": file, "block_bytes": record}
    return plain_row(rate, params, **{"metric": "file_bandwidth", "target": "here", "case": "c1", **more})


def case(**parameters: object) -> CaseRecord:
    return CaseRecord.model_validate(
        {
            "kind": "case",
            "case": "c1",
            "repetition": 0,
            "status": "ok",
            "stop": "",
            "relative_width": None,
            "target": "here",
            "backend": "posix",
            "workload": "transfer",
            "backend_parameters": {"positioned": False},
            "workload_parameters": {"block_bytes": 4 * MIB, "phases": ["write", "read", "reread"], **parameters},
            "elapsed_ns": 1,
        }
    )


def options(**more: object) -> MatrixOptions:
    return MatrixOptions.model_validate({"files": [4 * MIB], "records": [64 * KIB], "tests": [1], **more})


def measured(access: str, verdict: str = "cold", **more: object) -> Row:
    params = {"access": access, "ranks": 1, "block_bytes": 64 * KIB, "backend": "posix", "order": "sequential"}
    return row("", 1e9, verdict=verdict, **more).model_copy(update={"params": params})


def test_rows_are_named_as_iozone_names_them_and_the_making_of_the_file_is_none() -> None:
    rows = [measured("write", "synced"), measured("read"), measured("reread", "warm")]
    found = label_rows(rows, {"c1": case()}, options())
    assert [(one.params["test"], one.params["iozone"], one.params["access"]) for one in found] == [
        ("read", 1, "read"),
        ("reread", 1, "reread"),
    ]
    assert {one.params["file_bytes"] for one in found} == {4 * MIB}
    assert label_rows(rows, {}, options()) == []


@pytest.mark.parametrize(("verdict", "bounded"), [("cold", True), ("warm", False), ("mixed 37 %", False)])
def test_the_devices_ceiling_does_not_bound_what_a_cache_answered(verdict: str, bounded: bool) -> None:
    ceiling = Ceiling(value=5e8, kind="declared", source="x")
    above = measured(
        "reread",
        verdict,
        ceiling=ceiling,
        share=2.0,
        flags=[Flag(code="INVALID:above-ceiling", reason="2.00 times the ceiling")],
    )
    (found,) = label_rows([above], {"c1": case()}, options())
    assert (found.ceiling is not None) == bounded
    assert ("INVALID:above-ceiling" in found.flag_codes) == bounded


def phase(stages: dict[str, Stage]) -> PhaseRecord:
    done = Done(elapsed_ns=1, bytes=1, operations=1)
    return PhaseRecord(
        case="c1", repetition=0, phase="write", access="write", status="ok", grade="A", ranks=1, start_ns=0,
        elapsed_ns=9000, bytes=1000, operations=1, stages=stages, first_done=done, last_done=done,
    )  # fmt: skip


def test_a_number_counts_transfers_and_sync_and_nothing_around() -> None:
    transfer = Stage(first_start_ns=1000, last_stop_ns=3000, longest_ns=2000)
    sync = Stage(first_start_ns=3000, last_stop_ns=6000, longest_ns=3000)
    assert metric_named("file_bandwidth").sample(phase({"transfer": transfer})) == pytest.approx(1000 / 2e-6)
    assert metric_named("file_bandwidth").sample(phase({"transfer": transfer, "sync": sync})) == pytest.approx(
        1000 / 5e-6
    )
    assert metric_named("file_bandwidth").sample(phase({})) is None


def test_caches_that_a_machine_states_are_levels_in_rising_order() -> None:
    facts = {"taken": "now", "cpu": {"caches": {"L3": 32 * MIB, "L1d": 32 * KIB, "L2": MIB}}}
    system = SystemFacts.model_validate({**facts, "memory": {"total_bytes": 24 * GIB}})
    assert levels_of(system) == LEVELS == levels_in(system.model_dump(mode="json"))
    assert levels_of(None) == levels_in({}) == []
    assert levels_in({"cpu": {"caches": {"L2": "big"}}, "memory": 3}) == []


def reread_maps(*factors: float) -> list[Row]:
    """A rate for each file, and for each record one that differs a little by ``factors``."""
    rates = {64 * KIB: 12e9, MIB: 10e9, 16 * MIB: 5e9, GIB: 4.9e9}
    records = dict(enumerate(factors, start=12))
    return [row("reread", rate * more, file, 1 << at) for file, rate in rates.items() for at, more in records.items()]


def test_it_is_said_where_a_cache_ends() -> None:
    found = next(one for one in findings_of(reread_maps(1, 1.01, 0.99, 1), LEVELS) if one.kind == "cache-ends")
    assert found.text == (
        "here rereads reach, by what holds the file: 11.0 GB/s within L2 1.00 MiB, 5.00 GB/s within L3 32.0 MiB, "
        "4.90 GB/s within RAM 24.0 GiB."
    )
    assert found.numbers["ends"] == ["L2"]


def test_a_step_by_noise_or_of_one_record_is_no_end() -> None:
    noisy = [
        row("reread", rate, file, 1 << at)
        for at, two in enumerate([(9e9, 5e9), (4e9, 5e9), (9e9, 5e9), (5e9, 7e9)], start=12)
        for file, rate in zip((MIB, 16 * MIB), two, strict=True)
    ]
    assert [one for one in findings_of(noisy, LEVELS) if one.kind == "cache-ends"] == []
    assert [one for one in findings_of(reread_maps(1), LEVELS) if one.kind == "cache-ends"] == []


def test_no_step_is_no_end_of_a_cache() -> None:
    rows = [row("reread", 5e9, file) for file in (64 * KIB, 16 * MIB, GIB)]
    assert [one for one in findings_of(rows, LEVELS) if one.kind == "cache-ends"] == []


def rereads(*ratios: float) -> list[Row]:
    pairs = [
        (row("read", 1e9, file), row("reread", ratio * 1e9, file, verdict="warm"))
        for file, ratio in zip((MIB, 4 * MIB, 16 * MIB, 64 * MIB), ratios, strict=False)
    ]
    return [one for pair in pairs for one in pair]


def test_rereads_are_held_against_reads_of_the_same_cells() -> None:
    rows = [*rereads(8, 8.1, 7.9, 8), row("reread", 99e9, 2 * MIB, verdict="warm")]
    found = next(one for one in findings_of(rows, []) if one.kind == "reread")
    assert found.text == (
        "here rereads run at 8.00 x the rate of reads (geometric mean of 4 cells). Reads have the verdict cold, "
        "rereads warm."
    )


@pytest.mark.parametrize("ratios", [(8.0,), (8.0, 8.0), (0.8, 3.0, 0.9, 2.0)])
def test_rereads_of_few_cells_or_both_ways_are_not_called_faster(ratios: tuple[float, ...]) -> None:
    (found,) = [one for one in findings_of(rereads(*ratios), []) if one.kind == "reread"]
    assert found.title == "Whether rereads are faster than reads on here cannot be told"


def test_an_order_is_held_against_sequential_reads_by_record() -> None:
    files = [4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB]
    rates = {4 * KIB: (1e8, 1.01e8, 0.99e8, 1e8), MIB: (9e8, 8.99e8, 9.01e8, 9e8), 2 * MIB: (5e8, 2e9, 4e8, 3e9)}
    rows = [row("read", 1e9, file, record) for file in files for record in (*rates, 4 * MIB)]
    rows += [
        row("random read", rate, file, record)
        for record, each in rates.items()
        for file, rate in zip(files, each, strict=True)
    ]
    rows.append(row("random read", 1e7, 4 * MIB, 4 * MIB))
    found = next(one for one in findings_of(rows, []) if one.kind == "access-order")
    assert (
        found.text
        == "here random reads reach, of the rate of sequential reads, 10 % with records of 4K and 90 % with records of "
        "1M."
    ), "a file of one record knows no order, and files that go both ways prove none"


def test_what_cannot_be_says_nothing() -> None:
    rows = [row("read", 1e9), row("reread", 8e9, flags=flags_of("INVALID:above-ceiling"))]
    assert findings_of(rows, LEVELS) == []
