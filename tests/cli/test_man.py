# SPDX-License-Identifier: Apache-2.0
"""The manual pages have every command, and man renders them without a warning."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.data import some
from support.every_command import every_command
from ullage.cli.app import run
from ullage.cli.command_tree import Command, Parameter
from ullage.cli.man import manual_pages
from ullage.errors import EXIT_BAD_INPUT, EXIT_OK
from ullage.runs.suite import load_suites


def rendered(page: Path) -> "subprocess.CompletedProcess[str]":
    words = ["man", "--warnings", "--encoding=ascii", "-P", "cat", "-l", str(page)]
    environment = {"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8"}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=environment)


def test_there_is_a_page_for_ullage_and_one_for_each_suite(
    empty_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["man", "install"]) == EXIT_OK
    section = empty_home / ".local" / "share" / "man" / "man1"
    assert {path.name for path in section.iterdir()} == {
        "ullage.1",
        *(f"ullage-run-{name}.1" for name in load_suites()),
    }
    assert str(section) in capsys.readouterr().out


@pytest.mark.skipif(
    shutil.which("man") is None or shutil.which("groff") is None, reason="man and groff are not installed"
)
def test_man_renders_every_page_without_a_warning(tmp_path: Path) -> None:
    for name, text in some(manual_pages(every_command().values()).items()):
        page = tmp_path / f"{name}.1"
        page.write_text(text, encoding="utf-8")
        done = rendered(page)
        assert (done.returncode, done.stderr) == (0, ""), name
        assert name in done.stdout


def test_every_verb_and_option_stands_on_a_page() -> None:
    every = list(every_command().values())
    pages = manual_pages(every)
    whole = "\n".join(pages.values())
    for command in every:
        for one in command.parameters:
            assert f".B {one.typed}".replace("-", "\\-") in whole, f"{command.name} {one.typed}"
    assert ".B ullage plan sweep" in pages["ullage-run-sweep"]


def test_a_text_cannot_become_a_request_of_roff() -> None:
    hostile = Parameter("--x", ".so /etc/passwd\\n(.z", "", is_argument=False)
    root = Command(("ullage",), ("'br is text.",), (hostile,), is_group=True)
    page = manual_pages([root])["ullage"]
    assert "\n.so" not in page
    assert "\\&.so /etc/passwd\\en(.z" in page
    assert "\n'br" not in page


def test_show_prints_a_page_and_guesses_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["man", "show", "ullage-run-noise"]) == EXIT_OK
    assert capsys.readouterr().out.startswith(".TH ULLAGE\\-RUN\\-NOISE 1")
    assert run(["man", "show", "ullage-run-nois"]) == EXIT_BAD_INPUT
    assert "did you mean 'ullage-run-noise'?" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert run(["man", "install", "--to", str(tmp_path / "file")]) != EXIT_OK
    assert capsys.readouterr().err.count("\n") == 1
