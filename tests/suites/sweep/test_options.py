# SPDX-License-Identifier: Apache-2.0
"""Words of the command line: what they mean, and one line for each that means nothing."""

from typing import Any

import pytest

from support.suite_words import options_of
from ullage.errors import UserError
from ullage.runs.options.groups import default_ranks
from ullage.runs.options.reading import parse_options
from ullage.suites.sweep.cells import SweepOptions
from ullage.units import parse_share


def options(**words: object) -> SweepOptions:
    return options_of(SweepOptions, **{"target": ["a=/a"], "ranks": "1,2", **words})


def test_the_defaults_are_those_of_the_help() -> None:
    found = options()
    assert found.access == ["write", "read"]
    assert (found.cache, found.file_mode, found.order) == ("advise", "per-process", "sequential")
    assert found.blocks == [131072, 524288, 2097152, 8388608]
    assert (found.time_s, found.interval, found.min_repetitions, found.max_repetitions) == (120.0, 0.05, 6, 15)
    assert found.volume is None


def test_axes_are_sorted_and_units_are_read() -> None:
    found = options(ranks="4,1:2:+1", block="1M,128K", volume="1G", time="90s", interval="2.5%", space="10GB")
    assert found.ranks == [1, 2, 4]
    assert found.blocks == [128 << 10, 1 << 20]
    assert (found.volume, found.time_s, found.interval, found.space) == (1 << 30, 90.0, 0.025, 10**10)


def test_phases_always_begin_with_write_and_keep_their_order() -> None:
    found = options(access="reread,read")
    assert found.access == ["read", "reread"]
    assert found.phases == ("write", "read", "reread")


def test_settings_and_axes_of_parameters() -> None:
    found = options(param=["posix.direct=true"], vary=["posix.advice=none,random", "mpiio.hints=a=1,b=2;c=3"])
    assert [(s.place, s.values) for s in found.parameters] == [("posix.direct", ["true"])]
    assert [(s.place, s.values) for s in found.vary] == [
        ("posix.advice", ["none", "random"]),
        ("mpiio.hints", ["a=1,b=2", "c=3"]),
    ]


def test_buffers_are_a_size_or_cold() -> None:
    assert options().buffers is None
    assert options(buffers="cold").buffers == 16 << 20
    assert options(buffers="2M").buffers == 2 << 20


def test_options_survive_their_way_through_json() -> None:
    found = options(extend="ranks,block", ceiling=["a:read=1GB/s"], weak=True)
    assert SweepOptions.model_validate_json(found.model_dump_json()) == found
    assert found.ceilings == {"a:read": 1e9}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"access": "write,reed"}, "--access: unknown word 'reed'"),
        ({"cache": "cold"}, "--cache: unknown word 'cold'"),
        ({"file": "both"}, "--file: unknown word 'both'"),
        ({"extend": "node"}, "--extend: unknown word 'node'"),
        ({"ranks": "0,1"}, "--ranks: 0 is not allowed on this axis"),
        ({"ranks": "1,two"}, "--ranks 'two': not a count"),
        ({"block": "1X"}, "--block '1X': not a size"),
        ({"volume": "much"}, "--volume 'much': not a size"),
        ({"buffers": "hot"}, "--buffers 'hot': not a size"),
        ({"time": "0s"}, "--time 0s: is not above 0"),
        ({"interval": "500%"}, "--interval '500%': not a relative width"),
        ({"param": ["direct=true"]}, "--param direct=true: not a parameter; write THING.KEY=VALUE"),
        ({"vary": ["posix.direct"]}, "--vary posix.direct: not a parameter"),
        ({"ceiling": ["c=1GB/s"]}, "--ceiling 'c': not a ceiling"),
        ({"min_repetitions": 5, "max_repetitions": 4}, "--min-repetitions 5: the minimum is above the maximum"),
        ({"target": ["a=/a", "a=/b"]}, "--target 'a': two targets have the same name"),
        ({"backend": "posix,"}, "--backend posix,: an empty or repeated word"),
    ],
)
def test_each_mistake_gets_one_line(words: dict[str, Any], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert str(caught.value).startswith(expected)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("cores", "expected"),
    [(1, [1, 2, 4]), (2, [1, 2, 4]), (8, [1, 2, 4, 8]), (48, [1, 2, 4, 8, 16, 32]), (128, [1, 2, 8, 16, 64, 128])],
)
def test_default_ranks(cores: int, expected: list[int]) -> None:
    assert default_ranks(cores) == expected


@pytest.mark.parametrize(("text", "expected"), [("5%", 0.05), ("0.1", 0.1), (" 2 % ", 0.02)])
def test_a_relative_width(text: str, expected: float) -> None:
    assert parse_share(text) == pytest.approx(expected)


def test_who_asks_for_few_repetitions_at_most_gets_no_more_at_least() -> None:
    few = SweepOptions.model_validate(parse_options(SweepOptions, target=["a=/a"], max_repetitions="3").options)
    assert (few.min_repetitions, few.max_repetitions) == (3, 3)
