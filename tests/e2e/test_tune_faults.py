# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in a search: trials that fail, hang or find no room, and searches that are interrupted or clash."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e.commands import TIMEOUT_S, Process, command, run, run_here, start, ullage
from tests.e2e.launching import code_of

from ullage.cleaning import find_run_folders
from ullage.engine import describe
from ullage.errors import EXIT_ABORTED, EXIT_BAD_INPUT, EXIT_CASE_FAILED, EXIT_ENVIRONMENT, EXIT_OK
from ullage.model.summary import Summary
from ullage.model.tuning import TuneTrial
from ullage.results.folder import ResultFolder
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import find_suite
from ullage.runs.tuning.journal import JOURNAL, read_trials
from ullage.runs.tuning.trial_inputs import TrialInputsMaker, command_of, shell_line
from ullage.runs.tuning.tuned_parameters import ParameterSources, read_overs

SHORT = ["--ranks", "1", "--volume", "1M", "--access", "write", "--min-repetitions", "1", "--max-repetitions", "1"]
WHAT = ["--objective", "write bandwidth", "--time", "5s", "--budget", "10m"]
# A trial in which one repetition is disturbed tells what the other two do.
OF_THREE = ["--min-repetitions", "3", "--max-repetitions", "3"]


def words(place: Path | str, *more: str) -> list[str]:
    return ["tune", "sweep", "--target", f"t={place}", *SHORT, *WHAT, *more]


def faulty(*kinds: str) -> list[str]:
    """The faults, and a delay of 1 ms that is none, as values of a parameter."""
    over = ["--over", f"fault.kind=delay,{','.join(kinds)}", "--default", "fault.kind=delay"]
    return ["--backend", "fault", "--param", "fault.delay_s=0.001", *over]


def trials_of(result: Path) -> list[TuneTrial]:
    return read_trials(ResultFolder(result))


