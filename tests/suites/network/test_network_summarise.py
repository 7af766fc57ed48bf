# SPDX-License-Identifier: Apache-2.0
"""From the records of a network run to rows, ceilings and sentences."""

from pathlib import Path

import pytest

from support.make_records import make_phase
from support.network_world import ETHERNET, LOOPBACK, SLOWER, Measured, request, stream, write_network
from ullage.analysis.metrics import metric_named
from ullage.model.machine import DeclaredNetwork, MachineFile
from ullage.model.record import PeerRecord, PhaseRecord
from ullage.model.summary import Row, Summary
from ullage.report.headlines import headlines
from ullage.runs.summary import build_summary
from ullage.suites.network.findings import findings_of, link_of, with_ceilings

BETWEEN_NODES = {"between": "nodes", "mine": ETHERNET, "theirs": SLOWER}


def summary_of(folder: Path, *cases: Measured) -> Summary:
    return build_summary(write_network(folder / "r", cases))


def row_of(summary: Summary, case: Measured, metric: str) -> Row:
    (row,) = [row for row in summary.rows if (row.case, row.metric) == (case.name, metric)]
    return row


def texts(summary: Summary) -> dict[str, str]:
    return {finding.kind: finding.text for finding in summary.findings}


def test_metrics_are_of_the_measured_time() -> None:
    phase = stream("udp", 1000, 2, 3e9, cores=1.5, lost=5, expected=100).phase(0)
    values = {
        name: metric_named(name).sample(phase)
        for name in ("network_bandwidth", "message_rate", "network_cpu", "bandwidth_per_core", "loss_share", "jitter")
    }
    assert values == {
        "network_bandwidth": 3e9,
        "message_rate": 3e6,
        "network_cpu": 1.5,
        "bandwidth_per_core": 2e9,
        "loss_share": 0.05,
        "jitter": 2e-6,
    }
    lost = phase.model_copy(
        update={
            "counters": {"sent_bytes": 9},
            "facts": {"datagrams_by": "gso"},
            "gauges": {"pairs": phase.gauges["pairs"]},
        }
    )
    assert metric_named("loss_share").sample(lost) == 1.0
    bare = phase.model_copy(update={"gauges": {}, "counters": {}})
    assert {metric_named(name).sample(bare) for name in values} == {None}


def test_streams_and_requests_have_the_rows_that_say_something(tmp_path: Path) -> None:
    tcp, udp = stream("tcp", 1024, 1, 1e9), stream("udp", 1024, 1, 1e9, expected=100)
    asked = request("udp", 1, 1, 10_000, expected=100)
    summary = summary_of(tmp_path, tcp, udp, asked)
    metrics = {case.name: {row.metric for row in summary.rows if row.case == case.name} for case in (tcp, udp, asked)}
    assert metrics[tcp.name] == {"network_bandwidth", "network_cpu", "bandwidth_per_core"}
    assert metrics[udp.name] == {*metrics[tcp.name], "loss_share", "jitter"}
    assert {"latency_p50", "latency_max", "message_rate", "loss_share"} <= metrics[asked.name]
    assert "network_bandwidth" not in metrics[asked.name]
    row = row_of(summary, asked, "latency_p50")
    assert (row.median, row.params["block_bytes"], row.params["streams"]) == (10e-6, 1, 1)
    assert row.flag_codes == []


def test_the_loopback_has_no_ceiling_and_says_so(tmp_path: Path) -> None:
    case = stream("tcp", 32768, 1, 5e9)
    summary = summary_of(tmp_path, case)
    assert row_of(summary, case, "network_bandwidth").ceiling is None
    assert "this tests its cores (1.5 of them busy at 40 Gb/s)" in texts(summary)["loopback"]


def test_the_loopback_gains_nothing_that_ranks(tmp_path: Path) -> None:
    def gains(facts: dict[str, object] | None) -> list[object]:
        more = {} if facts is None else {"facts": facts}
        cases = [stream("tcp", 32768, 1, 4e7, **more), stream("tcp", 32768, 4, 1e8, **more)]  # type: ignore[arg-type]
        found = summary_of(tmp_path / str(facts is None), *cases).findings
        return [finding.gain for finding in found if finding.gain is not None or finding.change]

    assert gains(BETWEEN_NODES)
    assert gains(None) == []


