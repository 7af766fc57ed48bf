# SPDX-License-Identifier: Apache-2.0
"""Real repetitions of a production Lustre (oprael): what is said of equal things is false in at most 5 % of reports."""

import json
from collections.abc import Sequence

import pytest

from support.public_data import unpacked
from ullage.analysis.statistics.changes import find_changes
from ullage.analysis.statistics.comparison import Contest, compare_all

MOST = 0.05


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[list[float]]:
    """The bandwidths of each file's repetitions of IOR, in the order in which they were taken."""
    root = unpacked("oprael", tmp_path_factory.mktemp("oprael"), lambda path: path.endswith(".json"))
    tests = [json.loads(file.read_text(encoding="utf-8"))["tests"] for file in sorted(root.rglob("*.json"))]
    return [[one["bwMiB"] for one in test["Results"]] for tests_of_file in tests for test in tests_of_file]


def share_of(reports: Sequence[Sequence[object]]) -> float:
    """Return in how many reports anything is said."""
    return sum(bool(report) for report in reports) / len(reports)


def test_no_change_is_told_of_what_did_not_change(files: list[list[float]]) -> None:
    assert len(files) > 400
    assert share_of([find_changes([values])[0] for values in files]) <= MOST
    assert not any(find_changes(files))


def test_interleaved_halves_of_the_same_are_not_told_apart(files: list[list[float]]) -> None:
    contests = [Contest(values[::2], values[1::2]) for values in files]
    told = [[one for one in compare_all([contest]) if one.verdict != "cannot tell"] for contest in contests]
    assert share_of(told) <= MOST
    assert not [one for one in compare_all(contests) if one.verdict != "cannot tell"]
