# SPDX-License-Identifier: Apache-2.0
"""Targets as people write them."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.uri import parse_target, parse_targets, target_folder, target_path, target_scheme


def test_plain_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    target = parse_target("nvme=sub/here")
    assert target.uri == f"posix:{tmp_path}/sub/here"
    assert target_path(target) == tmp_path / "sub/here"


@pytest.mark.parametrize(
    ("text", "name", "uri"),
    [
        ("a=/x", "a", "posix:/x"),
        ("a=posix:/x", "a", "posix:/x"),
        ("a=null:", "a", "null:"),
        ("a=model:", "a", "model:"),
        ("a=memory:", "a", "memory:"),
        ("a=/x:y=z", "a", "posix:/x:y=z"),
        ("it's <script> \"x\"=/a b'<c>", 'it\'s <script> "x"', "posix:/a b'<c>"),
    ],
)
def test_forms(text: str, name: str, uri: str) -> None:
    target = parse_target(text)
    assert (target.name, target.uri) == (name, uri)


@pytest.mark.parametrize(
    "text",
    ["", "a", "=", "a=", "=/x", "a= ", "a=null:/x", "a=s3:bucket", "a=posix:", "a\nb=/x", "a=/x\0y", "n" * 65 + "=/x"],
)
def test_what_is_no_target_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_target(text)
    assert str(caught.value).isprintable()


def test_home_is_expanded(empty_home: Path) -> None:
    assert target_path(parse_target("a=~/x")) == empty_home / "x"


def test_same_name_or_same_place_twice_is_refused() -> None:
    with pytest.raises(UserError, match="same name"):
        parse_targets(["a=/x", "a=/y"])
    with pytest.raises(UserError, match="same place"):
        parse_targets(["a=/x", "b=posix:/x"])
    two = parse_targets(["a=null:", "b=null:"])
    assert [target_scheme(target) for target in two] == ["null", "null"]
    assert target_path(two[0]) is None


def test_words_in_braces_stand_for_where_a_rank_is(tmp_path: Path) -> None:
    for name in ("pm1", "pm0", "pm"):
        (tmp_path / name).mkdir()
    (tmp_path / "pm-file").touch()
    target = parse_target(f"pm={tmp_path}/pm{{numa}}")
    assert target.uri == f"posix:{tmp_path}/pm{{numa}}"
    assert target_folder(target) == tmp_path / "pm0"
    assert target_folder(parse_target(f"a={tmp_path}/{{rank}}/{{host}}")) == tmp_path / "{rank}/{host}"
    assert target_folder(parse_target("n=null:")) is None


def test_an_unknown_word_in_braces_is_an_error() -> None:
    with pytest.raises(UserError, match=r"unknown word \{socked\} in a path.*use \{rank\}, \{local_rank\}, \{node\}"):
        parse_target("pm=/mnt/pmem{socked}")


@pytest.mark.parametrize(
    ("text", "name", "uri"),
    [
        ("/scratch/me", "me", "posix:/scratch/me"),
        ("/scratch/me/", "me", "posix:/scratch/me"),
        ("./a=b", "a=b", None),
        ("/", "/", "posix:/"),
        ("/local/{rank}", "{rank}", "posix:/local/{rank}"),
    ],
)
def test_a_path_alone_is_named_by_its_last_part(text: str, name: str, uri: str | None) -> None:
    target = parse_target(text)
    assert (target.name, target.uri) == (name, uri or f"posix:{Path.cwd() / 'a=b'}")


def test_the_working_folder_is_named_by_its_own_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert parse_target(".").name == "inner"
    assert parse_target("..").name == tmp_path.name
    with pytest.raises(UserError, match="two targets have the same name"):
        parse_targets(["/a/x", "/b/x"])
