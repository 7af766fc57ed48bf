# SPDX-License-Identifier: Apache-2.0
"""Rings: words and plan, and from constructed records to rows, sentences, tables and the export."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from support.make_records import make_row
from support.rings_world import four, launch, rings_describe, write
from support.suite_words import request_of
from ullage.errors import UserError
from ullage.exporters import load_exporters
from ullage.model.record import PeerRecord
from ullage.model.request import Request
from ullage.model.summary import Finding, Row, Summary
from ullage.peers import Installed
from ullage.report.contents import documents
from ullage.report.data import FinishedResult, ReportData, load
from ullage.report.headlines import headlines
from ullage.report.vega import to_svg
from ullage.results.folder import ResultFolder
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import parse_options
from ullage.runs.summary import build_summary
from ullage.suites.rings.findings import balance_findings, balances, diagnose, findings_of
from ullage.suites.rings.report import figures, tables
from ullage.suites.rings.suite import LARGE_BYTES, SMALL_BYTES, RingsOptions, prepare_rings

OPTIONS: dict[str, object] = {"ranks": 4}
HPCC = Installed(Path("/usr/bin/hpcc"), "")


def prepared(ranks: int = 2, **words: object) -> PreparedKernels:
    return prepare_rings(
        request_of("rings", RingsOptions, ranks=ranks, **words), EngineContext(Path("/engine"), rings_describe())
    )


def summary_of(folder: Path, **more: object) -> Summary:
    return build_summary(write(folder, launch(**more), OPTIONS))  # type: ignore[arg-type]


def of_kind(findings: Sequence[Finding], kind: str) -> list[Finding]:
    return [finding for finding in findings if finding.kind == kind]


def test_the_six_cases_are_hpccs() -> None:
    (plan,) = prepared().plans(ResultFolder(Path("/nowhere")))
    given = [(case.workload.name, case.workload.parameters) for case in plan.cases]
    assert given == [
        ("ring", {}),
        ("ring", {"order": "random", "rings": 30}),
        ("ping-pong", {"pairs": "sampled"}),
        ("ring", {"message_bytes": LARGE_BYTES, "loops": 3, "measurements": 2}),
        ("ring", {"order": "random", "rings": 10, "message_bytes": LARGE_BYTES, "loops": 3, "measurements": 2}),
        (
            "ping-pong",
            {"pairs": "sampled", "message_bytes": LARGE_BYTES, "loops": 1, "measurements": 2, "budget_s": 30.0},
        ),
    ]
    assert plan.layout.ranks == 2
    assert plan.stop_rule.parameters == {"count": 6}
    assert prepared(faithful=True, seed=5).cases[1].case.workload.parameters["permutation"] == "slot-probe"
    assert prepared(seed=5).cases[1].case.workload.parameters["seed"] == 5


def test_rows_have_the_latency_of_the_small_and_the_bandwidth_of_the_large_message(tmp_path: Path) -> None:
    rows = summary_of(tmp_path / "r", noise=0.0).rows
    found = {(row.metric, row.params["order"]): row.median for row in rows}
    assert found == {
        ("ring_latency", "natural"): 1e-6,
        ("ring_latency", "random"): 2e-6,
        ("ping_pong_least_latency", "ping-pong"): 5e-7,
        ("ping_pong_latency", "ping-pong"): 6e-7,
        ("ping_pong_most_latency", "ping-pong"): 7e-7,
        ("ring_bandwidth", "natural"): pytest.approx(5e9),
        ("ring_bandwidth", "random"): pytest.approx(2e9),
        ("ping_pong_least_bandwidth", "ping-pong"): pytest.approx(LARGE_BYTES / 3e-4),
        # The mean of the pairs' rates, as hpcc has it.
        ("ping_pong_bandwidth", "ping-pong"): pytest.approx((LARGE_BYTES / 1e-4 + LARGE_BYTES / 3e-4) / 2),
        ("ping_pong_most_bandwidth", "ping-pong"): pytest.approx(LARGE_BYTES / 1e-4),
    }
    assert {row.params["message_bytes"] for row in rows} == {SMALL_BYTES, LARGE_BYTES}
    assert all("too-short" not in row.flag_codes and len(row.repetitions) == 6 for row in rows)


@pytest.mark.parametrize(
    ("natural", "random", "nodes", "kind"),
    [
        (0.97, 1.02, 1, "a full crossbar"),
        (0.5, 0.5, 1, "shared memory"),
        (0.47, 0.19, 8, "a torus"),
        (1 / 64, 1 / 64, 1, "a bus"),
        (0.6, 0.13, 8, "a network whose card the processes of a node share"),
    ],
)
def test_the_ratio_tells_the_kind_of_network(natural: float, random: float, nodes: int, kind: str) -> None:
    found = diagnose(8e9, natural * 8e9, random * 8e9, 64, nodes)
    assert [one.name for one in found.kinds] == [kind]


def test_published_ratios_are_told_as_what_their_machines_were() -> None:
    """Comments in HPC Challenge's source (specs/beff.md 5.3): a T3E is a torus, an SX-5 node has shared memory."""
    assert diagnose(319.0, 147.6, 61.1, 64, 1).kinds[0].name == "a torus"
    assert diagnose(7900.0, 4183.0, 4393.0, 6, 1).kinds[0].name == "shared memory"
    # ARCHER, 128 nodes of 24: the card of a node is shared.
    assert diagnose(2.591, 1.212, 0.0915, 3072, 128).kinds[0].name.startswith("a network whose card")


