# SPDX-License-Identifier: Apache-2.0
"""Command lines of Ullage, run as people run them, on a chosen engine."""

import io
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TypeAlias

from support import calm_ullage, ready_ullage
from ullage.cli import app
from ullage.results.records import RecordTail

TIMEOUT_S = 180
Process: TypeAlias = "subprocess.Popen[str] | ready_ullage.Command"


def ullage(*words: str) -> list[str]:
    """A command line of Ullage, which repeats nothing only because another test was at work."""
    return [sys.executable, calm_ullage.__file__, *words]


def command(engine: Path, *words: str) -> list[str]:
    """The same with that engine."""
    return ullage(*words, "--engine", str(engine))


def finish(process: Process) -> tuple[int, str, str]:
    """Exit code, output and errors."""
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
    return process.returncode, out, err


def start(words: list[str]) -> Process:
    """Under way, with its output kept; Ullage without the time that its imports take."""
    if words[:2] == ullage():
        return ready_ullage.Command(words[2:])
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(words: list[str]) -> tuple[int, str, str]:
    """Start and finish."""
    return finish(start(words))


def start_and_act(words: list[str], result: Path, act: Callable[[Process], None]) -> tuple[int, str, str]:
    """Start, wait for the first repetition, act."""
    process = start(words)
    deadline = time.monotonic() + TIMEOUT_S / 2
    try:
        while not _has_case(result):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline, "no repetition in time"
            time.sleep(0.02)
        act(process)
    except BaseException:
        process.kill()
        raise
    return finish(process)


def _has_case(result: Path) -> bool:
    folder = result / "records"
    files = folder.iterdir() if folder.is_dir() else ()
    return any(record.kind == "case" for file in files for record in RecordTail(file).poll())


def run_here(*words: str) -> tuple[int, str, str]:
    """Exit code, output and errors of Ullage in this process, which saves starting one: for what starts no engine."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = app.run([*words])
    return code, out.getvalue(), err.getvalue()
