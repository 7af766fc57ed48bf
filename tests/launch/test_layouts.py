# SPDX-License-Identifier: Apache-2.0
"""Where ranks are placed."""

import pytest

from ullage.errors import UserError
from ullage.launch import base
from ullage.launch.base import layout_here, place_ranks, with_helpers
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


@pytest.mark.parametrize(
    ("asked", "layout"),
    [
        ((4, None, None, 1, 4), Layout(ranks=4, nodes=4, ranks_per_node=1, binding="core")),
        ((32, None, None, 8, 4), Layout(ranks=32, nodes=4, ranks_per_node=8, binding="core")),
        ((33, None, None, 8, 4), Layout(ranks=33, nodes=4, ranks_per_node=9, binding="none")),
        ((2, None, None, 8, 4), Layout(ranks=2, nodes=2, ranks_per_node=1, binding="core")),
        ((9, None, None, 8, 4), Layout(ranks=9, nodes=3, ranks_per_node=3, binding="core")),
        ((4, 2, None, 8, 4), Layout(ranks=4, nodes=2, ranks_per_node=2, binding="core")),
        ((8, None, 2, 8, 4), Layout(ranks=8, nodes=4, ranks_per_node=2, binding="core")),
    ],
)
def test_named_hosts_are_the_nodes(asked: tuple[int, int | None, int | None, int | None, int], layout: Layout) -> None:
    assert place_ranks(*asked) == layout


def test_more_than_the_named_hosts_hold_is_refused() -> None:
    with pytest.raises(UserError, match="5 nodes, and 4 hosts"):
        place_ranks(8, 5, None, 8, 4)
    with pytest.raises(UserError, match="do not fit on 4 hosts with 2 each"):
        place_ranks(9, None, 2, 8, 4)


def test_several_nodes_are_taken_to_be_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "usable_cores", lambda: 32)
    assert layout_here(64, 2, None).binding == "core"
    assert layout_here(66, 2, None).binding == "none"
    assert layout_here(64, None, None).binding == "none"
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    assert layout_here(64, None, None).binding == "core"


def test_a_binding_that_is_asked_for_is_taken_or_refused() -> None:
    assert place_ranks(2, None, None, 4, bind="none").binding == "none"
    assert place_ranks(4, None, None, None, bind="core").binding == "core"
    assert place_ranks(8, 2, None, 4, bind="core").binding == "core"
    with pytest.raises(UserError, match="6 ranks on a node with 4 usable cores cannot be bound"):
        place_ranks(6, None, None, 4, bind="core")


@pytest.mark.parametrize(
    ("bind", "cores", "threads", "binding"),
    [
        (None, 8, 3, "core"),
        (None, 2, 3, "none"),
        ("none", 8, 3, "none"),
        ("core", 2, 1, "core"),
        ("core", 4, 2, "core"),
    ],
)
def test_helper_threads_share_the_cores_of_their_rank(
    bind: base.Binding | None, cores: int, threads: int, binding: str
) -> None:
    layout = with_helpers(place_ranks(2, None, None, cores, bind=bind), 3, cores, bind)
    assert (layout.threads, layout.binding) == (threads, binding)
