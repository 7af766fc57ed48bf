# SPDX-License-Identifier: Apache-2.0
"""The options of suites that can measure every node by itself."""

from typing import Annotated, Final

from pydantic import Field

from ullage.runs.options.declared import RANKS, Option
from ullage.runs.options.groups import RequireOptions, is_empty


class EachNodeOptions(RequireOptions):
    """Options of suites that can measure every node by itself. ``each_of``: the nodes, found when the run begins.

    ``each_by``: the batch system whose job they are of; empty: they were named.
    """

    each_node: Annotated[
        bool,
        Field(exclude_if=is_empty),
        Option(
            "Measure every node of the batch job, or of --hosts, at the same time and each by itself. Name slow nodes.",
            order=RANKS,
        ),
    ] = False
    skip_refusing: Annotated[
        bool,
        Field(exclude_if=is_empty),
        Option("With --each-node, go on without the nodes that refuse, instead of measuring none.", order=RANKS),
    ] = False
    strict: Annotated[
        bool, Field(exclude_if=is_empty), Option("With --each-node, exit with 7 where a node is suspect.", order=RANKS)
    ] = False
    each_of: Annotated[list[str], Field(exclude_if=is_empty)] = []
    each_by: Annotated[str, Field(exclude_if=is_empty)] = ""


EACH_NODE: Final = ("each_node", "each_of", "each_by", "skip_refusing", "strict")
"""What a request of all nodes has, and that of one of them has not."""
REQUIRE: Final = "require"
