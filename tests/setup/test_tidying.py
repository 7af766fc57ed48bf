# SPDX-License-Identifier: Apache-2.0
import json
from pathlib import Path

import pytest

from steps import tidying, tools
from support.fake_program import FakeProgram


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake_program: FakeProgram) -> Path:
    """A build of two units, one of them made, and of a test."""
    for name in (".clang-tidy", "engine/a.cpp", "engine/a.hpp", "engine/b.cpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "requirements-dev.txt").write_text("clang-tidy==1\n", encoding="utf-8")
    build = tmp_path / "build"
    build.mkdir()
    units = [
        ("a.cpp", "ullage-objects.dir"),
        ("b.cpp", "ullage-objects.dir"),
        ("a_test.cpp", "ullage-engine-tests.dir"),
    ]
    entries = [{"file": name, "command": f"c++ -o {where}/{name}.o -c {name}"} for name, where in units]
    (build / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    dependencies = ("../engine/a.cpp", "../engine/a.hpp", "/usr/include/stdio.h")
    lines = ["ullage-objects.dir/a.cpp.o: #deps 3, deps mtime 1 (VALID)", *(f"    {file}" for file in dependencies), ""]
    lines += ["ullage-objects.dir/b.cpp.o: #deps 1, deps mtime 1 (STALE)", "    ../engine/b.cpp"]
    fake_program("ninja", "\n".join(f'echo "{line}"' for line in lines))
    monkeypatch.setattr(tidying, "ROOT", tmp_path)
    monkeypatch.setattr(tools, "compiler", lambda: fake_program("c++", "echo c++ 12"))
    return build


def test_a_unit_is_known_by_all_that_it_reads_of_this_checkout(folder: Path) -> None:
    before = tidying.units(folder)
    assert before["a.cpp"] == tidying.units(folder)["a.cpp"]
    for name in (".clang-tidy", "engine/a.hpp", "requirements-dev.txt"):
        file = folder.parent / name
        old = file.read_text(encoding="utf-8")
        file.write_text("clang-tidy==2\n", encoding="utf-8")
        assert tidying.units(folder)["a.cpp"] != before["a.cpp"]
        file.write_text(old, encoding="utf-8")
    assert tidying.units(folder) == before


def test_what_was_not_built_is_always_looked_at_and_tests_never(folder: Path) -> None:
    found = tidying.units(folder)
    assert set(found) == {"a.cpp", "b.cpp"}
    assert found["b.cpp"] is None
