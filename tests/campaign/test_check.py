# SPDX-License-Identifier: Apache-2.0
"""Is a result as good as what a campaign knows: the verdict of each row, and what it rests on."""

from pathlib import Path

import pytest

from support.campaign_world import LEVELS, stored_summaries, write_run
from support.data import some
from ullage.campaign.check import Checked, check, last_rows, rows_of
from ullage.campaign.series import Selection
from ullage.campaign.store import keep, write_baseline
from ullage.errors import UserError
from ullage.results.folder import ResultFolder


@pytest.fixture(autouse=True)
def _world(monkeypatch: pytest.MonkeyPatch) -> None:
    stored_summaries(monkeypatch)


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    """20 weeks of a node that repeats itself to 1 %."""
    for number in range(20):
        keep(write_run(tmp_path / "past", number, cv=0.01), tmp_path / "c")
    return tmp_path / "c"


def words(found: list[Checked]) -> dict[str, str]:
    return {one.row["params"].split('"')[3]: one.word for one in found}


def result(tmp_path: Path, number: int = 30, cv: float = 0.001, **factor: float) -> ResultFolder:
    return write_run(tmp_path / "now", number, factor=factor, cv=cv)


def test_each_row_has_a_verdict_by_what_the_node_showed_before(campaign: Path, tmp_path: Path) -> None:
    found = check(rows_of([result(tmp_path, triad=0.85, copy=1.15)]), campaign, "campaign", 0.05)
    assert words(found) == {"triad": "worse", "copy": "better", "read": "same", "write": "same"}
    assert {one.past for one in some(found)} == {20}
    worse = next(one for one in found if one.word == "worse")
    assert worse.low < 0.85 < worse.high < 0.95


def test_what_a_margin_allows_is_the_same_and_too_narrow_a_one_asks_for_more(campaign: Path, tmp_path: Path) -> None:
    rows = rows_of([result(tmp_path, triad=0.92)])
    assert words(check(rows, campaign, "campaign", 0.15))["triad"] == "same"
    narrow = check(rows_of([result(tmp_path, 31)]), campaign, "campaign", 0.02)
    assert {one.word for one in narrow} == {"cannot tell"}
    assert {one.reason.split()[0] for one in some(narrow)} <= {"measure", "keep"}


def test_the_last_result_is_checked_against_those_before_it(campaign: Path, tmp_path: Path) -> None:
    keep(result(tmp_path, triad=0.8), campaign)
    rows = last_rows(campaign)
    assert len(rows) == len(LEVELS)
    assert words(check(rows, campaign, "campaign", 0.05))["triad"] == "worse"
    assert words(check(rows, campaign, "last", 0.05))["triad"] == "worse"


def test_a_new_node_is_checked_against_its_kind_and_a_baseline_is_one_too(campaign: Path, tmp_path: Path) -> None:
    new = write_run(tmp_path / "now", 30, node="n2", factor={"write": 0.8}, cv=0.001)
    assert words(check(rows_of([new]), campaign, "campaign", 0.05))["write"] == "worse"
    place, count = write_baseline(campaign, *Selection(campaign, since="2026-03-01").where())
    assert (place, count) == (campaign / "baseline.parquet", 12 * len(LEVELS))
    found = check(rows_of([new]), campaign, "baseline", 0.05)
    assert words(found)["write"] == "worse"
    assert {one.past for one in some(found)} == {12}


def test_another_result_is_compared_by_how_much_runs_differ(campaign: Path, tmp_path: Path) -> None:
    before, after = result(tmp_path, 30), result(tmp_path, 31, triad=0.8)
    assert words(check(rows_of([after]), campaign, str(before.path), 0.05))["triad"] == "worse"
    with pytest.raises(UserError, match="holds no kept result"):
        check(rows_of([after]), tmp_path / "none", str(before.path), 0.05)


def test_one_run_before_tells_nothing_of_how_much_runs_differ(tmp_path: Path) -> None:
    keep(result(tmp_path, 30), tmp_path / "c")
    found = check(rows_of([result(tmp_path, 31)]), tmp_path / "c", "last", 0.05)
    assert {(one.word, one.reason) for one in found} == {("cannot tell", "one run does not tell how much runs differ")}


def test_a_disturbed_row_is_not_judged(campaign: Path, tmp_path: Path) -> None:
    now = write_run(tmp_path / "now", 30, factor={"triad": 0.5}, grade="C")
    found = check(rows_of([now]), campaign, "campaign", 0.05)
    assert {(one.word, one.reason) for one in found} == {("cannot tell", "disturbed, or not of the target itself")}


def test_repetitions_prove_more_than_one_run(campaign: Path, tmp_path: Path) -> None:
    runs = [write_run(tmp_path / "now", number, factor={"triad": 0.965}, cv=0.002) for number in range(30, 34)]
    one, four = (check(rows_of(rows), campaign, "campaign", 0.02) for rows in (runs[:1], runs))
    widths = [[found.high / found.low for found in sorted(each, key=lambda it: it.row["id"])] for each in (one, four)]
    assert all(few > many for few, many in zip(*widths, strict=True))
    assert words(four)["triad"] == "worse"
