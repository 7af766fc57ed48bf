# SPDX-License-Identifier: Apache-2.0
"""A measured rate of the calls of a stepfile, as it stands in the request of a prediction."""

from typing import Annotated, Literal

from pydantic import Field

from ullage.model.base import Strict
from ullage.runs.options.groups import Positive


class KnownRate(Strict):
    """What the calls of one phase took without computation, by as many ranks as stand here.

    ``walls_s``: of the phase, by repetition; ``state_s``: of all calls for one state on one rank. ``sound``: see
    ``is_sound``. ``run_id``: of the result that it comes from.
    """

    run_id: str
    phase: Literal["forward", "adjoint"]
    target: str
    backend: str
    layout: str
    order: str
    cache: Literal["none", "drop"]
    ranks: Positive
    steps: Positive
    state_bytes: Annotated[int, Field(ge=8)]
    depth: Annotated[int, Field(ge=0)]
    walls_s: Annotated[list[Annotated[float, Field(gt=0)]], Field(min_length=1)]
    state_s: Annotated[float, Field(gt=0)]
    sound: bool
