# SPDX-License-Identifier: Apache-2.0
"""Bounds that the same parts showed: which rows give them, where they stand, and that they make nothing INVALID."""

import pytest

from support.make_records import make_row
from ullage.analysis.ceilings.measured import Bound, with_measured
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.model.flags import INVALID_ABOVE_CEILING, Flag
from ullage.model.summary import Ceiling, Row

COPY = Bound(
    metric="bandwidth",
    bounds=lambda row: row.access == "write",
    gives=lambda row: row.access == "read",
    key=lambda row: row.count("block_bytes"),
    source=lambda row: f"reads from {row.target}",
    why="Nothing is written faster than it is read here.",
)


def bounded(row: Row, *giving: Row) -> Row:
    """``row`` under what ``giving`` show."""
    return with_measured([row, *giving], [COPY], "2026-01-01T00:00:00Z")[0]


def test_the_best_repetition_of_the_same_bytes_bounds_a_row_and_says_why() -> None:
    found = bounded(
        make_row([50, 51, 49]), make_row([98, 100, 99], access="read"), make_row([400] * 3, access="read", block=2)
    )
    assert found.ceiling == Ceiling(
        value=100, kind="measured", source="reads from disk", why=COPY.why, at="2026-01-01T00:00:00Z"
    )
    assert found.share == pytest.approx(0.5)


@pytest.mark.parametrize(
    "giving",
    [
        {"grade": "C"},
        {"verdict": "warm"},
        {"flags": [Flag(code="INVALID:littles-law", reason="")]},
        {"grade": "?", "flags": [Flag(code="dirty-used:1", reason="")]},
        {"value": [100, 100]},
    ],
)
def test_what_was_disturbed_cached_or_measured_too_rarely_bounds_nothing(giving: dict[str, object]) -> None:
    value = giving.pop("value", [100, 100, 100])
    assert bounded(make_row([50, 51, 49]), make_row(value, access="read", **giving)).ceiling is None  # type: ignore[arg-type]


def test_where_some_repetitions_were_disturbed_as_many_of_the_best_count_for_nothing() -> None:
    giving = make_row([99, 104, 98, 100, 101], access="read", grade="?", flags=[Flag(code="dirty-used:2", reason="")])
    ceiling = bounded(make_row([50, 51, 49]), giving).ceiling
    assert ceiling is not None
    assert ceiling.value == 100


def test_a_row_above_the_bound_is_not_invalid_and_says_that_the_bound_was_too_low() -> None:
    found = bounded(make_row([103, 103, 103]), make_row([100] * 3, access="read"))
    assert found.ceiling is None
    assert found.share is None
    assert not found.is_invalid
    assert "measure it again" in found.notes[0]
    just = bounded(make_row([101, 101, 101]), make_row([100] * 3, access="read"))
    assert just.share == pytest.approx(1.01)
    assert not just.has_flag(INVALID_ABOVE_CEILING)


@pytest.mark.parametrize(("known", "kind"), [(90.0, "declared"), (200.0, "measured")])
def test_the_lower_of_a_declared_and_a_measured_bound_stands(known: float, kind: str) -> None:
    row = with_ceiling(make_row([50, 51, 49]), Ceiling(value=known, kind="declared", source="--ceiling"))
    found = bounded(row, make_row([100] * 3, access="read"))
    assert found.ceiling is not None
    assert found.ceiling.kind == kind
    assert (kind == "declared") == (not found.notes)


def test_a_bound_takes_the_place_of_the_best_of_a_run() -> None:
    best = Ceiling(value=51, kind="empirical", source="the best of this run")
    found = bounded(with_ceiling(make_row([50, 51, 49]), best), make_row([100] * 3, access="read"))
    assert found.ceiling is not None
    assert found.ceiling.kind == "measured"


def test_a_time_is_bounded_from_below_by_the_shortest() -> None:
    times = {"better": "less", "unit": "s"}
    found = bounded(make_row([4.0, 4.1, 3.9], **times), make_row([2.0, 1.0, 2.0], access="read", **times))
    assert found.ceiling is not None
    assert found.ceiling.value == 1.0
    assert found.share == pytest.approx(0.25)


def test_a_declared_ceiling_stays_where_the_bound_is_too_low() -> None:
    row = with_ceiling(make_row([103] * 3), Ceiling(value=200, kind="declared", source="--ceiling"))
    found = bounded(row, make_row([100] * 3, access="read"))
    assert found.ceiling is not None
    assert found.ceiling.kind == "declared"
    assert found.share == pytest.approx(0.515)
    assert "measure it again" in found.notes[0]
