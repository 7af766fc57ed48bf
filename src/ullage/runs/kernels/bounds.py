# SPDX-License-Identifier: Apache-2.0
"""Cases that measure what messages within a node cost at least, in the launches of the messages, and their rows."""

from collections.abc import Iterable
from typing import Final

from ullage.analysis.ceilings.messages import ACCESS, COPY, LINE, Copiers
from ullage.analysis.findings.phrasing import finding
from ullage.launch.base import ranks_on_a_node
from ullage.model.describe import Describe
from ullage.model.flags import TOO_SHORT
from ullage.model.plan import Layout, Parameters, Scalar
from ullage.model.record import PhaseRecord
from ullage.model.summary import BOUND, Finding, Row
from ullage.results.rows import RowContext
from ullage.runs.kernels.options import MPI
from ullage.runs.kernels.prepared import KernelCase, kernel_case
from ullage.runs.told import Launches, Source, told_rows, usual
from ullage.units import format_bytes

_WINDOWS: Parameters = {"windows": 3, "window_s": 0.005, "warm_up_s": 0.002}
# Windows, the lines of all pairs, and what the engine does around a repetition.
_AROUND_S: Final = 0.03


def bound_cases(
    jobs: Iterable[tuple[int, Copiers, int]],
    layout: Layout,
    description: Describe,
    columns: int,
    cores: int | None,
    pages: str = "default",
) -> list[KernelCase]:
    """Return a case for each size, who copies, and number of buffers in turn; none on several nodes.

    None either of an engine without this workload, or with more ranks than ``cores``. ``columns``: cells of the table
    that explains the cases.
    """
    on_a_node = ranks_on_a_node(layout)
    is_known = any(workload.name == ACCESS for workload in description.workloads)
    if not is_known or (layout.nodes or 1) > 1 or on_a_node is None or on_a_node > (cores or on_a_node):
        return []
    return [_case(*job, layout, description, columns, pages) for job in dict.fromkeys(jobs)]


def _case(
    size: int, copiers: Copiers, buffers: int, layout: Layout, description: Describe, columns: int, pages: str
) -> KernelCase:
    parameters: Parameters = {"message_bytes": size, "copiers": copiers, "buffers": buffers, "pages": pages, **_WINDOWS}
    words = (ACCESS, f"bound: one copy by {copiers}", format_bytes(size), str(layout.ranks))
    return kernel_case(ACCESS, parameters, MPI, words[:columns], description, seconds=_AROUND_S, layout=layout)


def is_of_bounds(source: Source) -> bool:
    """Tell whether a case measured a bound."""
    return source.case.workload == ACCESS


def bound_rows(launches: Launches, context: RowContext, metrics: tuple[str, ...] = (COPY, LINE)) -> list[Row]:
    """Return the rows of what messages cost at least; none where that was not measured."""
    told = told_rows(launches, context.without_storage(MPI.name, metrics), _params_of)
    # Windows are timed by themselves, and as long as they have to be.
    return [row.model_copy(update={"flags": [one for one in row.flags if one.code != TOO_SHORT]}) for row in told]


def _params_of(row: Row, source: Source) -> dict[str, Scalar] | None:
    if not is_of_bounds(source):
        return None
    own = source.values.some("copiers", "message_bytes")
    return {**usual(row, "access"), BOUND: True, **own, **usual(row, "ranks", "nodes")}


def not_available(launches: Launches) -> list[Finding]:
    """Say why messages within a node have no measured bound, where the engine could not measure it."""
    phases = (record for launch in launches for record in launch if isinstance(record, PhaseRecord))
    texts = dict.fromkeys(
        str(phase.facts["unavailable"]) for phase in phases if phase.phase == ACCESS and "unavailable" in phase.facts
    )
    title = "Messages have no measured bound"
    return [finding("bound-not-available", title, f"{title}: not available: {text}.") for text in texts]
