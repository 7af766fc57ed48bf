# SPDX-License-Identifier: Apache-2.0
"""The sentences, tables and charts of suite ``spio``."""

import pytest

from support.make_records import around, plain_row
from ullage.model.summary import Ceiling, Finding, Row, Summary
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.headlines import headlines
from ullage.suites.spio.findings import CACHED, FASTEST, RATE, SLOWEST, findings_of, lines_of
from ullage.suites.spio.report import figures, tables

MIB = 1 << 20

CLEAR = [1.0e9, 1.01e9, 0.99e9, 1.0e9, 1.02e9, 0.98e9, 1.0e9, 1.01e9]


def row(ranks: int, factor: float = 1.0, operation: str = "write", metric: str = RATE, **fields: object) -> Row:
    access = "read" if operation == "neighbour" else operation
    params = {"access": access, "operation": operation, "ranks": ranks, "nodes": 1, "block_bytes": MIB}
    params |= {"volume_bytes": 24 * MIB, "backend": "posix"}
    params |= {"data_of": "other-rank"} if operation == "neighbour" else {}
    found = plain_row(around(factor * 1e9), params, **{"metric": metric, "case": f"{operation}-{ranks}", **fields})
    launches = [100 * ranks + index % 3 for index in range(len(found.repetitions))]
    return found.model_copy(update={"launches": launches})


def only(found: list[Finding], kind: str) -> Finding:
    (one,) = [finding for finding in found if finding.kind == kind]
    return one


def test_growth_is_told_where_the_comparison_holds() -> None:
    found = only(findings_of([row(1), row(2, 1.9), row(4, 1.5)], 0.95), "spio-growth")
    assert (found.severity, found.change) == ("advice", "--ranks 2")
    assert found.gain is not None
    assert found.gain.factor == pytest.approx(1.9, rel=0.02)
    assert found.numbers["ranks"] == [1, 2, 4]
    assert found.numbers["over_one_rank"] == pytest.approx([1.0, 1.9, 1.5])
    assert found.numbers["share_of_best"] == pytest.approx([1 / 1.9, 1.0, 1.5 / 1.9])
    assert "The highest median is that of 2 ranks, 1.90 GB/s, and it is faster than that of 1 rank." in found.text


def test_no_growth_and_a_fall_are_told_as_such() -> None:
    flat = only(findings_of([row(1), row(2, 1.001)], 0.95), "spio-growth")
    assert (flat.severity, flat.gain) == ("info", None)
    assert "No other number of ranks can be told apart from 1 rank." in flat.text
    fall = only(findings_of([row(1), row(4, 0.5)], 0.95), "spio-growth")
    assert fall.gain is None
    assert "They are slower with 4 ranks. Use fewer ranks." in fall.text


def test_neighbours_are_compared_with_one_rank_that_reads_its_own_file() -> None:
    rows = [row(1, operation="read"), row(2, 1.5, "read"), row(2, 3.0, "neighbour")]
    lines = {str(line.rows[0].params["operation"]): line for line in lines_of(rows)}
    assert lines["neighbour"].base is rows[0]
    found = [one for one in findings_of(rows, 0.95) if one.kind == "spio-growth"]
    assert [one.numbers["operation"] for one in found] == ["read", "neighbour"]
    assert found[1].numbers["over_one_rank"] == pytest.approx([1.0, 3.0])
    assert "1 rank reaches 1.00 GB/s with its own file." in found[1].text
    other = only(findings_of(rows, 0.95), "spio-neighbour")
    assert other.title == "Reads of files that another rank wrote are faster on disk"
    assert other.numbers["ratio"] == pytest.approx(2.0)


def test_without_one_rank_or_with_cached_rows_no_growth_is_told() -> None:
    assert findings_of([row(2), row(4, 2.0)], 0.95) == []
    warm = [row(1, operation="read", verdict="warm"), row(2, 9.0, "read", verdict="warm")]
    assert findings_of(warm, 0.95) == []


def test_the_share_of_the_peak_stands_beside_the_published_ones() -> None:
    peak = Ceiling(value=2.0e9, kind="declared", source="--ceiling")
    rows = [
        row(1, ceiling=peak, share=0.5),
        row(2, 1.6, ceiling=peak, share=0.8),
        row(1, 1.2, "read", ceiling=peak, share=0.6),
    ]
    found = only(findings_of(rows, 0.95), "spio-peak")
    assert found.numbers["share"] == [0.8, 0.6]
    assert "Writes reach 80 % of 2.00 GB/s (declared: --ceiling) with 2 ranks." in found.text
    assert "The published shares of NEC SX-8 are 53 % to 96 % of its peak on disk." in found.text


def test_memory_that_answered_is_a_warning_except_for_rereads() -> None:
    cached = {"metric": CACHED, "median": 0.4, "unit": "of bytes", "better": "less"}
    found = findings_of([row(2, operation="read", **cached), row(2, operation="reread", **cached)], 0.95)  # type: ignore[arg-type]
    assert [(one.kind, one.severity) for one in found] == [("spio-cached", "warning"), ("spio-cached", "info")]
    assert "came from memory: 40 % with 2 ranks. The volume is 24.0 MiB. Use --cache direct" in found[0].text
    assert "Use" not in found[1].text
    little = {**cached, "median": 0.04}
    assert findings_of([row(2, operation="read", **little)], 0.95) == []  # type: ignore[arg-type]


