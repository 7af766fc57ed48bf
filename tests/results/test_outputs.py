# SPDX-License-Identifier: Apache-2.0
"""Outputs never touch what belongs to somebody else."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError
from ullage.results.outputs import is_stream, lies_within, write_outputs


def test_new_files_are_made_with_the_folders_below_that_of_the_output(tmp_path: Path) -> None:
    write_outputs({"x.html": "page", "tables/rows.csv": b"rows"}, tmp_path, replace=False)
    assert (tmp_path / "x.html").read_text() == "page"
    assert (tmp_path / "tables" / "rows.csv").read_text() == "rows"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["rows.csv", "tables", "x.html"]


@pytest.mark.fault("an output in a folder that is not there", "refused: a mistyped path makes no folders")
def test_the_folder_of_an_output_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such folder") as caught:
        write_outputs({"x.html": "page"}, tmp_path / "new" / "deep", replace=False)
    assert caught.value.code == EXIT_BAD_INPUT
    assert list(tmp_path.iterdir()) == []


@pytest.mark.fault("an output where a foreign file is", "refused without --force, before anything is written")
def test_a_foreign_file_stops_all_before_the_first_is_written(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "rows.csv").write_text("theirs")
    with pytest.raises(UserError, match="exists already") as caught:
        write_outputs({"x.html": "page", "tables/rows.csv": "ours"}, tmp_path, replace=False)
    assert caught.value.code == EXIT_BAD_INPUT
    assert (tmp_path / "tables" / "rows.csv").read_text() == "theirs"
    assert not (tmp_path / "x.html").exists()


def test_replacing_is_by_word_only(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    write_outputs({"x": "new"}, tmp_path, replace=True)
    assert (tmp_path / "x").read_text() == "new"


def _link(place: Path) -> None:
    place.symlink_to(place.with_name("theirs"))


def _dangling(place: Path) -> None:
    place.symlink_to(place.with_name("nothing"))


@pytest.mark.fault("an output on a link, a FIFO, a folder", "refused also with --force; all stays as it is")
@pytest.mark.parametrize("make", [_link, _dangling, os.mkfifo, Path.mkdir])
@pytest.mark.parametrize("replace", [False, True])
def test_what_is_no_regular_file_stays(make: Callable[[Path], None], replace: bool, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("precious")
    place = tmp_path / "x"
    make(place)
    kind = stat.S_IFMT(place.lstat().st_mode)
    with pytest.raises(UserError, match="not replaced"):
        write_outputs({"x": "ours"}, tmp_path, replace=replace)
    assert stat.S_IFMT(place.lstat().st_mode) == kind
    assert (tmp_path / "theirs").read_text() == "precious"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.fault("an output on a device", "refused also with --force; the device stays")
def test_a_device_stays(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device is not permitted here")
    with pytest.raises(UserError, match="is a device, and not replaced"):
        write_outputs({"null": "ours"}, tmp_path, replace=True)
    assert stat.S_ISCHR(device.lstat().st_mode)


def test_a_linked_folder_below_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "tables").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError) as caught:
        write_outputs({"tables/rows.csv": "ours"}, tmp_path / "here", replace=True)
    assert caught.value.code == EXIT_ENVIRONMENT
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_where_a_folder_is_needed_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("theirs")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UserError) as caught:
            write_outputs({"x.png": b"ours"}, folder, replace=False)
        assert caught.value.code == EXIT_BAD_INPUT
    assert (tmp_path / "file").read_text() == "theirs"


def test_streams_and_folders_are_told_apart(tmp_path: Path) -> None:
    assert is_stream(Path("-"))
    assert is_stream(Path("/dev/stdout"))
    assert not is_stream(Path("x"))
    assert not is_stream(None)
    (tmp_path / "link").symlink_to(tmp_path)
    assert lies_within(tmp_path / "link" / "x", tmp_path)
    assert not lies_within(tmp_path / "x", tmp_path / "y")
