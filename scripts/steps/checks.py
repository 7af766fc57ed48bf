# SPDX-License-Identifier: Apache-2.0
"""The checks of `make lint`, and what a program can mend of their findings."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from steps import engine, house_rules, python_env, tidying
from steps.process import ROOT, environment
from steps.stamp import Stamps, digest

BIN = python_env.VENV / "bin"
# The limit is generous, because a check beside other steps has only the cores that those leave.
LIMIT_S = 1800


def _said(argv: Sequence[str | Path]) -> str:
    """Return what a program prints when it finds something, else nothing."""
    path = os.pathsep.join([*os.get_exec_path(), str(BIN)])
    try:
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
    except subprocess.TimeoutExpired:
        return f"{argv[0]}: not finished after {LIMIT_S} s"
    return done.stdout or f"{argv[0]}: exit code {done.returncode}" if done.returncode else ""


def _clang_format(*words: str) -> str:
    files = house_rules.cpp_sources()
    return _said([BIN / "clang-format", *words, *files]) if files else ""


def _known() -> Stamps:
    """Return what was found clean, by what it was made of, so that it is not looked at again."""
    return Stamps(ROOT / "build" / "clean.json")


def _pyright() -> str:
    """Check types, where anything changed since they were right."""
    files = [file for folder in ("src", "scripts") for file in sorted((ROOT / folder).rglob("*.py"))]
    current = digest(
        [*files, ROOT / "pyproject.toml", *ROOT.glob("requirements*.txt")], {"files": "\n".join(map(str, files))}
    )
    if _known().matches("pyright", current):
        return ""
    found = _said([BIN / "pyright"])
    if not found:
        _known().finish(current, "pyright")
    return found


def _layers() -> str:
    """Return which imports go against the layers of pyproject.toml, from one suite to another or in a circle."""
    return _said([BIN / "lint-imports", "--no-cache", "--no-logo"])


def _clang_tidy() -> str:
    """Check the engine's own files (their headers with them), not the tests: GoogleTest's macros break every rule.

    Unit by unit, as they are compiled: reading headers is most of the work. What shadows a name of its own file g++ has
    found; a name of a neighbour in the unit is none that is shadowed.
    """
    folder = engine.folder(engine.linked())
    known = _known()
    units = tidying.units(folder).items()
    current = {unit: made_of for unit, made_of in units if made_of is None or not known.matches(unit, made_of)}
    without = [
        f"--extra-arg=-Wno-{name}" for name in ("unknown-warning-option", "unused-command-line-argument", "shadow")
    ]
    words = ["--quiet", *without, "-p", folder]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        found = list(pool.map(_said, ([BIN / "clang-tidy", *words, unit] for unit in current)))
    for (unit, made_of), what in zip(current.items(), found, strict=True):
        if not what and made_of is not None:
            known.finish(made_of, unit)
    return "".join(found)


CHECKS: dict[str, Callable[[], str]] = {
    "house rules": lambda: "\n".join(house_rules.violations()),
    "ruff format": lambda: _said([BIN / "ruff", "format", "--check", "--quiet", "."]),
    "ruff check": lambda: _said([BIN / "ruff", "check", "--quiet", "."]),
    "pyright": _pyright,
    "import-linter": _layers,
    "clang-format": lambda: _clang_format("--dry-run", "-Werror"),
    "clang-tidy": _clang_tidy,
}


# These take a minute or more where nothing was checked before, so that `make test` leaves them to `make test-others`.
# `make check` runs them too, on what has changed.
SLOW_CHECKS: frozenset[str] = frozenset({"clang-tidy", "pyright"})


def mend() -> None:
    """Write what the formatters and ruff's safe repairs change."""
    for text in (
        _said([BIN / "ruff", "check", "--fix-only", "--quiet", "."]),
        _said([BIN / "ruff", "format", "--quiet", "."]),
        _clang_format("-i"),
    ):
        print(text, end="", file=sys.stderr)
