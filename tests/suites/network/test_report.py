# SPDX-License-Identifier: Apache-2.0
"""Network runs in the report: the tables, and charts that can be drawn."""

from pathlib import Path

from support.network_world import ETHERNET, Measured, request, stream, write_network
from ullage.model.record import PeerRecord
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.vega import to_svg, with_config
from ullage.runs.summary import build_summary
from ullage.suites.network import report
from ullage.suites.network.report import SECTION, tables

CASES = (
    stream("udp", 32768, 1, 2.5e9, lost=5, expected=100),
    stream("tcp", 32768, 4, 5e9),
    stream("tcp", 32768, 1, 2.5e9),
    stream("tcp", 32768, 1, 5e9, zero_copy=True),
    request("tcp", 14, 1, 12_000),
)


def data_of(folder: Path, *cases: Measured) -> ReportData:
    result = write_network(folder, cases)
    for case, tool, values in (
        ("tcp-32768-1", "iperf3", {"network_bandwidth": 2e9, "network_cpu": 1.25}),
        ("tcp-request-14-1", "sockperf", {"latency_p50": 15e-6}),
    ):
        result.append_peer(
            PeerRecord(case=case, phase="sockets", tool=tool, version="3", repetition=0, values=values, command=[tool])
        )
    return load(FinishedResult(result.path), build_summary(result))


def test_the_tables_show_what_was_reached_beside_the_peers(tmp_path: Path) -> None:
    content = tables(data_of(tmp_path / "r", *CASES))
    assert content is not None
    streams, requests = content.grids
    heads = [column.heading for column in streams.columns]
    lines = [dict(zip(heads, (cell.text for cell in row), strict=True)) for row in streams.rows]
    assert [(line["protocol"], line["streams"], line["how"]) for line in lines] == [
        ("TCP", "1", ""),
        ("TCP", "4", ""),
        ("TCP", "1", "MSG_ZEROCOPY"),
        ("UDP", "1", ""),
    ]
    first = lines[0]
    assert (first["Gb/s"], first["peer Gb/s"], first["ours to peer's"]) == ("20.0", "16.0", "1.25")
    assert (first["cores busy"], first["peer's cores"], first["Gb/s a core"]) == ("1.50", "1.25", "13.3")
    assert lines[3]["lost"] == "5.00 %"
    assert "ceiling Gb/s" not in heads
    (line,) = [[cell.text for cell in row] for row in requests.rows]
    assert line[:3] == ["TCP", "1", "14"]
    assert "15.0 us" in line
    assert any("use its loopback (lo, 127.0.0.1)" in note for note in content.notes)
    assert any("14 bytes at least" in note for note in content.notes)
    assert any("congestion control cubic" in note for note in content.notes)


def test_between_nodes_it_says_which_interfaces(tmp_path: Path) -> None:
    facts = {"between": "nodes", "mine": ETHERNET, "theirs": ETHERNET, "congestion_control": ""}
    content = tables(data_of(tmp_path / "r", stream("tcp", 32768, 1, 1e9, facts=facts)))
    assert content is not None
    assert content.notes[0] == "Between nodes, over eth0 (192.0.2.1, 10 Gb/s by the kernel)."
    assert "ceiling Gb/s" in [column.heading for column in content.grids[0].columns]


def test_charts_can_be_drawn(tmp_path: Path) -> None:
    data = data_of(tmp_path / "r", *CASES)
    for chart in report.CHARTS:
        (figure,) = chart.build(data)
        assert "<svg" in to_svg(with_config(figure.spec, figure.title, figure.caption))
    assert "Crosses" in report.rate_figures(data)[0].caption


def test_one_number_of_streams_needs_no_chart_and_other_suites_no_section(tmp_path: Path) -> None:
    single = data_of(tmp_path / "r", stream("tcp", 32768, 1, 1e9))
    assert report.rate_figures(single) == []
    assert report.latency_figures(single) == []
    assert SECTION.suite == "network"
    assert tables(ReportData(single.summary.model_copy(update={"rows": []}))) is None
