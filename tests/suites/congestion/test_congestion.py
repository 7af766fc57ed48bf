# SPDX-License-Identifier: Apache-2.0
"""Words, plans, impacts, sentences, tables and charts of a congestion run."""

from pathlib import Path

import pytest

from support.collective_world import case_end, congestion_phase, describe_calls, write_result
from support.make_records import make_run
from support.simulated_engine import DESCRIBE
from ullage.errors import UserError
from ullage.model.request import Request
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.vega import to_svg, with_config
from ullage.results.records import AnyRecord
from ullage.runs.inputs import EngineContext
from ullage.runs.options.reading import parse_options
from ullage.runs.summary import build_summary
from ullage.suites.congestion.report import figures, tables
from ullage.suites.congestion.suite import (
    IMPACT,
    IMPACT_P99,
    CongestionOptions,
    findings_of,
    prepare_congestion,
    victims_of,
)

# Mean and tail in ns by phase.
TIMES = {
    "latency-isolated": (1000, 2000),
    "latency-congested": (3000, 20_000),
    "bandwidth-isolated": (8000, 9000),
    "bandwidth-congested": (8000, 9000),
    "allreduce-isolated": (1000, 1500),
    "allreduce-congested": (2000, 3000),
}


def launch(repetitions: int = 6, *, oversubscribed: bool = False) -> list[AnyRecord]:
    """A slow repetition is slow alone and under load, and its impact is that of the others."""
    records: list[AnyRecord] = [make_run(4, oversubscribed=oversubscribed)]
    for repetition in range(repetitions):
        slower = 10 if repetition == 1 else 1
        records += [
            congestion_phase("c1", repetition, name, slower * mean, slower * tail)
            for name, (mean, tail) in TIMES.items()
        ]
        records.append(case_end("c1", repetition, "congestion", {"load": "alltoall"}))
    return records


def report(folder: Path, records: list[AnyRecord]) -> ReportData:
    result = write_result(folder, "congestion", parse_options(CongestionOptions, ranks=4), [records])
    return load(FinishedResult(result.path), build_summary(result))


@pytest.fixture
def data(tmp_path: Path) -> ReportData:
    return report(tmp_path / "r", launch())


def test_impacts_are_those_of_single_repetitions(data: ReportData) -> None:
    impacts = {(row.metric, row.params["test"]): row for row in data.summary.rows if row.metric.startswith(IMPACT)}
    assert {key: row.median for key, row in impacts.items()} == {
        (IMPACT, "latency"): pytest.approx(3),
        (IMPACT_P99, "latency"): pytest.approx(10),
        (IMPACT, "bandwidth"): pytest.approx(1),
        (IMPACT_P99, "bandwidth"): pytest.approx(1),
        (IMPACT, "allreduce"): pytest.approx(2),
        (IMPACT_P99, "allreduce"): pytest.approx(2),
    }
    row = impacts[IMPACT, "latency"]
    assert row.repetitions == pytest.approx([3] * 6)
    assert (row.unit, row.better) == ("x", "less")
    assert "state" not in row.params
    assert not any(flag.startswith("outliers") for flag in row.flag_codes)


def test_times_and_rates_name_test_state_and_load(data: ReportData) -> None:
    rows = {(row.metric, row.params["access"]): row for row in data.summary.rows if row.metric != IMPACT}
    row = rows["congestion_time", "latency-congested"]
    assert row.median == pytest.approx(3e-6)
    assert (row.params["test"], row.params["state"], row.params["load"]) == ("latency", "congested", "alltoall")
    assert row.params["victims"] == 2
    assert rows["congestion_bandwidth", "bandwidth-isolated"].median == pytest.approx(1e9)
    assert ("congestion_bandwidth", "latency-isolated") not in rows


def test_a_repetition_without_its_other_half_has_no_impact(tmp_path: Path) -> None:
    records = [record for record in launch(2) if getattr(record, "phase", "") != "allreduce-congested"]
    rows = report(tmp_path / "r", records).summary.rows
    assert "allreduce" not in {row.params["test"] for row in rows if row.metric == IMPACT}
    assert "allreduce" in {row.params["test"] for row in rows if row.metric == "congestion_time"}


