# SPDX-License-Identifier: Apache-2.0
"""Which phases moved the score from one result to another."""

from collections.abc import Mapping

from support.make_records import make_row
from ullage.model.summary import Row
from ullage.runs.suite import Attributing, find_suite
from ullage.suites.io500.attribution import attributed
from ullage.suites.io500.phases import BY_NAME

GIB = float(1 << 30)
VALUES = {"ior-easy-write": 4 * GIB, "ior-easy-read": 8 * GIB, "mdtest-easy-write": 50e3, "find": 1e6}


def rows_of(values: Mapping[str, float], grade: str = "A", target: str = "disk") -> list[Row]:
    found: list[Row] = []
    for name, value in values.items():
        phase = BY_NAME[name]
        fields: dict[str, object] = {"metric": phase.metric, "unit": phase.si_unit, "params": {"phase": name}}
        found.append(make_row([value], target=target, grade=grade, **fields))
    return found


def test_the_change_of_the_score_is_that_of_its_phases() -> None:
    assert isinstance(find_suite("io500"), Attributing)
    better = VALUES | {"ior-easy-write": 16 * GIB}
    (text,) = attributed(rows_of(VALUES), rows_of(better), ("two", "four"))
    assert text == "From two to four the total changes by 1.41 x: 1.41 x from ior-easy-write (its rate: 4.00 x)."


def test_disturbed_phases_are_in_doubt() -> None:
    better = VALUES | {"ior-easy-write": 16 * GIB}
    (text,) = attributed(rows_of(VALUES), rows_of(better, grade="C"), ("two", "four"))
    assert "1.41 x from phases with doubtful numbers (ior-easy-write)" in text


def test_without_a_score_or_with_several_targets_nothing_is_attributed() -> None:
    assert attributed(rows_of(VALUES), [], ("a", "b")) == []
    assert attributed(rows_of(VALUES), [make_row([1.0])], ("a", "b")) == []
    several = [*rows_of(VALUES), *rows_of(VALUES, target="scratch")]
    assert attributed(rows_of(VALUES), several, ("a", "b")) == []
