# SPDX-License-Identifier: Apache-2.0
"""A run that is killed again and again, at random moments, and gone on with each time."""

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from tests.e2e.commands import TIMEOUT_S, Process, command, run, start, start_and_act
from tests.e2e.launching import cleaned, untouched

from ullage.cleaning import find_run_folders
from ullage.errors import EXIT_ABORTED, EXIT_OK
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


def kill_a_rank(process: Process, result: Path, engine: Path) -> None:
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


def killed_and_resumed(engine: Path, target: Path, words: Sequence[str], result: Path) -> None:
    """Kill a rank after the first repetition and resume: each repetition is there once, and nothing of ours is left."""
    start_and_act(
        command(engine, *words, "--result", str(result)), result, lambda process: kill_a_rank(process, result, engine)
    )
    before, asked = records_of(result), ResultFolder.open(result).read_request()
    code, _, err = run(command(engine, "resume", str(result)))
    assert code == 0, err
    after = records_of(result)
    assert not before - after
    assert set(after.values()) == {1}
    assert ResultFolder.open(result).read_request() == asked, "sizes are those of the first launch"
    for folder in find_run_folders(target):
        assert cleaned(engine, folder.path)
    assert untouched(target)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
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


# A simulated device takes time and no processor: 12 repetitions of half a second each.
_WARNED = ("--target", "slow=model:", "--param", "model.bandwidth=2e6", "--ranks", "2", "--access", "write")
_TIMES = ("--block", "64K,256K", "--volume", "1M", "--min-repetitions", "6", "--max-repetitions", "6")


@pytest.mark.fault(
    "the warning of a batch system (SIGUSR1)",
    "the repetition is finished, end status interrupted; resume measures what is missing and nothing twice",
)
def test_the_warning_of_a_batch_system_leaves_whole_records_and_a_run_to_resume(engine: Path, tmp_path: Path) -> None:
    """As ``sbatch --signal=B:USR1@60`` sends it to a script that is ``exec ullage run ...``."""
    result = tmp_path / "result"
    words = command(engine, "run", "sweep", *_WARNED, *_TIMES, "--time", "300s", "--result", str(result))
    code, _, errors = start_and_act(words, result, lambda process: process.send_signal(signal.SIGUSR1))
    assert code == EXIT_ABORTED, errors
    assert ends_of(result) == ["interrupted"]
    before = records_of(result)
    assert 0 < before.total() < 12
    assert (result / "report.html").is_file()
    code, _, errors = run(command(engine, "resume", str(result)))
    assert code == EXIT_OK, errors
    assert ends_of(result)[:2] == ["interrupted", "complete"]
    after = records_of(result)
    assert not before - after, "a record is lost"
    assert (set(after.values()), after.total()) == ({1}, 12)


def ends_of(result: Path) -> list[str | None]:
    """How each launch has ended, None where its records do not say."""
    return [file.end and file.end.status for file in ResultFolder.open(result).read_records()]
