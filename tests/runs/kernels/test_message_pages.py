# SPDX-License-Identifier: Apache-2.0
"""What a row says of the pages its messages lay in."""

import pytest

from support.make_records import make_phase, plain_row
from ullage.model.summary import Row
from ullage.runs.kernels.message_pages import pages_of, with_pages

MIB = 1 << 20
ROW = plain_row(1e9, {"ranks": 2}, metric="ring_bandwidth", target="mpi", low=None, high=None, verdict="none")


def told(asked: str, total: int, huge: int) -> Row:
    facts = {"pages": {"asked": asked, "bytes": total, "huge_bytes": huge}}
    phases = [make_phase("a", 0, facts={}), make_phase("a", 1, facts=facts)]
    return with_pages(ROW, pages_of(phases))


@pytest.mark.parametrize(
    ("asked", "huge", "note", "params"),
    [
        ("default", 0, "messages lay in ordinary pages", {"ranks": 2}),
        ("default", 3 * MIB, "75 % of the messages' memory lay in huge pages", {"ranks": 2}),
        ("huge", 4 * MIB, "100 % of the messages' memory lay in huge pages", {"ranks": 2, "pages": "huge"}),
        ("small", 0, "messages lay in ordinary pages", {"ranks": 2, "pages": "small"}),
    ],
)
def test_the_pages_are_said_and_what_was_asked_for_sets_rows_apart(
    asked: str, huge: int, note: str, params: dict[str, object]
) -> None:
    row = told(asked, 4 * MIB, huge)
    assert (row.notes, row.params, row.flags) == ([note], params, [])


def test_huge_pages_that_were_not_given_are_a_flag() -> None:
    row = told("huge", 4 * MIB, 0)
    assert row.flag_codes == ["no-huge-pages"]
    assert row.reason_of("no-huge-pages") == "messages lay in ordinary pages, huge ones were asked for"


def test_of_small_messages_and_old_records_there_is_nothing_to_say() -> None:
    assert told("default", 16, 0) == ROW
    assert with_pages(ROW, pages_of([make_phase("a", 0, facts={})])) == ROW
