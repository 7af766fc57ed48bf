# SPDX-License-Identifier: Apache-2.0
"""Every test states that there was data: one whose every statement is in a loop over nothing would pass."""

import ast
from pathlib import Path

import pytest

from support.data import some

TESTS = Path(__file__).resolve().parents[1]


def literals(tree: ast.AST) -> set[str]:
    """Return the names to which something with data in it is given."""
    pairs = ((one.targets[0], one.value) for one in ast.walk(tree) if isinstance(one, ast.Assign))
    typed = ((one.target, one.value) for one in ast.walk(tree) if isinstance(one, ast.AnnAssign))
    return {
        name.id
        for name, value in (*pairs, *typed)
        if isinstance(name, ast.Name) and value and has_something(value, set())
    }


def is_literal(value: ast.expr) -> bool:
    """Tell whether an expression is a display with something in it."""
    display = getattr(value, "elts", None) or getattr(value, "keys", None) or getattr(value, "value", None)
    return isinstance(value, (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Constant)) and bool(display)


def has_something(found: ast.expr, known: set[str]) -> bool:
    """Tell whether what a loop goes over is never empty, as far as its text says."""
    if isinstance(found, ast.Call):
        if ast.unparse(found) == "mutation.seeds()":  # there is always a first one
            return True
        if isinstance(found.func, ast.Attribute):  # .items() and the like
            return has_something(found.func.value, known)
        name = getattr(found.func, "id", "")
        within = name in {"enumerate", "zip"} and any(has_something(one, known) for one in found.args)
        return within or name in {"some", "range"}
    return is_literal(found) or (isinstance(found, ast.Name) and found.id in known)


def states(node: ast.AST, known: set[str]) -> bool:
    """Tell whether something below a node is asserted whatever the data is."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assert):
            if not is_empty_talk(child.test, known):
                return True
        elif isinstance(child, ast.With) and "raises" in ast.unparse(child.items[0].context_expr):
            return True
        elif isinstance(child, ast.For):
            if has_something(child.iter, known) and states(child, known):
                return True
        elif not isinstance(child, (ast.FunctionDef, ast.ClassDef)) and states(child, known):
            return True
    return False


def is_empty_talk(said: ast.expr, known: set[str]) -> bool:
    """Tell whether ``all(...)`` or ``not any(...)`` is said of what may be nothing."""
    call = said.operand if isinstance(said, ast.UnaryOp) and isinstance(said.op, ast.Not) else said
    wanted = "any" if call is not said else "all"
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == wanted):
        return False
    over = call.args[0]
    found = over.generators[0].iter if isinstance(over, (ast.GeneratorExp, ast.ListComp)) else over
    return not has_something(found, known)


def asserts_only_of_what_may_be_nothing(file: Path) -> list[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
    known = literals(tree)
    return [one.name for one in functions if "assert" in ast.unparse(one) and not states(one, known)]


def test_every_test_states_that_there_was_data() -> None:
    found = {file: asserts_only_of_what_may_be_nothing(file) for file in some(sorted(TESTS.rglob("test_*.py")))}
    assert {str(file.relative_to(TESTS)): names for file, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "states_it"),
    [
        ("for row in rows():\n        assert row", False),
        ("assert not any(row.broken for row in rows())", False),
        ("assert all(rows())", False),
        ("for row in some(rows()):\n        assert row", True),
        ("for name in ('a', 'b'):\n        assert name", True),
        ("assert all(row for row in some(rows()))", True),
        ("assert rows()\n    assert all(rows())", True),
        ("rows = [1]\n    for row in rows:\n        assert row", True),
        ("rows = []\n    for row in rows:\n        assert row", False),
        ("with pytest.raises(OSError):\n        rows()", True),
    ],
)
def test_a_test_without_data_is_found(tmp_path: Path, text: str, states_it: bool) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(f"def test_it():\n    {text}\n    'assert'\n", encoding="utf-8")
    assert asserts_only_of_what_may_be_nothing(file) == ([] if states_it else ["test_it"])
