# SPDX-License-Identifier: Apache-2.0
"""What a run of each node by itself says of them: how each stands in each number, and which are worse."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict, doc

NodeState: TypeAlias = Literal["good", "suspect", "unknown", "not measured"]


class NodeCell(Strict):
    """A number of one node.

    ``worse``: how many times worse it is than the middle of the other nodes; below 1 is better. Null: they have none.
    """

    median: float
    low: float | None = None
    high: float | None = None
    grade: str | None = None
    worse: float | None = None
    named: Annotated[bool, doc("the test names the node for this number")] = False


class NodeNumber(Strict):
    """A row of the summary, node by node in the order of ``Nodes.nodes``; null: the node has no such number."""

    row: Annotated[int, Field(ge=0, description="counts from 0 in the rows of the summary")]
    tested: Annotated[bool, doc("whether the test looks at it")]
    cells: list[NodeCell | None]


class OneNode(Strict):
    """A node. ``part``: the folder of its own result, below that of the run."""

    name: str
    state: NodeState
    reason: Annotated[str, doc("why it is not good")] = ""
    part: str = ""
    seconds: Annotated[float, Field(ge=0)] | None = None
    began: Annotated[str, doc("first launch, ISO 8601 UTC; empty: none")] = ""


class Nodes(Strict):
    """All nodes. ``margin``: how many times worse a node has to be to be named; ``level``: of all names together."""

    nodes: list[OneNode]
    numbers: list[NodeNumber]
    level: float
    margin: float
    batch_system: Annotated[str, doc("whose job they are of; empty: they were named")] = ""

    def named(self, state: NodeState) -> list[str]:
        """Return the names of the nodes in that state, in their order."""
        return [node.name for node in self.nodes if node.state == state]

    @property
    def not_told(self) -> list[str]:
        """The names of those that are neither good nor suspect."""
        return [node.name for node in self.nodes if node.state in ("unknown", "not measured")]
