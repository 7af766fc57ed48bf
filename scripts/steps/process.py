# SPDX-License-Identifier: Apache-2.0
"""Programs, started from argument lists, their output kept in a file and shown only when they fail."""

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "logs"
TAIL_LINES = 60
TAIL_COLUMNS = 300


class StepError(Exception):
    """A step of the set-up or the tests did not succeed; the text is one line for people."""


def say(text: str) -> None:
    """Print one line about the progress at once."""
    print(f"-- {text}", flush=True)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this program's environment, less what makes Python look outside .venv, plus ``extra``."""
    misleading = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
    inherited = {key: value for key, value in os.environ.items() if key not in misleading}
    return {**inherited, "PYTHONNOUSERSITE": "1", **(extra or {})}


def answer(argv: Sequence[str | Path], stdin: str | None = None) -> str | None:
    """Return what a program prints, or None when it is missing or fails."""
    try:
        done = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT, env=environment()
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def shown(argv: Sequence[str | Path], extra: Mapping[str, str], *, limit_s: float) -> int:
    """Run a program with its output on this terminal; return its exit code. Raises StepError when it takes longer."""
    try:
        return subprocess.run(argv, timeout=limit_s, check=False, cwd=ROOT, env=environment(extra)).returncode
    except subprocess.TimeoutExpired as error:
        raise StepError(f"{argv[0]}: not finished after {limit_s:.0f} s") from error


def log_of(name: str) -> Path:
    """Return where ``logged`` keeps the output of the program of that name."""
    return LOGS / f"{name}.log"


def show_tail(name: str) -> None:
    """Show the end of such an output."""
    lines = log_of(name).read_text(encoding="utf-8", errors="replace").splitlines()
    print(*(line[:TAIL_COLUMNS] for line in lines[-TAIL_LINES:]), sep="\n", file=sys.stderr)


def logged(
    name: str,
    argv: Sequence[str | Path],
    extra: Mapping[str, str] | None = None,
    *,
    limit_s: float = 1800,
    show_failure: bool = True,
) -> None:
    """Run a program with its output in build/logs/<name>.log.

    Raises StepError when it cannot be started, fails (the end of its output is shown) or takes longer than ``limit_s``.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = log_of(name)
    with log.open("w", encoding="utf-8") as output:
        print("$", shlex.join(map(str, argv)), file=output, flush=True)
        try:
            code = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=limit_s,
                check=False,
                cwd=ROOT,
                env=environment(extra),
            ).returncode
        except OSError as error:
            raise StepError(f"{name}: {argv[0]} cannot be started: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise StepError(f"{name}: not finished after {limit_s:.0f} s; output: {log}") from error
    if code != 0 and show_failure:
        show_tail(name)
    if code != 0:
        raise StepError(f"{name}: exit code {code}; whole output: {log}")
