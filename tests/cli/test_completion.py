# SPDX-License-Identifier: Apache-2.0
"""The shell completes verbs, suites, options, values and result folders; its start-up files are not changed."""

import os
import pty
import select
import shutil
import subprocess
import sys
import time
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
        ("ullage run noise --launcher open", ["open-mpi", "open-mpi-5"]),
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


def put_program(tmp_path: Path) -> dict[str, str]:
    """An environment in which ``ullage`` is this program."""
    program = tmp_path / "bin" / "ullage"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m ullage "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    source = str(Path(__file__).parents[2] / "src")
    return {**os.environ, "PATH": path, "PYTHONPATH": source, "HOME": str(tmp_path), "TERM": "dumb"}


SAME_WORDS = pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("ullage comp", {"compare", "completion"}),
        ("ullage run io", {"io500", "io_bench"}),
        ("ullage run sweep --access write,re", {"write,rewrite", "write,read", "write,reread"}),
        ("ullage run noise --rep", {"--repetitions"}),
    ],
)


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@SAME_WORDS
def test_fish_completes_words(line: str, offered: set[str], tmp_path: Path) -> None:
    environment = put_program(tmp_path)
    (tmp_path / "ullage.fish").write_text(script(Shell.FISH))
    words = ["fish", "--no-config", "-c", f"source ullage.fish; complete -C '{line}'"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    assert done.stderr == ""
    assert {text.split("\t")[0] for text in done.stdout.splitlines() if text} == offered


class Terminal:
    """zsh on a terminal of its own: it completes nowhere else."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        inner, self.outer = pty.openpty()[::-1]
        self.shell = subprocess.Popen(
            ["zsh", "-f", "-i"],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(inner)
        self.seen = ""

    def type(self, text: str, awaited: str) -> str:
        """What the terminal shows after ``text`` until it shows ``awaited``, or for 30 s."""
        self.seen, end = "", time.monotonic() + 30
        os.write(self.outer, text.encode())
        while awaited not in self.seen and time.monotonic() < end:
            if select.select([self.outer], [], [], 0.1)[0]:
                self.seen += os.read(self.outer, 65536).decode(errors="replace")
        return self.seen

    def close(self) -> None:
        """End the shell."""
        self.shell.kill()
        self.shell.wait()
        os.close(self.outer)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
@SAME_WORDS
def test_zsh_completes_words_when_tab_is_first_pressed(line: str, offered: set[str], tmp_path: Path) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "_ullage").write_text(script(Shell.ZSH))
    terminal = Terminal(tmp_path, {**put_program(tmp_path), "TERM": "xterm", "COLUMNS": "300"})
    try:
        ready = "fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D; setopt no_list_ambiguous"
        assert "DONE" in terminal.type(f"{ready}; print DO''NE\n", "DONE")
        shown = terminal.type(f"{line}\t", max(offered))
        assert all(word in shown for word in offered), shown
    finally:
        terminal.close()


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
