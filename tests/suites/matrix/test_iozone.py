# SPDX-License-Identifier: Apache-2.0
"""IOzone's text tables: sizes in KiB, a label for each test, and every mistake with its line."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.importers import read
from ullage.report.data import ReportData
from ullage.suites.matrix.importer import read_tables, recognises
from ullage.suites.matrix.report import tables
from ullage.suites.matrix.suite import LABELS

TEXT = """\
\tIozone: Performance Test of File I/O
\t        Version $Revision: 3.489 $
\tExcel chart generation enabled
\tOutput is in kBytes/sec
Excel output is below:

"Writer report"
        "4"  "8"  "64"
"64"   529017  632834  700000
"16384"   0  0  1234567

"Re-Reader report"
        "4"  "8"  "64"
"64"   1000000  2000000.5
"""
KIB = 1 << 10


def test_every_number_above_0_is_a_row() -> None:
    rows = read_tables(TEXT, "t.txt").rows
    found = [(row.params["test"], row.params["file_bytes"], row.params["block_bytes"], row.median) for row in rows]
    assert found == [
        ("write", 64 * KIB, 4 * KIB, 529017 * KIB),
        ("write", 64 * KIB, 8 * KIB, 632834 * KIB),
        ("write", 64 * KIB, 64 * KIB, 700000 * KIB),
        ("write", 16384 * KIB, 64 * KIB, 1234567 * KIB),
        ("reread", 64 * KIB, 4 * KIB, 1000000 * KIB),
        ("reread", 64 * KIB, 8 * KIB, 2000000.5 * KIB),
    ]
    assert {(row.verdict, row.low, row.grade) for row in rows} == {("unknown(imported)", None, None)}
    assert {(row.params["iozone"], row.params["access"]) for row in rows} == {(0, "write"), (1, "reread")}


def test_all_of_iozones_tables_are_known() -> None:
    titles = [
        "Writer", "Re-writer", "Reader", "Re-Reader", "Random read", "Random write", "Backward read",
        "Record rewrite", "Stride read", "Fwrite", "Re-Fwrite", "Fread", "Re-Fread", "Pwrite", "Re-pwrite", "Pread",
        "Re-pread", "Pwritev", "Re-pwritev", "Preadv", "Re-preadv",
    ]  # fmt: skip
    text = "\n".join(f'"{title} report"\n  "4"\n"64" {index + 1}\n' for index, title in enumerate(titles))
    labels = [row.params["test"] for row in read_tables(text, "t.txt").rows]
    assert sorted(map(str, labels)) == sorted(set(LABELS) - {"random mix"})


def test_a_file_is_recognised_by_its_content_and_shown_as_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "anything.txt"
    path.write_text(TEXT)
    assert recognises(TEXT)
    assert not recognises("target,access\nnvme,report\n")
    content = tables(ReportData(read(path)))
    assert content is not None
    assert [row[0].text for row in content.grids[0].rows] == ["write", "reread"]
    assert content.notes == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Reader report"\n"4"\n', "t.txt: contains no number above 0"),
        ('"Mmap report"\n"4"\n', "t.txt:1: unknown table 'Mmap report'"),
        ('"Reader report"\n4 8\n', "t.txt:2: is not a line of record sizes"),
        ('"Reader report"\n"4"\n"64" 1 2\n', "t.txt:3: has 2 numbers below 1 record sizes"),
        ('"Reader report"\n"4"\n64 1\n', "t.txt:3: is not a line of a table"),
        ('"Reader report"\n"4"\n"64" fast\n', "t.txt:3, column 1: 'fast' is not a number"),
        ('"Reader report"\n"4"\n"64" -1\n', "t.txt:3, column 1: '-1' is not a number"),
        ('"Reader report"\n"0"\n', "t.txt:2: '0' is not a size in KiB"),
        ('"Reader report"\n"4"\n"64" 1\n"64" 2\n', "t.txt:4: is given twice"),
        ("\tMicroseconds/op Mode. Output is in microseconds per operation.\n", "t.txt:1: counts no bytes per second"),
        ("\tOPS Mode. Output is in operations per second.\n", "t.txt:1: counts no bytes per second"),
    ],
)
def test_a_mistake_is_named_with_its_line(text: str, expected: str) -> None:
    with pytest.raises(UserError) as caught:
        read_tables(text, "t.txt")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


PLAIN = """\
\tCommand line used: ./iozone -a -r 1k -s 4m
\tOutput is in kBytes/sec
\tFile stride size set to 17 * record size.
                                                    random    random      bkwd     record     stride
     kB  reclen    write    rewrite      read    reread      read     write      read    rewrite       read    fwrite  frewrite     fread   freread
   4096       1     14065     24650     24306     24074      9972      9793     16588      10777      15387     22397     23525     14663     13678
  16384      64     24065     34650     34306     34074

