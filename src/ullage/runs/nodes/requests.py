# SPDX-License-Identifier: Apache-2.0
"""The request of a run that measures every node by itself."""

from collections.abc import Sequence
from typing import Final

from ullage.model.request import Request, read_option
from ullage.runs.options.groups import EACH_NODE, REQUIRE
from ullage.system.allocation import Scheduler

_FLAG, _OF, _BY = EACH_NODE
_LONGEST_ID: Final = 64


def is_of_each_node(request: Request) -> bool:
    """Tell whether every node is measured by itself."""
    return bool(request.options.get(_FLAG))


def nodes_of(request: Request) -> list[str]:
    """Return the nodes of the run, in their order."""
    return read_option(list[str], request, _OF) or []


def batch_system_of(request: Request) -> str:
    """Return the batch system whose job the nodes are of; empty where they were named."""
    return read_option(str, request, _BY) or ""


def with_nodes(request: Request, names: Sequence[str], system: Scheduler | None) -> Request:
    """Return ``request`` with the nodes in it, which stay the same when the run is gone on with."""
    found = {_OF: list(names), _BY: system or ""}
    return request.model_copy(update={"options": {**request.options, **found}})


def request_of_node(request: Request, index: int) -> Request:
    """Return what one node is asked for: the same, of it alone, with a run folder of its own."""
    end = f".n{index}"
    left_out = {*EACH_NODE, REQUIRE}
    options = {name: value for name, value in request.options.items() if name not in left_out}
    run_id = request.run_id[: _LONGEST_ID - len(end)] + end
    return request.model_copy(update={"run_id": run_id, "hosts": [], "options": options})
