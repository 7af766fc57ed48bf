# SPDX-License-Identifier: Apache-2.0
"""The course report on one node: its tables are shown again, and what in them cannot be is named."""

from pathlib import Path

import pytest

from ullage.importers import import_options, imported_summary, read, write_import
from ullage.model.summary import Row, Summary
from ullage.report.data import ReportData
from ullage.report.html import render
from ullage.report.sections.scores import published_tables

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("pa1_*.csv"))
KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture(scope="module")
def summary() -> Summary:
    return read(FILES)


def row(summary: Summary, table: str, work: str, threads: int, size: int | None = None) -> Row:
    place = {"table": table, "workload": work, "threads": threads, **({} if size is None else {"block_bytes": size})}
    (found,) = [one for one in summary.rows if place.items() <= one.params.items()]
    return found


def texts(summary: Summary, kind: str) -> str:
    return "\n".join(finding.text for finding in summary.findings if finding.kind == kind)


def test_every_line_of_every_table_is_a_row(summary: Summary) -> None:
    lines = sum(len(path.read_text().splitlines()) - 1 for path in FILES)
    assert len(summary.rows) == lines == 128
    double = row(summary, "cpu", "DP", 4)
    assert double.peer is not None
    assert (double.median, double.peer.median, double.peer.tool) == (7.127054e9, 68.7276e9, "HPL")
    assert double.ceiling is not None
    assert double.ceiling.value == 73.568e9
    assert double.share == pytest.approx(0.0968770933)
    assert {one.verdict for one in summary.rows} == {"unknown(imported)"}


def test_the_ceiling_is_the_drives_whatever_the_threads(summary: Summary) -> None:
    reads = [row(summary, "disk throughput", "RS", threads, 10 * MIB) for threads in (1, 2, 4)]
    assert {one.ceiling.value for one in reads if one.ceiling} == {540e6}
    assert ["ceiling-times-threads" in one.flag_codes for one in reads] == [False, True, True]
    assert "540 MB/s" in texts(summary, "ceiling-times-threads")


def test_iozone_at_223_percent_of_the_drive(summary: Summary) -> None:
    four = row(summary, "disk throughput", "RS", 4, 10 * MIB)
    assert four.peer is not None
    assert four.ceiling is not None
    assert four.peer.median / four.ceiling.value == pytest.approx(2.2337, rel=1e-4)
    assert "peer-above-ceiling" in four.flag_codes
    assert "IOzone: 2.23 times the ceiling" in four.reasons
    ours = row(summary, "disk throughput", "RS", 4, MIB)
    assert "INVALID:above-ceiling" in ours.flag_codes
    assert "1.96 times the ceiling" in ours.reasons


def test_random_blocks_are_not_bounded_by_small_requests(summary: Summary) -> None:
    random = row(summary, "disk throughput", "RR", 1, 100 * MIB)
    assert random.ceiling is not None
    assert random.ceiling.value == 540e6
    assert "ceiling-of-small-requests" in random.flag_codes
    written = row(summary, "disk throughput", "WR", 4, MIB)
    assert written.ceiling is not None
    assert written.ceiling.value == 410e6


def test_rate_and_latency_contradict_each_other(summary: Summary) -> None:
    reads = row(summary, "disk iops", "RR", 1, KIB)
    assert "INVALID:littles-law" in reads.flag_codes
    assert any("36,265 a second x 5.51 us = 0.20 in flight with 1 thread" in reason for reason in reads.reasons)
    assert "0.20 in flight with 1 thread" in texts(summary, "littles-law")
    assert "IOzone: 42,681 a second x 50.0 us = 2.13 in flight" in texts(summary, "peer-littles-law")
    assert all("INVALID:littles-law" in row(summary, "disk latency", "WR", t, KIB).flag_codes for t in (1, 16, 128))


def test_the_efficiency_of_a_time_is_turned_round(summary: Summary) -> None:
    slow = row(summary, "memory latency", "RWR", 4, 1)
    assert "efficiency-inverted" in slow.flag_codes
    assert "2155 %" in texts(summary, "efficiency-inverted")
    assert slow.share == pytest.approx(0.01406 / 0.302988)
    assert "2.6e+05 %" in texts(summary, "peer-efficiency-inverted")
    # Their own network latencies were divided the right way round.
    assert "efficiency-inverted" not in row(summary, "network latency", "TCP", 1, 1).flag_codes


