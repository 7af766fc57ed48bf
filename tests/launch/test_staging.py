# SPDX-License-Identifier: Apache-2.0
"""The engine on a disk of each node, with commands that act on this one."""

from pathlib import Path

import pytest

from support.fake_program import FakeProgram
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.launch.open_mpi import OpenMpi
from ullage.launch.slurm import Srun
from ullage.launch.staging import staged

# Its arguments from /bin/sh on are the command.
REAL = "PATH=$PATH:/usr/bin:/bin\n"
SRUN = REAL + 'while [ "$1" != /bin/sh ]; do shift; done\n"$@"\n'


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    path = tmp_path / "engine"
    path.write_text("#!/bin/sh\n")
    return path


@pytest.fixture
def srun(fake_program: FakeProgram) -> Srun:
    fake_program("sbcast", f'{REAL}cp "$2" "$3"\n')
    return Srun(fake_program("srun", SRUN), plugin="pmix")


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    path = tmp_path / "disk"
    path.mkdir()
    return path


def test_a_copy_is_there_for_the_run_alone(engine: Path, srun: Srun, disk: Path) -> None:
    with staged(engine, srun, disk) as program:
        assert program.read_bytes() == engine.read_bytes()
        assert program.parent.parent == disk
        assert program.parent.stat().st_mode & 0o777 == 0o700
    assert list(disk.iterdir()) == []


def test_without_a_folder_the_engine_is_its_own(engine: Path, srun: Srun) -> None:
    with staged(engine, srun, None) as program:
        assert program == engine


def test_a_copy_that_is_not_the_engine_is_named_by_its_node_and_removed(
    engine: Path, srun: Srun, disk: Path, fake_program: FakeProgram
) -> None:
    fake_program("sbcast", 'echo broken > "$3"\n')
    with pytest.raises(UserError, match=r"the copy of the engine on \S+ is not the engine") as caught:
        staged(engine, srun, disk).__enter__()
    assert caught.value.code == EXIT_ENVIRONMENT
    assert list(disk.iterdir()) == []


def test_what_others_have_put_into_the_folder_stays(engine: Path, srun: Srun, disk: Path) -> None:
    with staged(engine, srun, disk) as program:
        (program.parent / "foreign").touch()
    assert [path.name for path in disk.glob("*/*")] == ["foreign"]


def test_a_folder_that_a_node_lacks_is_said_in_the_words_of_the_node(engine: Path, srun: Srun, disk: Path) -> None:
    with pytest.raises(UserError, match=r"the engine cannot be copied to all nodes: mkdir: .*No such file"):
        staged(engine, srun, disk / "nowhere").__enter__()


def test_launchers_without_a_broadcast_are_refused(engine: Path, disk: Path) -> None:
    with pytest.raises(UserError, match="open-mpi has no broadcast") as caught:
        staged(engine, OpenMpi(Path("/m")), disk).__enter__()
    assert caught.value.code == EXIT_ENVIRONMENT
