# SPDX-License-Identifier: Apache-2.0
"""What a row says of its parameters by type."""

from support.make_records import make_row


def test_parameters_are_numbers_and_words() -> None:
    row = make_row(1e9, ranks=4, params={"depth": 8.0, "layout": "files"})
    assert (row.ranks, row.access, row.count("depth"), row.word("layout")) == (4, "write", 8, "files")


def test_a_parameter_that_is_not_there_is_what_stands_for_none() -> None:
    row = make_row(1e9)
    assert (row.word("layout"), row.word("layout", "files"), row.count("depth"), row.count("depth", 1)) == (
        "",
        "files",
        0,
        1,
    )
