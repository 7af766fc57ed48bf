# SPDX-License-Identifier: Apache-2.0
"""The commands of a newcomer and of somebody who writes, and the CI's."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from steps.process import ROOT
from support.fake_program import FakeProgram


def checkout_of_the_ci(tmp_path: Path) -> Path:
    """A checkout whose only content is the CI's program, and a Python that says how it is called."""
    root = tmp_path / "a checkout"
    (root / ".ci").mkdir(parents=True)
    (root / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", root / ".ci")
    python = root / ".venv" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "python $*"\n', encoding="utf-8")
    python.chmod(0o755)
    return root


@pytest.mark.parametrize(("fails", "code"), [("none", 0), ("test", 1), ("test-ci", 1)])
def test_the_ci_runs_make_test_at_the_root_and_the_rest_and_sums_up(
    fake_program: FakeProgram, tmp_path: Path, fails: str, code: int
) -> None:
    root = checkout_of_the_ci(tmp_path)
    fake_program("make", f'echo "make $* in $PWD"; [ "$*" != {fails} ]')
    fake_program("rm", "exit 0")
    done = subprocess.run([root / ".ci" / "run"], cwd="/", env=os.environ, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        f"make test in {root}",
        f"make test-ci in {root}",
        "python scripts/sum_up.py test ci",
    ]
    assert done.returncode == code


def test_make_alone_only_says_what_there_is() -> None:
    make = shutil.which("make") or "make"
    done = subprocess.run([make, "--no-print-directory", "-C", ROOT], capture_output=True, text=True, check=True)
    commands = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("make ")]
    assert commands[:4] == ["run", "test", "check", "test-all"]


@pytest.mark.parametrize(
    ("target", "profile", "runs"),
    [
        ("check", "test", "check"),
        ("test", "test", "test"),
        ("test-others", "all", "others"),
        ("test-ci", "ci", "ci"),
        ("test-all", "all", "test others"),
    ],
)
def test_each_test_run_sets_up_what_it_needs_and_no_more(target: str, profile: str, runs: str) -> None:
    make = shutil.which("make") or "make"
    words = [make, "--no-print-directory", "-n", "-C", ROOT, target]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert [line.split("scripts/")[-1] for line in lines] == [f"setup.py {profile}", f"run_tests.py {runs}"]


def test_make_run_looks_at_every_part_of_the_machine_and_takes_further_words() -> None:
    make = shutil.which("make") or "make"
    words = [make, "--no-print-directory", "-n", "-C", ROOT, "run", "ARGS=--without io500"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    last = done.stdout.splitlines()[-1]
    assert ".venv/bin/ullage run overview" in last
    assert "--target memory=/dev/shm" in last
    assert last.endswith("--without io500")


def test_without_a_python_there_is_one_message(fake_program: FakeProgram) -> None:
    make, shell = shutil.which("make", path="/usr/bin:/bin:/usr/local/bin"), "/bin/sh"
    if make is None:
        pytest.skip("there is no make here")
    fake_program("sh", f'exec {shell} "$@"')
    environment = {"PATH": os.environ["PATH"]}
    words = [make, "--no-print-directory", f"SHELL={shell}", "-C", str(ROOT), "setup", "PYTHON="]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    said = [line for line in done.stderr.splitlines() if not line.startswith("make: ")]
    assert len(said) == 1, done.stderr
    assert said[0].startswith("ullage: no Python >= 3.11 found")