def test_between_nodes_the_slower_end_bounds(tmp_path: Path) -> None:
    case = stream("tcp", 32768, 1, 1.1e8, facts=BETWEEN_NODES)
    summary = summary_of(tmp_path, case)
    row = row_of(summary, case, "network_bandwidth")
    assert row.ceiling is not None
    assert (row.ceiling.value, row.ceiling.kind) == (1.25e8, "detected")
    assert row.share == pytest.approx(0.88)
    assert "88 % of the link's rate" in texts(summary)["streams"]
    assert "loopback" not in texts(summary)


def test_what_is_declared_comes_first_and_ways_add_up(tmp_path: Path) -> None:
    both = stream("tcp", 32768, 1, 2e9, direction="both", facts=BETWEEN_NODES)
    asked = request("tcp", 1, 1, 10_000, facts=BETWEEN_NODES)
    summary = summary_of(tmp_path, both, asked)
    machine = MachineFile(network=[DeclaredNetwork(name="eth0", rate=1.2e9, latency_s=2e-6)])
    phases = {case.name: case.phase(0) for case in (both, asked)}
    rows = {(row.case, row.metric): row for row in with_ceilings(summary.rows, phases, machine)}
    ceiling = rows[both.name, "network_bandwidth"].ceiling
    assert ceiling is not None
    assert (ceiling.value, ceiling.kind) == (2.4e9, "declared")
    latency = rows[asked.name, "latency_p50"]
    assert latency.ceiling is not None
    assert (latency.ceiling.value, latency.share) == (4e-6, pytest.approx(0.4))


def test_a_record_that_says_no_link_has_none() -> None:
    phase = stream("tcp", 1, 1, 1e9).phase(0).model_copy(update={"facts": {}})
    assert link_of(phase) is None
    known = link_of(stream("tcp", 1, 1, 1e9, facts={"mine": LOOPBACK}).phase(0))
    assert known is not None
    assert known.is_loopback


def test_round_trips_that_take_more_than_all_the_time_break_littles_law(tmp_path: Path) -> None:
    case = request("tcp", 1, 1, 10_000)

    class Broken(Measured):
        def phase(self, repetition: int) -> PhaseRecord:
            good = super().phase(repetition)
            assert good.latency is not None
            return good.model_copy(update={"latency": good.latency.model_copy(update={"sum_ns": 2 * 10**9})})

    broken = Broken("broken", {**case.parameters, "streams": 1}, latency_ns=10_000)
    several = Broken("several", {**case.parameters, "streams": 2}, latency_ns=10_000)
    summary = summary_of(tmp_path, case, broken, several)
    assert "INVALID:littles-law" in row_of(summary, broken, "latency_p50").flag_codes
    assert row_of(summary, case, "latency_p50").flag_codes == []
    assert row_of(summary, several, "latency_p50").flag_codes == []


def test_findings_say_which_setting_is_best_and_what_is_lost(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path,
        stream("tcp", 32768, 1, 1e9),
        stream("tcp", 32768, 4, 2e9),
        stream("udp", 32768, 1, 2e9, lost=30, expected=100),
        stream("udp", 32768, 4, 2e9, lost=1, expected=1000),
        stream("tcp", 32768, 1, 5e8, no_delay=True),
        stream("tcp", 32768, 1, 1.5e9, zero_copy=True),
        request("tcp", 1, 1, 12_000),
        request("udp", 1, 1, 10_000, expected=10),
        request("icmp", 56, 1, 4_000),
    )
    found = [finding.text for finding in summary.findings if finding.kind == "streams"]
    assert found[0].startswith(
        "TCP with blocks of 32K reaches its highest median, 2.00 GB/s (16 Gb/s), with 4 streams. That is 2.00 x the"
    )
    assert "UDP" in found[1]
    said = texts(summary)
    assert (
        "UDP loses up to 30.0 % of its datagrams (32K blocks and 1 stream). In 1 case more than 1 % were lost"
        in said["loss"]
    )
    assert "lowers the rate" in said["no-delay"]
    assert "raises the rate" in said["zero-copy"]
    assert "12.0 us by TCP (1 of 100 above 36.0 us) and 10.0 us by UDP" in said["round-trip"]
    assert "not-available" not in said


