# SPDX-License-Identifier: Apache-2.0
"""Rows of named phases and the records behind them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.data import some
from support.phase_result import GIB, PHASES, Course, make_summary, write_result
from support.sample_result import bucket_of
from ullage.model.record import Latency
from ullage.model.summary import Row
from ullage.report.data import ReportData, load
from ullage.report.phases import (
    bucket_midpoint_ns,
    format_list_interval,
    format_list_rate,
    labeller,
    merge,
    named_phases,
)


def data_of(path: Path, course: Course | None = None) -> ReportData:
    return load(write_result(path / "result", course))


def test_phases_stand_in_the_order_of_the_summary_then_of_the_targets(tmp_path: Path) -> None:
    found = named_phases(data_of(tmp_path, Course(targets=("nvme", "scratch"))))
    assert [phase.name for phase in found[::2]] == [name for name, *_ in PHASES]
    assert [phase.target for phase in found[:4]] == ["nvme", "scratch", "nvme", "scratch"]


def test_each_phase_has_the_records_of_the_phase_of_the_engine_that_it_names(tmp_path: Path) -> None:
    for phase, (name, engine_phase, _, seconds, _) in zip(named_phases(data_of(tmp_path)), some(PHASES), strict=True):
        assert [record.phase for record in phase.records] == [engine_phase] * 3, name
        assert phase.seconds == pytest.approx(seconds)


def test_a_row_that_names_no_phase_of_the_engine_has_the_only_one_of_its_case_or_none(tmp_path: Path) -> None:
    data = data_of(tmp_path)
    by_name = {row.params["phase"]: row for row in data.summary.rows}

    def found(name: str, **params: str) -> int:
        row = by_name[name]
        bare = {key: value for key, value in row.params.items() if key != "access"}
        return len(data.phases_of(row.model_copy(update={"params": {**bare, **params}})))

    assert found("find") == 3
    assert found("find", access="unlink") == 0
    assert found("mdtest-easy-write") == 0


def test_rates_at_the_wall_and_with_wear_out_count_what_the_row_counts(tmp_path: Path) -> None:
    phases = {phase.name: phase for phase in named_phases(data_of(tmp_path))}
    for name in ("ior-easy-write", "mdtest-easy-write"):
        phase = phases[name]
        assert phase.wear_out_rate == pytest.approx(phase.row.median, rel=1e-3)
        assert phase.stonewall_rate == pytest.approx(phase.row.median * 0.999, rel=1e-3)
    assert phases["find"].stonewall_rate is None
    assert phases["find"].wear_out_rate is None
    assert not phases["find"].is_wear_out_cut


def stated(metric: str, unit: str, value: float) -> Row:
    row = make_summary().rows[0]
    return row.model_copy(update={"metric": metric, "unit": unit, "median": value, "case": ""})


def test_an_imported_phase_states_its_time_and_its_rate_at_the_wall() -> None:
    rows = [
        stated("bandwidth", "B/s", 4.0 * GIB),
        stated("phase_time", "s", 312.5),
        stated("stonewall_bandwidth", "B/s", 5.0 * GIB),
    ]
    (phase,) = named_phases(ReportData(make_summary().model_copy(update={"rows": rows})))
    assert phase.row.metric == "bandwidth"
    assert phase.seconds == 312.5
    assert phase.stonewall_rate == 5.0 * GIB
    assert phase.wear_out_rate == 4.0 * GIB


def test_only_several_targets_are_named_with_their_phases(tmp_path: Path) -> None:
    one = named_phases(data_of(tmp_path / "one"))
    two = named_phases(data_of(tmp_path / "two", Course(targets=("nvme", "scratch"))))
    assert labeller(one)(one[0]) == "ior-easy-write"
    assert labeller(two)(two[0]) == "nvme · ior-easy-write"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5 * GIB, "B/s", "1.500 GiB/s"),
        (0.0210181 * GIB, "B/s", "0.02102 GiB/s"),
        (19455700.0, "op/s", "19456 kIOPS"),
        (2.5, "s", "2.500 s"),
        (None, "B/s", ""),
    ],
)
def test_rates_are_in_the_units_of_the_lists(value: float | None, unit: str, text: str) -> None:
    assert format_list_rate(value, unit) == text


def test_an_interval_is_in_the_unit_of_its_value() -> None:
    row = stated("bandwidth", "B/s", 2.0 * GIB).model_copy(update={"low": 1.5 * GIB, "high": 2.25 * GIB})
    assert format_list_interval(row) == "[1.500, 2.250]"
    assert not format_list_interval(row.model_copy(update={"low": None}))


def latency(values: list[int], *, buckets: bool = True) -> Latency:
    ordered = sorted(values)
    counts: dict[int, int] = {}
    for value in ordered:
        counts[bucket_of(value)] = counts.get(bucket_of(value), 0) + 1

    def at(permille: int) -> int:
        return ordered[max(0, -(-len(ordered) * permille // 1000) - 1)]

    return Latency(
        operations=len(ordered), sum_ns=sum(ordered), min_ns=ordered[0], max_ns=ordered[-1],
        p50_ns=at(500), p95_ns=at(950), p99_ns=at(990), p999_ns=at(999),
        buckets=sorted(counts.items()) if buckets else [],
    )  # fmt: skip


@given(st.integers(min_value=0, max_value=2**62))
def test_a_midpoint_is_at_most_one_256th_off(value: int) -> None:
    assert abs(bucket_midpoint_ns(bucket_of(value)) - value) <= value / 256


@given(st.lists(st.integers(min_value=1, max_value=10**10), min_size=1, max_size=200), st.integers(1, 3))
def test_merged_percentiles_are_those_of_all_calls_together(values: list[int], parts: int) -> None:
    pieces = [piece for index in range(parts) if (piece := values[index::parts])]
    found = merge([latency(piece) for piece in pieces])
    assert found is not None
    assert found.merged
    assert found.operations == len(values)
    whole = latency(values)
    for name, exact in (("p50", whole.p50_ns), ("p95", whole.p95_ns), ("p99", whole.p99_ns), ("p99.9", whole.p999_ns)):
        assert found.seconds[name] == pytest.approx(exact / 1e9, rel=1 / 200)
    assert found.seconds["max"] == whole.max_ns / 1e9


def test_without_buckets_the_slowest_repetition_stands_alone() -> None:
    found = merge([latency([10, 20, 30], buckets=False), latency([100, 200, 300], buckets=False)])
    assert found is not None
    assert not found.merged
    assert found.seconds["p50"] == 200 / 1e9


def test_nothing_measured_is_nothing() -> None:
    assert merge([]) is None