iozone test complete.
"""  # noqa: E501


def plain(text: str) -> dict[str, float]:
    return {str(row.params["test"]): row.median / KIB for row in read_tables(text, "t.txt").rows}


def test_the_plain_table_has_a_column_for_each_test() -> None:
    assert recognises(PLAIN)
    rows = read_tables(PLAIN, "t.txt").rows
    assert len(rows) == 13 + 4
    first = {str(row.params["test"]): row.median / KIB for row in rows if row.params["file_bytes"] == 4096 * KIB}
    assert [first[name] for name in ("write", "reread", "random read", "random write", "backward read")] == [
        14065, 24074, 9972, 9793, 16588]  # fmt: skip
    assert [first[name] for name in ("record rewrite", "stride read", "refwrite", "refread")] == [
        10777, 15387, 23525, 13678]  # fmt: skip
    assert {row.params["block_bytes"] for row in rows} == {KIB, 64 * KIB}


@pytest.mark.parametrize(
    ("head", "labels"),
    [
        ("  random  random\n  kB  reclen  write rewrite read reread read write\n", ["random read", "random write"]),
        ("  random  random\n  KB  reclen  write rewrite read write\n", ["random read", "random write"]),
        ("  File stride size set to 17 * record size.\n  kB reclen write rewrite\n", ["write", "rewrite"]),
        ("\n  kB reclen write rewrite fwrite frewrite\n", ["fwrite", "refwrite"]),
    ],
)
def test_columns_are_those_of_the_tests_that_were_run(head: str, labels: list[str]) -> None:
    count = len(head.splitlines()[1].split()) - 2
    numbers = "  ".join(str(100 + index) for index in range(count))
    assert list(plain(f"{head}  64  4  {numbers}\n"))[-len(labels) :] == labels


IMPORTS = Path(__file__).parents[2] / "golden" / "results" / "imports"


def test_a_real_table_of_all_tests_is_read_whole() -> None:
    rows = read(IMPORTS / "iozone_auto.txt").rows
    assert len(rows) == 15 * 13
    found = {(row.params["test"], row.params["file_bytes"], row.params["block_bytes"]): row.median for row in rows}
    assert found["refread", 16 << 20, 4 << 10] == 3824589 * KIB
    assert found["record rewrite", 32 << 20, 8 << 20] == 282331 * KIB


def test_blank_columns_of_a_real_table_are_known_by_their_place() -> None:
    text = (IMPORTS / "iozone_some_tests.txt").read_text()
    expected = {"write": 314600, "rewrite": 325053, "random read": 374715, "random write": 325762}
    assert plain(text) == expected
    wider = text.replace(
        "  314600   325053                     374715   325762", "   314600    325053" + " " * 24 + "374715    325762"
    )
    assert plain(wider) == expected, "releases from 3.50 on have wider columns"


def test_numbers_that_could_be_of_several_tests_are_refused() -> None:
    left_out = PLAIN.replace("  16384      64     24065     34650     34306     34074", f"  64  4  1  2{' ' * 30}3  4")
    with pytest.raises(UserError, match=r"t.txt:7: has 4 numbers below 13 tests; run iozone with -R"):
        read_tables(left_out, "t.txt")
    with pytest.raises(UserError, match=r"t.txt:1: is not the head of a table"):
        read_tables("  kB reclen  read write rewrite strange\n 64 4 1\n", "t.txt")
    with pytest.raises(UserError, match="counts no bytes"):
        read_tables(PLAIN.replace("Output is in kBytes/sec", "Output is in microseconds per operation."), "t.txt")


def test_an_output_in_both_forms_gives_each_number_once() -> None:
    assert len(read_tables(PLAIN + TEXT, "t.txt").rows) == len(read_tables(TEXT, "t.txt").rows)


def test_the_form_without_a_head_and_with_commas(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("64,4,1,2,3,4,5,6,7,8,9,10,11,12,13\n128,4,1,2,3,4,5,6,7,8,9,10,11,12,13\n")
    rows = read(path).rows
    assert [row.median for row in rows[:13]] == [1024 * value for value in range(1, 14)]
    assert [row.params["test"] for row in rows[:4]] == ["write", "rewrite", "read", "reread"]
    assert not recognises("64,5,1,2,3,4,5,6,7,8,9,10,11,12,13\n")
    assert not recognises("a,b\n64,4,1,2,3,4,5,6,7,8,9,10,11,12,13\n")
