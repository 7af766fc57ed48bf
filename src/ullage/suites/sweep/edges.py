# SPDX-License-Identifier: Apache-2.0
"""What findings ask for: cells beyond a rim at which the best was still growing, and cells that look like outliers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ullage.model.summary import Finding
from ullage.runs.cells.planning import Cell
from ullage.suites.sweep.cells import make_layout, resized
from ullage.suites.sweep.options import Axis, SweepOptions

MOST_RANKS_A_CORE: Final = 8
_AXES: Final[Mapping[Axis, str]] = {"ranks": "ranks", "block": "block_bytes"}


def beyond_the_rim(
    findings: Iterable[Finding], cells: Sequence[Cell], options: SweepOptions, volume_bytes: int, cores: int | None
) -> list[Cell]:
    """New cells: best ones that an ``edge`` finding names, with their value on an axis of ``--extend`` doubled."""
    known = {cell.case.id: cell for cell in cells}
    found: dict[str, Cell] = {}
    for finding in findings:
        best = known.get(str(finding.numbers.get("case"))) if finding.kind == "edge" else None
        if best is None or finding.numbers.get("side") != "upper":
            continue
        for axis in options.extend:
            if finding.numbers.get("axis") == _AXES[axis]:
                cell = doubled(best, axis, options, volume_bytes, cores)
                if cell is not None and cell.case.id not in known:
                    found[cell.case.id] = cell
    return list(found.values())


def doubled(best: Cell, axis: Axis, options: SweepOptions, volume_bytes: int, cores: int | None) -> Cell | None:
    """``best`` with the doubled value; None beyond what makes sense: 8 ranks a core, a block for every rank."""
    ranks = best.layout.ranks * (2 if axis == "ranks" else 1)
    block = best.block_bytes * (2 if axis == "block" else 1)
    nodes, on_a_node = options.nodes, options.ranks_per_node
    if nodes is not None and on_a_node is not None and ranks > nodes * on_a_node:
        return None
    used = nodes or -(-ranks // (on_a_node or ranks))
    if axis == "ranks" and cores is not None and ranks > MOST_RANKS_A_CORE * cores * used:
        return None
    if block > (volume_bytes if options.weak else volume_bytes // ranks):
        return None
    return resized(best, options, make_layout(ranks, options, cores), block, volume_bytes)


def odd_cells(findings: Iterable[Finding], cells: Iterable[Cell]) -> list[Cell]:
    """The cells that ``outlier`` findings name, in the order of ``cells``."""
    odd: set[str] = set()
    for finding in findings:
        if finding.kind == "outlier":
            cases = finding.numbers.get("case")
            odd.update(str(case) for case in (cases if isinstance(cases, list) else [cases]))
    return [cell for cell in cells if cell.case.id in odd]
