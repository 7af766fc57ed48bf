# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from steps import checks, tidying


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The last words of the programs that were started, of which those on ``bad.cpp`` find something."""
    noted: list[str] = []
    (tmp_path / "build").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "pyproject.toml").touch()

    def said(argv: list[str | Path]) -> str:
        noted.append(Path(argv[-1]).name)
        return "a finding\n" if noted[-1] == "bad.cpp" else ""

    monkeypatch.setattr(checks, "ROOT", tmp_path)
    monkeypatch.setattr(checks, "_said", said)
    monkeypatch.setattr(checks.engine, "linked", lambda: "openmpi")
    return noted


def test_types_are_looked_at_when_something_has_changed(asked: list[str], tmp_path: Path) -> None:
    pyright = checks.CHECKS["pyright"]
    assert [pyright(), pyright()] == ["", ""]
    assert asked == ["pyright"]
    (tmp_path / "src" / "new.py").touch()
    assert [pyright(), pyright()] == ["", ""]
    assert asked == ["pyright", "pyright"]


def test_a_unit_is_looked_at_until_it_is_clean_and_when_it_has_changed(
    asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made_of: dict[str, str | None] = {"clean.cpp": "1", "bad.cpp": "1", "unknown.cpp": None}
    monkeypatch.setattr(tidying, "units", lambda _: made_of)
    tidy = checks.CHECKS["clang-tidy"]
    assert [tidy(), tidy()] == ["a finding\n"] * 2
    assert sorted(asked) == ["bad.cpp", "bad.cpp", "clean.cpp", "unknown.cpp", "unknown.cpp"]
    made_of["clean.cpp"] = "2"
    tidy()
    assert asked.count("clean.cpp") == 2
