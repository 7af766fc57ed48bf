# SPDX-License-Identifier: Apache-2.0
"""Refuses cases whose ranks share files on a target with a folder for each rank or node, before anything starts."""

from collections.abc import Iterable

from ullage.errors import EXIT_BAD_INPUT, UserError
from ullage.launch.base import ranks_on_a_node
from ullage.model.plan import Layout, Target
from ullage.runs.cells.planning import Cell
from ullage.uri import words_of_path


def has_several_folders(target: Target, layout: Layout) -> bool:
    """Tell whether the path of ``target`` is certain to differ between ranks of ``layout``.

    Sockets and NUMA nodes of the ranks are known to the engine alone, as are nodes that a layout does not state.
    """
    several = {
        "rank": layout.ranks > 1,
        "local_rank": (ranks_on_a_node(layout) or 1) > 1,
        "node": (layout.nodes or 1) > 1,
        "host": (layout.nodes or 1) > 1,
    }
    return any(several.get(word, False) for word in words_of_path(target))


def check_one_folder(cells: Iterable[Cell], right: str) -> None:
    """Raise ``UserError`` for a case whose ranks share files where they have different folders.

    ``right``: what helps besides another path, such as ``use --read-back own``; it may be empty.
    """
    for cell in cells:
        if cell.needs_one_folder and has_several_folders(cell.target, cell.layout):
            refuse(cell.target, right)


def check_all_of(targets: Iterable[Target], layouts: Iterable[Layout]) -> None:
    """Raise ``UserError`` for a target with several folders in one of ``layouts``: the suite's ranks share files."""
    several = list(layouts)
    for target in targets:
        if any(has_several_folders(target, layout) for layout in several):
            refuse(target)


def refuse(target: Target, right: str = "") -> None:
    """Raise ``UserError``: ranks share files at a target that has several folders."""
    what = "has a folder for each rank or node, but the ranks share files"
    path = "a path that all ranks share, without words in braces"
    where = f"target '{target.name}' ({target.uri.partition(':')[2]})"
    raise UserError(what, where, f"{right}, or use {path}" if right else f"use {path}", EXIT_BAD_INPUT)