def test_two_processes_cannot_tell_a_bus_from_shared_memory_and_far_is_unknown() -> None:
    assert {kind.name for kind in diagnose(1.0, 0.5, 0.5, 2, 1).kinds} == {"a bus", "shared memory"}
    assert diagnose(1.0, 0.001, 0.9, 64, 1).kinds == ()


def test_sentences(tmp_path: Path) -> None:
    findings = summary_of(tmp_path / "r", noise=0.0).findings
    (ratio,) = of_kind(findings, "ring-ratio")
    assert ratio.text.startswith(
        "The bandwidths of ping-pong, natural ring and random rings are 1 : 0.38 : 0.15. Within their intervals that "
        "fits a torus ("
    )
    assert ratio.title == "The ratios of ping-pong and rings fit a torus"
    (order,) = of_kind(findings, "ring-order")
    assert order.severity == "advice"
    (latency,) = of_kind(findings, "ring-latency")
    assert "600 ns between two processes, 1.00 us in the natural ring and 2.00 us in random rings" in latency.text
    assert of_kind(findings, "oversubscribed") == []
    (warning,) = of_kind(summary_of(tmp_path / "o", run=four(oversubscribed=True)).findings, "oversubscribed")
    assert warning.severity == "warning"


def bandwidths(ping_pong: float, natural: float, random: float, noise: Sequence[float]) -> list[Row]:
    """Rows of the three bandwidths, each with a repetition for each part of ``noise``."""
    rates = {"ping-pong": ping_pong, "natural": natural, "random": random}
    return [
        make_row(
            [rate * (1 + part) for part in noise],
            metric="ping_pong_bandwidth" if order == "ping-pong" else "ring_bandwidth",
            verdict="none",
            target="mpi",
        ).model_copy(update={"params": {"order": order, "ranks": 8, "nodes": 1, "message_bytes": 2_000_000}})
        for order, rate in rates.items()
    ]


@pytest.mark.parametrize("noise", [(0.0,), (0.0, 0.01), (0.5, -0.4, 0.0, 0.3, -0.5, -0.1)])
def test_ratios_by_noise_or_few_repetitions_tell_neither_network_nor_order(noise: Sequence[float]) -> None:
    found = findings_of(bandwidths(10e9, 5e9, 3.5e9, noise), [], 0.95)
    assert [one.kind for one in found] == ["ring-ratio"]
    assert found[0].title == "The ratios of ping-pong and rings do not tell the kind of network"
    clear = findings_of(bandwidths(10e9, 5e9, 2e9, (0.01, -0.01, 0.0, 0.01, 0.0, -0.01)), [], 0.95)
    assert [one.kind for one in clear] == ["ring-ratio", "ring-order"]
    assert clear[0].title == "The ratios of ping-pong and rings fit a torus"


def with_peer(folder: Path, factor: float) -> Summary:
    result = write(folder, launch(), OPTIONS)
    for index in range(6):
        value = factor * 1e-6 * (1 + 0.01 * index)
        result.append_peer(
            PeerRecord(
                case=f"natural-{SMALL_BYTES}",
                phase="ring",
                tool="hpcc",
                version="1.5.0",
                repetition=index,
                values={"ring_latency": value},
                command=["hpcc"],
            )
        )
    return build_summary(result)


def test_agreement_with_hpcc_is_judged_by_the_noise_of_both(tmp_path: Path) -> None:
    (same,) = of_kind(with_peer(tmp_path / "a", 1.0).findings, "ring-peer")
    assert same.text.endswith("1 of 1 number, measured in turn.")
    (other,) = of_kind(with_peer(tmp_path / "b", 1.5).findings, "ring-peer")
    assert other.text.endswith(
        "0 of 1 number, measured in turn. Our value over hpcc's is 0.67 x for natural ring latency."
    )


