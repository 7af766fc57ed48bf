# SPDX-License-Identifier: Apache-2.0
"""From words to options; each mistake is one line that says what would be right."""

from pathlib import Path

import pytest

from support.suite_words import options_of
from ullage.errors import UserError
from ullage.model.plan import Target
from ullage.suites.b_eff_io import SUITE
from ullage.suites.b_eff_io.options import BEffIoOptions


def options(**words: object) -> BEffIoOptions:
    return options_of(BEffIoOptions, **{"target": ["t=/t"], "ranks": 4, **words})


def test_defaults_are_those_of_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ullage.system.hardware.usable_cores", lambda: 64)
    found = options(ranks=None)
    assert (found.ranks, found.partitions, found.time_s) == (64, [4, 16, 64], 1800)
    assert (found.rewrite, found.rule, found.shared_pointer, found.unique_open) == (False, "2.1", True, True)
    assert (found.cache, found.verify, found.repetitions, found.keep) == ("none", "full", 1, False)
    assert [hints.name for hints in found.hint_sets] == ["default"]
    assert found.hint_sets[0].lines == []
    assert (found.lmax, found.memory) == (None, None)


def test_words_become_numbers() -> None:
    found = options(time="1h30m", lmax="4M", memory_total="1G", space="10G", watchdog="2m", repetitions=3)
    assert (found.time_s, found.lmax, found.memory_total) == (5400, 4 << 20, 1 << 30)
    assert (found.space, found.watchdog_s, found.repetitions) == (10 << 30, 120, 3)
    assert found.is_lmax_given
    assert not options(memory="1G").is_lmax_given
    found = options(rule="1.0", cache="advise", verify="none", rewrite=True, no_shared=True, no_unique=True)
    assert (found.rule, found.cache, found.verify) == ("1.0", "advise", "none")
    assert (found.rewrite, found.shared_pointer, found.unique_open) == (True, False, False)


def test_overtime_follows_the_time_of_a_partition() -> None:
    assert options(time="90m").overtime == 0
    assert options(time="89m").overtime == 1.1
    assert options(time="30m", partitions="4").overtime == 0
    assert options(time="60s", overtime=0.0).overtime == 0
    assert options(time="90m", overtime=2.0).overtime == 2


def test_partitions_rise_and_end_at_the_ranks() -> None:
    assert options(partitions="4,1,2").partitions == [1, 2, 4]
    assert options(ranks=64, partitions="1:16:x4").partitions == [1, 4, 16]
    with pytest.raises(UserError, match=r"a partition of 8 processes, and --ranks 4; at most 4, or more --ranks"):
        options(partitions="2,8")


def test_a_quick_look_is_one_partition_with_small_chunks() -> None:
    found = options(quick=True)
    assert (found.partitions, found.time_s, found.lmax, found.quick) == ([4], 20, 2 << 20, True)
    found = options(quick=True, memory="1G", time="5s", partitions="1,2")
    assert (found.partitions, found.time_s, found.lmax) == ([1, 2], 5, None)


def test_overview_asks_for_files_only(tmp_path: Path) -> None:
    null, disk = Target(name="n", uri="null:"), Target(name="d", uri=f"posix:{tmp_path}")
    assert SUITE.quick([null]) is None
    asked = SUITE.quick([null, disk, Target(name="e", uri="posix:/e")])
    assert asked is not None
    assert [target.name for target in asked.targets] == ["d"]
    found = BEffIoOptions.model_validate(asked.options)
    assert (found.ranks, found.quick) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"lmax": "4M", "memory": "1G"}, "--lmax and --memory: both options set"),
        ({"lmax": "1K"}, "--lmax 1K: no size that the largest chunk can have; a multiple of 8 from 16K to 1G"),
        ({"lmax": "2097153"}, "a multiple of 8"),
        ({"lmax": "x"}, "--lmax 'x': not a size"),
        ({"rule": "2.0"}, "--rule: unknown word '2.0'; did you mean '2.1'?"),
        ({"cache": "drop"}, "--cache: unknown word 'drop'"),
        ({"verify": "kept"}, "--verify: unknown word 'kept'"),
        ({"time": "0s"}, "--time 0s: is not above 0"),
        ({"time": "soon"}, "--time 'soon': not a duration"),
        ({"watchdog": "0"}, "--watchdog 0: is not above 0"),
        ({"partitions": "0,2"}, "--partitions: 0 is not allowed"),
        ({"partitions": "a"}, "--partitions 'a': not a count"),
        ({"hints": ["/no/such"]}, "--hints /no/such: No such file or directory; name a file of hints"),
        ({"target": ["t=what:"]}, "unknown scheme 'what:'"),
    ],
)
def test_mistakes_are_named(words: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert message in str(caught.value)
