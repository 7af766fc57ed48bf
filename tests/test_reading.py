# SPDX-License-Identifier: Apache-2.0
"""The door for files: regular ones of a sensible size, without waiting."""

import errno
import os
from pathlib import Path

import pytest

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.reading import open_regular, parse_json, parse_toml, read_bytes, read_text, read_toml


def test_a_regular_file_is_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa = 1\n")
    (tmp_path / "link").symlink_to("a")
    assert read_bytes(tmp_path / "link") == b"\xef\xbb\xbfa = 1\n"
    assert read_toml(tmp_path / "a", "write TOML") == {"a": 1}
    with open_regular(tmp_path / "a") as stream:
        assert not os.get_inheritable(stream.fileno())


def test_lines_end_alike_whoever_wrote_them(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"a\r\nb\rc\n")
    assert read_text(tmp_path / "a", "name a file") == "a\nb\nc\n"


def test_pipes_devices_and_folders_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for path in (tmp_path / "pipe", tmp_path / "zero"):
        with pytest.raises(OSError, match="is no regular file"):
            read_bytes(path)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


def test_a_file_without_end_is_refused_by_its_size(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(OSError, match="is larger than 1024 MiB") as caught:
        read_bytes(tmp_path / "sparse")
    assert caught.value.errno == errno.EFBIG


def test_a_file_that_shows_no_size_is_cut_off() -> None:
    with pytest.raises(OSError, match="is larger than"):
        read_bytes(Path("/proc/self/maps"), 16)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a = 1\nb = '\xff'\n", "--x F:2: is not UTF-8 text; save it as UTF-8"),
        (b"a = " + b"[" * 20000, "--x F: is not TOML: nested too deeply; write it"),
        (b"a = " + b"9" * 5000, "--x F: is not TOML: "),
        (b"[a", "--x F: is not TOML: "),
    ],
)
def test_what_is_wrong_is_one_line(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(UserError) as caught:
        read_toml(tmp_path / "f", "write it", "--x F")
    assert str(caught.value).startswith(message)
    assert caught.value.code == EXIT_BAD_INPUT


def test_a_name_that_is_none_is_one_line() -> None:
    for name in ("/no/such", "a\0b", "x" * 5000):
        with pytest.raises(UserError):
            read_text(Path(name), "name a file")


def test_documents_nested_too_deeply_are_wrong_values() -> None:
    for parse, text in ((parse_json, "[" * 100_000), (parse_toml, "a=" + "[" * 20_000)):
        with pytest.raises(ValueError, match="nested too deeply"):
            parse(text)
