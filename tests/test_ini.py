# SPDX-License-Identifier: Apache-2.0
"""INI files, line by line, and with other values in them."""

import pytest

from ullage.errors import UserError
from ullage.ini import ini_lines, with_values

TEXT = "# mine\n[Global]\napi = POSIX ; fast\n\n[ior-easy]\ntransferSize=2m\n"


def test_a_comment_may_follow_a_value_where_that_is_allowed() -> None:
    for trailing, value in ((True, "POSIX"), (False, "POSIX ; fast")):
        lines = list(ini_lines(TEXT, "a.ini", trailing_comments=trailing))
        assert [line.pair for line in lines if line.pair] == [("api", value), ("transferSize", "2m")]
        assert [line.place for line in lines if line.section] == ["a.ini:2", "a.ini:5"]


def test_values_take_the_place_of_those_in_the_file_in_any_case() -> None:
    found = with_values(TEXT, "a.ini", {("ior-easy", "TRANSFERSIZE"): "1m", ("debug", "stonewall-time"): "5"})
    assert found == ("[Global]\napi = POSIX ; fast\n\n[ior-easy]\ntransferSize = 1m\n\n[debug]\nstonewall-time = 5\n\n")


@pytest.mark.parametrize("text", ["api = POSIX\n", "[global]\nPOSIX\n"])
def test_a_line_that_is_no_value_of_a_section_is_named(text: str) -> None:
    with pytest.raises(UserError, match="is no value of a section"):
        with_values(text, "a.ini", {})
