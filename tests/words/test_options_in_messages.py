# SPDX-License-Identifier: Apache-2.0
"""What messages, notes and findings of a suite name as an option is one that a person can type there.

Texts are read from the sources: those of the suite's folder and, for suites of command lines, of what these share.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest

import ullage
from support.every_command import every_command
from ullage.suites.from_ior.parameters import TABLE as IOR
from ullage.suites.from_mdtest.translation import TABLE as MDTEST
from ullage.suites.from_mpi_tile_io.translation import TABLE as MPI_TILE_IO

SOURCES: Final = Path(ullage.__file__).parent
OPTION: Final = re.compile(r"(?<![\w-])--[A-Za-z](?:[\w.-]*\w)?(?![\w-]|\.\{)")
# Words of the official tools that messages quote; a name that ends in a point stands for all that begin so.
OF_TOOLS: Final = {
    "from_ior": {name for flag in IOR.flags for name in flag.names},
    "from_mdtest": {name for flag in MDTEST.flags for name in flag.names},
    "from_mpi_tile_io": {name for flag in MPI_TILE_IO.flags for name in flag.names},
    "io500": {name for flag in IOR.flags for name in flag.names if name.startswith(("--posix.", "--mpiio."))}
    | {"--posix.lustre", "--posix.gpfs", "--posix.beegfs"},
}
# Words of launchers, which are read here and are no messages.
OF_LAUNCHERS: Final = "command_lines/translation.py"
# Commands of launchers that messages quote, whose options are theirs.
OF_OTHERS: Final = re.compile(r"`(?:mpiexec|srun) [^`]*`")
# Exporters of suites name the option of `report` by which they are asked for.
FORMS: Final = {"--format"}
SHARED: Final = {"from_ior": ("command_lines",), "from_mdtest": ("command_lines",), "tune": ("runs/tuning",)}
SUITES: Final = tuple(sorted(path.parent.name for path in (SOURCES / "suites").glob("*/__init__.py")))


@cache
def options() -> dict[tuple[str, ...], set[str]]:
    """By the words of the command, ``ullage`` first."""
    return {
        one.path: {name for given in one.parameters for name in OPTION.findall(given.typed)}
        for one in every_command().values()
    }


def known(suite: str) -> set[str]:
    """What can be typed for a run of ``suite``; a search has the options of the suite that it tunes besides."""
    if suite == "tune":
        return options()["ullage", "tune", "io500"] | options()["ullage", "tune", "sweep"] | FORMS
    word = suite if ("ullage", "run", suite) in options() else suite.replace("_", "-")
    of_verb = options().get(("ullage", "predict", word), set[str]())
    return options()["ullage", "run", word] | of_verb | OF_TOOLS.get(suite, set()) | FORMS


def texts_of(suite: str) -> Iterator[tuple[str, str]]:
    """Every text of the sources of ``suite`` but docstrings, with the file it stands in."""
    for folder in (f"suites/{suite}", *SHARED.get(suite, ())):
        for path in sorted((SOURCES / folder).rglob("*.py")):
            for text in texts_in(ast.parse(path.read_text(encoding="utf-8"))):
                file = path.relative_to(SOURCES).as_posix()
                if file != OF_LAUNCHERS or " " in text.strip():
                    yield file, text


def texts_in(node: ast.AST) -> Iterator[str]:
    """Literal texts; parts that are filled in stand as braces."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from texts_in(child)


def unknown_in(text: str, allowed: set[str]) -> list[str]:
    """Options in ``text`` that neither ``allowed`` has nor a command of ours that the text itself names."""
    named = set(allowed)
    for words in re.findall(r"ullage ((?:[a-z][\w-]* ?){1,2})", text):
        for length in (1, 2):
            named |= options().get(("ullage", *words.split()[:length]), set())
    return [option for option in OPTION.findall(OF_OTHERS.sub("", text)) if option not in named]


@pytest.mark.parametrize("suite", SUITES)
def test_messages_name_only_options_that_exist(suite: str) -> None:
    allowed = known(suite)
    assert [f"{file}: {said}: {text}" for file, text in texts_of(suite) if (said := unknown_in(text, allowed))] == []


@pytest.mark.parametrize("suite", ["from_ior", "from_mdtest", "io500"])
def test_the_sources_are_read(suite: str) -> None:
    assert sum(bool(OPTION.search(text)) for _, text in texts_of(suite)) >= 5


def test_an_option_that_does_not_exist_is_found() -> None:
    allowed = known("io500")
    assert unknown_in("write --stonewall 300", allowed) == []
    assert unknown_in("write --stonewal 300", allowed) == ["--stonewal"]
    assert unknown_in("`mpiexec --map-by core` (Open MPI), or --stonewal", allowed) == ["--stonewal"]
    assert unknown_in("give --size, or --target", allowed) == ["--size"]
    assert unknown_in("`ullage report R --format json`", allowed) == []
    assert unknown_in("`ullage report R --formats json`", allowed) == ["--formats"]
    assert unknown_in("`ullage run sweep --cache drop`", set()) == []
    assert unknown_in("API = POSIX --posix.odirect", allowed) == []