@pytest.mark.parametrize(
    ("window", "granted", "advice"),
    [
        (None, 212_992, "Try larger"),
        (1 << 20, 2 << 20, "Try larger"),
        (1 << 20, 425_984, "as large as net.core.rmem_max"),
    ],
)
def test_larger_buffers_are_not_advised_where_the_kernel_grants_no_more(
    tmp_path: Path, window: int | None, granted: int, advice: str
) -> None:
    rows = summary_of(tmp_path, stream("udp", 32768, 1, 2e9, lost=30, expected=100)).rows
    phases = {row.case: make_phase(facts={"receive_buffer_bytes": granted}) for row in rows}
    (text,) = [one.text for one in findings_of(rows, phases, 0.95, window) if one.kind == "loss"]
    assert advice in text


def test_that_nothing_arrives_is_a_number_too(tmp_path: Path) -> None:
    silent, one, more = stream("udp", 32768, 1, 0.0), stream("udp", 1024, 1, 0.0), stream("udp", 32768, 4, 1e9)
    summary = summary_of(tmp_path, silent, one, more)
    assert row_of(summary, silent, "network_bandwidth").median == 0
    assert "With 1 stream nothing arrived." in texts(summary)["streams"]
    connected = stream("tcp", 32768, 1, 0.0, no_delay=True)
    nothing = summary_of(tmp_path / "n", silent, connected)
    assert "streams" not in texts(nothing)
    assert "INVALID:nothing-arrived" in row_of(nothing, connected, "network_bandwidth").flag_codes
    assert "INVALID:nothing-arrived" not in row_of(nothing, silent, "network_bandwidth").flag_codes


def test_lost_answers_are_a_warning_and_what_is_not_available_is_said(tmp_path: Path) -> None:
    echo = request("icmp", 56, 1, 0, facts={"unavailable": "not available: the kernel refuses"})
    summary = summary_of(tmp_path, request("udp", 1, 1, 10_000, lost=5, expected=100), echo)
    assert texts(summary)["not-available"] == "ICMP echo is not available: the kernel refuses."
    (loss,) = [finding for finding in summary.findings if finding.kind == "loss"]
    assert (loss.severity, "5.0 % of the UDP requests" in loss.text) == ("warning", True)


def test_peers_stand_beside(tmp_path: Path) -> None:
    case = stream("tcp", 32768, 1, 2e9)
    result = write_network(tmp_path / "r", [case])
    for repetition, rate in enumerate((1e9, 3e9, 2.5e9)):
        values = {"network_bandwidth": rate, "network_cpu": 1.9}
        result.append_peer(
            PeerRecord(
                case=case.name,
                phase="sockets",
                tool="iperf3",
                version="3.12",
                repetition=repetition,
                values=values,
                command=["iperf3"],
            )
        )
    row = row_of(build_summary(result), case, "network_bandwidth")
    assert row.peer is not None
    assert (row.peer.tool, row.peer.median) == ("iperf3", 2.5e9)


def test_the_front_page_has_the_best_of_each_protocol(tmp_path: Path) -> None:
    summary = summary_of(
        tmp_path, stream("tcp", 1024, 1, 1e9), stream("tcp", 32768, 4, 2e9), request("udp", 1, 1, 10_000)
    )
    assert [(one.part, one.what) for one in headlines(summary.rows)] == [
        ("network", "TCP, blocks of 32K, 4 streams"),
        ("network", "UDP, 1 byte there and back"),
    ]


def test_a_virtual_interface_is_no_ceiling_and_the_row_says_why(tmp_path: Path) -> None:
    """A pair of veth or virtio_net states 10 Gb/s and carries 30: that is no INVALID."""
    virtual = {**ETHERNET, "driver": "virtio_net"}
    real = {**ETHERNET, "interface": "eth1", "driver": "mlx5_core"}
    ends = [(1, virtual, real), (2, real, virtual), (4, real, real)]
    cases = [
        stream("tcp", 1 << 20, count, 4e9, facts={"between": "nodes", "mine": mine, "theirs": theirs})
        for count, mine, theirs in ends
    ]
    summary = summary_of(tmp_path, *cases)
    fast, back, known = (row_of(summary, case, "network_bandwidth") for case in cases)
    for row in (fast, back):
        assert (row.ceiling, row.share) == (None, None)
        assert "no ceiling: eth0 is virtual (virtio_net), and the 10 Gb/s it states are made up" in row.notes
        assert "INVALID:above-ceiling" not in row.flag_codes
    assert known.ceiling is not None
    assert known.has_flag("INVALID:above-ceiling")
