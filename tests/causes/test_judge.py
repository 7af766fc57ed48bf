# SPDX-License-Identifier: Apache-2.0
"""A cause is named when the largest proved rung of the part is its own, with the right size."""

import pytest
from tests.causes.judge import Expected, judge

from ullage.model.summary import Ceiling, Ladder, Rung

SLOW = Expected("disk writes", "limit|throttl")


def ladder(*rungs: Rung, part: str = "disk writes") -> Ladder:
    ceiling = Ceiling(value=1.0, kind="detected", source="a link")
    rest = Rung(kind="unexplained", what="not explained", factor=1.0)
    return Ladder(part=part, row=0, ceiling=ceiling, value=0.5, share=0.5, rungs=list(rungs), unexplained=rest)


def rung(kind: str, factor: float, high: float | None = None) -> Rung:
    return Rung(
        kind=kind, what="Something.", factor=factor, low=factor / 2, high=factor * 1.05 if high is None else high
    )


@pytest.mark.parametrize(
    ("rungs", "outcome"),
    [
        ([rung("throttle", 0.5), rung("block", 0.8)], "named"),
        ([rung("throttle", 0.42), rung("block", 0.8)], "named"),
        ([rung("throttle", 0.3), rung("block", 0.8)], "wrong size"),
        ([rung("throttle", 0.5), rung("block", 0.4)], "another first"),
        ([rung("throttle", 0.5, high=1.1)], "nothing named"),
        ([rung("block", 0.5)], "another first"),
        ([], "nothing named"),
    ],
)
def test_the_largest_proved_rung_has_to_be_the_plant(rungs: list[Rung], outcome: str) -> None:
    assert judge([ladder(*rungs)], SLOW, 0.5).outcome == outcome


def test_without_a_ladder_of_the_part_nothing_is_judged() -> None:
    assert judge([ladder(rung("throttle", 0.5), part="memory")], SLOW, 0.5).outcome == "no ladder"
