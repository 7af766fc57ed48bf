# SPDX-License-Identifier: Apache-2.0
"""A peer writes into a marked folder and leaves nothing but what it must not touch."""

import fcntl
import json
import os
import stat
from pathlib import Path

import pytest

from ullage.cleaning import find_run_folders, remove
from ullage.peers import PeerError
from ullage.peers.place import file_name, marked_folder


def fill(folder: Path, files: int) -> None:
    for index in range(files):
        (folder / file_name(index)).write_bytes(b"x")


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch()


def make_run(target: Path, run_id: str = "r1") -> Path:
    folder = target / f"ullage-{run_id}"
    folder.mkdir(mode=0o700)
    (folder / ".ullage-run").write_text(json.dumps({"run_id": run_id, "nonce": "n"}))
    (folder / "manifest.ndjson").touch()
    return folder


def test_the_folder_is_a_runs_and_is_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    with marked_folder(tmp_path, "r1", "abc", 2) as folder:
        assert folder == tmp_path / "ullage-r1" / "c-peer-abc"
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
        assert json.loads((folder.parent / "manifest.ndjson").read_text()) == {
            "dataset": "peer-abc",
            "directory": "c-peer-abc",
            "files": 2,
            "file_mode": "per-process",
            "directory_per_process": False,
        }
        (found,) = find_run_folders(tmp_path)
        assert (found.run_id, found.refused) == ("r1", None)
        assert list(folder.iterdir()) == []
        fill(folder, 2)
    assert [entry.name for entry in tmp_path.iterdir()] == ["precious"]


def test_every_mode_is_0700_whatever_the_umask_takes(tmp_path: Path) -> None:
    before = os.umask(0o177)
    try:
        with marked_folder(tmp_path, "r1", "abc", 1) as folder:
            assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    finally:
        os.umask(before)


