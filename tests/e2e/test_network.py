# SPDX-License-Identifier: Apache-2.0
"""A tiny network run between two ranks of this node, and between two hosts. No number is held against another."""

import json
import subprocess
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, check_refusal, command, run, run_here
from tests.places.hosts import hosts_up

from ullage.engine import describe

LINK_RATE = 200e6 / 8

TINY = ("--quick", "--block", "1K", "--streams", "1,2", "--seconds", "0.02", "--repetitions", "1", "--no-peer")


def test_a_tiny_run_leaves_rows_and_a_report_and_is_not_measured_again(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    code, out, err = run(command(engine, "run", "network", *TINY, "--all", "--result", str(result)))
    assert code == 0, err
    assert "Network" in out
    rows = json.loads((result / "summary.json").read_text())["rows"]
    streams = {
        (row["params"]["protocol"], row["params"]["streams"]) for row in rows if row["metric"] == "network_bandwidth"
    }
    assert streams == {(protocol, count) for protocol in ("tcp", "udp") for count in (1, 2)}
    latencies = {row["params"]["protocol"] for row in rows if row["metric"] == "latency_p50"}
    assert {"tcp", "udp"} <= latencies
    assert all(row["median"] > 0 for row in rows if row["metric"] != "loss_share")
    assert all(row["ceiling"] is None for row in rows)
    assert not any(flag["code"].startswith("INVALID") for row in rows for flag in row["flags"])
    page = (result / "report.html").read_text()
    for title in ("throughput", "round trips", "never leave its kernel"):
        assert title in page
    launches = len(list((result / "records").iterdir()))
    code, _, err = run_here("resume", str(result), "--engine", str(engine))
    assert code == 0, err
    assert len(list((result / "records").iterdir())) == launches


@pytest.mark.any_mpi
def test_an_interface_that_is_not_there_is_a_failure_with_its_reason(engine: Path, tmp_path: Path) -> None:
    words = (*TINY, "--protocols", "tcp", "--interface", "no-such-if", "--result", str(tmp_path / "result"))
    code, out, err = run(command(engine, "run", "network", *words))
    assert code == 4, err
    assert "no-such-if" in out + err


@pytest.mark.any_mpi
def test_bad_words_are_one_line_and_leave_nothing(engine: Path, tmp_path: Path) -> None:
    check_refusal(engine, tmp_path, ["run", "network", "--block", "64K"], 2, "a datagram of a stream has 16 to 65507")


def test_between_hosts_the_link_is_used_and_its_rate_is_found(engine: Path, tmp_path: Path) -> None:
    family = describe(engine).engine.mpi.family
    result = tmp_path / "result"
    # Datagrams without a rate would fill the link's queue for seconds.
    words = ["--quick", "--protocols", "tcp", "--streams", "1", "--seconds", "0.2", "--repetitions", "1"]
    with hosts_up(tmp_path / "hosts", 2, "1:200mbit") as place:
        run_there = command(engine, "run", "network", "--hosts", ",".join(place.names), *words, "--result", str(result))
        environment = dict(place.environment(family))
        done = subprocess.run(
            place.command("h0", run_there),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 0, done.stderr
    rows = json.loads((result / "summary.json").read_text())["rows"]
    assert {row["params"]["nodes"] for row in rows} == {2}
    (tcp,) = [row for row in rows if row["metric"] == "network_bandwidth"]
    # The link lets pass no more than its rate, but for what it has saved up before.
    assert 0.5 * LINK_RATE < tcp["median"] < 1.1 * LINK_RATE
    assert "tcp" in {row["params"]["protocol"] for row in rows if row["metric"] == "latency_p50"}
    assert "over eth0 (10." in (result / "report.html").read_text()
    assert not (result / "peers.ndjson").exists()
