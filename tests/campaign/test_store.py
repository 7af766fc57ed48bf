# SPDX-License-Identifier: Apache-2.0
"""What is kept is there once and whole, whoever writes at the same time and whoever is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.campaign_world import LEVELS, START, stored_summaries, write_run
from ullage.campaign.store import keep, pack, query
from ullage.errors import UserError
from ullage.results.folder import ResultFolder
from ullage.runs.options.each_node import EACH_NODE

KILLS = int(os.environ.get("ULLAGE_KILLS", "4"))


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_summaries(monkeypatch)


def asked(campaign: Path, sql: str) -> list[tuple[object, ...]]:
    return query(campaign, sql, (), lambda found: found.fetchall())


def files(campaign: Path) -> list[str]:
    return sorted(str(path.relative_to(campaign)) for path in campaign.rglob("*.parquet"))


def test_a_row_is_kept_with_its_whole_identity(tmp_path: Path) -> None:
    result = write_run(tmp_path, 0)
    assert keep(result, tmp_path / "c") == (4, 1)
    sql = "SELECT * FROM rows WHERE params LIKE '%triad%'"
    names, line = query(
        tmp_path / "c", sql, (), lambda found: ([one[0] for one in found.description], found.fetchone())
    )
    row = dict(zip(names, line or (), strict=True))
    kept = result.read_summary().rows[0]
    assert (row["system"], row["suite"], row["month"], row["node"]) == ("n", "memory", "2026-01", "n1.site")
    assert (row["run"], row["time"]) == (result.path.name, START.replace(tzinfo=None))
    assert (row["median"], row["low"], row["high"], row["bounds"]) == (kept.median, kept.low, kept.high, "interval")
    assert (row["repetitions"], row["grade"], row["verdict"], row["sound"]) == (kept.repetitions, "A", "memory", True)
    assert (row["node_class"], row["better"], row["unit"]) == ("Example CPU, 64 cores", "more", "B/s")
    assert row["versions"] == {
        "ullage": "0.1.0",
        "mpi": "Open MPI v4.1.4",
        "kernel": "6.8.0",
        "cpu.model": "Example CPU",
    }


def test_what_is_kept_twice_counts_once_and_what_went_on_counts_as_it_is_now(tmp_path: Path) -> None:
    result, campaign = write_run(tmp_path, 0), tmp_path / "c"
    assert keep(result, campaign) == (4, 1)
    assert keep(result, campaign) == (4, 0)
    before = files(campaign)
    summary = result.read_summary()
    result.write_summary(summary.model_copy(update={"rows": summary.rows[:3]}))
    assert keep(result, campaign) == (3, 1)
    assert set(before) < set(files(campaign))
    assert asked(campaign, "SELECT count(*) FROM rows") == [(3,)]


@pytest.mark.parametrize("verdict", ["warm", "unknown(server)", "mixed 37 %"])
def test_rows_of_caches_are_kept_and_not_sound(verdict: str, tmp_path: Path) -> None:
    keep(write_run(tmp_path, 0, verdict=verdict), tmp_path / "c")
    assert asked(tmp_path / "c", "SELECT count(*), bool_or(sound) FROM rows") == [(4, False)]


def test_a_packed_month_says_the_same_and_takes_what_comes_later(tmp_path: Path) -> None:
    campaign = tmp_path / "[c]*'s"
    results = [write_run(tmp_path, number) for number in range(6)]
    for result in results:
        keep(result, campaign)
    every = "SELECT run, id, median, system FROM rows ORDER BY run, id"
    before = asked(campaign, every)
    assert pack(campaign) == 6
    assert asked(campaign, every) == before
    assert len(files(campaign)) == 2
    keep(results[0], campaign)
    assert asked(campaign, every) == before
    keep(write_run(tmp_path / "more", 0, node="n2"), campaign)
    pack(campaign)
    assert pack(campaign) == 0
    assert len(asked(campaign, every)) == len(before) + len(LEVELS)
    assert [name for name in files(campaign) if "pack-" in name] == [
        "system=n/suite=memory/month=2026-01/pack-000002.parquet",
        "system=n/suite=memory/month=2026-02/pack-000001.parquet",
    ]


def test_what_cannot_be_asked_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no kept result"):
        asked(tmp_path / "none", "SELECT 1")
    keep(write_run(tmp_path, 0), tmp_path / "c")
    with pytest.raises(UserError, match="valeu"):
        asked(tmp_path / "c", "SELECT valeu FROM rows")


KEEPER = """
import sys
from pathlib import Path
from ullage.campaign import store
from ullage.results.folder import ResultFolder
store.build_summary = ResultFolder.read_summary
print("ready", flush=True)
for path in sorted(Path(sys.argv[1]).iterdir()):
    store.keep(ResultFolder.open(path), Path(sys.argv[2]))
    if len(sys.argv) > 3:
        store.pack(Path(sys.argv[2]))
"""


def keeper(results: Path, campaign: Path, *more: str) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", KEEPER, str(results), str(campaign), *more]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=120)
    return process.returncode


@pytest.mark.long
def test_kills_and_two_writers_at_once_lose_nothing_and_leave_nothing_unreadable(tmp_path: Path) -> None:
    results, campaign, draw = tmp_path / "results", tmp_path / "c", random.Random(5)
    for number in range(12):
        write_run(results, number)
    for _ in range(KILLS):
        process = keeper(results, campaign, *(["pack"] if draw.random() < 0.5 else []))
        time.sleep(draw.random() * 0.4)
        process.send_signal(signal.SIGKILL)
        ended(process)
        kept = asked(campaign, "SELECT count(*) FROM rows")[0][0] if files(campaign) else 0
        assert isinstance(kept, int)
        assert kept % len(LEVELS) == 0
    writers = [keeper(results, campaign), keeper(results, campaign, "pack")]
    assert [ended(writer) for writer in writers] == [0, 0]
    every = "SELECT count(*), count(DISTINCT (run, id)) FROM rows"
    assert asked(campaign, every) == [(48, 48)]
    pack(campaign)
    assert asked(campaign, every) == [(48, 48)]


def test_results_are_read_as_the_nodes_of_a_run(tmp_path: Path) -> None:
    whole = write_run(tmp_path, 0)
    request = whole.read_request()
    options: dict[str, object] = {EACH_NODE[0]: True, EACH_NODE[1]: ["a", "b"]}
    whole.write_request(request.model_copy(update={"options": options}))
    for name in ("a", "b"):
        part = write_run(tmp_path / "parts", 0, node=name)
        (whole.path / "parts").mkdir(exist_ok=True)
        part.path.rename(whole.path / "parts" / name)
    assert keep(ResultFolder.open(whole.path), tmp_path / "c", "alpha") == (8, 2)
    found = asked(tmp_path / "c", "SELECT system, node, count(*) FROM rows GROUP BY ALL ORDER BY ALL")
    assert found == [("alpha", "a", 4), ("alpha", "b", 4)]
