# SPDX-License-Identifier: Apache-2.0
"""A node that hangs whole, its ranks and its launcher's daemon: the run ends by its name, and leaves nothing."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e.commands import command
from tests.e2e.test_engine_hangs import hang_at_bytes
from tests.e2e.test_front_ends import has_case, processes_of, wait_until
from tests.places.hosts import HostsPlace, hosts_up

from ullage.engine import describe

# A node is silent after the watchdog's time; the rest is for a machine that is busy.
LONGEST_S = 110.0


def processes_on(place: HostsPlace, host: str) -> list[int]:
    """All that runs in the network of that host."""
    tag = (place.folder / "tag").read_text(encoding="ascii").strip()
    words = ["ip", "netns", "pids", f"{tag}-{host}"]
    found = subprocess.run(words, env=dict(place.environment("openmpi")), capture_output=True, text=True, check=True)
    return [int(word) for word in found.stdout.split()]


@pytest.mark.each_mpi
@pytest.mark.long
@pytest.mark.fault(
    "a node that hangs whole (all processes of one of two hosts are stopped)",
    "exit 5 within the limit; node and rank named; no process left",
)
def test_a_node_that_hangs_is_named(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["--ranks", "2", "--block", "64K", "--volume", "8M", "--time", "10m", "--watchdog", "6s"]
    words += ["--max-repetitions", "100000", "--interval", "0.01%", "--result", str(result), "--hosts", "h0,h1"]
    with hosts_up(tmp_path / "hosts", 2) as place:
        run = place.command("h0", command(engine, "run", "sweep", "--target", f"files={target}", *words))
        process = subprocess.Popen(
            run,
            env=dict(place.environment(describe(engine).engine.mpi.family)),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            wait_until(lambda: has_case(result))
            stopped = time.monotonic()
            for pid in processes_on(place, "h1"):
                os.kill(pid, signal.SIGSTOP)
            _, errors = process.communicate(timeout=LONGEST_S)
            assert time.monotonic() - stopped < LONGEST_S
        finally:
            process.kill()
            for pid in processes_on(place, "h1"):
                os.kill(pid, signal.SIGCONT)
        assert process.returncode == 5, errors
        # Whoever notices first says so: who watches the nodes, or a rank that waits for the other one.
        assert re.search(r"was ended: (node h1 \(rank 1\)|rank 1 on h1) gave no sign of life", errors), errors
        wait_until(lambda: processes_of(result) == [] and processes_on(place, "h1") == [])


@pytest.mark.long
@pytest.mark.fault(
    "a rank on another host that hangs where a phase is made (its memory is never given)",
    "exit 5 within the limit; rank, host and step named; no process left",
)
def test_a_rank_of_another_node_that_hangs_outside_the_phases_is_named(
    engine: Path, tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tmp_path / "result"
    hang_at_bytes(tmp_path, monkeypatch, rank=1, size=32 << 20)
    words = ["--ranks", "2", "--block", "32M", "--volume", "64M", "--time", "10m", "--watchdog", "6s"]
    words += ["--result", str(result), "--hosts", "h0,h1"]
    with hosts_up(tmp_path / "hosts", 2) as place:
        run = command(engine, "run", "sweep", "--target", f"files={target}", *words)
        done = place.run("h0", run, describe(engine).engine.mpi.family, LONGEST_S)
        wait_until(lambda: processes_of(result) == [] and processes_on(place, "h1") == [])
    assert done.returncode == 5, done.stderr
    assert "rank 1 on h1 made no progress for 6 s in make phase" in done.stderr
