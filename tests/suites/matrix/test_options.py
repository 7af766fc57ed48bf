# SPDX-License-Identifier: Apache-2.0
"""Words of the command line: what they mean, and one line for each that means nothing."""

import pytest

from support.suite_words import options_of
from ullage.errors import UserError
from ullage.suites.matrix.suite import MatrixOptions

KIB, MIB = 1 << 10, 1 << 20


def options(**words: object) -> MatrixOptions:
    return options_of(MatrixOptions, **{"target": ["a=/a"], **words})


def test_the_defaults_are_those_of_iozones_automatic_mode() -> None:
    found = options()
    assert found.files == [64 * KIB << step for step in range(14)]
    assert found.records == [4 * KIB << step for step in range(13)]
    assert found.tests == list(range(13))
    assert (found.stride, found.read_share, found.pieces) == (17, 0.5, 16)
    assert (found.direct, found.cache, found.sync, found.all_records) == (False, "advise", "close", False)
    assert found.metrics == "file_bandwidth"


def test_a_quick_look_is_smaller_except_where_words_say_more() -> None:
    found = options(quick=True, record="4K")
    assert (max(found.files), found.records, found.time_s) == (16 * MIB, [4 * KIB], 30)


def test_options_survive_their_way_through_json() -> None:
    found = options(tests="12,0", direct=True, sync="none", mix="12.5%", stride=3, pieces=4, ceiling=["a=1GB/s"])
    assert MatrixOptions.model_validate_json(found.model_dump_json()) == found
    assert (found.tests, found.read_share, found.ceilings) == ([0, 12], 0.125, {"a": 1e9})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"tests": "13"}, "--tests '13': not a test of IOzone"),
        ({"tests": "0,0"}, "--tests '0': is given twice"),
        ({"tests": ""}, "--tests '': not a test of IOzone"),
        ({"file": "64K,x"}, "--file 'x': not a size"),
        ({"record": "1001"}, "--record 1001: 1001 bytes are not a multiple of 8"),
        ({"cache": "cold"}, "--cache: unknown word 'cold'"),
        ({"direct": True, "cache": "none"}, "--cache none: has no effect with --direct"),
        ({"sync": "every"}, "--sync: unknown word 'every'"),
        ({"mix": "150%"}, "--mix '150%': no share between 0 and 1"),
        ({"mix": "0.0123"}, "--mix '0.0123': is not a multiple of 0.1%"),
        ({"ceiling": ["b=1GB/s"]}, "--ceiling 'b': not a ceiling of one of the targets"),
    ],
)
def test_a_mistake_is_one_line(words: dict[str, object], expected: str) -> None:
    with pytest.raises(UserError) as caught:
        options(**words)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
