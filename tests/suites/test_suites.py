# SPDX-License-Identifier: Apache-2.0
"""Suites are found by walking the package, and become commands with their own options."""

import subprocess
import sys

import pytest

from support.data import some
from ullage.cli.app import run
from ullage.errors import UserError
from ullage.runs.options.declared import declared
from ullage.runs.suite import Summarising, find_suite, load_suites


def test_sweep_is_found_and_says_what_it_answers() -> None:
    suites = load_suites()
    assert list(suites) == sorted(suites)
    assert suites["sweep"].doc.startswith("Which storage target")


def test_io500_is_found_and_says_what_it_answers() -> None:
    assert load_suites()["io500"].doc.startswith("How fast is this storage by the rules of IO500")


def test_a_suite_may_have_rows_and_scores_of_its_own() -> None:
    summarising = {name for name, suite in load_suites().items() if isinstance(suite, Summarising)}
    assert "io500" in summarising
    assert "sweep" not in summarising


def test_an_unknown_suite_gets_a_guess() -> None:
    with pytest.raises(UserError, match=r"unknown suite 'swep'; did you mean 'sweep'\?"):
        find_suite("swep")


def test_each_verb_lists_the_suites(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("run", "plan"):
        assert run([verb, "--help"]) == 0
        assert "sweep" in capsys.readouterr().out


def test_options_of_the_suite_and_of_the_verb_stand_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "sweep", "--help"]) == 0
    text = capsys.readouterr().out
    for word in ("--target", "--vary", "--recheck", "--result", "--launcher", "--engine"):
        assert word in text
    assert run(["plan", "sweep", "--help"]) == 0
    text = capsys.readouterr().out
    assert "--json" in text
    assert "--result" not in text


@pytest.mark.parametrize("words", [["run", "swep"], ["run", "sweep", "--targte", "a=/a"], ["run", "sweep"]])
def test_unknown_words_are_refused_in_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_help_of_everything_imports_nothing_heavy() -> None:
    heavy = ("numpy", "vl_convert", "rich.progress", "pydantic")
    code = f"import sys, ullage.cli.app as a; a.make_app(); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_the_suite_that_is_asked_for_is_looked_at() -> None:
    seen = "[m for m in sys.modules if m.startswith('ullage.suites.') and m.endswith('.options')]"
    for words, expected in ((["run", "--help"], []), (["run", "noise", "--help"], ["ullage.suites.noise.suite"])):
        code = f"import sys, ullage.cli.app as a; a.run({words}); print({seen})"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == str(expected)


def test_every_suite_has_options_that_can_be_asked_for_by_name_alone() -> None:
    for suite in some(load_suites().values()):
        options = declared(suite.options)
        names = [one.name for one in options.values()]
        assert len(set(names)) == len(names)
        assert all(one.help.endswith((".", ";")) for one in options.values()), suite.name
        # What the help says is taken can be read, and is shown as it is written.
        texts = [(one, text) for one in options.values() for text in (one.option.usual, one.option.quick) if text]
        for one, text in texts:
            value = one.read([text] if one.kind.repeated else text)
            again = one.kind.format(value)
            assert one.read([again] if one.kind.repeated else again) == value, (suite.name, one.name)
