# SPDX-License-Identifier: Apache-2.0
"""How near do the parts of this node come to what they could do: cores, memory, disk, and how noisy is it?

Runs the suites cpu, memory, disk and noise one after the other, and network where there is one, each with its peers,
and puts them into one report that begins with what each part reaches of its ceiling.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ullage.runs.suite import EngineContext

if TYPE_CHECKING:
    from ullage.model.request import Request
    from ullage.runs.suite import Prepared
    from ullage.suites.node.options import NodeOptions

_DOC = __doc__ or ""


@dataclass(frozen=True)
class Node:
    """The suite ``node``."""

    name: str = "node"
    doc: str = _DOC

    @property
    def options(self) -> "type[NodeOptions]":
        """See ``Suite``."""
        from ullage.suites.node.options import NodeOptions

        return NodeOptions

    def prepare(self, request: "Request", engine_context: EngineContext) -> "Prepared":
        """See ``Suite``."""
        from ullage.runs.composite.prepared import prepare_parts
        from ullage.runs.summary import build_summary

        return prepare_parts(request, engine_context, build_summary)


SUITE = Node()
