# SPDX-License-Identifier: Apache-2.0
"""People's units: strict in, exact or three digits out."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage import units
from ullage.errors import UserError


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("0", 0),
        ("4096", 4096),
        ("4096B", 4096),
        ("128K", 131072),
        ("128k", 131072),
        ("128KiB", 131072),
        ("128 KiB", 131072),
        ("1M", 1048576),
        ("1MB", 1000000),
        ("1kB", 1000),
        ("1.5GiB", 1610612736),
        ("0.5K", 512),
        ("7E", 7 * 2**60),
    ],
)
def test_sizes(text: str, bytes_: int) -> None:
    assert units.parse_size(text) == bytes_


@pytest.mark.parametrize(
    "text", ["", "K", "-1", "+1", "1e6", "1,5M", "1Mb", "1Kib", "0.3K", "1 M B", "128Q", "8E", "0x10", "1M2K", "\u0661"]
)
def test_what_is_no_size_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UserError) as caught:
        units.parse_size(text)
    assert "\n" not in str(caught.value)
    assert caught.value.right


@given(st.integers(min_value=0, max_value=2**63 - 1))
def test_a_size_comes_back_exactly(bytes_: int) -> None:
    assert units.parse_size(units.format_bytes(bytes_)) == bytes_


@pytest.mark.parametrize(
    ("bytes_", "text"), [(131072, "128K"), (16777216, "16M"), (1610612736, "1536M"), (1000, "1000"), (0, "0")]
)
def test_block_sizes_look_as_they_are_typed(bytes_: int, text: str) -> None:
    assert units.format_bytes(bytes_) == text


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("1.5", 1.5),
        ("60s", 60),
        ("2m", 120),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("1d", 86400),
        ("2m05s", 125),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "s", "-1s", "1m1m", "30m1h", "1x", "1h 30m", "1e3", "s1", "1s junk", "inf", "nan"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        units.parse_duration(text)


@given(st.floats(min_value=1e-8, max_value=1e6))
def test_a_shown_time_reads_back_within_its_digits(seconds: float) -> None:
    shown = units.parse_duration(units.format_time(seconds).replace(" ", ""))
    assert shown == pytest.approx(seconds, rel=0.0051, abs=1e-11)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (1.5e-9, "1.50 ns"),
        (0.0015, "1.50 ms"),
        (0.99999, "1.00 s"),
        (99.9, "99.9 s"),
        (99.96, "1m40s"),
        (125, "2m05s"),
        (5400, "1h30m00s"),
    ],
)
def test_times(seconds: float, text: str) -> None:
    assert units.format_time(seconds) == text


@pytest.mark.parametrize(
    ("text", "rate"), [("3.2GB/s", 3.2e9), ("800MiB/s", 800 * 2**20), ("1e9", 1e9), ("1000", 1000), ("2.5 GB/s", 2.5e9)]
)
def test_rates(text: str, rate: float) -> None:
    assert units.parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "GB/s", "3GB", "3Gb/s", "-1", "nan", "1e999", "3GB/s/s"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        units.parse_rate(text)


@given(st.floats(min_value=1, max_value=1e20))
def test_a_shown_rate_reads_back_within_three_digits(rate: float) -> None:
    shown = units.format_rate(rate).replace("k", "K")
    assert units.parse_rate(shown) == pytest.approx(rate, rel=0.0051)


@given(st.floats(min_value=0.01, max_value=1e20))
def test_shown_numbers_have_at_most_three_digits_before_a_point(value: float) -> None:
    for text in (units.format_rate(value), units.format_operations(value)):
        assert len(text.split(" ")[0].partition(".")[0]) <= 3


def test_rates_and_volumes_for_people() -> None:
    assert units.format_rate(3.2e9) == "3.20 GB/s"
    assert units.format_rate(999.7) == "1.00 kB/s"
    assert units.format_operations(45210) == "45.2 kop/s"
    assert units.format_volume(1.5 * 2**30) == "1.50 GiB"
    assert units.format_volume(17) == "17 B"


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("4", [4]),
        ("1,2,4,8", [1, 2, 4, 8]),
        ("8,1", [8, 1]),
        ("1:8:x2", [1, 2, 4, 8]),
        ("1:8:+1", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("1:9:x2", [1, 2, 4, 8]),
        ("1:4:x2,3,4", [1, 2, 4, 3]),
        ("0:4:+2", [0, 2, 4]),
        ("5:5:x2", [5]),
    ],
)
def test_axes(text: str, values: list[int]) -> None:
    assert units.parse_axis(text) == values


def test_an_axis_of_sizes() -> None:
    assert units.parse_axis("128K:1M:x2", units.parse_size) == [2**17, 2**18, 2**19, 2**20]
    assert units.parse_axis("128K:256K:+64K", units.parse_size) == [2**17, 3 * 2**16, 2**18]


@pytest.mark.parametrize(
    "text",
    ["", ",", "1,", "1:2", "1:2:3", "8:1:x2", "0:8:x2", "1:8:x1", "1:8:x0", "1:8:+0", "1:8:-1", "1:1000000:+1", "a"],
)
def test_what_is_no_axis_is_refused(text: str) -> None:
    with pytest.raises(UserError):
        units.parse_axis(text)


PARSERS = (units.parse_size, units.parse_duration, units.parse_rate, units.parse_count, units.parse_axis)


@pytest.mark.parametrize("parse", PARSERS)
@given(text=st.text(max_size=20) | st.from_regex(r"[0-9.]{1,5}[KMGkmsx:+,B/]{0,4}[0-9]{0,3}"))
def test_every_text_is_a_value_or_a_user_error_of_one_line(parse: Callable[[str], object], text: str) -> None:
    line = ""
    try:
        parse(text)
    except UserError as error:
        line = str(error)
    assert line.isprintable()
