# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steps import house_rules

LICENCE = f"// {house_rules.LICENCE}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "engine" / "mpi").mkdir(parents=True)
    (tmp_path / "src" / "ullage").mkdir(parents=True)
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8")


def test_clean_files_break_no_rule(root: Path) -> None:
    write(root, "engine/a.hpp", f"{LICENCE}#pragma once\n")
    write(root, "engine/a.cpp", f'{LICENCE}#include "a.hpp"\n')
    write(root, "engine/a_test.cpp", f"{LICENCE}namespace fs = std::filesystem;\nfs::path a();\n")
    write(root, "engine/main.cpp", LICENCE)
    write(root, "engine/mpi/handles.hpp", f"{LICENCE}#pragma once\n#include <mpi.h>\n")
    write(root, "src/a.py", f"# {house_rules.LICENCE}\n")
    assert house_rules.violations(root) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("src/a.py", "import os\n", "src/a.py:1: the first line is not"),
        ("src/a.py", f"# {house_rules.LICENCE}\n" * 401, "src/a.py:401: 401 lines"),
        ("src/ullage/a.py", f"# {house_rules.LICENCE}\ndata = path.read_bytes()\n", "src/ullage/a.py:2: reads around"),
        (
            "src/ullage/a.py",
            f"# {house_rules.LICENCE}\nwith path.open('x') as s, path.open(\"rb\"): pass\n",
            "src/ullage/a.py:2",
        ),
        ("engine/a_test.cpp", f"{LICENCE}#  define X 1\n", "engine/a_test.cpp:2: a macro"),
        ("engine/a_test.cpp", f"{LICENCE}  typedef int Count;\n", "engine/a_test.cpp:2: a typedef"),
        ("engine/a_test.cpp", f"{LICENCE}#include <mpi.h>\n", "engine/a_test.cpp:2: mpi.h"),
        ("engine/a_test.cpp", f'{LICENCE} # include "mpi.h"\n', "engine/a_test.cpp:2: mpi.h"),
        ("engine/a_test.cpp", f"{LICENCE}namespace fs = std::filesystem;\n", "engine/a_test.cpp:2: 'fs' is not used"),
        ("engine/a_test.cpp", f"{LICENCE}using std::vector;\n", "engine/a_test.cpp:2: 'vector' is not used"),
        ("engine/a.hpp", LICENCE, "engine/a.hpp:1: no #pragma once"),
        ("engine/a.cpp", LICENCE, "engine/a.cpp:1: no a_test.cpp beside it"),
    ],
)
def test_a_broken_rule_is_named_with_its_place(root: Path, name: str, text: str, expected: str) -> None:
    write(root, name, text)
    found = house_rules.violations(root)
    assert len(found) == 1
    assert found[0].startswith(expected)


def test_a_public_function_has_a_docstring_unless_a_class_states_it(root: Path) -> None:
    stated = f'# {house_rules.LICENCE}\nclass Job(Protocol):\n    def run(self):\n        """Run it."""\n'
    bare = (
        f"# {house_rules.LICENCE}\nclass Own:\n    def run(self): ...\n    def end(self): ...\n    def _a(self): ...\n"
    )
    write(root, "src/ullage/job.py", stated)
    write(root, "src/ullage/own.py", f"{bare}def go(): ...\nclass _Mine:\n    def stop(self): ...\n")
    assert house_rules.violations(root) == [
        "src/ullage/own.py:6: 'go' has no docstring, and no class states it",
        "src/ullage/own.py:4: 'end' has no docstring, and no class states it",
    ]


def test_two_headers_have_no_type_of_one_name(root: Path) -> None:
    for name, namespace, line in [
        ("a", "ullage", "class alignas(128) Counts final {"),
        ("b", "ullage", "struct Counts;"),
        ("c", "ullage", "struct Counts::Part {"),
        ("d", "ullage::mpi", "struct Counts {"),
    ]:
        write(root, f"engine/{name}.hpp", f"{LICENCE}#pragma once\nnamespace {namespace} {{\n{line}\n")
    assert house_rules.violations(root) == []
    write(root, "engine/e.hpp", f"{LICENCE}#pragma once\nnamespace ullage {{\nstruct Counts {{\n")
    assert house_rules.violations(root) == ["engine/e.hpp: 'Counts' is a type of engine/a.hpp too"]
