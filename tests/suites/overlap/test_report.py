# SPDX-License-Identifier: Apache-2.0
"""The sentences, tables and charts of suite ``overlap``."""

import pytest

from support.make_records import around, plain_row
from ullage.model.summary import Finding, Row, Summary
from ullage.report.contents import Content
from ullage.report.data import ReportData
from ullage.report.headlines import headlines
from ullage.suites.overlap.findings import BLOCKING, BOTH, COST, SHARE, START, findings_of, way_of
from ullage.suites.overlap.report import figures, tables

KIB, MIB = 1 << 10, 1 << 20
CLEAR = [1.0, 1.01, 0.99, 1.0, 1.02, 0.98, 1.0, 1.01]
UNITS = {SHARE: "of shorter", COST: "x alone", START: "of I/O", BOTH: "s", BLOCKING: "s", "overlap_gain": "x"}


def row(metric: str, value: float, size: int = MIB, depth: int = 4, way: str = "posix", **fields: object) -> Row:
    method = "threads" if way == "posix" else "nonblocking"
    params = {"access": "write", "ranks": 1, "nodes": 1, "backend": way, "method": method}
    params |= {"block_bytes": size, "depth": depth, "batches": 4, "cores_of_rank": 2}
    better = "more" if metric in (SHARE, "overlap_gain") else "less"
    own = {"metric": metric, "unit": UNITS[metric], "better": better, "verdict": "direct"}
    return plain_row(around(value), params, **{**own, **fields})


def whole() -> list[Row]:
    """Two ways at two sizes and two depths."""
    shares = {("posix", 64 * KIB): 0.3, ("posix", MIB): 0.8, ("mpiio", 64 * KIB): 0.05, ("mpiio", MIB): 0.1}
    return [
        one
        for (way, size), share in shares.items()
        for depth in (1, 4)
        for one in (
            row(SHARE, share * (1 + depth / 40), size, depth, way),
            row(COST, 1.1 if way == "posix" else 1.0, size, depth, way),
            row(START, 0.02 if way == "posix" else 0.9, size, depth, way),
            row(BOTH, 1.0 if way == "posix" else 2.0, size, depth, way),
            row(BLOCKING, 1.5 + depth / 100 if way == "posix" else 2.0, size, depth, way),
            row("overlap_gain", 1.5, size, depth, way),
        )
    ]


def only(found: list[Finding], kind: str) -> Finding:
    (one,) = [finding for finding in found if finding.kind == kind]
    return one


def test_the_share_is_told_for_each_way_with_the_size_from_which_the_half_overlaps() -> None:
    found = only(findings_of(whole(), 0.95), "overlap-share")
    assert found.title == "Up to 88 % of writes on disk overlaps with computation"
    assert "With posix helper threads, 88 % [86 %, 90 %] overlaps (1M, depth 4)." in found.text
    assert "With mpiio nonblocking calls, 11 % [11 %, 11 %] overlaps (1M, depth 4)." in found.text
    assert "More than 50 % is proved from a size on: posix helper threads from 1M (depth 1)." in found.text
    assert found.numbers["from_bytes"] == [0, MIB]


def test_a_size_in_between_that_overlaps_less_ends_the_range() -> None:
    sizes = {64 * KIB: 0.9, 256 * KIB: 0.4, MIB: 0.9, 4 * MIB: 0.9}
    found = only(findings_of([row(SHARE, share, size, 1) for size, share in sizes.items()], 0.95), "overlap-share")
    assert found.numbers["from_bytes"] == [MIB]
    few = [row(SHARE, 0.9, low=None, high=None, repetitions=[0.9])]
    assert only(findings_of(few, 0.95), "overlap-share").numbers["from_bytes"] == [0]


def test_a_gain_needs_a_comparison_that_holds() -> None:
    gain = only(findings_of(whole(), 0.95), "overlap-gain")
    assert gain.change == "--backend posix --method threads --depth 4"
    assert gain.gain is not None
    assert gain.gain.factor == pytest.approx(1.54, abs=0.01)
    noisy = [one.model_copy(update={"repetitions": [0.5, 3.0, 1.0, 2.5]}) for one in whole()]
    assert not [found for found in findings_of(noisy, 0.95) if found.kind == "overlap-gain"]


def test_the_cost_is_told_where_its_interval_lies_above_1() -> None:
    found = only(findings_of(whole(), 0.95), "overlap-cost")
    assert "Beside writes by posix helper threads the computation takes 1.10 x [1.08 x, 1.12 x] as long" in found.text
    assert "mpiio" not in found.text
    assert found.severity == "info"
    alone = [one.model_copy(update={"params": {**one.params, "cores_of_rank": 1}}) for one in whole()]
    assert "Leave each rank a second core." in only(findings_of(alone, 0.95), "overlap-cost").text
    assert not [one for one in findings_of([row(COST, 1.0)], 0.95) if one.kind == "overlap-cost"]


def test_calls_that_move_the_data_themselves_are_named() -> None:
    found = only(findings_of(whole(), 0.95), "overlap-start")
    assert "mpiio nonblocking calls 90 % (1M)" in found.text
    assert "posix" not in found.text
    for samples in ([0.9], [0.2, 0.9, 0.4, 0.95, 0.7, 0.6]):
        few = [one.model_copy(update={"repetitions": samples}) if one.metric == START else one for one in whole()]
        assert not [one for one in findings_of(few, 0.95) if one.kind == "overlap-start"]


def test_questions_are_a_way_of_their_own() -> None:
    asked = row(SHARE, 0.5, way="mpiio")
    asked = asked.model_copy(update={"params": {**asked.params, "tests": 8}})
    assert way_of(asked) == "mpiio nonblocking calls and 8 questions"


def data(rows: list[Row]) -> ReportData:
    return ReportData(Summary(suite="overlap", run_id="r", created="now", command=[], versions={}, rows=rows))


def test_tables_and_maps_have_every_size_and_depth() -> None:
    content = tables(data(whole()))
    assert isinstance(content, Content)
    (grid,) = content.grids
    assert grid.title == "disk: write"
    assert len(grid.rows) == 8
    assert content.notes[0] == "With 1 rank each rank and its helper threads have 2 cores."
    maps = figures(data(whole()))
    assert [one.title for one in maps] == [
        "disk write, mpiio nonblocking calls, 1 rank",
        "disk write, posix helper threads, 1 rank",
    ]
    assert tables(data([])) is None
    assert figures(data([row(SHARE, 0.5)])) == []


def test_the_front_page_has_the_highest_share() -> None:
    rows = whole()
    (found,) = headlines(rows)
    assert rows[found.row].median == max(one.median for one in rows if one.metric == SHARE)
    assert found.what == "disk: writes beside computation, posix helper threads"
