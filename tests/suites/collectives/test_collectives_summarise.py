# SPDX-License-Identifier: Apache-2.0
"""From the records of collective operations to rows, sentences, tables and charts."""

from pathlib import Path

import pytest

from support.collective_world import (
    case_end,
    collective_phase,
    collective_records,
    latency_row,
    one_sided_phase,
    row,
    write_result,
)
from support.flags import flags_of
from ullage.model.plan import Parameters
from ullage.model.summary import Row, Summary
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.vega import to_svg, with_config
from ullage.results.records import AnyRecord
from ullage.runs.options.reading import parse_options
from ullage.runs.summary import build_summary
from ullage.suites.collectives import report
from ullage.suites.collectives.findings import expected_growth, findings_of
from ullage.suites.collectives.report import tables
from ullage.suites.collectives.suite import CollectivesOptions

LEVEL = 0.95
OVERLAP: Parameters = {"operation": "bcast", "message_bytes": 64, "mode": "overlap", "tests": 8}


def launch() -> list[AnyRecord]:
    """Blocking calls, one nonblocking operation, and one-sided ones, each six times."""
    records = collective_records({("barrier", 0): 1e-6, ("bcast", 8): 2e-6, ("bcast", 64): 4e-6, ("alltoall", 8): 3e-6})
    for repetition in range(6):
        records += [
            collective_phase("nb", repetition, 4e-6, compute_s=4e-3, overall_s=5e-3),
            case_end("nb", repetition, "collective", OVERLAP),
            one_sided_phase("put", repetition, 1e-6, 8),
            case_end("put", repetition, "one-sided", {"operation": "put", "sync": "lock"}),
            one_sided_phase("bulk", repetition, 1e-7, 4096),
            case_end("bulk", repetition, "one-sided", {"outstanding": 64, "message_bytes": 4096}),
        ]
    return records


@pytest.fixture
def data(tmp_path: Path) -> ReportData:
    few = collective_records({("barrier", 0): 2e-6, ("bcast", 8): 9e-6}, ranks=4)
    asked = parse_options(CollectivesOptions, ranks="2,4")
    result = write_result(tmp_path / "r", "collectives", asked, [launch(), few])
    return load(FinishedResult(result.path), build_summary(result))


def test_rows_say_all_that_decides_their_number(data: ReportData) -> None:
    rows = {(one.metric, one.case): one for one in data.summary.rows}
    assert rows["collective_latency", "bcast-8-2"].params == {
        "access": "collective",
        "operation": "bcast",
        "mode": "blocking",
        "message_bytes": 8,
        "ranks": 2,
        "nodes": 1,
    }
    assert "message_bytes" not in rows["collective_latency", "barrier-0-2"].params
    assert rows["collective_latency", "bcast-8-2"].median == pytest.approx(2e-6, rel=0.01)
    assert rows["collective_latency_slowest", "bcast-8-2"].median == pytest.approx(2e-6, rel=0.01)
    assert rows["link_bandwidth", "bcast-8-2"].median == pytest.approx(8 / 2e-6, rel=0.01)
    assert ("link_bandwidth", "barrier-0-2") not in rows
    assert rows["overlap", "nb"].median == pytest.approx(0.75)
    assert rows["overlap", "nb"].params["tests"] == 8
    assert all(one.ceiling is None for one in rows.values())


def test_one_operation_tells_a_latency_and_many_a_bandwidth(data: ReportData) -> None:
    found = {(one.metric, one.case): one for one in data.summary.rows if one.params["access"] == "one-sided"}
    assert set(found) == {("one_sided_latency", "put"), ("one_sided_bandwidth", "bulk")}
    assert found["one_sided_latency", "put"].median == pytest.approx(1e-6)
    assert found["one_sided_latency", "put"].params["sync"] == "lock"
    assert found["one_sided_bandwidth", "bulk"].median == pytest.approx(4096 / 1e-7)


