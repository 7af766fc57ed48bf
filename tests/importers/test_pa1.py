# SPDX-License-Identifier: Apache-2.0
"""Tables of a course report: mistakes in a file, and rules that must stay silent where all is well."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.importers import read
from ullage.importers.pa1 import read_all, recognises
from ullage.model.summary import Summary

CPU = "precision,threads,measured_gops,hpl_gflops,theoretical_gops,efficiency_pct,hpl_efficiency_pct"
DISK = "workload,threads,block,measured_mb_s,iozone_mb_s,theoretical_mb_s,efficiency_pct,iozone_efficiency_pct"
IOPS = "workload,threads,block,measured_iops,iozone_iops,theoretical_iops"
TIMES = "workload,threads,block,measured_ms,iozone_ms,theoretical_ms,efficiency_pct"


def _read(**tables: list[str]) -> Summary:
    return read_all({f"{name}.csv": "\n".join(lines) + "\n" for name, lines in tables.items()})


def test_tables_are_known_by_their_columns() -> None:
    assert all(recognises(f"{head}\n") for head in (CPU, DISK, IOPS, TIMES))
    assert not recognises("target,access,ranks,block_bytes,bandwidth_mb_per_s\n")
    assert not recognises("")


def test_an_honest_table_has_no_flag_and_no_finding() -> None:
    summary = _read(
        disk=[DISK, "RS,1,1MB,300,N/A,540,55.5,N/A", "RS,2,1MB,400,450,540,74.1,83.3"],
        iops=[IOPS, "RR,1,4KB,10000,9000,93000", "RR,8,4KB,80000,70000,93000"],
        times=[TIMES, "RR,1,4KB,0.1,0.11,0.05,50", "RR,8,4KB,0.1,0.114,0.05,50"],
    )
    assert {flag for row in summary.rows for flag in row.flag_codes} == {"interval-below-95"}
    assert summary.findings == []
    assert summary.rows[0].peer is None


def test_the_law_allows_what_a_closed_loop_keeps_under_way() -> None:
    tables = {"iops": [IOPS, "RR,8,4KB,80000,70000,93000"], "times": [TIMES, "RR,8,4KB,0.12,0.114,0.05,41.7"]}
    flags = {row.params["table"]: row.flag_codes for row in _read(**tables).rows}
    assert all("INVALID:littles-law" in found for found in flags.values())
    # Without the other table there is nothing to hold against.
    assert "INVALID:littles-law" not in _read(iops=tables["iops"]).rows[0].flag_codes


def test_a_theory_that_follows_the_instructions_is_left_alone() -> None:
    lines = [CPU, "QP,2,100,N/A,294,34,N/A", "DP,2,20,60,73.5,27,82"]
    assert {flag for row in _read(cpu=lines).rows for flag in row.flag_codes} == {"interval-below-95"}


@pytest.mark.parametrize(
    ("line", "place", "right"),
    [
        ("RS,0,1MB,1,1,1,1,1", "disk.csv:2, threads", "whole number"),
        ("RS,many,1MB,1,1,1,1,1", "disk.csv:2, threads", "whole number"),
        ("RS,1,1 mile,1,1,1,1,1", "disk.csv:2, block", "10MB"),
        ("RS,1,1MB,fast,1,1,1,1", "disk.csv:2, measured_mb_s", "540.5"),
        ("RS,1,1MB,nan,1,1,1,1", "disk.csv:2, measured_mb_s", "540.5"),
        ("RS,1,1MB,1,-1,1,1,1", "disk.csv:2, iozone_mb_s", "540.5"),
        ("RS,1,1MB,1,1,0,1,1", "disk.csv:2, theoretical_mb_s", "540.5"),
        ("<b>,1,1MB,1,1,1,1,1", "disk.csv:2, workload", "RS"),
        ("RS,1,1MB,1,1,1", "disk.csv:2", "each column"),
        ("RS,1,1MB,1,1,1,1,1,1", "disk.csv:2", "each column"),
        ('RS,1,1MB,"1,1,1,1,1', "disk.csv", "close each quote"),
    ],
)
def test_mistakes_are_named_with_their_place(line: str, place: str, right: str) -> None:
    with pytest.raises(UserError) as found:
        _read(disk=[DISK, line])
    assert place in str(found.value)
    assert right in str(found.value)


def test_files_that_do_not_belong_together(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("target,access,ranks,block_bytes,bandwidth_mb_per_s\nx,read,1,8,1.5\n")
    rows = read([tmp_path / "a.csv", tmp_path / "b.csv"]).rows
    assert [row.params["file"] for row in rows] == ["a.csv", "b.csv"]
    with pytest.raises(UserError, match="same name"):
        read([tmp_path / "a.csv", tmp_path / "a.csv"])
    (tmp_path / "c.csv").write_text(f"{CPU}\nQP,1,1,N/A,10,10,N/A\n")
    with pytest.raises(UserError, match=r"b\.csv:1"):
        read([tmp_path / "c.csv", tmp_path / "b.csv"])
