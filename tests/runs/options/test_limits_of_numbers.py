# SPDX-License-Identifier: Apache-2.0
"""Numbers that the engine could not count with, and far more ranks than cores, are refused before a plan is made."""

import pytest

from ullage.errors import UserError
from ullage.runs.options.groups import MOST_RANKS_ON_A_CORE
from ullage.runs.options.reading import parse_options
from ullage.runs.suite import find_suite
from ullage.system.hardware import ranks_by_default

TARGET = ["x=/tmp"]


@pytest.mark.parametrize(
    ("suite", "words"),
    [
        ("sweep", {"max_repetitions": 1 << 63}),
        ("sweep", {"time": "9" * 30}),
        ("sweep", {"time": "9" * 400 + "s"}),
        ("b_eff", {"repetitions": 10**20}),
    ],
)
def test_numbers_beyond_64_bits_are_refused(suite: str, words: dict[str, object]) -> None:
    asked = {"target": TARGET, **words} if suite == "sweep" else words
    with pytest.raises(UserError) as caught:
        parse_options(find_suite(suite).options, **asked)
    assert "is too l" in caught.value.what


@pytest.mark.parametrize("suite", ["sweep", "rings", "collectives", "pairs"])
def test_far_more_ranks_than_cores_are_asked_for_twice(suite: str) -> None:
    most = MOST_RANKS_ON_A_CORE * ranks_by_default()
    options = find_suite(suite).options
    more: dict[str, object] = {"target": TARGET} if suite == "sweep" else {}

    def ranks(count: int) -> object:
        return count if suite in ("rings", "pairs") else str(count)

    parse_options(options, ranks=ranks(most), **more)
    with pytest.raises(UserError, match="or --oversubscribe"):
        parse_options(options, ranks=ranks(most + 1), **more)
    parse_options(options, ranks=ranks(most + 1), oversubscribe=True, **more)
    parse_options(options, ranks=ranks(most + 1), nodes=2, **more)
