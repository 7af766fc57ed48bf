# SPDX-License-Identifier: Apache-2.0
"""Kernels on two nodes, each a network namespace: no node reads what it has written itself."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command
from tests.e2e.launching import untouched
from tests.places.hosts import HostsPlace, hosts_up

from ullage.engine import describe
from ullage.model.record import PhaseRecord
from ullage.results.folder import ResultFolder

RANKS = 4
SAMPLES = 40


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostsPlace]:
    with hosts_up(tmp_path_factory.mktemp("two") / "hosts", 2) as place:
        yield place


def measured(engine: Path, hosts: HostsPlace, result: Path, target: Path, *words: str) -> ResultFolder:
    """A run of four ranks on both nodes, which has left nothing behind."""
    asked = ["run", *words, "--target", f"here={target}", "--ranks", str(RANKS), "--nodes", "2", "--time", "60s"]
    own = command(engine, *asked, "--hosts", ",".join(hosts.names), "--result", str(result))
    done = subprocess.run(
        hosts.command("h0", own),
        env=dict(hosts.environment(describe(engine).engine.mpi.family)),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    assert untouched(target)
    return ResultFolder.open(result)


def phases_of(result: ResultFolder) -> list[PhaseRecord]:
    """The phases, each of which has moved what was asked for, on both nodes."""
    found = [phase for file in result.read_records() for phase in file.phases]
    assert {file.run.layout.nodes for file in result.read_records() if file.run is not None} == {2}
    assert {(phase.status, phase.bad_blocks) for phase in found} == {("ok", 0)}
    return found


def test_accelerators_read_no_sample_that_their_node_has_written(
    engine: Path, tmp_path: Path, target: Path, hosts: HostsPlace
) -> None:
    words = ["--samples", str(SAMPLES), "--sample", "8K", "--batch", "5", "--compute", "1ms", "--epochs", "2"]
    words += ["--accelerators", str(RANKS), "--verify", "full", "--repetitions", "1"]
    result = measured(engine, hosts, tmp_path / "result", target, "loader", *words)
    found = phases_of(result)
    epochs = [phase for phase in found if phase.access == "read"]
    assert [phase.phase for phase in epochs] == ["epoch-1", "epoch-2"]
    for phase in epochs:
        assert phase.data_of == "other-node"
        assert phase.counters["samples"] == SAMPLES
        assert phase.counters["samples_of_own_node"] == 0
        assert phase.verified_bytes >= phase.bytes > 0
    rows = [row for row in result.read_summary().rows if row.metric == "accelerator_use"]
    assert {row.params["data_of"] for row in rows if row.params["access"] != "write"} == {"other-node"}


@pytest.mark.each_mpi
def test_an_analysis_reads_the_particles_of_the_other_node(
    engine: Path, tmp_path: Path, target: Path, hosts: HostsPlace
) -> None:
    words = ["--particles", "2000", "--steps", "2", "--compute", "5ms", "--layout", "CC,IC", "--read", "full,partial"]
    words += ["--access", "independent", "--min-repetitions", "1", "--max-repetitions", "1"]
    result = measured(engine, hosts, tmp_path / "result", target, "bdcats", *words)
    reads = [phase for phase in phases_of(result) if phase.access == "read"]
    assert len(reads) == 4
    for phase in reads:
        assert phase.data_of == "other-node"
        assert phase.verified_bytes >= phase.bytes > 0
    rows = [row for row in result.read_summary().rows if row.metric == "raw_bandwidth"]
    assert {row.params["data_of"] for row in rows} == {"other-node"}


@pytest.mark.parametrize(
    ("words", "reads"),
    [
        (["checkpoint", "--scale", "0.00002", "--tensors", "5", "--block", "64K", "--layout", "rank,shared"], 2),
        (["spio", "--operation", "neighbour", "--volume", "1M", "--block", "64K"], 1),
        (["sar", "--scale", "0.1", "--grid", "3", "--depth", "3", "--raw", "own", "--layout", "files"], 3),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_ranks_read_what_the_other_node_wrote(
    engine: Path, tmp_path: Path, target: Path, hosts: HostsPlace, words: list[str], reads: int
) -> None:
    once = ["--verify", "full", "--max-repetitions", "1"]
    result = measured(engine, hosts, tmp_path / "result", target, *words, *(once if words[0] != "sar" else once[2:]))
    found = [phase for phase in phases_of(result) if phase.access == "read"]
    assert [phase.data_of for phase in found] == ["other-node"] * reads
    assert sum(phase.verified_bytes for phase in found) > 0
