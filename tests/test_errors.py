# SPDX-License-Identifier: Apache-2.0
"""Every error is one harmless line."""

from hypothesis import given
from hypothesis import strategies as st

from ullage.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, UserError, one_line


def test_what_where_right() -> None:
    error = UserError("not a size", "'12Q'", "write 128K")
    assert str(error) == "'12Q': not a size; write 128K"
    assert error.code == EXIT_BAD_INPUT
    assert str(UserError("no room", code=EXIT_ENVIRONMENT)) == "no room"


@given(st.text())
def test_one_line_is_one_printable_line(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= 400


def test_a_terminal_escape_stays_text() -> None:
    assert one_line("a\x1b[31mb\nc") == "a\\x1b[31mb c"


def test_what_is_too_long_is_cut_between_words() -> None:
    cut = one_line("word " * 200)
    assert len(cut) <= 400
    assert cut.endswith("word ...")
    assert len(one_line("x" * 500)) == 400
