# SPDX-License-Identifier: Apache-2.0
"""Commands as parameters: an argument list in a folder of its own, and what becomes of it."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ullage.cleaning import find_run_folders, remove
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.peers.place import marked_folder
from ullage.runs.tuning.trial_inputs import SetCommand, folder_of, prepared_targets, read_command, sentence

if TYPE_CHECKING:
    from ullage.model.tuning import TuneCommand


def test_a_command_is_split_once_and_its_values_never() -> None:
    command = SetCommand(read_command("touch {path}/{}"), "a b; rm -rf {path} $HOME")
    assert command.argv(Path("/x")) == ["touch", "/x/a b; rm -rf {path} $HOME"]
    assert read_command("'touch {path}/{}'") == ("touch", "{path}/{}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("touch {path}", "no {} for its value"),
        ("no-such-program {}", "no program 'no-such-program'"),
        ("touch '{}", "No closing quotation"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        read_command(text)


def targets(tmp_path: Path) -> list[Target]:
    return [Target(name="a", uri=f"posix:{tmp_path}"), Target(name="m", uri="model:")]


def test_each_target_with_a_path_is_a_prepared_folder_that_is_gone_afterwards(engine: Path, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("stays")
    ran: list[TuneCommand] = []
    commands = [SetCommand(read_command("cp /dev/null {}"), "made")]
    with prepared_targets(targets(tmp_path), "r1", commands, ran, engine, 30.0) as found:
        folder = folder_of(targets(tmp_path)[0], "r1")
        assert folder is not None
        assert [one.uri for one in found] == [f"posix:{folder}", "model:"]
        assert (folder / "made").is_file()
        (folder / "made").unlink()
    assert [(one.argv, one.code) for one in ran] == [(["cp", "/dev/null", "made"], 0)]
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_a_command_that_fails_is_told_with_its_exit_and_leaves_nothing(engine: Path, tmp_path: Path) -> None:
    ran: list[TuneCommand] = []
    commands = [SetCommand(read_command("ls {path}/{}"), "missing")]
    with (
        pytest.raises(UserError, match=r"ended with exit code 2: ls: .*missing"),
        prepared_targets(targets(tmp_path), "r1", commands, ran, engine, 30.0),
    ):
        pytest.fail("the trial must not begin")
    assert ran[0].code == 2
    assert "`ls " in sentence(ran[0])
    assert not any(tmp_path.iterdir())


def test_a_command_that_hangs_is_ended_in_the_time_of_its_trial(engine: Path, tmp_path: Path) -> None:
    ran: list[TuneCommand] = []
    with (
        pytest.raises(UserError, match=r"was not done after 0(\.\d+)? s and was ended"),
        prepared_targets(targets(tmp_path), "r1", [SetCommand(("sleep", "{}"), "1000")], ran, engine, 0.5),
    ):
        pytest.fail("the trial must not begin")
    assert ran[0].code is None


def test_what_a_killed_search_has_left_goes_with_its_runs(engine: Path, tmp_path: Path) -> None:
    """The folders as SIGKILL leaves them: that of the search, and in it that of a run."""
    with marked_folder(tmp_path, "r1", "setting", 1, kind="tune") as folder, marked_folder(folder, "r2", "x", 1):
        shutil.copytree(tmp_path / "ullage-r1", tmp_path / "kept")
    (tmp_path / "kept").rename(tmp_path / "ullage-r1")
    with prepared_targets(targets(tmp_path), "r1", [], [], engine, 30.0):
        (left,) = find_run_folders(tmp_path)
        assert left.refused is None
        assert remove(engine, left) is not None, "a search is at work there"
    assert not any(tmp_path.iterdir())
