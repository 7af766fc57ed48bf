# SPDX-License-Identifier: Apache-2.0
"""A search on a simulated device, whose best setting is known; one that is killed goes on with what it knows."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, command
from tests.places.hosts import hosts_up

from ullage.cli.app import run
from ullage.engine import describe
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.runs.tuning.journal import JOURNAL, read_trials
from ullage.suites.io500 import options as io500_options
from ullage.suites.io500.phases import BY_NAME

# A trial in which one repetition is disturbed tells what the other two do.
SHORT = ["--volume", "4M", "--time", "20s", "--min-repetitions", "3", "--max-repetitions", "3", "--access", "write"]


def words(engine: Path, result: Path, *more: str) -> list[str]:
    """The latency costs a transfer as much as 5 MB: each block is 7 times better than the next smaller one.

    A busy machine may add 50 ms to a trial, and the order stays.
    """
    device = ["--target", "m=model:", "--param", "model.bandwidth=1GB/s", "--param", "model.latency_s=5ms"]
    asked = ["--over", "block=32K:2M:x8", "--default", "block=32K", "--objective", "write bandwidth"]
    return [
        "tune",
        "sweep",
        *device,
        *SHORT,
        "--ranks",
        "1",
        *asked,
        "--engine",
        str(engine),
        *more,
        *("--result", str(result)),
    ]


@pytest.mark.long
def test_the_best_block_of_a_device_with_latency_is_found_and_confirmed(engine: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    assert run(words(engine, result, "--trials", "14", "--quiet")) == 0
    tune = Summary.model_validate_json((result / "summary.json").read_bytes()).tune
    assert tune is not None
    assert tune.best == {"block": "2M"}
    assert tune.confirmation is not None
    assert tune.confirmation.answer == "better"
    assert tune.confirmation.ratio > 2
    assert tune.cost.trials <= 14
    assert tune.trials[0].setting == tune.default == {"block": "32K"}
    assert tune.command[tune.command.index("--block") + 1] == "2M"
    assert (result / "report.html").is_file()
    again = Summary.model_validate_json((result / "summary.json").read_bytes())
    assert run(["report", str(result), "--format", "json", "--output", str(tmp_path / "again.json")]) == 0
    assert Summary.model_validate_json((tmp_path / "again.json").read_bytes()).tune == again.tune


def test_the_plan_shows_the_bounds_and_starts_nothing(
    engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words(engine, tmp_path / "result", "--trials", "14", "--space", "1G", "--plan")) == 0
    said = capsys.readouterr().out
    assert "Trials at most: 14." in said
    assert "Bytes written at most: 1.00 GiB" in said
    assert not (tmp_path / "result").exists()


def test_two_hours_are_enough_to_search_io500_by_shorter_walls(
    engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A trial by the rules takes up to 55 minutes, and the smallest search has eight."""
    over = ["--over", "ppn=1,2,4", "--over", "ior-hard.segment_count=1000:1000000:x10", "--objective", "total"]
    asked = ["tune", "io500", "--target", f"t={tmp_path}", *over, "--budget", "2h", "--engine", str(engine), "--plan"]
    assert run([*asked, "--space", "500G"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Trials at most: 12. Time at most: 2h00m00s. Bytes written at most: 500 GiB." in said
    assert "Trials have --stonewall 54s, to fit into the budget." in said
    assert "measured short first (--stonewall 10800ms), the finalists in full." in said
    assert run([*asked, "--stonewall", "300s"]) == 2
    assert "give at least --budget" in capsys.readouterr().err


@pytest.mark.long
def test_a_search_that_was_killed_goes_on_with_its_trials(
    engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = tmp_path / "result"
    argv = [sys.executable, "-m", "ullage", *words(engine, result, "--trials", "12")]
    journal = result / JOURNAL
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ) as process:
        until = time.monotonic() + 120
        while time.monotonic() < until and (not journal.is_file() or len(journal.read_bytes().splitlines()) < 2):
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    before = read_trials(ResultFolder(result))
    assert len(before) >= 2
    assert run(["tune", str(result), "--more", "300s", "--engine", str(engine), "--quiet"]) == 0
    after = read_trials(ResultFolder(result))
    assert after[: len(before)] == before
    assert len(before) < len(after) <= 12
    assert [one.number for one in after] == list(range(1, len(after) + 1))
    capsys.readouterr()
    assert run(["tune", str(result), "--more", "1s", "--engine", str(engine)]) == 0
    assert "No trial was added: " in "".join(capsys.readouterr())
    assert read_trials(ResultFolder(result)) == after
    # On a busy machine the trials may be spent before settings are told apart, and then none is confirmed.
    assert after[-1].purpose in ("race", "confirm")


# The only phases that run: they write no bytes, so nothing but their wall ends them.
ITEMS = ("mdtest-easy-write", "mdtest-easy-delete")


def only_items(path: Path) -> Path:
    """Write a configuration that skips all other phases."""
    others = [name for name in BY_NAME if name not in (*ITEMS, "timestamp")]
    path.write_text("".join(f"[{name}]\nrun = FALSE\n" for name in others))
    return path


@pytest.mark.long
def test_settings_are_measured_short_first_and_the_pairs_in_full(
    engine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Walls of a second are short enough for a test, and their short form has a fifth of it."""
    monkeypatch.setattr(io500_options, "_LEAST_FULL_WALL_S", 1.0)
    place, result = tmp_path / "place", tmp_path / "result"
    place.mkdir()
    official = ["--config", str(only_items(tmp_path / "own.ini")), "--objective", "mdtest-easy-write"]
    asked = ["--over", "env:ULLAGE_TEST_X=a,b,c", "--default", "env:ULLAGE_TEST_X=a", "--stonewall", "1s", *official]
    own = ["--ranks", "1", "--trials", "11", "--engine", str(engine), "--result", str(result), "--quiet"]
    assert run(["tune", "io500", "--target", f"t={place}", *asked, *own]) == 0
    trials = read_trials(ResultFolder(result))
    assert not any(one.reason for one in trials)
    assert not trials[0].is_proxy
    short = [one for one in trials if one.is_proxy]
    assert {one.setting["env:ULLAGE_TEST_X"] for one in short} == {"a", "b", "c"}
    assert all(one.purpose not in ("race", "confirm") for one in short)
    for one in trials:
        part = ResultFolder(result).part(one.result.rpartition("/")[2])
        assert part.read_request().options["stonewall_s"] == (0.2 if one.is_proxy else 1.0)
    # Which of three equal settings is best, and whether any of them is compared with the default, noise decides.
    assert all(not one.is_proxy for one in trials if one.purpose in ("race", "confirm"))


@pytest.mark.long
def test_ranks_on_each_of_two_hosts_are_searched_to_the_end(engine: Path, tmp_path: Path) -> None:
    """Hosts that are network namespaces of this machine, so that ranks find each other by the network alone."""
    place, result = tmp_path / "place", tmp_path / "result"
    place.mkdir()
    official = ["--config", str(only_items(tmp_path / "own.ini")), "--objective", "mdtest-easy-write"]
    asked = ["--over", "ppn=1,2", "--stonewall", "500ms", "--trials", "8", "--result", str(result), "--quiet"]
    with hosts_up(tmp_path / "hosts", 2) as hosts:
        words = ["tune", "io500", "--target", f"t={place}", *official, *asked, "--hosts", ",".join(hosts.names)]
        done = subprocess.run(
            hosts.command("h0", command(engine, *words)),
            env=dict(hosts.environment(describe(engine).engine.mpi.family)),
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_S,
        )
    assert done.returncode == 0, done.stderr
    tune = Summary.model_validate_json((result / "summary.json").read_bytes()).tune
    assert tune is not None
    assert tune.answer
    assert {one.setting["ppn"] for one in tune.trials} == {"1", "2"}
    for one in tune.trials:
        layout = ResultFolder(result).part(one.result.rpartition("/")[2]).read_plan(1).layout
        ppn = int(one.setting["ppn"])
        assert (layout.ranks, layout.nodes, layout.ranks_per_node) == (2 * ppn, 2, ppn)
    assert tune.command[tune.command.index("--ranks-per-node") + 1] == tune.best["ppn"]
    assert list(place.iterdir()) == []


@pytest.mark.long
def test_a_setting_that_fails_is_a_data_point(engine: Path, tmp_path: Path) -> None:
    """A device that takes an hour for a transfer is ended by its watchdog, or has no repetition in its time."""
    result = tmp_path / "result"
    asked = ["--over", "model.latency_s=1ms,2ms,3000s", "--default", "model.latency_s=2ms", "--trials", "9"]
    device = ["--target", "m=model:", "--param", "model.bandwidth=100MB/s", "--ranks", "1", "--block", "1M"]
    own = ["--objective", "write bandwidth", "--watchdog", "6s", "--engine", str(engine), "--result", str(result)]
    short = [word.replace("20s", "2s") for word in SHORT]
    code = run(["tune", "sweep", *device, *short, *asked, *own, "--quiet"])
    trials = read_trials(ResultFolder(result))
    failed = [one for one in trials if one.setting["model.latency_s"] == "3000"]
    assert code == 0
    assert failed
    assert all(one.reason and not one.values for one in failed)
    assert any(not one.reason for one in trials)
