# SPDX-License-Identifier: Apache-2.0
"""Suite ``spio`` on real files with the real engine: every number of ranks, faults, a kill in mid-run, and mistakes."""

import subprocess
from collections import Counter
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command, run
from tests.e2e.launching import KIB
from tests.e2e.test_fault_resume import killed_and_resumed
from tests.places.hosts import hosts_up

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.suites.spio.suite import OPERATIONS

RANKS = (1, 2, 3, 8)
BLOCK = 16 * KIB
# Every number of ranks divides it without a rest.
VOLUME = 24 * 2 * BLOCK


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spio") / "here"
    folder.mkdir()
    (folder / "precious").write_text("not ours")
    return folder


@pytest.fixture(scope="module")
def measured(engine: Path, here: Path) -> ResultFolder:
    """All operations on 1 to 8 ranks, verified as a whole, each once."""
    result = here.parent / "result"
    words = ["run", "spio", "--target", f"here={here}", "--ranks", ",".join(map(str, RANKS)), "--block", str(BLOCK)]
    words += ["--volume", str(VOLUME), "--verify", "full", "--max-repetitions", "1", "--time", "120s"]
    code, _, err = run(command(engine, *words, "--ceiling", "here=1TB/s", "--result", str(result)))
    assert code == 0, err
    return ResultFolder.open(result)


def rates(result: ResultFolder) -> dict[tuple[int, str], Row]:
    rows = [row for row in result.read_summary().rows if row.metric == "bandwidth"]
    found = {(int(row.params["ranks"]), str(row.params["operation"])): row for row in rows}
    assert len(found) == len(rows)
    return found


def test_every_number_of_ranks_moves_the_volume_in_every_operation(measured: ResultFolder, here: Path) -> None:
    found = rates(measured)
    assert set(found) == {
        (ranks, name) for ranks in RANKS for name in OPERATIONS if not (ranks == 1 and name == "neighbour")
    }
    assert {row.params["volume_bytes"] for row in found.values()} == {VOLUME}
    assert {row.params.get("data_of") for (_, name), row in found.items() if name == "neighbour"} == {"other-rank"}
    for file in measured.read_records():
        for phase in file.phases:
            assert (phase.status, phase.bytes, phase.bad_blocks) == ("ok", VOLUME, 0)
            assert phase.syncs == (phase.ranks if phase.phase == "write" else 0)
            assert phase.verified_bytes == (0 if phase.phase == "write" else VOLUME)
    assert [path.name for path in here.iterdir()] == ["precious"]


def test_the_time_of_the_fastest_rank_is_within_that_of_the_slowest(measured: ResultFolder) -> None:
    times: dict[tuple[str, object], dict[str, float]] = {}
    for row in measured.read_summary().rows:
        times.setdefault((row.case, row.params["access"]), {})[row.metric] = row.median
    assert len(times) == len(rates(measured))
    for of_phase in times.values():
        assert 0 < of_phase["fastest_rank_time"] <= of_phase["slowest_rank_time"]


def test_ranks_of_two_nodes_read_what_the_other_node_wrote(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "spio", "--target", f"here={target}", "--ranks", "2,4", "--operation", "neighbour", "--nodes", "2"]
    words += ["--volume", "1M", "--block", "64K", "--verify", "full", "--max-repetitions", "1", "--time", "60s"]
    with hosts_up(tmp_path / "hosts", 2) as place:
        done = subprocess.run(
            place.command("h0", command(engine, *words, "--hosts", ",".join(place.names), "--result", str(result))),
            env=dict(place.environment(describe(engine).engine.mpi.family)),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 0, done.stderr
    found = rates(ResultFolder.open(result))
    assert set(found) == {(2, "neighbour"), (4, "neighbour")}
    assert {(row.params["nodes"], row.params["data_of"]) for row in found.values()} == {(2, "other-node")}
    phases = [phase for file in ResultFolder.open(result).read_records() for phase in file.phases]
    assert {phase.verified_bytes for phase in phases if phase.phase == "read"} == {1 << 20}
    assert find_run_folders(target) == []


# -- faults, on the cases of the suite ---------------------------------------------------------------------------------


@pytest.mark.fault(
    "SIGKILL of a stream's rank, then resume", "each repetition once, with the volume of the first launch"
)
def test_a_killed_run_goes_on_with_its_volume(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    words = ["run", "spio", "--target", f"here={target}", "--ranks", "2", "--block", "64K"]
    words += ["--volume", "8M", "--operation", "write,neighbour", "--time", "90s"]
    words += ["--min-repetitions", "3", "--max-repetitions", "3", "--seed", "3"]
    after = killed_and_resumed(engine, target, words, result)
    assert min(Counter(case for case, _ in after).values()) >= 3
    assert {row.params["volume_bytes"] for row in rates(ResultFolder.open(result)).values()} == {8 << 20}