def test_the_slowest_rank_is_told_apart() -> None:
    from ullage.analysis.metrics import metric_named

    phase = collective_phase("c", 0, 1e-6).model_copy(deep=True)
    slow = phase.gauges["call_s"].model_copy(update={"most": 3e-3, "sum": 4e-3})
    phase = phase.model_copy(update={"gauges": {**phase.gauges, "call_s": slow}})
    assert metric_named("collective_latency").sample(phase) == pytest.approx(2e-6)
    assert metric_named("collective_latency_slowest").sample(phase) == pytest.approx(3e-6)
    other = phase.model_copy(update={"phase": "exchange"})
    assert metric_named("collective_latency").sample(other) is None
    assert metric_named("one_sided_latency").sample(phase) is None


@pytest.mark.parametrize(
    ("compute", "overall", "hidden"), [(4e-3, 4e-3, 1.0), (4e-3, 8e-3, 0.0), (4e-3, 9e-3, 0.0), (4e-3, 3e-3, 1.0)]
)
def test_overlap_lies_between_nothing_and_all(compute: float, overall: float, hidden: float) -> None:
    from ullage.analysis.metrics import metric_named

    phase = collective_phase("c", 0, 4e-6, compute_s=compute, overall_s=overall)
    assert metric_named("overlap").sample(phase) == pytest.approx(hidden)
    assert metric_named("overlap").sample(collective_phase("c", 0, 4e-6)) is None


def test_the_section_has_a_table_for_each_part(data: ReportData) -> None:
    content = tables(data)
    assert content is not None
    titles = [grid.title for grid in content.grids]
    assert titles == [
        "time of a call, 2 ranks",
        "time of a call, 4 ranks",
        "bytes on a rank's link (busbw), 4 ranks",
        "time of a call over the ranks, 4 ranks",
        "nonblocking, during computation, 2 ranks",
        "one-sided, one at a time, rank 0 to rank 1",
        "one-sided, 64 under way together",
    ]
    first = [[cell.text for cell in line] for line in content.grids[0].rows]
    assert first == [
        ["barrier", "1.00 us", "", ""],
        ["bcast", "", "2.00 us", "4.01 us"],
        ["alltoall", "", "3.01 us", ""],
    ]
    overlap = [cell.text for cell in content.grids[4].rows[0]]
    assert overlap == ["bcast", "64", "8", "4.00 us", "4.00 us", "5.00 us", "75 %"]
    assert any("No ceiling is known" in note for note in content.notes)


def test_charts_can_be_drawn(data: ReportData) -> None:
    figures = [*report.time_figures(data), *report.overlap_figures(data)]
    assert [figure.title for figure in figures] == [
        "barriers, broadcasts and reductions, over ranks",
        "overlap with computation",
    ]
    for figure in figures:
        assert "<svg" in to_svg(with_config(figure.spec, figure.title, figure.caption))


def test_time_over_sizes_is_of_the_most_ranks_that_have_cores() -> None:
    rows = [
        *(latency_row("bcast", 2, size, size * 1e-7) for size in (8, 64)),
        *(latency_row("bcast", 64, size, size * 1e-6, flags=flags_of("oversubscribed")) for size in (8, 64)),
    ]
    summary = Summary(suite="collectives", run_id="r", created="now", rows=rows)
    (sizes, ranks) = report.time_figures(ReportData(summary))
    assert sizes.title.endswith("over the size")
    assert "2 ranks" in sizes.caption
    assert [value["x"] for value in sizes.spec["data"]["values"]] == [8, 64]
    assert [value["x"] for value in ranks.spec["data"]["values"]] == [2, 64]


def test_other_suites_have_none_of_it() -> None:
    other = ReportData(Summary(suite="sweep", run_id="r", created="now", rows=[]))
    assert tables(other) is None
    assert report.time_figures(other) == []
    assert report.overlap_figures(other) == []


