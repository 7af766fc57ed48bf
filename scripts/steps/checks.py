# SPDX-License-Identifier: Apache-2.0
"""The checks of `make lint`, and what a program can mend of their findings."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steps import engine, house_rules, python_env
from steps.process import ROOT, environment

BIN = python_env.VENV / "bin"
LIMIT_S = 900


def _said(argv: Sequence[str | Path]) -> str:
    """Return what a program prints when it finds something, else nothing."""
    path = os.pathsep.join([*os.get_exec_path(), str(BIN)])
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
        check=False,
        cwd=ROOT,
        env=environment({"PATH": path}),
    )
    return done.stdout or f"{argv[0]}: exit code {done.returncode}" if done.returncode else ""


def _clang_format(*words: str) -> str:
    files = house_rules.cpp_sources()
    return _said([BIN / "clang-format", *words, *files]) if files else ""


def _clang_tidy() -> str:
    """Check the engine's own files (their headers with them), not the tests: GoogleTest's macros break every rule.

    Unit by unit, as they are compiled: reading headers is most of the work. What shadows a name of its own file g++ has
    found; a name of a neighbour in the unit is none that is shadowed.
    """
    folder = engine.folder(engine.linked())
    entries = json.loads((folder / "compile_commands.json").read_text())
    units = [entry["file"] for entry in entries if "ullage-engine-tests.dir" not in entry["command"]]
    words = ["--quiet", "--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-shadow", "-p", folder]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return "".join(pool.map(_said, ([BIN / "clang-tidy", *words, unit] for unit in units)))


CHECKS: dict[str, Callable[[], str]] = {
    "house rules": lambda: "\n".join(house_rules.violations()),
    "ruff format": lambda: _said([BIN / "ruff", "format", "--check", "--quiet", "."]),
    "ruff check": lambda: _said([BIN / "ruff", "check", "--quiet", "."]),
    "pyright": lambda: _said([BIN / "pyright"]),
    "clang-format": lambda: _clang_format("--dry-run", "-Werror"),
    "clang-tidy": _clang_tidy,
}


def mend() -> None:
    """Write what the formatters and ruff's safe repairs change."""
    for text in (
        _said([BIN / "ruff", "check", "--fix-only", "--quiet", "."]),
        _said([BIN / "ruff", "format", "--quiet", "."]),
        _clang_format("-i"),
    ):
        print(text, end="", file=sys.stderr)