def test_the_section_shows_impacts_and_what_is_behind_them(data: ReportData) -> None:
    content = tables(data)
    assert content is not None
    impacts, times = ([[cell.text for cell in line] for line in grid.rows] for grid in content.grids)
    assert impacts[0] == ["alltoall", "latency", "3.00 x", "10.0 x"]
    assert times[1][-2:] == ["1.00 GB/s", "1.00 GB/s"]
    assert "2 of 4 ranks are victims (ranks 0, 2). The other 2 load the network or idle." in content.notes
    assert "The load itself moved 2.00 MB/s (alltoall)." in content.notes


def test_charts_can_be_drawn(data: ReportData) -> None:
    drawn = figures(data)
    assert [figure.title for figure in drawn] == [
        "impact",
        "latency under alltoall",
        "bandwidth under alltoall",
        "allreduce under alltoall",
    ]
    for figure in drawn[:2]:
        assert "<svg" in to_svg(with_config(figure.spec, figure.title, figure.caption))
    shares = [value["y"] for value in drawn[1].spec["data"]["values"] if value["state"] == "isolated"]
    # One in a hundred of the exchanges lies in the second bucket.
    assert shares == pytest.approx([1.0, 0.01])


def test_the_worst_impact_decides_how_loud_a_finding_is(data: ReportData, tmp_path: Path) -> None:
    (finding,) = [one for one in data.summary.findings if one.kind == "congestion"]
    assert finding.severity == "warning"
    assert "latency 3.00 x (p99 10.0 x)" in finding.text
    assert finding.numbers["impact"] == pytest.approx([3, 1, 2])
    crowded = report(tmp_path / "crowded", launch(oversubscribed=True)).summary
    kinds = {one.kind: one.severity for one in crowded.findings}
    assert kinds["oversubscribed"] == "warning"
    assert kinds["congestion"] == "info"
    assert findings_of([], 0.95) == []


def test_impacts_by_noise_are_no_impacts(data: ReportData) -> None:
    noisy = [
        row.model_copy(update={"median": 2.0, "repetitions": [2.0, 0.5, 4.0, 0.4, 3.0, 0.9]})
        if row.metric.startswith(IMPACT)
        else row
        for row in data.summary.rows
    ]
    (finding,) = findings_of(noisy, 0.95)
    assert finding.severity == "info"
    assert finding.title == "Whether an alltoall makes messages slower cannot be told"
    single = [row.model_copy(update={"repetitions": row.repetitions[:1]}) for row in data.summary.rows]
    assert findings_of(single, 0.95)[0].title == finding.title


def test_words_become_a_case_for_each_load() -> None:
    asked = parse_options(
        CongestionOptions, ranks=8, victims="0.5", test="10ms", load_size="1K", load="alltoall,incast"
    )
    options = CongestionOptions.model_validate(asked.options)
    assert (options.loads, options.share, options.load_bytes) == (["incast", "alltoall"], 0.5, 1024)
    request = Request(run_id="r1", suite="congestion", created="now", targets=asked.targets, options=asked.options)
    prepared = prepare_congestion(request, EngineContext(Path("/engine"), describe_calls()))
    assert [case.words for case in prepared.cases] == [("incast", "8", "4"), ("alltoall", "8", "4")]
    assert prepared.cases[0].case.workload.parameters["victim_share"] == pytest.approx(0.5)
    assert prepared.cases[0].layout.ranks == 8
    with pytest.raises(UserError, match="congestion"):
        prepare_congestion(request, EngineContext(Path("/engine"), DESCRIBE))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"ranks": 3}, "--ranks"),
        ({"load": "outcast"}, "--load"),
        ({"victims": "120%"}, "--victims '120%': not a share"),
        ({"test": "0"}, "is not above 0"),
    ],
)
def test_bad_words_are_refused(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError, match=expected):
        parse_options(CongestionOptions, **words)  # type: ignore[arg-type]


@pytest.mark.parametrize(("ranks", "share", "count"), [(4, 0.2, 2), (5, 0.9, 3), (13, 0.2, 3), (100, 0.2, 20)])
def test_as_many_victims_as_the_engine_chooses(ranks: int, share: float, count: int) -> None:
    assert victims_of(ranks, share) == count


def test_there_is_no_quick_form_for_two_ranks() -> None:
    from ullage.runs.suite import Quick, load_suites

    suites = load_suites()
    assert not isinstance(suites["congestion"], Quick)
    assert isinstance(suites["collectives"], Quick)
