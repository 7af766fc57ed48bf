# SPDX-License-Identifier: Apache-2.0
"""What another tool measured at the same work, one JSON object a line of ``peers.ndjson`` in a result.

Written by the front, which alone starts peers; the engine's records know nothing of them.
"""

from typing import Annotated, Literal

from pydantic import Field

from ullage.model.base import Strict


class PeerRecord(Strict):
    """One run of a peer beside one phase of one case.

    ``values`` are by the names and in the units of ``ullage.analysis.metrics``: bytes/s, operations/s, s.
    """

    kind: Literal["peer"] = "peer"
    case: Annotated[str, Field(min_length=1, description="id of the case whose work it did")]
    phase: Annotated[str, Field(min_length=1, description="of the case, as the engine's records name it")]
    tool: Annotated[str, Field(min_length=1)]
    version: str
    repetition: Annotated[int, Field(ge=0, description="of the peer, counted for each case")]
    values: Annotated[dict[str, float], Field(description="by the name of the metric, in its unit")]
    command: Annotated[list[str], Field(description="as it was started")]
