# SPDX-License-Identifier: Apache-2.0
"""Numbers as they are shown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.flags import flags_of
from support.make_records import make_row
from support.sample_result import Shape, make_rows
from ullage import quantity


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (1.234e9, "B/s", "1.23 GB/s"),
        (999.6, "B/s", "1.00 kB/s"),
        (0.0, "B/s", "0.00 B/s"),
        (45200.0, "op/s", "45.2 kop/s"),
        (0.00153, "s", "1.53 ms"),
        (2.5e-7, "s", "250 ns"),
        (3.0, "ratio", "3.00 ratio"),
        (1234.0, "", "1234"),
        (0.809, "of time", "80.9 % of the time"),
        (1.0, "of bytes", "100 % of the bytes"),
        (0.916, "of shorter", "91.6 % of the shorter overlaps"),
    ],
)
def test_quantity(value: float, unit: str, shown: str) -> None:
    assert quantity.format_quantity(value, unit) == shown


def test_an_interval_stands_in_the_prefix_of_its_median() -> None:
    row = make_rows(Shape(repetitions=7))[0].model_copy(update={"median": 1.23e9, "low": 0.95e9, "high": 1.27e9})
    assert quantity.format_row(row) == "1.23 GB/s [0.950, 1.27]"


def test_a_single_sample_says_so() -> None:
    row = make_rows(Shape(single_sample=True))[0]
    assert quantity.format_row(row).endswith("(one sample)")


@given(st.floats(min_value=1e-6, max_value=1e18))
def test_three_digits_are_kept(value: float) -> None:
    shown = quantity.significant(value)
    assert "e" not in shown
    assert math.isclose(float(shown), value, rel_tol=0.0051)


@given(st.floats(min_value=1e-9, max_value=1e18), st.sampled_from(["B/s", "op/s", "s"]))
def test_a_scale_leaves_one_to_three_digits_before_the_point(value: float, unit: str) -> None:
    scaled = value / quantity.scale_for([value], unit).factor
    assert scaled >= 0.999 or value < 1
    assert scaled < 1000 or (unit == "s" and value >= 1000) or value >= 1e18


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("block_bytes", 131072, "128K"),
        ("ranks", 8, "8"),
        ("direct", True, "yes"),
        ("stonewall_s", 0.5, "0.5"),
        ("backend", "posix", "posix"),
    ],
)
def test_params(key: str, value: object, shown: str) -> None:
    assert quantity.format_param(key, value) == shown


def test_sentences_tell_an_interval_from_the_range_of_few() -> None:
    few = flags_of("interval-below-95")
    six = make_row([1e9, 1.1e9, 1.2e9, 1.3e9, 1.4e9, 1.5e9])
    assert quantity.show_row(six) == "1.30 GB/s [1.00 GB/s, 1.50 GB/s]"
    assert (
        quantity.show_row(make_row([1e9, 2e9, 3e9], flags=few))
        == "2.00 GB/s (median of 3, from 1.00 GB/s to 3.00 GB/s)"
    )
    assert quantity.show_row(make_row([1e9, 2e9], flags=few)).endswith("(mean of 2, from 1.00 GB/s to 2.00 GB/s)")
    assert quantity.show_row(make_row(1e9, flags=few)) == "1.00 GB/s (one sample)"
    assert quantity.format_known(six) == "[1.00, 1.50]"
