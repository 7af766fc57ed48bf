# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
from pathlib import Path

import pytest

from steps.process import ROOT
from support.fake_program import FakeProgram

REAL = getattr(sys, "_base_executable", sys.executable)
GOOD = f'exec "{REAL}" "$@"'
OLD = "exit 1"
WITHOUT_VENV = f'case "$2" in *ensurepip*) exit 1;; esac\n{GOOD}'


def find(**settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", str(ROOT / "scripts" / "find_python.sh")],
        env={"PATH": os.environ["PATH"], **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def named(fake_program: FakeProgram, name: str, body: str) -> str:
    """Make a Python that says its own path, and return that path."""
    path = str(fake_program(name, ""))
    fake_program(name, body.replace(GOOD, f'echo "{path}"'))
    return path


def test_the_first_that_is_new_enough(fake_program: FakeProgram) -> None:
    fake_program("python3", OLD)
    expected = named(fake_program, "python3.13", GOOD)
    named(fake_program, "python3.11", GOOD)
    assert find().stdout.strip() == expected


def test_one_that_can_make_environments_goes_before_one_that_cannot(fake_program: FakeProgram) -> None:
    lame = named(fake_program, "python3", WITHOUT_VENV)
    assert find().stdout.strip() == lame
    whole = named(fake_program, "python3.12", GOOD)
    assert find().stdout.strip() == whole


def test_the_one_that_is_asked_for_is_the_only_one_tried(fake_program: FakeProgram) -> None:
    named(fake_program, "python3", GOOD)
    old = str(fake_program("mine", OLD))
    done = find(PYTHON=old)
    assert done.returncode == 1
    assert f"no Python >= 3.11 found (looked for: {old})" in done.stderr


def test_none_at_all_is_said_in_one_line(fake_program: FakeProgram) -> None:
    assert fake_program
    done = find()
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


def test_an_environment_is_traced_back_to_its_python(
    fake_program: FakeProgram, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    subprocess.run([REAL, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    monkeypatch.setenv("PATH", str(tmp_path / "venv" / "bin"))
    assert fake_program
    assert Path(find().stdout.strip()).resolve() == Path(REAL).resolve()
