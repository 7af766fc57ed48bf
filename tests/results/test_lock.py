# SPDX-License-Identifier: Apache-2.0
"""A result is measured into by one process at a time."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.sample_result import Shape, write_result
from ullage.errors import EXIT_ENVIRONMENT, UserError
from ullage.results.folder import ResultFolder
from ullage.results.lock import LOCK_NAME, measured_alone

_HOLD = """
import sys, time
from pathlib import Path
from ullage.results.folder import ResultFolder
from ullage.results.lock import measured_alone
with measured_alone(ResultFolder(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def result(tmp_path: Path) -> ResultFolder:
    return write_result(tmp_path / "result", Shape(accesses=("read",), repetitions=3))


def test_the_second_is_refused_and_told_by_whom(result: ResultFolder) -> None:
    with (
        measured_alone(result),
        pytest.raises(UserError, match=rf"in use by process {os.getpid()} on ") as caught,
        measured_alone(result),
    ):
        pass
    assert caught.value.code == EXIT_ENVIRONMENT
    assert not (result.path / LOCK_NAME).exists()
    with measured_alone(result):
        pass


def test_a_part_is_locked_with_the_whole(result: ResultFolder) -> None:
    with measured_alone(result), pytest.raises(UserError), measured_alone(result.part("cpu")):
        pass


def test_a_killed_process_holds_nothing(result: ResultFolder) -> None:
    words = [sys.executable, "-c", _HOLD, str(result.path)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(UserError, match=f"process {holder.pid}"), measured_alone(result):
            pass
        holder.kill()
        holder.wait()
    deadline = time.monotonic() + 60
    while True:
        try:
            with measured_alone(result):
                return
        except UserError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def test_a_link_is_not_followed(result: ResultFolder, tmp_path: Path) -> None:
    (tmp_path / "theirs").write_text("precious")
    (result.path / LOCK_NAME).symlink_to(tmp_path / "theirs")
    with pytest.raises(UserError), measured_alone(result):
        pass
    assert (tmp_path / "theirs").read_text() == "precious"
