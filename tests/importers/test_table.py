# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.data import some
from ullage.errors import UserError
from ullage.importers import load_importers, read
from ullage.importers.table import read_table
from ullage.model.summary import Summary

HEAD = "target,access,ranks,block_bytes,bandwidth_mb_per_s"
LINE = "nvme,write,2,131072,1413.428"


def _read(*lines: str) -> Summary:
    return read_table("\n".join(lines) + "\n", "t.csv")


def test_a_line_becomes_a_row() -> None:
    (row,) = _read(HEAD, LINE).rows
    assert (row.target, row.metric, row.unit, row.better) == ("nvme", "bandwidth", "B/s", "more")
    assert row.params == {"access": "write", "ranks": 2, "block_bytes": 131072}
    assert row.median == 1413.428e6
    assert (row.low, row.high, row.grade) == (None, None, None)
    assert row.flag_codes == ["interval-below-95"]
    assert row.reasons == ["imported from t.csv, which has no counters"]


def test_columns_stand_in_any_order_with_blanks_quotes_and_empty_lines() -> None:
    (row,) = _read("ranks, bandwidth_mb_per_s ,target,block_bytes,access", "", '2,1413.428,"n,v""me",131072,write').rows
    assert (row.target, row.params["ranks"]) == ('n,v"me', 2)


def test_further_lines_of_a_cell_are_repetitions() -> None:
    (row,) = _read(HEAD, *(f"a,read,1,4096,{value}" for value in (10, 12, 11, 13, 14, 15))).rows
    assert row.repetitions == pytest.approx([10e6, 12e6, 11e6, 13e6, 14e6, 15e6])
    assert row.median == pytest.approx(12.5e6)
    assert row.low is not None
    assert row.high is not None
    assert 10e6 < row.low < 11e6
    assert 14e6 < row.high < 15e6
    assert row.flag_codes == []


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "t.csv: contains no line of numbers"),
        ([HEAD], "t.csv: contains no line of numbers"),
        (["target,access,ranks,block_bytes", LINE], "t.csv:1: no column 'bandwidth_mb_per_s'"),
        ([HEAD + ",color", LINE], "t.csv:1, column 6: unknown column 'color'"),
        ([HEAD + ",ranks", LINE], "t.csv:1, column 6: column 'ranks' is given twice"),
        ([HEAD, LINE, "nvme,write,2,131072"], "t.csv:3, column 5: has 4 values"),
        ([HEAD, LINE + ",1"], "t.csv:2, column 6: has 6 values"),
        ([HEAD, "nvme,write,two,131072,1"], "t.csv:2, column 3: 'two' is not a value of ranks"),
        ([HEAD, "nvme,write,0,131072,1"], "t.csv:2, column 3: '0' is not a value of ranks"),
        ([HEAD, "nvme,write,2,128K,1"], "t.csv:2, column 4: '128K' is not a value of block_bytes"),
        ([HEAD, "nvme,erase,2,131072,1"], "t.csv:2, column 2: 'erase' is not a value of access"),
        ([HEAD, ",write,2,131072,1"], "t.csv:2, column 1: '' is not a value of target"),
        ([HEAD, "nvme,write,2,131072,"], "t.csv:2, column 5: '' is not a value of bandwidth"),
        ([HEAD, "nvme,write,2,131072,nan"], "t.csv:2, column 5: 'nan' is not a value of bandwidth"),
        ([HEAD, "nvme,write,2,131072,-1"], "t.csv:2, column 5: '-1' is not a value of bandwidth"),
        ([HEAD, "nvme,write,2,131072,1_000"], "t.csv:2, column 5: '1_000' is not a value of bandwidth"),
        ([HEAD, "nvme,write,2,131072,1e305"], "t.csv:2, column 5: '1e305' is not a value of bandwidth"),
        ([HEAD, LINE, "", LINE], "t.csv:4: repeats a line above"),
        ([HEAD, '"nvme,write,2'], "is not CSV"),
    ],
)
def test_mistakes_are_named_with_line_and_column(lines: list[str], message: str) -> None:
    with pytest.raises(UserError) as caught:
        _read(*lines)
    assert str(caught.value).startswith(message) or message in str(caught.value)
    assert caught.value.right


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        read_table(text, "t.csv")
    except UserError as error:
        message = str(error)
    assert message == "" or message.startswith("t.csv")
    assert "\n" not in message


@given(st.lists(st.text(alphabet='nvmewrit,0123456789.e-"\n ', max_size=40), max_size=8))
def test_any_lines_below_a_header_are_read_or_refused(lines: list[str]) -> None:
    try:
        summary = _read(HEAD, *lines)
    except UserError:
        return
    assert all(row.median > 0 for row in some(summary.rows))


def test_a_file_is_recognised_by_its_content(tmp_path: Path) -> None:
    path = tmp_path / "numbers.txt"
    path.write_bytes(b"\xef\xbb\xbf" + f"{HEAD}\r\n{LINE}\r\n".encode())
    summary = read(path)
    assert (summary.suite, len(summary.rows)) == ("import", 1)
    assert "table" in load_importers()


@pytest.mark.parametrize("content", [b"", b"hello\n", b"\xff\xfe\x00", b"{}", b"a,b,c\n1,2,3\n"])
def test_files_in_no_known_form_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"no format that can be imported|not UTF-8"):
        read(path)


def test_a_missing_file_and_an_unknown_form_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        read(tmp_path / "none.csv")
    path = tmp_path / "t.csv"
    path.write_text(f"{HEAD}\n{LINE}\n")
    with pytest.raises(UserError, match=r"no such form.*table"):
        read(path, "tabel")
