# SPDX-License-Identifier: Apache-2.0
"""Ladders: the product is the share, rungs hold what was planted, and equal things name no cause."""

import math
import random

import pytest

from support.make_records import make_row
from ullage.analysis.ceilings.rows import with_ceiling
from ullage.analysis.ladders import LadderRule, Step, alike_but, ladders_of
from ullage.model.summary import Ceiling, Row

BLOCK = Step(
    "block", "Blocks of 1K in place of 1M.", lambda below, row: alike_but(below, row, "block_bytes"), advice="Use 1M."
)
OTHERS = Step(
    "others", "Others had the cores.", None, lambda _line, row: row.metric == "taken", may_rank=True, of_others=True
)
RULE = LadderRule("disk writes", (BLOCK, OTHERS))


def line(values: list[float], **fields: object) -> Row:
    """The row of a ladder, below a ceiling of 100."""
    return with_ceiling(make_row(values, block=1024, **fields), Ceiling(value=100, kind="declared", source="x"))  # type: ignore[arg-type]


def taken(share: float) -> Row:
    """The share of time that others took."""
    return make_row([share] * 6, metric="taken", unit="of time", better="less", grade="C")


def test_the_product_of_all_rungs_is_the_share() -> None:
    rows = [line([30, 31, 29, 30, 30, 30]), make_row([60, 61, 59, 60, 60, 60]), taken(0.2)]
    (ladder,) = ladders_of(rows, [("disk writes", 0)], [RULE])
    assert [rung.kind for rung in ladder.rungs] == ["block", "others"]
    product = math.prod(rung.factor for rung in [*ladder.rungs, ladder.unexplained])
    assert product == pytest.approx(ladder.share) == pytest.approx(0.30)
    assert ladder.rungs[0].factor == pytest.approx(0.5, rel=0.05)
    assert ladder.rungs[0].is_sure
    assert ladder.rungs[0].rows == [1, 0]
    assert ladder.rungs[1].rows == [2]
    assert ladder.rungs[1].factor == pytest.approx(0.8)
    assert ladder.rungs[1].is_sure


def test_repetitions_of_one_round_are_paired() -> None:
    # The noise of a round is the same on both sides: only in pairs the 2 % can be told.
    noise = [1.0, 1.3, 0.8, 1.1, 0.9, 1.2]
    same = {"launches": [1] * 6}
    rows = [line([49 * one for one in noise], **same), make_row([50 * one for one in noise], **same)]
    (ladder,) = ladders_of(rows, [("disk writes", 0)], [RULE])
    assert ladder.rungs[0].is_sure
    assert ladder.rungs[0].factor == pytest.approx(0.98)


def test_times_are_compared_the_other_way_round() -> None:
    times = {"better": "less", "unit": "s", "launches": [1] * 6}
    rows = [line([200.0] * 6, **times), make_row([110.0, 111, 109, 110, 110, 110], **times)]
    (ladder,) = ladders_of(rows, [("disk writes", 0)], [RULE])
    assert ladder.share == pytest.approx(0.5)
    assert ladder.rungs[0].factor == pytest.approx(0.55, rel=0.01)


@pytest.mark.parametrize("wrong", [{"grade": "C"}, {"value": [60, 60]}, {"value": [0] * 6}])
def test_a_step_without_sound_rows_is_not_explained(wrong: dict[str, object]) -> None:
    value = wrong.pop("value", [60] * 6)
    (ladder,) = ladders_of([line([30] * 6), make_row(value, **wrong)], [("disk writes", 0)], [RULE])  # type: ignore[arg-type]
    assert not ladder.rungs
    assert ladder.unexplained.factor == pytest.approx(0.3)


@pytest.mark.parametrize(("kind", "kinds"), [("measured", ["variation"]), ("detected", [])])
def test_below_its_own_best_repetition_a_number_varies(kind: str, kinds: list[str]) -> None:
    row = with_ceiling(make_row([80, 100, 90]), Ceiling(value=100, kind=kind, source="x"))  # type: ignore[arg-type]
    (ladder,) = ladders_of([row], [("disk writes", 0)], [RULE])
    assert [rung.kind for rung in ladder.rungs] == kinds
    assert not any(rung.is_sure for rung in ladder.rungs)
    assert ladder.unexplained.factor == pytest.approx(1.0 if kinds else 0.9)


def test_rows_without_a_share_or_a_rule_have_no_ladder() -> None:
    rows = [make_row([30] * 6), line([30] * 6)]
    assert not ladders_of(rows, [("disk writes", 0), ("cores", 1)], [RULE])


def test_equal_things_name_a_cause_in_at_most_5_of_100_reports() -> None:
    made = random.Random(20261127)
    blocks = [2048 << step for step in range(8)]
    steps = [
        Step(
            str(block),
            "x",
            lambda below, row, block=block: alike_but(below, row, "block_bytes") and row.count("block_bytes") == block,
        )
        for block in blocks
    ]
    reports, named = 300, 0
    for _ in range(reports):
        shared = [50 * made.lognormvariate(0, 0.05) for _ in range(6)]
        samples = [[one * made.lognormvariate(0, 0.03) for one in shared] for _ in range(9)]
        rows = [line(samples[0], launches=[1] * 6)]
        rows += [make_row(some, block=block, launches=[1] * 6) for some, block in zip(samples[1:], blocks, strict=True)]
        (ladder,) = ladders_of(rows, [("disk writes", 0)], [LadderRule("disk writes", steps)])
        named += any(rung.is_sure for rung in ladder.rungs)
    # 95 % of so many tries of 5 % lie below this.
    assert named <= reports * 0.05 + 1.65 * math.sqrt(reports * 0.05 * 0.95)


def test_the_best_of_many_equal_rows_names_a_cause_in_at_most_5_of_100_reports() -> None:
    made = random.Random(1)
    best_of_many = Step("any", "x", lambda below, row: alike_but(below, row, "block_bytes"))
    reports, named = 300, 0
    for _ in range(reports):
        rounds = [50 * made.lognormvariate(0, 0.05) for _ in range(6)]
        samples = [[one * made.lognormvariate(0, 0.03) for one in rounds] for _ in range(20)]
        rows = [line(samples[0], launches=[1] * 6)]
        rows += [make_row(some, block=2048 + index, launches=[1] * 6) for index, some in enumerate(samples[1:])]
        (ladder,) = ladders_of(rows, [("disk writes", 0)], [LadderRule("disk writes", [best_of_many])])
        named += any(rung.is_sure for rung in ladder.rungs)
    assert named <= reports * 0.05 + 1.65 * math.sqrt(reports * 0.05 * 0.95)
