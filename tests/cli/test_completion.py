# SPDX-License-Identifier: Apache-2.0
"""The shell completes verbs, suites, options, values and result folders; its start-up files are not changed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ullage.cli.app import run
from ullage.cli.completion import VARIABLE, Shell, script
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK

Capture = pytest.CaptureFixture[str]


def completed(tmp_path: Path, line: str) -> list[str]:
    """What bash offers at the end of ``line``, by the script that is installed."""
    program = tmp_path / "bin" / "ullage"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ullage "$@"\n')
    program.chmod(0o755)
    (tmp_path / "script.sh").write_text(script(Shell.BASH))
    ask = f"source script.sh; COMP_WORDS=({line}); [[ '{line}' == *' ' ]] && COMP_WORDS+=(''); "
    ask += "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _ullage_completion bin/ullage; printf '%s\\n' \"${COMPREPLY[@]}\""
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    source = str(Path(__file__).parents[2] / "src")
    environment = {**os.environ, "PATH": path, "PYTHONPATH": source}
    done = subprocess.run(
        ["bash", "--norc", "-c", ask], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ullage comp", ["compare", "completion"]),
        ("ullage run io", ["io500", "io_bench"]),
        ("ullage run noise --rep", ["--repetitions"]),
        ("ullage run sweep --cache ad", ["advise"]),
        ("ullage run sweep --access write,re", ["write,rewrite", "write,read", "write,reread"]),
        ("ullage run noise --launcher open", ["open-mpi"]),
        ("ullage report R --format ht", ["html"]),
    ],
)
def test_bash_completes_words(line: str, offered: list[str], tmp_path: Path) -> None:
    assert sorted(completed(tmp_path, line)) == sorted(offered)


def test_bash_completes_result_folders_and_no_others(tmp_path: Path) -> None:
    for name in ("ullage-results/one", "ullage-results/two", "mine"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "request.json").touch()
    (tmp_path / "ullage-results" / "none").mkdir()
    assert completed(tmp_path, "ullage report ") == ["mine", "ullage-results/one", "ullage-results/two"]
    assert completed(tmp_path, "ullage compare ullage-results/o") == ["ullage-results/one"]


@pytest.mark.parametrize("shell", list(Shell))
def test_install_writes_one_file_and_says_what_is_left_to_do(shell: Shell, empty_home: Path, capsys: Capture) -> None:
    assert run(["completion", "install", shell]) == EXIT_OK
    written = [path for path in empty_home.rglob("*") if path.is_file()]
    assert len(written) == 1
    assert written[0].read_text() == script(shell)
    assert VARIABLE in script(shell)
    said = capsys.readouterr().out
    assert str(written[0]) in said
    assert len(said.splitlines()) == 2


def test_an_unknown_shell_is_one_line(capsys: Capture) -> None:
    assert run(["completion", "install", "csh"]) == EXIT_BAD_INPUT
    assert capsys.readouterr().err.count("\n") == 1
