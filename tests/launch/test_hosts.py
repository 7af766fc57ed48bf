# SPDX-License-Identifier: Apache-2.0
"""Nodes that people name: how layouts are placed on them, and what each MPI is told."""

from pathlib import Path

import pytest

from ullage.errors import UserError
from ullage.launch.hosts import NO_HOSTS, Hosts, make_hosts, parse_hosts
from ullage.launch.mpich import WRAPPER, Mpich
from ullage.launch.open_mpi import OpenMpi
from ullage.model.plan import Layout

ENGINE, PLAN = Path("/e"), Path("/p")
RUN = ["/e", "run", "/p"]
NAMED = list(WRAPPER)
FOUR = Hosts(("n0", "n1", "n2", "n3"))


def test_names_are_read_and_nonsense_is_refused() -> None:
    assert parse_hosts(None) == []
    assert parse_hosts("n0, n1,10.0.0.7") == ["n0", "n1", "10.0.0.7"]
    for text in ("", "a,,b", "a;b", "-x", "a b"):
        with pytest.raises(UserError, match="is not a host name"):
            parse_hosts(text)
    with pytest.raises(UserError, match="is given twice"):
        parse_hosts("a,b,a")


def test_the_agent_is_the_environments() -> None:
    assert make_hosts(["a"], {"ULLAGE_RSH_AGENT": "/x/agent"}) == Hosts(("a",), "/x/agent")
    assert make_hosts([], {}) == NO_HOSTS


@pytest.mark.parametrize(
    ("layout", "nodes", "on_each"),
    [
        (Layout(ranks=4), 4, 1),
        (Layout(ranks=8), 4, 2),
        (Layout(ranks=9), 3, 3),
        (Layout(ranks=2), 2, 1),
        (Layout(ranks=1, nodes=1), 1, 1),
        (Layout(ranks=6, nodes=3, ranks_per_node=2), 3, 2),
    ],
)
def test_a_layout_is_placed_on_as_many_as_it_needs(layout: Layout, nodes: int, on_each: int) -> None:
    placed = FOUR.placed(layout)
    assert (placed.nodes, placed.ranks_per_node) == (nodes, on_each)
    assert FOUR.of(placed) == FOUR.names[:nodes]


def test_without_hosts_a_layout_stays_as_it_is() -> None:
    assert NO_HOSTS.placed(Layout(ranks=4)) == Layout(ranks=4)
    assert NO_HOSTS.of(Layout(ranks=4, nodes=2)) == ()


def test_more_nodes_than_hosts_are_refused() -> None:
    with pytest.raises(UserError, match="5 nodes, but 4 hosts"):
        OpenMpi(Path("/m"), hosts=FOUR).argv(ENGINE, PLAN, Layout(ranks=5, nodes=5))


def test_open_mpi_is_told_hosts_slots_and_agent() -> None:
    words = OpenMpi(Path("/m"), hosts=Hosts(("a", "b"), "/x/agent")).argv(ENGINE, PLAN, Layout(ranks=4))
    told = ["--mca", "plm_rsh_agent", "/x/agent", "--host", "a:2,b:2", "-n", "4", "--oversubscribe"]
    assert words == ["/m", *told, "--map-by", "ppr:2:node", "--bind-to", "none", *RUN]
    assert "--mca" not in OpenMpi(Path("/m"), hosts=FOUR).argv(ENGINE, PLAN, Layout(ranks=4))


def test_mpich_is_told_hosts_and_agent() -> None:
    words = Mpich(Path("/m"), hosts=Hosts(("a", "b"), "/x/agent")).argv(ENGINE, PLAN, Layout(ranks=4))
    told = ["-launcher", "rsh", "-launcher-exec", "/x/agent", "-hosts", "a,b", "-n", "4", "-ppn", "2"]
    assert words == ["/m", *told, "-bind-to", "none", *NAMED, *RUN]
    assert "-launcher" not in Mpich(Path("/m"), hosts=FOUR).argv(ENGINE, PLAN, Layout(ranks=4))


def test_traffic_stays_on_the_loopback_only_where_there_is_one_node() -> None:
    for ranks, is_here in ((1, True), (4, False)):
        assert (
            "OMPI_MCA_btl_tcp_if_include" in OpenMpi(Path("/m"), hosts=FOUR).environment(Layout(ranks=ranks))
        ) is is_here
        assert ("FI_TCP_IFACE" in Mpich(Path("/m"), hosts=FOUR).environment(Layout(ranks=ranks))) is is_here


def test_a_program_without_mpi_is_started_by_the_same_road() -> None:
    """As ranks are: by the agent where one is named, once, and bound to nothing."""
    here = Hosts(("a", "b"), "/x/agent")
    assert OpenMpi(Path("/m"), hosts=here).on_host("b", ["tool", "-s"]) == [
        *["/m", "--mca", "plm_rsh_agent", "/x/agent", "--host", "b:1", "-n", "1", "--bind-to", "none", "tool", "-s"]
    ]
    assert Mpich(Path("/m"), hosts=here).on_host("b", ["tool", "-s"]) == [
        *["/m", "-launcher", "rsh", "-launcher-exec", "/x/agent", "-hosts", "b"],
        *["-n", "1", "-bind-to", "none", "tool", "-s"],
    ]
    assert "--mca" not in OpenMpi(Path("/m"), hosts=FOUR).on_host("b", ["tool"])
    assert "-launcher" not in Mpich(Path("/m"), hosts=FOUR).on_host("b", ["tool"])
