# SPDX-License-Identifier: Apache-2.0
"""Words of the command line: what they mean, and one line for each that means nothing."""

import pytest

from support.suite_words import options_of
from ullage.errors import UserError
from ullage.suites.disk.options import DiskOptions

MIB = 1 << 20


def options(**words: object) -> DiskOptions:
    return options_of(DiskOptions, **{"target": ["a=/a"], **words})


def test_the_defaults_are_the_usual_table() -> None:
    found = options()
    assert found.threads == [1, 2, 4]
    assert found.blocks == [MIB, 10 * MIB, 100 * MIB]
    assert (found.small, found.depths) == (1024, [1, 2, 4, 8, 16, 32, 64, 128])
    assert (found.time_s, found.peer, found.backend, found.volume, found.small_volume) == (120, True, None, None, None)
    assert found.metrics.split() == ["bandwidth", "operation_rate", "latency_p50", "latency_p99"]


def test_a_quick_look_is_smaller_except_where_words_say_more() -> None:
    found = options(quick=True, depth="1,256")
    assert (found.threads, found.blocks, found.depths, found.time_s) == ([1, 2], [MIB, 10 * MIB], [1, 256], 30)


def test_options_survive_their_way_through_json() -> None:
    found = options(ceiling=["a:read=540MB/s"], no_peer=True, volume="1G", small_volume="8M", keep=True)
    assert DiskOptions.model_validate_json(found.model_dump_json()) == found
    assert (found.ceilings, found.peer, found.volume, found.small_volume) == (
        {"a:read": 540e6},
        False,
        1 << 30,
        8 * MIB,
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"backend": "libaio"}, "--backend: unknown word 'libaio'"),
        ({"threads": "0,1"}, "--threads: 0 is not allowed on this axis"),
        ({"block": "1M,x"}, "--block 'x': not a size"),
        ({"depth": "8:1:x2"}, "--depth '8:1:x2': range does not rise"),
        ({"small": "1001"}, "--small 1001: 1001 bytes are not a multiple of 8"),
        ({"block": "1M,1001"}, "--block 1M,1001: 1001 bytes are not a multiple of 8"),
        ({"small": "1M"}, "--small 1M: a small request of 1048576 bytes is no smaller than the smallest block"),
        ({"interval": "500%"}, "--interval '500%': not a relative width"),
        ({"min_repetitions": 9, "max_repetitions": 3}, "--min-repetitions 9: the minimum is above the maximum"),
        ({"time": "0s"}, "--time 0s: is not above 0"),
        ({"ceiling": ["b=1GB/s"]}, "--ceiling 'b': not a ceiling"),
        ({"target": ["a"]}, "--target 'a': not a target"),
    ],
)
def test_each_mistake_gets_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert str(caught.value).startswith(expected)
    assert "\n" not in str(caught.value)


def test_a_rank_may_be_given_less_time_than_usual_before_it_counts_as_hanging() -> None:
    assert (options().watchdog_s, options(watchdog="7s").watchdog_s) == (None, 7)
