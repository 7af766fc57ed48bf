# SPDX-License-Identifier: Apache-2.0
"""Advice names only what its reader can type: options of the suite that it is about, or of the verb it quotes."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import ullage
from support import recorded_results
from support.every_command import every_command
from ullage.runs.options.declared import declared
from ullage.runs.suite import all_suites, load_suites

SOURCES: Final = Path(ullage.__file__).parent
OPTION: Final = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?![\w.{])")
OTHER_PROGRAM: Final = re.compile(r"`(?!ullage )[^`]*`")
VERB: Final = re.compile(r"`ullage (\w+)")
# These read the command lines of other programs, and name the options of those.
OF_OTHERS: Final = frozenset({"from-ior", "from-mdtest", "from-mpi-tile-io"})
# What is to be changed: options, an assignment, or a command or call in backquotes.
CHANGE: Final = re.compile(r"(--[a-z][a-z-]* \S|[A-Za-z_]\w*=\S|`[^`]+`)")


@cache
def options_of(suite: str) -> frozenset[str]:
    """Those of the suite, and of what a verb runs of the same package."""
    found = [one for name, one in all_suites().items() if suite in (name, getattr(one, "package", ""))]
    return frozenset(option.name for one in found for option in declared(one.options).values())


@cache
def options_of_run() -> frozenset[str]:
    """Those that ``ullage run`` adds to every suite."""
    return frozenset(option for name in load_suites() for option in _options(("run", name)) - options_of(name))


def _options(words: tuple[str, ...]) -> frozenset[str]:
    found = every_command().get(("ullage", *words))
    assert found is not None, f"no command {words}"
    return frozenset(option for one in found.parameters for option in OPTION.findall(one.typed))


def unknown_options(text: str, suite: str) -> set[str]:
    """Options in ``text`` that neither ``suite`` nor a verb that ``text`` quotes has."""
    of_verbs = {option for verb in VERB.findall(text) for option in _options((verb,))}
    own = OTHER_PROGRAM.sub("", text)
    return set(OPTION.findall(own)) - options_of(suite) - options_of_run() - of_verbs


def said() -> Iterator[tuple[str, dict[str, Any]]]:
    """The suite and each finding, event and note of every recorded result."""
    for _, summary in recorded_results.frozen_summaries():
        for one in (*summary["findings"], *summary["events"]):
            yield one["suite"] or summary["suite"], one


def test_findings_and_events_name_options_of_their_suite() -> None:
    wrong = [
        f"{suite}: {sorted(unknown)}: {text}"
        for suite, one in said()
        if suite not in OF_OTHERS
        for text in (one["title"], one["text"], one["change"])
        if (unknown := unknown_options(text, suite))
    ]
    assert not wrong, "\n".join(wrong)


def test_every_change_is_an_option_a_setting_or_a_command() -> None:
    changes = {one["change"] for _, one in said()} - {""}
    assert changes, "the recorded results have gains"
    assert not {change for change in changes if not CHANGE.match(change)}


# -- from the sources --------------------------------------------------------------------------------------------------


def test_every_change_in_the_sources_is_an_option_a_setting_or_a_command() -> None:
    found = [(path, one) for path in sorted(SOURCES.rglob("*.py")) for one in _changes(path)]
    assert len(found) > 8, "the calls of with_gain are found"
    assert not [f"{path.name}: {one}" for path, one in found if not CHANGE.match(one)]


def _changes(path: Path) -> Iterator[str]:
    """The texts given to ``with_gain``; what ``Settable.change`` makes is right by its nature."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "with_gain":
            yield from _texts_of(node.args[2], constants)


def _texts_of(value: ast.expr, constants: dict[str, ast.expr]) -> Iterator[str]:
    match value:
        case ast.Constant(value=str() as text):
            yield text
        case ast.JoinedStr(values=parts):
            texts = (next(_texts_of(_inner(part), constants), "N") for part in parts)
            yield "".join(texts)
        case ast.Name(id=name) if name in constants:
            yield from _texts_of(constants[name], constants)
        case ast.Subscript(value=inner):
            yield from _texts_of(inner, constants)
        case ast.Dict(values=values):
            for one in values:
                yield from _texts_of(one, constants)
        case _:
            pass


def _inner(part: ast.expr) -> ast.expr:
    return part.value if isinstance(part, ast.FormattedValue) else part


@pytest.mark.parametrize("suite", sorted(set(load_suites()) - OF_OTHERS))
def test_a_suite_and_what_it_stands_on_name_its_options_only(suite: str) -> None:
    wrong = [
        f"{module}: {sorted(unknown)}: {text}"
        for module in sorted(_reached(suite))
        for text in _texts(_path(module))
        # A module that suites share may hold the name of an option by itself, as the place of an error.
        if module.startswith("ullage.suites.") or " " in text
        if (unknown := unknown_options(text, suite) - _of_forms(module))
    ]
    assert not wrong, "\n".join(wrong)


def _of_forms(module: str) -> frozenset[str]:
    """Exporters are asked for by ``ullage report``."""
    return _options(("report",)) if module.endswith(".exporter") else frozenset()


@pytest.mark.parametrize("package", ["analysis/findings", "analysis/verdicts", "analysis/metrics", "results"])
def test_layers_that_know_no_suite_ask_which_options_there_are(package: str) -> None:
    """They hold names of options alone, for ``Settable`` to look up, and no sentence with one in it."""
    wrong = [
        f"{path.name}: {text}"
        for path in sorted((SOURCES / package).rglob("*.py"))
        for text in _texts(path)
        # Where a result is written is said to every verb that writes one, and there alone.
        if " " in text and (set(OPTION.findall(text)) - {"--result", "--force"})
    ]
    assert not wrong, "\n".join(wrong)


def _reached(suite: str) -> set[str]:
    """Modules of the suite, and those of ``ullage.runs`` that they import, directly or through others of these."""
    folder = SOURCES / "suites" / suite.replace("-", "_")
    left = [_module(path) for path in folder.rglob("*.py")]
    found: set[str] = set()
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += [one for one in _imports(_path(module)) if one.startswith("ullage.runs.")]
    # Declarations of options: a group is checked by whoever takes it.
    return {one for one in found if not one.startswith("ullage.runs.options")}


def _module(path: Path) -> str:
    return ".".join(("ullage", *path.relative_to(SOURCES).with_suffix("").parts)).removesuffix(".__init__")


def _path(module: str) -> Path:
    place = SOURCES.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@cache
def _imports(path: Path) -> tuple[str, ...]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)


@cache
def _texts(path: Path) -> tuple[str, ...]:
    """Texts with ``{}`` for what is filled in; docstrings are for programmers."""
    return tuple(_strings(ast.parse(path.read_text(encoding="utf-8"))))


def _strings(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                yield from _strings(part.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from _strings(child)
