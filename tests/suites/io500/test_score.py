# SPDX-License-Identifier: Apache-2.0
"""The formula on numbers worked out by hand, and what repetitions make of its interval."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.suites.io500.phases import BY_NAME, GIB, scored_phases
from ullage.suites.io500.score import score, score_interval, score_name, score_of_medians, summary_scores

NAMES = [phase.name for phase in scored_phases("standard")]
VALUES = {name: (2.0 * GIB if name.startswith("ior") else 50_000.0) for name in NAMES}


def test_equal_phases_give_their_own_value() -> None:
    found = score(VALUES)
    assert found.bandwidth == pytest.approx(2)
    assert found.metadata == pytest.approx(50)
    assert found.total == pytest.approx(10)
    assert found.missing == ()


def test_geometric_means_by_hand() -> None:
    values = VALUES | {"ior-easy-write": 32 * GIB, "find": 50_000 * 2.0**8}
    found = score(values)
    assert found.bandwidth == pytest.approx(4)  # the 4th root of 32 x 2 x 2 x 2
    assert found.metadata == pytest.approx(100)
    assert found.total == pytest.approx(20)


def test_a_phase_that_did_not_run_is_left_out_of_its_mean_and_named() -> None:
    values = {name: value for name, value in VALUES.items() if name != "find"} | {"ior-hard-read": 0.25 * GIB}
    found = score(values)
    assert found.metadata == pytest.approx(50)
    assert found.bandwidth == pytest.approx(2 * (1 / 8) ** 0.25)
    assert found.missing == ("find",)


def test_a_half_without_phases_has_no_mean_and_a_zero_makes_it_zero() -> None:
    bandwidth = {name: value for name, value in VALUES.items() if name.startswith("ior")}
    assert (score(bandwidth).metadata, score(bandwidth).total) == (None, None)
    assert score(VALUES | {"find": 0.0}).total == 0


def test_the_extended_score_has_three_more_phases_of_metadata_and_the_standard_one_ignores_them() -> None:
    extra = {"find-easy": 1e3, "find-hard": 1e3, "mdworkbench-bench": 1e3}
    assert score(VALUES | extra) == score(VALUES)
    found = score(VALUES | extra, "extended")
    assert found.metadata == pytest.approx(50 ** (8 / 11))
    assert found.missing == ()


def test_the_pilot_changes_nothing() -> None:
    assert score(VALUES | {"ior-rnd4K-easy-read": 1.0}) == score(VALUES)


@given(st.lists(st.floats(1e-6, 1e12), min_size=12, max_size=12), st.sampled_from(NAMES))
def test_doubling_one_phase_moves_the_total_by_its_power(numbers: list[float], name: str) -> None:
    values = dict(zip(NAMES, numbers, strict=True))
    before, after = score(values).total, score(values | {name: values[name] * 2}).total
    assert before
    assert after
    power = 1 / 8 if BY_NAME[name].kind == "BW" else 1 / 16
    assert math.log2(after / before) == pytest.approx(power, abs=1e-9)


def _rounds(factors: list[float]) -> dict[str, list[float]]:
    return {name: [value * factor for factor in factors] for name, value in VALUES.items()}


def test_one_repetition_has_no_interval() -> None:
    assert score_interval(_rounds([1.0])) is None
    assert score_interval({}) is None


def test_few_rounds_have_no_interval() -> None:
    """What the rounds score by themselves is not the score of the medians, and no interval of it."""
    found = score_interval(_rounds([1.0, 1.2, 0.9]))
    assert found is not None
    assert (found.median, found.level_reached) == (pytest.approx(10), 0.0)
    assert found.below_level


def test_rounds_are_resampled_whole() -> None:
    """Phases of a round rise and fall together; resampled apart, they would give far too narrow an interval."""
    factors = [0.8, 0.9, 1.0, 1.1, 1.2, 0.85, 0.95, 1.05, 1.15]
    found = score_interval(_rounds(factors))
    assert found is not None
    assert found.low <= 9.2
    assert found.high >= 10.8
    assert not found.below_level


def test_rounds_that_not_every_phase_has_are_left_out() -> None:
    samples = _rounds([1.0, 1.0]) | {"find": [50_000.0, 50_000.0, 1.0]}
    found = score_interval(samples)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((10, 10))


def test_the_score_is_that_of_the_medians() -> None:
    assert score_of_medians(_rounds([1.0, 5.0, 0.9])).total == pytest.approx(10)
    assert score_of_medians({**_rounds([1.0]), "find": []}).missing == ("find",)


def test_scores_of_a_summary_carry_value_interval_and_reasons() -> None:
    reasons = {"standard": (), "extended": ("find-easy did not run",)}
    found = summary_scores(_rounds([1.0, 1.1]), reasons, "extended", "scratch")  # type: ignore[arg-type]
    assert [one.name for one in found] == [
        "IO500 of scratch",
        "IO500 bandwidth of scratch",
        "IO500 metadata of scratch",
        "IO500 extended of scratch",
        "IO500 extended bandwidth of scratch",
        "IO500 extended metadata of scratch",
    ]
    assert [one.valid for one in found] == [True] * 3 + [False] * 3
    assert (found[0].low, found[0].high) == (None, None)
    many = summary_scores(_rounds([1.0, 1.1, 1.05, 0.95, 1.0, 1.02]), reasons, "extended", "scratch")  # type: ignore[arg-type]
    assert many[0].low is not None
    assert many[0].low < many[0].value
    assert found[3].reasons == ["find-easy did not run"]
    assert [one.unit for one in found[:3]] == ["", "GiB/s", "kIOPS"]


def test_a_score_without_phases_is_left_out() -> None:
    assert summary_scores({}, {"standard": ["nothing ran"], "extended": []}) == []
    assert score_name("total") == "IO500"
