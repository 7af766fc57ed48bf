# SPDX-License-Identifier: Apache-2.0
"""How end-to-end tests are given out to processes: some start a machine or a browser once for their whole file."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from steps.process import ROOT

_TESTS = """
import os, time
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def waiting_rank():
    return ""  # these tests start no ranks

@pytest.fixture(scope="module")
def machine():
    return Path(__file__).with_name("processes")

@pytest.mark.parametrize("number", range(4))
def test_shares(machine, number):
    time.sleep(0.05)
    with machine.open("a") as stream:
        stream.write(os.environ["PYTEST_XDIST_WORKER"] + "\\n")

@pytest.mark.parametrize("number", range(4))
def test_stands_alone(number):
    time.sleep(0.05)
"""


def test_tests_that_share_what_their_file_makes_run_in_one_process(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "e2e" / "conftest.py", tmp_path)
    (tmp_path / "test_sharing.py").write_text(_TESTS)
    words = ["-q", "--numprocesses=2", "--dist=loadgroup", f"--rootdir={tmp_path}", "--config-file=/dev/null"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    argv = [sys.executable, "-m", "pytest", *words, "--import-mode=importlib", tmp_path]
    found = subprocess.run(argv, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
    processes = (tmp_path / "processes").read_text().split()
    assert (len(processes), len(set(processes))) == (4, 1)
