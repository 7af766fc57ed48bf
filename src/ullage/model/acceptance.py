# SPDX-License-Identifier: Apache-2.0
"""What a machine has to reach, and whether it does: floors as people declare them, and what became of each."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from ullage.model.base import Strict, doc
from ullage.model.plan import Scalar

MOST_OF: Literal["most"] = "most"
"""Stands in ``where`` for the largest value that rows have of a parameter."""
Judgement: TypeAlias = Literal["pass", "fail", "cannot tell"]


class Floor(Strict):
    """A bound for the rows of a metric: a value in the metric's SI unit, or a share of the ceiling.

    ``bound`` is the least of a rate, and the most of a time. ``share`` is of the ceiling, in the direction of the
    metric. One of them is given.
    """

    metric: str
    suite: Annotated[str, doc("whose rows; empty: those of every suite")] = ""
    target: Annotated[str, doc("of the rows; empty: every target")] = ""
    where: Annotated[dict[str, Scalar], doc("parameters of the rows; most: the largest value that rows have")] = {}
    bound: float | None = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    confidence: Annotated[float, Field(gt=0.5, le=0.9999)] = 0.95


class Judged(Strict):
    """A floor and one row under it. Without a row nothing was measured that the floor asks for.

    ``needed``: what the row has to reach, in its unit; ``shown``: what it reaches with the floor's confidence, and
    with ``fail`` what it does not exceed.
    """

    floor: Annotated[int, Field(ge=0, description="counts from 0 in the floors of the request")]
    metric: str
    unit: str = ""
    better: Literal["more", "less"] = "more"
    suite: str = ""
    node: str = ""
    target: str = ""
    params: dict[str, Scalar] = {}
    median: float | None = None
    shown: float | None = None
    needed: float | None = None
    share: float | None = None
    confidence: float
    verdict: Judgement
    reason: str = ""
