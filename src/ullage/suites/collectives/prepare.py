# SPDX-License-Identifier: Apache-2.0
"""A run over collective operations that was checked against engine and machine."""

from collections.abc import Sequence

from ullage.launch.layouts import layout_here
from ullage.model.plan import Layout
from ullage.model.request import Request
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.notes import Note
from ullage.runs.options.reading import read_options
from ullage.runs.suite import EngineContext
from ullage.suites.collectives.cells import HEADERS, Planner
from ullage.suites.collectives.options import CollectivesOptions
from ullage.system.cpu import usable_cores


def prepare_collectives(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """``UserError`` where the engine lacks a workload, or the ranks do not fill the nodes."""
    options = read_options(CollectivesOptions, request)
    layouts = [layout_here(ranks, options.nodes, options.ranks_per_node) for ranks in options.ranks]
    planner = Planner(options, layouts, engine_context.description)
    notes = (*planner.left_out(), *crowded(layouts, usable_cores()))
    return PreparedKernels(request, options, HEADERS, planner.cases(), notes=notes)


def crowded(layouts: Sequence[Layout], cores: int | None) -> list[Note]:
    """Where ranks would share cores, as far as that is known before anything runs."""
    many = [layout.ranks for layout in layouts if _on_a_node(layout) > (cores or layout.ranks)]
    if not many:
        return []
    text = (
        f"{', '.join(map(str, many))} ranks share {cores} cores: what is measured there is how the kernel switches "
        "between them, and no finding is made of it"
    )
    return [Note("oversubscribed", text, "take fewer ranks, or allow more cores")]


def _on_a_node(layout: Layout) -> int:
    return layout.ranks_per_node or (layout.ranks if layout.nodes in (None, 1) else 0)
