# SPDX-License-Identifier: Apache-2.0
"""A gain is said where a comparison tells it, and nowhere else."""

import pytest

from support.contests import compare
from support.make_records import make_row
from ullage.analysis.findings import find_all
from ullage.analysis.findings.phrasing import gain_of, least_gain, level_of_part, with_gain
from ullage.model.summary import Finding, Gain

SLOW, FAST = [1.00, 1.01, 1.02, 0.99, 1.00, 1.01], [2.00, 2.02, 2.01, 1.99, 2.03, 2.00]


def test_the_gain_is_the_ratio_with_its_interval_whichever_way_is_better() -> None:
    rate = gain_of(compare(FAST, SLOW))
    time = gain_of(compare(SLOW, FAST, better="less"))
    assert rate is not None
    assert time is not None
    assert rate.factor == pytest.approx(2, rel=0.01)
    assert rate.low is not None
    assert rate.high is not None
    assert 1 < rate.low < rate.factor < rate.high
    assert (time.factor, time.low, time.high) == pytest.approx((rate.factor, rate.low, rate.high))


def test_what_is_not_told_or_is_worse_is_no_gain() -> None:
    assert gain_of(compare(SLOW, FAST)) is None
    assert gain_of(compare(SLOW, list(reversed(SLOW)))) is None
    assert gain_of(compare([2.0], [1.0])) is None


def test_several_gains_promise_the_least_of_them() -> None:
    little, much = Gain(factor=1.5, low=1.2, high=2), Gain(factor=3, low=2.9, high=3.1)
    assert least_gain([much, little]) == little
    assert least_gain([much, None]) is None
    assert least_gain([]) is None


def test_a_finding_without_a_gain_names_no_change() -> None:
    found = Finding(kind="k", text="t")
    assert with_gain(found, None, "--ranks 4") == found
    assert with_gain(found, Gain(factor=2, low=1.5, high=3), "--ranks 4").change == "--ranks 4"
    assert level_of_part(0.95, 5) == pytest.approx(0.99)


@pytest.mark.parametrize(("verdict", "gains"), [("cold", True), ("warm", False), ("cached", False)])
def test_what_a_cache_gained_is_no_gain_of_the_storage(verdict: str, gains: bool) -> None:
    scatter = (1, 0.99, 1.01, 1, 0.99, 1.01)
    rows = [
        make_row([1e9 * ranks * one for one in scatter], access="read", ranks=ranks, block=block, verdict=verdict)
        for ranks in (1, 2, 4)
        for block in (1 << 16, 1 << 20)
    ]
    (best,) = [one for one in find_all(rows) if one.kind == "best"]
    assert (best.gain is not None) == gains
