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


def test_every_change_in_the_sources_is_an_option_a_setting_or_a_command() -> None:
    found = [(path, one) for path in sorted(SOURCES.rglob("*.py")) for one in _changes(path)]
    assert len(found) > 8, "the calls of with_gain are found"
    assert not [f"{path.name}: {one}" for path, one in found if not CHANGE.match(one)]


def _changes(path: Path) -> Iterator[str]:
    """The texts given to ``with_gain``, also by ``Faster``; what ``Settable.change`` makes is right by its nature."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {
        node.target.id: node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "with_gain":
            yield from _texts_of(node.args[2], constants)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Faster":
            yield from (f"{option} N" for option in _texts_of(node.args[2], constants))


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
        for module, name in sorted(_reached(suite))
        for text in _strings(_top_level(module)[name])
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


def _reached(suite: str) -> set[tuple[str, str]]:
    """Names of the suite's modules, and those of ``ullage.runs`` that these use, directly or through others."""
    folder = SOURCES / "suites" / suite.replace("-", "_")
    left = [(module, name) for module in map(_module, folder.rglob("*.py")) for name in _top_level(module)]
    found: set[tuple[str, str]] = set()
    while left:
        module, name = pair = left.pop()
        # Declarations of options: a group is checked by whoever takes it.
        if pair in found or module.startswith("ullage.runs.options") or name not in _top_level(module):
            continue
        found.add(pair)
        imported = _imported(module)
        used = {node.id for node in ast.walk(_top_level(module)[name]) if isinstance(node, ast.Name)}
        left += [imported.get(one, (module, one)) for one in used]
    return found


def _module(path: Path) -> str:
    return ".".join(("ullage", *path.relative_to(SOURCES).with_suffix("").parts)).removesuffix(".__init__")


@cache
def _tree(module: str) -> ast.Module:
    place = SOURCES.joinpath(*module.split(".")[1:])
    path = place / "__init__.py" if (place / "__init__.py").is_file() else place.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _top_level(module: str) -> dict[str, ast.stmt]:
    """Each statement of the module by what it defines; the rest, which runs with its import, by its line."""
    found: dict[str, ast.stmt] = {}
    for node in _tree(module).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found[name] = node
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found[name] = node
            case _:
                found[f"line {node.lineno}"] = node
    return found


@cache
def _imported(module: str) -> dict[str, tuple[str, str]]:
    """Where the names that come from ``ullage.runs`` are defined."""
    return {
        name.asname or name.name: (node.module, name.name)
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ullage.runs.")
        for name in node.names
    }


def test_what_a_suite_uses_of_a_shared_module_is_found() -> None:
    found = _reached("flash")
    assert ("ullage.suites.flash.suite", "prepare") in found
    assert ("ullage.runs.cells.prepared", "PreparedCells") in found
    assert ("ullage.runs.cells.volume", "check_room") in found, "through PreparedCells"
    assert not {name for module, name in found if module.startswith("ullage.runs.options")}


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