def test_a_latency_that_falls_with_threads_is_an_inverse_rate(summary: Summary) -> None:
    falling = [row(summary, "memory latency", "RWS", threads, 1) for threads in (1, 2, 4)]
    assert ["INVALID:inverse-rate" in one.flag_codes for one in falling] == [False, True, True]
    assert not any("INVALID:inverse-rate" in row(summary, "memory latency", "RWR", t, 1).flag_codes for t in (1, 2, 4))
    assert "INVALID:inverse-rate" in row(summary, "network latency", "UDP", 8, 1).flag_codes


def test_a_read_of_5_us_from_a_drive_of_500_us_did_not_come_from_it(summary: Summary) -> None:
    assert "INVALID:above-ceiling" in row(summary, "disk latency", "RR", 1, KIB).flag_codes


def test_a_theory_without_an_instruction_and_of_all_cores(summary: Summary) -> None:
    assert "ceiling-without-instruction" in row(summary, "cpu", "QP", 1).flag_codes
    assert "ceiling-without-instruction" not in row(summary, "cpu", "SP", 1).flag_codes
    assert "ceiling-of-all-cores" in row(summary, "cpu", "DP", 1).flag_codes
    assert "ceiling-of-all-cores" not in row(summary, "cpu", "DP", 4).flag_codes
    assert "scalar code" in texts(summary, "width-independent")


def test_the_theory_of_memory_counts_the_two_edges_of_ddr_twice(summary: Summary) -> None:
    """2133e6 x 2 x 64 x 2 / 8: MT/s hold the two edges already, so it is right for 4 channels alone."""
    flagged = row(summary, "memory throughput", "RWS", 4, 10 * MIB)
    assert flagged.reason_of("ceiling-of-ddr-twice").startswith("68.3 GB/s is 4 x 2133 MT/s x 8 B: right for 4")
    assert "34.1 GB/s" in texts(summary, "ceiling-of-ddr-twice")
    assert {one.params["table"] for one in summary.rows if one.has_flag("ceiling-of-ddr-twice")} == {
        "memory throughput"
    }


def test_a_check_that_needs_another_file_says_so(summary: Summary) -> None:
    assert texts(summary, "not-checked") == ""
    alone = read(HERE / "pa1_disk_latency.csv")
    (finding,) = [one for one in alone.findings if one.kind == "not-checked"]
    assert finding.text == (
        "disk latency: whether its latencies and the rates agree was not checked. Import pa1_disk_iops.csv with it."
    )


def test_the_report_shows_the_columns_as_they_were_published(summary: Summary) -> None:
    content = published_tables(ReportData(summary))
    assert content is not None
    assert [grid.title for grid in content.grids] == [
        "cpu, beside HPL",
        "disk iops, beside IOzone",
        "disk latency, beside IOzone",
        "disk throughput, beside IOzone",
        "memory latency, beside pmbw",
        "memory throughput, beside pmbw",
        "network latency, beside ping",
        "network throughput, beside iperf",
    ]
    grid = content.grids[3]
    heads = [column.heading for column in grid.columns]
    line = next(
        [cell.text for cell in cells] for cells in grid.rows if [c.text for c in cells[:3]] == ["RS", "4", "10M"]
    )
    cells = dict(zip(heads, line, strict=True))
    assert (cells["measured"], cells["peer"], cells["ceiling"]) == ("334 MB/s", "1.21 GB/s", "540 MB/s")
    assert (cells["efficiency"], cells["peer's efficiency"]) == ("62 %", "223 %")
    assert "block" not in [column.heading for column in content.grids[0].columns]
    assert "223 %" in render(ReportData(summary))


def test_a_folder_stands_for_all_its_tables_and_the_result_can_be_read_again(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for path in FILES:
        (folder / path.name).write_bytes(path.read_bytes())
    options = import_options([folder])
    assert options["form"] == "pa1"
    result = write_import([folder], tmp_path / "result", options, [])
    again = imported_summary(result, result.read_request())
    assert {one.model_dump_json() for one in again.rows} == {one.model_dump_json() for one in read(FILES).rows}
    assert {one.kind for one in again.findings} == {one.kind for one in read(FILES).findings}
