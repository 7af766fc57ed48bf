# SPDX-License-Identifier: Apache-2.0
"""What changed in a campaign, since when, and what changed with it."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

import ullage
from support.campaign_world import LEVELS, START, stored_summaries, write_run
from support.data import some
from ullage.campaign.series import EACH, Selection, differing, read_series, told_changes
from ullage.campaign.store import keep
from ullage.cli.app import run
from ullage.errors import UserError


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_summaries(monkeypatch)


@pytest.fixture
def upgraded(tmp_path: Path) -> Path:
    """A campaign of 30 weeks, in which triad is 10 % slower since the upgrade in week 20; one week is disturbed."""
    for number in range(30):
        is_new = number >= 20
        result = write_run(
            tmp_path / "results",
            number,
            factor={"triad": 0.9 if is_new else 1.0},
            kernel="6.11.0" if is_new else "6.8.0",
            grade="C" if number == 7 else "A",
        )
        keep(result, tmp_path / "c")
    return tmp_path / "c"


def test_a_change_is_told_with_its_date_its_size_and_what_changed_with_it(upgraded: Path) -> None:
    series = read_series(Selection(upgraded))
    assert [(len(one.values), one.unsound) for one in series] == [(29, 1)] * len(LEVELS)
    ((one, change, sentence),) = told_changes(upgraded, series)
    assert "triad" in one.title
    since = one.times[change.at] - START.replace(tzinfo=None)
    assert abs(since - timedelta(weeks=20)) <= timedelta(weeks=1)
    assert change.low < 0.9 < change.high
    assert "worse since 2026-05-" in sentence
    assert "(kernel 6.8.0 -> 6.11.0)" in sentence
    assert len(one.trend) == 24


def test_a_slow_node_shows_by_itself_and_not_in_the_median_of_all(tmp_path: Path) -> None:
    for number in range(20):
        for node in ("n1", "n2", "n3", "n4"):
            slow = {"copy": 0.8} if node == "n3" and number >= 10 else {}
            keep(write_run(tmp_path / "results", number, node=node, factor=slow), tmp_path / "c")
    usual = read_series(Selection(tmp_path / "c"))
    assert {(one.node, len(one.values)) for one in usual} == {("median of the nodes", 20)}
    assert told_changes(tmp_path / "c", usual) == []
    ((one, change, _),) = told_changes(tmp_path / "c", read_series(Selection(tmp_path / "c", node=EACH)))
    assert (one.node, change.at) == ("n3.site", 10)
    alone = read_series(Selection(tmp_path / "c", "memory", "n3.site", "2026-02-02"))
    assert {len(one.values) for one in alone} == {16}


def test_a_selection_is_a_part_a_metric_or_the_beginning_of_an_id(upgraded: Path) -> None:
    every = read_series(Selection(upgraded))
    assert read_series(Selection(upgraded, "memory_bandwidth")) == every
    assert read_series(Selection(upgraded, every[2].id[:12])) == [every[2]]
    assert read_series(Selection(upgraded, "disk")) == []
    frame = ullage.history(upgraded, "memory", since="2026-05-01")
    assert len(frame) == 13 * len(LEVELS)
    assert set(some(frame["versions"].iloc[-1])) >= {"kernel", "mpi"}


def test_a_time_that_is_no_date_is_refused(upgraded: Path) -> None:
    with pytest.raises(UserError, match="spring"):
        read_series(Selection(upgraded, since="spring"))


def test_what_is_gone_or_new_differs_too() -> None:
    assert differing({"a": "1", "b": "2"}, {"a": "1", "c": "3"}) == ["b 2 -> none", "c none -> 3"]


def test_the_page_has_a_picture_of_each_number_and_the_changed_one_first(upgraded: Path, tmp_path: Path) -> None:
    page = tmp_path / "history.html"
    assert run(["history", "--campaign", str(upgraded), "--page", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    pictures = re.findall(r"<figure>.*?</figure>", text, re.DOTALL)
    assert len(pictures) == len(LEVELS)
    marked = ["var(--amber)" in one for one in pictures]
    assert marked == [True] + [False] * (len(LEVELS) - 1)
    assert "triad" in pictures[0]
    assert "kernel 6.8.0 -&gt; 6.11.0" in pictures[0]
    assert "Worse since 2026-05-" in pictures[0]
    assert all(one.count("<circle") == 29 for one in some(pictures))
    places = [float(place) for place in re.findall(r'c[xy]="([\d.-]+)"', text)]
    assert all(0 < place < 320 for place in some(places))
    assert "<script" not in text
    kept = page.read_bytes()
    assert run(["history", "--campaign", str(upgraded), "--page", str(tmp_path / "no" / "h.html")]) == 2
    assert page.read_bytes() == kept


def test_a_page_of_single_values_has_no_division_by_nothing(tmp_path: Path) -> None:
    keep(write_run(tmp_path / "results", 0), tmp_path / "c")
    page = tmp_path / "history.html"
    assert run(["history", "--campaign", str(tmp_path / "c"), "--page", str(page)]) == 0
    assert page.read_text(encoding="utf-8").count("<circle") == len(LEVELS)