def other_rows() -> list[Row]:
    solve = {"operation": "solve", "type": "fp64", "threads": 4, "n": 4096}
    stream = {"kernel": "triad", "stores": "ordinary", "threads": 4, "level": "DRAM", "working_set_bytes": 1 << 30}
    return [
        make_row(100e9, metric="compute_rate", unit="op/s", verdict="none", target="cpu").model_copy(
            update={"params": solve, "suite": "cpu"}
        ),
        make_row(40e9, metric="memory_bandwidth", verdict="none", target="memory").model_copy(
            update={"params": stream, "suite": "memory"}
        ),
    ]


def test_balance_is_told_where_all_numbers_are_there(tmp_path: Path) -> None:
    rows = summary_of(tmp_path / "r", noise=0.0).rows
    assert balances(rows) == []
    network, memory = balances([*rows, *other_rows()])
    # 4 processes x 2 GB/s over 100 Gflop/s, in bytes for 1000 operations.
    assert (network.value, network.unit) == (pytest.approx(80.0), "B/kflop")
    assert (memory.value, memory.unit) == (pytest.approx(0.4), "B/flop")
    assert len(balance_findings([*rows, *other_rows()])) == 2
    assert [one.name for one in balances(other_rows())] == ["memory : compute"]


def test_the_export_has_hpccs_names_and_units(tmp_path: Path) -> None:
    summary = summary_of(tmp_path / "r", noise=0.0)
    summary = summary.model_copy(update={"rows": [*summary.rows, *other_rows()]})
    text = load_exporters()["hpcc"].render(ReportData(summary))
    assert isinstance(text, str)
    assert text.startswith("Begin of Summary section.\n")
    assert text.endswith("End of Summary section.\n")
    fields = dict(line.split("=") for line in text.splitlines() if "=" in line)
    assert fields == {
        "HPL_Tflops": "0.1",
        "HPL_N": "4096",
        "StarSTREAM_Triad": "10",
        "CommWorldProcs": "4",
        "MaxPingPongLatency_usec": "0.7",
        "RandomlyOrderedRingLatency_usec": "2",
        "MinPingPongBandwidth_GBytes": "6.66667",
        "NaturallyOrderedRingBandwidth_GBytes": "5",
        "RandomlyOrderedRingBandwidth_GBytes": "2",
        "MinPingPongLatency_usec": "0.5",
        "AvgPingPongLatency_usec": "0.6",
        "MaxPingPongBandwidth_GBytes": "20",
        "AvgPingPongBandwidth_GBytes": "13.3333",
        "NaturallyOrderedRingLatency_usec": "1",
    }
    with pytest.raises(UserError, match="no number"):
        load_exporters()["hpcc"].render(ReportData(Summary(suite="disk", run_id="r", created="now", rows=[])))


def test_its_headlines_are_those_of_random_rings(tmp_path: Path) -> None:
    rows = summary_of(tmp_path / "r").rows
    found = headlines(rows)
    assert [(one.part, rows[one.row].metric, rows[one.row].params["order"]) for one in found] == [
        ("messages", "ring_bandwidth", "random"),
        ("messages", "ring_latency", "random"),
    ]


def test_tables_and_pictures(tmp_path: Path) -> None:
    summary = with_peer(tmp_path / "r", 1.0)
    data = load(FinishedResult(tmp_path / "r"), summary)
    data = ReportData(
        summary.model_copy(update={"rows": [*summary.rows, *other_rows()]}), data.phases, request=data.request
    )
    content = tables(data)
    assert content is not None
    assert [grid.title for grid in content.grids] == [
        "latency of 8 bytes",
        "bandwidth of 2,000,000 bytes",
        "ratio of bandwidths, each process",
        "balance",
    ]
    latency = content.grids[0]
    assert [row[0].text for row in latency.rows] == [
        "natural ring",
        "random rings",
        "ping-pong, least",
        "ping-pong, mean",
        "ping-pong, most",
    ]
    heads = [column.heading for column in latency.columns]
    assert latency.rows[0][heads.index("ours over hpcc's")].text == "1.00"
    assert any("ran after each of our repetitions" in note for note in content.notes)
    drawn = figures(data)
    assert len(drawn) == 2
    found = [document for name, document in documents(data) if name.startswith("rings")]
    assert "<svg" in to_svg(found[0])


def test_other_suites_have_none_of_it() -> None:
    data = ReportData(Summary(suite="disk", run_id="r", created="now", rows=[]))
    assert tables(data) is None
    assert figures(data) == []


def test_hpcc_of_one_node_does_not_stand_beside_rings_of_several() -> None:
    for hosts, stands in ((0, True), (4, False)):
        asked = parse_options(RingsOptions, hosts, ranks=8)
        request = Request(run_id="r1", suite="rings", created="now", options=asked.options)
        prepared = prepare_rings(request, EngineContext(Path("/engine"), rings_describe()))
        assert (prepared.peers is not None) is stands
