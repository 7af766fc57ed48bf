# SPDX-License-Identifier: Apache-2.0
"""Hint files: the original grammar, the same in TOML, and what each case is given."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.suites.b_eff_io.hints import HintLine, HintSet, hints_for, parse_hints, read_hint_sets
from ullage.suites.b_eff_io.patterns import ACCESSES, TYPES

GOLDEN = Path(__file__).parents[2] / "golden"
PARTITIONS = [4, 16, 64]
SMALL = ("1024", "1032", "32768", "32776")
LARGE = ("Lmax", "1048576", "1048584")


def read(path: Path) -> HintSet:
    (found,) = read_hint_sets([str(path)], PARTITIONS)
    return found


def of_chunk(hints: dict[str, str], chunk: str) -> dict[str, str]:
    return {key.removeprefix(f"{chunk}/"): value for key, value in hints.items() if key.startswith(f"{chunk}/")}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_every_line_of_the_first_published_file_is_read() -> None:
    found = read(GOLDEN / "b_eff_io_hints_frost_1.txt")
    assert found.name == "b_eff_io_hints_frost_1"
    assert len(found.lines) == 17
    assert found.lines[0] == HintLine(key="IBM_largeblock_io", value="true")
    assert found.lines[-1] == HintLine(type="shared", chunk="32776", key="IBM_io_buffer_size", value="32MB")
    for access in ACCESSES:
        for kind in ("scatter", "shared"):
            hints = hints_for(found.lines, 64, access, kind)
            assert of_chunk(hints, "on_open") == {"IBM_largeblock_io": "true"}
            for chunk in SMALL:
                small = {"IBM_largeblock_io": "false", "IBM_io_buffer_size": "32MB"}
                assert of_chunk(hints, chunk) == small
            assert all(of_chunk(hints, chunk) == {"IBM_largeblock_io": "true"} for chunk in LARGE)
        separated = hints_for(found.lines, 64, access, "separated")
        assert separated == {f"{chunk}/IBM_largeblock_io": "true" for chunk in ("on_open", *SMALL, *LARGE)}


def test_every_line_of_the_second_published_file_is_read() -> None:
    found = read(GOLDEN / "b_eff_io_hints_frost_2.txt")
    assert len(found.lines) == 19
    hints = hints_for(found.lines, 4, "rewrite", "shared")
    assert of_chunk(hints, "on_open") == {"IBM_largeblock_io": "switchable", "IBM.io_buffer_size": "switchable"}
    assert of_chunk(hints, "1032") == {"IBM_largeblock_io": "false", "IBM.io_buffer_size": "2MB"}
    assert of_chunk(hints, "Lmax") == {"IBM_largeblock_io": "true"}


def test_the_same_in_toml(tmp_path: Path) -> None:
    text = """
    name = "frost, 32 MB"

    [[hints]]
    set = { IBM_largeblock_io = true }

    [[hints]]
    type = ["scatter", "shared"]
    chunk = [1024, 1032, 32768, 32776]
    set = { IBM_largeblock_io = false, IBM_io_buffer_size = "32MB" }
    """
    found = read(written(tmp_path, "frost.toml", text))
    original = read(GOLDEN / "b_eff_io_hints_frost_1.txt")
    assert found.name == "frost, 32 MB"
    for access in ACCESSES:
        for kind in TYPES:
            assert hints_for(found.lines, 64, access, kind) == hints_for(original.lines, 64, access, kind)


def test_a_line_is_for_what_its_fields_name() -> None:
    lines = parse_hints("16 read seg_coll 32768 cb_nodes 4", "f", PARTITIONS)
    assert lines == [HintLine(processes=16, access="read", type="seg_coll", chunk="32768", key="cb_nodes", value="4")]
    assert hints_for(lines, 16, "read", "seg_coll") == {"32768/cb_nodes": "4"}
    assert hints_for(lines, 4, "read", "seg_coll") == {}
    assert hints_for(lines, 16, "write", "seg_coll") == {}
    assert hints_for(lines, 16, "read", "segmented") == {}


def test_later_lines_override_earlier_ones() -> None:
    lines = ["all all all all k first", "all all all on_open k second", "all all all all k third"]
    hints = hints_for(parse_hints("\n".join(lines[:2]), "f", PARTITIONS), 4, "write", "scatter")
    assert (hints["on_open/k"], hints["Lmax/k"]) == ("second", "first")
    hints = hints_for(parse_hints("\n".join(lines), "f", PARTITIONS), 4, "write", "scatter")
    assert set(hints.values()) == {"third"}


def test_blank_lines_comments_tabs_and_values_with_blanks() -> None:
    text = "\n   \t\n# a comment\n\tall\tall  all\tLmax key a value  with blanks \t \r\n"
    assert parse_hints(text, "f", PARTITIONS) == [HintLine(chunk="Lmax", key="key", value="a value  with blanks")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("8 all all all k v", "f, line 2, processes: '8' is not a partition of this run; one of all, 4, 16, 64"),
        ("all reed all all k v", "f, line 2, access: unknown word 'reed'; did you mean 'read'?"),
        ("all READ all all k v", "f, line 2, access: unknown word 'READ'"),
        ("all all scater all k v", "f, line 2, type: unknown word 'scater'; did you mean 'scatter'?"),
        ("all all all 1000 k v", "f, line 2, chunk: unknown word '1000'; one of on_open, all, Lmax, 1024"),
        ("all all all 1M k v", "f, line 2, chunk: unknown word '1M'"),
        ("all all all all k", "f, line 2: lacks value; write PROCESSES ACCESS TYPE CHUNK KEY VALUE"),
        ("all all", "f, line 2: lacks type and chunk and key and value"),
        ("  # indented", "a comment begins in the first column"),
        ("all all all all k " + "v" * 2000, "f, line 2: has 2,018 characters; write at most 2,000"),
    ],
)
def test_a_mistake_is_named_with_its_line_and_field(line: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse_hints(f"# first\n{line}\n", "f", PARTITIONS)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[hints]]\nset = {}", "line 2, set: says no hint; write set = { KEY = VALUE }"),
        ("[[hints]]\nkey = 1", "line 2: unknown key 'key'; one of processes, access, type, chunk, set; hints stand in"),
        ("[[hints]]\nset = {a = 1}\n[[hints]]\ntype = 'scater'\nset = {a = 1}", "line 4, type: unknown word 'scater'"),
        ("[[hints]]\nchunk = [1024, 7]\nset = {a = 1}", "line 2, chunk: unknown word '7'"),
        ("[[hints]]\nprocesses = 5\nset = {a = 1}", "line 2, processes: '5' is not a partition of this run"),
        ("[[hints]]\naccess = []\nset = {a = 1}", "line 2, access: is an empty list; leave it out for all"),
        ("[[hints]]\nset = {a = 1.5}", "'a' has no value that a hint can have; text, a whole number, true or false"),
        ("[[hints]]\nset = {a = [1]}", "'a' has no value that a hint can have"),
        ("[[hint]]\nset = {a = 1}", "line 1: unknown key 'hint'; did you mean 'hints'?"),
        ("name = 'x'", "contains no hint; write tables [[hints]]"),
        ("hints = 3", "contains no hint"),
        ("name = ''\n[[hints]]\nset = {a = 1}", "line 1: is not the name of a set; 1 to 64 printable characters"),
        ("name = 3\n[[hints]]\nset = {a = 1}", "line 1: is not the name of a set"),
        ("x = \n", "line 1: is not TOML: Invalid value"),
        ("all all all all k v", "line 1: is not TOML"),
    ],
)
def test_a_mistake_in_toml_is_named_with_its_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, "h.toml", text)
    with pytest.raises(UserError) as caught:
        read(path)
    assert f"--hints {path}" in str(caught.value)
    assert message in str(caught.value)


def test_values_of_toml_become_text(tmp_path: Path) -> None:
    found = read(written(tmp_path, "h.toml", '[[hints]]\nset = { a = true, b = 7, c = "x y", "d.e" = false }\n'))
    assert {line.key: line.value for line in found.lines} == {"a": "true", "b": "7", "c": "x y", "d.e": "false"}
    found = read(written(tmp_path, "i.toml", "[[hints]]\nprocesses = [4, 16]\n[hints.set]\na = 1\n"))
    assert [line.processes for line in found.lines] == [4, 16]


def test_several_sets_stand_in_the_order_of_the_words(tmp_path: Path) -> None:
    one = written(tmp_path, "one.txt", "all all all all k 1\n")
    two = written(tmp_path, "two.txt", "all all all all k 2\n")
    found = read_hint_sets([str(one), "default", str(two)], PARTITIONS)
    assert [hints.name for hints in found] == ["one", "default", "two"]
    assert [hints.name for hints in read_hint_sets([], PARTITIONS)] == ["default"]
    with pytest.raises(UserError, match="two sets of hints are called 'one'"):
        read_hint_sets([str(one), str(one)], PARTITIONS)


def test_what_is_no_file_of_hints_is_refused(tmp_path: Path) -> None:
    for name, data, message in (
        ("a.txt", b"\xff\xfe", "is not UTF-8 text"),
        ("b.txt", b"# only this\n", "contains no hint; --hints default measures without hints"),
    ):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(UserError, match=message):
            read(tmp_path / name)
    with pytest.raises(UserError, match="Is a directory"):
        read(tmp_path)
