# SPDX-License-Identifier: Apache-2.0
"""request.json: what the user asked for, kept so that a result can be explained, resumed and repeated."""

from typing import Annotated, Literal

from pydantic import Field

from ullage.model.base import HostName, Tolerant
from ullage.model.plan import RunId, Target

REQUEST_SCHEMA = "ullage.request/1"


class Request(Tolerant):
    """What the user asked of a suite.

    ``options`` are the suite's own, as JSON; a suite reads them back into its own typed form.
    """

    schema_: Annotated[Literal["ullage.request/1"], Field(alias="schema")] = REQUEST_SCHEMA
    run_id: RunId
    suite: str
    created: Annotated[str, Field(description="ISO 8601 UTC")]
    command: Annotated[list[str], Field(description="as typed, one word an item")] = []
    targets: list[Target] = []
    hosts: Annotated[
        list[HostName], Field(description="where the ranks go; empty: here, or where a batch system says")
    ] = []
    options: dict[str, object] = {}
    versions: dict[str, str] = {}
