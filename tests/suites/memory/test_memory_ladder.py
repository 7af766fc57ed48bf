# SPDX-License-Identifier: Apache-2.0
"""Bounds and ladder of memory, from records of known rates."""

import math

import pytest

from suites.memory.conftest import CACHES, KIB, MIB, chase, launch, stream
from support.make_records import make_row
from ullage.model.summary import Ladder, Row, Summary
from ullage.results.records import AnyRecord
from ullage.results.rows import RowContext
from ullage.runs.explained import explained
from ullage.suites.memory.rows import memory_rows, with_ceilings

SIZE = 128 * MIB


def summary_of(*cases: list[AnyRecord], more: tuple[Row, ...] = ()) -> Summary:
    rows = with_ceilings(memory_rows([launch(*cases)], RowContext(), CACHES), None)
    return explained(Summary(suite="memory", run_id="r", created="2026-11-27T10:00:00", rows=[*rows, *more]))


def ladder_of(*cases: list[AnyRecord]) -> Ladder:
    (ladder,) = summary_of(*cases).ladders
    product = math.prod(rung.factor for rung in [*ladder.rungs, ladder.unexplained])
    assert product == pytest.approx(ladder.share)
    return ladder


def test_the_kind_of_access_is_told_by_bytes_on_the_bus() -> None:
    ladder = ladder_of(
        stream("read", SIZE, 40e9, threads=2), stream("triad", SIZE, 24e9, bus=32e9, threads=2, stores="ordinary")
    )
    assert (ladder.ceiling.kind, ladder.share) == ("measured", pytest.approx(0.8))
    (rung,) = ladder.rungs
    assert (rung.kind, rung.factor, rung.may_rank) == ("access", pytest.approx(0.8), False)
    assert ladder.unexplained.factor == pytest.approx(1)


def test_small_pages_are_named_and_rank_with_their_command() -> None:
    triad = {"threads": 2, "stores": "ordinary"}
    summary = summary_of(
        stream("read", SIZE, 40e9, threads=2),
        stream("triad", SIZE, 15e9, bus=20e9, **triad),
        stream("triad", SIZE, 30e9, bus=40e9, pages="huge", **triad),
    )
    (ladder,) = summary.ladders
    assert "pages" not in summary.rows[ladder.row].params
    rung = next(rung for rung in ladder.rungs if rung.kind == "pages")
    assert (rung.factor, rung.is_sure) == (pytest.approx(0.5), True)
    (finding,) = [one for one in summary.findings if one.kind == "rung"]
    assert finding.change.startswith("GLIBC_TUNABLES")


def test_one_thread_is_bounded_by_the_lines_that_it_has_in_flight() -> None:
    rows = summary_of(stream("read", SIZE, 10e9), chase(SIZE, 4e-9, chains=16)).rows
    (read,) = [row for row in rows if row.metric == "memory_bandwidth"]
    assert read.ceiling is not None
    assert read.ceiling.value == pytest.approx(64 / 4e-9)
    assert read.ceiling.source == "16 lines in flight x 64 B / 4.00 ns"


def test_a_cache_is_bounded_by_its_bytes_a_cycle_at_the_clock_that_was_measured() -> None:
    clock = make_row([3e9, 3e9, 3e9], metric="clock", unit="Hz", params={"isa": "scalar", "threads": 1}, target="cpu")
    rows = summary_of(stream("read", 16 * KIB, 192e9), more=(clock,)).rows
    (read,) = [row for row in rows if row.metric == "memory_bandwidth"]
    assert read.ceiling is not None
    assert (read.ceiling.value, read.share) == (pytest.approx(384e9), pytest.approx(0.5))
    assert read.ceiling.source == "1 thread x 128 B a cycle x measured clock"
    assert read.ceiling.at == "2026-11-27T10:00:00"


def test_a_load_is_bounded_by_the_soonest_load_and_by_no_rate() -> None:
    cases = (chase(SIZE, 1e-7, pages="huge"), chase(SIZE, 2e-7, pages="default"), stream("read", SIZE, 10e9))
    found = [row for row in summary_of(*cases).rows if row.metric == "access_time"]
    by_pages = {row.word("pages"): row for row in found}
    assert by_pages["default"].share == pytest.approx(0.5)
    assert by_pages["huge"].share == pytest.approx(1)
