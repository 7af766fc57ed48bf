# SPDX-License-Identifier: Apache-2.0
"""The small verbs, against an engine that is not one."""

import json
import os
from pathlib import Path

import pytest

from ullage.cleaning import find_run_folders
from ullage.cli.app import run
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_OK
from ullage.model.describe import Describe
from ullage.model.system import SystemFacts

FAKE = Path(__file__).parents[1] / "support" / "fake_engine.py"
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def fake_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ULLAGE_ENGINE", str(FAKE))


def make_run(target: Path, run_id: str, marker: str | None = None) -> Path:
    folder = target / f"ullage-{run_id}"
    folder.mkdir(mode=0o700)
    (folder / ".ullage-run").write_text(marker if marker is not None else json.dumps({"run_id": run_id, "nonce": "n"}))
    return folder


def test_describe_lists_everything_and_why_something_is_not_there(capsys: Capture) -> None:
    assert run(["describe"]) == EXIT_OK
    text = capsys.readouterr().out
    for word in ("posix", "transfer", "contamination", "fixed", "no: libpmem not found"):
        assert word in text


def test_describe_of_one_thing_shows_its_parameters_as_they_are_typed(capsys: Capture) -> None:
    assert run(["describe", "transfer"]) == EXIT_OK
    text = capsys.readouterr().out
    for word in ("transfer_bytes", "256K", "write,read", "from 8", "the segments"):
        assert word in text
    assert run(["describe", "null"]) == EXIT_OK
    assert "takes no parameters" in capsys.readouterr().out


def test_describe_in_json_is_the_engines_own_document(capsys: Capture) -> None:
    assert run(["describe", "--json"]) == EXIT_OK
    assert Describe.model_validate_json(capsys.readouterr().out).workloads[0].name == "transfer"
    assert run(["describe", "posix", "--json"]) == EXIT_OK
    assert json.loads(capsys.readouterr().out)["capabilities"] == ["path", "data"]


def test_describe_of_an_unknown_name_guesses(capsys: Capture) -> None:
    assert run(["describe", "transfre"]) == EXIT_BAD_INPUT
    assert "did you mean 'transfer'?" in capsys.readouterr().err


def test_machine_shows_places_as_what_they_are(capsys: Capture, tmp_path: Path) -> None:
    assert run(["machine", str(tmp_path), "mem=/dev/shm", "gone=/nonexistent/x"]) == EXIT_OK
    text = capsys.readouterr().out
    assert "processor" in text
    assert "does not exist" in text
    assert "memory, not storage" in text


