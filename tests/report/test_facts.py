# SPDX-License-Identifier: Apache-2.0
"""System facts of any shape."""

from support.sample_result import SYSTEM
from ullage.report.facts import flatten


def test_groups_of_a_real_shape() -> None:
    groups = dict(flatten(SYSTEM))
    assert ("host", "node017") in groups["machine"]
    assert ("model", "Example CPU 9654") in groups["CPU"]
    assert ("caches: L3", "384 MiB") in groups["CPU"]
    assert ("total", "384 GiB") in groups["memory"]
    assert ("file system", "xfs") in groups["place nvme"]


def test_what_is_empty_is_left_out() -> None:
    assert flatten({"host": None, "cpu": {"model": None, "flags": []}, "numa": []}) == []


def test_unknown_shapes_are_shown_and_bounded() -> None:
    deep: dict[str, object] = {"a": 1}
    for _ in range(30):
        deep = {"b": deep}
    groups = flatten({"deep": deep, "long": list(range(1000)), "odd": [[1], {"x": 2}]})
    assert any("more" in text for _, pairs in groups for _, text in pairs)
    assert groups
