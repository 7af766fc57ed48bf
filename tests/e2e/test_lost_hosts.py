# SPDX-License-Identifier: Apache-2.0
"""Hosts that fail under mpiexec: one that is gone at once, and one that cannot be reached any more."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from tests.e2e.commands import command
from tests.e2e.test_front_ends import processes_of, wait_until
from tests.e2e.test_hanging_node import processes_on
from tests.places.hosts import HostsPlace, hosts_up

from ullage.engine import describe
from ullage.model.record import CaseRecord
from ullage.results.records import read_records

# A node is silent after 30 s; the rest is for a machine that is busy.
LONGEST_S = 150.0
# A simulated device sleeps: it takes time and no processor.
SLEEPING = ("sweep", "--target", "dev=model:", "--param", "model.bandwidth=1e6", "--access", "write")
TIMES = ("--block", "64K", "--volume", "1M", "--min-repetitions", "6", "--max-repetitions", "6", "--time", "300s")


def repetitions(result: Path, launch: int) -> int:
    path = result / "records" / f"{launch:03}.ndjson"
    records = read_records(path).records if path.exists() else []
    return sum(record.kind == "case" and record.status == "ok" for record in records)


def kill_all_of(place: HostsPlace, host: str) -> None:
    """All at once, as where a host is gone: a process that sees others die tells of it, in half a message at worst."""
    processes = processes_on(place, host)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in processes:
            os.kill(pid, number)


def cut_off(place: HostsPlace, host: str) -> None:
    tag = (place.folder / "tag").read_text(encoding="ascii").strip()
    words = ["ip", "-n", f"{tag}-switch", "link", "set", f"port{host.removeprefix('h')}", "down"]
    subprocess.run(words, env=dict(place.environment("openmpi")), check=True, capture_output=True)


@pytest.mark.each_mpi
@pytest.mark.long
@pytest.mark.fault(
    "under mpiexec a host is gone (all its processes are killed), and then another one is cut off the network",
    "each host named, its repetition failed; the run goes on with a spare one; exit 4; no process left",
)
def test_spare_hosts_take_the_places_of_those_that_fail(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    layout = ("--ranks", "2", "--nodes", "2", "--hosts", "h0,h1,h2,h3", "--spare-nodes", "2", "--watchdog", "6s")
    with hosts_up(tmp_path / "hosts", 4) as place:
        words = command(engine, "run", *SLEEPING, *TIMES, *layout, "--result", str(result))
        process = subprocess.Popen(
            place.command("h0", words),
            env=dict(place.environment(describe(engine).engine.mpi.family)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            wait_until(lambda: repetitions(result, 1) > 0 or process.poll() is not None)
            kill_all_of(place, "h1")
            wait_until(lambda: repetitions(result, 2) > 0 or process.poll() is not None)
            cut_off(place, "h2")
            _, errors = process.communicate(timeout=LONGEST_S)
        finally:
            process.kill()
        wait_until(lambda: processes_of(result) == [])
    assert process.returncode == 4, errors
    assert re.search(r"node h1 failed \(.*\); the run goes on without h1$", errors, re.MULTILINE), errors
    assert re.search(r"node h2 .*gave no sign of life.*; the run goes on without h2$", errors, re.MULTILINE), errors
    files = [read_records(path) for path in sorted(result.glob("records/*.ndjson"))]
    nodes = [[r.node for r in file.records if r.kind == "probe" and r.probe == "node"] for file in files]
    assert nodes == [["h0", "h1"], ["h0", "h2"], ["h0", "h3"]]
    failed = [event.node for file in files for event in file.events if event.code == "node-failed"]
    assert failed == ["h1", "h2"]
    cases = [record for file in files for record in file.records if isinstance(record, CaseRecord)]
    assert [case.status for case in cases if case.status != "ok"] == ["failed", "timeout"]
    assert sorted(case.repetition for case in cases) == list(range(8))
    [row] = [one for one in json.loads((result / "summary.json").read_text())["rows"] if one["metric"] == "bandwidth"]
    assert len(row["repetitions"]) == 6
