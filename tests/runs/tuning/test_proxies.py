# SPDX-License-Identifier: Apache-2.0
"""Short trials: when they come, what their values count, and how much of the budget is kept for full ones."""

from pathlib import Path

import pytest

from ullage.model.tuning import Purpose, TuneTrial
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import find_suite
from ullage.runs.tuning.budget import Budget
from ullage.runs.tuning.judging import counted, is_short_one, lacks_default, room

DEFAULT, OTHER = {"ppn": "1"}, {"ppn": "2"}


def trial(
    number: int,
    setting: dict[str, str],
    value: float | None,
    *,
    proxy: bool = False,
    purpose: Purpose = "search",
    seconds: float = 10.0,
) -> TuneTrial:
    return TuneTrial(
        number=number,
        purpose=purpose,
        setting=setting,
        values={} if value is None else {"total": value},
        reason="it broke" if value is None else "",
        seconds=seconds,
        bytes=100,
        result="",
        is_proxy=proxy,
    )


def test_short_trials_come_after_a_full_default_and_not_for_finalists_and_pairs() -> None:
    full = [trial(1, DEFAULT, 4.0, purpose="default")]
    assert not is_short_one("default", [], DEFAULT)
    assert [is_short_one(one, full, DEFAULT) for one in ("start", "search", "default", "race", "confirm")] == [
        *(True, True, True),
        *(False, False),
    ]
    assert lacks_default(full, DEFAULT)
    assert not lacks_default([*full, trial(2, DEFAULT, 2.0, proxy=True)], DEFAULT)


def test_where_the_default_fails_in_its_short_form_all_trials_are_full() -> None:
    done = [trial(1, DEFAULT, 4.0), trial(2, DEFAULT, None, proxy=True)]
    assert not is_short_one("search", done, DEFAULT)


def test_a_short_value_counts_as_its_share_of_the_default() -> None:
    """The default has 4 in full and 2 in a short trial."""
    done = [trial(1, DEFAULT, 4.0), trial(2, DEFAULT, 2.0, proxy=True), trial(3, OTHER, 3.0, proxy=True)]
    found = counted(done, DEFAULT)
    assert [one.number for one in found] == [1, 3]
    assert found[1].values == {"total": pytest.approx(6.0)}


def test_a_setting_that_was_measured_in_full_is_judged_by_that_alone() -> None:
    done = [
        trial(1, DEFAULT, 4.0),
        trial(2, DEFAULT, 2.0, proxy=True),
        trial(3, OTHER, 3.0, proxy=True),
        trial(4, OTHER, 5.0, purpose="race"),
    ]
    assert [one.number for one in counted(done, DEFAULT)] == [1, 4]


def test_a_repeated_short_default_stays_to_show_a_drift() -> None:
    done = [trial(1, DEFAULT, 4.0), trial(2, DEFAULT, 2.0, proxy=True), trial(3, DEFAULT, 1.0, proxy=True)]
    assert [one.number for one in counted(done, DEFAULT)] == [1, 3]


def test_a_short_trial_that_failed_stays_a_failure() -> None:
    done = [trial(1, DEFAULT, 4.0), trial(2, DEFAULT, 2.0, proxy=True), trial(3, OTHER, None, proxy=True)]
    assert [one.reason for one in counted(done, DEFAULT)] == ["", "it broke"]


@pytest.mark.parametrize(("left", "short", "found"), [(20, 2.0, 12 + 40), (8, 2.0, 7 + 5), (20, 0.0, 20), (0, 2.0, 0)])
def test_room_for_finalists_and_pairs_is_kept_for_full_trials(left: int, short: float, found: int) -> None:
    assert room(left, 10.0, short) == found


def test_short_trials_do_not_make_a_full_one_seem_short() -> None:
    budget = Budget(300.0, None, None, None, None)
    done = [trial(1, DEFAULT, 4.0), *(trial(n, OTHER, 3.0, proxy=True, seconds=2.0) for n in range(2, 12))]
    assert budget.longest_s(done) == pytest.approx(11.0)
    assert budget.left(done) == 24
    assert budget.left(done, next_is_short=True) > 24
    assert budget.left(done, next_is_short=True) - 14 <= (300 - 30 - 14 * 11) / 2.2


def test_bytes_of_short_trials_leave_room_for_those_of_full_ones() -> None:
    budget = Budget(1e6, None, 1000, None, 60)
    full = trial(1, DEFAULT, 4.0).model_copy(update={"bytes": 40})
    short = [trial(n, OTHER, 3.0, proxy=True).model_copy(update={"bytes": 8}) for n in range(2, 4)]
    left = 1 + (1000 - 56 - 60) // 60
    assert budget.left([full, *short]) == left
    assert budget.left([full, *short], next_is_short=True) == room(left, 60, 12) > left
    assert Budget(1e6, None, 115, None, 60).left([full, *short], next_is_short=True) == 0


def test_suites_say_how_a_run_becomes_short(tmp_path: Path) -> None:
    io500, frost, sweep = (find_suite(name).options for name in ("io500", "b_eff_io", "sweep"))
    target = {"target": [f"a={tmp_path}"]}
    assert io500.shorter(parse_options(io500, **target, stonewall="30s").options) == {"stonewall": "6s"}
    assert io500.shorter(parse_options(io500, **target, stonewall="2s").options) == {}
    assert frost.shorter(parse_options(frost, **target, ranks=2, time="5m").options) == {"time": "1m"}
    assert frost.shorter(parse_options(frost, **target, ranks=2, time="30s").options) == {}
    assert sweep.shorter({}) == {}
