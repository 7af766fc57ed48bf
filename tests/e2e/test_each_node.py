# SPDX-License-Identifier: Apache-2.0
"""``--each-node`` on four hosts and in a job of Slurm: every node by itself at once, and which of them is slow."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.commands import TIMEOUT_S, command, run_here
from tests.places.hosts import HostsPlace, hosts_up
from tests.places.slow_disk import slow_for
from tests.places.slurm import slurm_up

from ullage.engine import describe
from ullage.results.records import read_records

# The disks of all hosts are one, so a host is slow only where far less than its share is left to it.
_SLOW_BYTES_PER_S = 400_000
_DISK = ("disk", "--quick", "--time", "20s", "--threads", "1", "--block", "64K", "--depth", "1", "--small", "4K")
_VOLUMES = (
    "--volume",
    "256K",
    "--small-volume",
    "64K",
    "--min-repetitions",
    "6",
    "--max-repetitions",
    "6",
    "--no-peer",
)


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[HostsPlace]:
    with hosts_up(tmp_path / "hosts", 4) as place:
        yield place


def on_first(
    place: HostsPlace, engine: Path, *words: str, timeout_s: float = TIMEOUT_S
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        place.command("h0", command(engine, *words)),
        env=dict(place.environment(describe(engine).engine.mpi.family)),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout_s,
    )


def slow_host(place: HostsPlace, host: str, group: Path) -> None:
    """Let everything that is started on ``host`` be in ``group``."""
    agent = place.folder / "agent"
    own = agent.rename(place.folder / "agent.all")
    agent.write_text(
        f'#!/bin/sh\ncase " $* " in *" {host} "*) echo $$ > {group}/cgroup.procs ;; esac\nexec "{own}" "$@"\n'
    )
    agent.chmod(0o755)


def nodes_of(summary: dict[str, Any]) -> dict[str, str]:
    return {node["name"]: node["state"] for node in summary["nodes"]["nodes"]}


def test_a_host_with_a_slow_disk_is_named_and_the_others_are_not(
    hosts: HostsPlace, engine: Path, tmp_path: Path
) -> None:
    """All disks are one, and other tests slow down now this host, now that: one of three runs has to be right."""
    right = {"h0": "good", "h1": "good", "h2": "suspect", "h3": "good"}
    with slow_for(tmp_path, _SLOW_BYTES_PER_S) as group:
        slow_host(hosts, "h2", group)
        for attempt in range(3):
            result, target = tmp_path / f"result{attempt}", tmp_path / f"disks{attempt}"
            said = measured_disks(hosts, engine, result, target)
            if (found := nodes_of(json.loads((result / "summary.json").read_text()))) == right:
                break
    assert found == right
    assert "h2 is worse than the other nodes" in " ".join(said.split())
    assert (result / "nodes" / "suspect.txt").read_text() == "h2\n"
    assert (result / "nodes" / "good.args").read_text() == "--hosts h0,h1,h3\n"
    for host in hosts.names:
        check_part(result / "parts" / host, host, target / host)


def measured_disks(hosts: HostsPlace, engine: Path, result: Path, target: Path) -> str:
    for host in hosts.names:
        (target / host).mkdir(parents=True)
    words = ["run", *_DISK, *_VOLUMES, "--target", f"own={target}/{{host}}", "--each-node"]
    done = on_first(hosts, engine, *words, "--hosts", ",".join(hosts.names), "--result", str(result))
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_part(part: Path, host: str, target: Path) -> None:
    """Its own result, of its own disk, with bound ranks (read back) on that host alone; nothing is left on the disk."""
    files = [read_records(path) for path in sorted((part / "records").glob("*.ndjson"))]
    assert files
    nodes = {one.node for file in files for one in file.records if one.kind == "probe" and one.probe == "node"}
    assert nodes == {host}
    assert {file.run.pinning.unpinned_ranks for file in files if file.run is not None} == {0}
    request = json.loads((part / "request.json").read_text())
    assert request["targets"] == [{"name": "own", "uri": f"posix:{target}"}]
    assert list(target.iterdir()) == []


def test_a_target_that_hosts_lack_is_refused_by_all_of_them_before_anything_is_measured(
    hosts: HostsPlace, engine: Path, tmp_path: Path
) -> None:
    target, result = tmp_path / "disks", tmp_path / "result"
    for host in hosts.names[:-2]:
        (target / host).mkdir(parents=True)
    words = ["run", *_DISK, *_VOLUMES, "--target", f"own={target}/{{host}}", "--each-node", "--hosts", "h0,h1,h2,h3"]
    done = on_first(hosts, engine, *words, "--result", str(result))
    assert done.returncode == 3
    for host in ("h2", "h3"):
        assert f"{host}: target 'own' ({target}/{host}): does not exist" in done.stderr
    assert "give --skip-refusing" in done.stderr
    assert list(result.glob("parts/*/records/*")) == []
    done = on_first(hosts, engine, *words, "--skip-refusing", "--result", str(tmp_path / "others"))
    assert done.returncode == 0, done.stderr
    found = nodes_of(json.loads((tmp_path / "others" / "summary.json").read_text()))
    assert found == {"h0": "unknown", "h1": "unknown", "h2": "not measured", "h3": "not measured"}


def test_without_a_job_or_hosts_no_nodes_are_known(engine: Path, tmp_path: Path) -> None:
    code, out, err = run_here("run", "noise", "--each-node", "--result", str(tmp_path / "r"), "--engine", str(engine))
    assert (code, out) == (3, "")
    what = "no nodes are known: this is no batch job that names its nodes"
    assert err == f"ullage: --each-node: {what}; start it inside a job, or name nodes with --hosts\n"


@pytest.mark.each_mpi
def test_the_nodes_of_a_slurm_job_are_measured_and_judged_by_floors(engine: Path, tmp_path: Path) -> None:
    result, floors = tmp_path / "result", tmp_path / "reqs.toml"
    floors.write_text(
        '[[require]]\nmetric = "noise_share"\nmost = "99.9%"\n'
        '[[require]]\nmetric = "detour_share"\nmost = 1e-9\nconfidence = "90%"\n'
    )
    words = ["run", "noise", "--threads", "1", "--quick", "--each-node", "--require", str(floors)]
    with slurm_up(4, 2) as slurm:
        done = slurm.run("salloc", "--nodes=4", "--exclusive", *command(engine, *words, "--result", str(result)))
    assert done.returncode in (4, 6), done.stderr
    summary = json.loads((result / "summary.json").read_text())
    assert set(nodes_of(summary)) == {"n0", "n1", "n2", "n3"}
    verdicts = {(one["node"], one["metric"]): one["verdict"] for one in summary["judged"]}
    for node in ("n0", "n1", "n2", "n3"):
        assert verdicts[node, "noise_share"] in ("pass", "cannot tell")
        assert verdicts[node, "detour_share"] in ("fail", "cannot tell")
        assert list((result / "parts" / node / "records").glob("*.ndjson"))
    assert summary["nodes"]["batch_system"] == "slurm"


@pytest.mark.each_mpi
def test_a_host_that_cannot_be_reached_is_lost_alone_and_resumed(
    hosts: HostsPlace, engine: Path, tmp_path: Path
) -> None:
    result = tmp_path / "result"
    agent = hosts.folder / "agent"
    own = Path(shutil.copy(agent, hosts.folder / "agent.all"))
    agent.write_text(f'#!/bin/sh\ncase " $* " in *" h3 "*) exit 255 ;; esac\nexec "{own}" "$@"\n')
    words = ["run", "noise", "--threads", "1", "--quick", "--each-node", "--hosts", "h0,h3", "--result", str(result)]
    done = on_first(hosts, engine, *words)
    assert done.returncode == 5
    summary = json.loads((result / "summary.json").read_text())
    assert nodes_of(summary) == {"h0": "unknown", "h3": "not measured"}
    assert "h3: the node was lost" in done.stderr
    own.rename(agent)
    done = on_first(hosts, engine, "resume", str(result))
    assert done.returncode == 0, done.stderr
    assert nodes_of(json.loads((result / "summary.json").read_text())) == {"h0": "unknown", "h3": "unknown"}
