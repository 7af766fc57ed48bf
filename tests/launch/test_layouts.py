# SPDX-License-Identifier: Apache-2.0
"""Where ranks are placed."""

import pytest

from ullage.errors import UserError
from ullage.launch.base import layout_here, place_ranks
from ullage.model.plan import Layout


@pytest.mark.parametrize(
    ("asked", "layout"),
    [
        ((4, None, None, 4), Layout(ranks=4, binding="core")),
        ((4, None, None, 2), Layout(ranks=4, binding="none")),
        ((4, None, None, None), Layout(ranks=4, binding="none")),
        ((6, 2, None, 4), Layout(ranks=6, nodes=2, ranks_per_node=3, binding="core")),
        ((6, None, 4, 4), Layout(ranks=6, nodes=2, ranks_per_node=4, binding="core")),
        ((2, None, 4, 4), Layout(ranks=2, nodes=1, ranks_per_node=2, binding="core")),
        ((6, 2, 4, 2), Layout(ranks=6, nodes=2, ranks_per_node=3, binding="none")),
    ],
)
def test_nodes_and_ranks_on_each_follow_from_each_other(
    asked: tuple[int, int | None, int | None, int | None], layout: Layout
) -> None:
    assert place_ranks(*asked) == layout


def test_ranks_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UserError, match="cannot use 4 nodes"):
        place_ranks(2, 4, None, 8)
    with pytest.raises(UserError, match="do not fit on 2 nodes"):
        place_ranks(9, 2, 4, 8)


def test_on_several_nodes_the_cores_of_this_one_say_nothing() -> None:
    assert layout_here(64, 2, None).binding == "none"
