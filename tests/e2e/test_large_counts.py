# SPDX-License-Identifier: Apache-2.0
"""A collective call whose blocks together have more bytes than an int can count: done, or refused in one line."""

import os
import secrets
from pathlib import Path

import pytest
from tests.e2e import launching

from ullage.engine import describe

# Both blocks together have 2 GiB and 16 bytes.
BLOCK = (1 << 30) + 8
_NEEDED_KIB = 10 << 20


def free_kib() -> int:
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))


@pytest.mark.each_mpi
def test_a_gather_of_more_than_2_gib_is_done_or_refused(engine: Path, tmp_path: Path) -> None:
    has_large_counts = describe(engine).engine.mpi.family == "mpich"
    if has_large_counts and not os.environ.get("ULLAGE_LARGE_CALLS"):
        pytest.skip("takes 8 GiB of memory and half a minute: set ULLAGE_LARGE_CALLS=1")
    if has_large_counts and free_kib() < _NEEDED_KIB:
        pytest.skip("less than 10 GiB of memory are free")
    words = {"operation": "gather", "message_bytes": BLOCK, "windows": 1, "window_s": 0.001, "warm_up_s": 0.001}
    case = {
        "id": secrets.token_hex(8),
        "target": "t",
        "backend": {"name": "null", "parameters": {}},
        "workload": {"name": "collective", "parameters": words},
    }
    done = launching.run(engine, tmp_path, launching.plan(tmp_path, [case], "mpi:"), timeout_s=240)
    if not has_large_counts:
        assert done.code == 2
        said = "must be at most 2147483647 when multiplied by the number of ranks: this MPI has no large counts"
        assert [said in line for line in done.stderr.splitlines() if line.startswith("ullage-engine:")] == [True]
        return
    assert done.code == 0, done.stderr
    phase = done.of("phase")[-1]
    # The engine compares what the root has received with what was sent, byte by byte.
    assert (phase.status, phase.failures) == ("ok", [])
    assert phase.gauges["link_bytes"].most == BLOCK * phase.gauges["calls"].most
