# SPDX-License-Identifier: Apache-2.0
"""Targets on file systems that keep removed files while they are open: FUSE and NFS."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.launching import case, code_of, plan, run
from tests.places.fuse import passthrough
from tests.places.nfs import nfs

from ullage.cleaning import find_run_folders, remove
from ullage.peers.place import file_name, marked_folder


@pytest.fixture(params=["fuse", "nfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with (passthrough if request.param == "fuse" else nfs)(tmp_path) as served:
        yield served.mount


def metadata(phases: list[str]) -> dict[str, object]:
    document = case()
    document["workload"] = {"name": "metadata", "parameters": {"items": 20, "phases": phases}}
    return document


def test_a_removed_file_that_is_open_stays_there_under_another_name(place: Path) -> None:
    """What these tests rest on."""
    with (place / "file").open("w"):
        (place / "file").unlink()
        (hidden,) = place.iterdir()
        assert hidden.name.startswith((".fuse_hidden", ".nfs"))


def test_a_normal_end_leaves_nothing(engine: Path, tmp_path: Path, place: Path) -> None:
    whole = ["tree-create", "create", "stat", "unlink", "tree-remove"]
    for cases in ([case()], [case(file_mode="shared")], [metadata(whole)], [metadata(whole[:2])]):
        done = run(engine, tmp_path, plan(tmp_path, cases, f"posix:{place}"))
        assert done.code == 0, done.stderr
        assert "left-behind" not in done.codes()
        assert list(place.iterdir()) == []


def test_a_peer_leaves_nothing(place: Path) -> None:
    with marked_folder(place, "r1", "abc", 2) as folder:
        (folder / file_name(0)).write_bytes(b"x")
    assert list(place.iterdir()) == []


def test_clean_removes_what_an_end_with_an_open_marker_has_left(engine: Path, place: Path) -> None:
    """As all ends were before: the marker was removed while it was open, and the folder could not be."""
    folder = place / "ullage-20261122T232612Z-d2e508"
    folder.mkdir(mode=0o700)
    (folder / ".ullage-run").write_text('{"run_id":"20261122T232612Z-d2e508","nonce":"n"}\n')
    with (folder / ".ullage-run").open():
        (folder / ".ullage-run").unlink()
        with pytest.raises(OSError, match="not empty"):
            folder.rmdir()
    (found,) = find_run_folders(place)
    assert found.refused is None
    assert remove(engine, found) is None
    assert list(place.iterdir()) == []


def test_clean_removes_the_hidden_marker_of_a_server_that_was_killed(engine: Path, tmp_path: Path) -> None:
    with passthrough(tmp_path) as served:
        folder = served.mount / "ullage-r1"
        folder.mkdir(mode=0o700)
        (folder / ".ullage-run").write_text('{"run_id":"r1","nonce":"n"}\n')
        descriptor = os.open(folder / ".ullage-run", os.O_RDONLY)
        (folder / ".ullage-run").unlink()
        served.process.kill()
        served.process.wait()
        os.close(descriptor)
    left = served.behind / "ullage-r1"
    assert [path.name[:12] for path in left.iterdir()] == [".fuse_hidden"]
    assert code_of([str(engine), "clean", str(left)]) == 0
    assert list(served.behind.iterdir()) == []
