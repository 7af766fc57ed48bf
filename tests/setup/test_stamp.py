# SPDX-License-Identifier: Apache-2.0
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from steps.stamp import Stamps, digest


def test_digest_depends_on_content_name_and_facts(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("1", encoding="utf-8")
    before = digest([file], {"python": "3.11"})
    assert digest([file], {"python": "3.11"}) == before
    assert digest([file], {"python": "3.12"}) != before
    assert digest([file.rename(tmp_path / "b")], {"python": "3.11"}) != before
    file.write_text("2", encoding="utf-8")
    assert digest([file], {"python": "3.11"}) != before


def test_digest_tells_where_one_file_ends(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, contents in ((one, ("12", "3")), (other, ("1", "23"))):
        folder.mkdir()
        for name, content in zip("ab", contents, strict=True):
            (folder / name).write_text(content, encoding="utf-8")
    assert digest(one.iterdir(), {}) != digest(other.iterdir(), {})


def test_only_what_is_finished_matches(tmp_path: Path) -> None:
    file = tmp_path / "stamps.json"
    stamps = Stamps(file)
    assert not stamps.matches("run", "x")
    stamps.finish("x", "run", "other")
    stamps.finish("y", "test")
    assert Stamps(file).matches("run", "x")
    assert Stamps(file).matches("test", "y")
    assert Stamps(file).matches("other", "x")
    assert not Stamps(file).matches("run", "y")


def test_what_threads_finish_at_the_same_time_is_all_there(tmp_path: Path) -> None:
    stamps, names = Stamps(tmp_path / "stamps.json"), [f"unit {number}" for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(stamps.finish, "x"), names))
    assert [name for name in names if not stamps.matches(name, "x")] == []


def test_a_damaged_file_means_that_nothing_is_finished(tmp_path: Path) -> None:
    file = tmp_path / "stamps.json"
    for content in (b"", b"{", b"[1]", b"\xff\xfe"):
        file.write_bytes(content)
        assert not Stamps(file).matches("run", "x")
    Stamps(file).finish("x", "run")
    assert Stamps(file).matches("run", "x")
