# SPDX-License-Identifier: Apache-2.0
"""Standard streams and surroundings that are missing, full or narrow end in one line, never in a traceback."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.sample_result import Shape, write_result
from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_OK

WORDS = {"help": ["--help"], "suites": ["suites"], "machine": ["machine", "/"], "clean": ["clean", "/proc/self/task"]}


def shell(redirection: str, words: list[str], environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and errors of Ullage whose streams a shell has redirected."""
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path), **(environment or {})}
    line = ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "ullage", *words]
    done = subprocess.run(line, env=given, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.fault("standard output full, closed or read-only", "exit 3 and one line")
@pytest.mark.parametrize("redirection", [">/dev/full", ">&-", "1</dev/null"])
@pytest.mark.parametrize("verb", WORDS)
def test_stdout_that_takes_nothing_is_one_line(redirection: str, verb: str) -> None:
    code, errors = shell(redirection, WORDS[verb])
    assert code == EXIT_ENVIRONMENT
    assert errors.startswith("ullage: standard output: ")
    assert len(errors.splitlines()) == 1


@pytest.mark.fault("the reader of a pipe ends", "exit code of the work, nothing on stderr")
@pytest.mark.parametrize(
    "words", [["report"], ["report", "--format", "terminal"], ["report", "--format", "csv", "--output", "-"], ["show"]]
)
def test_a_reader_who_has_seen_enough_changes_no_exit_code(words: list[str], tmp_path: Path) -> None:
    result = write_result(tmp_path / "result", Shape(repetitions=3)).path
    line = [sys.executable, "-m", "ullage", words[0], str(result), *words[1:]]
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    reading, writing = os.pipe()
    os.close(reading)  # before the first byte, so that every byte meets a closed pipe
    try:
        done = subprocess.run(line, env=given, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (EXIT_OK, "")


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2</dev/null", "<&-"])
def test_a_message_that_nobody_hears_changes_no_exit_code(redirection: str, tmp_path: Path) -> None:
    assert shell(redirection, ["report", str(tmp_path)])[0] == EXIT_BAD_INPUT


@pytest.mark.fault("LANG, HOME, TMPDIR missing", "exit 0, nothing on stderr")
@pytest.mark.parametrize(
    "environment",
    [{}, {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"}],
)
def test_nothing_of_the_environment_is_needed(environment: dict[str, str], tmp_path: Path) -> None:
    result = write_result(tmp_path / "result", Shape(accesses=("read",), repetitions=3)).path
    assert shell("", ["compare", str(result), "--by", "target"], environment) == (EXIT_OK, "")


@pytest.mark.fault("names that are not UTF-8", "exit 2 and one line")
@pytest.mark.parametrize("words", [["\udcff"], ["report", "/x/\udcff"], ["run", "sweep", "--target", "x=/\udcff"]])
def test_words_that_are_no_text_are_one_line(words: list[str]) -> None:
    code, errors = shell("", words)
    assert code == EXIT_BAD_INPUT
    assert "is not UTF-8" in errors
    assert len(errors.splitlines()) == 1
