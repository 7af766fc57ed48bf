# SPDX-License-Identifier: Apache-2.0
"""How fast are TCP and UDP between nodes: streams, requests, loss, what they cost in processor time?

Ranks of different nodes pair up and need no server; on one node the pair goes over the loopback, which measures its
cores. Where iperf3, sockperf and ping are installed, they run in turn with ours and their numbers stand beside.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.parsed_options import ParsedOptions
from ullage.runs.suite import EngineContext, SuiteSummary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ullage.model.plan import Target
    from ullage.model.request import Request
    from ullage.results.folder import ResultFolder
    from ullage.results.rows import RowContext
    from ullage.runs.suite import Prepared
    from ullage.suites.network.options import NetworkOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Network:
    """The suite ``network``."""

    name: str = "network"
    doc: str = _DOC

    @property
    def options(self) -> "type[NetworkOptions]":
        """See ``Suite``."""
        from ullage.suites.network.options import NetworkOptions

        return NetworkOptions

    def quick(self, _targets: "Sequence[Target]") -> ParsedOptions | None:
        """See ``Quick``: large blocks, one stream and four, requests of one byte; no peers."""
        from ullage.runs.options.reading import settled

        return settled(self.options, quick=True, peer=False)

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.suites.network.prepare import prepare_network

        return prepare_network(request, engine_context)

    def summarise(self, result: "ResultFolder", request: "Request", context: "RowContext") -> SuiteSummary:
        """See ``Summarising``."""
        from ullage.suites.network.summarise import summarise

        return summarise(result, request, context)


SUITE = Network()