def grown(seconds: float, launches: int = 3) -> list[Row]:
    """Of 2 ranks with 1 us and 8 with ``seconds``, in two repetitions of each launch."""
    rows = [latency_row("allreduce", 2, 8, 1e-6), latency_row("allreduce", 8, 8, seconds)]
    return [
        row.model_copy(
            update={"launches": [100 * place + one for one in range(launches) for _ in range(6 // launches)]}
        )
        for place, row in enumerate(rows)
    ]


def test_growth_beyond_what_the_operation_needs_is_found() -> None:
    assert expected_growth("alltoall", 2, 8) == pytest.approx(7)
    assert expected_growth("allreduce", 2, 8) == pytest.approx(3)
    assert findings_of(grown(4e-6), LEVEL) == []
    (finding,) = findings_of(grown(9e-6), LEVEL)
    assert finding.kind == "scaling"
    assert "grows by 9.00 x from 2 to 8 ranks" in finding.text
    assert finding.numbers["excess"] == pytest.approx(3)


def test_growth_is_not_told_from_launches_noise_or_single_samples() -> None:
    assert findings_of(grown(9e-6, launches=1), LEVEL) == [], "each number of ranks had a launch of its own"
    few, many = grown(6.1e-6)
    noisy = many.model_copy(
        update={"repetitions": [value * 1.5 ** (-1) ** i for i, value in enumerate(many.repetitions)]}
    )
    assert findings_of([few, noisy], LEVEL) == [], "its median lies above the limit, and its interval does not"
    assert findings_of([one.model_copy(update={"repetitions": [one.median]}) for one in grown(9e-6)], LEVEL) == []


def test_crowded_ranks_are_said_and_used_in_nothing_else() -> None:
    slow = latency_row("allreduce", 8, 8, 9e-3, flags=flags_of("oversubscribed"))
    rows = [latency_row("allreduce", 2, 8, 1e-6), slow]
    (finding,) = findings_of(rows, LEVEL)
    assert (finding.kind, finding.severity) == ("oversubscribed", "warning")


def hidden(tests: int, share: float, spread: float = 0.01) -> Row:
    """The overlap of a bcast with so many calls of MPI_Test."""
    params = {"operation": "bcast", "mode": "overlap", "tests": tests, "ranks": 2, "message_bytes": 64}
    return row("overlap", share, spread=spread, **params)


def test_tests_that_help_are_an_advice() -> None:
    kinds = {one.kind: one for one in findings_of([hidden(0, 0.1), hidden(8, 0.9)], LEVEL)}
    assert "Less than half of the time overlaps with computation: bcast 10 %." in kinds["overlap"].text
    assert "bcast from 10 % to 90 %" in kinds["progress"].text
    alone = {one.kind for one in findings_of([hidden(0, 0.9), hidden(8, 0.95)], LEVEL)}
    assert alone == {"overlap"}


def test_an_overlap_by_noise_is_neither_little_nor_raised() -> None:
    (overlap,) = findings_of([hidden(0, 0.4, spread=0.8), hidden(8, 0.6, spread=0.8)], LEVEL)
    assert overlap.severity == "info"
    assert overlap.text.startswith("Whether half of the time overlaps with computation cannot be told: bcast 40 %.")
    nothing = hidden(0, 0.0)
    assert "bcast 0 %" in findings_of([nothing], LEVEL)[0].text
    single = [one.model_copy(update={"repetitions": [one.median]}) for one in (hidden(0, 0.1), hidden(8, 0.9))]
    assert [one.severity for one in findings_of(single, LEVEL)] == ["info"]


def test_one_sided_operations_have_their_best_way(data: ReportData) -> None:
    kinds = {finding.kind: finding for finding in data.summary.findings}
    assert "put 1.00 us (lock)" in kinds["one-sided"].text
    assert "put 41.0 GB/s with 4K" in kinds["one-sided-bandwidth"].text


def test_a_launch_with_fewer_cores_than_ranks_is_flagged(tmp_path: Path) -> None:
    records = collective_records({("bcast", 8): 1e-6}, oversubscribed=True)
    result = write_result(tmp_path / "r", "collectives", parse_options(CollectivesOptions, ranks="2"), [records])
    summary = build_summary(result)
    assert all("oversubscribed" in one.flag_codes for one in summary.rows)
    content = tables(load(FinishedResult(result.path), summary))
    assert content is not None
    assert content.notes[0].startswith("With 2 ranks there are more ranks than cores.")


def test_a_small_allreduce_stands_for_the_collective_operations() -> None:
    from ullage.report.headlines import headlines

    rows = [
        latency_row("bcast", 2, 8, 1e-6),
        latency_row("allreduce", 2, 64, 1e-6),
        latency_row("allreduce", 2, 8, 1e-6),
    ]
    assert [(found.part, found.what, found.row) for found in headlines(rows)] == [
        ("messages", "allreduce of 8 bytes, 2 ranks", 2)
    ]
