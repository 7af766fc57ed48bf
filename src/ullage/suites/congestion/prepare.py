# SPDX-License-Identifier: Apache-2.0
"""A congestion run that was checked against engine and machine."""

from typing import Final

from ullage.launch.base import layout_here, ranks_on_a_node
from ullage.model.plan import Layout, Parameters
from ullage.model.request import Request
from ullage.runs.inputs import EngineContext
from ullage.runs.kernels.cases import KernelCase, kernel_case
from ullage.runs.kernels.options import MPI
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import read_options
from ullage.runs.session import Note
from ullage.suites.congestion.options import CongestionOptions
from ullage.system.cpu import usable_cores

WORKLOAD: Final = "congestion"
HEADERS: Final = ("load", "ranks", "victims")
_PHASES: Final = 6
_FEWEST_OF_A_KIND: Final = 2
# Under load a test takes longer; what is around it, too.
_STRETCH: Final = 2
_AROUND_S: Final = 0.3


def prepare_congestion(request: Request, engine_context: EngineContext) -> PreparedKernels:
    """``UserError`` where the engine lacks the workload, or the ranks do not fill the nodes."""
    options = read_options(CongestionOptions, request)
    layout = layout_here(options.ranks, options.nodes, options.ranks_per_node, options.hosts)
    cases = [_case(load, options, layout, engine_context) for load in options.loads]
    return PreparedKernels(request, options, HEADERS, cases, notes=_notes(layout))


def victims_of(ranks: int, share: float) -> int:
    """As the engine has it: at least 2, and all but 2 at most."""
    return min(max(int(share * ranks + 0.5), _FEWEST_OF_A_KIND), ranks - _FEWEST_OF_A_KIND)


def _case(load: str, options: CongestionOptions, layout: Layout, engine_context: EngineContext) -> KernelCase:
    parameters: Parameters = {
        "load": load,
        "load_bytes": options.load_bytes,
        "victim_share": options.share,
        "seed": options.seed,
        "rings": options.rings,
        "test_s": options.test_s,
    }
    words = (load, str(options.ranks), str(victims_of(options.ranks, options.share)))
    seconds = _STRETCH * _PHASES * options.test_s + _AROUND_S
    return kernel_case(WORKLOAD, parameters, MPI, words, engine_context.description, seconds=seconds, layout=layout)


def _notes(layout: Layout) -> tuple[Note, ...]:
    notes: list[Note] = []
    cores = usable_cores()
    on_a_node = ranks_on_a_node(layout) or 0
    if cores is not None and on_a_node > cores:
        text = (
            f"{on_a_node} ranks of a node share {cores} cores: the load then takes the victims' cores, and that is "
            "what is measured instead of the network"
        )
        notes.append(Note("oversubscribed", text, "take fewer ranks, more nodes, or allow more cores"))
    return tuple(notes)
