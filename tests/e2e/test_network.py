# SPDX-License-Identifier: Apache-2.0
"""A tiny network run between two ranks of this node, and between two hosts. No number is held against another."""

import json
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command, run, run_here
from tests.places.hosts import hosts_up

from ullage.engine import describe
from ullage.peers import load_peers
from ullage.results.folder import ResultFolder

LINK_RATE = 200e6 / 8

TINY = ("--quick", "--block", "1K", "--streams", "1,2", "--seconds", "0.2", "--repetitions", "3", "--no-peer")


def test_a_tiny_run_leaves_rows_and_a_report_and_is_not_measured_again(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(command(engine, "run", "network", *TINY, "--all", "--result", str(result)))
    assert code == 0, err
    assert "Network" in out
    rows = json.loads((result / "summary.json").read_text())["rows"]
    streams = {
        (row["params"]["protocol"], row["params"]["streams"]) for row in rows if row["metric"] == "network_bandwidth"
    }
    assert streams == {(protocol, count) for protocol in ("tcp", "udp", "unix") for count in (1, 2)}
    latencies = {row["params"]["protocol"] for row in rows if row["metric"] == "latency_p50"}
    assert {"tcp", "udp", "pipe"} <= latencies
    assert {row["params"]["protocol"] for row in rows if row["params"].get("bound")} == {"unix", "pipe"}
    assert all(row["median"] > 0 for row in rows if row["metric"] != "loss_share")
    assert {row["ceiling"]["kind"] for row in rows if row["ceiling"] is not None} <= {"measured"}
    assert not any(flag["code"].startswith("INVALID") for row in rows for flag in row["flags"])
    page = (result / "report.html").read_text()
    for title in ("throughput", "round trips", "never leave its kernel"):
        assert title in page
    launches = len(list((result / "records").iterdir()))
    code, _, err = run_here("resume", str(result), "--engine", str(engine))
    assert code == 0, err
    assert len(list((result / "records").iterdir())) == launches


def test_an_interface_that_is_not_there_is_a_failure_with_its_reason(engine: Path, tmp_path: Path) -> None:
    words = (*TINY, "--protocols", "tcp", "--interface", "no-such-if", "--result", str(tmp_path / "result"))
    code, out, err = run(command(engine, "run", "network", *words))
    assert code == 4, err
    assert "no-such-if" in out + err


@pytest.mark.long
@pytest.mark.parametrize("front", [pytest.param("h0", marks=pytest.mark.each_mpi), "h1"])
def test_between_hosts_ours_and_the_peers_find_the_rate_of_the_link(engine: Path, tmp_path: Path, front: str) -> None:
    """Wherever Ullage is started: the peers' servers run on the other host."""
    family = describe(engine).engine.mpi.family
    result = tmp_path / "result"
    # Datagrams without a rate would fill the link's queue for seconds.
    words = ["--quick", "--protocols", "tcp", "--streams", "1", "--seconds", "0.2", "--repetitions", "3"]
    with hosts_up(tmp_path / "hosts", 2, "1:200mbit") as place:
        run_there = command(engine, "run", "network", "--hosts", ",".join(place.names), *words, "--result", str(result))
        done = place.run(front, run_there, family, TIMEOUT_S)
    assert done.returncode == 0, done.stderr
    rows = json.loads((result / "summary.json").read_text())["rows"]
    assert {row["params"]["nodes"] for row in rows} == {2}
    (tcp,) = [row for row in rows if row["metric"] == "network_bandwidth"]
    # The link lets pass no more than its rate, but for what it has saved up before. A process that stands still misses
    # what passes meanwhile, or finds more than passes: one repetition of three is enough.
    assert any(0.5 * LINK_RATE < rate < 1.1 * LINK_RATE for rate in tcp["repetitions"]), tcp["repetitions"]
    assert "tcp" in {row["params"]["protocol"] for row in rows if row["metric"] == "latency_p50"}
    assert "over eth0 (10." in (result / "report.html").read_text()
    check_peers(result)


def check_peers(result: Path) -> None:
    """A peer within one host would have no link in its way, and the loopback's addresses."""
    installed = {tool for tool in ("iperf3", "sockperf", "ping") if load_peers()[tool].installed() is not None}
    folder = ResultFolder.open(result)
    records = folder.read_peers()
    assert {record.tool for record in records} == installed, folder.read_summary().events
    for record in records:
        assert sum(word.startswith("10.") for word in record.command) == 2, record.command
    rates = [record.values["network_bandwidth"] for record in records if record.tool == "iperf3"]
    assert not rates or 0 < min(rates) < 1.1 * LINK_RATE
