# SPDX-License-Identifier: Apache-2.0
"""Rules of `--keep`: a setting breaks one by all its trials, and not by the noise of a single one."""

import random
from collections.abc import Sequence

from support.data import some
from ullage.model.tuning import Purpose, TuneTrial
from ullage.runs.tuning.judging import judged, kept_in_pairs
from ullage.runs.tuning.objective import read_rule

DEFAULT = {"a": "1"}


def trials(values: Sequence[tuple[str, float]], purpose: Purpose = "search") -> list[TuneTrial]:
    return [
        TuneTrial(
            number=number,
            purpose=purpose,
            setting={"a": place},
            values={"rate": value},
            seconds=1.0,
            bytes=0,
            result="",
        )
        for number, (place, value) in enumerate(values, start=1)
    ]


def breaks(values: Sequence[tuple[str, float]], rule: str) -> set[str]:
    return {one.setting["a"] for one in judged(trials(values), [read_rule(rule)], DEFAULT) if one.breaks}


def test_a_setting_is_compared_with_the_default_or_with_a_number() -> None:
    values = [("1", 100.0), ("2", 80.0), ("3", 95.0)]
    assert breaks(values, "rate>=0.9x") == {"2"}
    assert breaks(values, "rate<=0.9x") == {"3"}
    assert breaks(values, "rate>=99") == {"2", "3"}
    assert breaks(values, "rate<=99") == {"1"}


def test_the_default_breaks_no_rule_that_compares_with_it() -> None:
    assert breaks([("1", 100.0), ("1", 50.0), ("2", 70.0)], "rate>=0.9x") == set()


def test_what_the_noise_explains_is_not_rejected() -> None:
    noisy = [("1", 100.0), ("1", 130.0), ("1", 80.0)]
    assert breaks([*noisy, ("2", 80.0)], "rate>=0.9x") == set()
    assert breaks([*noisy, ("2", 30.0)], "rate>=0.9x") == {"2"}


def test_settings_as_good_as_the_default_are_seldom_rejected() -> None:
    draw = random.Random(1)
    rejected = 0
    for _ in range(400):
        of_default = [("1", draw.lognormvariate(0, 0.2)) for _ in range(4)]
        rejected += bool(breaks([*of_default, ("2", draw.lognormvariate(0, 0.2))], "rate>=0.9x"))
    assert rejected / 400 < 0.1


def test_failed_trials_say_nothing_of_a_rule() -> None:
    failed = [one.model_copy(update={"reason": "EIO", "values": {}}) for one in trials([("2", 1.0)])]
    assert not any(
        one.breaks for one in some(judged([*trials([("1", 100.0)]), *failed], [read_rule("rate>=0.9x")], DEFAULT))
    )


def test_the_pairs_are_judged_by_their_means() -> None:
    pairs = trials([("1", 100.0), ("2", 85.0), ("2", 99.0), ("1", 100.0)], "confirm")
    (kept,) = kept_in_pairs(pairs, [read_rule("rate>=0.9x")], lambda one: one.setting == DEFAULT)
    assert not kept.breaks
    assert 0.91 < kept.value < 0.92
    (broken,) = kept_in_pairs(pairs, [read_rule("rate<=90")], lambda one: one.setting == DEFAULT)
    assert broken.breaks
    assert kept_in_pairs(pairs[:1], [read_rule("rate<=90")], lambda one: one.setting == DEFAULT) == []