def test_machine_in_json_and_without_an_engine(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ULLAGE_ENGINE", str(tmp_path / "none"))
    assert run(["machine", "--json"]) == EXIT_OK
    assert SystemFacts.model_validate_json(capsys.readouterr().out).mpi is None
    assert run(["machine", "--engine", str(tmp_path / "none")]) == EXIT_ENVIRONMENT


def test_machine_shows_the_switches_of_a_job(capsys: Capture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\necho SwitchName=s0 Level=0 Nodes=n[0-1]\necho SwitchName=top Level=1 Switches=s0\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert run(["machine"]) == EXIT_OK
    assert "switches" not in capsys.readouterr().out.replace("context switches", "")
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[0-1]")
    assert run(["machine"]) == EXIT_OK
    assert "s0 (n0, n1), top (s0)" in capsys.readouterr().out


def test_suites_are_listed_with_their_first_line(capsys: Capture) -> None:
    assert run(["suites"]) == EXIT_OK
    assert "sweep" in capsys.readouterr().out


def test_clean_asks_first_and_removes_nothing_without_a_yes(capsys: Capture, tmp_path: Path) -> None:
    folder = make_run(tmp_path, "r1")
    assert run(["clean", str(tmp_path)]) == EXIT_OK
    assert "Nothing was removed" in capsys.readouterr().out
    assert folder.exists()


def test_clean_removes_what_is_a_runs_and_leaves_all_else(capsys: Capture, tmp_path: Path) -> None:
    ours = [make_run(tmp_path, "r1"), make_run(tmp_path, "r2")]
    unmarked = tmp_path / "ullage-thesis"
    unmarked.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / ".ullage-run").write_text('{"run_id": "link"}')
    (tmp_path / "ullage-link").symlink_to(elsewhere)
    (tmp_path / "ullage-file").touch()
    renamed = make_run(tmp_path, "moved", '{"run_id": "other"}')
    broken = make_run(tmp_path, "broken", "\x00{[")
    assert run(["clean", f"t={tmp_path}", "--yes"]) == EXIT_OK
    text = capsys.readouterr().out
    assert not any(folder.exists() for folder in ours)
    assert all(
        path.exists() for path in (unmarked, elsewhere / ".ullage-run", tmp_path / "ullage-file", renamed, broken)
    )
    for word in ("has no marker", "a symbolic link", "not a folder", "another run: other"):
        assert word in text


def test_clean_of_one_run_only(tmp_path: Path) -> None:
    first, second = make_run(tmp_path, "r1"), make_run(tmp_path, "r2")
    assert run(["clean", str(tmp_path), "--yes", "--run", "r2"]) == EXIT_OK
    assert first.exists()
    assert not second.exists()


def test_clean_takes_what_a_killed_launch_left_for_a_runs_and_nothing_like_it(tmp_path: Path, capsys: Capture) -> None:
    for run_id, marker in (("20261122T232612Z-d2e508", ""), ("r1", ""), ("20261122T232612Z-d2e509", "{")):
        make_run(tmp_path, run_id, marker)
    (tmp_path / "ullage-20261122T232612Z-d2e50a").mkdir(mode=0o700)
    assert run(["clean", str(tmp_path)]) == EXIT_OK
    text = capsys.readouterr().out
    assert text.count("has no marker") == 2
    refused = [find.run_id for find in find_run_folders(tmp_path) if find.refused is not None]
    assert refused == ["20261122T232612Z-d2e509", "r1"]


def test_clean_never_follows_a_linked_marker(tmp_path: Path) -> None:
    (tmp_path / "real").write_text('{"run_id": "r1"}')
    folder = tmp_path / "ullage-r1"
    folder.mkdir()
    (folder / ".ullage-run").symlink_to(tmp_path / "real")
    assert run(["clean", str(tmp_path), "--yes"]) == EXIT_OK
    assert folder.exists()


def test_clean_says_what_was_left_and_why(capsys: Capture, tmp_path: Path) -> None:
    stubborn = tmp_path / "engine"
    words = ("ullage-engine: left: data.7: not listed", "ullage-engine: left: x: a link")
    stubborn.write_text("#!/bin/sh\n" + "".join(f"echo '{line}' >&2\n" for line in words) + "exit 4\n")
    stubborn.chmod(0o755)
    folder = make_run(tmp_path, "r1")
    assert run(["clean", str(tmp_path), "--yes", "--engine", str(stubborn)]) == EXIT_ENVIRONMENT
    assert f"{folder}: data.7: not listed; x: a link\n" in capsys.readouterr().out
    assert folder.exists()


def test_clean_of_nothing_and_of_no_place(capsys: Capture, tmp_path: Path) -> None:
    assert run(["clean", str(tmp_path)]) == EXIT_OK
    assert "Nothing to remove" in capsys.readouterr().out
    assert run(["clean", str(tmp_path / "none")]) == EXIT_ENVIRONMENT
    assert run(["clean", "a=null:"]) == EXIT_BAD_INPUT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_clean_leaves_what_belongs_to_others(capsys: Capture, tmp_path: Path) -> None:
    folder = make_run(tmp_path, "r1")
    os.chown(folder, 12345, 12345)
    assert run(["clean", str(tmp_path), "--yes"]) == EXIT_OK
    assert "belongs to user 12345" in capsys.readouterr().out
    assert folder.exists()


def test_machine_writes_a_draft_and_never_over_a_file(capsys: Capture, tmp_path: Path) -> None:
    from ullage.analysis.ceilings.machine_file import read_machine

    path = tmp_path / "machine.toml"
    assert run(["machine", "--declare", str(path), str(tmp_path)]) == EXIT_OK
    assert str(path) in capsys.readouterr().out
    assert [drive.path for drive in read_machine(path).drive if drive.path == str(tmp_path)]
    before = path.read_text()
    assert run(["machine", "--declare", str(path)]) == EXIT_BAD_INPUT
    assert "exists already" in capsys.readouterr().err
    assert path.read_text() == before
    assert run(["machine", "--declare", str(tmp_path / "new" / "m.toml")]) == EXIT_BAD_INPUT
    assert "no such folder" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()
