# SPDX-License-Identifier: Apache-2.0
"""The real fio does the same work as the real engine. Speeds are not compared: a shared machine promises none."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.launching import MIB, case, plan, run

from ullage.analysis.metrics import load_metrics
from ullage.cleaning import find_run_folders, remove
from ullage.model.plan import Target
from ullage.model.record import PeerRecord
from ullage.model.request import Request
from ullage.peers import Installed, PeerError
from ullage.peers.fio import FioJob, Mode, fio_command, installed, run_fio
from ullage.peers.place import file_name, marked_folder
from ullage.results.folder import ResultFolder
from ullage.runs.summary import build_summary

VOLUME = 64 * MIB


@pytest.fixture(scope="module")
def fio() -> Installed:
    found = installed()
    if found is None:
        pytest.skip("no fio here")
    return found


def kept(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def _check_littles_law(values: dict[str, float], job: FioJob) -> None:
    """Rate x mean time is what is in flight at most, and no median is above twice its mean; 10 % for fio's clock."""
    assert values["operation_rate"] * values["latency_p50"] <= 2 * job.jobs * job.depth * 1.1


@pytest.mark.parametrize("mode", ["write", "read", "randwrite", "randread"])
def test_fio_does_the_whole_job_and_nothing_is_left(target: Path, fio: Installed, mode: Mode) -> None:
    job = FioJob(mode, 64 * 1024, VOLUME, jobs=2, depth=1, engine="psync", direct=False)
    with marked_folder(target, "r1", "abc", job.jobs) as folder:
        values = run_fio(fio, job, folder)
        assert [(folder / name).stat().st_size for name in kept(folder)] == [VOLUME // 2] * 2
    assert kept(target) == ["precious"]
    # The two rates are one measurement: fio's own rounding is all that may lie between them.
    assert values["bandwidth"] == pytest.approx(values["operation_rate"] * job.block_bytes, rel=1e-3)
    assert 0 < values["latency_p50"] <= values["latency_p99"] <= values["latency_max"] * 1.02
    _check_littles_law(values, job)


def test_many_in_flight_obey_littles_law(target: Path, fio: Installed) -> None:
    job = FioJob("randread", 4096, VOLUME, jobs=1, depth=16, engine="io_uring", direct=False)
    with marked_folder(target, "r1", "abc", 1) as folder:
        try:
            values = run_fio(fio, job, folder)
        except PeerError as error:
            if "io_uring" in str(error) or "not permitted" in str(error):
                pytest.skip(f"no io_uring here: {error}")
            raise
    _check_littles_law(values, job)
    assert kept(target) == ["precious"]


def test_ours_and_the_peers_number_stand_in_one_row(target: Path, tmp_path: Path, fio: Installed, engine: Path) -> None:
    cases = [case(phases=["write", "read"], transfer_bytes=64 * 1024, block_bytes=VOLUME // 2)]
    done = run(engine, tmp_path, plan(tmp_path, cases, f"posix:{target}"))
    assert done.code == 0, done.stderr
    request = Request(
        run_id="r1", suite="sweep", created="now", targets=[Target(name="t", uri=f"posix:{target}")], options={}
    )
    result = ResultFolder.create(tmp_path / "result", request)
    result.records_path(1).parent.mkdir()
    result.records_path(1).write_bytes(done.path.read_bytes())
    job = FioJob("write", 64 * 1024, VOLUME, jobs=2, depth=1, engine="psync", direct=False)
    with marked_folder(target, "r1", "abc", job.jobs) as folder:
        values = run_fio(fio, job, folder)
    result.append_peer(
        PeerRecord(
            case=cases[0]["id"],
            phase="write",
            tool="fio",
            version=fio.version,
            repetition=0,
            values=values,
            command=fio_command(fio, job),
        )
    )
    assert done.phase("write").bytes == job.volume_bytes
    rows = {(row.params["access"], row.metric): row for row in build_summary(result).rows}
    peer = rows["write", "bandwidth"].peer
    assert peer is not None
    assert (peer.tool, peer.version, peer.median) == ("fio", fio.version, values["bandwidth"])
    assert rows["read", "bandwidth"].peer is None
    assert set(values) <= set(load_metrics())


def test_a_killed_front_leaves_what_clean_removes(target: Path, fio: Installed, engine: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from ullage.peers.place import marked_folder\n"
        "from ullage.peers.fio import *\n"
        f"with marked_folder(Path(sys.argv[1]), 'r1', 'abc', 2) as folder:\n"
        f"    run_fio(installed(), FioJob('write', 65536, {VOLUME}, 2, 1, 'psync', False), folder)\n"
        "    print('ready', flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(target)], stdout=subprocess.PIPE) as front:
        assert front.stdout is not None
        assert front.stdout.readline() == b"ready\n"
        front.send_signal(signal.SIGKILL)
    assert fio.version
    (found,) = find_run_folders(target)
    assert (found.path / "c-peer-abc" / file_name(1)).stat().st_size == VOLUME // 2
    assert remove(engine, found) is None
    assert kept(target) == ["precious"]


def test_a_front_that_is_told_to_end_takes_fio_and_its_files_with_it(target: Path, fio: Installed) -> None:
    script = (
        "import sys; from pathlib import Path; from ullage.peers.place import marked_folder\n"
        "from ullage.peers.fio import *\n"
        "with marked_folder(Path(sys.argv[1]), 'r1', 'abc', 1) as folder:\n"
        "    while True:\n"
        "        run_fio(installed(), FioJob('randread', 512, 512 << 20, 1, 1, 'psync', False), folder)\n"
    )
    assert fio.version
    with subprocess.Popen([sys.executable, "-c", script, str(target)], stderr=subprocess.PIPE) as front:
        file = target / "ullage-r1" / "c-peer-abc" / file_name(0)
        for _ in range(600):
            if file.exists():
                break
            time.sleep(0.05)
        assert file.exists()
        front.send_signal(signal.SIGINT)
        _, err = front.communicate(timeout=60)
    assert b"KeyboardInterrupt" in err
    assert kept(target) == ["precious"]
