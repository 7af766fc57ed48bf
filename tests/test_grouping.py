# SPDX-License-Identifier: Apache-2.0
from ullage.grouping import grouped, nested


def test_values_stay_in_their_order_below_their_key() -> None:
    assert grouped([("b", 1), ("a", 2), ("b", 3)]) == {"b": [1, 3], "a": [2]}
    assert list(grouped([("b", 1), ("a", 2)])) == ["b", "a"]


def test_of_equal_keys_the_last_value_stays() -> None:
    assert nested([("a", "x", 1), ("a", "y", 2), ("a", "x", 3)]) == {"a": {"x": 3, "y": 2}}
