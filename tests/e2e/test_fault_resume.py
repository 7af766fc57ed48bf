# SPDX-License-Identifier: Apache-2.0
"""A run that is killed again and again, at random moments, and gone on with each time."""

import contextlib
import os
import signal
import time
from collections import Counter
from pathlib import Path
from random import Random
from subprocess import Popen

import pytest
from tests.e2e.commands import TIMEOUT_S, command, run, start

from ullage.cleaning import find_run_folders
from ullage.errors import EXIT_OK
from ullage.model.record import CaseRecord
from ullage.results.folder import ResultFolder

KILLS = int(os.environ.get("ULLAGE_KILLS", "4"))


def processes_of(result: Path, engine: Path) -> dict[str, list[int]]:
    """Process ids of the ranks of a run, and of its launcher, which names the engine further back."""
    found: dict[str, list[int]] = {"rank": [], "launcher": []}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(os.fsencode(result / "plans")) for word in words):
            found["rank" if os.fsencode(engine) in words[:2] else "launcher"].append(int(entry.name))
    return found


def kill_a_rank(process: Popen[str], result: Path, engine: Path) -> None:
    """Kill one rank of a run with SIGKILL: where a launch has just ended, one of the next, unless that was the last."""
    while process.poll() is None:
        for rank in processes_of(result, engine)["rank"][:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(rank, signal.SIGKILL)
                return
        time.sleep(0.01)


def records_of(result: Path) -> Counter[tuple[str, int]]:
    """How often each repetition of each case is in the records."""
    files = ResultFolder.open(result).read_records()
    return Counter((r.case, r.repetition) for f in files for r in f.records if isinstance(r, CaseRecord))


@pytest.mark.long
@pytest.mark.parametrize("seed", [pytest.param(1, marks=pytest.mark.any_mpi), 2])
@pytest.mark.fault(
    "up to 20 random kills of ranks and launchers, each followed by resume",
    "no record lost or double, target empty at the end",
)
def test_kills_at_random_moments_lose_and_double_nothing(engine: Path, tmp_path: Path, target: Path, seed: int) -> None:
    """With half of the kills for each seed, so that two workers share them."""
    result, random = tmp_path / "result", Random(seed)
    words = ["run", "sweep", "--target", f"x={target}", "--target", "slow=model:", "--param", "model.bandwidth=20e6"]
    words += ["--ranks", "1,2", "--block", "64K,256K", "--volume", "1M", "--time", "300s", "--result", str(result)]
    begun = command(engine, *words, "--min-repetitions", "6", "--max-repetitions", "6")
    known: Counter[tuple[str, int]] = Counter()
    for turn in range(KILLS // 2):
        process = start(begun if turn == 0 else command(engine, "resume", str(result)))
        _kill_someone(result, engine, random)
        process.communicate(timeout=TIMEOUT_S)
        now = records_of(result)
        assert not known - now, "a record is lost"
        assert set(now.values()) <= {1}, "a repetition is there twice"
        known = now
        if process.returncode == EXIT_OK:  # all was done before the kill
            break
    code, _, errors = run(command(engine, "resume", str(result)))
    assert code == EXIT_OK, errors
    assert not known - records_of(result)
    assert min(Counter(case for case, _ in records_of(result)).values()) >= 6
    run(command(engine, "clean", str(target), "--yes"))
    assert find_run_folders(target) == []
    assert [path.name for path in target.iterdir()] == ["precious"]


def _kill_someone(result: Path, engine: Path, random: Random) -> None:
    """A rank or the launcher, some time after they have started; nobody where they have ended before."""
    deadline = time.monotonic() + TIMEOUT_S / 4
    while not (found := processes_of(result, engine))["rank"]:
        if time.monotonic() > deadline:
            return
        time.sleep(0.02)
    time.sleep(random.uniform(0.0, 1.0))
    found = processes_of(result, engine)
    victims = found[random.choice(("rank", "rank", "launcher"))] or found["rank"]
    for victim in random.sample(victims, min(1, len(victims))):
        try:
            os.kill(victim, signal.SIGKILL)
        except ProcessLookupError:
            return