def test_ranks_that_end_at_different_times_are_told_for_the_most_ranks() -> None:
    def ends(ranks: int, first_s: float, last_s: float) -> list[Row]:
        times = {FASTEST: first_s, SLOWEST: last_s}
        return [row(ranks, value / 1e9, metric=name, unit="s", better="less") for name, value in times.items()]

    found = only(findings_of([*ends(2, 1.0, 9.0), *ends(4, 2.0, 4.0)], 0.95), "spio-unequal")
    assert "by 4 ranks: the fastest rank needs 2.00 s for its file, and the slowest 4.00 s." in found.text
    assert findings_of([*ends(2, 1.0, 9.0), *ends(4, 3.9, 4.0)], 0.95) == []
    for samples in ([2.0], [1.0, 9.0, 2.0, 7.0, 1.5, 8.0]):
        few = [one.model_copy(update={"repetitions": samples, "launches": []}) for one in ends(4, 2.0, 4.0)]
        assert findings_of(few, 0.95) == []


def test_an_interval_over_powers_of_ten_is_no_number() -> None:
    few = [row(1, repetitions=[1.0e9, 1.5e9]), row(2, repetitions=[0.1e9, 3.0e9])]
    found = only(findings_of(few, 0.95), "spio-growth")
    assert "(its interval is not known) with 2 ranks." in found.text
    several = [
        row(1, repetitions=[1.0e9, 1.05e9, 1.1e9]),
        *(row(n, repetitions=[1.0e9, 1.1e9, 1.2e9]) for n in range(2, 9)),
    ]
    assert "(its interval is not known)" not in only(findings_of(several, 0.95), "spio-growth").text


def data_of(rows: list[Row]) -> ReportData:
    return ReportData(Summary(suite="spio", run_id="r", created="now", command=[], versions={}, rows=rows))


def column(content: Content | None, heading: str) -> list[str]:
    assert content is not None
    (grid,) = content.grids
    at = [head.heading for head in grid.columns].index(heading)
    return [line[at].text for line in grid.rows]


def whole() -> list[Row]:
    """Four operations on one and two ranks, in no order, with a peak of 2 GB/s; memory answers the rereads."""
    peak = Ceiling(value=2.0e9, kind="declared", source="--ceiling")
    of_peak = [row(2, 1.5), row(1), row(2, 1.2, "read"), row(1, 0.8, "read"), row(2, 1.6, "neighbour")]
    known = [one.model_copy(update={"ceiling": peak, "share": one.median / peak.value}) for one in of_peak]
    return [*known, row(1, 9.0, "reread", verdict="warm"), row(2, 18.0, "reread", verdict="warm")]


def test_a_table_has_each_operation_by_ranks_over_one_rank_and_of_the_best() -> None:
    rows = whole()
    cached = row(2, operation="neighbour", metric=CACHED, median=0.25, unit="of bytes")
    content = tables(data_of([*rows, cached]))
    assert column(content, "operation") == [
        *["writes"] * 2,
        *["reads of own files"] * 2,
        "reads of neighbours' files",
        *["rereads"] * 2,
    ]
    assert column(content, "ranks") == ["1", "2", "1", "2", "2", "1", "2"]
    assert column(content, "over 1 rank") == ["1.00 x", "1.50 x", "1.00 x", "1.50 x", "2.00 x", "1.00 x", "2.00 x"]
    assert column(content, "of the best") == ["67 %", "100 %", "67 %", "100 %", "100 %", "50 %", "100 %"]
    assert column(content, "of the peak") == ["50 %", "75 %", "40 %", "60 %", "80 %", "\N{EN DASH}", "\N{EN DASH}"]
    assert column(content, "cached")[4] == "25.00 %"
    assert content is not None
    assert "All files together have 24.0 MiB, in blocks of 1M." in content.notes
    assert any("all ranks were on one node" in note for note in content.notes)
    assert tables(data_of([])) is None


def test_a_chart_has_the_peak_and_both_shares_of_it_that_were_published() -> None:
    (figure,) = figures(data_of(whole()))
    levels = {
        value["what"]: value["level"] for one in figure.spec["layer"] for value in one.get("data", {}).get("values", [])
    }
    assert levels == {"peak": 2.0, "SX-8: 53 % of peak": 1.06, "SX-8: 96 % of peak": 1.92}
    drawn = {(value["name"], value["ranks"]) for value in figure.spec["data"]["values"]}
    assert drawn == {
        ("writes", 1),
        ("writes", 2),
        ("reads of own files", 1),
        ("reads of own files", 2),
        ("reads of neighbours' files", 2),
    }
    assert "Memory answered the rereads" in figure.caption


def test_a_peak_far_above_all_rates_is_in_the_caption_alone() -> None:
    far = Ceiling(value=9.0e9, kind="declared", source="--ceiling")
    (figure,) = figures(data_of([row(1, ceiling=far), row(2, 1.5, ceiling=far)]))
    assert not [one for one in figure.spec["layer"] if "data" in one]
    assert "The peak is 9.00 GB/s, above the drawn range." in figure.caption
    assert "Bands are" in figure.caption
    assert figures(data_of([row(2)])) == []
    (single,) = figures(data_of([row(n, low=None, high=None) for n in (1, 2)]))
    assert "One sample a point: no interval." in single.caption


def test_the_headlines_are_of_operations_that_no_cache_answered() -> None:
    found = {one.what: whole()[one.row].median for one in headlines(whole()) if one.part == "disk"}
    assert found == {
        "disk: own files written, 2 ranks": 1.5e9,
        "disk: own files read, 2 ranks": 1.2e9,
        "disk: neighbours' files read, 2 ranks": 1.6e9,
    }