@pytest.mark.fault(
    "trials of a search that fail with EIO or ENOSPC, or that hang",
    "each is a data point with its reason; the search ends well and leaves nothing at the target",
)
def test_trials_that_fail_are_data_points_with_their_reasons(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    more = [*faulty("eio", "enospc", "hang"), "--watchdog", "6s", "--trials", "14", "--search", "grid"]
    code, _, err = run_here(*words(target, *more), "--engine", str(engine), "--result", str(result), "--quiet")
    assert code == EXIT_OK, err
    said = {one.setting["fault.kind"]: one.reason for one in trials_of(result)}
    assert said["delay"] == ""
    assert "Input/output error" in said["eio"]
    assert "No space left on device" in said["enospc"]
    assert "made no progress for 6 s" in said["hang"]
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.fault(
    "the MPI library refuses a hint of a setting in a search",
    "its trial fails and names the hint; the other settings are compared",
)
def test_a_refused_hint_is_a_data_point(engine: Path, tmp_path: Path, target: Path) -> None:
    result, long = tmp_path / "result", "x" * 5000
    more = ["--backend", "mpiio", "--over", f"hint:cb_config_list={long};*:1", "--trials", "10", "--search", "grid"]
    code, _, err = run_here(*words(target, *more), "--engine", str(engine), "--result", str(result), "--quiet")
    assert code == EXIT_OK, err[-500:]
    said = {one.setting["hint:cb_config_list"]: one.reason for one in trials_of(result)}
    assert (said["unset"], said["*:1"]) == ("", "")
    assert re.search(r"cb_config_list.*the value of a hint has from 1 to", said[long])


@pytest.mark.long
@pytest.mark.fault(
    "a trial of a search hangs, and its watchdog waits longer than the search may last",
    "it is ended within the time of the search, recorded as failed; nothing is left at the target",
)
def test_a_hanging_trial_does_not_exceed_the_time_of_the_search(engine: Path, tmp_path: Path, target: Path) -> None:
    """The default hangs, since which other setting comes next would depend on how busy the machine is."""
    result = tmp_path / "result"
    hang = ["--backend", "fault", "--param", "fault.delay_s=0.001", "--over", "fault.kind=hang,delay"]
    own = ["--watchdog", "1h", "--time", "2s", "--budget", "30s", "--default", "fault.kind=hang"]
    code, _, err = run(command(engine, *words(target, *hang, *own), "--result", str(result), "--quiet"))
    assert code == EXIT_CASE_FAILED
    assert "was not done when the time of the search was over" in err
    (trial,) = trials_of(result)
    assert "time of the search was over" in trial.reason
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.fault(
    "the target of a search has too little room for some settings (a file system of 1.1 GiB)",
    "these trials fail and say what they need, the others are compared",
)
def test_settings_without_room_fail_and_others_are_compared(engine: Path, tmp_path: Path) -> None:
    place, result = tmp_path / "place", tmp_path / "result"
    place.mkdir()
    if code_of(["mount", "-t", "tmpfs", "-o", "size=1100m", "none", str(place)]) != 0:
        pytest.skip("mounting a tmpfs is not permitted here")
    try:
        own = [word for word in words(place) if word not in ("--volume", "1M")]
        more = ["--over", "volume=1M,2M,256M", "--default", "volume=1M", "--trials", "12", "--search", "grid"]
        code, _, err = run_here(*own, *more, "--result", str(result), "--quiet", "--engine", str(engine))
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
    assert code == EXIT_OK, err
    reasons = {one.setting["volume"]: one.reason for one in trials_of(result)}
    assert (reasons["1M"], reasons["2M"]) == ("", "")
    assert re.search(r"needs \d+ bytes but may take only|of which .* may be taken|free", reasons["256M"])


@pytest.mark.fault(
    "two searches on one target at the same time", "the second is refused and says why; the first is not disturbed"
)
def test_a_second_search_on_the_target_is_refused(engine: Path, tmp_path: Path, target: Path) -> None:
    first = tmp_path / "first"
    over = ["--over", "block=64K,256K", "--trials", "12"]
    process = start(command(engine, *words(target, *over), "--result", str(first), "--quiet"))
    try:
        _wait_for_trials(first, 1, process)
        code, _, err = run_here(
            *words(target, *over), "--engine", str(engine), "--result", str(tmp_path / "second"), "--quiet"
        )
    finally:
        out, said = process.communicate(timeout=TIMEOUT_S)
    assert code == EXIT_ENVIRONMENT
    assert "another tune measures there" in err
    assert process.returncode == EXIT_OK, out + said
    assert not any(one.reason for one in trials_of(first))


@pytest.mark.long
@pytest.mark.fault("Ctrl-C in a search", "the best so far is told, no data is left; resume goes on with what is known")
def test_an_interrupted_search_tells_its_best_and_goes_on(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    over = ["--over", "block=64K,256K,1M", "--default", "block=64K", "--trials", "12"]
    process = start(command(engine, *words(target, *over), "--result", str(result), "--quiet"))
    try:
        _wait_for_trials(result, 3, process)
        process.send_signal(signal.SIGINT)
    finally:
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == EXIT_ABORTED, err
    before = trials_of(result)
    tune = Summary.model_validate_json((result / "summary.json").read_bytes()).tune
    assert tune is not None
    assert tune.trials == before
    assert tune.answer
    assert [path.name for path in target.iterdir()] == ["precious"]
    code, _, err = run(command(engine, "resume", str(result), "--quiet"))
    assert code == EXIT_OK, err
    after = trials_of(result)
    assert after[: len(before)] == before
    # A confirmation follows only where a setting is better than the default, which this target decides.
    assert len(before) < len(after) <= 12
    ended = Summary.model_validate_json((result / "summary.json").read_bytes()).tune
    assert ended is not None
    assert ended.trials == after
    assert ended.answer


def _wait_for_trials(result: Path, count: int, process: Process) -> None:
    until, journal = time.monotonic() + TIMEOUT_S / 2, result / JOURNAL
    while not journal.is_file() or len(journal.read_bytes().splitlines()) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until, "no trial in time"
        time.sleep(0.02)


def test_a_command_prepares_the_folder_of_each_trial(engine: Path, tmp_path: Path, target: Path) -> None:
    """A command that fails for one value: the trials with that value fail, the others are measured in its folder."""
    result = tmp_path / "result"
    (tmp_path / "good").write_text("")
    over = ["--over", f"cmd:cp {tmp_path}/{{}} {{path}}/../c-tune-setting=bad,good", "--trials", "9"]
    asked = words(target, *over, "--search", "grid", "--result", str(result), "--quiet")
    _, _, err = run_here(*asked, "--engine", str(engine))
    name = f"cmd:cp {tmp_path}/{{}} {{path}}/../c-tune-setting"
    trials = trials_of(result)
    assert {one.setting[name] for one in trials} == {"unset", "good", "bad"}, err
    for one in trials:
        assert len(one.commands) == (one.setting[name] != "unset")
    bad = next(one for one in trials if one.setting[name] == "bad")
    assert bad.commands[0].code == 1
    assert "ended with exit code 1" in bad.reason


@pytest.mark.long
@pytest.mark.skipif(shutil.which("chattr") is None, reason="not available: chattr")
def test_what_a_command_sets_holds_for_the_data_and_the_answer_says_how_to_set_it(
    engine: Path, tmp_path: Path, target: Path
) -> None:
    probe = subprocess.run(["chattr", "+S", str(target)], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip("not available: a file system with chattr +S")
    subprocess.run(["chattr", "-S", str(target)], check=True)
    result = tmp_path / "result"
    over = ["--over", "cmd:chattr {} {path}=+S,-S", "--default", "cmd:chattr {} {path}=+S", "--trials", "12"]
    asked = words(target, *over, "--block", "4K", "--result", str(result), "--quiet")
    code, _, err = run_here(*asked, "--engine", str(engine))
    assert code == EXIT_OK, err
    tune = Summary.model_validate_json((result / "summary.json").read_bytes()).tune
    assert tune is not None
    assert all(one.commands[0].code == 0 for one in tune.trials)
    assert [path.name for path in target.iterdir()] == ["precious"]
    events = [event for file in ResultFolder(result).part("trial-001").read_records() for event in file.events]
    assert any("chattr +S" in event.text and "exit code 0" in event.text for event in events)
    if tune.best == {"cmd:chattr {} {path}": "-S"}:
        folder = target / "tuned"
        assert tune.preparation == [["mkdir", str(folder)], ["chattr", "-S", str(folder)]]
        assert tune.command[tune.command.index("--target") + 1] == f"t={folder}"


def test_the_plan_shows_the_command_and_where_it_is_run(engine: Path, target: Path) -> None:
    code, out, err = run_here(*words(target, "--over", "cmd:ls {} {path}=-a,-l", "--plan"), "--engine", str(engine))
    assert code == EXIT_OK, err
    line = next(line for line in out.splitlines() if "a trial with that value runs" in line)
    assert f"ls -a {target}/ullage-" in line
    assert not any("ullage-" in path.name for path in target.iterdir())


@pytest.mark.parametrize("place", ["m=model:", ""])
def test_a_command_is_refused_where_there_is_no_folder(engine: Path, place: str) -> None:
    suite = ["sweep", "--target", place, *SHORT] if place else ["cpu"]
    asked = ["tune", *suite, "--objective", "x", "--over", "cmd:ls {} {path}=-a,-l"]
    code, out, err = run_here(*asked, "--engine", str(engine))
    assert (code, out) == (EXIT_BAD_INPUT, "")
    assert "no target with a path here, so there is no folder for a command" in err


@pytest.mark.long
@pytest.mark.fault(
    "a search whose trials have a folder of their own is killed (SIGKILL)",
    "`tune RESULT --more` goes on with its trials; nothing is left at the target",
)
def test_a_killed_search_goes_on_and_removes_what_was_left(engine: Path, tmp_path: Path, target: Path) -> None:
    result = tmp_path / "result"
    over = ["--over", "cmd:ls {} {path}=-a", "--over", "block=64K,256K", "--trials", "10"]
    process = start(command(engine, *words(target, *over), "--result", str(result), "--quiet"))
    try:
        _wait_for_trials(result, 2, process)
        until = time.monotonic() + TIMEOUT_S / 2
        while not find_run_folders(target):
            assert time.monotonic() < until, "no folder of a trial in time"
            time.sleep(0.005)
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=TIMEOUT_S)
    before = trials_of(result)
    code, _, err = run(command(engine, "tune", str(result), "--more", "5m", "--quiet"))
    assert code == EXIT_OK, err
    assert trials_of(result)[: len(before)] == before
    assert len(trials_of(result)) > len(before)
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--over", "posix.nothing=1,2"], "has a parameter 'nothing'"),
        (["--over", "blok=64K,1M"], "did you mean 'block'?"),
        (["--over", "block=64K,1M", "--budget", "5s"], "give at least --budget"),
        (["--over", "block=64K,1M", "--space", "2M"], "give at least --space"),
        (["--over", "block=64K,1M", "--keep", "write bandwidth is fine"], "not a rule"),
        (["--over", "hint:cb_nodes=1,2"], "hint:cb_nodes=1: mpiio.hints: this run uses no backend"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_starts(
    engine: Path, tmp_path: Path, target: Path, more: list[str], said: str
) -> None:
    result = tmp_path / "result"
    code, out, err = run_here(*words(target, *more), "--engine", str(engine), "--result", str(result))
    assert (code, out) == (EXIT_BAD_INPUT, "")
    assert said in err
    assert not result.exists()
    assert [path.name for path in target.iterdir()] == ["precious"]


@pytest.mark.long
def test_what_one_search_has_measured_another_takes_over(engine: Path, tmp_path: Path) -> None:
    """A simulated device on which each block is 4 times better than the last: both searches find the same."""
    over = ["--over", "block=64K,256K,1M", "--default", "block=64K", "--trials", "10", *OF_THREE]
    device = ["--param", "model.bandwidth=1GB/s", "--param", "model.latency_s=20ms"]
    for name in ("first", "second"):
        asked = [*words("model:", *over, *device), "--result", str(tmp_path / name), "--quiet"]
        code, _, err = run_here(*asked, "--engine", str(engine))
        assert code == EXIT_OK, err
    measured = {one.setting["block"] for one in trials_of(tmp_path / "first") if one.purpose != "confirm"}
    assert measured == {"64K", "256K", "1M"}
    again = [one for one in trials_of(tmp_path / "second") if one.purpose in ("start", "search")]
    assert again
    assert all(one.seconds == 0 and one.result.startswith(str(tmp_path / "first")) for one in again)
    assert json.loads((tmp_path / "second" / "summary.json").read_text())["tune"]["best"] == {"block": "1M"}


def test_a_value_measured_with_a_command_is_not_that_of_a_run_without(engine: Path, tmp_path: Path) -> None:
    """The same block with and without a command are two settings, and the second search measures its own."""
    place, over = tmp_path / "target", ["--over", "block=64K,1M", "--default", "block=64K", "--trials", "8"]
    place.mkdir()
    command = ["--over", "cmd:chmod {} {path}=700,750", "--default", "cmd:chmod {} {path}=700"]
    for name, more in (("without", []), ("with", command)):
        asked = [*words(place, *over, *more), "--result", str(tmp_path / name), "--quiet"]
        code, _, err = run_here(*asked, "--engine", str(engine))
        assert code == EXIT_OK, err
    assert all(one.seconds > 0 for one in trials_of(tmp_path / "with"))


def test_a_trial_far_below_the_best_ends_early_and_counts(engine: Path, tmp_path: Path) -> None:
    """A transfer of the slow setting takes 20 times as long; its 30 repetitions would take 20 s."""
    over = ["--over", "model.latency_s=1ms,20ms", "--default", "model.latency_s=1ms", "--trials", "9"]
    repetitions = ["--min-repetitions", "30", "--max-repetitions", "30", "--time", "60s", "--block", "64K"]
    device = ["--target", "m=model:", "--param", "model.bandwidth=1GB/s", "--ranks", "1", "--volume", "1M"]
    own = ["--access", "write", "--objective", "write bandwidth", "--budget", "10m"]
    result = tmp_path / "result"
    code, _, err = run_here(
        "tune", "sweep", *device, *over, *repetitions, *own, "--result", str(result), "--quiet", "--engine", str(engine)
    )
    assert code == EXIT_OK, err
    slow = [one for one in trials_of(result) if one.setting["model.latency_s"] != "0.001" and one.purpose != "confirm"]
    assert slow
    assert all(one.is_short and one.values and not one.reason for one in slow[1:])
    assert not any(one.is_short for one in trials_of(result) if one not in slow)


@pytest.mark.long
def test_the_printed_line_runs_with_the_best_setting(engine: Path, tmp_path: Path) -> None:
    """As a person would: the line that the report prints, in a shell."""
    result, again = tmp_path / "result", tmp_path / "again"
    over = ["--over", "block=64K,1M", "--default", "block=64K", "--over", "env:ULLAGE_TEST_X=a b", "--trials", "14"]
    device = [*OF_THREE, "--param", "model.bandwidth=100MB/s", "--param", "model.latency_s=20ms"]
    asked = [*words("model:", *over, *device), "--result", str(result), "--quiet"]
    code, _, err = run_here(*asked, "--engine", str(engine))
    assert code == EXIT_OK, err
    summary = Summary.model_validate_json((result / "summary.json").read_bytes())
    assert summary.tune is not None
    line = next(one.change for one in summary.findings if one.kind == "tuned")
    assert line == shell_line(summary.tune.environment, summary.tune.preparation, summary.tune.command)
    shim = tmp_path / "bin" / "ullage"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {shlex.join(ullage())} "$@"\n')
    shim.chmod(0o755)
    environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "ULLAGE_ENGINE": str(engine)}
    typed = ["sh", "-c", f"{line} --result {again} --quiet"]
    done = subprocess.run(typed, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == EXIT_OK, done.stderr
    rows = Summary.model_validate_json((again / "summary.json").read_bytes()).rows
    assert {row.params["block_bytes"] for row in rows} == {1 << 20}


@pytest.mark.parametrize(
    ("over", "told"), [("hint:cb_nodes=1,2", "--hint cb_nodes=2"), ("ior-hard.segmentCount=100,200", "segmentCount")]
)
def test_hints_and_the_official_file_of_a_setting_are_what_its_command_names(
    engine: Path, tmp_path: Path, over: str, told: str
) -> None:
    """Written by the search as each trial has used them; `ullage plan` reads the printed command."""
    target = tmp_path / "target"
    target.mkdir()
    suite = find_suite("io500")
    (tmp_path / "own.ini").write_text("[ior-easy]\nAPI = MPIIO\n")
    typed = {"target": [f"t={target}"], "ranks": 1, "stonewall": "1s", "config": str(tmp_path / "own.ini")}
    description = describe(engine)
    sources = ParameterSources("io500", suite.options, parse_options(suite.options, **typed), description)
    inputs_maker = TrialInputsMaker(suite.options, typed, read_overs([over], (), sources), 0, tmp_path / "settings")
    name, _, values = over.partition("=")
    asked = inputs_maker.of({name: values.split(",")[1]})
    inputs_maker.parsed(asked)
    asked.options.pop("no_peer", None)
    line = command_of("io500", suite.options, asked.options)
    assert told in shlex.join(line) + "".join(path.read_text() for path in asked.files)
    code, _, err = run_here("plan", *line[2:], "--engine", str(engine))
    assert code == EXIT_OK, err
