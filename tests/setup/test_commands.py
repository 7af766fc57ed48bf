# SPDX-License-Identifier: Apache-2.0
"""The two commands of a newcomer, and the CI's one."""

import os
import shutil
import subprocess

from steps.process import ROOT
from support.fake_program import FakeProgram


def test_the_ci_runs_make_test_at_the_root_and_nothing_else(fake_program: FakeProgram) -> None:
    fake_program("make", 'echo "make $* in $PWD"')
    done = subprocess.run([ROOT / ".ci" / "run"], cwd="/", env=os.environ, capture_output=True, text=True, check=True)
    assert done.stdout == f"make test in {ROOT}\n"


def test_make_alone_only_says_what_there_is() -> None:
    make = shutil.which("make") or "make"
    done = subprocess.run([make, "--no-print-directory", "-C", ROOT], capture_output=True, text=True, check=True)
    assert [line.split()[:2] for line in done.stdout.splitlines()][:2] == [["make", "run"], ["make", "test"]]


def test_make_run_looks_at_every_part_of_the_machine_and_takes_further_words() -> None:
    make = shutil.which("make") or "make"
    words = [make, "--no-print-directory", "-n", "-C", ROOT, "run", "ARGS=--without io500"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    last = done.stdout.splitlines()[-1]
    assert ".venv/bin/ullage run overview" in last
    assert "--target memory=/dev/shm" in last
    assert last.endswith("--without io500")
