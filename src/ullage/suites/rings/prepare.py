# SPDX-License-Identifier: Apache-2.0
"""A rings run that was checked against engine and machine."""

from collections.abc import Sequence
from dataclasses import dataclass

from ullage.launch.base import is_one_node
from ullage.launch.layouts import layout_here
from ullage.model.plan import Layout, Plan
from ullage.model.request import Request
from ullage.results.folder import ResultFolder
from ullage.runs.kernels.prepared import PreparedKernels
from ullage.runs.options.reading import read_options
from ullage.runs.session import Session
from ullage.runs.suite import EngineContext, Explanation
from ullage.suites.rings.cases import HEADERS, RingsCase, make_cases
from ullage.suites.rings.options import RingsOptions


@dataclass(frozen=True)
class PreparedRings:
    """See ``Prepared``. The cases are those of ``kernels``; hpcc's runs stand between its repetitions."""

    kernels: PreparedKernels
    cases: Sequence[RingsCase]
    options: RingsOptions
    layout: Layout

    @property
    def request(self) -> Request:
        """See ``Prepared``."""
        return self.kernels.request

    @property
    def unsettled(self) -> str:
        """See ``Prepared``."""
        return self.kernels.unsettled

    @property
    def may_have_peer(self) -> bool:
        """hpcc is asked for, and all ranks are on the node that we are on and that can start it."""
        return self.options.peer and is_one_node(self.layout)

    def explain(self) -> Explanation:
        """See ``Prepared``."""
        found = self.kernels.explain()
        if self.may_have_peer:
            found.tail.append("Where hpcc is installed it runs after each repetition, with as many processes.")
        return found

    def plans(self, result: ResultFolder) -> list[Plan]:
        """See ``Prepared``: of a run without hpcc, which would have a launch for each repetition."""
        return self.kernels.plans(result)

    def run(self, session: Session) -> int:
        """See ``Prepared``."""
        from ullage.suites.rings.execution import execute

        return execute(self, session)


def prepare_rings(request: Request, engine_context: EngineContext) -> PreparedRings:
    """``UserError`` where the engine lacks a workload, or the ranks do not fill the nodes."""
    options = read_options(RingsOptions, request)
    layout = layout_here(options.ranks, options.nodes, options.ranks_per_node)
    cases = make_cases(options, layout, engine_context.description)
    kernels = PreparedKernels(request, options, HEADERS, [case.kernel for case in cases])
    return PreparedRings(kernels, cases, options, layout)
