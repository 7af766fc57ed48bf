# SPDX-License-Identifier: Apache-2.0
"""Result lines of pmbw become rows of bandwidth, and of access time where pmbw chases."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.importers import read
from ullage.importers.memory_tools import read_pmbw, recognises

KIB, GIB = 1 << 10, 1 << 30


def line(function: str = "ScanRead256PtrUnrollLoop", threads: int = 1, area: int = GIB, **words: object) -> str:
    said = {
        "datetime": "2016-03-01 10:00:00",
        "host": "n01",
        "version": "0.6.2",
        "funcname": function,
        "nthreads": threads,
        "areasize": area,
        "threadsize": area // max(threads, 1),
        "testsize": area,
        "repeats": 20,
        "testvol": 20 * area,
        "testaccess": 20 * area // 8,
        "time": 1.5,
        "bandwidth": 14.7e9,
        "rate": 2.5e-10,
        **words,
    }
    return "\t".join(["RESULT", *(f"{key}={value}" for key, value in said.items())])


def test_a_line_becomes_a_row_of_bandwidth() -> None:
    (row,) = read_pmbw(f"Running pmbw\n{line(threads=2)}\n", "stats.txt").rows
    assert (row.target, row.metric, row.unit, row.median) == ("n01", "memory_bandwidth", "B/s", 14.7e9)
    assert row.params == {"access": "ScanRead256PtrUnrollLoop", "threads": 2, "working_set_bytes": GIB}
    assert row.verdict == "unknown(imported)"
    assert row.grade is None


def test_a_chase_has_the_time_of_one_access_whatever_the_threads() -> None:
    rows = read_pmbw(line("PermRead64SimpleLoop", threads=2, rate=60e-9), "s").rows
    (time,) = [row for row in rows if row.metric == "access_time"]
    assert (time.unit, time.better) == ("s", "less")
    assert time.median == pytest.approx(120e-9), "pmbw's rate falls with threads, a load's time does not"
    assert time.flag_codes == ["interval-below-95"]


def test_a_chase_whose_passes_overlap_is_flagged() -> None:
    rows = read_pmbw(line("PermRead64SimpleLoop", area=KIB), "s").rows
    flags = {row.metric: row.flag_codes for row in rows}
    assert flags["access_time"] == ["passes-overlap", "interval-below-95"]
    assert flags["memory_bandwidth"] == ["interval-below-95"]


def test_rounds_are_repetitions() -> None:
    text = "\n".join(line(bandwidth=value) for value in (1e9, 3e9, 2e9))
    (row,) = read_pmbw(text, "s").rows
    assert row.repetitions == [1e9, 3e9, 2e9]
    assert (row.median, row.low, row.high) == (2e9, 1e9, 3e9)


def test_both_spellings_of_the_function_are_read() -> None:
    (row,) = read_pmbw(line().replace("funcname=", "funname="), "s").rows
    assert row.params["access"] == "ScanRead256PtrUnrollLoop"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "s: contains no result of pmbw"),
        (line(funcname=""), "s:1: names no function"),
        (f"\n{line(nthreads='two')}", "s:2: 'two' is not a value of nthreads"),
        (line(threads=0), "s:1: '0' is not a value of nthreads"),
        (line(bandwidth="nan"), "s:1: 'nan' is not a value of bandwidth"),
        (line(bandwidth="-1"), "s:1: '-1' is not a value of bandwidth"),
        (line("PermRead64SimpleLoop", rate="1_0"), "s:1: '1_0' is not a value of rate"),
        ("RESULT\tnthreads=1", "s:1: names no function"),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        read_pmbw(text, "s")
    assert str(caught.value).startswith(message)


def test_it_is_recognised_by_its_content_and_in_its_folder(tmp_path: Path) -> None:
    assert recognises(line())
    assert not recognises("RESULT of something else")
    (tmp_path / "stats.txt").write_text(line())
    assert len(read(tmp_path).rows) == 1
