# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from ullage.report.scripts import cached_text, compiled_templates

NAME = "vega.js"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ullage"


def never() -> str:
    raise AssertionError("it is in the cache")


@pytest.mark.parametrize("text", ["", "one\n\ntwo\u2028", "no end of line", "\r\n\r"])
def test_what_was_made_once_is_not_made_again(cache: Path, text: str) -> None:
    assert cached_text(NAME, lambda: text) == text
    assert cached_text(NAME, never) == text
    assert [file.name for file in cache.iterdir()] == [NAME]
    assert cache.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"half", b"\xff\xfe", b"0" * 64 + b"\nanother script"])
def test_a_damaged_file_is_made_anew(cache: Path, content: bytes) -> None:
    cache.mkdir(parents=True)
    (cache / NAME).write_bytes(content)
    assert cached_text(NAME, lambda: "whole") == "whole"
    assert cached_text(NAME, never) == "whole"


def test_without_a_cache_it_is_made_each_time(cache: Path) -> None:
    cache.parent.write_text("not a folder")
    assert [cached_text(NAME, lambda: "made") for _ in range(2)] == ["made", "made"]


def test_the_home_folder_holds_it_where_nothing_else_is_said(empty_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    cached_text(NAME, lambda: "made")
    assert (empty_home / ".cache" / "ullage" / NAME).is_file()


@pytest.mark.parametrize("damage", [b"", b"half", b"0" * 64 + b"\nnot compiled"])
def test_a_template_is_compiled_once_and_again_where_it_changed_or_the_file_is_damaged(
    cache: Path, damage: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rendered(text: str) -> str:
        made = Environment(loader=DictLoader({"page": text}), bytecode_cache=compiled_templates(), autoescape=True)
        return made.get_template("page").render(x=1)

    assert rendered("{{ x }} of one") == "1 of one"
    (file,) = cache.iterdir()
    file.write_bytes(damage)
    assert rendered("{{ x }} of one") == "1 of one"
    with monkeypatch.context() as patched:
        patched.setattr(Environment, "_generate", None)
        assert rendered("{{ x }} of one") == "1 of one"
    assert rendered("{{ x }} of another") == "1 of another"
    assert [*cache.iterdir()] == [file]
