# SPDX-License-Identifier: Apache-2.0
"""Suite ``spio`` on real files with the real engine: every number of ranks, faults, a kill in mid-run, and mistakes."""

from pathlib import Path

import pytest
from tests.e2e.commands import command, run
from tests.e2e.launching import KIB

from ullage.model.summary import Row
from ullage.results.folder import ResultFolder
from ullage.suites.spio.suite import OPERATIONS

RANKS = (1, 2, 3, 8)
BLOCK = 16 * KIB
# Every number of ranks divides it without a rest.
VOLUME = 24 * 2 * BLOCK


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


# -- faults, on the cases of the suite ---------------------------------------------------------------------------------