def test_it_is_gone_after_an_error_too(tmp_path: Path) -> None:
    def interrupted() -> None:
        with marked_folder(tmp_path, "r1", "abc", 1) as folder:
            fill(folder, 1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_what_nobody_listed_stays_and_is_said(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match="c-peer-abc"), marked_folder(tmp_path, "r1", "abc", 1) as folder:
        touch(folder, file_name(0), file_name(1), "data.000000000", "notes")
    assert sorted(entry.name for entry in folder.iterdir()) == ["data.000000000", file_name(1), "notes"]
    assert (folder.parent / ".ullage-run").exists()


def test_the_runs_own_data_stays(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    (run / "c-0123").mkdir()
    (run / "manifest.ndjson").write_text('{"dataset": "0123", "cut')
    with marked_folder(tmp_path, "r1", "0123", 1) as folder:
        fill(folder, 1)
        lines = (run / "manifest.ndjson").read_text().splitlines()
        assert lines[0] == '{"dataset": "0123", "cut'
        assert json.loads(lines[1])["dataset"] == "peer-0123"
    assert {entry.name for entry in run.iterdir()} == {".ullage-run", "manifest.ndjson", "c-0123"}


def test_what_an_earlier_peer_left_is_removed_first_as_far_as_it_was_listed(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    left = run / "c-peer-abc"
    left.mkdir()
    fill(left, 3)
    (run / "manifest.ndjson").write_text(
        '[]\n"x"\n{"dataset": "peer-abc", "files": 9007199254740993}\n{"dataset": "peer-abc"}\n'
    )
    with marked_folder(tmp_path, "r1", "abc", 1) as folder:
        assert list(folder.iterdir()) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("manifest", ["", '{"dataset": "other", "files": 3}\n'])
@pytest.mark.parametrize("files", [0, 2])
def test_what_no_manifest_lists_is_refused_and_untouched(tmp_path: Path, files: int, manifest: str) -> None:
    run = make_run(tmp_path)
    (run / "c-peer-abc").mkdir()
    fill(run / "c-peer-abc", files)
    (run / "manifest.ndjson").write_text(manifest)
    with pytest.raises(PeerError, match="in no manifest"), marked_folder(tmp_path, "r1", "abc", 2):
        pytest.fail("an unlisted folder was taken")
    assert len(list((run / "c-peer-abc").iterdir())) == files
    assert (run / "manifest.ndjson").read_text() == manifest


def test_a_crash_leaves_what_clean_removes(tmp_path: Path, engine: Path) -> None:
    pid = os.fork()
    if pid == 0:
        with marked_folder(tmp_path, "r1", "abc", 2) as folder:
            fill(folder, 2)
            os._exit(0)
    os.waitpid(pid, 0)
    (found,) = find_run_folders(tmp_path)
    assert (found.path / "c-peer-abc" / file_name(1)).exists()
    assert remove(engine, found) is None
    assert list(tmp_path.iterdir()) == []


def test_the_engine_keeps_out_while_a_peer_is_at_work(tmp_path: Path, engine: Path) -> None:
    with marked_folder(tmp_path, "r1", "abc", 1) as folder:
        fill(folder, 1)
        (found,) = find_run_folders(tmp_path)
        assert "still at work" in (remove(engine, found) or "")
        assert (folder / file_name(0)).exists()


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    with (run / ".ullage-run").open("r+") as marker:
        fcntl.flock(marker, fcntl.LOCK_EX)
        with pytest.raises(PeerError, match="still at work"), marked_folder(tmp_path, "r1", "abc", 1):
            pytest.fail("two were let in")
    assert (run / "manifest.ndjson").exists()


@pytest.mark.parametrize("marker", [None, "", "{", "[]", '{"run_id": "other"}'])
def test_a_foreign_folder_is_refused_and_untouched(tmp_path: Path, marker: str | None) -> None:
    run = make_run(tmp_path)
    if marker is None:
        (run / ".ullage-run").unlink()
    else:
        (run / ".ullage-run").write_text(marker)
    with pytest.raises(PeerError, match="no marker of this run"), marked_folder(tmp_path, "r1", "abc", 1):
        pytest.fail("a foreign folder was taken")
    assert (run / "manifest.ndjson").exists()


def test_a_folder_open_to_others_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path).chmod(0o755)
    with pytest.raises(PeerError, match="open to others"), marked_folder(tmp_path, "r1", "abc", 1):
        pytest.fail("a folder open to others was taken")


def test_no_link_is_followed_below_the_target(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = tmp_path / "target"
    target.mkdir()
    (target / "ullage-r1").symlink_to(make_run(elsewhere))
    with pytest.raises(PeerError), marked_folder(target, "r1", "abc", 1):
        pytest.fail("a link was followed")
    run = make_run(target, "r2")
    (elsewhere / file_name(0)).write_text("precious")
    (run / "c-peer-abc").symlink_to(elsewhere)
    (run / "manifest.ndjson").write_text('{"dataset": "peer-abc", "files": 1}\n')
    with pytest.raises(PeerError), marked_folder(target, "r2", "abc", 1):
        pytest.fail("a link was followed")
    assert (elsewhere / file_name(0)).read_text() == "precious"


def test_links_on_the_way_to_the_target_are_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with marked_folder(tmp_path / "link", "r1", "abc", 1) as folder:
        assert folder.parent.parent == tmp_path / "real"
    assert list((tmp_path / "real").iterdir()) == []


@pytest.mark.parametrize(("run_id", "dataset"), [("../x", "abc"), ("", "abc"), ("r1", "a/b"), ("r1", "")])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, run_id: str, dataset: str) -> None:
    with pytest.raises(PeerError, match="no names"), marked_folder(tmp_path, run_id, dataset, 1):
        pytest.fail("a name was taken")
    assert list(tmp_path.iterdir()) == []


def test_a_target_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(PeerError, match=r"none: No such file") as caught, marked_folder(tmp_path / "none", "r", "a", 1):
        pytest.fail("a missing target was taken")
    assert "\n" not in str(caught.value)
