# SPDX-License-Identifier: Apache-2.0
"""Where ranks are placed, from what people ask for: how many, on how many nodes, how many on each."""

from ullage.errors import UserError
from ullage.launch.base import choose_binding, is_one_node
from ullage.model.plan import Layout
from ullage.system.cpu import usable_cores


def place_ranks(ranks: int, nodes: int | None, ranks_per_node: int | None, cores: int | None) -> Layout:
    """``cores``: usable ones of a node, None when not known. ``UserError`` when the ranks do not fill the nodes."""
    on_a_node = ranks_per_node
    if nodes is not None and ranks < nodes:
        raise UserError(f"{ranks} ranks cannot use {nodes} nodes", "--nodes", "at least one rank a node")
    if nodes is not None and on_a_node is not None and ranks > nodes * on_a_node:
        what = f"{ranks} ranks do not fit on {nodes} nodes with {on_a_node} each"
        raise UserError(what, "--ranks-per-node", "raise it, or --nodes")
    if nodes is not None and on_a_node is not None:
        on_a_node = min(on_a_node, -(-ranks // nodes))
    elif nodes is not None:
        on_a_node = -(-ranks // nodes)
    elif on_a_node is not None:
        on_a_node = min(on_a_node, ranks)
        nodes = -(-ranks // on_a_node)
    binding = "none" if cores is None else choose_binding(on_a_node or ranks, 1, cores)
    return Layout(ranks=ranks, nodes=nodes, ranks_per_node=on_a_node, binding=binding)


def layout_here(ranks: int, nodes: int | None, ranks_per_node: int | None) -> Layout:
    """As ``place_ranks``, with the cores of this node where all ranks will be on it."""
    here = is_one_node(Layout(ranks=ranks, nodes=nodes))
    return place_ranks(ranks, nodes, ranks_per_node, usable_cores() if here else None)
