# SPDX-License-Identifier: Apache-2.0
"""Errors are one line and an exit code; help is light."""

import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest
import typer

import ullage
from ullage.cli import app
from ullage.discovery import modules_in
from ullage.errors import EXIT_ABORTED, EXIT_BAD_INPUT, EXIT_ENVIRONMENT, EXIT_OK, UserError

HEAVY = ("pydantic", "numpy", "scipy", "vl_convert", "jinja2", "rich")


def ullage_process(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "ullage", *words], capture_output=True, text=True, check=False)


def verbs_of(module: ModuleType) -> set[str]:
    """Verbs that the module names, else the one that it is named after."""
    own = {module.__name__.rpartition(".")[2]} if hasattr(module, "register") else set[str]()
    return own | {verb.__name__.removesuffix("_") for verb in getattr(module, "VERBS", ())}


def test_every_verb_of_the_package_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--help"]) == EXIT_OK
    text = capsys.readouterr().out
    verbs = {verb for module in modules_in("ullage.cli") for verb in verbs_of(module)}
    assert {"describe", "machine", "clean", "suites", "peers", "show", "run", "import"} <= verbs
    assert all(f"\n  {verb} " in text for verb in verbs)
    # People do not type this one.
    assert "\n  member " not in text
    assert app.run(["member", "--help"]) == EXIT_OK


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from ullage.cli.app import run; code = run(['--help']);"
        f"print([name for name in {HEAVY!r} if name in sys.modules]); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["--version"]) == EXIT_OK
    assert capsys.readouterr().out == f"ullage {ullage.__version__}\n"


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["fly"], "No such command 'fly'"),
        (["describe", "--jsn"], "--jsn"),
        (["clean"], "Missing argument"),
        (["machine", "--engine"], "--engine"),
        (["run", "noise", "--repetitions", "0"], "ullage: --repetitions: must be at least 1; see `ullage run noise"),
        (["run", "noise", "--repetitions", "x"], "ullage: --repetitions: must be a whole number"),
        (["run", "nois"], "ullage: No such command 'nois'. Did you mean 'noise'? See `ullage run --help`"),
    ],
)
def test_wrong_words_are_one_line(words: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(words) == EXIT_BAD_INPUT
    captured = capsys.readouterr()
    assert captured.out == ""
    assert part in captured.err
    assert captured.err.startswith("ullage: ")
    assert captured.err.count("\n") == 1


def test_no_word_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run([]) == EXIT_BAD_INPUT
    assert "Commands:" in capsys.readouterr().err


def raiser(error: BaseException) -> Any:  # noqa: ANN401 - typer's own are not exported
    made = typer.Typer()
    made.callback()(lambda: None)

    @made.command()
    def verb() -> None:
        raise error

    return typer.main.get_command(made)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("bad\n\x1b[31mthing", "here", "do it"), EXIT_BAD_INPUT, "ullage: here: bad \\x1b[31mthing; do it\n"),
        (UserError("no room", code=EXIT_ENVIRONMENT), EXIT_ENVIRONMENT, "ullage: no room\n"),
        (KeyboardInterrupt(), EXIT_ABORTED, "ullage: interrupted\n"),
        (typer.Abort(), EXIT_ABORTED, "ullage: interrupted\n"),
        (typer.Exit(4), 4, ""),
    ],
)
def test_each_error_has_its_line_and_code(
    error: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(app, "_command", lambda: raiser(error))
    assert app.run(["verb"]) == code
    assert capsys.readouterr().err == line


def test_a_bug_shows_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "_command", lambda: raiser(ZeroDivisionError("a bug")))
    with pytest.raises(ZeroDivisionError):
        app.run(["verb"])


def test_a_reader_that_goes_away_is_no_error() -> None:
    script = '"$0" -m ullage machine --json | head -c 10 >/dev/null; echo "${PIPESTATUS[0]}"'
    done = subprocess.run(["bash", "-c", script, sys.executable], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"
    assert done.stderr == ""


def test_the_module_is_the_command() -> None:
    done = ullage_process("describe", "--engine", "/nonexistent/engine")
    assert done.returncode == EXIT_ENVIRONMENT
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_help_and_version_are_verbs_too(capsys: pytest.CaptureFixture[str]) -> None:
    for asked, option in ((["help", "run", "sweep"], ["run", "sweep", "--help"]), (["version"], ["--version"])):
        texts: list[str] = []
        for words in (asked, option):
            assert app.run(words) == 0
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1] != ""
    assert app.run(["help", "nosuch"]) == 2
    assert "No such command 'nosuch'" in capsys.readouterr().err
