# SPDX-License-Identifier: Apache-2.0
"""IO500 as people run it, on real files: a quick look, and one that is interrupted, damaged and gone on with."""

import configparser
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
from tests.e2e.commands import command

from ullage.errors import EXIT_ABORTED, EXIT_OK
from ullage.model.summary import Summary
from ullage.results.folder import ResultFolder
from ullage.results.records import RecordTail
from ullage.suites.io500.importer import RESULT
from ullage.suites.io500.phases import phases_of, scored_phases

TIMEOUT_S = 180


def look(engine: Path, target: Path, result: Path, *words: str) -> list[str]:
    """A run of some seconds."""
    base = ["run", "io500", "--target", f"t={target}", "--ranks", "2", "--stonewall", "300ms", "--result", str(result)]
    return command(engine, *base, *words)


@pytest.mark.long
def test_a_quick_look_is_whole_and_says_invalid(engine: Path, target: Path, tmp_path: Path) -> None:
    result = tmp_path / "result"
    done = subprocess.run(look(engine, target, result), capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    assert "the stonewall of 0.3 s is below the 300 s of the rules" in done.stdout
    summary = Summary.model_validate_json((result / "summary.json").read_text())
    names = [phase.name for phase in phases_of("standard")]
    assert {str(row.params["phase"]) for row in summary.rows} <= set(names)
    scored = {phase.name for phase in scored_phases("standard")}
    assert scored <= {str(row.params["phase"]) for row in summary.rows if row.median > 0}
    scores = {score.name: score for score in summary.scores}
    assert not scores["IO500"].valid
    assert scores["IO500"].value > 0
    again = RESULT.read((result / "result_summary.txt").read_text(), "result_summary.txt")
    assert abs({s.name: s for s in again.scores}["IO500"].value / scores["IO500"].value - 1) < 1e-4
    assert [path.name for path in target.iterdir()] == ["precious"]


def _interrupted_after(engine: Path, target: Path, tmp_path: Path, dataset: str) -> Path:
    """The result of a run that was stopped when the case that makes ``dataset`` had ended.

    What follows takes few seconds, for which this process may stand still: three runs may try.
    """
    said = ""
    for number in range(3):
        result = tmp_path / f"result-{number}"
        words = look(engine, target, result, "--resumable")
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        deadline = time.monotonic() + TIMEOUT_S / 2
        try:
            while time.monotonic() < deadline and process.poll() is None and not _has_made(result, dataset):
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            said, _ = process.communicate(timeout=TIMEOUT_S)
        finally:
            process.kill()
        if process.returncode != EXIT_OK:
            assert process.returncode == EXIT_ABORTED, said
            return result
    pytest.fail(f"all runs were over before they were stopped: {said}")


def _has_made(result: Path, dataset: str) -> bool:
    if not (result / "request.json").exists():
        return False
    folder = ResultFolder.open(result)
    for number in folder.launches():
        ids = [case.id for case in folder.read_plan(number).cases if case.dataset == dataset]
        tail = RecordTail(folder.records_path(number))
        if any(record.kind == "case" and record.case == ids[0] for record in tail.poll()):
            return True
    return False


@pytest.mark.long
def test_all_hard_files_corrupted_between_phases_void_the_run(engine: Path, target: Path, tmp_path: Path) -> None:
    result = _interrupted_after(engine, target, tmp_path, "mdtest-hard")
    files = [path for path in target.rglob("file.mdtest.*") if "mdtest-hard" in path.parts]
    assert files
    for file in files:
        file.write_bytes(b"?" * 3901)
    done = subprocess.run(
        command(engine, "resume", str(result)), capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    assert done.returncode == 4, done.stderr
    summary = Summary.model_validate_json((result / "summary.json").read_text())
    voided = next(score for score in summary.scores if score.name == "IO500")
    assert not voided.valid
    assert any(reason.startswith("mdtest-hard-read") for reason in voided.reasons), voided.reasons
    assert [path.name for path in target.iterdir()] == ["precious"]


def test_prepared_folders_give_their_layout_and_the_official_files_are_read(
    engine: Path, target: Path, tmp_path: Path
) -> None:
    """The set-group-id bit is inherited by new directories as stripes and pools are elsewhere."""
    prepared, result = target / "ior-easy", tmp_path / "result"
    prepared.mkdir()
    prepared.chmod(0o2755)
    words = look(engine, target, result, "--keep")
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr
    (folder,) = target.glob("ullage-*")
    assert (folder / "ior-easy").stat().st_mode & stat.S_ISGID
    assert not (folder / "ior-hard").stat().st_mode & stat.S_ISGID
    assert sorted(path.name for path in (folder / "ior-easy").iterdir()) == ["data.00000000", "data.00000001"]
    assert list(prepared.iterdir()) == []
    assert prepared.stat().st_mode & 0o7777 == 0o2755
    read = configparser.ConfigParser(interpolation=None)
    for name in ("result.txt", "config.ini"):
        assert read.read(result / name)
    for phase in scored_phases("standard"):
        assert float(read[phase.name]["score"]) > 0
        assert float(read[phase.name]["t_delta"]) > 0
    assert read["run"]["procs"] == "2"
    assert read["SCORE"]["SCORE"].endswith("[INVALID]")
