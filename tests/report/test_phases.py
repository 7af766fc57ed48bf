# SPDX-License-Identifier: Apache-2.0
"""Rows of named phases and the records behind them."""

from pathlib import Path

import pytest

from support.phase_result import GIB, PHASES, Course, make_summary, write_result
from ullage.model.summary import Row
from ullage.report.data import ReportData, load
from ullage.report.phases import format_list_interval, format_list_rate, labeller, named_phases


def data_of(path: Path, course: Course | None = None) -> ReportData:
    return load(write_result(path / "result", course))


def test_phases_stand_in_the_order_of_the_summary_then_of_the_targets(tmp_path: Path) -> None:
    found = named_phases(data_of(tmp_path, Course(targets=("nvme", "scratch"))))
    assert [phase.name for phase in found[::2]] == [name for name, *_ in PHASES]
    assert [phase.target for phase in found[:4]] == ["nvme", "scratch", "nvme", "scratch"]


def test_each_phase_has_the_records_of_the_phase_of_the_engine_that_it_names(tmp_path: Path) -> None:
    for phase, (name, engine_phase, _, seconds, _) in zip(named_phases(data_of(tmp_path)), PHASES, strict=True):
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
